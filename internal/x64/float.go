package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// Floats live in xmm registers or in the same slots as integers. Far slots are
// reached through rcx, which the float operations therefore keep free.

// xinto makes xmm register d hold v; an immediate operand is a float's bits.
func (t *translator) xinto(d reg, v ir.Val) {
	if v.R == ir.NoReg {
		t.xconst(d, uint64(v.Imm))
		return
	}
	switch l := t.find(v.R); {
	case l.isReg():
		if l.reg() != d {
			t.insR(iVMOVAPS, d, 0, l.reg(), 0)
		}
	case l.isNear():
		t.insM(iVMOVSDld, d, 0, slotMem(l), 0)
	default:
		t.insM(iMOVrm, rcx, 0, at(ctxReg, ir.CtxSave), 0)
		t.insM(iVMOVSDld, d, 0, at(rcx, farDisp(l)), 0)
	}
}

func (t *translator) xconst(d reg, bits uint64) {
	if bits == 0 {
		t.insR(iVXORPS, d, d, d, 0)
		return
	}
	t.insM(iVMOVSDld, d, 0, t.poolWord(bits), 0)
}

func (t *translator) xuse(v ir.Val, tmp reg) reg {
	if v.R != ir.NoReg {
		if l := t.find(v.R); l.isReg() {
			return l.reg()
		}
	}
	t.xinto(tmp, v)
	return tmp
}

// xop is instruction i with registers r, v and x as its rm operand.
func (t *translator) xop(i inst, r, v reg, x ir.Val, tmp reg) {
	if x.R != ir.NoReg {
		if l := t.find(x.R); l.isNear() {
			t.insM(i, r, v, slotMem(l), 0)
			return
		}
	}
	t.insR(i, r, v, t.xuse(x, tmp), 0)
}

func (t *translator) xfinish(d ir.Reg, r reg) {
	switch l := t.target(d); {
	case l.isReg():
		if l.reg() != r {
			t.insR(iVMOVAPS, l.reg(), 0, r, 0)
		}
	case l.isNear():
		t.insM(iVMOVSDst, r, 0, slotMem(l), 0)
	default:
		t.insM(iMOVrm, rcx, 0, at(ctxReg, ir.CtxSave), 0)
		t.insM(iVMOVSDst, r, 0, at(rcx, farDisp(l)), 0)
	}
}

// Rounding modes of vroundsd, with inexact results not signalled.
const (
	roundEven  = 8
	roundDown  = 9
	roundUp    = 10
	roundTrunc = 11
)

// float translates the operations on floats; it is false for all others.
func (t *translator) float(in *ir.Instr) bool {
	switch in.Op {
	case ir.FMov:
		if in.A.R != in.D {
			t.xfinish(in.D, t.xuse(in.A, t.dst(in.D, xt0)))
		}
	case ir.FAdd:
		t.xbinary(iVADDSD, in)
	case ir.FSub:
		t.xbinary(iVSUBSD, in)
	case ir.FMul:
		t.xbinary(iVMULSD, in)
	case ir.FDiv:
		t.xbinary(iVDIVSD, in)
	case ir.FMin: // vminsd gives B for equal numbers and NaNs, as wanted
		t.xbinary(iVMINSD, in)
	case ir.FMax:
		t.xbinary(iVMAXSD, in)
	case ir.FNeg:
		t.xmask(iVXORPD, in, t.poolMask(&t.negMask, 1<<63))
	case ir.FAbs:
		t.xmask(iVANDPD, in, t.poolMask(&t.absMask, 1<<63-1))
	case ir.FSqrt:
		d, a := t.dst(in.D, xt0), t.xuse(in.A, xt1)
		t.insR(iVSQRTSD, d, a, a, 0)
		t.xfinish(in.D, d)
	case ir.FFloor:
		t.xround(in, roundDown)
	case ir.FCeil:
		t.xround(in, roundUp)
	case ir.FTrunc:
		t.xround(in, roundTrunc)
	case ir.FRound:
		t.xround(in, roundEven)
	case ir.FRound32:
		d, a := t.dst(in.D, xt0), t.xuse(in.A, xt1)
		t.insR(iVCVTSD2SS, d, a, a, 0)
		t.insR(iVCVTSS2SD, d, d, d, 0)
		t.xfinish(in.D, d)
	case ir.FConst:
		t.fconst(in.D, in.A)
	case ir.I2F:
		d := t.dst(in.D, xt0)
		t.insR(iVXORPS, d, d, d, 0) // the conversion keeps the upper half: do not wait for it
		t.opV(iVCVTSI2SD, d, d, in.A, rax)
		t.xfinish(in.D, d)
	case ir.U2F:
		t.u2f(in)
	case ir.F2I:
		r := t.dst(in.D, rax)
		t.xop(iVCVTTSD2SI, r, 0, in.A, xt0)
		t.finish(in.D, r, rcx)
	case ir.FBits:
		t.fbits(in)
	case ir.BitsF:
		t.bitsf(in)
	case ir.FSet:
		t.fset(in)
	case ir.FSel:
		t.fsel(in)
	case ir.FLoad:
		t.fload(in)
	case ir.FStore:
		t.fstore(in)
	default:
		return false
	}
	return true
}

