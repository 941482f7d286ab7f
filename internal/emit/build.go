package emit

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// buildSink materializes a row of a join's build side: hash, keys, payload. The executor
// organizes the tuples into a table when all are there.
func (e *emitter) buildSink(s *pipe.Build) {
	e.Say("hash for join", func(n plan.Names) string { return fmt.Sprintf("%d: %s", s.ID, n.Cols(s.KeyCols)) })
	keys := make([]code.Value, len(s.Keys))
	for i, x := range s.Keys {
		v := e.Text(e.Eval(x)) // both sides of a join must hash alike: no codes
		keys[i] = v
		if v.Never() || s.KeepNull || s.NullSafe != nil && s.NullSafe[i] {
			continue
		}
		if s.WantNull {
			e.When(ir.NE, v.Null, ir.K(0), func() {
				e.B.Store(ir.At(ir.Ctx, layout.CtxNullKey), ir.K(1), 8)
			}, nil)
		}
		e.skip(ir.NE, v.Null, ir.K(0))
		keys[i].Desc.Nullable = false
		if v.OwnNull {
			e.B.Clear(v.Null.R)
		}
		keys[i].Null, keys[i].OwnNull = ir.K(0), false
	}
	if e.f.Sink == nil {
		var fs []layout.Field
		for i, id := range s.KeyCols {
			fs = append(fs, e.field(id, e.Cols.Get(id).Name, keys[i]))
		}
		for _, id := range s.Payload {
			fs = append(fs, e.field(id, e.Cols.Get(id).Name, e.Column(id)))
		}
		if e.Generic && !s.KeepNull && s.NullSafe == nil {
			for i := range s.KeyCols {
				fs[i].Desc.Nullable = false
			}
		}
		e.f.Sink = e.buildTuple(s, fs)
	}
	t := e.f.Sink
	for i := range keys { // hash in the form that the tuple has
		keys[i] = e.Reform(keys[i], t.Fields[i].Desc.Form)
	}
	h := ir.NoReg
	if t.HasHash {
		h = e.Hash(keys)
	}
	e.write(t, written{hash: h, keys: keys, cols: s.Payload, rows: phys.Expected(s.Side())})
	e.Free(keys...)
}

// buildTuple lays out the tuples of a build side. The executor needs the hash of keys that are not a single
// integer; that one it can hash itself, if at all.
func (e *emitter) buildTuple(s *pipe.Build, fs []layout.Field) *layout.Tuple {
	hash := len(s.Keys) > 1 || len(s.Keys) == 1 && (fs[0].Desc.Form != layout.I64 || fs[0].Desc.Nullable)
	if e.Off.NarrowTuples {
		return layout.NewTuple(hash, s.Flag, fs)
	}
	return layout.NarrowTuple(hash, s.Flag, fs)
}

// sunk is a column as a sink will get it, or only what it is like: with TopN most rows are dropped before their columns are read, and in parts rows are counted without them.
func (e *emitter) sunk(id plan.ColID) code.Value {
	if e.TopN || e.outlines || e.Writing == phys.WriteParted {
		return e.Outline(e.Ref(id))
	}
	return e.Column(id)
}

// collectSink materializes a row.
func (e *emitter) collectSink(s *pipe.Collect) {
	cols := s.Cols
	if !e.Late.Empty() {
		cols = nil
		for _, id := range s.Cols {
			if !e.Late.Has(id) {
				cols = append(cols, id)
			}
		}
	}
	e.Say("materialize", func(n plan.Names) string { return n.Cols(cols) })
	if e.f.Sink == nil {
		var fs []layout.Field
		for _, id := range cols {
			fs = append(fs, e.field(id, e.Cols.Get(id).Name, e.sunk(id)))
		}
		if s.Window != nil {
			fs = e.windowFields(s.Window, fs)
		}
		if !e.Late.Empty() {
			fs = append(fs, layout.Field{ID: layout.LateRow, Name: "row", Desc: layout.Desc{Type: types.TInt64, Range: layout.TypeRange(types.TInt64)}})
		}
		lay := layout.NarrowTuple
		if e.Off.NarrowTuples {
			lay = layout.NewTuple
		}
		e.f.Sink = lay(false, false, fs)
	}
	if e.TopN {
		e.dropWorse(s, e.f.Sink)
	}
	row := written{hash: ir.NoReg, cols: cols, late: e.f.Sink.Find(layout.LateRow) != nil, rows: phys.Expected(s.Node)}
	if e.Writing == phys.WriteParted {
		row.part = e.partOf(s.Parts)
	}
	e.write(e.f.Sink, row)
}
