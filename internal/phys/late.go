package phys

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Late is the columns of a result that a pipeline only carries there from its scan, by their places in the table. They are not
// written to tuples: a tuple has the row's number instead, and whoever reads the result copies the values from the table.
type Late struct{ Ordinal map[plan.ColID]int }

func (l Late) String() string {
	switch n := len(l.Ordinal); n {
	case 0:
		return "no late columns"
	case 1:
		return "1 late column"
	default:
		return fmt.Sprintf("%d late columns", n)
	}
}

// Cols is the set of late columns.
func (l Late) Cols() (out plan.ColSet) {
	for id := range l.Ordinal {
		out.Add(id)
	}
	return out
}

// fewestLate is how many words late columns must save for the row's number to pay.
const fewestLate = 3

// Alone reports that a pipeline has no operator at which another thread may go on with a row.
func Alone(p *pipe.Pipeline) bool {
	for _, op := range p.Ops {
		switch op.(type) {
		case *pipe.Filter, *pipe.Map:
		default:
			return false
		}
	}
	return true
}

// ChooseLate finds the result's columns that p need not write, none if that does not pay; inMemory tells whether the table can
// be read again. A sort of many rows reads them in any order, so that tuples are better.
func ChooseLate(prog *pipe.Program, p *pipe.Pipeline, inMemory func(*plan.Scan) bool) Late {
	res := prog.Result
	t, ok := p.Source.(*pipe.Table)
	if !ok || p.Sink != pipe.Sink(res) || len(p.Stages) > 0 || len(res.Keys) > 0 && ChooseTop(res, LeastTuple).Room == 0 {
		return Late{}
	}
	for _, q := range prog.Pipelines {
		if q != p && q.Sink == p.Sink {
			return Late{}
		}
	}
	if !inMemory(t.Scan) {
		return Late{}
	}
	from := pipe.Carried(t, p.Ops)
	for _, k := range res.Keys {
		delete(from, k.Col)
	}
	out := Late{Ordinal: map[plan.ColID]int{}}
	words := 0
	for _, id := range res.Cols {
		ord, ok := from[id]
		if _, twice := out.Ordinal[id]; !ok || twice {
			continue
		}
		out.Ordinal[id] = ord
		words++
		if t.Scan.Table.Columns[ord].Type.Phys() == types.PhysStr {
			words++
		}
	}
	if words < fewestLate {
		return Late{}
	}
	return out
}
