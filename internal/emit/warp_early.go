package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Where every row of a source comes to a sink that writes it, the places of a warp's tuples are known before anything is computed: then each
// value is written as it is made. Otherwise all values of a row wait in registers until it is known which lanes have one, and a wide
// row needs so many of them that a multiprocessor holds few threads.

// writesEvery reports a pipeline that writes each row of its source, which is no scan of a table: those take several rows at a time instead.
func (e *warp) writesEvery() bool {
	if e.Pipeline == nil || e.Off.EarlyPlaces || e.Resolve != phys.ResolveAuto || e.Writing != phys.WriteClaimed || e.Queue.Pieces || e.Merge || e.TopN {
		return false
	}
	switch s := e.Pipeline.Source.(type) {
	case *pipe.Buffer:
		if s.Flag != pipe.AllTuples {
			return false
		}
	case *pipe.Series, *pipe.Constants, *pipe.Stage:
	default:
		return false
	}
	for _, op := range e.Pipeline.Ops {
		switch op.(type) {
		case *pipe.Map, *pipe.Rename, *pipe.Nulls:
		default:
			return false
		}
	}
	switch e.Pipeline.Sink.(type) {
	case *pipe.Collect, *pipe.Fold, *pipe.Rounds, *pipe.Stage: // a build drops rows whose keys are NULL
		return true
	}
	return false
}

// writeEarly writes values as they are made.
func (e *warp) writeEarly(t *layout.Tuple, r written) {
	g, own := e.guard, e.ownRoom(t.Size, r.rows)
	var out ir.Reg
	e.insert(g.row, func() {
		e.B.Comment("write positions of the warp")
		all := e.ballot("writers", g.has.V())
		out = e.positionOf(own, all, t.Size)
		e.B.Clear(all)
	})
	g.ofRow, g.before = append(g.ofRow, out), true
	fits := e.fits(out, t.Size)
	e.skip(ir.EQ, fits.V(), ir.K(0))
	e.B.Clear(fits)
	e.storeRow(out, t, r)
}
