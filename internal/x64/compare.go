package x64

import "github.com/kelpiedb/kelpie/internal/ir"

var ccOf = [...]cc{
	ir.EQ: ccE, ir.NE: ccNE, ir.LT: ccL, ir.LE: ccLE, ir.GT: ccG, ir.GE: ccGE,
	ir.ULT: ccB, ir.ULE: ccBE, ir.UGT: ccA, ir.UGE: ccAE,
}

// known tells what a comparison of constants, or none, yields.
func known(c ir.Cond, a, b ir.Val) (holds, ok bool) {
	switch {
	case c == ir.Always:
		return true, true
	case !a.IsImm() || !b.IsImm():
		return false, false
	}
	x, y := uint64(a.Imm), uint64(b.Imm)
	if c >= ir.LT && c <= ir.GE { // as unsigned numbers, moved by half the range
		x, y = x^1<<63, y^1<<63
	}
	switch c {
	case ir.EQ:
		return x == y, true
	case ir.NE:
		return x != y, true
	case ir.LT, ir.ULT:
		return x < y, true
	case ir.LE, ir.ULE:
		return x <= y, true
	case ir.GT, ir.UGT:
		return x > y, true
	}
	return x >= y, true
}

// compare writes the comparison of two integers and says which condition code
// then means c; Always needs no code. It may use rax and rdx, never rcx.
func (t *translator) compare(c ir.Cond, a, b ir.Val) cc {
	if c == ir.Always {
		return ccAlways
	}
	if int(c) >= len(ccOf) {
		t.fail("condition %d", c)
		return ccE
	}
	if a.IsImm() {
		a, b, c = b, a, c.Swap()
	}
	code := ccOf[c]
	if b.IsImm() && b.Imm == 0 {
		if t.flagsPos == t.pos() && t.flagsReg == a.R {
			// A is the result of the operation just before.
			if c == ir.NE {
				return t.flagsCC
			}
			if c == ir.EQ {
				return t.flagsCC.not()
			}
		}
		if t.inReg(a) {
			r := t.find(a.R).reg()
			t.insR(iTEST, r, 0, r, 0)
			return code
		}
	}
	if !a.IsImm() {
		if l := t.find(a.R); l.isNear() {
			t.aluMem(iCMP, slotMem(l), b, rdx)
			return code
		}
	}
	t.alu(iCMP, t.use(a, rax), b, rdx)
	return code
}

// set is D = Cond(A,B) ? 1 : 0.
func (t *translator) set(in *ir.Instr) {
	if in.Cond == ir.Always {
		t.mov(in.D, ir.K(1))
		return
	}
	t.setCond(in.D, in.Cond, in.A, in.B)
}

func (t *translator) setCond(d ir.Reg, c ir.Cond, a, b ir.Val) {
	r := t.dst(d, rcx)
	// Zeroing first is shorter, unless the comparison reads the register or finds
	// its result in the flags already.
	clear := !t.isIn(a, r) && !t.isIn(b, r) && t.flagsPos != t.pos()
	if clear {
		t.insR(iXOR32, r, 0, r, 0)
	}
	code := t.compare(c, a, b)
	t.insR(iSETcc+inst(code), 0, 0, r, 0)
	if !clear {
		t.insR(iMOVZX8, r, 0, r, 0)
	}
	t.finish(d, r, rax)
	t.setFlags(d, code)
}

// sel is D = Cond(A,B) ? C : C2 by a conditional move.
func (t *translator) sel(in *ir.Instr) {
	yes, no := in.C, in.C2
	switch {
	case in.Cond == ir.Always || yes == no:
		t.mov(in.D, yes)
		return
	case yes == ir.K(1) && no == ir.K(0):
		t.setCond(in.D, in.Cond, in.A, in.B)
		return
	case yes == ir.K(0) && no == ir.K(1):
		t.setCond(in.D, in.Cond.Negate(), in.A, in.B)
		return
	}
	r := t.dst(in.D, rcx)
	c := t.compare(in.Cond, in.A, in.B)
	if t.isIn(yes, r) {
		yes, no, c = no, yes, c.not()
	}
	t.into(r, no)
	t.op(iCMOVcc+inst(c), r, yes, rax)
	t.finish(in.D, r, rax)
}
