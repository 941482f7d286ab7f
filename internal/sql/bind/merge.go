package bind

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// MERGE and INSERT … ON CONFLICT DO UPDATE join rows with those of the table that they may change. A column, clause, tells what
// is to be done with each: it is 0 for nothing, else one more than its place in Change.Kinds.

// clauses collects what is done with joined rows.
type clauses struct {
	b      *binder
	target *rel
	row    plan.ColID
	cond   []plan.Expr   // of each clause, whether it is the one: the first counts
	values [][]plan.Expr // of each clause, the table's columns; nil: the row's own
}

// matched tells rows for which there is one in the table.
func (c *clauses) matched(yes bool) plan.Expr {
	e := plan.Expr(plan.NewCall(plan.IsNull, types.TBool, c.b.ref(c.row)))
	if yes {
		e = plan.Negate(e)
	}
	return e
}

// finish makes the query of a change from the join.
func (c *clauses) finish(out *Change, join plan.Node) {
	b := c.b
	which := &plan.Call{Op: plan.Case, T: types.TInt32, Pos: out.Pos}
	for i, cond := range c.cond {
		if out.Kinds[i] == KeepRow {
			which.Args = append(which.Args, cond, plan.NewConst(types.IntValue(types.TInt32, 0)))
		} else {
			which.Args = append(which.Args, cond, plan.NewConst(types.IntValue(types.TInt32, int64(i+1))))
		}
	}
	which.Args = append(which.Args, plan.NewConst(types.IntValue(types.TInt32, 0)))
	for o := range out.Table.Columns {
		b.require(c.target, o)
	}
	p := b.project(join, 8)
	for id := range p.in.All {
		p.col(b.ref(id), "")
	}
	clause := p.col(which, "clause")
	n := filter(p.done(), &plan.Call{Op: plan.Gt, T: types.TBool, Pos: out.Pos,
		Args: []plan.Expr{b.ref(clause), plan.NewConst(types.IntValue(types.TInt32, 0))}})

	values := make([]plan.Expr, len(out.Table.Columns))
	for o := range values {
		col := &out.Table.Columns[o]
		e := &plan.Call{Op: plan.Case, T: col.Type, Pos: out.Pos}
		for i, vs := range c.values {
			if vs == nil || vs[o] == nil {
				continue
			}
			is := plan.Compare(plan.Eq, b.ref(clause), plan.NewConst(types.IntValue(types.TInt32, int64(i+1))))
			e.Args = append(e.Args, is, b.convert(vs[o], col.Type, out.Pos))
		}
		if len(e.Args) > 0 {
			e.Args = append(e.Args, b.column(c.target, o))
			values[o] = e
		}
	}
	b.changes(out, n, c.target, values, nil, c.row, clause, false)
}

