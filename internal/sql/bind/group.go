package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A grouped query is bound in two steps. First all clauses are bound over the
// columns of FROM, aggregate calls becoming references to columns that the group will produce.
// Then rewrite replaces what equals a group key by the key's column; a column of FROM that
// is still left is the user's mistake, unless a grouped primary key determines it.

// groupSets is a bound GROUP BY: the distinct key expressions, and which of them each
// grouping set has. Without GROUPING SETS there is one set with all keys.
type groupSets struct {
	keys   []plan.Expr
	names  []string
	column []bool // written as the name of a column
	sets   [][]int
}

// span is where an expression was written and which of aggregates.refs belong to it.
type span struct{ pos, lo, hi int }

// groupBy binds the GROUP BY clause; nil if there is none.
func (b *binder) groupBy(s *scope, sel *ast.Select, items []item) *groupSets {
	s.clause = "GROUP BY"
	g := &groupSets{}
	switch {
	case sel.GroupByAll:
		set := []int{}
		for i := range items {
			if !b.hasAggregate(s, items[i].x) && !b.hasWindow(s, items[i].x) {
				set = append(set, g.addItem(&items[i]))
			}
		}
		g.sets = [][]int{set}
	case len(sel.GroupBy) > 0:
		g.sets = b.groupItems(s, g, sel.GroupBy, items)
	default:
		return nil
	}
	return g
}

// add numbers a key; equal expressions are one key.
func (g *groupSets) add(e plan.Expr, name string, column bool) int {
	for i, k := range g.keys {
		if plan.EqualExpr(k, e) {
			g.column[i] = g.column[i] || column
			return i
		}
	}
	g.keys, g.names, g.column = append(g.keys, e), append(g.names, name), append(g.column, column)
	return len(g.keys) - 1
}

func (g *groupSets) addItem(it *item) int { return g.add(it.x, it.name, it.column) }

// groupKey binds one grouping expression: a number of an output column, a column of
// FROM, the alias of an output column, or any expression.
func (b *binder) groupKey(s *scope, g *groupSets, x ast.Expr, items []item) int {
	if n, ok := ordinal(x, len(items), "GROUP BY"); ok {
		return b.groupItem(s, g, &items[n], x)
	}
	if name, ok := bareName(x); ok {
		if c, ok := s.find(name, x.Position()); ok {
			return g.add(b.mustReadExpr(b.read(c, x.Position()), x.Position()), name, true)
		}
		found := -1
		for i := range items {
			if items[i].name != name {
				continue
			}
			if found >= 0 && !plan.EqualExpr(items[found].x, items[i].x) {
				fail(diag.AmbiguousColumn, x.Position(), "GROUP BY %q is ambiguous", name)
			}
			found = i
		}
		if found >= 0 {
			return b.groupItem(s, g, &items[found], x)
		}
	}
	e := b.maybeLiteralKey(s, x, b.settle(b.expr(s, x)))
	return g.add(e, ast.ColumnName(x), isColumn(x))
}

func (b *binder) groupItem(s *scope, g *groupSets, it *item, x ast.Expr) int {
	if b.hasWindow(s, it.x) {
		fail(diag.WindowingError, x.Position(), "window functions are not allowed in GROUP BY")
	}
	if b.hasAggregate(s, it.x) {
		fail(diag.GroupingError, x.Position(), "aggregate functions are not allowed in GROUP BY")
	}
	return g.addItem(it)
}

// isColumn reports that x is written as the name of a column.
func isColumn(x ast.Expr) bool {
	_, ok := x.(*ast.ColumnRef)
	return ok
}

// hasAggregate reports that e uses the result of an aggregate of the SELECT.
func (b *binder) hasAggregate(s *scope, e plan.Expr) bool {
	refs := plan.Refs(e)
	if refs.Intersects(&s.aggs.cols) {
		return true
	}
	for i := range s.aggs.groupings {
		if refs.Has(s.aggs.groupings[i].col) {
			return true
		}
	}
	return false
}

// grouper turns expressions over FROM into expressions over the group.
type grouper struct {
	b       *binder
	s       *scope
	input   plan.Node
	in      plan.ColSet // what the input produces
	by      groupSets
	keyCols []plan.ColID
	// picked are columns that a grouped primary key determines, as aggregates.
	picked []plan.Agg
	at     span
	inner  int         // depth of subqueries around what is rewritten
	rows   []plan.Expr // the keys as they are computed, if some of them make several rows
}

