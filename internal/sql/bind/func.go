package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// call is a function call with its arguments bound.
type call struct {
	scope *scope
	f     *ast.Func
	name  string
	args  []plan.Expr
	pos   int
	at    []int // where the operands of an operator are, which has no f
}

func (c *call) argPos(i int) int {
	if c.f == nil {
		return c.at[i]
	}
	return c.f.Args[i].X.Position()
}

func (c *call) upper() string { return strings.ToUpper(c.name) }

// function binds a call in function syntax.
func (b *binder) function(s *scope, e *ast.Func) plan.Expr {
	e = b.unpackColumns(s, e)
	name := e.Name.Last()
	if m := b.findMacro(e.Name, false); m != nil && e.Over == nil {
		return b.macro(s, m, e)
	}
	if len(e.Name) > 1 && e.Name[len(e.Name)-2].Name != "pg_catalog" {
		fail(diag.UndefinedFunction, e.Pos, "function %s does not exist", e.Name.String())
	}
	if l := lambdaOf(e); l != nil {
		return b.lambdaCall(s, e, l)
	}
	if x := listAggregate(e); x != nil {
		return b.expr(s, x)
	}
	if len(e.WithinGroup) > 0 && hypothetical(name) {
		return b.hypotheticalAgg(s, e)
	}
	if e.Over != nil {
		return b.windowFunction(s, e)
	}
	if windowNamed(name) != nil {
		fail(diag.WrongObjectType, e.Pos, "window function %s requires an OVER clause", name)
	}
	if f, ok := aggregateNamed(name); ok {
		if row := funcs.DistinctPairs(name); row != nil && e.Distinct {
			return b.fold(s, e, row)
		}
		if made := madeAggregates[name]; made != nil {
			e = made(e)
		}
		return b.aggregate(s, e, f)
	}
	if row := funcs.FindFold(name, len(e.WithinGroup) > 0); row != nil {
		return b.fold(s, e, row)
	}
	if name == "struct_pack" || name == "struct_insert" { // whose parameters have any names
		return b.structCall(s, e)
	}
	if name == "random" && len(e.Args) == 0 {
		if x := b.seededRandom(e.Pos); x != nil {
			return x
		}
	}
	if name == "try" {
		return b.try(s, e)
	}
	if name == "grouping" {
		return b.groupingFunc(s, e)
	}
	switch {
	case e.Filter != nil, e.Distinct, e.Star, len(e.OrderBy) > 0, len(e.WithinGroup) > 0:
		if hint, ok := funcs.Absent(name); ok {
			panic(funcs.Unsupported(name, hint, e.Pos))
		}
		fail(diag.WrongObjectType, e.Pos, "%s is not an aggregate function", name)
	}
	c := &call{scope: s, f: e, name: name, pos: e.Pos}
	if len(e.Args) > 0 {
		c.args = make([]plan.Expr, len(e.Args))
	}
	for i := range e.Args {
		if a := &e.Args[i]; !a.Name.Empty() {
			c.f = positional(e)
			e = c.f
			c.args = make([]plan.Expr, len(e.Args))
			break
		}
	}
	for i := range e.Args {
		c.args[i] = b.expr(s, e.Args[i].X)
	}
	return b.call(c)
}

// positional puts arguments that are given by names where their parameters are, and zeros in between.
func positional(e *ast.Func) *ast.Func {
	f := *e
	f.Args = nil
	var names []string
	if rows := funcs.Find(e.Name.Last()); rows != nil {
		names = rows[0].Names
	}
	for i, a := range e.Args {
		at := i
		if !a.Name.Empty() {
			if at = slices.Index(names, a.Name.Name); at < 0 {
				fail(diag.UndefinedFunction, a.Name.Pos, "function %s has no parameter named %q", e.Name.Last(), a.Name.Name)
			}
		}
		for len(f.Args) <= at {
			f.Args = append(f.Args, ast.Arg{})
		}
		if f.Args[at].X != nil {
			fail(diag.SyntaxError, a.X.Position(), "argument %q is given twice", a.Name.Name)
		}
		f.Args[at].X = a.X
	}
	for i := range f.Args {
		if f.Args[i].X == nil {
			f.Args[i].X = &ast.Literal{Pos: e.Pos, Kind: ast.LitInt, Text: "0"}
		}
	}
	return &f
}