// merge binds MERGE.
func (b *binder) merge(s *ast.Merge) Bound {
	if s.With != nil {
		conds := []ast.Expr{s.On}
		var set []ast.Assignment
		for _, w := range s.Whens {
			conds, set = append(append(conds, w.And), w.Values...), append(set, w.Set...)
		}
		b.with(s.With, changeUses(set, []ast.TableExpr{s.Using}, conds...), nil)
	}
	t := b.target(s.Table, "merge into")
	source := &scope{}
	from := b.from(source, []ast.TableExpr{s.Using})
	target, scan, row := b.numbered(t, s.Table, s.Alias)
	for _, r := range source.rels {
		if r.name == target.name {
			panic(diag.Errorf(diag.DuplicateAlias, r.pos, "name %q specified more than once", r.name).
				WithDetail("The name is used both as MERGE target table and data source."))
		}
	}
	both := &scope{rels: append([]*rel{target}, source.rels...), clause: "MERGE WHEN conditions"}
	on := &scope{rels: both.rels, clause: "JOIN conditions"}
	join := &plan.Join{Kind: plan.Left, Left: from, Right: scan, On: plan.Conjuncts(nil, b.condition(on, s.On, "JOIN/ON"))}
	b.pad([]*rel{target}, nil)
	b.cols.Get(row).NotNull = false

	out := &Change{Verb: "MERGE", Table: t, Base: t.Snapshot(), Version: t.Version(), Rows: t, Pos: s.Pos, Again: "MERGE command cannot affect row a second time"}
	c := &clauses{b: b, target: target, row: row}
	alone := [2]int{-1, -1} // the clause after which no other of its kind can be reached
	for i := range s.Whens {
		w := &s.Whens[i]
		kind, sc := 0, source
		if w.Matched {
			kind, sc = 1, both
		}
		if alone[kind] >= 0 {
			fail(diag.SyntaxError, w.Pos, "unreachable WHEN clause specified after unconditional WHEN clause")
		}
		cond := c.matched(w.Matched)
		if w.And == nil {
			alone[kind] = i
		} else {
			in := &scope{rels: sc.rels, clause: "MERGE WHEN conditions"}
			cond = plan.AndOf(cond, b.condition(in, w.And, "WHEN"))
		}
		do, values := b.mergeAction(&scope{rels: sc.rels, clause: "MERGE"}, t, w)
		out.Kinds = append(out.Kinds, do)
		c.cond, c.values = append(c.cond, cond), append(c.values, values)
	}
	if !slices.ContainsFunc(s.Whens, func(w ast.MergeWhen) bool { return !w.Matched }) {
		join.Kind = plan.Inner
	}
	c.finish(out, join)
	return out
}

// mergeAction binds what a clause of MERGE does.
func (b *binder) mergeAction(s *scope, t *catalog.Table, w *ast.MergeWhen) (ChangeKind, []plan.Expr) {
	values := make([]plan.Expr, len(t.Columns))
	switch w.Action {
	case ast.MergeUpdate:
		for i := range w.Set {
			b.assignment(s, t, &w.Set[i], values)
		}
		return UpdateRow, values
	case ast.MergeDelete:
		return DeleteRow, nil
	case ast.MergeNothing:
		return KeepRow, nil
	}
	targets := b.targetColumns(t, w.Columns)
	if w.Values != nil {
		checkWidth(len(w.Values), len(targets), len(w.Columns) > 0, w.Columns, w.Pos)
	}
	for i, x := range w.Values {
		c := &t.Columns[targets[i]]
		if d, ok := x.(*ast.Default); ok {
			values[targets[i]] = b.defaultValue(c, d.Pos)
			continue
		}
		mayGive(c, false, x.Position())
		values[targets[i]] = b.store(b.expr(s, x), c, x.Position())
	}
	for o := range values {
		if values[o] == nil {
			values[o] = b.defaultValue(&t.Columns[o], w.Pos)
		}
	}
	return InsertRow, values
}

// upsert binds INSERT … ON CONFLICT DO UPDATE over the rows that would be inserted.
func (b *binder) upsert(s *ast.Insert, t *catalog.Table, rows result) Bound {
	oc := s.OnConflict
	keys := b.arbiters(t, oc)
	if len(keys) != 1 {
		panic(diag.Errorf(diag.SyntaxError, oc.Pos, "ON CONFLICT DO UPDATE requires inference specification or constraint name").
			WithHint("For example, ON CONFLICT (column_name)."))
	}
	excluded := b.derived(&rows, s.Pos)
	excluded.name, excluded.aliased = "excluded", true
	target, scan, row := b.numbered(t, s.Table, s.Alias)
	join := &plan.Join{Kind: plan.Left, Left: rows.node, Right: scan}
	for _, o := range t.Keys[keys[0]] {
		join.On = append(join.On, b.compare(plan.Eq, b.column(excluded, o), b.column(target, o), place{s.Pos, s.Pos, s.Pos}))
	}
	b.pad([]*rel{target}, nil)
	b.cols.Get(row).NotNull = false

	out := &Change{Verb: "INSERT 0", Table: t, Base: t.Snapshot(), Version: t.Version(), Rows: t, Kinds: []ChangeKind{InsertRow, UpdateRow}, Distinct: keys, Pos: s.Pos,
		Again: "ON CONFLICT DO UPDATE command cannot affect row a second time"}
	c := &clauses{b: b, target: target, row: row}
	sc := &scope{rels: []*rel{target, excluded}, clause: "UPDATE"}
	fresh, update := make([]plan.Expr, len(t.Columns)), make([]plan.Expr, len(t.Columns))
	for o := range fresh {
		fresh[o] = b.column(excluded, o)
	}
	if oc.Replace {
		for _, o := range b.targetColumns(t, s.Columns) {
			if !slices.Contains(t.Keys[keys[0]], o) {
				update[o] = fresh[o]
			}
		}
	}
	for i := range oc.Set {
		b.assignment(sc, t, &oc.Set[i], update)
	}
	hit := c.matched(true)
	if oc.Where != nil {
		sc.clause = "WHERE"
		hit = plan.AndOf(hit, b.condition(sc, oc.Where, "WHERE"))
	}
	c.cond, c.values = []plan.Expr{c.matched(false), hit}, [][]plan.Expr{fresh, update}
	c.refuse(out, t, excluded)
	if s.Returning != nil {
		out.Returning = b.returning(&returningClause{s.Returning, s.With, t, s.Table, s.Alias}, nil)
		out.Rows = out.Returning.Rows
	}
	c.finish(out, join)
	return out
}

