package bind

import (
	"math"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// listOf is the type of lists of elem.
func (b *binder) listOf(elem types.Type, pos int) types.Type {
	if elem.Kind == types.Unknown {
		elem = types.TText
	}
	if elem.Kind == types.Text {
		elem.Len = 0 // limits of elements would have to be checked with each function
	}
	if !types.CanList(elem) {
		unsupported(pos, "an array of %s", elem.SQLName())
	}
	return types.TList(elem)
}

// array is ARRAY[a, b] or [a, b]. An empty one is a literal whose type the surroundings say.
func (b *binder) array(s *scope, e *ast.Array) plan.Expr {
	if len(e.Elems) == 0 {
		return &plan.Const{V: types.Value{Type: types.TUnknown, S: "{}"}}
	}
	elems := make([]plan.Expr, len(e.Elems))
	for i, x := range e.Elems {
		elems[i] = b.expr(s, x)
	}
	pos := func(i int) int { return e.Elems[i].Position() }
	t := b.listOf(b.commonType(elems, pos, "ARRAY"), e.Pos)
	for i := range elems {
		elems[i] = b.convert(elems[i], t.Elem(), pos(i))
	}
	return constantList(plan.NewApply(funcs.ListMake, t, e.Pos, elems...))
}

// constantList is the list of constants.
func constantList(x *plan.Call) plan.Expr {
	vs := make([]types.Value, len(x.Args))
	for i, a := range x.Args {
		c, ok := a.(*plan.Const)
		if !ok {
			return x
		}
		vs[i] = c.V
	}
	return &plan.Const{V: types.ListValue(x.T.Elem(), vs)}
}

// polymorphic makes the call of a function of lists: all lists and elements get one type of elements.
func (b *binder) polymorphic(row *funcs.Row, c *call) plan.Expr {
	letters, _, _ := row.Params()
	letter := func(i int) byte { return letters[min(i, len(letters)-1)] }
	elem := types.TUnknown
	for i, a := range c.args {
		t := a.Type()
		switch {
		case letter(i) == 'L' && t.Kind == types.List:
			t = t.Elem()
		case letter(i) != 'E':
			continue
		}
		common, ok := types.CommonType(elem, t)
		if !ok {
			panic(noFunction(c.name, c.args, c.pos))
		}
		elem = common
	}
	list := b.listOf(elem, c.pos)
	for i, a := range c.args {
		switch letter(i) {
		case 'L':
			c.args[i] = b.convert(a, list, c.argPos(i))
		case 'E':
			c.args[i] = b.convert(a, list.Elem(), c.argPos(i))
		default:
			t, _ := paramType(letter(i), a.Type())
			c.args[i] = b.convert(a, t, c.argPos(i))
		}
	}
	t := row.Result
	switch t {
	case funcs.ListResult:
		t = list
	case funcs.ElemResult:
		t = list.Elem()
	}
	return plan.NewApply(row.Fn, t, c.pos, c.args...)
}

// concatOther is || of lists and of bytes; nil for texts.
func (b *binder) concatOther(l, r plan.Expr, at place) plan.Expr {
	lt, rt := l.Type(), r.Type()
	switch {
	case lt.Kind == types.Bytes && (rt.Kind == types.Bytes || rt.Kind == types.Unknown), rt.Kind == types.Bytes && lt.Kind == types.Unknown:
		l, r = b.convert(l, types.TBytes, at.l), b.convert(r, types.TBytes, at.r)
		return &plan.Call{Op: plan.Concat, T: types.TBytes, Args: []plan.Expr{l, r}, Pos: at.op}
	case lt == types.TJSONB && (rt == lt || rt.Kind == types.Unknown), rt == types.TJSONB && lt.Kind == types.Unknown:
		return plan.NewApply(funcs.Function("||"), types.TJSONB, at.op, b.convert(l, types.TJSONB, at.l), b.convert(r, types.TJSONB, at.r))
	case lt.Kind != types.List && rt.Kind != types.List:
		return nil
	}
	list, elem, fn := lt, rt, funcs.ListAppend
	switch {
	case lt.Kind == types.List && (rt.Kind == types.List && rt.Elem().Kind != types.List || rt.Kind == types.Unknown) || lt == rt:
		fn = funcs.ListConcat
		if rt.Kind == types.List {
			elem = rt.Elem()
		}
	case rt.Kind == types.List && lt.Kind == types.Unknown:
		list, elem, fn = rt, types.TUnknown, funcs.ListConcat
	case lt.Kind != types.List || rt.Kind == types.List && rt.Elem() == lt:
		list, elem, fn = rt, lt, funcs.ListFirst
	}
	common, ok := types.CommonType(list.Elem(), elem)
	if !ok {
		panic(noOperator("||", l, r, at.op))
	}
	list = b.listOf(common, at.op)
	want := [2]types.Type{list, list}
	switch fn {
	case funcs.ListAppend:
		want[1] = list.Elem()
	case funcs.ListFirst:
		want[0] = list.Elem()
	}
	return plan.NewApply(fn, list, at.op, b.convert(l, want[0], at.l), b.convert(r, want[1], at.r))
}

// subscript is list[i] and list[i:j].
func (b *binder) subscript(s *scope, e *ast.Subscript) plan.Expr {
	x := b.expr(s, e.X)
	t := x.Type()
	switch t.Kind {
	case types.Struct:
		return b.structSubscript(x, s, e)
	case types.Map:
		return b.mapSubscript(x, s, e)
	case types.Text:
		return b.textSubscript(x, s, e)
	case types.JSON:
		if t == types.TJSONB && !e.Slice { // which is what -> gives
			return b.operator("->", place{e.Pos, e.X.Position(), e.Index.Position()}, x, b.expr(s, e.Index))
		}
	}
	if t.Kind != types.List {
		fail(diag.DatatypeMismatch, e.Pos, "cannot subscript type %s because it does not support subscripting", t.SQLName())
	}
	bound := func(x ast.Expr, missing int64) plan.Expr {
		if x == nil {
			return plan.NewConst(types.IntValue(types.TInt64, missing))
		}
		i := b.expr(s, x)
		if !i.Type().IsInteger() && i.Type().Kind != types.Unknown {
			fail(diag.DatatypeMismatch, x.Position(), "array subscript must have type integer")
		}
		return b.convert(i, types.TInt64, x.Position())
	}
	if e.Slice {
		return plan.NewApply(funcs.ListSlice, t, e.Pos, x, bound(e.Index, math.MinInt64), bound(e.Upper, math.MaxInt64))
	}
	return plan.NewApply(funcs.ListAt, t.Elem(), e.Pos, x, bound(e.Index, 0))
}

// textSubscript is text[i] and text[i:j], characters of a text, as DuckDB has it: negative places count from the end.
func (b *binder) textSubscript(x plan.Expr, s *scope, e *ast.Subscript) plan.Expr {
	bound := func(x ast.Expr) plan.Expr {
		if x == nil {
			return plan.NullConst(types.TInt32)
		}
		i := b.expr(s, x)
		if !i.Type().IsInteger() && i.Type().Kind != types.Unknown {
			fail(diag.DatatypeMismatch, x.Position(), "array subscript must have type integer")
		}
		return b.convert(i, types.TInt32, x.Position())
	}
	if !e.Slice {
		return b.sqlOver(s, `CASE WHEN p2 > 0 THEN substr(p1, p2, 1) WHEN p2 < 0 AND -p2 <= length(p1) THEN substr(p1, length(p1) + p2 + 1, 1)
			WHEN p2 IS NOT NULL AND p1 IS NOT NULL THEN '' END`, e.Pos, x, bound(e.Index))
	}
	low, high := "p2", "p3"
	if e.Index == nil {
		low = "1"
	}
	if e.Upper == nil {
		high = "length(p1)"
	}
	place := func(p string) string {
		return "CASE WHEN " + p + " < 0 THEN length(p1) + " + p + " + 1 ELSE " + p + " END"
	}
	from := "greatest(" + place(low) + ", 1)"
	return b.sqlOver(s, "substr(p1, "+from+", CASE WHEN "+low+" IS NOT NULL AND "+high+" IS NOT NULL THEN greatest("+place(high)+" - "+from+" + 1, 0) END)",
		e.Pos, x, bound(e.Index), bound(e.Upper))
}

// quantifiedList is x op ANY (list) and x op ALL (list).
func (b *binder) quantifiedList(s *scope, e *ast.Quantified) plan.Expr {
	op := comparison(e.Op)
	if op == plan.OpNone {
		unsupported(e.Pos, "%s with ANY or ALL of an array that is not written as ARRAY[…]", e.Op)
	}
	x, list := b.expr(s, e.X), b.expr(s, e.Array)
	if list.Type().Kind == types.Unknown {
		list = b.convert(list, b.listOf(x.Type(), e.Array.Position()), e.Array.Position())
	}
	if list.Type().Kind != types.List {
		panic(diag.Errorf(diag.WrongObjectType, e.Pos, "op ANY/ALL (array) requires array on right side"))
	}
	if c, ok := list.(*plan.Const); ok && !c.V.Null && op == plan.Eq && !e.All { // which is compiled
		var elems []plan.Expr
		for _, v := range c.V.Elems() {
			elems = append(elems, plan.NewConst(v))
		}
		if len(elems) > 0 {
			return b.anyOf(s, e.X, x, elems, func(int) place { return place{e.Pos, e.X.Position(), e.Array.Position()} })
		}
	}
	t, ok := types.CommonType(x.Type(), list.Type().Elem())
	if !ok {
		panic(noOperator(e.Op, x, plan.NullConst(list.Type().Elem()), e.Pos))
	}
	lt := b.listOf(t, e.Pos)
	return plan.NewApply(funcs.Quantified, types.TBool, e.Pos, plan.NewConst(types.TextValue(e.Op)), plan.BoolConst(e.All),
		b.convert(x, lt.Elem(), e.X.Position()), b.convert(list, lt, e.Array.Position()))
}

// unnestFunc is unnest in a select list: each row becomes one for each element.
func (b *binder) unnestFunc(c *call) plan.Expr {
	if b.unnests != c.scope || c.scope.clause != "" {
		unsupported(c.pos, "unnest outside of a select list and FROM")
	}
	x := b.unnestable(c.args[0], c.pos)
	return plan.NewApply(funcs.Unnest, x.Type().Elem(), c.pos, x)
}

// rowsFunc is a function of several rows in a select list.
func (b *binder) rowsFunc(c *call) plan.Expr {
	if b.unnests != c.scope || c.scope.clause != "" {
		unsupported(c.pos, "%s outside of a select list and FROM", c.name)
	}
	mustBeList(c.name, c.args, c.pos)
	f := funcs.RowLists[c.name]
	return plan.NewApply(funcs.Unnest, f.List.Elem(), c.pos, plan.NewApply(f.Fn, f.List, c.pos, c.args...))
}

// mustBeList holds generate_subscripts to a list.
func mustBeList(name string, args []plan.Expr, pos int) {
	if name == "generate_subscripts" && args[0].Type().Kind != types.List {
		panic(noFunction(name, args, pos))
	}
}

// listFill is array_fill. A list of lists is as deep as a constant says how many lengths there are.
func (b *binder) listFill(c *call) plan.Expr {
	x := b.settle(c.args[0])
	if k := c.args[1].Type().Kind; k != types.List && k != types.Unknown {
		panic(noFunction(c.name, c.args, c.pos))
	}
	dims := b.convert(c.args[1], types.TList(types.TInt32), c.argPos(1))
	t := b.listOf(x.Type(), c.pos)
	if k, ok := dims.(*plan.Const); ok && !k.V.Null {
		for range max(k.V.ListLen()-1, 0) {
			t = b.listOf(t, c.pos)
		}
	}
	return plan.NewApply(funcs.ListFill, t, c.pos, x, dims)
}

// rowsTable is such a function in FROM.
func (b *binder) rowsTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, *rel) {
	b.lateral++
	at := lateralScope(s, left)
	at.clause = "functions in FROM"
	name := t.Call.Name.Last()
	f := funcs.RowLists[name]
	var args []plan.Expr
	for _, a := range t.Call.Args {
		args = append(args, b.expr(at, a.X))
	}
	row := bestRow(funcs.Find(name), args)
	if row == nil || len(args) < 2 {
		panic(noFunction(name, args, t.Pos))
	}
	letters, _, _ := row.Params()
	for i, x := range args {
		want, _ := paramType(letters[i], x.Type())
		if letters[i] == 'J' {
			want = jsonParam(name, x.Type())
		}
		if want.Kind != types.Unknown {
			args[i] = b.convert(x, want, t.Call.Args[i].X.Position())
		}
		args[i] = b.settle(args[i])
	}
	mustBeList(name, args, t.Pos)
	return b.listTable(t, []plan.Expr{plan.NewApply(f.Fn, f.List, t.Pos, args...)}, []string{name})
}

