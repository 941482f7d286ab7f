package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxSeries is a length that nobody waits for.
const maxSeries = 1 << 40

// funcTable binds a function in FROM.
func (b *binder) funcTable(s *scope, left []*rel, t *ast.FuncTable) (plan.Node, []*rel) {
	name := t.Call.Name.Last()
	_, rows := funcs.RowLists[name]
	if t.Ordinality && !rows && name != "generate_series" && name != "range" && name != "unnest" && !strings.HasPrefix(name, "json") {
		unsupported(t.Pos, "WITH ORDINALITY of %s", name)
	}
	if record := strings.HasPrefix(name, "json") && strings.Contains(name, "_to_record"); len(t.Defs) > 0 && !record {
		fail(diag.SyntaxError, t.Defs[0].Pos, "a column definition list is only allowed for functions returning \"record\"")
	}
	if m := b.findMacro(t.Call.Name, true); m != nil {
		return b.macroTable(s, m, t)
	}
	if pragma, args, ok := pragmaCall(t.Call); ok {
		q := b.query(b.pragmaQuery(pragma, args, t.Pos), nil)
		r := b.derived(&q, t.Pos)
		r.name = name
		applyAlias(r, t.Alias)
		return q.node, []*rel{r}
	}
	switch name {
	case "read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_ndjson_auto", "read_arrow", "scan_arrow_ipc":
		return b.readFile(t, name)
	case "unnest":
		n, r := b.unnestTable(s, left, t)
		return n, []*rel{valueRows(r)}
	case "json_array_elements", "jsonb_array_elements", "json_array_elements_text", "jsonb_array_elements_text", "json_object_keys", "jsonb_object_keys",
		"json_each", "jsonb_each", "json_each_text", "jsonb_each_text":
		n, r := b.jsonTable(s, left, t)
		return n, []*rel{valueRows(r)}
	case "json_to_record", "jsonb_to_record", "json_to_recordset", "jsonb_to_recordset":
		n, r := b.recordTable(s, left, t)
		return n, []*rel{r}
	case "json_populate_record", "jsonb_populate_record", "json_populate_recordset", "jsonb_populate_recordset":
		n, r := b.populatedTable(s, left, t)
		return n, []*rel{r}
	case "jsonb_path_query", "regexp_matches", "regexp_split_to_table", "string_to_table", "generate_subscripts":
		n, r := b.rowsTable(s, left, t)
		return n, []*rel{valueRows(r)}
	case "generate_series", "range":
		n, r := b.series(s, left, t, name == "generate_series")
		return n, []*rel{valueRows(r)}
	}
	if hint, ok := foreignTables[name]; ok {
		panic(diag.Unsupported(t.Pos, "the table function %s", name).WithHint("%s", hint))
	}
	if hint, ok := funcs.Absent(name); ok {
		panic(diag.Unsupported(t.Pos, "the table function %s", name).WithHint("%s", hint))
	}
	panic(diag.Errorf(diag.UndefinedFunction, t.Pos, "table function %s does not exist", name).
		WithHint(diag.DidYouMean(name, []string{"read_parquet", "read_csv", "read_json", "read_arrow", "generate_series", "range"})))
}

// valueRows notes of a function's rows that they are values, if they have one column: the function's name then stands for it.
func valueRows(r *rel) *rel {
	r.values = len(r.cols) == 1
	return r
}

// foreignTables are table functions that PostgreSQL or DuckDB has, with what there is instead.
var foreignTables = func() map[string]string {
	m := map[string]string{}
	for hint, names := range map[string]string{
		"information_schema and pg_catalog have tables of such":                              "duckdb_columns duckdb_constraints duckdb_databases duckdb_dependencies duckdb_functions duckdb_indexes duckdb_schemas duckdb_sequences duckdb_tables duckdb_types duckdb_views",
		"SHOW ALL lists the settings":                                                        "duckdb_settings pg_settings pg_show_all_settings",
		"DESCRIBE SELECT * FROM 'x.parquet' shows the columns of a file":                     "parquet_schema parquet_metadata parquet_file_metadata parquet_kv_metadata sniff_csv",
		"read_csv reads a text file line by line with a delimiter that does not occur in it": "read_text read_blob glob",
		"COPY there, and FROM 'x.parquet' or 'x.csv' here, bring rows over":                  "postgres_scan postgres_query sqlite_scan sqlite_query mysql_scan mysql_query iceberg_scan delta_scan st_read read_xlsx",
		"generate_series(1, n) makes as many rows":                                           "repeat repeat_row",
		"unnest turns a list into rows":                                                      "regexp_split_to_table regexp_matches string_to_table",
	} {
		for _, n := range strings.Fields(names) {
			m[n] = hint
		}
	}
	return m
}()

