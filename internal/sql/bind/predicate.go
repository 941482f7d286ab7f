package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// comparison binds l op r, where both may be rows.
func (b *binder) comparison(s *scope, op plan.Op, e *ast.Binary) plan.Expr {
	lr, lrow := e.L.(*ast.Row)
	rr, rrow := e.R.(*ast.Row)
	if lrow || rrow {
		if !lrow || !rrow {
			l, r := b.expr(s, e.L), b.expr(s, e.R)
			if l.Type().Kind != types.Struct || r.Type().Kind != types.Struct {
				unsupported(e.Pos, "the comparison of a row with a value or subquery")
			}
			return b.compare(op, l, r, place{e.Pos, e.L.Position(), e.R.Position()})
		}
		return b.compareRows(s, op, lr, rr, e.Pos)
	}
	return b.compare(op, b.expr(s, e.L), b.expr(s, e.R), place{e.Pos, e.L.Position(), e.R.Position()})
}

// compareRows compares element by element: equality of all, or the order of the first that
// differs.
func (b *binder) compareRows(s *scope, op plan.Op, l, r *ast.Row, pos int) plan.Expr {
	if len(l.Elems) != len(r.Elems) {
		fail(diag.SyntaxError, pos, "unequal number of entries in row expressions")
	}
	if len(l.Elems) == 0 {
		fail(diag.FeatureNotSupported, pos, "cannot compare rows of zero length")
	}
	pair := func(op plan.Op, i int) plan.Expr {
		x, y := l.Elems[i], r.Elems[i]
		return b.compare(op, b.expr(s, x), b.expr(s, y), place{pos, x.Position(), y.Position()})
	}
	n := len(l.Elems)
	switch op {
	case plan.Eq, plan.Ne:
		parts := make([]plan.Expr, n)
		for i := range parts {
			parts[i] = pair(op, i)
		}
		if op == plan.Ne {
			return or(pos, parts...)
		}
		return and(pos, parts...)
	}
	return rowOrder(op, pair, n, pos)
}

// rowOrder compares rows of n fields by their order; pair compares the fields at a place:
// (a, b) <= (c, d) is a < c OR (a = c AND b <= d).
func rowOrder(op plan.Op, pair func(op plan.Op, i int) plan.Expr, n, pos int) plan.Expr {
	strict := op
	switch op {
	case plan.Le:
		strict = plan.Lt
	case plan.Ge:
		strict = plan.Gt
	}
	out := pair(op, n-1)
	for i := n - 2; i >= 0; i-- {
		out = or(pos, pair(strict, i), and(pos, pair(plan.Eq, i), out))
	}
	return out
}

func (b *binder) isNull(s *scope, e *ast.IsNull) plan.Expr {
	if row, ok := e.X.(*ast.Row); ok {
		// A row IS NULL if all its fields are, IS NOT NULL if none is.
		parts := make([]plan.Expr, len(row.Elems))
		for i, x := range row.Elems {
			parts[i] = negateIf(e.Not, b.nullTest(s, x, e.Pos), e.Pos)
		}
		return and(e.Pos, parts...)
	}
	x := b.expr(s, e.X)
	if x.Type().IsRow() && len(x.Type().Fields()) > 0 && !plan.IsNullConst(x) { // as with one that is written; those of NULL are NULL
		parts := make([]plan.Expr, len(x.Type().Fields()))
		for i := range parts {
			parts[i] = negateIf(e.Not, nullTestOf(b.fieldAt(x, i, e.Pos), e.Pos), e.Pos)
		}
		return and(e.Pos, parts...)
	}
	return negateIf(e.Not, nullTestOf(x, e.Pos), e.Pos)
}

func (b *binder) nullTest(s *scope, x ast.Expr, pos int) plan.Expr {
	return nullTestOf(b.expr(s, x), pos)
}

func nullTestOf(e plan.Expr, pos int) plan.Expr {
	if c, ok := e.(*plan.Const); ok {
		return plan.BoolConst(c.V.Null)
	}
	return &plan.Call{Op: plan.IsNull, T: types.TBool, Args: []plan.Expr{e}, Pos: pos}
}

// isBool binds IS TRUE, IS FALSE and IS UNKNOWN.
func (b *binder) isBool(s *scope, e *ast.IsBool) plan.Expr {
	x := b.boolean(s, e.X, "IS "+[...]string{"TRUE", "FALSE", "UNKNOWN"}[e.Value])
	op := plan.IsTrue
	switch e.Value {
	case ast.False:
		x = not(x, e.Pos)
	case ast.Unknown:
		op = plan.IsNull
	}
	return negateIf(e.Not, &plan.Call{Op: op, T: types.TBool, Args: []plan.Expr{x}, Pos: e.Pos}, e.Pos)
}

func (b *binder) isDistinct(s *scope, e *ast.IsDistinct) plan.Expr {
	lr, lrow := e.L.(*ast.Row)
	rr, rrow := e.R.(*ast.Row)
	if lrow && rrow && len(lr.Elems) == len(rr.Elems) && len(lr.Elems) > 0 {
		parts := make([]plan.Expr, len(lr.Elems))
		for i := range parts {
			parts[i] = b.notDistinct(s, lr.Elems[i], rr.Elems[i], e.Pos)
		}
		return negateIf(!e.Not, and(e.Pos, parts...), e.Pos)
	}
	return negateIf(!e.Not, b.notDistinct(s, e.L, e.R, e.Pos), e.Pos)
}