// unnestable is a list.
func (b *binder) unnestable(x plan.Expr, pos int) plan.Expr {
	if x.Type().Kind != types.List {
		panic(noFunction("unnest", []plan.Expr{x}, pos))
	}
	return x
}

// unnestItems makes the rows of a select list with unnest and its like: as many of each as the longest list has elements. Shorter lists end
// with NULLs.
func (b *binder) unnestItems(node plan.Node, items []item, order, on []orderKey) plan.Node {
	var xs []*plan.Expr
	for i := range items {
		xs = append(xs, &items[i].x)
	}
	for _, keys := range [...][]orderKey{order, on} {
		for i := range keys {
			xs = append(xs, &keys[i].x)
		}
	}
	return b.severalRows(node, xs)
}

// makesRows reports a call that stands for several rows.
func makesRows(e plan.Expr) bool {
	c, ok := e.(*plan.Call)
	return ok && c.Fn != nil && (c.Fn == funcs.Unnest || c.Fn == funcs.SeriesItem)
}

// refuseRowsInside refuses functions of several rows where only some of them would be wanted.
func refuseRowsInside(e plan.Expr) {
	plan.WalkExpr(e, func(e plan.Expr) bool {
		c, ok := e.(*plan.Call)
		if !ok || c.Op != plan.Case && c.Op != plan.Coalesce {
			return true
		}
		plan.WalkExpr(c, func(e plan.Expr) bool {
			if makesRows(e) {
				panic(diag.Errorf(diag.FeatureNotSupported, e.(*plan.Call).Pos, "set-returning functions are not allowed in %s", strings.ToUpper(c.Op.String())).
					WithHint("move it into a LATERAL item of FROM"))
			}
			return true
		})
		return true
	})
}

