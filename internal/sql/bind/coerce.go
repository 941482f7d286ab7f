package bind

import (
	"slices"
	"strconv"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A string literal, and NULL, has the type Unknown until its surroundings say what it is: it is
// a *plan.Const of type Unknown with the text in S. No other expression is Unknown,
// and none that is leaves this package.

// settle makes a literal that nobody gave a type a text.
func (b *binder) settle(e plan.Expr) plan.Expr {
	if c, ok := e.(*plan.Const); ok && c.V.Type.Kind == types.Unknown {
		v := c.V
		v.Type = types.TText
		return &plan.Const{V: v}
	}
	return e
}

// convert brings e to type t by a cast that is known to exist. Constants are
// converted at once; texts of different VARCHAR limits need nothing.
func (b *binder) convert(e plan.Expr, t types.Type, pos int) plan.Expr {
	from := e.Type()
	if from == t || from.Kind == types.Text && t.Kind == types.Text {
		return e
	}
	c, ok := e.(*plan.Const)
	if !ok || !types.ReadsMoments(from, t) {
		if z := b.zonedCast(e, t, pos); z != nil {
			return z
		}
	}
	if ok {
		if from.Kind == types.Unknown && t.Kind == types.Text {
			return b.settle(e)
		}
		v, err := b.castConst(c.V, t)
		check(err, pos)
		return &plan.Const{V: v}
	}
	return &plan.Call{Op: plan.Cast, T: t, Args: []plan.Expr{e}, Pos: pos}
}

// implicit reports that SQL converts from one type to another without being asked: up
// the ladder of numbers, dates to timestamps, and timestamps to instants.
func implicit(from, to types.Type) bool {
	switch {
	case from == to, from.Kind == types.Unknown, from.Kind == types.Text && to.Kind == types.Text:
		return true
	case from.Kind == types.List && to.Kind == types.List:
		return implicit(from.Elem(), to.Elem())
	case from.Kind == types.Struct && to.Kind == types.Struct, from.Kind == types.Map && to.Kind == types.Map:
		return members(from, to, implicit)
	case from.IsInteger() && to.IsInteger():
		return to.Covers(from)
	case from.IsNumeric() && to.IsNumeric():
		return from.Kind <= to.Kind
	}
	return from.Kind == types.Date && to.IsCalendar() || from.Kind == types.Timestamp && to.Kind == types.TimestampTZ ||
		from.Kind == types.Time && (to.Kind == types.Interval || to.Kind == types.TimeTZ)
}

// assignable reports that storing a value in a column converts it: also down the ladder, and
// anything to text.
func assignable(from, to types.Type) bool {
	if from.Kind == types.JSON && to.Kind == types.JSON {
		return true
	}
	if from.Kind == types.List && to.Kind == types.List {
		return assignable(from.Elem(), to.Elem())
	}
	if from.Kind == types.Struct && to.Kind == types.Struct || from.Kind == types.Map && to.Kind == types.Map {
		return members(from, to, assignable)
	}
	return implicit(from, to) || from.IsNumeric() && to.IsNumeric() || to.Kind == types.Text ||
		from.Kind == types.Enum && to.Kind == types.Enum && types.CanCast(from, to) ||
		from.IsCalendar() && types.CanCast(from, to) || from.Kind == types.Interval && to.Kind == types.Time ||
		from.Kind == types.TimeTZ && to.Kind == types.Time
}

// members reports that two structs have fields that correspond, each of which can be converted; or two maps.
func members(from, to types.Type, can func(from, to types.Type) bool) bool {
	if !types.CanCast(from, to) {
		return false
	}
	have, want := from.Fields(), to.Fields()
	for i := range have {
		k := i
		if from.Kind == types.Struct && !from.IsRow() && !to.IsRow() {
			if k = to.FindField(have[i].Name); k < 0 {
				return false
			}
		}
		if k >= len(want) || !can(have[i].Type, want[k].Type) {
			return false
		}
	}
	return true
}

// assign converts e as storing it does; what names the place for the message.
func (b *binder) assign(e plan.Expr, t types.Type, pos int, what string) plan.Expr {
	if from := loose(e); !assignable(from, t) {
		panic(diag.Errorf(diag.DatatypeMismatch, pos, "%s is of type %s but expression is of type %s",
			what, t.SQLName(), e.Type().SQLName()).WithHint("you will need to rewrite or cast the expression"))
	}
	return b.convert(e, t, pos)
}

// cast binds CAST(x AS t).
func (b *binder) cast(s *scope, e *ast.Cast) plan.Expr {
	if x := b.regCast(s, e); x != nil {
		return x
	}
	t := b.typeName(e.Type)
	x := b.expr(s, e.X)
	if n := b.number(x); n != nil && t.IsInteger() {
		return b.convert(n, t, e.Pos)
	}
	from := x.Type()
	if bareNumeric(e.Type) {
		own, fit := ownDecimal(x)
		if !fit && !e.Try {
			fail(diag.NumericOutOfRange, e.X.Position(), "%q has more digits than type numeric holds, which is %d", x.(*plan.Const).V.String(), types.MaxPrecision)
		}
		if fit {
			t = own
		}
	}
	if e.Try {
		return b.tryCast(x, t, e.Pos)
	}
	if !types.CanCast(from, t) {
		fail(diag.CannotCoerce, e.Pos, "cannot cast type %s to %s", from.SQLName(), t.SQLName())
	}
	// A literal fails at its own place, and one that is to be DECIMAL keeps its digits.
	if c, ok := x.(*plan.Const); ok && from.Kind == types.Unknown {
		v, err := b.castConst(typed(c.V, t), t)
		check(err, e.X.Position())
		return &plan.Const{V: v}
	}
	if t.Kind == types.Text && t.Len > 0 && from.Kind != types.Text {
		x = b.convert(x, types.TText, e.Pos) // and then cut, where storing it would complain
		from = types.TText
	}
	if from.Kind == types.Text && t.Kind == types.Text {
		if t.Len == 0 || from.Len > 0 && from.Len <= t.Len {
			return x
		}
		if c, ok := x.(*plan.Const); ok {
			v, err := types.Cast(c.V, t)
			check(err, e.Pos)
			return &plan.Const{V: v}
		}
		return &plan.Call{Op: plan.Cast, T: t, Args: []plan.Expr{x}, Pos: e.Pos}
	}
	return b.convert(x, t, e.Pos)
}

// bareNumeric reports NUMERIC without precision and scale.
func bareNumeric(t ast.TypeName) bool {
	return len(t.Mods) == 0 && t.Dims == 0 && (t.Name == "decimal" || t.Name == "numeric" || t.Name == "dec")
}

// looseDecimal is what a NUMERIC without precision and scale is made of texts and doubles, of which only the rows know how many digits
// they have: the 15 that PostgreSQL takes of a double are all there from 1 to 10^23.
var looseDecimal = types.TDecimal(types.MaxPrecision, 15)

// ownDecimal is the type of x::numeric, without precision and scale. What digits x has by its type, or as a constant, are
// kept, as PostgreSQL keeps them; fit is false for a constant that has more of them than a DECIMAL.
func ownDecimal(x plan.Expr) (t types.Type, fit bool) {
	from := x.Type()
	if c, ok := x.(*plan.Const); ok && !c.V.Null {
		text := c.V.S
		switch from.Kind {
		case types.Float32:
			text = strconv.FormatFloat(c.V.F, 'g', 6, 64)
		case types.Float64:
			text = strconv.FormatFloat(c.V.F, 'g', 15, 64)
		}
		if v, scale, fit, ok := types.ParseDecimal(text); ok {
			return decimalFor(v, scale), fit
		}
	}
	if d, ok := types.AsDecimal(from); ok {
		return d, true
	}
	return looseDecimal, true
}

// typed makes a literal a text if a text is wanted, so that CAST('abc' AS VARCHAR(2)) cuts and
// does not complain.
func typed(v types.Value, t types.Type) types.Value {
	if t.Kind == types.Text && !v.Null {
		v.Type = types.TText
	}
	return v
}

// tryCast is TRY_CAST: NULL where the cast fails. Where it can fail, Go computes it.
func (b *binder) tryCast(x plan.Expr, t types.Type, pos int) plan.Expr {
	from := x.Type()
	if !types.CanCast(from, t) {
		fail(diag.CannotCoerce, pos, "cannot cast type %s to %s", from.SQLName(), t.SQLName())
	}
	if c, ok := x.(*plan.Const); ok {
		v, err := b.castConst(typed(c.V, t), t)
		if err != nil {
			v = types.NullOf(t)
		}
		return &plan.Const{V: v}
	}
	if implicit(from, t) && t.Kind != types.Decimal { // of which any may be too small
		return b.convert(x, t, pos)
	}
	if types.ReadsMoments(from, t) {
		return plan.NewApply(funcs.TryTextMoment, t, pos, b.placeAndTime(x)...)
	}
	return plan.NewApply(funcs.TryCast, t, pos, x)
}

// typeName finds the type that a name of the query means.
func (b *binder) typeName(n ast.TypeName) types.Type {
	if n.Dims > 0 {
		dims := n.Dims
		n.Dims = 0
		t := b.typeName(n)
		if !types.CanList(t) {
			unsupported(n.Pos, "an array of %s", t.SQLName())
		}
		for range dims {
			t = types.TList(t)
		}
		return t
	}
	if n.Members != nil {
		return b.nestedType(n)
	}
	if n.Name == "date" && len(n.Mods) == 0 {
		return types.TDate // the most frequent one, without a search
	}
	var buf [2]int
	mods := buf[:0]
	for _, m := range n.Mods {
		mods = append(mods, int(max(min(m, 1<<30), -1<<30)))
	}
	if n.Labels != nil {
		labels := make([]ast.Ident, len(n.Labels))
		for i, l := range n.Labels {
			labels[i] = ast.Ident{Name: l, Pos: n.Pos}
		}
		return enumOf("", labels)
	}
	t, err := types.ParseType(n.Name, mods)
	if own := n.Schema != "" && !isSystemSchema(n.Schema); own || err != nil {
		e := b.findEnum(n.Schema, n.Name)
		switch {
		case e != nil && len(mods) > 0:
			fail(diag.SyntaxError, n.Pos, "type modifier is not allowed for type %q", n.Name)
		case e != nil:
			return e.Type
		case own:
			fail(diag.UndefinedObject, n.Pos, "type %q does not exist", n.Schema+"."+n.Name)
		}
	}
	if e, ok := err.(*types.Error); ok && e.Code == diag.FeatureNotSupported {
		panic(diag.Errorf(e.Code, n.Pos, "%s", e.Msg).WithHint("README lists the types; oids are BIGINT, and names are texts"))
	}
	check(err, n.Pos)
	return t
}

// commonType is the type of CASE, COALESCE, VALUES and their like over several
// expressions; what names the construct for the message.
func (b *binder) commonType(es []plan.Expr, pos func(i int) int, what string) types.Type {
	if len(es) > 0 && es[0].Type().IsNested() && !slices.ContainsFunc(es, func(e plan.Expr) bool { return e.Type() != es[0].Type() }) {
		return settled(es[0].Type()) // somebody may have said so: literals in them are not asked
	}
	t := types.TUnknown
	for i, e := range es {
		et := e.Type()
		if t.Kind == types.Decimal || et.Kind == types.Decimal {
			et = tight(e)
		}
		if et.IsNested() {
			et = loose(e)
		}
		c, ok := types.CommonType(t, et)
		if t.Kind == types.Float32 && !et.IsFloat() && et.IsNumeric() || et.Kind == types.Float32 && !t.IsFloat() && t.IsNumeric() {
			c = types.TFloat32 // where operators would go on to DOUBLE, alternatives stay REAL
		}
		if !ok {
			fail(diag.DatatypeMismatch, pos(i), "%s types %s and %s cannot be matched", what, t.SQLName(), et.SQLName())
		}
		t = c
	}
	if t.Kind == types.Unknown || t.IsNested() {
		return settled(t)
	}
	if t.Kind == types.Text && t.Len > 0 {
		for _, e := range es {
			if e.Type().Kind == types.Unknown || e.Type().Len == 0 {
				return types.TText // a literal may be longer
			}
		}
	}
	return t
}

// tight is the type of e, except that an integer constant among decimals counts with the digits
// that it has and not with all that its type could hold.
func tight(e plan.Expr) types.Type {
	t := e.Type()
	c, ok := e.(*plan.Const)
	if !ok || !t.IsInteger() || c.V.Null {
		return t
	}
	prec := 1
	for x := c.V.Int128(); prec < types.MaxPrecision && !types.FitsPrecision(x, prec); prec++ {
	}
	return types.TDecimal(prec, 0)
}

// toScale brings an integer or decimal to a decimal of the given scale.
func (b *binder) toScale(e plan.Expr, scale int, pos int) plan.Expr {
	if t := e.Type(); t.Kind == types.Decimal && int(t.Scale) == scale {
		return e
	}
	d, _ := types.AsDecimal(tight(e))
	prec := min(types.MaxPrecision, int(d.Prec)-int(d.Scale)+scale)
	return b.convert(e, types.TDecimal(max(prec, 1), scale), pos)
}

// notNull reports that e is never NULL.
func (b *binder) notNull(e plan.Expr) bool {
	switch x := e.(type) {
	case *plan.Ref:
		return b.cols.Get(x.ID).NotNull
	case *plan.Const:
		return !x.V.Null
	case *plan.Subquery:
		return x.Kind == plan.Exists
	case *plan.Call:
		switch x.Op {
		case plan.IsNull, plan.IsTrue, plan.NotDistinct:
			return true
		case plan.NullIf:
			return false
		case plan.Apply:
			if x.Fn.NullOut {
				return false
			}
		case plan.Coalesce, plan.Greatest, plan.Least:
			for _, a := range x.Args {
				if b.notNull(a) {
					return true
				}
			}
			return false
		case plan.Case:
			if len(x.Args)%2 == 0 {
				return false
			}
			for i := 1; i < len(x.Args); i += 2 {
				if !b.notNull(x.Args[i]) {
					return false
				}
			}
			return b.notNull(x.Args[len(x.Args)-1])
		}
		for _, a := range x.Args {
			if !b.notNull(a) {
				return false
			}
		}
		return true
	}
	return false
}