// refuse adds clauses in front for rows that could not be inserted if there were no conflict: PostgreSQL holds them to NOT NULL and
// CHECK all the same.
func (c *clauses) refuse(out *Change, t *catalog.Table, excluded *rel) {
	b := c.b
	var conds []plan.Expr
	var errs []*diag.Error
	for o := range t.Columns {
		if t.Columns[o].NotNull {
			conds = append(conds, plan.NewCall(plan.IsNull, types.TBool, b.column(excluded, o)))
			errs = append(errs, diag.Errorf(diag.NotNullViolation, out.Pos, "null value in column %q of relation %q violates not-null constraint",
				t.Columns[o].Name, t.Name))
		}
	}
	row := *excluded
	row.name, row.aliased = t.Name, false
	for _, ck := range t.Rules.Checks {
		e := b.condition(&scope{rels: []*rel{&row}, clause: "check constraints"}, parsed(ck.SQL), "CHECK")
		conds = append(conds, plan.Negate(&plan.Call{Op: plan.Coalesce, T: types.TBool, Args: []plan.Expr{e, plan.BoolConst(true)}}))
		errs = append(errs, diag.Errorf(diag.CheckViolation, out.Pos, "new row for relation %q violates check constraint %q", t.Name, ck.Name))
	}
	for i := range conds {
		out.Kinds, out.Refusals = append([]ChangeKind{RefuseRow}, out.Kinds...), append([]*diag.Error{errs[i]}, out.Refusals...)
		c.cond, c.values = append([]plan.Expr{conds[i]}, c.cond...), append([][]plan.Expr{nil}, c.values...)
	}
}

// arbiters are the keys that ON CONFLICT is about: the one that is named, or all.
func (b *binder) arbiters(t *catalog.Table, oc *ast.OnConflict) (keys []int) {
	switch {
	case !oc.Constraint.Empty():
		for k := range t.Keys {
			if strings.EqualFold(t.KeyName(k), oc.Constraint.Name) {
				return []int{k}
			}
		}
		fail(diag.UndefinedObject, oc.Constraint.Pos, "constraint %q for table %q does not exist", oc.Constraint.Name, t.Name)
	case len(oc.Columns) > 0:
		var want []int
		for _, id := range oc.Columns {
			if o := tableColumn(t, id); !slices.Contains(want, o) {
				want = append(want, o)
			}
		}
		slices.Sort(want)
		for k, key := range t.Keys {
			if key = slices.Sorted(slices.Values(key)); slices.Equal(key, want) {
				return []int{k}
			}
		}
		fail(diag.InvalidColumnReference, oc.Pos, "there is no unique or exclusion constraint matching the ON CONFLICT specification")
	}
	for k := range t.Keys {
		keys = append(keys, k)
	}
	return keys
}
