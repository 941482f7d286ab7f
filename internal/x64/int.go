package x64

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// mov is D = A.
func (t *translator) mov(d ir.Reg, a ir.Val) {
	l := t.target(d)
	if a.R == d {
		return
	}
	switch {
	case l.isReg() && a.IsImm() && a.Imm == 0:
		t.insR(iXOR32, l.reg(), 0, l.reg(), 0)
	case l.isReg():
		t.into(l.reg(), a)
	case l.isNear() && a.IsImm() && fits32(a.Imm):
		t.insM(iMOVmi, 0, 0, slotMem(l), a.Imm)
	default:
		t.finish(d, t.use(a, rax), rcx)
	}
}

// binary is D = A op B for an ALU group. Its last instruction but moves is the
// operation, so that the flags are its.
func (t *translator) binary(g inst, d ir.Reg, a, b ir.Val) {
	if g != iSUB && a.R != d && (a.IsImm() || b.R == d) {
		a, b = b, a
	}
	l := t.target(d)
	switch {
	case a.R == d && l.isReg():
		t.alu(g, l.reg(), b, rax)
	case a.R == d && l.isNear():
		t.aluMem(g, slotMem(l), b, rax)
	case l.isReg() && !t.isIn(b, l.reg()):
		t.into(l.reg(), a)
		t.alu(g, l.reg(), b, rax)
	default:
		t.into(rax, a)
		t.alu(g, rax, b, rcx)
		t.finish(d, rax, rcx)
	}
	t.setFlags(d, ccNE)
}

// inReg tells whether v lives in a general register.
func (t *translator) inReg(v ir.Val) bool { return !v.IsImm() && t.find(v.R).isReg() }

func (t *translator) add(d ir.Reg, a, b ir.Val) {
	if a.IsImm() {
		a, b = b, a
	}
	if a.R != d && b.R != d && t.inReg(a) {
		// A three-operand addition is an address.
		x := at(t.find(a.R).reg(), 0)
		ok := true
		switch {
		case b.IsImm() && fits32(b.Imm):
			x.disp = int32(b.Imm)
		case t.inReg(b):
			x.index = t.find(b.R).reg()
		default:
			ok = false
		}
		if ok {
			t.address(d, x)
			return
		}
	}
	t.binary(iADD, d, a, b)
}

// address is D = address x.
func (t *translator) address(d ir.Reg, x mem) {
	r := t.dst(d, rax)
	switch {
	case x.index == noReg && x.disp == 0:
		t.mr(r, x.base)
	case x.index != noReg && x.shift == 0 && x.base&7 == rbp && x.index&7 != rbp:
		x.base, x.index = x.index, x.base // rbp and r13 as a base cost a displacement
		fallthrough
	default:
		t.insM(iLEA, r, 0, x, 0)
	}
	t.finish(d, r, rcx)
}

func (t *translator) sub(d ir.Reg, a, b ir.Val) {
	switch {
	case b.IsImm() && a.R != d && fits32(-b.Imm) && t.inReg(a):
		t.address(d, at(t.find(a.R).reg(), int32(-b.Imm)))
	case b.R == d && a.R != d && t.inReg(b):
		r := t.target(d).reg()
		t.insR(iNEG, 0, 0, r, 0)
		if !a.IsImm() || a.Imm != 0 {
			t.alu(iADD, r, a, rax)
		}
		t.setFlags(d, ccNE)
	default:
		t.binary(iSUB, d, a, b)
	}
}

func (t *translator) and(d ir.Reg, a, b ir.Val) {
	if a.IsImm() {
		a, b = b, a
	}
	if !b.IsImm() || uint64(b.Imm) > 0xffffffff || a.IsImm() {
		t.binary(iAND, d, a, b)
		return
	}
	// A mask of 32 bits: 32-bit operations clear the upper half for nothing.
	r := t.dst(d, rax)
	switch b.Imm {
	case 0xff:
		t.op(iMOVZX8, r, a, rax)
	case 0xffff:
		t.op(iMOVZX16, r, a, rax)
	case 0xffffffff:
		t.op(iMOV32rm, r, a, rax)
	default:
		if a.R != d || r == rax {
			t.op(iMOV32rm, r, a, rax)
		}
		if fits8(b.Imm) {
			t.insR(iAND32i8, 0, 0, r, b.Imm)
		} else {
			t.insR(iAND32i, 0, 0, r, b.Imm)
		}
		t.finish(d, r, rcx)
		t.setFlags(d, ccNE)
		return
	}
	t.finish(d, r, rcx)
}

func (t *translator) unary(i inst, d ir.Reg, a ir.Val) {
	if l := t.target(d); a.R == d && l.isNear() {
		t.insM(i, 0, 0, slotMem(l), 0)
		return
	}
	r := t.dst(d, rax)
	t.into(r, a)
	t.insR(i, 0, 0, r, 0)
	t.finish(d, r, rcx)
}

