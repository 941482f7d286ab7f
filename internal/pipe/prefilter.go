package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Prefilter is a program with the same result for a device to which columns come over a bus. Where want says so of a scan, given the places in the table of
// the columns that nothing but filters reads, somebody else tests the filters before: the scan has a column with what came of that in place of these. p stays as it is.
func (p *Program) Prefilter(want func(t *Table, unread []int) bool) *Program {
	return p.withScans(func(first *Pipeline, t *Table, cols func() *plan.Columns) *Table {
		unread := first.unread(t, t.Filter)
		if !mayTestBefore(t) || len(unread) == 0 || !want(t, unread) {
			return t
		}
		return t.tested(cols(), unread)
	})
}

// withScans is the program with other scans of tables, as change wants them, or p where it wants none: given the part of a pipeline that reads a table, the scan, and where
// it finds room for new columns, if it needs some.
func (p *Program) withScans(change func(first *Pipeline, t *Table, cols func() *plan.Columns) *Table) *Program {
	out := p
	begin := func() *plan.Columns {
		if out == p {
			query := *p.Query
			query.Cols = p.Query.Cols.Clone()
			out = &Program{Query: &query, Pipelines: slices.Clone(p.Pipelines), Result: p.Result}
		}
		return out.Query.Cols
	}
	for i, q := range p.Pipelines {
		first := q // which reads the table
		if len(q.Stages) > 0 {
			first = q.Stages[0]
		}
		t, ok := first.Source.(*Table)
		if !ok {
			continue
		}
		other := change(first, t, begin)
		if other == t {
			continue
		}
		r, part := *q, *first
		part.Source = other
		if first == q {
			r = part
		} else {
			r.Stages = slices.Clone(q.Stages)
			r.Stages[0] = &part
		}
		out.Pipelines[i] = &r
	}
	return out
}

// mayTestBefore reports that filters can be tested for all rows, whatever else drops some: a row that a semi-join filter would have dropped must not fail.
func mayTestBefore(t *Table) bool {
	return len(t.Filter) > 0 && (len(t.Reduce) == 0 || !slices.ContainsFunc(t.Filter, MayFail))
}

// unread is the places in the table of the scan's columns that nothing reads but such filters of it.
func (p *Pipeline) unread(t *Table, filters []plan.Expr) (out []int) {
	live := p.liveness()[0]
	for _, rd := range t.Reduce {
		live.Add(rd.Col)
	}
	for _, x := range t.Filter {
		if !slices.Contains(filters, x) {
			plan.AddRefs(&live, x)
		}
	}
	for k, id := range t.Scan.Cols {
		if !live.Has(id) {
			out = append(out, t.Scan.Ordinal[k])
		}
	}
	return out
}

// tested is the scan without such columns, and with one that says which rows have passed its filters.
func (t *Table) tested(cols *plan.Columns, unread []int) *Table {
	scan, is := t.without(cols, unread)
	scan.Filter = nil
	return &Table{Scan: scan, Filter: []plan.Expr{is}, Reduce: t.Reduce, Before: t}
}

// without is the scan without such columns, and with plan.Tested, of which the test is made.
func (t *Table) without(cols *plan.Columns, unread []int) (*plan.Scan, plan.Expr) {
	scan := *t.Scan
	scan.Cols, scan.Ordinal = nil, nil
	for k, ord := range t.Scan.Ordinal {
		if !slices.Contains(unread, ord) {
			scan.Cols, scan.Ordinal = append(scan.Cols, t.Scan.Cols[k]), append(scan.Ordinal, ord)
		}
	}
	passed := cols.New("passed", types.TInt64, true)
	scan.Cols, scan.Ordinal = append(scan.Cols, passed), append(scan.Ordinal, plan.Tested)
	return &scan, &plan.Call{Op: plan.Eq, T: types.TBool, Args: []plan.Expr{&plan.Ref{ID: passed, T: types.TInt64}, plan.NewConst(types.IntValue(types.TInt64, 1))}}
}