func (t *translator) xbinary(i inst, in *ir.Instr) {
	d, a := t.dst(in.D, xt0), t.xuse(in.A, xt0)
	t.xop(i, d, a, in.B, xt1)
	t.xfinish(in.D, d)
}

// xmask combines A with a mask from the constant pool.
func (t *translator) xmask(i inst, in *ir.Instr, mask mem) {
	d, a := t.dst(in.D, xt0), t.xuse(in.A, xt0)
	t.insM(i, d, a, mask, 0)
	t.xfinish(in.D, d)
}

func (t *translator) xround(in *ir.Instr, mode int64) {
	d, a := t.dst(in.D, xt0), t.xuse(in.A, xt0)
	t.insR(iVROUNDSD, d, a, a, mode)
	t.xfinish(in.D, d)
}

func (t *translator) fconst(d ir.Reg, a ir.Val) {
	if !a.IsImm() {
		t.fail("a float constant is an immediate")
		return
	}
	if l := t.target(d); l.isReg() {
		t.xconst(l.reg(), uint64(a.Imm))
		return
	}
	t.mov(d, a) // a slot takes any bits
}

func (t *translator) fbits(in *ir.Instr) {
	if in.A.IsImm() || !t.find(in.A.R).isReg() {
		t.mov(in.D, in.A)
		return
	}
	if l := t.target(in.D); l.isReg() {
		t.insR(iVMOVQrx, t.find(in.A.R).reg(), 0, l.reg(), 0)
		return
	}
	t.xfinish(in.D, t.find(in.A.R).reg())
}

func (t *translator) bitsf(in *ir.Instr) {
	l := t.target(in.D)
	switch {
	case in.A.IsImm():
		t.fconst(in.D, in.A)
	case !l.isReg():
		t.mov(in.D, in.A)
	case t.inReg(in.A):
		t.insR(iVMOVQxr, l.reg(), 0, t.find(in.A.R).reg(), 0)
	default:
		t.xinto(l.reg(), in.A)
	}
}

// u2f converts numbers below 2^63 like signed ones. Larger ones, which take the
// cold way, are halved, with the lost bit kept for the rounding, and doubled.
func (t *translator) u2f(in *ir.Instr) {
	d, a := t.dst(in.D, xt0), t.use(in.A, rax)
	slow, done := emptyRef, emptyRef
	t.insR(iTEST, a, 0, a, 0)
	t.jump(ccS, &slow)
	t.insR(iVXORPS, d, d, d, 0)
	t.insR(iVCVTSI2SD, d, d, a, 0)
	hot, back := !t.cold, t.pos()
	if hot {
		t.swap()
		t.room(roomPerOp)
	} else {
		t.jump(ccAlways, &done)
	}
	t.bind(slow)
	t.mr(rdx, a)
	t.mr(rax, a)
	t.insR(iSHR, 0, 0, rdx, 1)
	t.insR(iAND32i8, 0, 0, rax, 1)
	t.insR(iOR+aluRM, rdx, 0, rax, 0)
	t.insR(iVXORPS, d, d, d, 0)
	t.insR(iVCVTSI2SD, d, d, rdx, 0)
	t.insR(iVADDSD, d, d, d, 0)
	if hot {
		t.jumpTo(ccAlways, back)
		t.swap()
	} else {
		t.bind(done)
	}
	t.xfinish(in.D, d)
}

