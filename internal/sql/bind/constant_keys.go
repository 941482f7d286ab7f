package bind

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A key of ROLLUP, CUBE or GROUPING SETS is NULL in the groups whose set lacks it, also a key that
// is a constant: group by rollup (1 + 1). By then binding has made 1 + 1 the constant 2, which
// does not tell any more what it was written as. So while a SELECT with grouping sets is bound, an
// expression that is a constant and is written as a key is, becomes a reference to a column that
// stands for the key.

// constantKeys are the constants among the keys of a SELECT with grouping sets.
type constantKeys struct {
	written map[string]bool // keys, and output columns that keys may name: see textOf
	found   []constantKey
}

type constantKey struct {
	text string
	col  plan.ColID
	c    *plan.Const
}

// constantKeys notes how the keys of a SELECT are written; nil if it has no grouping sets.
func (b *binder) constantKeys(s *scope, sel *ast.Select) *constantKeys {
	sets := false
	for i := range sel.GroupBy {
		sets = sets || sel.GroupBy[i].Kind != ast.GroupExpr
	}
	if !sets {
		return nil
	}
	k := &constantKeys{written: map[string]bool{}}
	named := false
	var add func(x ast.Expr)
	add = func(x ast.Expr) {
		if row, ok := x.(*ast.Row); ok {
			for _, e := range row.Elems {
				add(e)
			}
			return
		}
		_, number := x.(*ast.Literal)
		_, name := bareName(x)
		named = named || number || name
		k.written[b.textOf(s, x)] = true
	}
	var all func(list []ast.GroupItem)
	all = func(list []ast.GroupItem) {
		for i := range list {
			for _, x := range list[i].Exprs {
				add(x)
			}
			all(list[i].Sets)
		}
	}
	all(sel.GroupBy)
	if named { // it does not hurt to take an output column for a key that is none
		for i := range sel.Items {
			add(sel.Items[i].X)
		}
	}
	return k
}

// textOf tells how an expression is written. Columns are told apart by what they are, not by how
// they are named.
func (b *binder) textOf(s *scope, x ast.Expr) string {
	return ast.FormatNamed(x, func(e *ast.ColumnRef) string {
		if c, ok := b.lookup(s, e); ok {
			return fmt.Sprintf("%p.%d", c.rel, c.i)
		}
		return e.Name.String()
	})
}

// maybeKey is e, the meaning of x, or the column that stands for it if it is a constant key. What
// is inside of an aggregate sees rows, not groups.
func (b *binder) maybeKey(s *scope, x ast.Expr, e plan.Expr) plan.Expr {
	c, ok := e.(*plan.Const)
	if !ok || b.aggregating(s) || isLiteral(x) || c.V.Type.Kind == types.Unknown {
		return e
	}
	k := s.aggs.constants
	text := b.textOf(s, x)
	if !k.written[text] {
		return e
	}
	return b.constantKey(k, text, c)
}

// aggregating reports that arguments of an aggregate in s are being bound.
func (b *binder) aggregating(s *scope) bool {
	for f := b.agg; f != nil; f = f.outer {
		if f.scope == s {
			return true
		}
	}
	return false
}

// maybeLiteralKey does the same for an output column or a key that is nothing but a literal: a
// literal inside of another expression is only itself. Literals are keys by their value: 2 is 2::int.
func (b *binder) maybeLiteralKey(s *scope, x ast.Expr, e plan.Expr) plan.Expr {
	c, ok := e.(*plan.Const)
	if !ok || s.aggs.constants == nil || !isLiteral(x) {
		return e
	}
	c = b.settle(c).(*plan.Const)
	return b.constantKey(s.aggs.constants, fmt.Sprintf("%v %#v", c.V.Type, c.V), c)
}

// isLiteral reports a literal, maybe with its type.
func isLiteral(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Literal, *ast.TypedLiteral, *ast.Param:
		return true
	case *ast.Interval:
		return x.X == nil
	case *ast.Cast:
		return isLiteral(x.X)
	}
	return false
}

func (b *binder) constantKey(k *constantKeys, text string, c *plan.Const) plan.Expr {
	for i := range k.found {
		if k.found[i].text == text {
			return b.ref(k.found[i].col)
		}
	}
	col := b.cols.New("key", c.V.Type, !c.V.Null)
	k.found = append(k.found, constantKey{text, col, c})
	return b.ref(col)
}

// value is the constant that a column stands for; nil for other columns.
func (k *constantKeys) value(id plan.ColID) plan.Expr {
	if k == nil {
		return nil
	}
	for i := range k.found {
		if k.found[i].col == id {
			return k.found[i].c
		}
	}
	return nil
}

// computed are the keys as they are computed over the input: constants themselves.
func (g *grouper) computed() []plan.Expr {
	if g.rows != nil {
		return g.rows
	}
	if g.s.aggs.constants == nil {
		return g.by.keys
	}
	out := make([]plan.Expr, len(g.by.keys))
	for i, k := range g.by.keys {
		out[i] = plan.Substitute(k, g.s.aggs.constants.value)
	}
	return out
}
