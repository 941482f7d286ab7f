package planjson

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
	columns "github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// oneTable is a database with a table t(a integer not null, b varchar, d decimal(10,2)), and with one switch, of joins.
func oneTable() Lookup {
	table := catalog.NewTable("t", []catalog.ColumnDef{{Name: "a", Type: types.TInt32, NotNull: true}, {Name: "b", Type: types.TText}, {Name: "d", Type: types.TDecimal(10, 2)}},
		nil, columns.Options{})
	return Lookup{func(schema, name string) (*catalog.Table, error) {
		if name == "t" && schema == "" {
			return table, nil
		}
		return nil, fmt.Errorf("table %q does not exist", name)
	}, func(string) (types.Type, bool) { return types.Type{}, false }, func(op, name, value string) error {
		if op != "join" || name != "speed" {
			return fmt.Errorf("no %s of a %s can be %s", name, op, value)
		}
		return nil
	}}
}

// scanned is a scan of t, between what comes around it.
const scanned = `{"op": "scan", "table": "t", "columns": [{"as": "x", "column": "a"}, {"as": "y", "column": "b"}, {"as": "z", "column": "d"}]}`

func documentOf(plan, output string) string {
	return fmt.Sprintf(`{"kelpie_plan": 1, "plan": %s, "output": [{"column": %q, "name": "out"}]}`, plan, output)
}