// severalRows repeats rows as often as the longest list or series in some expressions, which get an element each. Calls whose arguments have such calls
// in them come after these, for each of their rows.
func (b *binder) severalRows(node plan.Node, xs []*plan.Expr) plan.Node {
	xs = slices.DeleteFunc(xs, func(x *plan.Expr) bool { return *x == nil })
	for {
		var calls []*plan.Call
		for _, x := range xs {
			plan.WalkExpr(*x, func(e plan.Expr) bool {
				if innermost(e) {
					calls = append(calls, e.(*plan.Call))
				}
				return true
			})
		}
		if len(calls) == 0 {
			return node
		}
		node = b.repeatFor(node, calls, xs)
	}
}

// innermost reports a call that stands for several rows, and has none inside.
func innermost(e plan.Expr) bool {
	return makesRows(e) && !slices.ContainsFunc(e.(*plan.Call).Args, func(a plan.Expr) bool {
		found := false
		plan.WalkExpr(a, func(e plan.Expr) bool {
			found = found || makesRows(e)
			return !found
		})
		return found
	})
}

// repeatFor repeats rows for calls that go along with each other, and puts elements in their places.
func (b *binder) repeatFor(node plan.Node, calls []*plan.Call, xs []*plan.Expr) plan.Node {
	n := &plan.Repeat{Input: node, Col: b.cols.New("element", types.TInt64, true)}
	var lists, lengths []plan.Expr
	for _, c := range calls {
		if c.Fn == funcs.Unnest {
			lists = append(lists, c.Args[0])
		} else {
			zero := plan.NewConst(types.IntValue(types.TInt64, 0))
			lengths = append(lengths, plan.NewCall(plan.Coalesce, types.TInt64, plan.NewApply(funcs.SeriesLength, types.TInt64, c.Pos, c.Args...), zero))
		}
	}
	if lists != nil {
		lengths = append(lengths, plan.NewApply(funcs.ListRows, types.TInt64, 0, lists...))
	}
	n.Count = lengths[0]
	for _, l := range lengths[1:] {
		n.Count = plan.NewCall(plan.Greatest, types.TInt64, n.Count, l)
	}
	for _, x := range xs {
		*x = plan.MapExpr(*x, func(e plan.Expr) plan.Expr {
			if !slices.ContainsFunc(calls, func(c *plan.Call) bool { return plan.Expr(c) == e }) {
				return e
			}
			return b.rowElement(e.(*plan.Call), n.Col, len(calls) > 1)
		})
	}
	return n
}

