package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// working is what the recursive term of a WITH query sees under its name: the rows of the last round.
type working struct {
	number int
	names  []string
	types  []types.Type
}

// inDependencyOrder sorts the queries of WITH RECURSIVE so that each comes after those that it refers to.
func inDependencyOrder(w *ast.With) []*ast.CTE {
	list := make([]*ast.CTE, 0, len(w.CTEs))
	done := make([]bool, len(w.CTEs))
	for len(list) < len(w.CTEs) {
		next := -1
		for i := range w.CTEs {
			ready := !done[i]
			for j := range w.CTEs {
				ready = ready && (done[j] || j == i || countUses(w.CTEs[i].Query, w.CTEs[j].Name.Name) == 0)
			}
			if ready {
				next = i
				break
			}
		}
		if next < 0 {
			for i := range done {
				if !done[i] {
					unsupported(w.CTEs[i].Pos, "mutual recursion between WITH items")
				}
			}
		}
		done[next] = true
		list = append(list, &w.CTEs[next])
	}
	return list
}

// recursive binds a WITH query that refers to itself.
func (b *binder) recursive(c *cte) result {
	name, q := c.def.Name.Name, c.def.Query
	op, ok := q.Body.(*ast.SetOp)
	if !ok || op.Kind != ast.Union {
		fail(diag.InvalidRecursion, c.def.Pos, "recursive query %q does not have the form non-recursive-term UNION [ALL] recursive-term", name)
	}
	switch {
	case len(q.OrderBy) > 0:
		unsupported(q.OrderBy[0].Pos, "ORDER BY in a recursive query")
	case q.Limit != nil:
		unsupported(q.Limit.Position(), "LIMIT in a recursive query")
	case q.Offset != nil:
		unsupported(q.Offset.Position(), "OFFSET in a recursive query")
	}
	check := recursionCheck{name: name, count: useCounter{name: name}}
	check.body(op.L, "its non-recursive term")
	if q.With != nil {
		for i := range q.With.CTEs {
			check.query(q.With.CTEs[i].Query, "a subquery")
		}
	}
	check.body(op.R, "")

	ctes, agg := b.ctes, b.agg
	b.ctes, b.agg = c.outer, nil
	defer func() { b.ctes, b.agg = ctes, agg }()
	if q.With != nil {
		b.with(q.With, q, c.scope)
	}
	first := b.body(op.L, c.scope)
	b.settleColumns(&first)
	renameColumns(c.def, &first)
	b.recursions++
	w := &working{number: b.recursions}
	for _, col := range first.cols {
		w.names = append(w.names, col.name)
		w.types = append(w.types, b.cols.Get(col.id).Type)
	}
	step, want, same := b.recursiveTerm(c, op, w, &first)
	if !same && b.widen(w, want) {
		// A number with more digits before the point: once more, for the type with as many as there are.
		step, want, same = b.recursiveTerm(c, op, w, &first)
	}
	if !same {
		for k, t := range want {
			if t != w.types[k] {
				panic(diag.Errorf(diag.DatatypeMismatch, first.cols[k].pos, "recursive query %q column %d has type %s in non-recursive term but type %s overall",
					name, k+1, w.types[k].SQLName(), t.SQLName()).WithHint("cast the output of the non-recursive term to the correct type"))
			}
		}
	}
	n := &plan.Recursive{Name: name, Number: w.number, Distinct: !op.All}
	for i, r := range [...]*result{&first, &step} {
		n.InCols[i] = b.recast(r, w.types)
	}
	n.Init, n.Step = first.node, step.node
	plan.WalkNode(n.Step, func(m plan.Node) bool {
		if x, ok := m.(*plan.Recursive); ok && scansWork(x, n.Number) {
			panic(nestedRecursion(c.def.Pos))
		}
		return true
	})
	out := result{node: n, cols: make([]outCol, len(first.cols))}
	for k, col := range first.cols {
		id := b.cols.New(w.names[k], w.types[k], false)
		n.Cols = append(n.Cols, id)
		out.cols[k] = outCol{name: w.names[k], id: id, pos: col.pos}
	}
	return out
}

// scansWork reports a plan that reads the rows of a recursion's last round.
func scansWork(n plan.Node, number int) bool {
	found := false
	plan.WalkNode(n, func(m plan.Node) bool {
		x, ok := m.(*plan.WorkScan)
		found = found || ok && x.Number == number
		return !found
	})
	return found
}

// nestedRecursion is the error for a recursion that would begin anew in each round of another.
func nestedRecursion(pos int) *diag.Error {
	return diag.Unsupported(pos, "a recursive query inside of the recursive term of another that refers to it").
		WithHint("let one recursion do both: a column can say which of the two a row belongs to")
}

// recursiveTerm binds the second side of the union, where the name stands for w. want are the types that both sides
// have in common; same: they are w's.
func (b *binder) recursiveTerm(c *cte, op *ast.SetOp, w *working, first *result) (step result, want []types.Type, same bool) {
	ctes := b.ctes
	b.ctes = &cte{outer: ctes, def: c.def, scope: c.scope, shared: -1, working: w}
	step = b.body(op.R, c.scope)
	b.ctes = ctes
	if len(step.cols) != len(first.cols) {
		fail(diag.SyntaxError, op.Pos, "each UNION query must have the same number of columns")
	}
	same = true
	for k := range w.types {
		c := &step.cols[k]
		e := plan.Expr(plan.NullConst(w.types[k])) // a value of that type
		sides := []plan.Expr{e, b.ref(c.id)}
		if c.lit != nil {
			sides[1] = c.lit
		}
		t := b.commonType(sides, func(i int) int { return [...]int{first.cols[k].pos, c.pos}[i] }, "UNION")
		want = append(want, t)
		same = same && t == w.types[k]
	}
	return step, want, same
}

