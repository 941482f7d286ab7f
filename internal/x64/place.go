package x64

import (
	"fmt"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// loc says where a virtual register lives: 0–15 a general register, 16–31 an xmm
// register, from firstSlot a spill slot, closed nowhere.
type loc int32

const (
	closed    loc = -1
	firstXMM  loc = 16
	firstSlot loc = 32
)

// Spill slots 0 to frameSlots-1 lie in the trampoline's frame, where they are
// memory operands like any other. The ones beyond live in the context's save area,
// whose address must be loaded first: they are rare, and slow. Above the slots the
// frame has scratch words for division and loops (enter_amd64.s must agree).
const (
	frameSlots   = 240
	scratchWords = 8
	frameBytes   = 8 * (frameSlots + scratchWords)
)

// The save area holds the register files, then one word per spill slot.
const (
	saveXMM   = 8 * 16
	saveSlots = saveXMM + 8*12
)

func (t *translator) resetPlaces(n int) {
	if cap(t.loc) < n {
		t.loc = make([]loc, n+n/2)
	}
	t.loc = t.loc[:n]
	for i := range t.loc {
		t.loc[i] = closed
	}
	if n > 0 {
		t.loc[ir.Ctx] = loc(ctxReg)
	}
	t.freeG, t.freeX = attrGPR, attrXMM
	t.slots, t.maxSlots = t.slots[:0], 0
}

func (t *translator) open(v ir.Reg) {
	if uint(v) >= uint(len(t.loc)) || t.loc[v] != closed {
		t.fail("register %d cannot be opened", v)
		return
	}
	typ := t.f.Regs[v].Type
	if typ == ir.I32 {
		t.fail("register %d is i32, and the CPU's are i64", v)
		return
	}
	isFloat := typ == ir.F64
	switch {
	case t.spill:
		t.loc[v] = firstSlot + loc(t.openSlot())
	case !isFloat && t.freeG != 0:
		m := t.freeG
		if m != lastGPR {
			m &^= lastGPR
		}
		r := bits.TrailingZeros32(m)
		t.freeG &^= 1 << r
		t.loc[v] = loc(r)
	case isFloat && t.freeX != 0:
		r := bits.TrailingZeros32(t.freeX)
		t.freeX &^= 1 << r
		t.loc[v] = firstXMM + loc(r)
	default:
		t.loc[v] = firstSlot + loc(t.openSlot())
	}
	if t.listing {
		t.comment(fmt.Sprintf("%s: %s", t.regName(v), t.placeText(t.loc[v])))
	}
}

func (t *translator) close(v ir.Reg) {
	if uint(v) >= uint(len(t.loc)) || t.loc[v] == closed || v == ir.Ctx {
		t.fail("register %d cannot be cleared", v)
		return
	}
	switch l := t.loc[v]; {
	case l < firstXMM:
		t.freeG |= 1 << l
	case l < firstSlot:
		t.freeX |= 1 << (l - firstXMM)
	default:
		k := int(l - firstSlot)
		t.slots[k>>6] &^= 1 << (k & 63)
	}
	t.loc[v] = closed
}

func (t *translator) openSlot() int {
	for i, w := range t.slots {
		if ^w != 0 {
			k := bits.TrailingZeros64(^w)
			t.slots[i] |= 1 << k
			t.maxSlots = max(t.maxSlots, i<<6+k+1)
			return i<<6 + k
		}
	}
	t.slots = append(t.slots, 1)
	k := (len(t.slots) - 1) << 6
	t.maxSlots = max(t.maxSlots, k+1)
	return k
}

// saveBytes is how large the save area must be.
func (t *translator) saveBytes() int {
	if t.yields == 0 && t.maxSlots <= frameSlots {
		return 0
	}
	return saveSlots + 8*t.maxSlots
}

func (t *translator) regName(v ir.Reg) string {
	if n := t.f.Regs[v].Name; n != "" {
		return n
	}
	return fmt.Sprintf("r%d", v)
}

func (t *translator) placeText(l loc) string {
	switch {
	case l < firstXMM:
		return reg(l).name(k64)
	case l < firstSlot:
		return reg(l - firstXMM).name(kX)
	case l < firstSlot+frameSlots:
		return t.memText(slotMem(l), k64)
	}
	return fmt.Sprintf("save area+%d", farDisp(l))
}

// notOpen and ctxAssigned are panics which TranslateWith turns into errors.
type (
	notOpen     ir.Reg
	ctxAssigned struct{}
)

// find is the place of an open register. It panics, on a register that is not open
// or does not exist, because that keeps it small enough to be inlined.
func (t *translator) find(v ir.Reg) loc {
	l := t.loc[v]
	if l < 0 {
		panic(notOpen(v))
	}
	return l
}

// target is the place of a register about to be assigned.
func (t *translator) target(v ir.Reg) loc {
	if v == ir.Ctx {
		panic(ctxAssigned{})
	}
	return t.find(v)
}

func (l loc) isReg() bool  { return l < firstSlot }
func (l loc) isNear() bool { return l >= firstSlot && l < firstSlot+frameSlots }
func (l loc) reg() reg     { return reg(l & 15) }

func slotMem(l loc) mem      { return at(rsp, 8+8*int32(l-firstSlot)) }
func scratchMem(k int32) mem { return at(rsp, 8+8*(frameSlots+k)) }
func farDisp(l loc) int32    { return saveSlots + 8*int32(l-firstSlot) }
func fits8(i int64) bool     { return i == int64(int8(i)) }
func fits32(i int64) bool    { return i == int64(int32(i)) }
func (t *translator) mr(d, s reg) { // d = s
	if d != s {
		t.insR(iMOVrm, d, 0, s, 0)
	}
}

// imm loads a constant and leaves the flags alone.
func (t *translator) imm(d reg, v int64) {
	switch {
	case uint64(v) <= 0xffffffff:
		t.insR(iMOV32oi, d, 0, 0, v)
	case fits32(v):
		t.insR(iMOVmi, 0, 0, d, v)
	default:
		t.insR(iMOVoi, d, 0, 0, v)
	}
}

// fetch loads a spilled integer register. Far slots need no second register: the
// save area's address is loaded into the destination itself.
func (t *translator) fetch(d reg, l loc) {
	if l.isNear() {
		t.insM(iMOVrm, d, 0, slotMem(l), 0)
		return
	}
	t.insM(iMOVrm, d, 0, at(ctxReg, ir.CtxSave), 0)
	t.insM(iMOVrm, d, 0, at(d, farDisp(l)), 0)
}

// into makes d hold v; the flags survive.
func (t *translator) into(d reg, v ir.Val) {
	if v.R == ir.NoReg {
		t.imm(d, v.Imm)
		return
	}
	if l := t.find(v.R); l.isReg() {
		t.mr(d, l.reg())
	} else {
		t.fetch(d, l)
	}
}

// use is a register that holds v: its own, or tmp.
func (t *translator) use(v ir.Val, tmp reg) reg {
	if v.R != ir.NoReg {
		if l := t.find(v.R); l.isReg() {
			return l.reg()
		}
	}
	t.into(tmp, v)
	return tmp
}

// isIn tells whether v is a register's value and that lives in machine register r.
func (t *translator) isIn(v ir.Val, r reg) bool {
	return v.R != ir.NoReg && t.find(v.R) == loc(r)
}

// dst is the register in which to compute d; finish then puts it in place.
func (t *translator) dst(d ir.Reg, tmp reg) reg {
	if l := t.target(d); l.isReg() {
		return l.reg()
	}
	return tmp
}

// finish makes d hold r; scratch is a temporary other than r, and the flags survive.
func (t *translator) finish(d ir.Reg, r, scratch reg) {
	switch l := t.target(d); {
	case l.isReg():
		t.mr(l.reg(), r)
	case l.isNear():
		t.insM(iMOVmr, r, 0, slotMem(l), 0)
	default:
		t.insM(iMOVrm, scratch, 0, at(ctxReg, ir.CtxSave), 0)
		t.insM(iMOVmr, r, 0, at(scratch, farDisp(l)), 0)
	}
}

// op writes instruction i with register r and v as its rm operand, which may be
// memory; what cannot be one goes through tmp.
func (t *translator) op(i inst, r reg, v ir.Val, tmp reg) {
	if v.R != ir.NoReg {
		if l := t.find(v.R); l.isReg() {
			t.insR(i, r, 0, l.reg(), 0)
			return
		} else if l.isNear() {
			t.insM(i, r, 0, slotMem(l), 0)
			return
		}
	}
	t.into(tmp, v)
	t.insR(i, r, 0, tmp, 0)
}

// alu writes r op= v for the group g.
func (t *translator) alu(g inst, r reg, v ir.Val, tmp reg) {
	if v.R == ir.NoReg {
		if fits8(v.Imm) {
			t.insR(g+aluMI8, 0, 0, r, v.Imm)
			return
		}
		if fits32(v.Imm) {
			t.insR(g+aluMI32, 0, 0, r, v.Imm)
			return
		}
	}
	t.op(g+aluRM, r, v, tmp)
}

// aluMem writes m op= v for the group g.
func (t *translator) aluMem(g inst, m mem, v ir.Val, tmp reg) {
	if v.R == ir.NoReg {
		if fits8(v.Imm) {
			t.insM(g+aluMI8, 0, 0, m, v.Imm)
			return
		}
		if fits32(v.Imm) {
			t.insM(g+aluMI32, 0, 0, m, v.Imm)
			return
		}
	}
	t.insM(g+aluMR, t.use(v, tmp), 0, m, 0)
}

// mem is the machine operand of m; spilled registers go to t1 (base) and t2 (index).
func (t *translator) mem(m *ir.Mem, t1, t2 reg) mem {
	if m.Space != ir.Global || m.Base == ir.NoReg {
		t.fail("only global memory with a base register exists on the CPU")
		return at(ctxReg, 0)
	}
	x := at(t.use(m.Base.V(), t1), m.Disp)
	if m.Index != ir.NoReg {
		x.index = t.use(m.Index.V(), t2)
		switch m.Scale {
		case 1:
		case 2:
			x.shift = 1
		case 4:
			x.shift = 2
		case 8:
			x.shift = 3
		default:
			t.fail("scale %d", m.Scale)
		}
	}
	return x
}

// mem1 is mem that leaves t2 free.
func (t *translator) mem1(m *ir.Mem, t1, t2 reg) mem {
	x := t.mem(m, t1, t2)
	if x.index == t2 {
		t.insM(iLEA, t1, 0, x, 0)
		return at(t1, 0)
	}
	return x
}
