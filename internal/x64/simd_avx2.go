package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// mask256 translates with AVX2, in xmm12 to xmm15 as ymm registers. Lookups stay
// loops: gathers of this level are no faster.
func (t *translator) mask256(in *ir.Instr) {
	switch in.Op {
	case ir.MaskRange:
		t.range256(in)
	case ir.MaskCmp:
		t.cmp256(in)
	case ir.MaskBytes:
		t.bytes256(in)
	default:
		t.maskLoop(in)
	}
}

// yfillReg makes every element, of w bytes, of y the value of r.
func (t *translator) yfillReg(y, r reg, w uint8) {
	t.insR(iVMOVQxr, y, 0, r, 0)
	t.insR(iYBROADCAST+lg(w), y, 0, y, 0)
}

func (t *translator) yfill(y reg, v ir.Val, w uint8) {
	t.yfillReg(y, t.use(constant(v, w), rax), w)
}

// collect makes the mask of 64 rows in rcx out of vectors of lane-wide elements, each
// all ones or all zeros, which one leaves in xt2. one may use rax, and xt3 unless the
// elements have 2 bytes.
func (t *translator) collect(lane uint8, one func(i int)) {
	rows := 32 / int(lane)
	count := 64 / rows
	if lane == 2 { // two vectors become one of bytes
		rows, count = 32, 2
	}
	for i := count - 1; i >= 0; i-- {
		mask := iYMASK
		switch lane {
		case 1:
			one(i)
		case 2:
			one(2*i + 1)
			t.insR(iYLOAD, xt3, 0, xt2, 0)
			one(2 * i)
			t.insR(iYPACK, xt2, xt2, xt3, 0)
			t.insR(iYPERMQ, xt2, 0, xt2, 0xd8) // packing works on halves
		case 4:
			one(i)
			mask = iYMASK4
		default:
			one(i)
			mask = iYMASK8
		}
		if i == count-1 {
			t.insR(mask, rcx, 0, xt2, 0)
			continue
		}
		t.insR(iSHL, 0, 0, rcx, int64(rows))
		t.insR(mask, rax, 0, xt2, 0)
		t.insR(iOR+aluRM, rcx, 0, rax, 0)
	}
}

func (t *translator) range256(in *ir.Instr) {
	w := in.W
	b, c := constant(in.B, w), constant(in.C, w)
	one := isImm(c, 0)
	// There is no unsigned comparison. x <= C where min(x,C) is x; that minimum does not
	// exist for 8 bytes, and for 2 there is no register left to hold it: then both
	// sides move by half the range, and what is greater does not pass.
	moved := (w == 8 || w == 2) && !one
	switch {
	case one:
		t.yfill(xt0, b, w)
	case moved:
		t.negative(b, w, rax)
		t.imm(rcx, -1<<(8*w-1))
		t.insR(iXOR+aluRM, rax, 0, rcx, 0)
		t.yfillReg(xt0, rax, w)
		t.into(rax, c)
		t.insR(iXOR+aluRM, rax, 0, rcx, 0)
		t.yfillReg(xt1, rax, w)
	default:
		t.negative(b, w, rax)
		t.yfillReg(xt0, rax, w)
		t.yfill(xt1, c, w)
	}
	x := t.mem1(&in.M, rdx, rax)
	vector := func(i int) {
		m := x.plus(32 * i)
		switch {
		case one:
			t.insM(iYCMPEQ+lg(w), xt2, xt0, m, 0)
		case moved:
			t.insM(iYADD+lg(w), xt2, xt0, m, 0)
			t.insR(iYCMPGT+lg(w), xt2, xt2, xt1, 0)
		default:
			t.insM(iYADD+lg(w), xt2, xt0, m, 0)
			t.insR(iYMINU+lg(w), xt3, xt2, xt1, 0)
			t.insR(iYCMPEQ+lg(w), xt2, xt2, xt3, 0)
		}
	}
	t.collect(w, vector)
	if moved {
		t.insR(iNOT, 0, 0, rcx, 0)
	}
	t.ins0(iVZEROUPPER)
	t.keep(in, rcx, rax)
}

func (t *translator) cmp256(in *ir.Instr) {
	w, w2 := in.W, uint8(in.C2.Imm)
	lane := cmpLane(w, w2)
	// What AVX2 has is equal and greater than, of signed numbers.
	swap := in.Cond == ir.LT || in.Cond == ir.GE || in.Cond == ir.ULT || in.Cond == ir.UGE
	not := in.Cond == ir.NE || in.Cond == ir.LE || in.Cond == ir.GE || in.Cond == ir.ULE || in.Cond == ir.UGE
	unsigned := in.Cond >= ir.ULT
	cmp := iYCMPGT + lg(lane)
	if in.Cond == ir.EQ || in.Cond == ir.NE {
		cmp = iYCMPEQ + lg(lane)
	}
	// Unsigned comparisons are signed ones of numbers moved by half their range.
	half := int64(-1 << 63)
	if lane == 4 {
		half = 1 << 31
	}
	t.into(rax, in.B)
	if unsigned {
		t.imm(rcx, half)
		t.insR(iADD+aluRM, rax, 0, rcx, 0)
		t.yfillReg(xt1, rcx, lane)
	}
	t.yfillReg(xt0, rax, lane)
	x := t.mem1(&in.M, rdx, rax)
	rows := 32 / int(lane)
	load := func(y reg, m mem, w uint8) {
		switch {
		case w == lane:
			t.insM(iYLOAD, y, 0, m, 0)
		case lane == 4:
			t.insM(iYMOVZXD+lg(w), y, 0, m, 0)
		default:
			t.insM(iYMOVZXQ+lg(w), y, 0, m, 0)
		}
	}
	t.collect(lane, func(i int) {
		load(xt2, x.plus(i*rows*int(w)), w)
		t.insR(iYADD+lg(lane), xt2, xt2, xt0, 0)
		y := at(t.use(in.C, rax), int32(i*rows*int(w2))) // a spilled address comes back each time
		load(xt3, y, w2)
		if unsigned {
			t.insR(iYADD+lg(lane), xt3, xt3, xt1, 0)
		}
		if swap {
			t.insR(cmp, xt2, xt3, xt2, 0)
		} else {
			t.insR(cmp, xt2, xt2, xt3, 0)
		}
	})
	if not {
		t.insR(iNOT, 0, 0, rcx, 0)
	}
	t.ins0(iVZEROUPPER)
	t.keep(in, rcx, rax)
}

func (t *translator) bytes256(in *ir.Instr) {
	t.yfill(xt0, in.B, 1)
	t.yfill(xt1, in.C, 1)
	x := t.mem1(&in.M, rdx, rax)
	t.collect(1, func(i int) {
		t.insM(iYCMPEQ, xt2, xt0, x.plus(32*i), 0)
		t.insM(iYCMPEQ, xt3, xt1, x.plus(32*i+int(in.C2.Imm)), 0)
		t.insR(iYAND, xt2, xt2, xt3, 0)
	})
	t.ins0(iVZEROUPPER)
	t.keep(in, rcx, rax)
}
