package bind

import (
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Statements that change rows are queries over the table with the numbers of its rows: who carries them out learns which row
// becomes what. All of them are a Change.

// numbered makes the scan of a table that is to be changed, under an alias, and the column of its rows' numbers.
func (b *binder) numbered(t *catalog.Table, n ast.Name, alias ast.Ident) (*rel, *plan.Scan, plan.ColID) {
	schema, _ := splitName(n)
	scan, r := b.scan(t, schema, n.Pos())
	if !alias.Empty() {
		applyAlias(r, &ast.Alias{Name: alias})
		scan.Alias = r.name
	}
	num, err := t.Snapshot().Numbered()
	check(err, n.Pos())
	scan.Table, scan.Snap = num, num.Snapshot()
	row := b.cols.New("row number", types.TInt64, true)
	scan.Cols, scan.Ordinal = append(scan.Cols, row), append(scan.Ordinal, len(t.Columns))
	return r, scan, row
}

// beside binds the FROM of UPDATE and the USING of DELETE and joins it with the table. Its items do not see the table.
func (b *binder) beside(target *rel, scan plan.Node, items []ast.TableExpr) (*scope, plan.Node) {
	s := &scope{rels: []*rel{target}}
	if len(items) == 0 {
		return s, scan
	}
	from := &scope{}
	beyond, hint := b.beyond, b.beyondHint
	b.beyond, b.beyondHint = s.rels, "the table that is changed cannot be seen by the tables beside it"
	n := b.from(from, items)
	b.beyond, b.beyondHint = beyond, hint
	distinctNames(s.rels, from.rels)
	s.rels = append(s.rels, from.rels...)
	return s, &plan.Join{Kind: plan.Inner, Left: scan, Right: n}
}

// changeUses is a query that uses what a statement does, to count its uses of CTEs.
func changeUses(set []ast.Assignment, from []ast.TableExpr, conds ...ast.Expr) *ast.Query {
	sel := &ast.Select{From: from}
	for i := range set {
		sel.Items = append(sel.Items, ast.SelectItem{X: set[i].X})
	}
	for _, c := range conds {
		if c != nil {
			sel.Items = append(sel.Items, ast.SelectItem{X: c})
		}
	}
	return &ast.Query{Body: sel}
}

// delete binds DELETE as the numbers of the rows that go, with their values if they are returned.
func (b *binder) delete(s *ast.Delete) Bound {
	if s.With != nil {
		b.with(s.With, changeUses(nil, s.Using, s.Where), nil)
	}
	t := b.target(s.Table, "delete from")
	out := &Change{Verb: "DELETE", Table: t, Base: t.Snapshot(), Version: t.Version(), Kinds: []ChangeKind{DeleteRow}, Assigned: make([]bool, len(t.Columns)), Pos: s.Pos}
	if s.Where == nil && s.Using == nil && s.Returning == nil && !b.explain {
		return out
	}
	target, scan, row := b.numbered(t, s.Table, s.Alias)
	sc, n := b.beside(target, scan, s.Using)
	if s.Where != nil {
		sc.clause = "WHERE"
		n = filter(n, b.condition(sc, s.Where, "WHERE"))
	}
	var more []carried
	if s.Returning != nil {
		out.Returning = b.returning(&returningClause{s.Returning, s.With, t, s.Table, s.Alias}, sc.rels[1:])
		out.Rows, more = out.Returning.Rows, out.Returning.more
	}
	values := make([]plan.Expr, len(t.Columns))
	b.changes(out, n, target, values, more, row, 0, len(s.Using) > 0)
	return out
}

// update binds UPDATE as the rows that are changed, each with its number.
func (b *binder) update(s *ast.Update) Bound {
	if s.With != nil {
		b.with(s.With, changeUses(s.Set, s.From, s.Where), nil)
	}
	t := b.target(s.Table, "update")
	target, scan, row := b.numbered(t, s.Table, s.Alias)
	sc, n := b.beside(target, scan, s.From)
	if s.Where != nil {
		sc.clause = "WHERE"
		n = filter(n, b.condition(sc, s.Where, "WHERE"))
	}
	sc.clause = "UPDATE"
	values := make([]plan.Expr, len(t.Columns))
	for i := range s.Set {
		b.assignment(sc, t, &s.Set[i], values)
	}
	out := &Change{Verb: "UPDATE", Table: t, Base: t.Snapshot(), Version: t.Version(), Kinds: []ChangeKind{UpdateRow}, Assigned: assigned(values), Rows: t, Pos: s.Pos}
	var more []carried
	if s.Returning != nil {
		out.Returning = b.returning(&returningClause{s.Returning, s.With, t, s.Table, s.Alias}, sc.rels[1:])
		out.Rows, more = out.Returning.Rows, out.Returning.more
	}
	b.changes(out, n, target, values, more, row, 0, len(s.From) > 0)
	return out
}

// assigned tells the columns that get a value.
func assigned(values []plan.Expr) []bool {
	out := make([]bool, len(values))
	for i, v := range values {
		out[i] = v != nil
	}
	return out
}

// changes completes the query of a change over n: the columns of out.Rows, which are the table's (values, where there are some),
// and then what is carried for RETURNING; the number of the row; and which clause does it, if there are several. A row of the
// table that was found more than once, beside several others, is changed once.
func (b *binder) changes(out *Change, n plan.Node, target *rel, values []plan.Expr, more []carried, row, clause plan.ColID, once bool) {
	var exprs []plan.Expr // before the projection is begun: scans produce what was asked for until then
	if out.Rows != nil {
		for i, e := range values {
			if e == nil {
				e = b.column(target, i)
			}
			exprs = append(exprs, e)
		}
		for _, m := range more {
			exprs = append(exprs, b.column(m.rel, m.i))
		}
	}
	p := b.project(n, len(values)+2)
	var r result
	for i, e := range exprs {
		name := out.Rows.Columns[i].Name
		r.cols = append(r.cols, outCol{name: name, id: p.col(e, name)})
	}
	r.cols = append(r.cols, outCol{name: "row number", id: p.col(b.ref(row), "row number")})
	if clause != 0 {
		r.cols = append(r.cols, outCol{name: "clause", id: p.col(b.ref(clause), "clause")})
	}
	r.node = p.done()
	if out.Verb != "DELETE" && hasGenerated(out.Table) {
		r = b.generate(out.Table, r)
		for i := range out.Assigned {
			out.Assigned[i] = out.Assigned[i] || out.Table.Columns[i].Generated != ""
		}
	}
	if once {
		b.keepFirst(&r, []orderKey{{col: row}}, nil)
	}
	out.Query = b.finish(r)
}

// assignedWhole notes a value of SET that is not made of the column's.
func (b *binder) assignedWhole(x plan.Expr) {
	if b.wholes == nil {
		b.wholes = map[plan.Expr]bool{}
	}
	b.wholes[x] = true
}

// assignField binds SET a.b = x: the rest of the struct stays what it is, or what was assigned before.
func (b *binder) assignField(s *scope, t *catalog.Table, o int, a *ast.Assignment, values []plan.Expr) {
	c, id := &t.Columns[o], a.Columns[0]
	maySet(c, id.Pos)
	if c.Type.Kind != types.Struct {
		fail(diag.DatatypeMismatch, id.Pos, "cannot assign to field %q of column %q because its type %s is not a composite type", a.Fields[0].Name, c.Name, c.Type.SQLName())
	}
	if d, ok := a.X.(*ast.Default); ok {
		fail(diag.FeatureNotSupported, d.Pos, "cannot set a subfield to DEFAULT")
	}
	x := values[o]
	switch {
	case x == nil:
		x = b.column(s.rels[0], o) // the table that changes
	case b.wholes[x]:
		fail(diag.SyntaxError, id.Pos, "multiple assignments to same column %q", id.Name)
	}
	values[o] = b.withField(x, a.Fields, a.X.Position(), func(t types.Type, name string) plan.Expr {
		return b.assign(b.expr(s, a.X), t, a.X.Position(), "subfield "+quoted(name))
	})
}

// assignment binds SET a = x, (a, b) = (x, y) or (a, b) = (select x, y …).
func (b *binder) assignment(s *scope, t *catalog.Table, a *ast.Assignment, values []plan.Expr) {
	mismatch := func() { fail(diag.SyntaxError, a.X.Position(), "number of columns does not match number of values") }
	value := func(int) (plan.Expr, int) { return b.expr(s, a.X), a.X.Position() }
	var row []ast.Expr
	if a.Several {
		switch x := a.X.(type) {
		case *ast.Row:
			if row = x.Elems; len(row) != len(a.Columns) {
				mismatch()
			}
			value = func(i int) (plan.Expr, int) { return b.expr(s, row[i]), row[i].Position() }
		case *ast.Subquery:
			value = func(i int) (plan.Expr, int) { // a scalar subquery for each column
				r := b.query(x.Query, s)
				if len(r.cols) != len(a.Columns) {
					mismatch()
				}
				id := r.cols[i].id
				return &plan.Subquery{Kind: plan.Scalar, Plan: r.node, Output: []plan.ColID{id}, T: b.cols.Get(id).Type, Pos: x.Pos}, x.Pos
			}
		default:
			if len(a.Columns) > 1 {
				panic(diag.Errorf(diag.SyntaxError, a.X.Position(),
					"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"))
			}
		}
	} else {
		row = []ast.Expr{a.X}
	}
	for i, id := range a.Columns {
		o := tableColumn(t, id)
		c := &t.Columns[o]
		if a.Fields != nil {
			b.assignField(s, t, o, a, values)
			continue
		}
		if values[o] != nil {
			fail(diag.SyntaxError, id.Pos, "multiple assignments to same column %q", id.Name)
		}
		if i < len(row) {
			if d, ok := row[i].(*ast.Default); ok {
				values[o] = b.defaultValue(c, d.Pos)
				b.assignedWhole(values[o])
				continue
			}
		}
		maySet(c, id.Pos)
		e, pos := value(i)
		values[o] = b.store(e, c, pos)
		b.assignedWhole(values[o])
	}
}
