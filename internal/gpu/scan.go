package gpu

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Exclusive prefix sums of 8-byte words: each lane adds up a stretch, the sums of the stretches are summed
// up, and each lane goes over its stretch again.

// stretchSums adds up stretches: sums, words, number of words, words of a stretch.
func stretchSums() *ir.Func {
	return newKernel("stretch_sums", func(k *kernel) []ir.Reg { return k.load("sums", "words", "n", "length") },
		func(k *kernel, s []ir.Reg) {
			sum := k.Vreg("sum", ir.I64)
			k.Mov(sum, ir.K(0))
			stretch(k, s, func(at, x ir.Reg) { k.Op2(ir.Add, sum, sum.V(), x.V()) })
			k.Store(ir.AtIndex(s[0], k.item, 8, 0), sum.V(), 8)
			k.Clear(sum)
		})
}

// stretchScan replaces words by the sums of those before: begins of stretches, words, number of words, words of a stretch.
func stretchScan() *ir.Func {
	return newKernel("stretch_scan", func(k *kernel) []ir.Reg { return k.load("sums", "words", "n", "length") },
		func(k *kernel, s []ir.Reg) {
			sum := k.Vreg("sum", ir.I64)
			k.Load8(sum, ir.AtIndex(s[0], k.item, 8, 0))
			stretch(k, s, func(at, x ir.Reg) {
				k.Store(ir.AtIndex(s[1], at, 8, 0), sum.V(), 8)
				k.Op2(ir.Add, sum, sum.V(), x.V())
			})
			k.Clear(sum)
		})
}

// stretch goes over the item's words.
func stretch(k *kernel, s []ir.Reg, each func(at, x ir.Reg)) {
	at, end, x := k.Vreg("at", ir.I64), k.Vreg("stop", ir.I64), k.Vreg("x", ir.I64)
	k.Op2(ir.Mul, at, k.item.V(), s[3].V())
	k.Op2(ir.Add, end, at.V(), s[3].V())
	k.Sel(end, ir.LT, end.V(), s[2].V(), end.V(), s[2].V())
	l := k.Loop()
	k.Break(l, ir.GE, at.V(), end.V())
	k.Load8(x, ir.AtIndex(s[1], at, 8, 0))
	each(at, x)
	k.Op2(ir.Add, at, at.V(), ir.K(1))
	k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	k.Clear(at, end, x)
}

// prefixSums replaces n words by the sums of those before each.
func (r *run) prefixSums(words device.Addr, n int64) error {
	length := int64(64)
	stretches := (n + length - 1) / length
	if stretches <= 1 {
		zero, err := r.allocZero(8)
		if err != nil {
			return err
		}
		return r.do(stretchScan, 1, uint64(zero), uint64(words), uint64(n), uint64(n))
	}
	sums, err := r.alloc(8 * stretches)
	if err != nil {
		return err
	}
	defer r.free(sums)
	if err := r.do(stretchSums, stretches, uint64(sums), uint64(words), uint64(n), uint64(length)); err != nil {
		return err
	}
	if err := r.prefixSums(sums, stretches); err != nil {
		return err
	}
	return r.do(stretchScan, stretches, uint64(sums), uint64(words), uint64(n), uint64(length))
}
