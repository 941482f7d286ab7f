package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// add128 is D,D2 = A,A2 ± B,B2 with lo and hi the instructions of the halves.
func (t *translator) add128(in *ir.Instr, lo, hi inst) {
	if in.D == in.D2 {
		t.fail("both halves of a result in one register")
	}
	ld, ld2 := t.target(in.D), t.target(in.D2)
	switch {
	case in.A.R == in.D && in.A2.R == in.D2 && in.B2.R != in.D && (ld.isReg() || ld.isNear()) && (ld2.isReg() || ld2.isNear()):
		// An accumulator, in registers or in its slots.
		t.aluPlace(lo, ld, in.B)
		t.aluPlace(hi, ld2, in.B2)
	case ld.isReg() && ld2.isReg() && in.D != in.A2.R && in.D != in.B.R && in.D != in.B2.R && in.D2 != in.B.R && in.D2 != in.B2.R:
		t.into(ld.reg(), in.A)
		t.into(ld2.reg(), in.A2)
		t.alu(lo, ld.reg(), in.B, rcx)
		t.alu(hi, ld2.reg(), in.B2, rcx)
	default:
		t.into(rax, in.A)
		t.into(rdx, in.A2)
		t.alu(lo, rax, in.B, rcx)
		t.alu(hi, rdx, in.B2, rcx)
		t.finish(in.D, rax, rcx)
		t.finish(in.D2, rdx, rcx)
	}
	if in.Op == ir.Add128X || in.Op == ir.Sub128X {
		t.overflow(in)
	}
}

// aluPlace is place op= v for a register or a slot in the frame.
func (t *translator) aluPlace(g inst, l loc, v ir.Val) {
	if l.isReg() {
		t.alu(g, l.reg(), v, rcx)
	} else {
		t.aluMem(g, slotMem(l), v, rcx)
	}
}

func (t *translator) mulWide(in *ir.Instr) {
	a, b := in.A, in.B
	if b.IsImm() {
		a, b = b, a
	}
	t.into(rax, a)
	t.op(iIMULm, 0, b, rcx)
	t.finish(in.D, rax, rcx)
	t.finish(in.D2, rdx, rcx)
}

func (t *translator) mulWideU(in *ir.Instr) {
	a, b := in.A, in.B
	if b.IsImm() {
		a, b = b, a
	}
	t.into(rdx, a)
	lo, hi := t.dst(in.D, rax), t.dst(in.D2, rdx)
	t.opV(iMULX, hi, lo, b, rcx)
	t.finish(in.D, lo, rcx)
	t.finish(in.D2, hi, rcx)
}

// opV is op for instructions with a third register v.
func (t *translator) opV(i inst, r, v reg, x ir.Val, tmp reg) {
	if x.R != ir.NoReg {
		if l := t.find(x.R); l.isNear() {
			t.insM(i, r, v, slotMem(l), 0)
			return
		}
	}
	t.insR(i, r, v, t.use(x, tmp), 0)
}

// mul128 is the low 128 bits of A,A2 * B,B2: A*B in full, and the low halves of
// the mixed products on top.
func (t *translator) mul128(in *ir.Instr) {
	t.into(rcx, in.A2)
	t.op(iIMULrm, rcx, in.B, rax)
	t.into(rdx, in.A)
	t.op(iIMULrm, rdx, in.B2, rax)
	t.insR(iADD+aluRM, rcx, 0, rdx, 0)
	t.into(rdx, in.A)
	t.opV(iMULX, rdx, rax, in.B, rax)
	t.insR(iADD+aluRM, rdx, 0, rcx, 0)
	t.finish(in.D, rax, rcx)
	t.finish(in.D2, rdx, rcx)
}

// div128 is A,A2 / B or % B for a positive B: two unsigned divisions of the
// dividend's magnitude, high half first, with the sign put back afterwards.
func (t *translator) div128(in *ir.Instr) {
	sign, low, high := scratchMem(0), scratchMem(1), scratchMem(2)
	t.into(rax, in.A)
	t.into(rdx, in.A2)
	t.mr(rcx, rdx)
	t.insR(iSAR, 0, 0, rcx, 63)
	t.insM(iMOVmr, rcx, 0, sign, 0)
	t.negate128()
	t.insM(iMOVmr, rax, 0, low, 0)
	t.mr(rax, rdx)
	t.insR(iXOR32, rdx, 0, rdx, 0)
	t.op(iDIVm, 0, in.B, rcx)
	t.insM(iMOVmr, rax, 0, high, 0)
	t.insM(iMOVrm, rax, 0, low, 0)
	t.op(iDIVm, 0, in.B, rcx)
	if in.Op == ir.Rem128 {
		t.insM(iMOVrm, rcx, 0, sign, 0)
		t.insR(iXOR+aluRM, rdx, 0, rcx, 0)
		t.insR(iSUB+aluRM, rdx, 0, rcx, 0)
		t.finish(in.D, rdx, rcx)
		return
	}
	t.insM(iMOVrm, rdx, 0, high, 0)
	t.insM(iMOVrm, rcx, 0, sign, 0)
	t.negate128()
	t.finish(in.D, rax, rcx)
	t.finish(in.D2, rdx, rcx)
}

// negate128 negates rax,rdx if rcx is -1 and leaves it if rcx is 0.
func (t *translator) negate128() {
	t.insR(iXOR+aluRM, rax, 0, rcx, 0)
	t.insR(iXOR+aluRM, rdx, 0, rcx, 0)
	t.insR(iSUB+aluRM, rax, 0, rcx, 0)
	t.insR(iSBB+aluRM, rdx, 0, rcx, 0)
}
