package phys

import (
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Direct is a query that only picks columns of a table, by their places in it: it needs no code and no tuples, its result is the table's
// segments themselves. The zero value is a query that does more.
type Direct struct {
	Scan    *plan.Scan
	Ordinal []int // of the result's columns
}

func (d Direct) String() string {
	if d.Scan == nil {
		return "by code"
	}
	return "the table's columns are the result"
}

// ChooseDirect finds out whether a program only picks columns.
func ChooseDirect(prog *pipe.Program) Direct {
	res := prog.Result
	if len(prog.Pipelines) != 1 || len(res.Keys) > 0 {
		return Direct{}
	}
	p := prog.Pipelines[0]
	t, ok := p.Source.(*pipe.Table)
	if !ok || len(t.Filter) > 0 || len(t.Reduce) > 0 || len(p.Stages) > 0 {
		return Direct{}
	}
	for _, op := range p.Ops {
		if _, ok := op.(*pipe.Map); !ok { // which may fail, but not for a column that the result has
			return Direct{}
		}
	}
	from := pipe.Carried(t, p.Ops)
	d := Direct{Scan: t.Scan}
	for _, id := range res.Cols {
		ord, ok := from[id]
		if !ok {
			return Direct{}
		}
		d.Ordinal = append(d.Ordinal, ord)
	}
	return d
}
