package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Warps that take room for several tuples at a time leave gaps when they end. They are closed by the last tuples, which is no order that anybody
// relies on: where there are many tuples, warps come as they like anyway.

// room is what is known of the room that warps take which fill a sink.
func (r *run) room(s pipe.Sink) phys.Room {
	takes := func(p *pipe.Pipeline) bool {
		return p.Sink == s && r.Resolve.At(p) == phys.ResolveAuto && phys.ChooseWriting(r.Fuse.At(p), p) == phys.WriteClaimed
	}
	return phys.Room{Off: r.Off.WarpRoom || !slices.ContainsFunc(r.prog.Pipelines, takes), Own: r.store.Takes}
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
	fn, err := s.r.function(closingGaps(s.tuple.Size).Kernel())
	if err != nil {
		return err
	}
	return s.r.failed(s.r.loader.kernels().Run(s.r.st, s.r.upload, fn, []int{int(gaps), int(unused)}, uint64(s.gaps), end, uint64(holes), uint64(marks), counts))
}

// closingGaps lists the addresses of unused tuples before the end, and marks those behind it, and then moves used tuples behind the end to the holes before
// it: gaps (pairs of addresses), end, holes, marks, and two counts that are 0. A mark is a byte for each 8 of the tuples.
func closingGaps(size int) *kernels.Sequence {
	type reader = func(name string, i int) ir.Reg
	find := func(b *ir.Builder, param reader, item ir.Reg) {
		k := &kernel{b, item}
		gaps, last, holes, marks, counts := param("gaps", 0), param("end", 1), param("holes", 2), param("marks", 3), param("counts", 4)
		gap, at, to, n := k.Vreg("gap", ir.I64), k.Vreg("at", ir.I64), k.Vreg("to", ir.I64), k.Vreg("n", ir.I64)
		k.Op2(ir.Shl, gap, item.V(), ir.K(4))
		k.Op2(ir.Add, gap, gap.V(), gaps.V())
		k.Load8(at, ir.At(gap, 0))
		k.Load8(to, ir.At(gap, 8))
		l := k.Loop()
		k.Break(l, ir.UGE, at.V(), to.V())
		k.If(ir.ULT, at.V(), last.V())
		k.Atom(ir.AtomAdd, n, ir.At(counts, 0), ir.K(1), ir.Val{})
		k.Store(ir.AtIndex(holes, n, 8, 0), at.V(), 8)
		k.Else()
		k.Op2(ir.Sub, n, at.V(), last.V())
		k.Op2(ir.Shr, n, n.V(), ir.K(3))
		k.Store(ir.AtIndex(marks, n, 1, 0), ir.K(1), 1)
		k.EndIf()
		k.Op2(ir.Add, at, at.V(), ir.K(int64(size)))
		k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		k.Clear(gap, at, to, n, gaps, last, holes, marks, counts)
	}
	fill := func(b *ir.Builder, param reader, item ir.Reg) {
		k := &kernel{b, item}
		last, holes, marks, counts := param("end", 1), param("holes", 2), param("marks", 3), param("counts", 4)
		from, n := k.Vreg("from", ir.I64), k.Vreg("n", ir.I64)
		k.Op2(ir.Mul, from, item.V(), ir.K(int64(size)))
		k.Op2(ir.Shr, n, from.V(), ir.K(3))
		k.Load(n, ir.AtIndex(marks, n, 1, 0), 1, false)
		k.when(ir.EQ, n.V(), ir.K(0), func() {
			to := k.Vreg("to", ir.I64)
			k.Atom(ir.AtomAdd, n, ir.At(counts, 8), ir.K(1), ir.Val{})
			k.Load8(to, ir.AtIndex(holes, n, 8, 0))
			k.Op2(ir.Add, from, from.V(), last.V())
			k.copyTuple(to, from, size)
			k.Clear(to)
		})
		k.Clear(from, n, last, holes, marks, counts)
	}
	return &kernels.Sequence{Name: "close_gaps", Params: 5, Each: []func(*ir.Builder, reader, ir.Reg){find, fill}}
}
