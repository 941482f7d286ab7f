package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// join binds l JOIN r.
func (b *binder) join(s *scope, left []*rel, t *ast.Join) (plan.Node, []*rel) {
	ln, lr := b.tableExpr(s, left, t.L)
	seen := b.lateral
	rn, rr := b.tableExpr(s, append(left[:len(left):len(left)], lr...), t.R)
	distinctNames(lr, rr)
	dependent := b.lateral != seen && dependsOn(rn, ln)
	if dependent && (t.Kind == ast.RightJoin || t.Kind == ast.FullJoin) {
		panic(diag.Errorf(diag.InvalidColumnReference, t.Pos, "invalid reference to FROM-clause entry").
			WithDetail("the combining JOIN type must be INNER or LEFT for a LATERAL reference"))
	}

	rels := append(lr[:len(lr):len(lr)], rr...)
	on := &scope{outer: s.outer, depth: s.depth, rels: rels, clause: "JOIN conditions"}
	var preds []plan.Expr
	var merged *rel
	using := t.Using
	if t.Natural {
		using = commonColumns(lr, rr)
	}
	switch {
	case t.On != nil:
		beyond, hint := b.beyond, b.beyondHint
		b.beyond, b.beyondHint = left, "JOIN binds closer than a comma: write CROSS JOIN instead of the comma"
		preds = plan.Conjuncts(nil, b.condition(on, t.On, "JOIN/ON"))
		b.beyond, b.beyondHint = beyond, hint
	case len(using) > 0:
		merged, preds = b.using(s, t, using, lr, rr)
	}

	if t.ByPlace {
		if dependent {
			unsupported(t.Pos, "a POSITIONAL JOIN with a LATERAL subquery")
		}
		left, l := b.ranked(ln, plan.RowNumber, nil, nil)
		right, r := b.ranked(rn, plan.RowNumber, nil, nil)
		ln, rn, preds = left, right, []plan.Expr{plan.Compare(plan.Eq, l, r)}
	}
	j := &plan.Join{Left: ln, Right: rn, On: preds, Dependent: dependent}
	switch t.Kind {
	case ast.InnerJoin, ast.CrossJoin:
		j.Kind = plan.Inner
	case ast.LeftJoin:
		j.Kind = plan.Left
		b.pad(rr, &j.Right)
	case ast.RightJoin:
		j.Kind, j.Left, j.Right = plan.Left, rn, ln
		b.pad(lr, &j.Right)
	case ast.FullJoin:
		j.Kind = plan.Full
		b.pad(lr, &j.Left)
		b.pad(rr, &j.Right)
	case ast.SemiJoin:
		j.Kind, rels = plan.Semi, lr
	case ast.AntiJoin:
		j.Kind, rels = plan.Anti, lr
	}
	if merged != nil {
		rels = append([]*rel{merged}, rels...)
	}
	var node plan.Node = j
	if t.AsOf {
		node = b.asOf(j, t, rels)
	}
	if t.Alias != nil {
		r := b.aliasedJoin(rels, t.Pos)
		applyAlias(r, t.Alias)
		rels = []*rel{r}
	}
	return node, rels
}

// commonColumns are the names that NATURAL joins on, in the order of the left side.
func commonColumns(l, r []*rel) []ast.Ident {
	var names []ast.Ident
	right := scope{rels: r}
	for _, rel := range l {
		for i := range rel.cols {
			c := &rel.cols[i]
			if c.hidden {
				continue
			}
			if _, ok := right.find(c.name, -1); ok {
				names = append(names, ast.Ident{Name: c.name, Pos: -1})
			}
		}
	}
	return names
}

// using binds USING (a, b): equalities, and a nameless relation that holds the merged columns
// and so comes first in *. The columns they are made of are hidden.
func (b *binder) using(s *scope, t *ast.Join, names []ast.Ident, lr, rr []*rel) (*rel, []plan.Expr) {
	var preds []plan.Expr
	merged := &rel{pos: t.Pos}
	for i, id := range names {
		pos := id.Pos
		if pos < 0 {
			pos = t.Pos
		}
		lc := usingColumn(lr, id.Name, pos, "left")
		rc := usingColumn(rr, id.Name, pos, "right")
		le, re := b.mustReadExpr(b.column(lc.rel, lc.i), pos), b.mustReadExpr(b.column(rc.rel, rc.i), pos)
		op := plan.Eq
		if t.AsOf && i == len(names)-1 {
			op = plan.Ge
		}
		preds = append(preds, b.compare(op, le, re, place{pos, pos, pos}))
		if t.Kind == ast.SemiJoin || t.Kind == ast.AntiJoin {
			continue // the right side is gone above
		}
		typ, _ := types.CommonType(le.Type(), re.Type())
		e := b.convert(le, typ, pos)
		switch t.Kind {
		case ast.RightJoin:
			e = b.convert(re, typ, pos)
		case ast.FullJoin:
			e = &plan.Call{Op: plan.Coalesce, T: typ, Args: []plan.Expr{e, b.convert(re, typ, pos)}, Pos: pos}
		}
		c := relCol{name: id.Name, typ: typ, expr: e}
		if r, ok := e.(*plan.Ref); ok {
			c.id = r.ID
		}
		merged.cols = append(merged.cols, c)
		lc.rel.cols[lc.i].hidden = true
		rc.rel.cols[rc.i].hidden = true
	}
	if len(merged.cols) == 0 {
		return nil, preds
	}
	return merged, preds
}

// usingColumn finds a column of USING on one side of the join.
func usingColumn(rels []*rel, name string, pos int, side string) (at found) {
	for _, r := range rels {
		for i := range r.cols {
			if r.cols[i].name != name || r.cols[i].hidden {
				continue
			}
			if at.rel != nil {
				fail(diag.AmbiguousColumn, pos, "common column name %q appears more than once in %s table", name, side)
			}
			at = found{rel: r, i: i}
		}
	}
	if at.rel == nil {
		var names []string
		for _, r := range rels {
			names = append(names, r.names()...)
		}
		panic(diag.Errorf(diag.UndefinedColumn, pos,
			"column %q specified in USING clause does not exist in %s table", name, side).
			WithHint(diag.DidYouMean(name, names)))
	}
	return at
}

// aliasedJoin makes one relation of a join in parentheses that has a name.
func (b *binder) aliasedJoin(rels []*rel, pos int) *rel {
	j := &rel{pos: pos}
	for _, r := range rels {
		for i := range r.cols {
			if c := &r.cols[i]; !c.hidden {
				e := b.column(r, i)
				j.cols = append(j.cols, relCol{name: c.name, typ: c.typ, id: c.id, expr: e})
			}
		}
	}
	return j
}
