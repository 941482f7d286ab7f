package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// Vector and mask registers of this level. Vectors z0 to z3 hold what is the same
// for all rows, the others are free in each step.
const (
	z0 reg = iota + 16
	z1
	z2
	z3
	z4
	z5
	z6
)

const (
	k1      reg = 1 // results, up to k4
	kGather reg = 6 // what a gather eats up
	kTmp    reg = 7
)

var predOf = [...]int64{ir.EQ: predEQ, ir.NE: predNE, ir.LT: predLT, ir.LE: predLE, ir.GT: predGT, ir.GE: predGE,
	ir.ULT: predLT, ir.ULE: predLE, ir.UGT: predGT, ir.UGE: predGE}

func (t *translator) mask512(in *ir.Instr) {
	switch in.Op {
	case ir.MaskRange:
		t.range512(in)
	case ir.MaskCmp:
		t.cmp512(in)
	case ir.MaskBits:
		t.bits512(in)
	case ir.MaskLut:
		if n := in.C2.Imm; in.W == 1 && n <= 256 && t.vbmi {
			t.permute512(in)
		} else {
			t.lut512(in)
		}
	case ir.MaskBytes:
		t.bytes512(in)
	case ir.Pick:
		t.pick512(in)
	}
}

// zfill makes every element, of w bytes, of z the value v.
func (t *translator) zfill(z reg, v ir.Val, w uint8) {
	t.insR(iZBROADCAST+lg(w), z, 0, t.use(constant(v, w), rax), 0)
}

// zfillNeg is zfill of -v.
func (t *translator) zfillNeg(z reg, v ir.Val, w uint8) {
	t.negative(v, w, rax)
	t.insR(iZBROADCAST+lg(w), z, 0, rax, 0)
}

// joined makes the mask of count vectors with rows elements each, in register k: one
// writes the mask of a vector.
func (t *translator) joined(first, count, rows int, k reg, one func(i int, k reg)) {
	if count == 1 {
		one(first, k)
		return
	}
	count /= 2
	t.joined(first, count, rows, k, one)
	t.joined(first+count, count, rows, k+1, one)
	i := iKUNPCKDQ
	switch count * rows {
	case 8:
		i = iKUNPCKBW
	case 16:
		i = iKUNPCKWD
	}
	t.insR(i, k, k+1, k, 0)
}

// keepK is D = A & k.
func (t *translator) keepK(in *ir.Instr, k reg) {
	if l := t.target(in.D); l.isReg() && in.A.R != in.D {
		t.insR(iKMOVQrk, l.reg(), 0, k, 0)
		if !isImm(in.A, -1) {
			t.alu(iAND, l.reg(), in.A, rax)
			t.setFlags(in.D, ccNE)
		}
		return
	}
	t.insR(iKMOVQrk, rax, 0, k, 0)
	t.keep(in, rax, rcx)
}

func (t *translator) range512(in *ir.Instr) {
	w := in.W
	b, c := constant(in.B, w), constant(in.C, w)
	one := isImm(c, 0)
	switch {
	case one:
		t.zfill(z0, b, w)
	case isImm(b, 0):
		t.zfill(z1, c, w)
	default:
		t.zfillNeg(z0, b, w)
		t.zfill(z1, c, w)
	}
	x := t.mem(&in.M, rax, rdx)
	t.joined(0, int(w), 64/int(w), k1, func(i int, k reg) {
		m := x.plus(64 * i)
		switch {
		case one: // x = B
			t.insM(iZCMPU+lg(w), k, z0, m, predEQ)
		case isImm(b, 0): // C >= x
			t.insM(iZCMPU+lg(w), k, z1, m, predGE)
		default:
			t.insM(iZADD+lg(w), z2, z0, m, 0)
			t.insR(iZCMPU+lg(w), k, z2, z1, predLE)
		}
	})
	t.keepK(in, k1)
}

// widen loads elements of w bytes at m as elements of lane bytes.
func (t *translator) widen(z reg, m mem, w, lane uint8) {
	switch {
	case w == lane:
		t.insM(iZLOAD, z, 0, m, 0)
	case lane == 4:
		t.insM(iZMOVZXD+lg(w), z, 0, m, 0)
	default:
		t.insM(iZMOVZXQ+lg(w), z, 0, m, 0)
	}
}

