package bind

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// item is a bound entry of a select list.
type item struct {
	x    plan.Expr
	name string
	at   span
	lit  *plan.Const // see outCol
	// column: written as the name of a column, or part of a star.
	column bool
}

// selectBody binds a SELECT with the ORDER BY and LIMIT of its query. The clauses are bound
// over the columns of FROM first; if it then turns out that the query is grouped, the
// expressions are rewritten to the columns of the group (see group.go).
func (b *binder) selectBody(sel *ast.Select, q *ast.Query, around *scope) result {
	if len(sel.Items) == 0 {
		panic(diag.Unsupported(sel.Pos, "SELECT without columns").WithHint("EXISTS (SELECT FROM …) and queries in FROM need none; SELECT 1 has one"))
	}
	s := around.push()
	node := b.from(s, sel.From)
	if sel.Sample != nil {
		node = b.sample(node, s.rels, sel.Sample)
	}
	s.items = sel.Items
	if sel.Where != nil {
		s.clause = "WHERE"
		node = filter(node, b.condition(s, sel.Where, "WHERE"))
	}

	s.aggs, s.clause = &aggregates{}, ""
	s.windows = b.windowClause(sel.Windows)
	s.aggs.constants = b.constantKeys(s, sel)
	items := b.items(s, sel)
	sets := b.groupBy(s, sel, items)
	s.clause = ""
	var having plan.Expr
	var havingAt span
	if sel.Having != nil {
		havingAt.lo = len(s.aggs.refs)
		s.windows.not = "HAVING"
		having = b.condition(s, sel.Having, "HAVING")
		s.windows.not = ""
		havingAt.pos, havingAt.hi = sel.Having.Position(), len(s.aggs.refs)
	}
	var qualify plan.Expr
	var qualifyAt span
	if sel.Qualify != nil {
		qualifyAt.lo = len(s.aggs.refs)
		qualify = b.condition(s, sel.Qualify, "QUALIFY")
		qualifyAt.pos, qualifyAt.hi = sel.Qualify.Position(), len(s.aggs.refs)
	}
	on := b.distinctOn(s, sel, items)
	order := b.orderBy(s, q.OrderBy, items, sel.Distinct)
	b.unusedWindows(s)

	if sets != nil || having != nil || len(s.aggs.list) > 0 || len(s.aggs.groupings) > 0 {
		g := b.group(s, node, sets)
		for i := range items {
			items[i].x = g.rewrite(items[i].x, items[i].at)
		}
		for i := range on {
			if on[i].x != nil {
				on[i].x = g.rewrite(on[i].x, on[i].at)
			}
		}
		for i := range order {
			if order[i].x != nil {
				order[i].x = g.rewrite(order[i].x, order[i].at)
			}
		}
		if having != nil {
			having = g.rewrite(having, havingAt)
		}
		if qualify != nil {
			qualify = g.rewrite(qualify, qualifyAt)
		}
		s.windows.rewrite(g)
		node = g.finish()
		if having != nil {
			node = filter(node, having)
		}
	}

	node = b.windowNode(s.windows, node)
	if qualify != nil {
		node = filter(node, qualify)
	}

	node = b.unnestItems(node, items, order, on)
	p := b.project(node, len(items))
	r := result{cols: make([]outCol, len(items))}
	for i := range items {
		it := &items[i]
		r.cols[i] = outCol{name: it.name, id: p.col(it.x, it.name), pos: it.at.pos, lit: it.lit}
	}
	for _, keys := range [...][]orderKey{order, on} {
		for i := range keys {
			if k := &keys[i]; k.x != nil {
				k.col = p.shared(k.x, "sort key")
			} else {
				k.col = r.cols[k.out].id
			}
		}
	}
	r.node = p.done()

	switch {
	case sel.Distinct:
		b.distinct(&r)
		for i := range order {
			order[i].col = r.cols[order[i].out].id
		}
	case len(on) > 0:
		b.keepFirst(&r, on, order)
	}
	if len(order) > 0 || q.Limit != nil || q.Offset != nil {
		r.node = b.sort(r.node, order, q)
	}
	return r
}

// items binds a select list, stars expanded.
func (b *binder) items(s *scope, sel *ast.Select) []item {
	items := make([]item, 0, len(sel.Items))
	for i := range sel.Items {
		it := &sel.Items[i]
		if star, ok := it.X.(*ast.Star); ok {
			items = b.star(s, star, items)
			continue
		}
		name := it.Alias.Name
		if it.Alias.Empty() {
			name = ast.ColumnName(it.X)
		}
		if fields := b.unnestStruct(s, it.X); fields != nil {
			items = append(items, fields...)
			continue
		}
		saved := b.columns
		b.columns = &columnsCall{scope: s}
		items = append(items, b.item(s, it.X, name))
		if all := b.columns.all; all != nil { // once for each of them
			for i := range all {
				if i > 0 {
					b.columns.at = i
					items = append(items, b.item(s, it.X, name))
				}
				if it.Alias.Empty() {
					items[len(items)-1].name = all[i].rel.cols[all[i].i].name
				}
			}
		}
		b.columns = saved
	}
	return items
}

