package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Lane refill. Behind an operator that drops rows, a warp with few rows left puts all that these have on a shelf in its shared memory, and has
// none. Once there are enough, lanes without a row take one from there, so that all of them have one in all that follows.
// When the source has no more rows, turns without a new one go on until the shelves are empty.

// shelf is where rows wait behind an operator.
type shelf struct {
	parked ir.Reg // how many, the same in all lanes
	at     int    // bytes from the beginning of the warp's memory
	words  []ir.Val
	floats []bool
}

// refill goes on with the row, or later with another one.
func (e *warp) refill(i int, rest func()) {
	if !e.parks(i) || !e.roomToWait(i, 0) {
		rest()
		return
	}
	e.f.How.Refill = phys.RefillFlush
	cols := e.keepColumns(plan.ColSet{}, plan.ColSet{}, i)
	number := e.perRow("number", ir.I64, 0)
	e.B.Mov(number, e.number.V())
	s := e.newShelf(append([]code.Value{wordValue(number)}, valuesOf(cols)...))
	e.arrive(func() {
		active := e.guard.active
		e.rebind(cols)
		e.exchange(s, active)
		e.warpLoop(while{c: ir.NE, x: active.V(), y: ir.K(0), once: true}, func() {
			e.number, e.row = number, number
			rest()
		}, func() {})
	})
}

// waits reports that rows here can wait: a row of the source comes here once.
func (e *warp) waits() bool {
	if e.Refill != phys.RefillFlush || e.Queue.Pieces {
		return false
	}
	for g := e.guard; g.up != nil; g = g.up {
		if !g.once {
			return false
		}
	}
	return true
}

// parks reports that rows wait before operator i: that before it, or the scan's filters, drop some.
func (e *warp) parks(i int) bool {
	if !e.waits() {
		return false
	}
	if i == 0 {
		t, ok := e.Pipeline.Source.(*pipe.Table)
		return ok && len(t.Filter)+len(e.Filters) > 0
	}
	switch op := e.Pipeline.Ops[i-1].(type) {
	case *pipe.Filter:
		return true
	case *pipe.Probe:
		return op.Kind == pipe.ProbeSemi || op.Kind == pipe.ProbeAnti || op.Kind == pipe.ProbeInner && e.Tables[op.Build].Kind.Unique()
	}
	return false
}

// roomToWait reports that rows can wait which have what operator i and those behind it read, and so many words more: enough threads find shared memory then.
func (e *warp) roomToWait(i, more int) bool {
	words := 1 + more // the row's number
	for id := range e.live[i].All {
		if !e.Visible(id) {
			continue
		}
		if words++; e.Cols.Get(id).Type.Kind == types.Text {
			words++
		}
	}
	if phys.RoomToWait(e.f.WarpBytes + 8*layout.WarpLanes*words) {
		return true
	}
	e.f.How.Crowded = true
	return false
}

// newShelf makes room for what a row has, and lets all guards around go on while something is on the shelf.
func (e *warp) newShelf(values []code.Value) *shelf {
	s := &shelf{parked: e.perKernel("parked", ir.I64, 0), at: e.f.WarpBytes}
	add := func(v ir.Val, float bool) {
		if !v.IsImm() {
			s.words, s.floats = append(s.words, v), append(s.floats, float)
		}
	}
	for _, v := range values {
		add(v.A, v.Desc.Form == layout.F64)
		if v.Two() {
			add(v.B, false)
		}
		add(v.Null, false)
	}
	e.f.WarpBytes += 8 * layout.WarpLanes * len(s.words)
	if e.drained == ir.NoReg {
		e.drained, e.shelves = e.perKernel("drained", ir.I64, 0), e.warpMemory("shelves", ir.I64, nil)
		root := e.guard
		for root.up != nil {
			root = root.up
		}
		e.insert(root.drain, func() { e.B.Set(e.drained, ir.EQ, root.any.V(), ir.K(0)) })
	}
	for g := e.guard; g != nil; g = g.up {
		e.insert(g.drain, func() { e.B.Op2(ir.Or, g.any, g.any.V(), s.parked.V()) })
	}
	return s
}

// exchange puts the rows of the warp on the shelf if they are too few with those that lie there; else lanes without a row take one.
func (e *warp) exchange(s *shelf, active ir.Reg) {
	e.B.Comment("few rows wait on the shelf, idle lanes take some from there")
	act, n, rank, at := e.ballot("rows", active.V()), e.Int("n"), e.Int("rank"), e.Int("at")
	e.B.Op1(ir.Popcnt, n, act.V())
	e.B.Op2(ir.Add, n, n.V(), s.parked.V())
	e.B.Set(rank, ir.GE, n.V(), ir.K(layout.WarpLanes))
	e.B.Op2(ir.Or, rank, rank.V(), e.drained.V())
	e.When(ir.NE, rank.V(), ir.K(0), func() {
		e.B.Op1(ir.Not, rank, act.V())
		e.B.Op2(ir.And, rank, rank.V(), e.below.V())
		e.B.Op1(ir.Popcnt, rank, rank.V())
		e.B.Op2(ir.Sub, rank, s.parked.V(), rank.V()) // its place, from 1 on
		e.When(ir.EQ, active.V(), ir.K(0), func() {
			e.When(ir.GT, rank.V(), ir.K(0), func() {
				e.shelfAt(at, rank, -1)
				for k, v := range s.words {
					m := ir.Mem{Base: at, Index: ir.NoReg, Disp: int32(s.at + 8*layout.WarpLanes*k), Space: ir.Dynamic}
					if s.floats[k] {
						e.B.FLoad(v.R, m, 8)
					} else {
						e.B.Load8(v.R, m)
					}
				}
				e.B.Mov(active, ir.K(1))
			}, nil)
		}, nil)
		e.B.Op2(ir.Sub, n, n.V(), ir.K(layout.WarpLanes))
		e.B.Sel(s.parked, ir.GT, n.V(), ir.K(0), n.V(), ir.K(0))
	}, func() {
		e.B.Op2(ir.And, rank, act.V(), e.below.V())
		e.B.Op1(ir.Popcnt, rank, rank.V())
		e.B.Op2(ir.Add, rank, rank.V(), s.parked.V())
		e.When(ir.NE, active.V(), ir.K(0), func() {
			e.shelfAt(at, rank, 0)
			for k, v := range s.words {
				m := ir.Mem{Base: at, Index: ir.NoReg, Disp: int32(s.at + 8*layout.WarpLanes*k), Space: ir.Dynamic}
				if s.floats[k] {
					e.B.FStore(m, v.R, 8)
				} else {
					e.B.Store(m, v, 8)
				}
			}
		}, nil)
		e.B.Mov(s.parked, n.V())
		e.B.Mov(active, ir.K(0))
	})
	e.B.Sync()
	e.B.Clear(act, n, rank, at)
}

// shelfAt makes at the place of a row on all shelves of the warp.
func (e *warp) shelfAt(at, place ir.Reg, less int64) {
	e.B.Op2(ir.Shl, at, place.V(), ir.K(3))
	e.B.Op2(ir.Add, at, at.V(), e.shelves.V())
	if less != 0 {
		e.B.Op2(ir.Add, at, at.V(), ir.K(8*less))
	}
}

// refill: a thread waits for nobody.
func (e *rowLoop) refill(_ int, rest func()) { rest() }