func (t *translator) cmp512(in *ir.Instr) {
	w, w2 := in.W, uint8(in.C2.Imm)
	lane := cmpLane(w, w2)
	plain := isImm(in.B, 0)
	if plain && w == w2 {
		lane = w // elements compare as they are, without signs if they were extended
	}
	i := iZCMP + lg(lane)
	if in.Cond >= ir.ULT || lane == w && lane == w2 && lane < 8 {
		i = iZCMPU + lg(lane)
	}
	if !plain {
		t.zfill(z0, in.B, lane)
	}
	x := t.mem(&in.M, rax, rdx)
	y := at(t.use(in.C, rcx), 0)
	rows := 64 / int(lane)
	t.joined(0, int(lane), rows, k1, func(n int, k reg) {
		mx, my := x.plus(n*rows*int(w)), y.plus(n*rows*int(w2))
		switch {
		case plain:
			t.widen(z2, mx, w, lane)
		case w == lane:
			t.insM(iZADD+lg(lane), z2, z0, mx, 0)
		default:
			t.widen(z2, mx, w, lane)
			t.insR(iZADD+lg(lane), z2, z0, z2, 0)
		}
		if w2 == lane {
			t.insM(i, k, z2, my, predOf[in.Cond])
		} else {
			t.widen(z3, my, w2, lane)
			t.insR(i, k, z2, z3, predOf[in.Cond])
		}
	})
	t.keepK(in, k1)
}

// cmpLane is the number of bytes in which MaskCmp computes.
func cmpLane(w, w2 uint8) uint8 {
	if w <= 2 && w2 <= 2 {
		return 4
	}
	return 8
}

// gathered is the frame of MaskBits and MaskLut: for each 16 rows of which some are
// in the mask, test looks up the 32-bit numbers in z4 for the rows of mask k, and
// leaves in k those that pass. index loads the numbers of rows n*16 and on.
func (t *translator) gathered(in *ir.Instr, index func(n int, x mem), test func(n int, k reg, table reg)) {
	x := t.mem1(&in.M, rdx, rax)
	table := t.use(in.C, rcx)
	t.into(rax, in.A)
	none := emptyRef
	t.insR(iTEST, rax, 0, rax, 0)
	t.jump(ccE, &none)
	t.joined(0, 4, 16, k1, func(n int, k reg) {
		t.insR(iKMOVW, k, 0, rax, 0)
		t.insR(iKMOVW, kGather, 0, rax, 0)
		if n < 3 {
			t.insR(iSHR, 0, 0, rax, 16)
		}
		index(n, x)
		test(n, k, table)
	})
	t.insR(iKMOVQrk, rax, 0, k1, 0)
	t.bind(none)
	t.label()
	t.finish(in.D, rax, rcx)
}

func (t *translator) bits512(in *ir.Instr) {
	t.zfillNeg(z0, in.B, 4)
	t.zfill(z1, ir.K(1), 4)
	plain := isImm(in.B, 0)
	t.gathered(in, func(n int, x mem) {
		x = x.plus(16 * n * int(in.W))
		switch in.W {
		case 4:
			t.insM(iZADD+lg(4), z4, z0, x, 0)
			return
		case 8:
			t.insM(iZLOAD, z4, 0, x, 0)
			t.insM(iZLOAD, z5, 0, x.plus(64), 0)
			t.insR(iZMOVQD, z4, 0, z4, 0)
			t.insR(iZMOVQD, z5, 0, z5, 0)
			t.insR(iZINSERT, z4, z4, z5, 1)
		default:
			t.widen(z4, x, in.W, 4)
		}
		if !plain {
			t.insR(iZADD+lg(4), z4, z0, z4, 0)
		}
	}, func(n int, k, table reg) {
		t.insR(iZSHRD, 0, z5, z4, 5)
		t.insR(iZXOR, z6, z6, z6, 0) // or the gather waits for what z6 held
		t.masked(kGather, false).insM(iZGATHER, z6, 0, mem{table, z5, 2, 0}, 0)
		t.insR(iZRORVD, z6, z6, z4, 0)
		t.masked(k, false).insR(iZTESTD, k, z6, z1, 0)
	})
}