// call takes the row of the function that fits the arguments best, and makes the call.
func (b *binder) call(c *call) plan.Expr {
	rows := funcs.Find(c.name)
	if c.name == "json_object" && noArrays(c.args) {
		rows = rows[len(rows)-1:]
	}
	row := bestRow(rows, c.args)
	if row == nil && len(b.regs) > 0 { // names of numbers, where numbers are wanted
		for i, a := range c.args {
			if n := b.number(a); n != nil {
				c.args[i] = n
			}
		}
		row = bestRow(rows, c.args)
	}
	if row == nil {
		panic(noFunction(c.name, c.args, c.pos))
	}
	return b.apply(row, c)
}

// bestRow is the row with the most parameters that have the types of the arguments as they are, the first of
// several. nil: the arguments do not fit any.
func bestRow(rows []funcs.Row, args []plan.Expr) *funcs.Row {
	var best *funcs.Row
	most := -1
	for i := range rows {
		if n := fit(&rows[i], args); n > most {
			best, most = &rows[i], n
		}
	}
	return best
}

// fit counts the arguments that a row takes as they are; -1 if it does not take them all.
func fit(row *funcs.Row, args []plan.Expr) int {
	letters, least, more := row.Params()
	if n := len(args); n < least || n > len(letters) && !more {
		return -1
	}
	exact := 0
	for i, a := range args {
		from := a.Type()
		t, ok := paramType(letters[min(i, len(letters)-1)], from)
		if !ok || !implicit(from, t) && t.Kind != types.Unknown && !(from.Kind == types.TimestampTZ && t.Kind == types.Timestamp) {
			return -1
		}
		if t.Kind == from.Kind && from.Kind != types.Unknown || from.Kind == types.Unknown && t.Kind == types.Text {
			exact++
		}
	}
	return exact
}

// apply brings the arguments to the types of the row and makes the call.
func (b *binder) apply(row *funcs.Row, c *call) plan.Expr {
	if row.Polymorphic() {
		return b.polymorphic(row, c)
	}
	letters, _, _ := row.Params()
	whole := types.TUnknown // the widest of the integers
	for i, a := range c.args {
		if letters[min(i, len(letters)-1)] == 'e' && a.Type().Kind != types.Unknown {
			if c, ok := types.CommonType(whole, a.Type()); ok {
				whole = c
			}
		}
	}
	if whole.Kind == types.Unknown {
		whole = types.TInt32
	}
	for i, a := range c.args {
		letter := letters[min(i, len(letters)-1)]
		t, _ := paramType(letter, a.Type())
		switch {
		case letter == 'e':
			t = whole
		case letter == 'J':
			t = jsonParam(row.Name, a.Type())
		}
		if t.Kind != types.Unknown {
			c.args[i] = b.convert(a, t, c.argPos(i))
		}
		if k, ok := c.args[i].(*plan.Const); ok && i == 1 && !k.V.Null && funcs.TakesJSONPath(row.Name) { // wrong even if another argument is NULL
			check(funcs.CheckJSONPath(k.V.S), c.argPos(i))
		}
	}
	if row.Op == plan.OpNone && row.Fn == nil || row.Op == plan.Trim || row.Op == plan.Ltrim || row.Op == plan.Rtrim {
		return builders[row.Name](b, c)
	}
	t := row.Result
	if t.Kind == types.Unknown {
		if t = c.args[0].Type(); strings.Contains(letters, "e") {
			t = whole
		}
	}
	for i, a := range c.args {
		if c.args[i] = b.settle(a); row.Group == funcs.JSON && letters[min(i, len(letters)-1)] == '*' {
			c.args[i] = b.zonedJSON(c.args[i], c.argPos(i))
		}
	}
	return &plan.Call{Op: cmp.Or(row.Op, plan.Apply), Fn: row.Fn, T: t, Args: c.args, Pos: c.pos}
}