// rowElement is the element of a list or a series in a copy of a row; among others it may have ended before.
func (b *binder) rowElement(c *plan.Call, col plan.ColID, among bool) plan.Expr {
	if c.Fn == funcs.Unnest {
		return plan.NewApply(funcs.ListNext, c.T, c.Pos, c.Args[0], b.nextNumber(col))
	}
	e := b.seriesElement(c.Args[0], c.Args[2], c.Args[3:], b.ref(col), c.T, c.Pos)
	if !among {
		return e
	}
	length := plan.NewApply(funcs.SeriesLength, types.TInt64, c.Pos, c.Args...)
	return plan.NewCall(plan.Case, c.T, plan.Compare(plan.Lt, b.ref(col), length), e, plan.NullConst(c.T))
}

// seriesFunc is generate_series in a select list.
func (b *binder) seriesFunc(c *call) plan.Expr {
	if b.unnests != c.scope || c.scope.clause != "" {
		unsupported(c.pos, "generate_series outside of a select list and FROM")
	}
	args := c.args
	if len(args) == 2 {
		args = append(args, plan.NewConst(types.IntValue(types.TInt32, 1)))
	}
	typ := b.seriesType(&ast.FuncTable{Pos: c.pos, Call: c.f}, args, c.name, len(c.args))
	if typ == types.TTimestampTZ {
		args = append(args, plan.NewConst(types.TextValue(b.zone().Spec())))
	}
	return plan.NewApply(funcs.SeriesItem, typ, c.pos, args...)
}