// TestMistakes: each is told with its place.
func TestMistakes(t *testing.T) {
	expr := func(e string) string {
		return documentOf(`{"op": "project", "columns": [{"as": "e", "value": `+e+`}], "input": `+scanned+`}`, "e")
	}
	agg := func(a string) string {
		return documentOf(`{"op": "group", "aggregates": [`+a+`], "input": `+scanned+`}`, "s")
	}
	join := func(more string) string {
		return documentOf(`{"op": "join", `+more+`, "left": `+scanned+`, "right": {"op": "scan", "table": "t", "columns": [{"as": "x2", "column": "a"}, {"as": "y2", "column": "b"}]}}`, "x")
	}
	for _, c := range []struct{ text, want string }{
		{`{"kelpie_plan": 1,`, `line 1, column 18: unexpected EOF`},
		{"{\n \"plan\": ]", `line 2, column 10`},
		{`{} {}`, "something follows the document"},
		{`[]`, `at $: a list where an object is expected`},
		{`{"kelpie_plan": 2}`, `at $.kelpie_plan: version 2; this is version 1`},
		{`{"kelpie_plan": 1}`, `at $.plan: an operator is missing`},
		{`{"kelpie_plan": 1, "plam": 2}`, `at $.plam: there is no such field`},
		{`{"kelpie_plan": "1"}`, `at $.kelpie_plan: a string where a number is expected`},
		{`{"kelpie_plan": 1.5}`, `at $.kelpie_plan: 1.5 is not an integer`},
		{documentOf(`{"op": "scann"}`, "x"), `at $.plan.op: there is no operator "scann"`},
		{documentOf(`{"op": "scan", "table": "u"}`, "x"), `at $.plan.table: table "u" does not exist`},
		{documentOf(`{"op": "scan", "table": "t", "columns": [{"as": "x", "column": "aa"}]}`, "x"), `at $.plan.columns[0].column: there is no column "aa"`},
		{documentOf(`{"op": "scan", "table": "t", "columns": [{"as": "x", "column": "a"}, {"as": "x", "column": "b"}]}`, "x"), `at $.plan.columns[1].as: there are two columns "x"`},
		{documentOf(`{"op": "scan", "table": "t", "columns": [{"column": "a"}]}`, "x"), `at $.plan.columns[0].as: a column needs a name`},
		{documentOf(`{"op": "scan", "table": "t", "limit": 3}`, "x"), `at $.plan.limit: the operator scan has no such field, but table`},
		{documentOf(scanned, "w"), `at $.output[0].column: there is no column "w"`},
		{`{"kelpie_plan": 1, "plan": ` + scanned + `, "output": []}`, `at $.output: a query has at least one column`},
		{documentOf(`{"op": "filter", "where": ["x"], "input": `+scanned+`}`, "x"), `at $.plan.where[0]: INTEGER where BOOLEAN is expected`},
		{documentOf(`{"op": "project", "keep": ["x"], "columns": [{"as": "e"}], "input": `+scanned+`}`, "x"), `at $.plan.columns[0].value: an expression is missing`},
		{documentOf(`{"op": "filter", "where": [{"op": "=", "args": ["x", {"value": "1", "type": "integer"}]}], "input": {"op": "project", "keep": ["y"], "input": `+scanned+`}}`, "y"),
			`at $.plan.where[0].args[0]: column "x" is not visible here`},
		{expr(`{}`), `at $.plan.columns[0].value: an expression is the name of a column, or has one of`},
		{expr(`""`), `at $.plan.columns[0].value: a column without a name`},
		{expr(`{"value": "1", "op": "+", "type": "integer"}`), `has one of`},
		{expr(`{"value": "one", "type": "integer"}`), `at $.plan.columns[0].value.value: invalid input syntax`},
		{expr(`{"value": "1", "type": "number"}`), `at $.plan.columns[0].value.type: type "number" does not exist`},
		{expr(`{"value": "1"}`), `at $.plan.columns[0].value.type: a type is missing`},
		{expr(`{"op": "+", "args": ["x", "y"], "type": "integer"}`), `at $.plan.columns[0].value: operand 2 of + is VARCHAR, which does not fit`},
		{expr(`{"op": "+", "args": ["x"], "type": "integer"}`), `+ with 1 operands`},
		{expr(`{"op": "+", "args": ["x", "x"], "type": "varchar"}`), `+ cannot be VARCHAR`},
		{expr(`{"op": "+", "args": ["x", "x"]}`), `value.type: a type is missing`},
		{expr(`{"op": "*", "args": ["z", "z"], "type": "decimal(20,2)"}`), `* of DECIMAL(10,2) and DECIMAL(10,2) is not DECIMAL(20,2)`},
		{expr(`{"op": "-", "args": ["z", "x"], "type": "decimal(12,2)"}`), `DECIMAL(10,2) less INTEGER is not DECIMAL(12,2)`},
		{expr(`{"op": "like", "args": ["y", "x"]}`), `operand 2 of like is INTEGER`},
		{expr(`{"op": "in", "args": ["x", "x"]}`), `in wants a literal`},
		{expr(`{"op": "case", "args": ["x", "x"], "type": "integer"}`), `operand 1 of case is INTEGER, not BOOLEAN`},
		{expr(`{"op": "extract", "args": ["y", {"null": true, "type": "date"}], "type": "bigint"}`), `extract wants a literal`},
		{expr(`{"op": "apply", "type": "integer"}`), `there is no operation "apply"`},
		{expr(`{"function": "no_such(text)", "type": "integer"}`), `at $.plan.columns[0].value.function: there is no function "no_such(text)"`},
		{agg(`{"as": "s", "function": "sum", "args": ["y"], "type": "bigint"}`), `at $.plan.aggregates[0].type: sum of VARCHAR is not BIGINT`},
		{agg(`{"as": "s", "function": "sum", "args": [], "type": "bigint"}`), `at $.plan.aggregates[0].args: sum has 1 argument(s), not 0`},
		{agg(`{"as": "s", "function": "count(*)", "args": ["x"], "type": "bigint"}`), `count(*) has 0 argument(s), not 1`},
		{agg(`{"as": "s", "function": "summ", "args": ["x"], "type": "bigint"}`), `at $.plan.aggregates[0].function: there is no aggregate "summ"`},
		{agg(`{"as": "s", "function": "nope", "fold": true, "args": ["x"], "type": "bigint"}`), `there is no fold "nope"`},
		{agg(`{"as": "s", "function": "folded", "args": ["x"], "type": "bigint"}`), `there is no aggregate "folded"`},
		{join(`"kind": "outer"`), `at $.plan.kind: there is no kind of join "outer"`},
		{join(`"kind": "inner", "keys": [{"left": "x", "right": "y2"}]`), `at $.plan.keys[0]: keys are of INTEGER and VARCHAR`},
		{join(`"kind": "inner", "keys": [{"left": "x2", "right": "x2"}]`), `at $.plan.keys[0].left: column "x2" is not visible here`},
		{join(`"kind": "inner", "build": "both"`), `at $.plan.build: "both" is neither left nor right`},
		{join(`"kind": "single", "build": "left"`), `a single join cannot build its left side`},
		{join(`"kind": "mark"`), `at $.plan.mark: a mark join, and no other`},
		{join(`"kind": "left", "gate": true`), `only semi joins can be gates`},
		{documentOf(`{"op": "shared", "shared": 0}`, "x"), `at $.plan.shared: there is no such shared plan before this place`},
		{documentOf(`{"op": "series", "as": "i", "type": "smallint", "from": 1, "step": 1, "count": 40000}`, "i"), `at $.plan.count: 40000 is no SMALLINT`},
		{documentOf(`{"op": "series", "as": "i", "type": "bigint", "from": 1, "step": 9223372036854775807, "count": 9223372036854775807}`, "i"), `is no BIGINT`},
		{documentOf(`{"op": "values", "columns": [{"as": "i", "type": "integer"}], "rows": [[{"value": "1", "type": "varchar"}]]}`, "i"), `at $.plan.rows[0][0]: VARCHAR where INTEGER is expected`},
		{documentOf(`{"op": "values", "columns": [{"as": "i", "type": "integer"}], "rows": [[]]}`, "i"), `at $.plan.rows[0]: 0 values for 1 columns`},
		{documentOf(`{"op": "sort", "limit": -1, "input": `+scanned+`}`, "x"), `LIMIT and OFFSET must not be negative`},
		{documentOf(`{"op": "work", "number": 3}`, "x"), `at $.plan.number: no recursion 3 is around it`},
		{documentOf(`{"op": "union all", "sources": [["x"]], "columns": [{"as": "u", "type": "varchar"}], "inputs": [`+scanned+`]}`, "u"), `INTEGER where VARCHAR is expected`},
		{documentOf(`{"op": "union all", "sources": [["x", "y"]], "columns": [{"as": "u", "type": "integer"}], "inputs": [`+scanned+`]}`, "u"), `at $.plan.sources[0]: 2 columns instead of 1`},
		{documentOf(`{"op": "window", "windows": [{}], "functions": [{"as": "w", "function": "rank", "type": "bigint", "window": 1, "unit": "rows", "start": {"kind": "current row"}, "end": {"kind": "current row"}}], "input": `+scanned+`}`, "w"),
			`at $.plan.functions[0].window: there is no window 1`},
		{join(`"kind": "inner", "switches": {"speed": "5", "haste": "6"}`), `at $.plan.switches.haste: no haste of a join can be 6`},
		{documentOf(`{"op": "filter", "input": `+strings.Replace(scanned, `"op"`, `"switches": {"speed": "5"}, "op"`, 1)+`}`, "x"), `at $.plan.input.switches.speed: no speed of a scan can be 5`},
		{documentOf(strings.Replace(scanned, `"op"`, `"switches": {"speed": 5}, "op"`, 1), "x"), `at $.plan.switches.speed: a number where a string is expected`},
		{documentOf(strings.Repeat(`{"op": "filter", "input": `, 600)+scanned+strings.Repeat("}", 600), "x"), `more than 1000 levels`},
	} {
		p, err := Read([]byte(c.text), oneTable())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n%v, want %s", c.text, err, c.want)
		}
		if p != nil {
			t.Errorf("%s: a plan beside an error", c.text)
		}
	}
}