func (t *translator) lut512(in *ir.Instr) {
	t.zfill(z1, ir.K(0xff), 4)
	t.gathered(in, func(n int, x mem) {
		t.widen(z4, x.plus(16*n*int(in.W)), in.W, 4)
	}, func(n int, k, table reg) {
		t.insR(iZXOR, z6, z6, z6, 0)
		t.masked(kGather, false).insM(iZGATHER, z6, 0, mem{table, z4, 0, 0}, 0)
		t.masked(k, false).insR(iZTESTD, k, z6, z1, 0)
	})
}

// permute512 looks up bytes in a table of at most 256 bytes that is in registers.
func (t *translator) permute512(in *ir.Instr) {
	n := int(in.C2.Imm)
	x := t.mem(&in.M, rax, rdx)
	table := at(t.use(in.C, rcx), 0)
	t.insM(iZLOAD, z4, 0, x, 0)
	if n <= 64 {
		t.insM(iZPERMB, z4, z4, table, 0)
	} else {
		// part loads 64 entries of the table, none beyond its end.
		part := func(z reg, from int) {
			if n >= from+64 {
				t.insM(iZLOAD, z, 0, table.plus(from), 0)
				return
			}
			t.imm(rax, 1<<max(n-from, 0)-1)
			t.insR(iKMOVQ, kTmp, 0, rax, 0)
			t.masked(kTmp, true).insM(iZLOAD, z, 0, table.plus(from), 0)
		}
		t.insM(iZLOAD, z0, 0, table, 0)
		part(z1, 64)
		if n <= 128 {
			t.insR(iZPERMI2B, z4, z0, z1, 0)
		} else {
			part(z2, 128)
			part(z3, 192)
			t.insR(iZMOVB2M, kTmp, 0, z4, 0)
			t.insR(iZLOAD, z5, 0, z4, 0)
			t.insR(iZPERMI2B, z4, z0, z1, 0)
			t.insR(iZPERMI2B, z5, z2, z3, 0)
			t.masked(kTmp, false).insR(iZLOAD, z4, 0, z5, 0)
		}
	}
	t.insR(iZTESTB, k1, z4, z4, 0)
	t.keepK(in, k1)
}

func (t *translator) bytes512(in *ir.Instr) {
	b, c := constant(in.B, 1), constant(in.C, 1)
	single := b == c && in.C2.Imm == 0
	t.zfill(z0, b, 1)
	if !single {
		t.zfill(z1, c, 1)
	}
	x := t.mem(&in.M, rax, rdx)
	t.insM(iZCMPU, k1, z0, x, predEQ)
	if !single {
		t.masked(k1, false).insM(iZCMPU, k1, z1, x.plus(int(in.C2.Imm)), predEQ)
	}
	t.keepK(in, k1)
}

// pick512 compresses 16 numbers at a time. Each store writes 16 words, of which the
// next ones overwrite what was not meant: at most 64 words from M on.
func (t *translator) pick512(in *ir.Instr) {
	t.zfill(z0, in.B, 4)
	t.insM(iZMOVZXD, z1, 0, t.poolPair(0x0706050403020100, 0x0f0e0d0c0b0a0908), 0)
	t.insR(iZADD+lg(4), z0, z0, z1, 0)
	t.zfill(z1, ir.K(16), 4)
	t.insM(iLEA, rdx, 0, t.mem(&in.M, rdx, rax), 0)
	t.into(rcx, in.A)
	for n := range 4 {
		t.insR(iKMOVW, k1, 0, rcx, 0)
		t.masked(k1, true).insR(iZCOMPRESS, z0, 0, z2, 0)
		t.insM(iZSTORE, z2, 0, at(rdx, 0), 0)
		if n == 3 {
			break
		}
		t.insR(iMOVZX16, rax, 0, rcx, 0)
		t.insR(iPOPCNT, rax, 0, rax, 0)
		t.insM(iLEA, rdx, 0, mem{rdx, rax, 2, 0}, 0)
		t.insR(iSHR, 0, 0, rcx, 16)
		t.insR(iZADD+lg(4), z0, z0, z1, 0)
	}
	t.count(iPOPCNT, in.D, in.A)
}