// fcompare compares floats and says which condition code then means c, except for
// EQ and NE, which must also look at the parity flag: unordered sets ZF, PF and CF.
func (t *translator) fcompare(c ir.Cond, a, b ir.Val) cc {
	code := ccE
	switch c {
	case ir.EQ:
	case ir.NE:
		code = ccNE
	case ir.GT:
		code = ccA
	case ir.GE:
		code = ccAE
	case ir.LT:
		a, b, code = b, a, ccA
	case ir.LE:
		a, b, code = b, a, ccAE
	default:
		t.fail("condition %d on floats", c)
	}
	t.xop(iVUCOMISD, t.xuse(a, xt0), 0, b, xt1)
	return code
}

func (t *translator) fset(in *ir.Instr) {
	r := t.dst(in.D, rax)
	if in.Cond != ir.EQ && in.Cond != ir.NE {
		t.insR(iXOR32, r, 0, r, 0)
		c := t.fcompare(in.Cond, in.A, in.B)
		t.insR(iSETcc+inst(c), 0, 0, r, 0)
		t.finish(in.D, r, rcx)
		t.setFlags(in.D, c)
		return
	}
	c := t.fcompare(in.Cond, in.A, in.B)
	t.insR(iSETcc+inst(c), 0, 0, rax, 0)
	if c == ccE {
		t.insR(iSETcc+inst(ccNP), 0, 0, rcx, 0)
		t.insR(iAND8, rax, 0, rcx, 0)
	} else {
		t.insR(iSETcc+inst(ccP), 0, 0, rcx, 0)
		t.insR(iOR8, rax, 0, rcx, 0)
	}
	t.insR(iMOVZX8, r, 0, rax, 0)
	t.finish(in.D, r, rcx)
	t.setFlags(in.D, ccNE)
}

// fsel has no conditional move to use: it blends by a mask made of the condition.
func (t *translator) fsel(in *ir.Instr) {
	if in.Cond == ir.Always {
		t.xfinish(in.D, t.xuse(in.C, xt0))
		return
	}
	d := t.dst(in.D, xt0)
	c := t.compare(in.Cond, in.A, in.B)
	t.insR(iSETcc+inst(c), 0, 0, rax, 0)
	t.insR(iMOVZX8, rax, 0, rax, 0)
	t.insR(iNEG, 0, 0, rax, 0)
	t.insR(iVMOVQxr, xt2, 0, rax, 0)
	yes := t.xuse(in.C, xt1)
	no := t.xuse(in.C2, xt0)
	t.insR(iVBLENDVPD, d, no, yes, int64(xt2)<<4)
	t.xfinish(in.D, d)
}

func (t *translator) fload(in *ir.Instr) {
	d := t.dst(in.D, xt0)
	x := t.mem(&in.M, rax, rdx)
	switch in.W {
	case 4:
		t.insR(iVXORPS, d, d, d, 0)
		t.insM(iVCVTSS2SD, d, d, x, 0)
	case 8:
		t.insM(iVMOVSDld, d, 0, x, 0)
	default:
		t.fail("float load of %d bytes", in.W)
	}
	t.xfinish(in.D, d)
}

func (t *translator) fstore(in *ir.Instr) {
	x := t.mem(&in.M, rax, rdx)
	a := t.xuse(in.A, xt0)
	switch in.W {
	case 4:
		t.insR(iVCVTSD2SS, xt1, a, a, 0)
		t.insM(iVMOVSSst, xt1, 0, x, 0)
	case 8:
		t.insM(iVMOVSDst, a, 0, x, 0)
	default:
		t.fail("float store of %d bytes", in.W)
	}
}