// expandKeys makes the rows of keys such as generate_series(1, 3) before there are groups of them.
func (g *grouper) expandKeys() {
	rows := slices.Clone(g.by.keys)
	xs := make([]*plan.Expr, len(rows))
	for i := range rows {
		xs[i] = &rows[i]
	}
	if n := g.b.severalRows(g.input, xs); n != g.input {
		g.input, g.rows = n, rows
	}
}

// group begins the grouping of a SELECT's input; sets is nil without GROUP BY.
func (b *binder) group(s *scope, input plan.Node, sets *groupSets) *grouper {
	g := &grouper{b: b, s: s, input: input, in: plan.Produced(input)}
	if sets == nil {
		g.by.sets = [][]int{nil}
	} else {
		g.by = *sets
	}
	g.expandKeys()
	g.keyCols = make([]plan.ColID, len(g.by.keys))
	for i, k := range g.by.keys {
		if r, ok := k.(*plan.Ref); ok && g.in.Has(r.ID) && !g.multiple() {
			g.keyCols[i] = r.ID // the same values under the same name
			continue
		}
		g.keyCols[i] = b.cols.New(g.by.names[i], k.Type(), !g.multiple() && b.notNull(k))
	}
	g.checkGroupings()
	return g
}

// multiple reports GROUPING SETS, ROLLUP or CUBE.
func (g *grouper) multiple() bool { return len(g.by.sets) != 1 || len(g.by.sets[0]) != len(g.by.keys) }

// rewrite is e over the columns of the group.
func (g *grouper) rewrite(e plan.Expr, at span) plan.Expr {
	g.at = at
	return g.expr(e)
}

func (g *grouper) expr(e plan.Expr) plan.Expr {
	switch x := e.(type) {
	case *plan.Ref:
		return g.ref(x)
	case *plan.Call:
		if id, ok := g.key(x); ok {
			return g.b.ref(id)
		}
		args := x.Args
		for i, a := range x.Args {
			r := g.expr(a)
			if r == a {
				continue
			}
			if &args[0] == &x.Args[0] {
				args = append([]plan.Expr(nil), x.Args...)
			}
			args[i] = r
		}
		if len(args) > 0 && &args[0] != &x.Args[0] {
			y := *x
			y.Args = args
			return &y
		}
	case *plan.Subquery:
		if id, ok := g.key(x); ok {
			return g.b.ref(id)
		}
		for i, a := range x.Needle {
			x.Needle[i] = g.expr(a)
		}
		g.inner++
		g.node(x.Plan)
		g.inner--
	}
	return e
}

// node rewrites the references that a subquery's plan makes to this SELECT, in place. They are
// in expressions only: a column of another query is never kept, sorted or united by name.
func (g *grouper) node(n plan.Node) {
	plan.WalkNode(n, func(n plan.Node) bool {
		plan.MapNodeExprs(n, g.expr)
		return true
	})
}

// key finds the column of a key that equals e. Inside of a subquery only keys that are columns are
// found: select (select x + 1) from t group by x + 1 refers to x, which is not grouped.
func (g *grouper) key(e plan.Expr) (plan.ColID, bool) {
	for i, k := range g.by.keys {
		if (g.inner == 0 || g.by.column[i]) && (plan.EqualExpr(k, e) || g.alike(k, e)) {
			return g.keyCols[i], true
		}
	}
	return 0, false
}

// alike reports that two expressions differ in nothing but subqueries and lambdas that are written alike: they are bound again
// wherever they stand.
func (g *grouper) alike(a, b plan.Expr) bool {
	if len(g.s.aggs.queries) == 0 && len(g.b.lambdas) == 0 {
		return false
	}
	switch x := a.(type) {
	case *plan.Subquery:
		y, ok := b.(*plan.Subquery)
		if !ok {
			return false
		}
		first, again := g.s.aggs.queries[x], g.s.aggs.queries[y]
		return first != nil && again != nil && ast.Format(first) == ast.Format(again)
	case *plan.Call:
		y, ok := b.(*plan.Call)
		if !ok || x.Fn != y.Fn && (g.b.lambdas[x.Fn] == "" || g.b.lambdas[x.Fn] != g.b.lambdas[y.Fn]) {
			return false
		}
		return x.Op == y.Op && (x.Fn == nil || !x.Fn.Volatile) && x.T == y.T &&
			slices.EqualFunc(x.Args, y.Args, func(a, b plan.Expr) bool { return plan.EqualExpr(a, b) || g.alike(a, b) })
	}
	return false
}