// operator is a call that an operator makes.
func (b *binder) operator(name string, at place, args ...plan.Expr) plan.Expr {
	row := bestRow(funcs.Find(name), args)
	if row == nil {
		return nil
	}
	return b.apply(row, &call{name: name, args: args, pos: at.op, at: []int{at.l, at.r}})
}

// jsonParam is the type of a parameter J: a literal is JSONB for the functions whose names say so.
func jsonParam(name string, t types.Type) types.Type {
	if t.Kind == types.Unknown && strings.HasPrefix(name, "jsonb") {
		return types.TJSONB
	}
	t, _ = paramType('J', t)
	return t
}

// paramType is the type to which an argument of type t is brought for a parameter of the
// given letter (see funcs.Letters); Unknown leaves it as it is.
func paramType(letter byte, t types.Type) (types.Type, bool) {
	unknown := t.Kind == types.Unknown
	switch letter {
	case 't':
		return types.TText, true
	case 'W':
		return t, t.Kind == types.Text
	case 'i':
		return types.TInt64, true
	case 'f':
		return types.TFloat64, true
	case 'b':
		return types.TBool, true
	case 'D':
		return types.TDate, true
	case 'T':
		return types.TTimestamp, true
	case 'Z':
		return types.TTimestampTZ, true
	case 'C':
		return types.TTime, true
	case 'B':
		return types.TBytes, true
	case 'J':
		if unknown {
			return types.TJSON, true
		}
		return t, t.Kind == types.JSON
	case 'X':
		return types.TList(types.TText), true
	case 'L':
		return t, t.Kind == types.List || unknown
	case 'E':
		return t, true
	case 'V':
		return types.TInterval, true
	case 'e':
		if unknown {
			return types.TInt32, true
		}
		return t, t.IsInteger()
	case 'm':
		if unknown {
			return types.TInt64, true
		}
		return t, t.IsInteger() || t.Kind == types.Decimal
	case 'n':
		if unknown {
			return types.TFloat64, true
		}
		return t, t.IsNumeric()
	case 'd':
		if unknown {
			return types.TTimestamp, true
		}
		return t, t.IsCalendar() || isClock(t) || t.Kind == types.Interval
	}
	return t, true
}

// noFunction is PostgreSQL's error for a call that matches nothing, with a hint.
func noFunction(name string, args []plan.Expr, pos int) *diag.Error {
	var sig strings.Builder
	for i, a := range args {
		if i > 0 {
			sig.WriteString(", ")
		}
		sig.WriteString(a.Type().SQLName())
	}
	err := diag.Errorf(diag.UndefinedFunction, pos, "function %s(%s) does not exist", name, sig.String())
	_, isAgg := aggregateNamed(name)
	if isAgg || funcs.Find(name) != nil || funcs.FindFold(name, false) != nil {
		return err.WithHint("no function matches the given name and argument types; you might need to add explicit casts")
	}
	if hint, ok := funcs.Absent(name); ok {
		return funcs.Unsupported(name, hint, pos)
	}
	names := make([]string, 0, len(funcs.Rows)+len(aggFuncs))
	for i := range funcs.Rows {
		names = append(names, funcs.Rows[i].Name)
	}
	for i := range aggFuncs {
		names = append(names, aggFuncs[i].name)
	}
	for i := range windowFuncs {
		names = append(names, windowFuncs[i].name)
	}
	names = append(names, funcs.FoldNames()...)
	return err.WithHint(diag.DidYouMean(name, names))
}