// TestCut: what is kept is a shared plan with one reader, and names above it are those of what is read.
func TestCut(t *testing.T) {
	p, err := Read([]byte(documentOf(`{"op": "filter", "where": [{"op": "isnull", "args": ["y"]}], "input": {"op": "project", "cut": true, "keep": ["y"],
		"columns": [{"as": "double", "value": {"op": "+", "args": ["x", "x"], "type": "integer"}}], "input": `+strings.Replace(scanned, `"op"`, `"cut": true, "op"`, 1)+`}}`, "double")), oneTable())
	if err != nil {
		t.Fatal(err)
	}
	q := p.Query
	if len(q.Shared) != 2 {
		t.Fatalf("%d shared plans", len(q.Shared))
	}
	f := q.Root.(*plan.Filter)
	if s := f.Input.(*plan.SharedScan); s.Index != 1 {
		t.Errorf("reads shared plan %d", s.Index)
	}
	if s := q.Shared[1].Plan.(*plan.Project).Input.(*plan.SharedScan); s.Index != 0 {
		t.Errorf("reads shared plan %d", s.Index)
	}
	if got := q.Cols.Get(q.Output[0]); got.Name != "double" || got.Type != types.TInt32 {
		t.Errorf("output %+v", got)
	}
}

// TestSwitches: those of an operator are read and written, also where it is cut off.
func TestSwitches(t *testing.T) {
	text := documentOf(`{"op": "join", "cut": true, "kind": "inner", "switches": {"speed": "5"}, "keys": [{"left": "x", "right": "x2"}], "left": `+scanned+`, "right": {"op": "scan",
		"table": "t", "columns": [{"as": "x2", "column": "a"}]}}`, "x")
	for range 2 {
		p, err := Read([]byte(text), oneTable())
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Query.Shared[0].Plan.(*plan.Join).Props().Switches["speed"]; got != "5" {
			t.Errorf("%q", got)
		}
		again, err := Write(p.Query, nil, func(*plan.Scan) (string, error) { return "", nil }, oneTable().Named)
		if err != nil || strings.Count(string(again), `"switches"`) != 1 {
			t.Fatalf("%v %s", err, again)
		}
		text = string(again)
	}
}

