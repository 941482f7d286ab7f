package exec

import (
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A query that only picks columns of a table needs no code and no tuples: the result is the table's
// segments themselves, which a Reader copies from.

// direct is the result of a query that only picks columns; nil if it does more.
func (r *run) direct() *result.Table {
	res := r.prog.Result
	if r.Off.DirectScan || r.Count || r.Profile || r.Listing || len(r.prog.Pipelines) != 1 || len(res.Keys) > 0 {
		return nil
	}
	p := r.prog.Pipelines[0]
	t, ok := p.Source.(*pipe.Table)
	if !ok || len(t.Filter) > 0 || len(t.Reduce) > 0 || len(p.Stages) > 0 {
		return nil
	}
	from := pipe.Carried(t, p.Ops)
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
	return result.NewTable(t.Scan.Snap, ordinal, res.Offset, res.Limit)
}

// tableResult makes the result of rows of a table: those of files are loaded, unless who reads the result does so part by
// part.
func (r *run) tableResult(t *result.Table, o result.Owned) (*result.Result, error) {
	o.Keep = append(r.keep, r.prog)
	switch s := r.prog.Result; {
	case t.Stream != nil && r.Parts && s.Offset == 0 && s.Limit < 0:
		return result.OfStream(o, t), nil
	case t.Stream != nil:
		if err := r.begin(t.Stream); err != nil {
			return nil, err
		}
		if err := t.ReadAll(r.ctx, r.team, r.mem); err != nil {
			return nil, err
		}
	case !r.Parts:
		if err := t.LoadAll(r.ctx, r.team, r.mem); err != nil {
			return nil, err
		}
	}
	return result.OfTable(o, t, r.Parts && t.Stream == nil), nil
}