// shift is D = A shifted by B; byImm and byReg are its two forms.
func (t *translator) shift(byImm, byReg inst, d ir.Reg, a, b ir.Val) {
	r := t.dst(d, rax)
	if !b.IsImm() {
		n := t.use(b, rcx)
		if !a.IsImm() {
			if l := t.find(a.R); l.isNear() {
				t.insM(byReg, r, n, slotMem(l), 0)
				t.finish(d, r, rcx)
				return
			}
		}
		t.insR(byReg, r, n, t.use(a, rax), 0)
		t.finish(d, r, rcx)
		return
	}
	n := b.Imm & 63
	if n == 0 {
		t.mov(d, a)
		return
	}
	if l := t.find(d); a.R == d && l.isNear() {
		t.insM(byImm, 0, 0, slotMem(l), n)
	} else {
		t.into(r, a)
		t.insR(byImm, 0, 0, r, n)
		t.finish(d, r, rcx)
	}
	t.setFlags(d, ccNE)
}

func (t *translator) mul(d ir.Reg, a, b ir.Val) {
	if a.IsImm() {
		a, b = b, a
	}
	if b.IsImm() && !a.IsImm() {
		switch c := b.Imm; {
		case c == 0:
			t.mov(d, b)
			return
		case c == 1:
			t.mov(d, a)
			return
		case c == -1:
			t.unary(iNEG, d, a)
			return
		case c > 0 && c&(c-1) == 0:
			t.shift(iSHL, iSHLX, d, a, ir.K(int64(bits.TrailingZeros64(uint64(c)))))
			return
		case (c == 3 || c == 5 || c == 9) && t.inReg(a):
			x := t.find(a.R).reg()
			r := t.dst(d, rax)
			t.insM(iLEA, r, 0, mem{x, x, uint8(bits.TrailingZeros64(uint64(c - 1))), 0}, 0)
			t.finish(d, r, rcx)
			return
		}
	}
	t.product(d, a, b)
}

// product is D = A * B by imul, whose overflow flag then is A*B's.
func (t *translator) product(d ir.Reg, a, b ir.Val) {
	if a.IsImm() || b.R == d {
		a, b = b, a
	}
	r := t.dst(d, rax)
	if b.IsImm() && fits32(b.Imm) {
		i := iIMULi
		if fits8(b.Imm) {
			i = iIMULi8
		}
		if !a.IsImm() && t.find(a.R).isNear() {
			t.insM(i, r, 0, slotMem(t.find(a.R)), b.Imm)
		} else {
			t.insR(i, r, 0, t.use(a, rax), b.Imm)
		}
	} else {
		t.into(r, a) // in place when A is D; otherwise B is not D
		t.op(iIMULrm, r, b, rcx)
	}
	t.finish(d, r, rcx)
}

// overflow leaves the function when the last arithmetic overflowed. The moves
// behind it did not touch the flags.
func (t *translator) overflow(in *ir.Instr) {
	t.jump(ccO, t.exitList(in.Code))
}

func (t *translator) subX(in *ir.Instr) {
	t.binary(iSUB, in.D, in.A, in.B)
	t.overflow(in)
}

func (t *translator) mulX(in *ir.Instr) {
	t.product(in.D, in.A, in.B)
	t.overflow(in)
}

// count is the bit counting operations, which read register or memory.
func (t *translator) count(i inst, d ir.Reg, a ir.Val) {
	r := t.dst(d, rax)
	t.op(i, r, a, rax)
	t.finish(d, r, rcx)
}

func (t *translator) bswap(d ir.Reg, a ir.Val) {
	r := t.dst(d, rax)
	t.into(r, a)
	t.insR(iBSWAP, r, 0, 0, 0)
	t.finish(d, r, rcx)
}

func (t *translator) load(in *ir.Instr) {
	r := t.dst(in.D, rax)
	x := t.mem(&in.M, rax, rdx)
	i := iMOVrm
	switch in.W {
	case 1:
		i = iMOVZX8
		if in.Signed {
			i = iMOVSX8
		}
	case 2:
		i = iMOVZX16
		if in.Signed {
			i = iMOVSX16
		}
	case 4:
		i = iMOV32rm
		if in.Signed {
			i = iMOVSXD
		}
	case 8:
	default:
		t.fail("load of %d bytes", in.W)
	}
	t.insM(i, r, 0, x, 0)
	t.finish(in.D, r, rcx)
}

func (t *translator) store(in *ir.Instr) {
	x := t.mem(&in.M, rax, rdx)
	var byReg, byImm inst
	switch in.W {
	case 1:
		byReg, byImm = iMOV8mr, iMOV8mi
	case 2:
		byReg, byImm = iMOV16mr, iMOV16mi
	case 4:
		byReg, byImm = iMOV32mr, iMOV32mi
	case 8:
		byReg, byImm = iMOVmr, iMOVmi
	default:
		t.fail("store of %d bytes", in.W)
	}
	if in.A.IsImm() && (in.W < 8 || fits32(in.A.Imm)) {
		t.insM(byImm, 0, 0, x, in.A.Imm)
		return
	}
	t.insM(byReg, t.use(in.A, rcx), 0, x, 0)
}

func (t *translator) lea(in *ir.Instr) { t.address(in.D, t.mem(&in.M, rax, rdx)) }
