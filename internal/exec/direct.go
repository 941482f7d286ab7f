package exec

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A query that only picks columns of a table needs no code and no tuples: the result is the table's
// segments themselves, which a Reader copies from.

// direct is the result of a query that only picks columns; nil if it does more.
func (r *run) direct() *tableRows {
	res := r.prog.Result
	if r.Off.DirectScan || r.Count || r.Profile || r.Listing || r.gpu != nil || len(r.prog.Pipelines) != 1 || len(res.Keys) > 0 {
		return nil
	}
	p := r.prog.Pipelines[0]
	t, ok := p.Source.(*pipe.Table)
	if !ok || len(t.Filter) > 0 || len(t.Reduce) > 0 || len(p.Stages) > 0 {
		return nil
	}
	from := carried(t, p.Ops)
	for _, op := range p.Ops {
		if _, ok := op.(*pipe.Map); !ok {
			return nil
		}
	}
	var ordinal []int
	for _, id := range res.Cols {
		ord, ok := from[id]
		if !ok {
			return nil
		}
		ordinal = append(ordinal, ord)
	}
	return newTableRows(t.Scan.Snap, ordinal, res.Offset, res.Limit)
}

// tableResult makes the result of rows of a table: those of files are loaded, unless who reads the result does so part by
// part.
func (r *run) tableResult(t *tableRows, o owned) (*Result, error) {
	o.Keep = append(r.keep, r.prog)
	switch s := r.prog.Result; {
	case t.stream != nil && r.Parts && s.Offset == 0 && s.Limit < 0:
		return ofStream(o, t), nil
	case t.stream != nil:
		if err := r.begin(t.stream); err != nil {
			return nil, err
		}
		if err := t.readAll(r.ctx, r.team, r.mem); err != nil {
			return nil, err
		}
	case !r.Parts:
		if err := t.loadAll(r.ctx, r.team, r.mem); err != nil {
			return nil, err
		}
	}
	return ofTable(o, t, r.Parts && t.stream == nil), nil
}
