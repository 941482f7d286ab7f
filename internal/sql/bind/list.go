package bind

import (
	"math"

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
	f := funcs.RowLists[c.name]
	return plan.NewApply(funcs.Unnest, f.List.Elem(), c.pos, plan.NewApply(f.Fn, f.List, c.pos, c.args...))
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
		args = append(args, b.settle(b.expr(at, a.X)))
	}
	if row := bestRow(funcs.Find(name), args); row == nil || len(args) < 2 {
		panic(noFunction(name, args, t.Pos))
	}
	return b.listTable(t, []plan.Expr{plan.NewApply(f.Fn, f.List, t.Pos, args...)}, []string{name})
}

// unnestable is a list.
func (b *binder) unnestable(x plan.Expr, pos int) plan.Expr {
	if x.Type().Kind != types.List {
		panic(noFunction("unnest", []plan.Expr{x}, pos))
	}
	return x
}

// unnestItems makes the rows of a select list with unnest: as many of each as the longest list has elements. Shorter lists end
// with NULLs.
func (b *binder) unnestItems(node plan.Node, items []item, order, on []orderKey) plan.Node {
	var lists []plan.Expr
	n := &plan.Repeat{Input: node}
	replace := func(x plan.Expr) plan.Expr {
		if x == nil {
			return nil
		}
		return plan.MapExpr(x, func(x plan.Expr) plan.Expr {
			c, ok := x.(*plan.Call)
			if !ok || c.Fn != funcs.Unnest {
				return x
			}
			if n.Col == 0 {
				n.Col = b.cols.New("element", types.TInt64, true)
			}
			lists = append(lists, c.Args[0])
			return plan.NewApply(funcs.ListNext, c.T, c.Pos, c.Args[0], b.nextNumber(n.Col))
		})
	}
	for i := range items {
		items[i].x = replace(items[i].x)
	}
	for _, keys := range [...][]orderKey{order, on} {
		for i := range keys {
			keys[i].x = replace(keys[i].x)
		}
	}
	if len(lists) == 0 {
		return node
	}
	n.Count = plan.NewApply(funcs.ListRows, types.TInt64, 0, lists...)
	return n
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
	return b.listTable(t, lists, names)
}

// listTable is the rows of lists that go along with each other, a column for each.
func (b *binder) listTable(t *ast.FuncTable, lists []plan.Expr, names []string) (plan.Node, *rel) {
	n := &plan.Repeat{Input: oneRow(), Col: b.cols.New("copy", types.TInt64, true)}
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
	r.name = t.Call.Name.Last()
	if t.Alias != nil && len(t.Alias.Columns) == 0 && !t.Alias.Name.Empty() && len(lists) == 1 && names[0] == r.name {
		r.cols[0].name = t.Alias.Name.Name // the column takes the alias, as in PostgreSQL, unless it has a name of its own
	}
	applyAlias(r, t.Alias)
	return p, r
}
