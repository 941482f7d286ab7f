package bind

import (
	"math"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// version is what version() says. Clients look for the word PostgreSQL and its number.
const version = "PostgreSQL 16.0 (Kelpie)"

func constant(text string) func(*binder, *call) plan.Expr {
	return func(*binder, *call) plan.Expr { return &plan.Const{V: types.TextValue(text)} }
}

func variadic(op plan.Op) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr { return b.variadic(op, c) }
}

// sameType is for functions whose result has the argument's type.
func sameType(op plan.Op) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		return &plan.Call{Op: op, T: c.args[0].Type(), Args: c.args, Pos: c.pos}
	}
}

// sign is a number of the argument's type, except that of a decimal, which may have no digit before
// the point for it, a whole one.
func sign(b *binder, c *call) plan.Expr {
	t := c.args[0].Type()
	if t.Kind == types.Decimal {
		t = types.TDecimal(1, 0)
	}
	return &plan.Call{Op: plan.Sign, T: t, Args: c.args, Pos: c.pos}
}

// rounding is for floor and ceil: whole numbers stay as they are, decimals lose their
// digits after the point.
func rounding(op plan.Op) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		t := c.args[0].Type()
		switch {
		case t.IsInteger():
			return c.args[0]
		case t.Kind == types.Decimal:
			t = wholeDecimal(t, 0)
		}
		return &plan.Call{Op: op, T: t, Args: c.args, Pos: c.pos}
	}
}

// wholeDecimal is the type of a decimal rounded to scale digits: a carry may add one before
// the point.
func wholeDecimal(t types.Type, scale int) types.Type {
	return types.TDecimal(min(types.MaxPrecision, int(t.Prec)-int(t.Scale)+1+scale), scale)
}

// digits is the constant second argument of round and trunc, 0 if not given.
func digits(c *call) (int, bool) {
	if len(c.args) < 2 {
		return 0, true
	}
	d := c.args[1].(*plan.Const)
	return int(max(min(d.V.I, 100), -100)), !d.V.Null
}

// cutByRow is round or trunc to a number of digits that only the rows know. A decimal keeps the digits after the point that its
// type has, as zeros where they were cut.
func (b *binder) cutByRow(c *call) plan.Expr {
	x := c.args[0]
	if t := x.Type(); t.IsInteger() || t.Kind == types.Decimal {
		x = b.toDecimal(x, c.argPos(0))
		t = types.TDecimal(min(types.MaxPrecision, int(x.Type().Prec)+1), int(x.Type().Scale))
		return plan.NewApply(funcs.NumbersByRow[c.name+" decimal"], t, c.pos, x, c.args[1])
	}
	x = b.convert(x, types.TFloat64, c.argPos(0))
	return plan.NewApply(funcs.NumbersByRow[c.name+" double"], types.TFloat64, c.pos, x, c.args[1])
}

// cut binds round and trunc to a number of digits, which may be negative. Decimals change their
// scale; integers are decimals for a moment; doubles are moved to the point and back.
func cut(op plan.Op) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		if len(c.args) == 2 {
			if _, ok := c.args[1].(*plan.Const); !ok {
				return b.cutByRow(c)
			}
		}
		n, ok := digits(c)
		x := c.args[0]
		t := x.Type()
		switch {
		case !ok:
			return plan.NullConst(t)
		case t.IsInteger() && n >= 0, t.Kind == types.Decimal && n >= int(t.Scale):
			return x
		case t.IsInteger(): // a decimal, as in PostgreSQL: 32767 becomes 32770
			return cutDecimal(op, b.toDecimal(x, c.argPos(0)), n, c.pos)
		case t.Kind == types.Decimal:
			return cutDecimal(op, x, n, c.pos)
		case n == 0:
			return &plan.Call{Op: op, T: t, Args: c.args[:1], Pos: c.pos}
		}
		x = b.convert(x, types.TFloat64, c.argPos(0))
		unit := &plan.Const{V: types.FloatValue(types.TFloat64, math.Pow(10, math.Abs(float64(n))))}
		there, back := plan.Mul, plan.Div
		if n < 0 {
			there, back = plan.Div, plan.Mul
		}
		float := func(op plan.Op, args ...plan.Expr) plan.Expr {
			return &plan.Call{Op: op, T: types.TFloat64, Args: args, Pos: c.pos}
		}
		return float(back, float(op, float(there, x, unit)), unit)
	}
}

// cutDecimal is round or trunc of a decimal to n digits after the point.
func cutDecimal(op plan.Op, x plan.Expr, n, pos int) plan.Expr {
	args := []plan.Expr{x, &plan.Const{V: types.IntValue(types.TInt32, int64(n))}}
	return &plan.Call{Op: op, T: wholeDecimal(x.Type(), max(n, 0)), Args: args, Pos: pos}
}

