package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// write keeps the values past the guard, where the warp finds places for its tuples.
func (e *warp) write(t *layout.Tuple, r written) {
	switch e.Writing {
	case phys.WriteClaimed:
	case phys.WriteParted:
		e.writeToPart(t, r)
		return
	default:
		e.writeInPasses(t, r)
		return
	}
	if e.outlines {
		e.writeEarly(t, r)
		return
	}
	var kept []code.Value
	for _, v := range r.keys {
		kept = append(kept, e.keepRead(t.Fields[len(kept)].Name, v))
	}
	for _, id := range r.cols {
		kept = append(kept, e.keepRead(t.Fields[len(kept)].Name, e.Column(id)))
	}
	late := ir.NoReg
	if r.late {
		late = e.perRow("late", ir.I64, 0)
		first := e.LoadWord("first", code.Word{Kind: code.WordRow})
		e.B.Op2(ir.Add, late, e.row.V(), first.V())
		e.B.Clear(first)
	}
	h := ir.NoReg
	if r.hash != ir.NoReg {
		h = e.perRow("hash", ir.I64, 0)
		e.B.Mov(h, r.hash.V())
	}
	if len(r.keys) > 0 && kept[0].Desc.Form == layout.I64 {
		e.noteRange(kept[0])
	}
	own := e.ownRoom(t.Size, r.rows)
	if own != nil && e.Rows > 0 { // else rows are few, and the code for one is enough
		e.guard.writes, e.guard.tuples = float64(r.rows)/float64(e.Rows), &rowTuples{own: own}
	}
	e.arrive(func() {
		e.writeTogether(t.Size, own, func(out ir.Reg) {
			if h != ir.NoReg {
				e.B.Store(ir.At(out, 0), h.V(), 8)
			}
			last := e.storeLast(out, t, kept)
			for i, v := range kept {
				if i != last {
					e.storeField(out, &t.Fields[i], v)
				}
			}
			if late != ir.NoReg {
				e.B.Store(ir.At(out, t.Find(layout.LateRow).Off), late.V(), 8)
			}
			if t.Flag >= 0 {
				e.B.Store(ir.At(out, t.Flag), ir.K(0), 1)
			}
		})
	})
	if r.hash != ir.NoReg {
		e.B.Clear(r.hash)
	}
}

// storeLast stores the value that begins the last word of a tuple together with what is behind it, if nobody uses all of that, and returns its number; -1: there is none. What
// is stored after it may lie there. A sector of memory of which some bytes were never written has to be read before it can be.
func (e *warp) storeLast(out ir.Reg, t *layout.Tuple, kept []code.Value) int {
	for i, v := range kept {
		if f := t.Fields[i]; f.Off == t.Size-8 && f.Width < 8 {
			f.Width = 8
			e.storeField(out, &f, v)
			return i
		}
	}
	return -1
}

// noteRange keeps the smallest and the largest value of a build side's first key: whoever makes the table of it must know whether
// its keys lie close together. Lanes keep their own, and add them up in the end.
func (e *warp) noteRange(key code.Value) {
	lo, hi := e.perKernel("least", ir.I64, math.MaxInt64), e.perKernel("most", ir.I64, math.MinInt64)
	note := func() {
		e.B.Sel(lo, ir.LT, key.A, lo.V(), key.A, lo.V())
		e.B.Sel(hi, ir.GT, key.A, hi.V(), key.A, hi.V())
	}
	if key.Never() {
		note()
	} else {
		e.When(ir.EQ, key.Null, ir.K(0), note, nil)
	}
	e.finally = func() {
		e.B.Comment("the range of keys of the warp, then of all")
		e.reduceInto(lo, ir.LT, ir.AtomMin, layout.CtxKeyLo)
		e.reduceInto(hi, ir.GT, ir.AtomMax, layout.CtxKeyHi)
	}
}

// reduceInto combines a register of all lanes, of which the better is kept, with a word of the context. After the first warps
// most have nothing better: looking is cheaper than an atomic operation.
func (e *warp) reduceInto(x ir.Reg, better ir.Cond, op ir.Op, off int) {
	other := e.Int("other")
	for d := int64(16); d > 0; d /= 2 {
		e.B.Op2(ir.ShflXor, other, x.V(), ir.K(d))
		e.B.Sel(x, better, other.V(), x.V(), other.V(), x.V())
	}
	e.When(ir.EQ, e.lane.V(), ir.K(0), func() {
		e.B.LoadAs(ir.Relaxed, other, ir.At(ir.Ctx, off), 8, false)
		e.When(better, x.V(), other.V(), func() { e.B.Atom(op, other, ir.At(ir.Ctx, off), x.V(), ir.Val{}) }, nil)
	}, nil)
	e.B.Clear(other)
}
