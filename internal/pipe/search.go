package pipe

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// Search is a filter column LIKE pattern, or its opposite, that is found out for all rows of a scan at once: whoever reads texts one behind the other needs not
// look where each begins. For the scan the filter is a column of bits, plan.Tested.
type Search struct {
	Col     plan.ColID // the text
	Ordinal int        // … and which column of the table it is
	Pattern string
	Not     bool
	Pos     int // where errors of the pattern are shown
}

// Search is a program with the same result where, of the scans that want says so of, one filter each is searched for before. want knows the part of a pipeline that reads the table. p stays as it is.
func (p *Program) Search(want func(q *Pipeline, t *Table, s *Search) bool) *Program {
	return p.withScans(func(first *Pipeline, t *Table, cols func() *plan.Columns) *Table {
		for i, x := range t.Filter {
			s := searchOf(t.Scan, x)
			if s == nil || !want(first, t, s) {
				continue
			}
			scan, is := t.without(cols(), first.unread(t, []plan.Expr{x}))
			scan.Filter = slices.DeleteFunc(slices.Clone(scan.Filter), func(y plan.Expr) bool { return y == x })
			out := *t
			out.Scan, out.Filter, out.Search = scan, slices.Clone(t.Filter), s
			out.Filter[i] = is
			return &out
		}
		return t
	})
}

// searchOf is the search that a filter of a scan can be; nil: it is none.
func searchOf(scan *plan.Scan, x plan.Expr) *Search {
	s := &Search{}
	c, ok := x.(*plan.Call)
	if ok && c.Op == plan.Not {
		s.Not = true
		c, ok = c.Args[0].(*plan.Call)
	}
	if !ok || c.Op != plan.Like {
		return nil
	}
	ref, isRef := c.Args[0].(*plan.Ref)
	pattern, isConst := c.Args[1].(*plan.Const)
	if !isRef || !isConst || pattern.V.Null {
		return nil
	}
	s.Col, s.Pattern, s.Pos = ref.ID, pattern.V.S, c.Pos
	s.Ordinal = scan.Ordinal[slices.Index(scan.Cols, ref.ID)]
	return s
}
