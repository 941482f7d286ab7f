package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// stageSink materializes a row for Go to go on with: the columns that are still wanted, and
// room for those that Go adds.
func (e *emitter) stageSink(s *pipe.Stage) {
	e.Say("buffer", func(n plan.Names) string { return n.Cols(s.Cols) })
	if e.f.Sink == nil {
		var fs []layout.Field
		for _, id := range s.Cols {
			fs = append(fs, layout.Field{ID: int32(id), Name: e.Cols.Get(id).Name, Desc: e.sunk(id).Desc})
		}
		for _, id := range s.Compute.Cols {
			c := e.Cols.Get(id)
			d := layout.Desc{Type: c.Type, Nullable: true, Range: layout.TypeRange(c.Type)}
			d.Form = layout.FormOf(c.Type, d.Range)
			fs = append(fs, layout.Field{ID: int32(id), Name: c.Name, Desc: d})
		}
		e.f.Sink = layout.NewTuple(false, false, fs)
	}
	e.f.MaxRows = math.MaxInt64
	if e.maxRows.Fits64() {
		e.f.MaxRows = int64(e.maxRows.Hi.Lo)
	}
	e.write(e.f.Sink, written{hash: ir.NoReg, cols: s.Cols})
}
