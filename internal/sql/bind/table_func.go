package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxSeries is a length that nobody waits for.
const maxSeries = 1 << 40

// funcTable binds a function in FROM.
func (b *binder) funcTable(s *scope, t *ast.FuncTable) (plan.Node, []*rel) {
	if t.Ordinality {
		unsupported(t.Pos, "WITH ORDINALITY")
	}
	name := t.Call.Name.Last()
	if m := b.findMacro(t.Call.Name, true); m != nil {
		return b.macroTable(s, m, t)
	}
	switch name {
	case "read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_ndjson_auto":
		return b.readFile(t, name)
	case "generate_series", "range":
		n, r := b.series(s, t, name == "generate_series")
		return n, []*rel{r}
	}
	panic(diag.Errorf(diag.UndefinedFunction, t.Pos, "table function %s does not exist", name).
		WithHint(diag.DidYouMean(name, []string{"read_parquet", "read_csv", "read_json", "generate_series", "range"})))
}

// fileFormat is the format that a function reads.
func fileFormat(function string) string {
	for _, f := range []string{"parquet", "csv", "json"} {
		if strings.Contains(function, f) || f == "json" {
			return f
		}
	}
	return ""
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
	id := b.cols.New(t.Call.Name.Last(), typ, true)
	var node plan.Node = &plan.Series{Col: id, From: from, Step: step, N: int64(n)}
	if n == 0 {
		node = &plan.Values{Cols: []plan.ColID{id}}
	}
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
