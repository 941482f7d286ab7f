package pipe

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// Parts says that rows are kept side by side with those whose groups lie in the same part of a table of groups.
type Parts struct {
	Group *plan.Group
	Count int  // a power of two, if nothing else is better for the table that there is
	Plain bool // no aggregate has an argument that Go computes
	Why   fmt.Stringer
}

// Part cuts pipelines before groups for which choose has parts: the first keeps rows in parts, the second takes them to the groups, part after part. It comes before Split, as Unfuse does.
func (p *Program) Part(choose func(q *Pipeline) *Parts) {
	chosen := map[*Pipeline]*Parts{}
	for _, q := range p.Pipelines {
		if parts := choose(q); parts != nil {
			chosen[q] = parts
		}
	}
	p.Unfuse(func(q *Pipeline, i int) bool { return chosen[q] != nil && i == len(q.Ops) })
	for q, parts := range chosen {
		rows := q.Source.(*Buffer).Of.(*Collect) // keys have columns, so that there is something to keep
		rows.Parts, rows.makers[0].Cut = parts, parts.Why
	}
}
