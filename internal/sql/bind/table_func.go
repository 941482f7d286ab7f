package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A short series is written out in the plan. A longer one is the product of two short ones, up to
// a length that nobody waits for.
const (
	shortSeries = 1 << 10
	maxSeries   = 1 << 40
)

// funcTable binds a function in FROM.
func (b *binder) funcTable(s *scope, t *ast.FuncTable) (plan.Node, []*rel) {
	if t.Ordinality {
		unsupported(t.Pos, "WITH ORDINALITY")
	}
	name := t.Call.Name.Last()
	switch name {
	case "read_parquet", "read_csv", "read_csv_auto", "parquet_scan":
		if len(t.Call.Args) != 1 || !t.Call.Args[0].Name.Empty() {
			unsupported(t.Pos, "%s with options", name)
		}
		x := t.Call.Args[0].X
		c, ok := b.settle(b.expr(&scope{outer: s.outer, depth: s.depth, clause: "functions in FROM"}, x)).(*plan.Const)
		if !ok || c.V.Null || c.V.Type.Kind != types.Text {
			fail(diag.InvalidParameter, x.Position(), "%s needs the name of a file", name)
		}
		return b.tableExpr(s, nil, &ast.FileRef{Pos: x.Position(), Path: c.V.S, Alias: t.Alias})
	case "generate_series", "range":
		n, r := b.series(s, t, name == "generate_series")
		return n, []*rel{r}
	}
	panic(diag.Errorf(diag.UndefinedFunction, t.Pos, "table function %s does not exist", name).
		WithHint(diag.DidYouMean(name, []string{"read_parquet", "read_csv", "generate_series", "range"})))
}

// series is generate_series(from, to [, step]) or range, which leaves out the end, over constants.
func (b *binder) series(s *scope, t *ast.FuncTable, inclusive bool) (plan.Node, *rel) {
	at := &scope{outer: s.outer, depth: s.depth, clause: "functions in FROM"}
	v := [3]int64{0, 0, 1}
	given := len(t.Call.Args)
	if given < 1 || given > 3 || given == 1 && inclusive {
		fail(diag.UndefinedFunction, t.Pos, "%s takes a start, an end and optionally a step", t.Call.Name.Last())
	}
	typ := types.TInt32
	for i, a := range t.Call.Args {
		e := b.expr(at, a.X)
		if !e.Type().IsInteger() {
			unsupported(a.X.Position(), "%s of %s", t.Call.Name.Last(), e.Type().SQLName())
		}
		c, ok := e.(*plan.Const)
		if !ok || c.V.Null {
			unsupported(a.X.Position(), "%s of values that are not constants", t.Call.Name.Last())
		}
		if e.Type().Kind == types.Int64 {
			typ = types.TInt64
		}
		if given == 1 {
			i = 1
		}
		v[i] = c.V.I
	}
	from, to, step := v[0], v[1], v[2]
	if step == 0 {
		fail(diag.InvalidParameter, t.Pos, "step size cannot equal zero")
	}
	n := seriesLength(from, to, step, inclusive)
	if n > maxSeries {
		unsupported(t.Pos, "a series of more than %d rows", int64(maxSeries))
	}
	node, id := b.seriesNode(from, step, int64(n), typ, t.Call.Name.Last())
	r := b.derived(&result{node, []outCol{{name: t.Call.Name.Last(), id: id}}}, t.Pos)
	r.name = t.Call.Name.Last()
	if t.Alias != nil && len(t.Alias.Columns) == 0 && !t.Alias.Name.Empty() {
		r.cols[0].name = t.Alias.Name.Name // the column takes the alias, as in PostgreSQL
	}
	applyAlias(r, t.Alias)
	return node, r
}

// seriesLength is the number of elements of a series.
func seriesLength(from, to, step int64, inclusive bool) uint64 {
	width := uint64(to) - uint64(from)
	by := uint64(step)
	up := step > 0
	if !up {
		width, by = -width, -by
	}
	if up && to < from || !up && to > from || to == from && !inclusive {
		return 0
	}
	if !inclusive {
		width--
	}
	return width/by + 1
}

// seriesNode makes from, from + step, … of n elements: as it is, or for a long series as
// high * short + low over all pairs of two short ones.
func (b *binder) seriesNode(from, step, n int64, typ types.Type, name string) (plan.Node, plan.ColID) {
	count := func(n int64, name string, f func(int64) types.Value) (*plan.Values, plan.ColID) {
		id := b.cols.New(name, f(0).Type, true)
		v := &plan.Values{Cols: []plan.ColID{id}, Rows: make([][]plan.Expr, n)}
		for i := range n {
			v.Rows[i] = []plan.Expr{&plan.Const{V: f(i)}}
		}
		return v, id
	}
	if n <= shortSeries {
		return count(n, name, func(i int64) types.Value { return types.IntValue(typ, from+i*step) })
	}
	short := int64(shortSeries)
	for short*short < n {
		short *= 2
	}
	index := func(i int64) types.Value { return types.IntValue(types.TInt64, i) }
	high, h := count((n+short-1)/short, "high", index)
	low, l := count(short, "low", index)
	arith := func(op plan.Op, x plan.Expr, y int64) plan.Expr {
		return plan.NewCall(op, types.TInt64, x, &plan.Const{V: index(y)})
	}
	at := plan.NewCall(plan.Add, types.TInt64, arith(plan.Mul, b.ref(h), short), b.ref(l))
	var node plan.Node = &plan.Join{Kind: plan.Inner, Left: high, Right: low}
	node = &plan.Filter{Input: node, Preds: []plan.Expr{plan.Compare(plan.Lt, at, &plan.Const{V: index(n)})}}
	e := b.convert(arith(plan.Add, arith(plan.Mul, at, step), from), typ, -1)
	id := b.cols.New(name, typ, true)
	return &plan.Project{Input: node, Exprs: []plan.Expr{e}, Cols: []plan.ColID{id}}, id
}
