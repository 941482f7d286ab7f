package emit

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// buildSink materializes a row of a join's build side: hash, keys, payload. The executor
// organizes the tuples into a table when all are there.
func (e *emitter) buildSink(s *pipe.Build) {
	e.say("hash for join", func(n plan.Names) string { return fmt.Sprintf("%d: %s", s.ID, n.Cols(s.KeyCols)) })
	keys := make([]value, len(s.Keys))
	for i, x := range s.Keys {
		v := e.text(e.eval(x)) // both sides of a join must hash alike: no codes
		keys[i] = v
		if v.never() || s.KeepNull || s.NullSafe != nil && s.NullSafe[i] {
			continue
		}
		if s.WantNull {
			e.when(ir.NE, v.null, ir.K(0), func() {
				e.b.Store(ir.At(ir.Ctx, layout.CtxNullKey), ir.K(1), 8)
			}, nil)
		}
		e.skip(ir.NE, v.null, ir.K(0))
		keys[i].d.Nullable = false
		if v.ownNull {
			e.b.Clear(v.null.R)
		}
		keys[i].null, keys[i].ownNull = ir.K(0), false
	}
	if e.f.Sink == nil {
		var fs []layout.Field
		for i, id := range s.KeyCols {
			fs = append(fs, e.field(id, e.Cols.Get(id).Name, keys[i]))
		}
		for _, id := range s.Payload {
			fs = append(fs, e.field(id, e.Cols.Get(id).Name, e.column(id)))
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
		keys[i] = e.reform(keys[i], t.Fields[i].Desc.Form)
	}
	h := ir.NoReg
	if t.HasHash {
		h = e.hash(keys)
	}
	if e.gpu != nil {
		e.tupleTogether(t, h, keys, s.Payload)
		if t.HasHash {
			e.b.Clear(h)
		}
		e.free(keys...)
		return
	}
	out := e.newTuple(t.Size)
	if t.HasHash {
		e.b.Store(ir.At(out, 0), h.V(), 8)
		e.b.Clear(h)
	}
	for i := range keys {
		e.storeField(out, &t.Fields[i], keys[i])
	}
	e.storeColumns(out, t, s.Payload, len(keys))
	if t.Flag >= 0 {
		e.b.Store(ir.At(out, t.Flag), ir.K(0), 1)
	}
	e.b.Clear(out)
	e.free(keys...)
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

// storeColumns writes columns to the fields from first on.
func (e *emitter) storeColumns(out ir.Reg, t *layout.Tuple, ids []plan.ColID, first int) {
	for i, id := range ids {
		v := e.column(id)
		e.storeField(out, &t.Fields[first+i], v)
	}
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
	e.say("materialize", func(n plan.Names) string { return n.Cols(cols) })
	if e.f.Sink == nil {
		var fs []layout.Field
		for _, id := range cols {
			v := value{}
			if e.TopN { // most rows are dropped before their columns are read
				v.d = e.describe(e.ref(id))
			} else {
				v = e.column(id)
			}
			fs = append(fs, e.field(id, e.Cols.Get(id).Name, v))
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
	if e.gpu != nil {
		e.tupleTogether(e.f.Sink, ir.NoReg, nil, s.Cols)
		return
	}
	if e.TopN {
		e.dropWorse(s, e.f.Sink)
	}
	out := e.newTuple(e.f.Sink.Size)
	e.storeColumns(out, e.f.Sink, cols, 0)
	if f := e.f.Sink.Find(layout.LateRow); f != nil {
		row := e.loadWord("row", Word{Kind: WordRow})
		e.b.Op2(ir.Add, row, row.V(), e.row.V())
		e.b.Store(ir.At(out, f.Off), row.V(), 8)
		e.b.Clear(row)
	}
	e.b.Clear(out)
}