func (b *binder) notDistinct(s *scope, l, r ast.Expr, pos int) plan.Expr {
	return b.compare(plan.NotDistinct, b.expr(s, l), b.expr(s, r), place{pos, l.Position(), r.Position()})
}

// between binds x BETWEEN lo AND hi as two comparisons.
func (b *binder) between(s *scope, e *ast.Between) plan.Expr {
	x := b.expr(s, e.X)
	lo, hi := b.expr(s, e.Lo), b.expr(s, e.Hi)
	atLo := place{e.Pos, e.X.Position(), e.Lo.Position()}
	atHi := place{e.Pos, e.X.Position(), e.Hi.Position()}
	within := and(e.Pos, b.compare(plan.Ge, x, lo, atLo), b.compare(plan.Le, b.again(s, e.X, x), hi, atHi))
	if e.Symmetric {
		within = or(e.Pos, within, and(e.Pos,
			b.compare(plan.Ge, b.again(s, e.X, x), b.again(s, e.Hi, hi), atHi),
			b.compare(plan.Le, b.again(s, e.X, x), b.again(s, e.Lo, lo), atLo)))
	}
	return negateIf(e.Not, within, e.Pos)
}

// inList binds x IN (a, b, …).
func (b *binder) inList(s *scope, e *ast.InList) plan.Expr {
	if row, ok := e.X.(*ast.Row); ok {
		parts := make([]plan.Expr, len(e.List))
		for i, y := range e.List {
			other, ok := y.(*ast.Row)
			if !ok {
				fail(diag.SyntaxError, y.Position(), "unequal number of entries in row expressions")
			}
			parts[i] = b.compareRows(s, plan.Eq, row, other, e.Pos)
		}
		return negateIf(e.Not, or(e.Pos, parts...), e.Pos)
	}
	x := b.expr(s, e.X)
	list := make([]plan.Expr, len(e.List))
	for i, y := range e.List {
		list[i] = b.expr(s, y)
	}
	at := func(i int) place { return place{e.Pos, e.X.Position(), e.List[i].Position()} }
	return negateIf(e.Not, b.anyOf(s, e.X, x, list, at), e.Pos)
}

// anyOf is x = list[0] OR x = list[1] OR …: one InList if all are constants.
func (b *binder) anyOf(s *scope, xa ast.Expr, x plan.Expr, list []plan.Expr, at func(int) place) plan.Expr {
	if len(list) == 1 {
		return b.compare(plan.Eq, x, list[0], at(0))
	}
	if e := b.constList(x, list, at); e != nil {
		return e
	}
	parts := make([]plan.Expr, len(list))
	for i, y := range list {
		if i > 0 {
			x = b.again(s, xa, x)
		}
		parts[i] = b.compare(plan.Eq, x, y, at(i))
	}
	return or(at(0).op, parts...)
}

// constList makes an InList of constants, or nil if some element is not constant or
// the needle would need a cast that differs between elements.
func (b *binder) constList(x plan.Expr, list []plan.Expr, at func(int) place) plan.Expr {
	if _, ok := x.(*plan.Const); ok || x.Type().Keyed() {
		return nil
	}
	for _, y := range list {
		if _, ok := y.(*plan.Const); !ok {
			return nil
		}
	}
	args := make([]plan.Expr, 1, len(list)+1)
	args[0] = x
	null := false
	for i, y := range list {
		l, r, ok := b.unify(x, y, at(i))
		if !ok {
			panic(noOperator("=", x, y, at(i).op))
		}
		if l != x {
			return b.wideList(x, list, at)
		}
		c := r.(*plan.Const)
		switch {
		case c.V.Null:
			null = true
		case c.V.Type != x.Type() && c.V.Type.Kind == types.Decimal:
			return b.wideList(x, list, at)
		default:
			args = append(args, r)
		}
	}
	return inConsts(args, null, at(0).op)
}

// wideList is constList for a needle that has to be cast, to a type common to all; nil if a
// constant is too large for that.
func (b *binder) wideList(x plan.Expr, list []plan.Expr, at func(int) place) plan.Expr {
	all := append([]plan.Expr{x}, list...)
	t := b.commonType(all, func(i int) int { return at(max(0, i-1)).r }, "IN")
	args := []plan.Expr{b.convert(x, t, at(0).l)}
	null := false
	for i, y := range list {
		if y.(*plan.Const).V.Null {
			null = true
			continue
		}
		if t.Kind == types.Decimal && y.Type().Kind != types.Unknown && !fitsScale(y, int(t.Scale)) {
			return nil
		}
		args = append(args, b.convert(y, t, at(i).r))
	}
	return inConsts(args, null, at(0).op)
}

// inConsts is needle IN (constants), which NULL among the constants makes unknown where it
// would be false.
func inConsts(args []plan.Expr, null bool, pos int) plan.Expr {
	var e plan.Expr
	switch len(args) {
	case 1:
		return plan.NullConst(types.TBool)
	case 2:
		e = &plan.Call{Op: plan.Eq, T: types.TBool, Args: args, Pos: pos}
	default:
		e = &plan.Call{Op: plan.InList, T: types.TBool, Args: args, Pos: pos}
	}
	if null {
		e = or(pos, e, plan.NullConst(types.TBool))
	}
	return e
}