// computedOnce computes below the groups what an aggregate both takes and is ordered by, if that has subqueries: they would
// be unnested twice.
func (g *grouper) computedOnce(aggs []plan.Agg) {
	p := &plan.Project{}
	for i := range aggs {
		a := &aggs[i]
		for k := range a.Order {
			o := &a.Order[k]
			if !plan.HasSubquery(o.X) || !slices.Contains(a.Args(), o.X) {
				continue
			}
			id := g.b.cols.New("", o.X.Type(), g.b.notNull(o.X))
			p.Exprs, p.Cols = append(p.Exprs, o.X), append(p.Cols, id)
			shared := o.X
			a.MapExprs(func(e plan.Expr) plan.Expr {
				if e == shared {
					return g.b.ref(id)
				}
				return e
			})
		}
	}
	if len(p.Exprs) > 0 {
		p.Input, p.Keep = g.input, g.input.Produces(nil)
		g.input = p
	}
}

func (g *grouper) ref(x *plan.Ref) plan.Expr {
	if id, ok := g.key(x); ok {
		if id == x.ID {
			return x
		}
		return g.b.ref(id)
	}
	if !g.in.Has(x.ID) {
		if c := g.s.aggs.constants.value(x.ID); c != nil {
			return c
		}
		// An aggregate's result, a column of a query around this one, or one of a subquery inside.
		for i := range g.s.aggs.groupings {
			if c := &g.s.aggs.groupings[i]; c.col == x.ID && !g.multiple() {
				return &plan.Const{V: types.IntValue(types.TInt32, 0)}
			}
		}
		return x
	}
	if g.determined(x) {
		return x
	}
	panic(g.ungrouped(x))
}

// determined reports a column of a table whose primary key is grouped: all its rows in a group
// have the same value, so the group may take any. The column keeps its identity.
func (g *grouper) determined(x *plan.Ref) bool {
	for i := range g.picked {
		if g.picked[i].Col == x.ID {
			return true
		}
	}
	if g.multiple() {
		return false
	}
	for _, r := range g.s.rels {
		if r.table == nil || len(r.table.Keys) == 0 || !r.has(x.ID) || !g.keyed(r, r.table.Keys[0]) {
			continue
		}
		g.picked = append(g.picked, plan.Agg{Func: plan.AnyValue, Arg: x, Col: x.ID})
		return true
	}
	return false
}

// has reports that the relation has the column.
func (r *rel) has(id plan.ColID) bool {
	for i := range r.cols {
		if r.cols[i].id == id {
			return true
		}
	}
	return len(r.sides) > 0 && r.sides[0].over != nil && r.sides[0].mark == id
}

// keyed reports that the columns of a key, which must not be NULL, are all grouped.
func (g *grouper) keyed(r *rel, key []int) bool {
next:
	for _, o := range key {
		if !r.cols[o].notNull {
			return false
		}
		for _, k := range g.by.keys {
			if ref, ok := k.(*plan.Ref); ok && ref.ID == r.cols[o].id {
				continue next
			}
		}
		return false
	}
	return len(key) > 0
}

// ungrouped is the error for a column that is neither grouped nor aggregated.
func (g *grouper) ungrouped(x *plan.Ref) *diag.Error {
	name, pos := g.b.cols.Get(x.ID).Name, g.at.pos
	for _, w := range g.s.aggs.refs[g.at.lo:g.at.hi] {
		c := &w.rel.cols[w.i]
		if c.id != x.ID {
			continue
		}
		name, pos = c.name, w.pos
		if w.rel.name != "" {
			name = w.rel.name + "." + name
		}
		break
	}
	if g.inner > 0 {
		return diag.Errorf(diag.GroupingError, pos, "subquery uses ungrouped column %q from outer query", name)
	}
	return diag.Errorf(diag.GroupingError, pos,
		"column %q must appear in the GROUP BY clause or be used in an aggregate function", name)
}

// finish is the plan of the group, once all expressions are rewritten.
func (g *grouper) finish() plan.Node {
	if g.multiple() {
		return g.b.groupingSets(g)
	}
	aggs := append(g.s.aggs.list, g.picked...)
	g.computedOnce(aggs)
	if len(g.by.keys) > 0 { // then every group has a row
		for i := range aggs {
			a := &aggs[i]
			switch a.Func {
			case plan.StddevSamp, plan.VarSamp, plan.CountStar, plan.Folded:
				continue
			}
			if a.Filter == nil && g.b.notNull(a.Arg) {
				g.b.cols.Get(a.Col).NotNull = true
			}
		}
	}
	return &plan.Group{Input: g.input, Keys: g.computed(), KeyCols: g.keyCols, Aggs: aggs}
}