// fileFormat is the format that a function reads.
func fileFormat(function string) string {
	for _, f := range []string{"parquet", "csv", "arrow", "json"} {
		if strings.Contains(function, f) || f == "json" {
			return f
		}
	}
	return ""
}

// series is generate_series(from, to [, step]) or range, which leaves out the end. Its arguments may refer to the tables to its
// left.
func (b *binder) series(s *scope, left []*rel, t *ast.FuncTable, inclusive bool) (plan.Node, *rel) {
	b.lateral++
	at := lateralScope(s, left)
	at.clause = "functions in FROM"
	name := t.Call.Name.Last()
	given := len(t.Call.Args)
	if given < 1 || given > 3 || given == 1 && inclusive {
		fail(diag.UndefinedFunction, t.Pos, "%s takes a start, an end and optionally a step", name)
	}
	args := make([]plan.Expr, given, 3)
	for i, a := range t.Call.Args {
		args[i] = b.expr(at, a.X)
	}
	one := plan.Expr(plan.NewConst(types.IntValue(types.TInt32, 1)))
	switch given {
	case 1:
		args = []plan.Expr{plan.NewConst(types.IntValue(types.TInt32, 0)), args[0], one}
	case 2:
		args = append(args, one)
	}
	typ := b.seriesType(t, args, name, given)
	id := b.cols.New(name, typ, true)
	node := b.constantSeries(args, id, t, inclusive)
	cols := []outCol{{name: name, id: id}}
	if node == nil {
		node, cols = b.repeatedSeries(args, id, t, inclusive)
	}
	r := b.derived(&result{node, cols}, t.Pos)
	r.name = name
	if t.Alias != nil && len(t.Alias.Columns) == 0 && !t.Alias.Name.Empty() {
		r.cols[0].name = t.Alias.Name.Name // the column takes the alias, as in PostgreSQL
	}
	applyAlias(r, t.Alias)
	return node, r
}

// seriesType brings the arguments of a series to the types in which it is computed and gives that of its elements.
func (b *binder) seriesType(t *ast.FuncTable, args []plan.Expr, name string, given int) types.Type {
	pos := func(i int) int { return t.Call.Args[min(i, given-1)].X.Position() }
	typ := types.TInt32
	for i, e := range args {
		switch k := e.Type().Kind; {
		case i < 2 && k == types.TimestampTZ:
			typ = types.TTimestampTZ
		case i < 2 && e.Type().IsCalendar():
			if typ != types.TTimestampTZ {
				typ = types.TTimestamp
			}
		case k == types.Decimal && !typ.IsCalendar():
			typ, _ = types.CommonType(typ, e.Type())
		case e.Type().IsInteger() && typ.IsNumeric():
			typ, _ = types.CommonType(typ, e.Type())
		case !e.Type().IsInteger() && k != types.Unknown && !(i == 2 && k == types.Interval):
			panic(noFunction(name, args, t.Pos))
		}
	}
	if name == "generate_series" && typ == types.TTimestamp && args[0].Type().Kind != types.Timestamp && args[1].Type().Kind != types.Timestamp {
		typ = types.TTimestampTZ // of dates, which PostgreSQL prefers; range is DuckDB's, and a TIMESTAMP
	}
	for i, e := range args {
		want := types.TInt64
		if typ.Kind == types.Decimal {
			want = typ
		}
		if typ.IsCalendar() {
			want = typ
			if i == 2 {
				want = types.TInterval
			}
		}
		if k := e.Type().Kind; (want == types.TInterval) != (k == types.Interval) && k != types.Unknown {
			panic(noFunction(name, args, t.Pos))
		}
		if e.Type().IsNumeric() && !want.IsNumeric() {
			panic(noFunction(name, args, t.Pos))
		}
		args[i] = b.convert(e, want, pos(i))
	}
	return typ
}

