package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// matcher compares two plans and finds which columns of the first hold the second's. Where the
// first lacks a column that the second reads of the same table, or an aggregate, it is added;
// additions wait until the whole plans have matched.
type matcher struct {
	s     *state
	names plan.Renaming // columns of the second plan → of the first
	adds  []func()
}

func (m *matcher) apply() {
	for _, f := range m.adds {
		f()
	}
}

func (m *matcher) name(second, first plan.ColID) {
	for int(second) >= len(m.names) {
		m.names = append(m.names, 0)
	}
	m.names[second] = first
}

// same compares expressions, b's columns renamed.
func (m *matcher) same(a, b plan.Expr) bool { return plan.EqualExpr(a, m.names.Expr(b)) }

// sameSet compares predicates in any order.
func (m *matcher) sameSet(a, b []plan.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	used := make([]bool, len(a))
	for _, e := range b {
		if m.pair(a, e, used) < 0 {
			return false
		}
	}
	return true
}

// pair finds the expression of the first plan that equals e of the second and has no partner yet.
func (m *matcher) pair(a []plan.Expr, e plan.Expr, used []bool) int {
	e = m.names.Expr(e)
	for i := range a {
		if !used[i] && plan.EqualExpr(a[i], e) {
			used[i] = true
			return i
		}
	}
	return -1
}

