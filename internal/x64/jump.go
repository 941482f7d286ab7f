package x64

import "encoding/binary"

// jump writes a jump to a place not yet known and adds it to the list.
func (a *asm) jump(c cc, list *int32) {
	start := a.n
	a.jumpOp(c)
	site := a.pos()
	binary.LittleEndian.PutUint32(a.b[a.n:], uint32(*list))
	a.n += 4
	*list = site
	if a.listing {
		a.recordJump(start, c)
	}
}

// jumpTo writes a jump to a known place, short when it is near.
func (a *asm) jumpTo(c cc, target int32) {
	start := a.n
	if target&coldBit == a.pos()&coldBit {
		if d := int(target&^coldBit) - (a.n + 2); d >= -128 {
			a.b[a.n] = 0xeb
			if c != ccAlways {
				a.b[a.n] = 0x70 | byte(c)
			}
			a.b[a.n+1] = byte(d)
			a.n += 2
			if a.listing {
				a.recordJump(start, c)
			}
			return
		}
	}
	a.jumpOp(c)
	a.n += 4
	a.aim(a.pos()-4, target)
	if a.listing {
		a.recordJump(start, c)
	}
}

func (a *asm) jumpOp(c cc) {
	if c == ccAlways {
		a.b[a.n] = 0xe9
		a.n++
		return
	}
	a.b[a.n], a.b[a.n+1] = 0x0f, 0x80|byte(c)
	a.n += 2
}

// aim lets the displacement at site lead to target. Across sections the distance
// is not yet known: it is written as if both began at 0, and settle corrects it.
func (a *asm) aim(site, target int32) {
	a.put32(site, target&^coldBit-(site&^coldBit+4))
	if (site^target)&coldBit != 0 {
		a.fix = append(a.fix, site)
	}
}

// bind makes the current position the target of a list of jumps.
func (a *asm) bind(list int32) {
	here := a.pos()
	for list != emptyRef {
		next := a.get32(list)
		a.aim(list, here)
		list = next
	}
}

// settle fixes what crosses sections once their sizes are known, and returns the
// offsets at which the cold section and the constants begin, and the whole size.
// The hot section is current.
func (a *asm) settle() (coldAt, poolAt, size int) {
	coldAt = (a.n + 15) &^ 15
	for _, site := range a.fix {
		d := int32(coldAt)
		if site&coldBit != 0 {
			d = -d
		}
		a.put32(site, a.get32(site)+d)
	}
	poolAt = (coldAt + a.other.n + 15) &^ 15
	for _, p := range a.poolRef {
		off := int(p.site &^ coldBit)
		if p.site&coldBit != 0 {
			off += coldAt
		}
		a.put32(p.site, int32(poolAt+8*int(p.index)-(off+4)))
	}
	return coldAt, poolAt, poolAt + 8*len(a.pool)
}

// writeTo copies the settled code to its place. The gaps hold int3.
func (a *asm) writeTo(dst []byte, coldAt, poolAt int) {
	n := copy(dst, a.b[:a.n])
	fill(dst[n:coldAt])
	n = coldAt + copy(dst[coldAt:], a.other.b[:a.other.n])
	fill(dst[n:poolAt])
	for i, c := range a.pool {
		binary.LittleEndian.PutUint64(dst[poolAt+8*i:], c)
	}
}

func fill(b []byte) {
	for i := range b {
		b[i] = 0xcc
	}
}

// nops are the recommended no-operations of 1 to 9 bytes.
var nops = [...]string{
	"", "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00",
	"\x66\x0f\x1f\x44\x00\x00", "\x0f\x1f\x80\x00\x00\x00\x00", "\x0f\x1f\x84\x00\x00\x00\x00\x00",
	"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
}

// align pads to a multiple of 16 with as few instructions as possible: loop heads
// that begin a fetch block run faster.
func (a *asm) align() {
	for pad := -a.n & 15; pad > 0; {
		k := min(pad, 9)
		start := a.n
		a.n += copy(a.b[a.n:], nops[k])
		pad -= k
		if a.listing {
			a.record(start, "nop")
		}
	}
}
