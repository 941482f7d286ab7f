package x64

import (
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// div is D = A / B or, with rem, A % B.
func (t *translator) div(d ir.Reg, a, b ir.Val, rem bool) {
	if b.IsImm() && !a.IsImm() && b.Imm != 0 && b.Imm != math.MinInt64 {
		t.divConst(d, a, b.Imm, rem)
		return
	}
	t.into(rax, a)
	t.ins0(iCQO)
	t.op(iIDIVm, 0, b, rcx)
	if rem {
		t.finish(d, rdx, rcx)
	} else {
		t.finish(d, rax, rcx)
	}
}

// divConst divides by a constant without a division instruction.
func (t *translator) divConst(d ir.Reg, a ir.Val, c int64, rem bool) {
	abs := c
	if c < 0 {
		abs = -c
	}
	if abs == 1 {
		switch {
		case rem:
			t.mov(d, ir.K(0))
		case c == 1:
			t.mov(d, a)
		default:
			t.unary(iNEG, d, a)
		}
		return
	}
	x := t.use(a, rcx)
	if abs&(abs-1) == 0 {
		// Negative numbers get 2^k-1 added, so that the shift rounds towards zero.
		k := int64(bits.TrailingZeros64(uint64(abs)))
		t.mr(rdx, x)
		if k > 1 {
			t.insR(iSAR, 0, 0, rdx, 63)
		}
		t.insR(iSHR, 0, 0, rdx, 64-k)
		t.insR(iADD+aluRM, rdx, 0, x, 0)
		switch {
		case !rem:
			t.insR(iSAR, 0, 0, rdx, k)
			if c < 0 {
				t.insR(iNEG, 0, 0, rdx, 0)
			}
		default:
			t.alu(iAND, rdx, ir.K(-abs), rax)
			t.insR(iNEG, 0, 0, rdx, 0)
			t.insR(iADD+aluRM, rdx, 0, x, 0)
		}
		t.finish(d, rdx, rax)
		return
	}
	// q = high half of A*m, corrected and shifted; one more for negative quotients.
	m, s := magic(c)
	t.imm(rax, m)
	t.insR(iIMULm, 0, 0, x, 0)
	switch {
	case c > 0 && m < 0:
		t.insR(iADD+aluRM, rdx, 0, x, 0)
	case c < 0 && m > 0:
		t.insR(iSUB+aluRM, rdx, 0, x, 0)
	}
	if s > 0 {
		t.insR(iSAR, 0, 0, rdx, s)
	}
	t.mr(rax, rdx)
	t.insR(iSHR, 0, 0, rax, 63)
	t.insR(iADD+aluRM, rdx, 0, rax, 0)
	if rem {
		if fits32(c) {
			t.insR(iIMULi, rax, 0, rdx, c)
		} else {
			t.imm(rax, c)
			t.insR(iIMULrm, rax, 0, rdx, 0)
		}
		t.mr(rdx, x)
		t.insR(iSUB+aluRM, rdx, 0, rax, 0)
	}
	t.finish(d, rdx, rax)
}

// magic is Warren's multiplier and shift for signed division by d, |d| ≥ 2
// (Hacker's Delight, 10-1).
func magic(d int64) (m, s int64) {
	const two63 = uint64(1) << 63
	ad := uint64(d)
	if d < 0 {
		ad = -ad
	}
	anc := two63 + uint64(d)>>63
	anc = anc - 1 - anc%ad
	p := int64(63)
	q1, q2 := two63/anc, two63/ad
	r1, r2 := two63-q1*anc, two63-q2*ad
	for {
		p++
		q1, r1 = 2*q1, 2*r1
		if r1 >= anc {
			q1, r1 = q1+1, r1-anc
		}
		q2, r2 = 2*q2, 2*r2
		if r2 >= ad {
			q2, r2 = q2+1, r2-ad
		}
		if delta := ad - r2; q1 > delta || q1 == delta && r1 != 0 {
			break
		}
	}
	m = int64(q2 + 1)
	if d < 0 {
		m = -m
	}
	return m, p - 64
}
