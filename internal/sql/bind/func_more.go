package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// arithFunc is an operator in function syntax: add(a, b).
func arithFunc(op plan.Op) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		return b.arith(op, c.args[0], c.args[1], place{c.pos, c.argPos(0), c.argPos(1)})
	}
}

// ageFunc is age(x): from x to the start of today.
func (b *binder) ageFunc(c *call) plan.Expr {
	today := b.convert(b.currentDate(c), types.TTimestamp, c.pos)
	return plan.NewApply(funcs.Function("age"), types.TInterval, c.pos, today, c.args[0])
}

// constantOrNull is the first argument unless another is NULL.
func (b *binder) constantOrNull(c *call) plan.Expr {
	x := b.settle(c.args[0])
	null := make([]plan.Expr, 0, len(c.args))
	for _, a := range c.args[1:] {
		null = append(null, &plan.Call{Op: plan.IsNull, T: types.TBool, Args: []plan.Expr{b.settle(a)}, Pos: c.pos})
	}
	return &plan.Call{Op: plan.Case, T: x.Type(), Args: []plan.Expr{or(c.pos, null...), plan.NullConst(x.Type()), x}, Pos: c.pos}
}

// ifFunc is if(condition, a, b).
func (b *binder) ifFunc(c *call) plan.Expr {
	t := b.commonType(c.args[1:], func(i int) int { return c.argPos(i + 1) }, c.upper())
	yes, no := b.convert(c.args[1], t, c.argPos(1)), b.convert(c.args[2], t, c.argPos(2))
	return &plan.Call{Op: plan.Case, T: t, Args: []plan.Expr{c.args[0], yes, no}, Pos: c.pos}
}

// overlapsFunc is (a, b) OVERLAPS (c, d), in which b and d may be how long it takes.
func (b *binder) overlapsFunc(c *call) plan.Expr {
	t := types.TTimestamp
	for i, x := range c.args {
		switch k := x.Type(); {
		case k.Kind == types.TimestampTZ:
			t = k
		case k.Kind == types.Time && i == 0:
			t = k
		case k.IsCalendar(), k.Kind == types.Unknown, k.Kind == types.Time, k.Kind == types.Interval && i%2 == 1:
		default:
			panic(noFunction(c.name, c.args, c.pos))
		}
	}
	for i := range c.args {
		if c.args[i].Type().Kind != types.Interval {
			c.args[i] = b.convert(c.args[i], t, c.argPos(i))
			continue
		}
		at := place{op: c.pos, l: c.argPos(i - 1), r: c.argPos(i)}
		c.args[i] = b.dateArith(plan.Add, c.args[i-1], c.args[i], at)
	}
	return plan.NewApply(funcs.Overlaps, types.TBool, c.pos, c.args...)
}

func (b *binder) isNullFunc(c *call) plan.Expr {
	return &plan.Call{Op: plan.IsNull, T: types.TBool, Args: []plan.Expr{b.settle(c.args[0])}, Pos: c.pos}
}

// zeroIfNull is coalesce(x, 0).
func (b *binder) zeroIfNull(c *call) plan.Expr {
	t := c.args[0].Type()
	zero := b.convert(&plan.Const{V: types.IntValue(types.TInt32, 0)}, t, c.pos)
	return &plan.Call{Op: plan.Coalesce, T: t, Args: []plan.Expr{c.args[0], zero}, Pos: c.pos}
}

// typeOfFunc is the name of a type: pg_typeof says it as PostgreSQL does, typeof as DuckDB.
func (b *binder) typeOfFunc(c *call) plan.Expr {
	t := c.args[0].Type()
	name := t.SQLName()
	if t.Kind == types.Timestamp || t.Kind == types.Time {
		name += " without time zone"
	}
	if t.Kind == types.Text && t.Len > 0 {
		name = "character varying"
	}
	if r, ok := b.regs[c.args[0]]; ok {
		name = r.kind
	} else if x, ok := c.f.Args[0].X.(*ast.Cast); ok && t.Kind == types.Text {
		switch x.Type.Name { // texts, all of them, which the types do not tell apart
		case "varchar", "character varying":
			name = "character varying"
		case "char", "character", "bpchar":
			name = "character"
		}
	}
	if c.name == "typeof" {
		if name = t.String(); t.Kind == types.Unknown && c.args[0].(*plan.Const).V.Null {
			name = `"NULL"`
		} else if t.Kind == types.Unknown {
			name = types.TText.String()
		}
	}
	return &plan.Const{V: types.TextValue(name)}
}

// scaleFunc is the number of digits after the point, which the type knows.
func (b *binder) scaleFunc(c *call) plan.Expr {
	x := c.args[0]
	scale := &plan.Const{V: types.IntValue(types.TInt32, int64(x.Type().Scale))}
	null := &plan.Call{Op: plan.IsNull, T: types.TBool, Args: []plan.Expr{x}, Pos: c.pos}
	return &plan.Call{Op: plan.Case, T: types.TInt32, Args: []plan.Expr{null, plan.NullConst(types.TInt32), scale}, Pos: c.pos}
}

// toNumber is to_number(text, format): the format says how many digits the number has after its point.
func (b *binder) toNumber(c *call) plan.Expr {
	f, ok := c.args[1].(*plan.Const)
	if !ok { // the row's type has room for most
		return plan.NewApply(funcs.Function("to_number"), types.TDecimal(types.MaxPrecision, 10), c.pos, c.args...)
	}
	if f.V.Null {
		return plan.NullConst(types.TDecimal(types.MaxPrecision, 0))
	}
	scale, err := funcs.NumberScale(f.V.S)
	if err != nil {
		panic(err.(*diag.Error).At(c.argPos(1)))
	}
	return plan.NewApply(funcs.Function("to_number"), types.TDecimal(types.MaxPrecision, min(scale, types.MaxPrecision)), c.pos, c.args...)
}

// infix binds the operators that are rows of package funcs, or other spellings of such.
func (b *binder) infix(op string, l, r plan.Expr, at place) plan.Expr {
	switch op {
	case "**":
		return b.power(l, r, at)
	case "//":
		if !l.Type().IsInteger() || !r.Type().IsInteger() {
			unsupported(at.op, "// of numbers that are not integers")
		}
		return b.arith(plan.Div, l, r, at)
	case "~~", "~~*", "!~~", "!~~*":
		x, p := b.settle(l), b.settle(r)
		if x.Type().Kind != types.Text || p.Type().Kind != types.Text {
			return nil
		}
		e := b.match(x, p, `\`, strings.HasSuffix(op, "*"), at.op, at.r)
		return negateIf(op[0] == '!', e, at.op)
	case "~~~":
		return b.operator("glob", at, l, r)
	}
	return b.operator(op, at, l, r)
}

// prefixed binds prefix operators that are functions; nil if there is none for the operand.
func (b *binder) prefixed(op string, x plan.Expr, pos, xpos int) plan.Expr {
	name := map[string]string{"~": "~", "|/": "sqrt", "||/": "cbrt", "@": "abs"}[op]
	if name == "" {
		return nil
	}
	return b.operator(name, place{pos, xpos, xpos}, x)
}
