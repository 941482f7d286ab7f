package gpu

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Warps that take room for several tuples at a time leave gaps when they end. They are closed by the last tuples, which is no order that anybody
// relies on: where there are many tuples, warps come as they like anyway.

// room is what is known of the room that warps take.
func (r *run) room() phys.Room {
	return phys.Room{Off: r.Off.WarpRoom || r.Resolve != phys.ResolveAuto, Own: r.store.Takes}
}

// closeGaps makes the array dense again: so many tuples were taken, of which some are not used and lie in a number of gaps.
func (s *tupleSink) closeGaps(gaps, taken, unused int64) error {
	s.n = taken - unused
	if unused == 0 {
		return nil
	}
	size := int64(s.tuple.Size)
	end := uint64(s.start) + uint64(s.n*size)
	holes, err := s.r.alloc(8 * unused)
	if err != nil {
		return err
	}
	bytes := (unused*size/8 + 7) &^ 7
	marks, err := s.r.allocZero(bytes + 16)
	if err != nil {
		return err
	}
	counts := uint64(marks) + uint64(bytes)
	defer func() { s.r.free(holes); s.r.free(marks) }()
	if err := s.r.do(func() *ir.Func { return findHoles(s.tuple.Size) }, gaps, uint64(s.gaps), end, uint64(holes), uint64(marks), counts); err != nil {
		return err
	}
	return s.r.do(func() *ir.Func { return fillHoles(s.tuple.Size) }, unused, end, uint64(holes), uint64(marks), counts+8)
}

// findHoles lists the addresses of unused tuples before the end, and marks those behind it: gaps (pairs of addresses), end, holes, marks, count. A
// mark is a byte for each 8 of the tuples.
func findHoles(size int) *ir.Func {
	return newKernel(fmt.Sprintf("find_holes_%d", size), func(k *kernel) []ir.Reg { return k.load("gaps", "end", "holes", "marks", "count") },
		func(k *kernel, s []ir.Reg) {
			gap, at, to, n := k.Vreg("gap", ir.I64), k.Vreg("at", ir.I64), k.Vreg("to", ir.I64), k.Vreg("n", ir.I64)
			k.Op2(ir.Shl, gap, k.item.V(), ir.K(4))
			k.Op2(ir.Add, gap, gap.V(), s[0].V())
			k.Load8(at, ir.At(gap, 0))
			k.Load8(to, ir.At(gap, 8))
			l := k.Loop()
			k.Break(l, ir.UGE, at.V(), to.V())
			k.If(ir.ULT, at.V(), s[1].V())
			k.Atom(ir.AtomAdd, n, ir.At(s[4], 0), ir.K(1), ir.Val{})
			k.Store(ir.AtIndex(s[2], n, 8, 0), at.V(), 8)
			k.Else()
			k.Op2(ir.Sub, n, at.V(), s[1].V())
			k.Op2(ir.Shr, n, n.V(), ir.K(3))
			k.Store(ir.AtIndex(s[3], n, 1, 0), ir.K(1), 1)
			k.EndIf()
			k.Op2(ir.Add, at, at.V(), ir.K(int64(size)))
			k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
			k.Clear(gap, at, to, n)
		})
}

// fillHoles moves used tuples behind the end to the holes before it: end, holes, marks, count.
func fillHoles(size int) *ir.Func {
	return newKernel(fmt.Sprintf("fill_holes_%d", size), func(k *kernel) []ir.Reg { return k.load("end", "holes", "marks", "count") },
		func(k *kernel, s []ir.Reg) {
			from, n := k.Vreg("from", ir.I64), k.Vreg("n", ir.I64)
			k.Op2(ir.Mul, from, k.item.V(), ir.K(int64(size)))
			k.Op2(ir.Shr, n, from.V(), ir.K(3))
			k.Load(n, ir.AtIndex(s[2], n, 1, 0), 1, false)
			k.when(ir.EQ, n.V(), ir.K(0), func() {
				to := k.Vreg("to", ir.I64)
				k.Atom(ir.AtomAdd, n, ir.At(s[3], 0), ir.K(1), ir.Val{})
				k.Load8(to, ir.AtIndex(s[1], n, 8, 0))
				k.Op2(ir.Add, from, from.V(), s[0].V())
				k.copyTuple(to, from, size)
				k.Clear(to)
			})
			k.Clear(from, n)
		})
}