// item binds one expression of a select list.
func (b *binder) item(s *scope, x ast.Expr, name string) item {
	had, windows, refs := len(s.aggs.list), s.windows.count(), len(s.aggs.refs)
	outer := b.unnests
	b.unnests = s
	e := b.maybeLiteralKey(s, x, b.expr(s, x))
	b.unnests = outer
	refuseRowsInside(e)
	it := item{x: e, name: name, at: span{x.Position(), refs, len(s.aggs.refs)}, column: isColumn(x)}
	if a, ok := x.(*ast.Array); ok && len(a.Elems) == 0 && e.Type().Kind == types.Unknown {
		panic(diag.Errorf(diag.IndeterminateDatatype, a.Pos, "cannot determine type of empty array").
			WithHint("explicitly cast to the desired type, for example ARRAY[]::integer[]"))
	}
	if e.Type().Kind == types.Unknown {
		it.lit, _ = e.(*plan.Const)
		it.x = b.settle(e)
	}
	if r, ok := e.(*plan.Ref); ok && len(s.aggs.list) == had+1 && s.aggs.list[had].Col == r.ID {
		b.cols.Get(r.ID).Name = name // an aggregate is known by its alias
	}
	if r, ok := e.(*plan.Ref); ok && s.windows.last(windows) == r.ID {
		b.cols.Get(r.ID).Name = name
	}
	return it
}

// star expands *, t.* and (x).*.
func (b *binder) star(s *scope, star *ast.Star, items []item) []item {
	start := len(items)
	excluded := make([]bool, len(star.Exclude))
	replaced := make([]bool, len(star.Replace))
	renamed := make([]bool, len(star.Rename))
	add := func(name string, column bool, read func() plan.Expr) {
		if slices.Contains(star.Leaving, name) {
			return
		}
		for k, id := range star.Exclude {
			if id.Name == name {
				excluded[k] = true
				return
			}
		}
		shown := name
		for k, to := range star.Rename {
			if to.Old.Name == name {
				renamed[k], shown = true, to.New.Name
			}
		}
		for k := range star.Replace {
			if star.Replace[k].Alias.Name == name {
				replaced[k] = true
				items = append(items, b.item(s, star.Replace[k].X, shown))
				return
			}
		}
		refs := len(s.aggs.refs)
		e := read()
		items = append(items, item{x: e, name: shown, at: span{star.Pos, refs, len(s.aggs.refs)}, column: column})
	}
	addColumn := func(r *rel, i int) {
		add(r.cols[i].name, true, func() plan.Expr { return b.read(found{s, r, i}, star.Pos) })
	}
	fields := func(x ast.Expr) {
		t := b.typeOfExpr(s, x)
		if t.Kind != types.Struct {
			fail(diag.WrongObjectType, star.Pos, "type %s is not composite", t.SQLName())
		}
		for i, f := range t.Fields() {
			add(f.Name, false, func() plan.Expr { return b.fieldAt(b.expr(s, x), i, star.Pos) })
		}
	}
	if star.Of != nil {
		fields(star.Of)
	} else if len(star.Qualifier) == 0 {
		if len(s.rels) == 0 {
			fail(diag.SyntaxError, star.Pos, "SELECT * with no tables specified is not valid")
		}
		for _, r := range s.rels {
			for i := range r.cols {
				if !r.cols[i].hidden {
					addColumn(r, i)
				}
			}
		}
	} else {
		schema, name := splitName(star.Qualifier)
		r := s.relation(schema, name, star.Pos)
		column := &ast.ColumnRef{Pos: star.Pos, Name: star.Qualifier}
		c, isColumn := found{}, false
		if r == nil {
			c, isColumn = b.lookup(s, column)
		}
		switch {
		case r != nil:
			for i := range r.cols {
				addColumn(r, i)
			}
		case isColumn && c.rel.cols[c.i].typ.Kind == types.Struct:
			fields(column)
		default:
			ref := &ast.ColumnRef{Pos: star.Pos, Name: append(star.Qualifier[:len(star.Qualifier):len(star.Qualifier)], ast.Ident{Name: "*"})}
			panic(b.unknownColumn(s, ref))
		}
	}
	for k, ok := range excluded {
		if !ok {
			b.starMiss(s, star.Exclude[k], "EXCLUDE")
		}
	}
	for k, ok := range replaced {
		if !ok {
			b.starMiss(s, star.Replace[k].Alias, "REPLACE")
		}
	}
	for k, ok := range renamed {
		if !ok {
			b.starMiss(s, star.Rename[k].Old, "RENAME")
		}
	}
	if len(items) == start && star.Leaving == nil {
		fail(diag.SyntaxError, star.Pos, "SELECT * leaves no columns")
	}
	return items
}

func (b *binder) starMiss(s *scope, id ast.Ident, what string) {
	panic(diag.Errorf(diag.UndefinedColumn, id.Pos, "column %q in %s list does not exist", id.Name, what).
		WithHint(suggestColumn(id.Name, s)))
}

// distinct makes a result's rows distinct: a group without aggregates.
func (b *binder) distinct(r *result) {
	g := &plan.Group{Input: r.node}
	b.groupKeys(g, r.cols)
	r.node = g
}

// groupKeys makes the columns the keys of g. A column keeps its identity, since it has the same
// values above the group.
func (b *binder) groupKeys(g *plan.Group, cols []outCol) {
	g.Keys = make([]plan.Expr, 0, len(cols))
	g.KeyCols = make([]plan.ColID, 0, len(cols))
next:
	for i := range cols {
		for _, id := range g.KeyCols {
			if id == cols[i].id {
				continue next
			}
		}
		g.Keys = append(g.Keys, b.ref(cols[i].id))
		g.KeyCols = append(g.KeyCols, cols[i].id)
	}
}