// constantSeries is a series of integers that are known; nil: they are not.
func (b *binder) constantSeries(args []plan.Expr, id plan.ColID, t *ast.FuncTable, inclusive bool) plan.Node {
	var v [3]int64
	for i, e := range args {
		c, ok := e.(*plan.Const)
		if !ok || t.Ordinality || c.V.Type.Kind != types.Int64 {
			return nil
		}
		if c.V.Null {
			return &plan.Values{Cols: []plan.ColID{id}}
		}
		v[i] = c.V.I
	}
	from, to, step := v[0], v[1], v[2]
	if step == 0 {
		fail(diag.InvalidParameter, t.Pos, "step size cannot equal zero")
	}
	if from == to && !inclusive {
		return &plan.Values{Cols: []plan.ColID{id}}
	}
	n := funcs.IntegerSteps(from, to, step)
	if last := int64(uint64(from) + (n-1)*uint64(step)); n > 0 && last == to && !inclusive {
		n--
	}
	if n > maxSeries {
		unsupported(t.Pos, "a series of more than %d rows", int64(maxSeries))
	}
	if n == 0 {
		return &plan.Values{Cols: []plan.ColID{id}}
	}
	return &plan.Series{Col: id, From: from, Step: step, N: int64(n)}
}

// repeatedSeries repeats a row as often as the series has elements, and makes these of the numbers of the copies.
func (b *binder) repeatedSeries(args []plan.Expr, id plan.ColID, t *ast.FuncTable, inclusive bool) (plan.Node, []outCol) {
	input := b.computedOnce(args)
	from, to, step := args[0], args[1], args[2]
	typ := b.cols.Get(id).Type
	n := &plan.Repeat{Input: input, Col: b.cols.New("copy", types.TInt64, true)}
	length := []plan.Expr{from, to, step}
	var zone []plan.Expr
	if typ == types.TTimestampTZ {
		zone = []plan.Expr{plan.NewConst(types.TextValue(b.zone().Spec()))}
	}
	n.Count = plan.NewApply(funcs.SeriesLength, types.TInt64, t.Pos, append(length, zone...)...)
	number := b.ref(n.Col)
	p := &plan.Project{Input: n, Cols: []plan.ColID{id}}
	p.Exprs = []plan.Expr{b.seriesElement(from, step, zone, number, typ, t.Pos)}
	cols := []outCol{{name: b.cols.Get(id).Name, id: id}}
	if t.Ordinality {
		e := plan.NewCall(plan.Add, types.TInt64, number, plan.NewConst(types.IntValue(types.TInt64, 1)))
		o := b.cols.New("ordinality", types.TInt64, true)
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, o)
		cols = append(cols, outCol{name: "ordinality", id: o})
	}
	if inclusive {
		return p, cols
	}
	return &plan.Filter{Input: p, Preds: []plan.Expr{plan.Compare(plan.Ne, b.ref(id), b.convert(to, typ, t.Pos))}}, cols
}

// computedOnce is one row with the values of those expressions that a plan must not have twice: subqueries, and what is another each time.
// References take their places.
func (b *binder) computedOnce(exprs []plan.Expr) plan.Node {
	p := &plan.Project{Input: oneRow()}
	for i, e := range exprs {
		if plan.HasSubquery(e) || plan.Volatile(e) {
			id := b.cols.New("argument", e.Type(), false)
			p.Cols, p.Exprs = append(p.Cols, id), append(p.Exprs, e)
			exprs[i] = b.ref(id)
		}
	}
	if p.Cols == nil {
		return p.Input
	}
	return p
}

// seriesElement is element number i, from 0, of a series.
func (b *binder) seriesElement(from, step plan.Expr, zone []plan.Expr, number plan.Expr, typ types.Type, pos int) plan.Expr {
	if typ.Kind == types.Decimal {
		return plan.NewApply(funcs.SeriesNumber, typ, pos, from, step, number)
	}
	if typ.IsCalendar() {
		return plan.NewApply(funcs.SeriesTime, typ, pos, append([]plan.Expr{from, step, number}, zone...)...)
	}
	e := plan.NewCall(plan.Add, types.TInt64, from, plan.NewCall(plan.Mul, types.TInt64, number, step))
	return b.convert(e, typ, pos)
}
