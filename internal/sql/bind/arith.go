package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// binary binds an infix operator.
func (b *binder) binary(s *scope, e *ast.Binary) plan.Expr {
	if op := comparison(e.Op); op != plan.OpNone {
		return b.comparison(s, op, e)
	}
	l, r := b.expr(s, e.L), b.expr(s, e.R)
	at := place{e.Pos, e.L.Position(), e.R.Position()}
	switch e.Op {
	case "+":
		return b.arith(plan.Add, l, r, at)
	case "-":
		if l.Type() == types.TJSONB {
			if x := b.operator("-", at, l, r); x != nil {
				return x
			}
		}
		return b.arith(plan.Sub, l, r, at)
	case "*":
		return b.arith(plan.Mul, l, r, at)
	case "/":
		return b.arith(plan.Div, l, r, at)
	case "%":
		return b.arith(plan.Mod, l, r, at)
	case "^":
		return b.power(l, r, at)
	case "||":
		return b.concat(l, r, at)
	}
	if x := b.infix(e.Op, l, r, at); x != nil {
		return x
	}
	panic(noOperator(e.Op, l, r, e.Pos))
}

// comparison is the plan's operation for a comparison operator.
func comparison(op string) plan.Op {
	switch op {
	case "=":
		return plan.Eq
	case "<>":
		return plan.Ne
	case "<":
		return plan.Lt
	case "<=":
		return plan.Le
	case ">":
		return plan.Gt
	case ">=":
		return plan.Ge
	}
	return plan.OpNone
}

// signedNumber is the text of a literal with the minuses before it. The sign belongs to the number:
// -2147483648 is an INTEGER, and - -2147483648 a BIGINT.
func signedNumber(e *ast.Unary) (text string, pos int) {
	if e.Op != "-" {
		return "", 0
	}
	switch x := e.X.(type) {
	case *ast.Unary:
		text, pos = signedNumber(x)
	case *ast.Literal:
		if x.Kind == ast.LitInt || x.Kind == ast.LitDecimal || x.Kind == ast.LitFloat {
			text, pos = x.Text, x.Pos
		}
	}
	switch {
	case text == "":
		return "", 0
	case text[0] == '-':
		return text[1:], pos
	}
	return "-" + text, pos
}

// unary binds a prefix operator.
func (b *binder) unary(s *scope, e *ast.Unary) plan.Expr {
	if text, pos := signedNumber(e); text != "" {
		v, err := types.ParseNumber(text)
		check(err, pos)
		return &plan.Const{V: v}
	}
	x := b.expr(s, e.X)
	if y := b.prefixed(e.Op, x, e.Pos, e.X.Position()); y != nil {
		return y
	}
	t := x.Type()
	if t.Kind == types.Unknown { // '5' after a sign is a number
		x = b.convert(x, types.TFloat64, e.X.Position())
		t = x.Type()
	}
	ok := t.IsNumeric() || t.Kind == types.Interval
	switch {
	case e.Op == "+" && ok:
		return x
	case e.Op == "-" && ok:
		return b.negate(x, e.Pos)
	}
	panic(diag.Errorf(diag.UndefinedFunction, e.Pos, "operator does not exist: %s %s", e.Op, t.SQLName()))
}

// negate is -x; a constant that has no negative (the least integer) is left to fail at run time.
func (b *binder) negate(x plan.Expr, pos int) plan.Expr {
	if c, ok := x.(*plan.Const); ok && !x.Type().IsUnsigned() {
		if v, err := types.Neg(c.V); err == nil {
			return &plan.Const{V: v}
		}
	}
	t := x.Type()
	if t.IsUnsigned() {
		t = t.Signed()
	}
	return &plan.Call{Op: plan.Neg, T: t, Args: []plan.Expr{b.convert(x, t, pos)}, Pos: pos}
}

// arith binds + - * / % over numbers, dates and intervals.
func (b *binder) arith(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	lt, rt := l.Type(), r.Type()
	// A literal takes the other side's type, as in PostgreSQL; next to a date or timestamp
	// only a subtraction has two operands of one type, and + wants an interval.
	if lt.Kind == types.Unknown || rt.Kind == types.Unknown {
		l, r = b.arithLiterals(op, l, r, at)
		lt, rt = l.Type(), r.Type()
	}
	if lt.IsNumeric() && rt.IsNumeric() {
		return b.numeric(op, l, r, at)
	}
	if e := b.dateArith(op, l, r, at); e != nil {
		return e
	}
	panic(noOperator(op.String(), l, r, at.op))
}

