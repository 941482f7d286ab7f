package x64

import "encoding/binary"

// section is a stretch of code being written. There are two: the hot one, which
// runs, and the cold one behind it, to which rarely taken paths are moved so that
// they cost the hot one neither cache nor jumps.
type section struct {
	b     []byte
	n     int
	lines []line // only when listing
}

// asm appends instructions to the current section.
//
// A position is an offset into a section, with coldBit set for the cold one. A
// list of jumps to a place not yet known is threaded through the displacement
// fields of the jumps themselves: each holds the position of the one before, and
// the list's head lives with whoever will bind it.
type asm struct {
	section
	other section
	cold  bool

	fix     []int32 // displacement fields that cross sections
	pool    []uint64
	poolRef []poolRef
	negMask int32 // places of masks in the pool, or -1
	absMask int32

	mask    byte // of the next instruction, see masked
	listing bool
}

const (
	coldBit  int32 = 1 << 30
	emptyRef int32 = -1
)

type poolRef struct{ site, index int32 }

func (a *asm) reset(listing bool) {
	a.section.n, a.other.n = 0, 0
	a.section.lines, a.other.lines = a.section.lines[:0], a.other.lines[:0]
	a.cold = false
	a.fix, a.pool, a.poolRef = a.fix[:0], a.pool[:0], a.poolRef[:0]
	a.negMask, a.absMask = -1, -1
	a.listing = listing
	a.mask = 0
}

// swap changes between the hot and the cold section.
func (a *asm) swap() {
	a.section, a.other = a.other, a.section
	a.cold = !a.cold
}

// room makes sure that n more bytes fit. It is called once per IR instruction
// (roomPerOp) and wherever an unbounded number of instructions follows, so that
// the encoder itself need not check.
func (a *asm) room(n int) {
	if a.n+n > len(a.b) {
		b := make([]byte, 2*len(a.b)+n)
		copy(b, a.b[:a.n])
		a.b = b
	}
}

// roomPerOp bounds what one IR instruction may write: at most about 20 machine
// instructions of at most 15 bytes.
const roomPerOp = 512

func (a *asm) pos() int32 {
	if a.cold {
		return int32(a.n) | coldBit
	}
	return int32(a.n)
}

// insR writes an instruction whose rm operand is a register. Operands that the
// form does not have are ignored.
func (a *asm) insR(i inst, r, v, rm reg, imm int64) {
	f := &forms[i]
	start := a.n
	switch f.shape {
	case shM, shMI, shVM, shVMI:
		r = reg(f.ext)
	case shO, shOI:
		a.insO(f, r, imm)
		return
	}
	var rex byte
	if f.mk == k8 && rm >= 4 {
		rex = 0x40
	}
	mask := a.takeMask()
	w, sh := f.head(r, v, 0, rm, rex, mask)
	w |= uint64(0xc0|byte(r&7)<<3|byte(rm&7)) << sh
	sh += 8
	binary.LittleEndian.PutUint64(a.b[a.n:], w)
	a.n += int(sh >> 3)
	if f.imm != 0 {
		a.immediate(f.imm, imm)
	}
	if a.listing {
		a.record(start, maskText(f.textR(r, v, rm, imm), mask))
	}
}

// insM writes an instruction whose rm operand is in memory.
func (a *asm) insM(i inst, r, v reg, m mem, imm int64) {
	f := &forms[i]
	start := a.n
	switch f.shape {
	case shM, shMI, shVM, shVMI:
		r = reg(f.ext)
	}
	mask := a.takeMask()
	var w uint64
	var sh uint
	if m.base == rip {
		w, sh = f.head(r, v, 0, 0, 0, mask)
		w |= uint64(byte(r&7)<<3|5) << sh
		sh += 8
		binary.LittleEndian.PutUint64(a.b[a.n:], w)
		a.n += int(sh >> 3)
		a.poolRef = append(a.poolRef, poolRef{a.pos(), m.disp})
		binary.LittleEndian.PutUint32(a.b[a.n:], 0)
		a.n += 4
	} else {
		index := m.index
		if index == noReg {
			w, sh = f.head(r, v, 0, m.base, 0, mask)
		} else {
			w, sh = f.head(r, v, index, m.base, 0, mask)
		}
		mod, short := byte(0x80), m.disp
		if f.evex {
			short = m.disp / f.n
		}
		switch {
		case m.disp == 0 && m.base&7 != rbp:
			mod = 0
		case short == int32(int8(short)) && (!f.evex || short*f.n == m.disp):
			mod = 0x40
		}
		if index == noReg && m.base&7 != rsp {
			w |= uint64(mod|byte(r&7)<<3|byte(m.base&7)) << sh
			sh += 8
		} else {
			sib := m.shift<<6 | 4<<3 | byte(m.base&7)
			if index != noReg {
				sib = m.shift<<6 | byte(index&7)<<3 | byte(m.base&7)
			}
			w |= (uint64(mod|byte(r&7)<<3|4) | uint64(sib)<<8) << sh
			sh += 16
		}
		binary.LittleEndian.PutUint64(a.b[a.n:], w)
		a.n += int(sh >> 3)
		switch mod {
		case 0x40:
			a.b[a.n] = byte(short)
			a.n++
		case 0x80:
			binary.LittleEndian.PutUint32(a.b[a.n:], uint32(m.disp))
			a.n += 4
		}
	}
	if f.imm != 0 {
		a.immediate(f.imm, imm)
	}
	if a.listing {
		a.record(start, maskText(f.textM(r, v, a.memText(m, f.indexKind()), imm), mask))
	}
}