func (m *matcher) sameList(a, b []plan.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !m.same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// node reports whether two plans are equal.
func (m *matcher) node(a, b plan.Node) bool {
	ai, bi := a.Inputs(), b.Inputs()
	if len(ai) != len(bi) {
		return false
	}
	for i := range ai {
		if !m.node(ai[i], bi[i]) {
			return false
		}
	}
	switch x := a.(type) {
	case *plan.Scan:
		y, ok := b.(*plan.Scan)
		return ok && m.scan(x, y)
	case *plan.SharedScan:
		y, ok := b.(*plan.SharedScan)
		return ok && m.sharedScan(x, y)
	case *plan.Filter:
		y, ok := b.(*plan.Filter)
		return ok && m.sameSet(x.Preds, y.Preds)
	case *plan.Project:
		y, ok := b.(*plan.Project)
		return ok && m.project(x, y)
	case *plan.Join:
		y, ok := b.(*plan.Join)
		if !ok || x.Kind != y.Kind || x.BuildLeft != y.BuildLeft || !slices.Equal(x.NullSafe, y.NullSafe) {
			return false
		}
		if x.Kind == plan.Mark {
			m.name(y.MarkCol, x.MarkCol)
		}
		return m.sameList(x.LKeys, y.LKeys) && m.sameList(x.RKeys, y.RKeys) && m.sameSet(x.On, y.On)
	case *plan.Group:
		y, ok := b.(*plan.Group)
		return ok && m.group(x, y)
	case *plan.Window:
		y, ok := b.(*plan.Window)
		return ok && m.window(x, y)
	case *plan.Values:
		y, ok := b.(*plan.Values)
		return ok && m.values(x, y)
	case *plan.Series:
		y, ok := b.(*plan.Series)
		if !ok || x.From != y.From || x.Step != y.Step || x.N != y.N {
			return false
		}
		m.name(y.Col, x.Col)
		return true
	case *plan.Repeat:
		y, ok := b.(*plan.Repeat)
		if !ok || !m.same(x.Count, y.Count) {
			return false
		}
		m.name(y.Col, x.Col)
		return true
	case *plan.SetOp:
		y, ok := b.(*plan.SetOp)
		return ok && m.setOp(x, y)
	}
	return false // sorts with limits may choose different rows
}

func (m *matcher) scan(x, y *plan.Scan) bool {
	if x.Table != y.Table || x.Snap != y.Snap || len(x.Reduce)+len(y.Reduce) > 0 {
		return false
	}
	for i, o := range y.Ordinal {
		at := slices.Index(x.Ordinal, o)
		if at >= 0 {
			m.name(y.Cols[i], x.Cols[at])
			continue
		}
		id := m.s.copyCol(y.Cols[i])
		m.name(y.Cols[i], id)
		stat := *m.s.stat(y.Cols[i])
		m.adds = append(m.adds, func() {
			x.Cols = append(x.Cols, id)
			x.Ordinal = append(x.Ordinal, o)
			*m.s.stat(id) = stat
		})
	}
	return m.sameSet(x.Filter, y.Filter)
}

func (m *matcher) sharedScan(x, y *plan.SharedScan) bool {
	if x.Index != y.Index {
		return false
	}
	for i, src := range y.Source {
		at := slices.Index(x.Source, src)
		if at >= 0 {
			m.name(y.Cols[i], x.Cols[at])
			continue
		}
		id := m.s.copyCol(y.Cols[i])
		m.name(y.Cols[i], id)
		m.adds = append(m.adds, func() {
			x.Cols = append(x.Cols, id)
			x.Source = append(x.Source, src)
		})
	}
	return true
}

// project adds what the second keeps or computes to the first.
func (m *matcher) project(x, y *plan.Project) bool {
	for _, id := range y.Keep {
		if to := m.names.Get(id); !slices.Contains(x.Keep, to) {
			m.adds = append(m.adds, func() {
				if !slices.Contains(x.Keep, to) {
					x.Keep = append(x.Keep, to)
				}
			})
		}
	}
	for i, e := range y.Exprs {
		e = m.names.Expr(e)
		if at := slices.IndexFunc(x.Exprs, func(f plan.Expr) bool { return plan.EqualExpr(e, f) }); at >= 0 {
			m.name(y.Cols[i], x.Cols[at])
			continue
		}
		id := m.s.copyCol(y.Cols[i])
		m.name(y.Cols[i], id)
		m.adds = append(m.adds, func() {
			x.Exprs = append(x.Exprs, e)
			x.Cols = append(x.Cols, id)
		})
	}
	return true
}

// group wants the same keys and adds aggregates. Names are given last: a key that is a plain
// column has the same name below and above the group.
// window compares functions in their order.
func (m *matcher) window(x, y *plan.Window) bool {
	z := *y
	z.Rename(m.names)
	same := func(a, b plan.WindowFunc) bool {
		return a.Func == b.Func && a.Agg == b.Agg && a.Spec == b.Spec && a.Frame == b.Frame && a.IgnoreNulls == b.IgnoreNulls && slices.Equal(a.Args, b.Args) && a.Fold.Same(b.Fold)
	}
	spec := func(a, b plan.WindowSpec) bool {
		return slices.Equal(a.Partition, b.Partition) && slices.Equal(a.Order, b.Order)
	}
	if !slices.EqualFunc(x.Specs, z.Specs, spec) || !slices.EqualFunc(x.Funcs, z.Funcs, same) {
		return false
	}
	for i := range y.Funcs {
		m.name(y.Funcs[i].Col, x.Funcs[i].Col)
	}
	return true
}

func (m *matcher) group(x, y *plan.Group) bool {
	if len(x.Keys) != len(y.Keys) || x.Folded() != y.Folded() {
		return false
	}
	used := make([]bool, len(x.Keys))
	at := make([]int, len(y.Keys))
	for i, k := range y.Keys {
		if at[i] = m.pair(x.Keys, k, used); at[i] < 0 {
			return false
		}
	}
	to := make([]plan.ColID, len(y.Aggs))
	for i, a := range y.Aggs {
		a.MapExprs(m.names.Expr)
		if k := slices.IndexFunc(x.Aggs, func(f plan.Agg) bool { return a.Same(&f) }); k >= 0 {
			to[i] = x.Aggs[k].Col
			continue
		}
		a.Col = m.s.copyCol(a.Col)
		to[i] = a.Col
		m.adds = append(m.adds, func() { x.Aggs = append(x.Aggs, a) })
	}
	for i, id := range y.KeyCols {
		m.name(id, x.KeyCols[at[i]])
	}
	for i := range y.Aggs {
		m.name(y.Aggs[i].Col, to[i])
	}
	return true
}

func (m *matcher) values(x, y *plan.Values) bool {
	if len(x.Rows) != len(y.Rows) || len(x.Cols) != len(y.Cols) {
		return false
	}
	for i := range x.Rows {
		if !plan.EqualExprs(x.Rows[i], y.Rows[i]) {
			return false
		}
	}
	for i := range y.Cols {
		m.name(y.Cols[i], x.Cols[i])
	}
	return true
}

func (m *matcher) setOp(x, y *plan.SetOp) bool {
	if len(x.Cols) != len(y.Cols) {
		return false
	}
	for i := range y.InCols {
		for k, id := range y.InCols[i] {
			if m.names.Get(id) != x.InCols[i][k] {
				return false
			}
		}
	}
	for i := range y.Cols {
		m.name(y.Cols[i], x.Cols[i])
	}
	return true
}
