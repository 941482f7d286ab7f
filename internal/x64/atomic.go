package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// atomic translates the read-modify-write operations. Their address takes at most
// rdx, so that rax (the old value, as cmpxchg wants it) and rcx (the new one) are
// free. A result that nobody wants (D is NoReg) saves the loop where x86 can.
func (t *translator) atomic(in *ir.Instr) {
	if in.W != 8 {
		t.fail("an atomic of %d bytes is not one of the CPU", in.W)
		return
	}
	x := t.mem1(&in.M, rdx, rcx)
	want := in.D != ir.NoReg
	switch in.Op {
	case ir.AtomAdd, ir.AtomOr:
		if !want {
			i := iLOCKADD
			if in.Op == ir.AtomOr {
				i = iLOCKOR
			}
			t.insM(i, t.use(in.A, rax), 0, x, 0)
			return
		}
		if in.Op == ir.AtomAdd {
			t.into(rax, in.A)
			t.insM(iXADD, rax, 0, x, 0)
			break
		}
		t.retry(x, func() {
			t.into(rcx, in.A)
			t.insR(iOR+aluRM, rcx, 0, rax, 0)
		})
	case ir.AtomMin, ir.AtomMax:
		move := iCMOVcc + inst(ccL)
		if in.Op == ir.AtomMax {
			move = iCMOVcc + inst(ccG)
		}
		t.retry(x, func() {
			t.into(rcx, in.A)
			t.insR(iCMP+aluRM, rax, 0, rcx, 0)
			t.insR(move, rcx, 0, rax, 0)
		})
	case ir.AtomExch:
		t.into(rax, in.A)
		t.insM(iXCHG, rax, 0, x, 0)
	case ir.AtomCAS:
		t.into(rax, in.A)
		t.insM(iCMPXCHG, t.use(in.B, rcx), 0, x, 0)
	case ir.AtomFAdd:
		a := t.xuse(in.A, xt0)
		t.retry(x, func() {
			t.insR(iVMOVQxr, xt1, 0, rax, 0)
			t.insR(iVADDSD, xt2, xt1, a, 0)
			t.insR(iVMOVQrx, xt2, 0, rcx, 0)
		})
		if want {
			t.xfinish(in.D, xt1)
		}
		return
	}
	if want {
		t.finish(in.D, rax, rcx)
	}
}

// retry computes rcx from rax, the memory's content, until nobody else changed it
// in between.
func (t *translator) retry(x mem, compute func()) {
	t.insM(iMOVrm, rax, 0, x, 0)
	top := t.pos()
	t.label()
	compute()
	t.insM(iCMPXCHG, rcx, 0, x, 0)
	t.jumpTo(ccNE, top)
}