// widen gives decimals of w more digits, if nothing else differs from the wanted types.
func (b *binder) widen(w *working, want []types.Type) bool {
	for k, t := range want {
		if have := w.types[k]; t != have && (t.Kind != types.Decimal || have.Kind != types.Decimal) {
			return false
		}
	}
	for k, t := range want {
		if t != w.types[k] {
			w.types[k] = types.Type{Kind: types.Decimal, Prec: types.MaxPrecision, Scale: t.Scale}
		}
	}
	return true
}

// settleColumns gives literals whose type is open that of texts.
func (b *binder) settleColumns(r *result) {
	r.node = b.distinctCols(r)
	for k := range r.cols {
		r.cols[k].lit = nil
	}
}

// scanWork is the use of a recursive query's name in its own recursive term.
func (b *binder) scanWork(c *cte, pos int) (plan.Node, *rel) {
	n := &plan.WorkScan{Name: c.def.Name.Name, Number: c.working.number}
	r := &rel{name: c.def.Name.Name, pos: pos, working: true, cols: make([]relCol, len(c.working.names))}
	for i, name := range c.working.names {
		id := b.cols.New(name, c.working.types[i], false)
		n.Cols, n.Ordinal = append(n.Cols, id), append(n.Ordinal, i)
		r.cols[i] = relCol{name: name, typ: c.working.types[i], id: id}
	}
	return n, r
}

// recursionCheck finds references to a recursive query where there must be none.
type recursionCheck struct {
	name  string
	count useCounter
	refs  int
}

func (c *recursionCheck) refuse(pos int, where string) {
	fail(diag.InvalidRecursion, pos, "recursive reference to query %q must not appear within %s", c.name, where)
}

// within refuses references in an expression.
func (c *recursionCheck) exprs(where string, es ...ast.Expr) {
	for _, e := range es {
		before := c.count.n
		if c.count.expr(e); c.count.n > before {
			if where == "" {
				where = "a subquery"
			}
			c.refuse(e.Position(), where)
		}
	}
}

func (c *recursionCheck) query(q *ast.Query, where string) {
	if q.With != nil {
		for i := range q.With.CTEs {
			if q.With.CTEs[i].Name.Name == c.name {
				return // another query of that name
			}
			c.query(q.With.CTEs[i].Query, where)
		}
	}
	c.body(q.Body, where)
	for _, o := range q.OrderBy {
		c.exprs(where, o.X)
	}
	c.exprs(where, q.Limit, q.Offset)
}

// body looks at a query; where says what part it is of that must have no reference, if any.
func (c *recursionCheck) body(body ast.Body, where string) {
	inside := func(part string) string {
		if where != "" {
			return where
		}
		return part
	}
	switch x := body.(type) {
	case *ast.Query:
		c.query(x, where)
	case *ast.Pivot:
		c.table(x.Source, inside("PIVOT"))
	case *ast.Unpivot:
		c.table(x.Source, where)
	case *ast.Summarize:
		c.query(x.Query, inside("SUMMARIZE"))
	case *ast.Describe:
		c.query(x.Query, inside("DESCRIBE"))
	case *ast.Values:
		for _, r := range x.Rows {
			c.exprs(where, r...)
		}
	case *ast.SetOp:
		l, r := where, where
		switch {
		case x.Kind == ast.Intersect && x.All:
			l, r = inside("INTERSECT"), inside("INTERSECT")
		case x.Kind == ast.Except:
			r = inside("EXCEPT")
			if x.All {
				l = r
			}
		}
		c.body(x.L, l)
		c.body(x.R, r)
	case *ast.Select:
		for _, t := range x.From {
			c.table(t, where)
		}
		c.exprs(where, x.DistinctOn...)
		for _, it := range x.Items {
			c.exprs(where, it.X)
		}
		c.exprs(where, x.Where, x.Having, x.Qualify)
		for _, g := range x.GroupBy {
			c.exprs(where, g.Exprs...)
		}
	}
}

func (c *recursionCheck) table(t ast.TableExpr, where string) {
	switch x := t.(type) {
	case *ast.TableRef:
		if len(x.Name) != 1 || x.Name[0].Name != c.name {
			return
		}
		if where != "" {
			c.refuse(x.Pos, where)
		}
		if c.refs++; c.refs > 1 {
			fail(diag.InvalidRecursion, x.Pos, "recursive reference to query %q must not appear more than once", c.name)
		}
	case *ast.SubqueryTable:
		c.query(x.Query, where)
	case *ast.SampleTable:
		c.table(x.Table, where)
	case *ast.FuncTable:
		c.exprs(where, x.Call)
	case *ast.Join:
		l, r := where, where
		outer := func(s *string) {
			if *s == "" {
				*s = "an outer join"
			}
		}
		switch x.Kind {
		case ast.LeftJoin:
			outer(&r)
		case ast.RightJoin:
			outer(&l)
		case ast.FullJoin:
			outer(&l)
			outer(&r)
		}
		c.table(x.L, l)
		c.table(x.R, r)
		c.exprs(where, x.On)
	}
}