// commonMeasure is gcd or lcm of decimals, with the digits after the point of the one that has more.
func commonMeasure(b *binder, c *call) plan.Expr {
	x, y := b.toDecimal(c.args[0], c.argPos(0)), b.toDecimal(c.args[1], c.argPos(1))
	t := types.TDecimal(types.MaxPrecision, int(max(x.Type().Scale, y.Type().Scale)))
	return plan.NewApply(funcs.NumbersByRow[c.name+" decimal"], t, c.pos, x, y)
}

func (b *binder) modFunc(c *call) plan.Expr {
	return b.arith(plan.Mod, c.args[0], c.args[1], place{c.pos, c.argPos(0), c.argPos(1)})
}

// logFunc is log(x), to base 10, and log(base, x).
func (b *binder) logFunc(c *call) plan.Expr {
	if len(c.args) == 1 {
		return &plan.Call{Op: plan.Log10, T: types.TFloat64, Args: c.args, Pos: c.pos}
	}
	ln := func(x plan.Expr) plan.Expr {
		return &plan.Call{Op: plan.Ln, T: types.TFloat64, Args: []plan.Expr{x}, Pos: c.pos}
	}
	return &plan.Call{Op: plan.Div, T: types.TFloat64, Args: []plan.Expr{ln(c.args[1]), ln(c.args[0])}, Pos: c.pos}
}

func (b *binder) pi(*call) plan.Expr {
	return &plan.Const{V: types.FloatValue(types.TFloat64, math.Pi)}
}

// trim adds the characters to cut, blanks if none are given.
func trim(op plan.Op) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr {
		if len(c.args) == 1 {
			c.args = append(c.args, &plan.Const{V: types.TextValue(" ")})
		}
		return &plan.Call{Op: op, T: types.TText, Args: c.args, Pos: c.pos}
	}
}

// substring always has a length in plans: the greatest one if none was given.
func (b *binder) substring(c *call) plan.Expr {
	if len(c.args) == 2 {
		c.args = append(c.args, &plan.Const{V: types.IntValue(types.TInt64, math.MaxInt64)})
	}
	return &plan.Call{Op: plan.Substring, T: types.TText, Args: c.args, Pos: c.pos}
}

// positionFunc is position(a, b), where a is looked for in b; plans have the text first.
func (b *binder) positionFunc(c *call) plan.Expr {
	args := []plan.Expr{c.args[1], c.args[0]}
	return &plan.Call{Op: plan.Position, T: types.TInt32, Args: args, Pos: c.pos}
}

// concatFunc is concat(…), for which NULL is empty.
func (b *binder) concatFunc(c *call) plan.Expr {
	args := make([]plan.Expr, 0, len(c.args))
	for i, a := range c.args {
		if a.Type().Kind == types.Bool { // written as its type's output writes it, which a cast does not
			t := func(s string) plan.Expr { return &plan.Const{V: types.TextValue(s)} }
			a = &plan.Call{Op: plan.Case, T: types.TText, Args: []plan.Expr{a, t("t"), not(a, c.pos), t("f")}, Pos: c.pos}
		}
		a = b.convert(a, types.TText, c.argPos(i))
		if plan.IsNullConst(a) {
			continue
		}
		if _, ok := a.(*plan.Const); !ok {
			a = &plan.Call{Op: plan.Coalesce, T: types.TText, Args: []plan.Expr{a, &plan.Const{V: types.TextValue("")}}, Pos: c.pos}
		}
		args = append(args, a)
	}
	switch len(args) {
	case 0:
		return &plan.Const{V: types.TextValue("")}
	case 1:
		return args[0]
	}
	return &plan.Call{Op: plan.Concat, T: types.TText, Args: args, Pos: c.pos}
}

// clock is the time of the transaction, which the environment knows, or else that of the statement:
// one for all calls.
func (b *binder) clock() int64 {
	if b.now.IsZero() {
		b.now = time.Now()
		if c, ok := b.env.(Clock); ok {
			b.now = c.Now()
		}
	}
	return b.now.UnixMicro()
}

func (b *binder) currentTimestamp(*call) plan.Expr {
	return &plan.Const{V: types.IntValue(types.TTimestampTZ, b.clock())}
}

func (b *binder) currentDate(c *call) plan.Expr {
	return b.convert(b.currentTimestamp(c), types.TDate, c.pos)
}

// part is for year(x) and its like.
func part(field string) func(*binder, *call) plan.Expr {
	return func(b *binder, c *call) plan.Expr { return b.extract(c.args[0], field, c.argPos(0), c.pos) }
}

