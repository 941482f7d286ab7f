package exec

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Late columns: a result's columns that a pipeline only carries from the scan to the result are not
// written to tuples. A tuple has the row's number instead, and whoever reads the result copies the values
// from the table.

// lateColumns are such columns with their places in the table.
type lateColumns struct {
	segs    []*catalog.Segment // by number
	ordinal map[plan.ColID]int
}

// fewestLate is how many words late columns must save for the row's number to pay.
const fewestLate = 3

// late finds the result's columns that p need not write; nil if that does not pay. A sort of many rows
// reads them in any order, so that tuples are better.
func (o *Options) late(prog *pipe.Program, p *pipe.Pipeline) *lateColumns {
	res := prog.Result
	t, ok := p.Source.(*pipe.Table)
	if !ok || p.Sink != pipe.Sink(res) || len(p.Stages) > 0 || o.Off.LateColumns || o.Off.PostProjection ||
		len(res.Keys) > 0 && !o.topN(res) {
		return nil
	}
	for _, q := range prog.Pipelines {
		if q != p && q.Sink == p.Sink {
			return nil
		}
	}
	if load.InFiles(t.Scan) {
		return nil
	}
	from := carried(t, p.Ops)
	for _, k := range res.Keys {
		delete(from, k.Col)
	}
	out := &lateColumns{ordinal: map[plan.ColID]int{}}
	words := 0
	for _, id := range res.Cols {
		ord, ok := from[id]
		if _, twice := out.ordinal[id]; !ok || twice {
			continue
		}
		out.ordinal[id] = ord
		words++
		if t.Scan.Table.Columns[ord].Type.Phys() == types.PhysStr {
			words++
		}
	}
	if words < fewestLate {
		return nil
	}
	return out
}

// carried is the place in the table of each column that comes unchanged from the scan through ops.
func carried(t *pipe.Table, ops []pipe.Op) map[plan.ColID]int {
	from := map[plan.ColID]int{}
	for k, id := range t.Scan.Cols {
		from[id] = t.Scan.Ordinal[k]
	}
	same := func(to, of plan.ColID) {
		if ord, ok := from[of]; ok {
			from[to] = ord
		}
	}
	for _, op := range ops {
		switch op := op.(type) {
		case *pipe.Map:
			for i, x := range op.Exprs {
				if ref, ok := x.(*plan.Ref); ok {
					same(op.Cols[i], ref.ID)
				}
			}
		case *pipe.Rename:
			for i := range op.From {
				same(op.To[i], op.From[i])
			}
		}
	}
	return from
}

// cols is the set of late columns.
func (l *lateColumns) cols() plan.ColSet {
	var out plan.ColSet
	if l != nil {
		for id := range l.ordinal {
			out.Add(id)
		}
	}
	return out
}

// columns says where a result's columns are.
func (l *lateColumns) columns(ids []plan.ColID, t *layout.Tuple) []result.Column {
	out := make([]result.Column, len(ids))
	for i, id := range ids {
		if l != nil {
			if ord, ok := l.ordinal[id]; ok {
				out[i].Ordinal = ord
				continue
			}
		}
		out[i].Field = t.Find(int32(id))
	}
	return out
}