// insO writes an instruction with its register in the opcode.
func (a *asm) insO(f *form, r reg, imm int64) {
	start := a.n
	w, sh := f.head(0, 0, 0, r, 0, 0)
	w += uint64(r&7) << (sh - 8)
	binary.LittleEndian.PutUint64(a.b[a.n:], w)
	a.n += int(sh >> 3)
	if f.imm != 0 {
		a.immediate(f.imm, imm)
	}
	if a.listing {
		a.record(start, f.textR(r, 0, 0, imm))
	}
}

// ins0 writes an instruction without operands.
func (a *asm) ins0(i inst) {
	f := &forms[i]
	start := a.n
	w, sh := f.head(0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint64(a.b[a.n:], w)
	a.n += int(sh >> 3)
	if a.listing {
		a.record(start, f.name)
	}
}

// head packs prefixes and opcode into a word, and says how many bits they take;
// ModRM and SIB fit behind them. index 0 (rax) stands for none: neither has an
// extension bit. rex is 0x40 where a byte register exists only with that prefix
// (spl, bpl, sil, dil), and 0 otherwise. mask is what masked made.
func (f *form) head(r, v, index, base reg, rex, mask byte) (w uint64, sh uint) {
	if f.evex {
		return f.evexHead(r, v, index, base, mask)
	}
	rb, xb, bb := byte(r>>3), byte(index>>3), byte(base>>3)
	if f.vex {
		if f.noV {
			v = 0
		}
		vb := (^byte(v)&15)<<3 | f.l<<2 | f.pp
		if xb|bb|f.w == 0 && f.mp == 1 {
			return 0xc5 | uint64(rb<<7^0x80|vb)<<8 | uint64(f.op)<<16, 24
		}
		return 0xc4 | uint64((rb<<7|xb<<6|bb<<5)^0xe0|f.mp)<<8 | uint64(f.w<<7|vb)<<16 | uint64(f.op)<<24, 32
	}
	w, sh = uint64(f.before), uint(f.beforeBits)
	rex |= f.w<<3 | rb<<2 | xb<<1 | bb
	if f.rk == k8 && r >= 4 {
		rex |= 0x40
	}
	if rex != 0 {
		w |= uint64(0x40|rex) << sh
		sh += 8
	}
	return w | uint64(f.after)<<sh, sh + uint(f.afterBits)
}

// evexHead is head for EVEX. Registers have a fifth bit: that of a register in the
// rm field lies where the index's fourth would, that of a vector index where v's would.
func (f *form) evexHead(r, v, index, base reg, mask byte) (w uint64, sh uint) {
	if f.noV {
		v = 0
	}
	if f.vsib {
		v = index & 16
	}
	rb, xb, bb := byte(r>>3)&1, byte(index>>3|base>>4)&1, byte(base>>3)&1
	p0 := (rb<<7 | xb<<6 | bb<<5 | byte(r>>4)<<4) ^ 0xf0 | f.mp
	p1 := f.w<<7 | (^byte(v)&15)<<3 | 4 | f.pp
	p2 := mask | f.l<<5 | (^byte(v)&16)>>1
	return 0x62 | uint64(p0)<<8 | uint64(p1)<<16 | uint64(p2)<<24 | uint64(f.op)<<32, 40
}

// masked lets the next instruction, an EVEX one, touch only the elements of mask k;
// the others keep what they hold, or become zero.
func (a *asm) masked(k reg, zero bool) *asm {
	a.mask = byte(k)
	if zero {
		a.mask |= 0x80
	}
	return a
}

func (a *asm) takeMask() byte {
	m := a.mask
	a.mask = 0
	return m
}

func (a *asm) immediate(n uint8, v int64) {
	binary.LittleEndian.PutUint64(a.b[a.n:], uint64(v))
	a.n += int(n)
}

// poolWord makes a memory operand for a constant behind the code. Only the first
// constants are looked through: sharing saves bytes, not time.
func (a *asm) poolWord(bits uint64) mem {
	for i, c := range a.pool[:min(len(a.pool), 32)] {
		if c == bits {
			return mem{base: rip, disp: int32(i)}
		}
	}
	a.pool = append(a.pool, bits)
	return mem{base: rip, disp: int32(len(a.pool) - 1)}
}

// poolMask makes a memory operand of 16 bytes for a mask, whose place is kept in *at.
func (a *asm) poolMask(at *int32, bits uint64) mem {
	if *at < 0 {
		if len(a.pool)&1 != 0 {
			a.pool = append(a.pool, 0) // not to straddle cache lines
		}
		*at = int32(len(a.pool))
		a.pool = append(a.pool, bits, bits)
	}
	return mem{base: rip, disp: *at}
}

// poolPair makes a memory operand of 16 bytes that do not straddle cache lines.
func (a *asm) poolPair(lo, hi uint64) mem {
	for i := 0; i+1 < min(len(a.pool), 32); i += 2 {
		if a.pool[i] == lo && a.pool[i+1] == hi {
			return mem{base: rip, disp: int32(i)}
		}
	}
	if len(a.pool)&1 != 0 {
		a.pool = append(a.pool, 0)
	}
	a.pool = append(a.pool, lo, hi)
	return mem{base: rip, disp: int32(len(a.pool) - 2)}
}

func (a *asm) put32(site int32, v int32) {
	b := a.b
	if (site&coldBit != 0) != a.cold {
		b = a.other.b
	}
	binary.LittleEndian.PutUint32(b[site&^coldBit:], uint32(v))
}

func (a *asm) get32(site int32) int32 {
	b := a.b
	if (site&coldBit != 0) != a.cold {
		b = a.other.b
	}
	return int32(binary.LittleEndian.Uint32(b[site&^coldBit:]))
}
