package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/layout"
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
	end := uint64(s.start) + uint64(s.n*int64(s.tuple.Size))
	holes, err := s.r.alloc(8 * unused)
	if err != nil {
		return err
	}
	bytes := (unused + fillTuples - 1) &^ (fillTuples - 1)
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
	warps := (unused + fillTuples*layout.WarpLanes - 1) / (fillTuples * layout.WarpLanes)
	return s.r.failed(s.r.loader.kernels().Run(s.r.st, s.r.upload, fn, []int{int(gaps), int(warps)}, uint64(s.gaps), end, uint64(holes), uint64(marks), counts, uint64(unused)))
}

// fillTuples is how many tuples behind the end a lane looks at: their marks are a word.
const fillTuples = 8

// closingGaps lists the addresses of unused tuples before the end, and marks those behind it, and then moves used tuples behind the end to the holes before
// it: gaps (pairs of addresses), end, holes, marks, two counts that are 0, and how many tuples lie behind the end. A mark is a byte for each of these. A warp has a gap, and then fillTuples for each
// lane: all lanes of a warp have something to do, or none, and add to the counts once.
func closingGaps(size int) *kernels.Sequence {
	type reader = func(name string, i int) ir.Reg
	find := func(b *ir.Builder, param reader, item, lane ir.Reg) {
		k := &kernel{b, item}
		gaps, last, holes, marks, counts := param("gaps", 0), param("end", 1), param("holes", 2), param("marks", 3), param("counts", 4)
		gap, at, to, n := k.Vreg("gap", ir.I64), k.Vreg("at", ir.I64), k.Vreg("to", ir.I64), k.Vreg("n", ir.I64)
		k.Op2(ir.Shl, gap, item.V(), ir.K(4))
		k.Op2(ir.Add, gap, gap.V(), gaps.V())
		k.Load8(at, ir.At(gap, 0))
		k.Load8(to, ir.At(gap, 8))
		// So many holes are before the end.
		k.Sel(n, ir.ULT, to.V(), last.V(), to.V(), last.V())
		k.Op2(ir.Sub, n, n.V(), at.V())
		k.Sel(n, ir.LT, n.V(), ir.K(0), ir.K(0), n.V())
		k.Op2(ir.Div, n, n.V(), ir.K(int64(size)))
		first := k.Vreg("first", ir.I64)
		k.Mov(first, ir.K(0))
		k.If(ir.EQ, lane.V(), ir.K(0))
		k.Atom(ir.AtomAdd, first, ir.At(counts, 0), n.V(), ir.Val{})
		k.EndIf()
		k.Op2(ir.Shfl, first, first.V(), ir.K(0))
		k.Op2(ir.Add, first, first.V(), lane.V())
		k.Op2(ir.Mul, n, lane.V(), ir.K(int64(size)))
		k.Op2(ir.Add, at, at.V(), n.V())
		k.Op2(ir.Sub, n, at.V(), last.V())
		k.Op2(ir.Div, n, n.V(), ir.K(int64(size))) // the number of its mark, from the end on
		l := k.Loop()
		k.Break(l, ir.UGE, at.V(), to.V())
		k.If(ir.ULT, at.V(), last.V())
		k.Store(ir.AtIndex(holes, first, 8, 0), at.V(), 8)
		k.Else()
		k.Store(ir.AtIndex(marks, n, 1, 0), ir.K(1), 1)
		k.EndIf()
		k.Op2(ir.Add, first, first.V(), ir.K(layout.WarpLanes))
		k.Op2(ir.Add, n, n.V(), ir.K(layout.WarpLanes))
		k.Op2(ir.Add, at, at.V(), ir.K(int64(layout.WarpLanes*size)))
		k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		k.Clear(first, gap, at, to, n, gaps, last, holes, marks, counts)
	}
	fill := func(b *ir.Builder, param reader, item, lane ir.Reg) {
		k := &kernel{b, item}
		last, holes, marks, counts, unused := param("end", 1), param("holes", 2), param("marks", 3), param("counts", 4), param("unused", 5)
		own, used, n, t := k.Vreg("own", ir.I64), k.Vreg("used", ir.I64), k.Vreg("n", ir.I64), k.Vreg("t", ir.I64)
		k.Op2(ir.Mul, own, item.V(), ir.K(layout.WarpLanes))
		k.Op2(ir.Add, own, own.V(), lane.V())       // the number of the lane's word of marks
		k.Op2(ir.Mul, t, own.V(), ir.K(fillTuples)) // … and of its first tuple
		k.Mov(used, ir.K(0))
		k.when(ir.LT, t.V(), unused.V(), func() {
			k.Load8(used, ir.AtIndex(marks, own, fillTuples, 0))
			k.Op1(ir.Not, used, used.V())
			k.Op2(ir.And, used, used.V(), ir.K(0x0101010101010101))
			k.Op2(ir.Sub, t, unused.V(), t.V())
			k.when(ir.LT, t.V(), ir.K(fillTuples), func() { // there are no more
				k.Op2(ir.Shl, t, t.V(), ir.K(3))
				k.Op2(ir.Shl, t, ir.K(1), t.V())
				k.Op2(ir.Sub, t, t.V(), ir.K(1))
				k.Op2(ir.And, used, used.V(), t.V())
			})
		})
		k.Op1(ir.Popcnt, n, used.V())
		for d := int64(1); d < layout.WarpLanes; d *= 2 {
			k.Op2(ir.ShflUp, t, n.V(), ir.K(d))
			k.Sel(t, ir.GE, lane.V(), ir.K(d), t.V(), ir.K(0))
			k.Op2(ir.Add, n, n.V(), t.V())
		}
		k.Mov(t, ir.K(0))
		k.when(ir.EQ, lane.V(), ir.K(layout.WarpLanes-1), func() {
			k.Atom(ir.AtomAdd, t, ir.At(counts, 8), n.V(), ir.Val{})
		})
		k.Op2(ir.Shfl, t, t.V(), ir.K(layout.WarpLanes-1))
		k.Op2(ir.Add, n, n.V(), t.V())
		k.Op1(ir.Popcnt, t, used.V())
		k.Op2(ir.Sub, n, n.V(), t.V()) // the number of the lane's first hole
		from, to := k.Vreg("from", ir.I64), k.Vreg("to", ir.I64)
		l := k.Loop()
		k.Break(l, ir.EQ, used.V(), ir.K(0))
		k.Op1(ir.Ctz, t, used.V())
		k.Op2(ir.Sub, from, used.V(), ir.K(1))
		k.Op2(ir.And, used, used.V(), from.V())
		k.Op2(ir.Shr, t, t.V(), ir.K(3))
		k.Lea(from, ir.AtIndex(t, own, fillTuples, 0))
		k.Op2(ir.Mul, from, from.V(), ir.K(int64(size)))
		k.Op2(ir.Add, from, from.V(), last.V())
		k.Load8(to, ir.AtIndex(holes, n, 8, 0))
		k.copyTuple(to, from, size)
		k.Op2(ir.Add, n, n.V(), ir.K(1))
		k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		k.Clear(from, to, own, used, n, t, last, holes, marks, counts, unused)
	}
	return &kernels.Sequence{Name: "close_gaps", Params: 6, Each: []func(*ir.Builder, reader, ir.Reg, ir.Reg){find, fill}}
}