// nextNumber is the number of a copy, from 1.
func (b *binder) nextNumber(col plan.ColID) plan.Expr {
	return plan.NewCall(plan.Add, types.TInt64, b.ref(col), plan.NewConst(types.IntValue(types.TInt64, 1)))
}

// unnestTable is unnest(list, …) in FROM: a column for each list.
func (b *binder) unnestTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, *rel) {
	b.lateral++
	at := lateralScope(s, left)
	at.clause = "functions in FROM"
	if len(t.Call.Args) == 0 {
		fail(diag.UndefinedFunction, t.Pos, "function unnest() does not exist")
	}
	var lists []plan.Expr
	var names []string
	for _, a := range t.Call.Args {
		lists, names = append(lists, b.unnestable(b.expr(at, a.X), t.Pos)), append(names, "unnest")
	}
	if t.Names != nil {
		names = t.Names
	}
	return b.listTable(t, lists, names)
}

// listTable is the rows of lists that go along with each other, a column for each.
func (b *binder) listTable(t *ast.FuncTable, lists []plan.Expr, names []string) (plan.Node, *rel) {
	n := &plan.Repeat{Input: b.computedOnce(lists), Col: b.cols.New("copy", types.TInt64, true)}
	p := &plan.Project{Input: n}
	var cols []outCol
	add := func(name string, x plan.Expr) {
		id := b.cols.New(name, x.Type(), name == "ordinality")
		p.Cols, p.Exprs = append(p.Cols, id), append(p.Exprs, x)
		cols = append(cols, outCol{name: name, id: id})
	}
	for i, x := range lists {
		add(names[i], plan.NewApply(funcs.ListNext, x.Type().Elem(), t.Pos, x, b.nextNumber(n.Col)))
	}
	if t.Ordinality {
		add("ordinality", b.nextNumber(n.Col))
	}
	n.Count = plan.NewApply(funcs.ListRows, types.TInt64, t.Pos, lists...)
	r := b.derived(&result{p, cols}, t.Pos)
	if r.name = t.Call.Name.Last(); len(t.Names) == 1 {
		r.name = t.Names[0]
	}
	if t.Alias != nil && len(t.Alias.Columns) == 0 && !t.Alias.Name.Empty() && len(lists) == 1 && names[0] == r.name {
		r.cols[0].name = t.Alias.Name.Name // the column takes the alias, as in PostgreSQL, unless it has a name of its own
	}
	applyAlias(r, t.Alias)
	return p, r
}