// TestLines: the text is the same JSON, in lines that are not long, whatever texts hold.
func TestLines(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, v := range []any{
		1, "a", []any{}, map[string]any{}, nil, true, -1.5,
		[]any{long, 1, 2, map[string]any{"a": long, "b": []any{1, "}],\"{[\\", nil}}, "\\"},
		map[string]any{"x": map[string]any{"y": []any{[]any{[]any{long}, 12, true}}, "z": 1}, "w": long},
		[]any{[]any{strings.Repeat("[", 200)}, 7}, []any{7, long, false}, map[string]any{"k": long, "l": 12},
	} {
		compact, err := encode(v)
		if err != nil {
			t.Fatal(err)
		}
		lines := inLines(string(compact))
		var a, b any
		if err := json.Unmarshal([]byte(lines), &a); err != nil {
			t.Errorf("%v: %s", err, lines)
			continue
		}
		if err := json.Unmarshal(compact, &b); err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s became %s", compact, lines)
		}
		if len(compact) > wide && !strings.Contains(lines, "\n") && compact[0] != '"' {
			t.Errorf("one line: %s", lines)
		}
	}
}

// FuzzRead: whatever is read, the reader ends with a plan that checks, or with an error.
func FuzzRead(f *testing.F) {
	f.Add(documentOf(scanned, "x"))
	f.Add(documentOf(`{"op": "join", "kind": "left", "keys": [{"left": "x", "right": "x2"}], "left": `+scanned+`, "right": {"op": "scan", "table": "t", "columns": [{"as": "x2", "column": "a"}]}}`, "x"))
	f.Add(documentOf(`{"op": "sort", "order": [{"column": "s", "desc": true}], "limit": 3, "input": {"op": "group", "by": [{"as": "y", "value": "y"}],
		"aggregates": [{"as": "s", "function": "sum", "args": [{"op": "*", "args": ["z", "z"], "type": "decimal(20,4)"}], "type": "decimal(38,4)"}], "input": `+scanned+`}}`, "s"))
	f.Add(documentOf(`{"op": "recursive", "number": 1, "sources": [["x"], ["v"]], "columns": [{"as": "r", "type": "integer"}], "inputs": [`+scanned+`,
		{"op": "project", "columns": [{"as": "v", "value": {"op": "+", "args": ["w", {"value": "1", "type": "integer"}], "type": "integer"}}],
		"input": {"op": "work", "number": 1, "columns": [{"as": "w", "column": "0"}]}}]}`, "r"))
	f.Add(documentOf(`{"op": "window", "windows": [{"partition": ["y"], "order": [{"column": "x"}]}], "functions": [{"as": "w", "function": "lag", "args": ["x"], "type": "integer",
		"unit": "rows", "start": {"kind": "preceding", "offset": {"value": "1", "type": "bigint"}}, "end": {"kind": "current row"}}], "input": `+scanned+`}`, "w"))
	tables := oneTable()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		p, err := Read([]byte(text), tables)
		if err != nil {
			return
		}
		if _, err := Write(p.Query, nil, func(*plan.Scan) (string, error) { return "", nil }, oneTable().Named); err != nil && !strings.Contains(err.Error(), "cannot be written") {
			t.Error(err)
		}
	})
}
