package bind

import (
	"strconv"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// orderKey is a bound ORDER BY entry: an output column, or an expression over the
// input that becomes a hidden column.
type orderKey struct {
	out        int
	x          plan.Expr // nil: output column number out
	col        plan.ColID
	at         span
	desc       bool
	nullsFirst bool
}

// orderBy binds ORDER BY of a SELECT.
func (b *binder) orderBy(s *scope, order []ast.OrderItem, items []item, distinct bool) []orderKey {
	if len(order) == 0 {
		return nil
	}
	keys := make([]orderKey, 0, len(order))
	for i := range order {
		o := &order[i]
		if o.All {
			for k := range items {
				keys = append(keys, direction(o, orderKey{out: k}))
			}
			continue
		}
		for _, k := range eachColumns(b, s, func() orderKey { return b.orderKey(s, o.X, items, "ORDER BY") }) {
			if k.x != nil && distinct {
				fail(diag.InvalidColumnReference, k.at.pos, "for SELECT DISTINCT, ORDER BY expressions must appear in select list")
			}
			keys = append(keys, direction(o, k))
		}
	}
	return keys
}

// direction sets ASC, DESC and NULLS of a key; NULL counts as the largest value.
func direction(o *ast.OrderItem, k orderKey) orderKey {
	k.desc = o.Desc
	k.nullsFirst = o.Nulls == ast.NullsFirst || o.Nulls == ast.NullsDefault && o.Desc
	return k
}

// orderKey finds what an ORDER BY (or DISTINCT ON) entry means: the number of an
// output column, the name of one, or an expression over the columns of FROM.
func (b *binder) orderKey(s *scope, x ast.Expr, items []item, clause string) orderKey {
	k := orderKey{at: span{pos: x.Position(), lo: len(s.aggs.refs)}}
	if n, ok := ordinal(x, len(items), clause); ok {
		k.out = n
		return k
	}
	if name, ok := bareName(x); ok {
		found := -1
		for i := range items {
			if items[i].name != name {
				continue
			}
			if found >= 0 && !plan.EqualExpr(items[i].x, items[found].x) {
				fail(diag.AmbiguousColumn, k.at.pos, "%s %q is ambiguous", clause, name)
			}
			found = i
		}
		if found >= 0 {
			k.out = found
			return k
		}
	}
	outer := b.unnests
	b.unnests = s
	e := b.maybeLiteralKey(s, x, b.settle(b.expr(s, x)))
	b.unnests = outer
	refuseRowsInside(e)
	k.at.hi = len(s.aggs.refs)
	for i := range items {
		if plan.EqualExpr(e, items[i].x) {
			k.out = i
			return k
		}
	}
	k.x = e
	return k
}

// ordinal reads an entry that is a plain number as the place of an output column.
func ordinal(x ast.Expr, n int, clause string) (int, bool) {
	lit, ok := x.(*ast.Literal)
	if !ok || lit.Kind == ast.LitString || lit.Kind == ast.LitNull || lit.Kind == ast.LitBool {
		return 0, false
	}
	if lit.Kind != ast.LitInt {
		fail(diag.SyntaxError, lit.Pos, "non-integer constant in %s", clause)
	}
	i, err := strconv.Atoi(lit.Text)
	if err != nil || i < 1 || i > n {
		fail(diag.InvalidColumnReference, lit.Pos, "%s position %s is not in select list", clause, lit.Text)
	}
	return i - 1, true
}

// bareName is the name if x is an unqualified column.
func bareName(x ast.Expr) (string, bool) {
	if c, ok := x.(*ast.ColumnRef); ok && len(c.Name) == 1 {
		return c.Name[0].Name, true
	}
	return "", false
}

// orderOutput binds ORDER BY over a set operation or VALUES, which may name output columns
// only.
func (b *binder) orderOutput(order []ast.OrderItem, r result) []orderKey {
	var keys []orderKey
	for i := range order {
		o := &order[i]
		if o.All {
			for _, c := range r.cols {
				keys = append(keys, direction(o, orderKey{col: c.id}))
			}
			continue
		}
		k := orderKey{out: -1}
		pos := o.X.Position()
		if n, ok := ordinal(o.X, len(r.cols), "ORDER BY"); ok {
			k.out = n
		} else if name, ok := bareName(o.X); ok {
			names := make([]string, len(r.cols))
			for j, c := range r.cols {
				names[j] = c.name
				if c.name == name && k.out >= 0 {
					fail(diag.AmbiguousColumn, pos, "ORDER BY %q is ambiguous", name)
				}
				if c.name == name {
					k.out = j
				}
			}
			if k.out < 0 {
				panic(diag.Errorf(diag.UndefinedColumn, pos, "column %q does not exist", name).
					WithHint(diag.DidYouMean(name, names)))
			}
		} else {
			panic(diag.Errorf(diag.FeatureNotSupported, pos, "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
				WithDetail("only result column names can be used, not expressions or functions").
				WithHint("put the query in a FROM clause and sort around it"))
		}
		k.col = r.cols[k.out].id
		keys = append(keys, direction(o, k))
	}
	return keys
}