func (b *binder) arithLiterals(op plan.Op, l, r plan.Expr, at place) (plan.Expr, plan.Expr) {
	want := func(e, other plan.Expr, pos int) plan.Expr {
		t := other.Type()
		switch {
		case t.Kind == types.Unknown:
			panic(diag.Errorf(diag.AmbiguousFunction, at.op, "operator is not unique: unknown %s unknown", op).
				WithHint("could not choose a best candidate operator; add explicit casts"))
		case t.Kind == types.Decimal:
			return b.literal(e, t, pos)
		case t.IsCalendar() && op == plan.Add, t.Kind == types.Time, t.Kind == types.TimeTZ:
			return b.convert(e, types.TInterval, pos)
		}
		return b.convert(e, t, pos)
	}
	if l.Type().Kind == types.Unknown {
		return want(l, r, at.l), r
	}
	return l, want(r, l, at.r)
}

// numeric binds arithmetic on numbers. The result's type is types' business; here the
// operands get the casts that generated code expects.
func (b *binder) numeric(op plan.Op, l, r plan.Expr, at place) plan.Expr {
	lt, rt := l.Type(), r.Type()
	if lt.Kind == types.Decimal || rt.Kind == types.Decimal {
		lt, rt = tight(l), tight(r)
	}
	var t types.Type
	ok := true
	switch op {
	case plan.Add, plan.Sub:
		t, ok = types.AddType(lt, rt)
	case plan.Mul:
		t, ok = types.MulType(lt, rt)
	case plan.Div:
		t, ok = types.DivType(lt, rt)
	case plan.Mod:
		t, ok = types.ModType(lt, rt)
	}
	if !ok {
		panic(noOperator(op.String(), l, r, at.op))
	}
	switch {
	case t.Kind == types.Decimal && (op == plan.Mul || op == plan.Div):
		l, r = b.toDecimal(l, at.l), b.toDecimal(r, at.r)
	case t.Kind == types.Decimal:
		l, r = b.toScale(l, int(t.Scale), at.l), b.toScale(r, int(t.Scale), at.r)
	default:
		l, r = b.convert(l, t, at.l), b.convert(r, t, at.r)
	}
	return fold(op, l, r, t, at.op)
}

// toDecimal makes an integer a decimal without digits after the point.
func (b *binder) toDecimal(e plan.Expr, pos int) plan.Expr {
	if e.Type().Kind == types.Decimal {
		return e
	}
	return b.toScale(e, 0, pos)
}

// fold computes arithmetic on constants. What fails is left to fail when it is run, and
// only if it is: it may stand in a branch that no row takes.
func fold(op plan.Op, l, r plan.Expr, t types.Type, pos int) plan.Expr {
	lc, ok1 := l.(*plan.Const)
	rc, ok2 := r.(*plan.Const)
	if ok1 && ok2 {
		var v types.Value
		var err error
		switch op {
		case plan.Add:
			v, err = types.Add(lc.V, rc.V, t)
		case plan.Sub:
			v, err = types.Sub(lc.V, rc.V, t)
		case plan.Mul:
			v, err = types.Mul(lc.V, rc.V, t)
		case plan.Div:
			v, err = types.Div(lc.V, rc.V, t)
		case plan.Mod:
			v, err = types.Mod(lc.V, rc.V, t)
		}
		if err == nil {
			return &plan.Const{V: v}
		}
	}
	return &plan.Call{Op: op, T: t, Args: []plan.Expr{l, r}, Pos: pos}
}

// power binds x ^ y.
func (b *binder) power(l, r plan.Expr, at place) plan.Expr {
	if !implicit(l.Type(), types.TFloat64) || !implicit(r.Type(), types.TFloat64) {
		panic(noOperator("^", l, r, at.op))
	}
	args := []plan.Expr{b.convert(l, types.TFloat64, at.l), b.convert(r, types.TFloat64, at.r)}
	return &plan.Call{Op: plan.Power, T: types.TFloat64, Args: args, Pos: at.op}
}

// concat binds x || y: one side must be text, the other is made text.
func (b *binder) concat(l, r plan.Expr, at place) plan.Expr {
	lk, rk := l.Type().Kind, r.Type().Kind
	if e := b.concatOther(l, r, at); e != nil {
		return e
	}
	text := func(k types.Kind) bool { return k == types.Text || k == types.Unknown }
	if !text(lk) && !text(rk) {
		panic(noOperator("||", l, r, at.op))
	}
	l, r = b.convert(l, types.TText, at.l), b.convert(r, types.TText, at.r)
	lc, ok1 := l.(*plan.Const)
	rc, ok2 := r.(*plan.Const)
	switch {
	case ok1 && ok2 && (lc.V.Null || rc.V.Null):
		return plan.NullConst(types.TText)
	case ok1 && ok2:
		return &plan.Const{V: types.TextValue(lc.V.S + rc.V.S)}
	}
	// a || b || c is one operation.
	if c, ok := l.(*plan.Call); ok && c.Op == plan.Concat {
		return &plan.Call{Op: plan.Concat, T: types.TText, Args: append(c.Args[:len(c.Args):len(c.Args)], r), Pos: at.op}
	}
	return &plan.Call{Op: plan.Concat, T: types.TText, Args: []plan.Expr{l, r}, Pos: at.op}
}