// field is the first argument of date_part and date_trunc; ok is false if only the rows know it.
func field(c *call) (name string, ok bool) {
	f, isConst := c.args[0].(*plan.Const)
	if !isConst || f.V.Null {
		return "", false
	}
	return f.V.S, true
}

func (b *binder) datePart(c *call) plan.Expr {
	if name, ok := field(c); ok {
		return b.extract(c.args[1], name, c.argPos(1), c.pos)
	}
	if c.args[1].Type().Kind == types.TimestampTZ {
		if !b.zone().IsUTC() { // of which seconds since 1970 would depend on the zone, and nothing else would not
			unsupported(c.argPos(0), "a field that is not a constant, of a timestamp with time zone")
		}
		c.args[1] = sameNumber(c.args[1], types.TTimestamp, c.pos)
	}
	return plan.NewApply(funcs.Function("date_part"), types.TFloat64, c.pos, c.args...)
}

// extract binds EXTRACT(field FROM x).
func (b *binder) extract(x plan.Expr, field string, xpos, pos int) plan.Expr {
	if x.Type().Kind == types.Unknown {
		x = b.convert(x, types.TTimestamp, xpos)
	}
	t := x.Type()
	if t.Kind == types.TimestampTZ {
		return b.extractInstant(x, field, xpos, pos)
	}
	if t.Kind == types.TimeTZ {
		if offset := b.extractZonedClock(x, field, pos); offset != nil {
			return offset
		}
	}
	if t.Kind != types.Date && t.Kind != types.Timestamp && t.Kind != types.Interval && !isClock(t) {
		panic(noFunction("extract", []plan.Expr{plan.NullConst(types.TUnknown), x}, pos))
	}
	f, ok := types.ParseField(field)
	if !ok {
		fail(diag.InvalidParameter, pos, "unit %q not recognized for type %s", field, t.SQLName())
	}
	out, ok := types.ExtractType(f, t)
	if !ok {
		fail(diag.FeatureNotSupported, pos, "unit %q not supported for type %s", field, t.SQLName())
	}
	if c, ok := x.(*plan.Const); ok {
		v, err := types.Extract(f, c.V)
		check(err, pos)
		return &plan.Const{V: v}
	}
	args := []plan.Expr{&plan.Const{V: types.TextValue(f.String())}, x}
	return &plan.Call{Op: plan.Extract, T: out, Args: args, Pos: pos}
}

// dateTrunc cuts a timestamp to a field; a date is a timestamp here.
func (b *binder) dateTrunc(c *call) plan.Expr {
	x := c.args[1]
	if x.Type().Kind == types.TimeTZ {
		panic(noFunction(c.name, c.args, c.pos))
	}
	if x.Type().Kind == types.Interval {
		return plan.NewApply(funcs.Function("date_trunc interval"), types.TInterval, c.pos, c.args...)
	}
	if k := x.Type().Kind; k == types.TimestampTZ || len(c.args) > 2 {
		return b.truncInstant(c)
	} else if k == types.Time {
		return plan.NewApply(funcs.Function("date_trunc interval"), types.TInterval, c.pos, c.args[0], b.convert(x, types.TInterval, c.argPos(1)))
	}
	x = b.convert(x, types.TTimestamp, c.argPos(1))
	name, ok := field(c)
	if !ok {
		return plan.NewApply(funcs.Function("date_trunc"), types.TTimestamp, c.pos, c.args[0], x)
	}
	f, ok := types.ParseField(name)
	if !ok || !funcs.CanTruncate(f) {
		fail(diag.InvalidParameter, c.argPos(0), "unit %q not recognized for type timestamp", name)
	}
	return b.truncBy(f, x, c.pos)
}

// truncBy cuts a timestamp to a field that is known.
func (b *binder) truncBy(f types.Field, x plan.Expr, pos int) plan.Expr {
	if k, ok := x.(*plan.Const); ok && !k.V.Null {
		ts, err := types.DateTrunc(f, k.V.I)
		check(err, pos)
		return &plan.Const{V: types.IntValue(types.TTimestamp, ts)}
	}
	args := []plan.Expr{&plan.Const{V: types.TextValue(f.String())}, x}
	return &plan.Call{Op: plan.DateTrunc, T: types.TTimestamp, Args: args, Pos: pos}
}

// dateFunc is date(x), a cast.
func (b *binder) dateFunc(c *call) plan.Expr {
	if !types.CanCast(c.args[0].Type(), types.TDate) {
		panic(noFunction(c.name, c.args, c.pos))
	}
	return b.convert(c.args[0], types.TDate, c.argPos(0))
}
