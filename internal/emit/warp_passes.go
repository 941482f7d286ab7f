package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Rows that are counted before they are written: multi-pass execution, and operators one at a time (phys.Fuse). Each row of the source has a word. The first kernel
// leaves there how many rows of the sink it makes, which becomes the number of those before by a prefix sum, and the second writes
// them from there on. So nobody waits for a counter that all share, and rows come in the order of their source.

// setNumber takes note of the number of the source's row, where it is needed until all that came of the row is written.
func (e *warp) setNumber(i ir.Reg) {
	e.number = i
	if e.Writing == phys.WriteCounted || e.Writing == phys.WriteInPlace {
		e.number = e.perRow("number", ir.I64, 0)
		e.B.Mov(e.number, i.V())
	}
}

// writeInPasses counts a row, or writes it to the place that was counted for it.
func (e *warp) writeInPasses(t *layout.Tuple, r written) {
	if e.Counting {
		if r.hash != ir.NoReg {
			e.B.Clear(r.hash)
		}
		e.B.Comment("one more of this row")
		e.atNumber(func(at ir.Mem) {
			n := ir.K(1)
			if e.several() {
				x := e.Int("n")
				defer e.B.Clear(x)
				e.B.Load(x, at, 4, false)
				e.B.Op2(ir.Add, x, x.V(), ir.K(1))
				n = x.V()
			}
			e.B.Store(at, n, 4)
		})
		return
	}
	if len(r.keys) > 0 && r.keys[0].Desc.Form == layout.I64 {
		e.noteRange(r.keys[0])
	}
	e.B.Comment("write where it was counted")
	out, start := e.Int("out"), e.Int("start")
	if e.Writing == phys.WriteInPlace {
		e.B.Mov(out, e.number.V())
	} else {
		e.atNumber(func(at ir.Mem) {
			e.B.Load(out, at, 4, false)
			if e.several() {
				e.B.Lea(start, ir.At(out, 1))
				e.B.Store(at, start.V(), 4)
			}
		})
	}
	e.B.Op2(ir.Mul, out, out.V(), ir.K(int64(t.Size)))
	e.B.Load8(start, ir.At(ir.Ctx, layout.CtxCur))
	e.B.Op2(ir.Add, out, out.V(), start.V())
	e.B.Clear(start)
	e.storeRow(out, t, r)
	e.B.Clear(out)
}

// atNumber hands out where the word of the row is.
func (e *warp) atNumber(f func(at ir.Mem)) {
	places := e.Int("places")
	e.B.Load8(places, ir.At(ir.Ctx, layout.CtxPlaces))
	f(ir.AtIndex(places, e.number, 4, 0))
	e.B.Clear(places)
}

// several: a row of the source may make more than one.
func (e *warp) several() bool {
	for _, op := range e.Pipeline.Ops {
		switch op := op.(type) {
		case *pipe.Repeat:
			return true
		case *pipe.Probe:
			if (op.Kind == pipe.ProbeInner || op.Kind == pipe.ProbeOuter) && !e.Tables[op.Build].Kind.Unique() {
				return true
			}
		}
	}
	return false
}
