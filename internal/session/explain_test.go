package session

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// explainSession has three small tables.
func explainSession(t *testing.T) *Session {
	t.Helper()
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	for _, sql := range []string{
		"create table r (id int primary key, k int not null, name varchar not null)",
		"create table s (k int, v decimal(8,2), d date not null)",
		"create table empty (x int, y varchar)",
		"insert into r select i, i % 7, case when i % 3 = 0 then 'three' else 'other' end from generate_series(1, 100) as g(i)",
		"insert into s select case when i % 5 = 0 then null else i % 9 end, i, date '2020-01-01' + i from generate_series(1, 50) as g(i)",
	} {
		if _, err := s.Query(context.Background(), sql); err != nil {
			t.Fatal(diag.Format(err, sql))
		}
	}
	return s
}

// explainQueries cover the operators, sources and sinks.
var explainQueries = []string{
	"select 1 as one, 'x' as two",
	"select * from r where k = 3 and name like 't%'",
	"select count(*) from r",
	"select name, count(*), sum(k) from r group by name",
	"select id % 13 as m, max(id) from r group by id % 13 order by m desc limit 5 offset 2",
	"select r.id, s.v from r join s on r.k = s.k where s.v > 10",
	"select r.id, s.v from r left join s on r.k = s.k and s.v > 40",
	"select r.id, s.v from s left join r on r.id = s.k",
	"select r.id, s.v from r full join s on r.id = s.k",
	"select id from r where k in (select k from s)",
	"select id from r where k not in (select k from s)",
	"select id from r where not exists (select 1 from s where s.k = r.k)",
	"select id, k in (select k from s) as m from r",
	"select id, (select max(v) from s where s.k = r.k) from r",
	"select k from r union all select k from s",
	"select k from r union select k from s order by 1",
	"select a.id from r a, r b where a.id < b.k",
	"with x as (select k, count(*) as n from r group by k) select a.n from x a join x b on a.k = b.n",
	"select x, count(*) from empty group by x",
	"values (1, 'a'), (2, 'b')",
	"select count(distinct k), avg(v) from s",
	"select id from r limit 3",
	"select upper(name) as u, count(*) from r where lower(name) <> 'x' and k < 5 group by upper(name)",
	"select r.id from r join s on upper(r.name) = 'THREE' and r.id = s.k",
}

// TestExplainForms asks for every form of every query: there must be text, it must be the same
// the second time, and every pipeline has CPU code that looks like it.
func TestExplainForms(t *testing.T) {
	s := explainSession(t)
	for _, q := range explainQueries {
		for _, form := range explainForms {
			if form == "x64" && !device.HasCPU() {
				continue
			}
			sql := "explain (" + form + ") " + q
			text := explainText(t, s, sql)
			if again := explainText(t, s, sql); again != text {
				t.Errorf("%s: two answers:\n%s\n%s", sql, text, again)
			}
			want := map[string]string{"plan": "output ", "pipelines": "pipe0", "ir": "func pipe0 cpu {", "x64": "; pipe0\n", "ptx": "pipe0"}[form]
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", sql, want, text)
			}
			if strings.Contains(text, "internal error") {
				t.Errorf("%s: %s", sql, text)
			}
			if form == "ptx" && strings.Count(text, ".visible .entry")+strings.Count(text, "not for the GPU: ") < pipelines(t, s, q) {
				t.Errorf("%s: a pipeline has neither code nor a reason:\n%s", sql, text)
			}
			if form == "ir" && strings.Count(text, " cpu {\n") < pipelines(t, s, q) {
				t.Errorf("%s: a pipeline has no code:\n%s", sql, text)
			}
		}
	}
}

// pipelines is how many a query has.
func pipelines(t *testing.T, s *Session, q string) int {
	return strings.Count("\n"+explainText(t, s, "explain (pipelines) "+q), "\npipe")
}

// TestExplainExecutesNothing: a query that would fail, and one that would not end, can be explained.
func TestExplainExecutesNothing(t *testing.T) {
	s := explainSession(t)
	for _, q := range []string{
		"select id / (k - k) from r",
		"select count(*) from r a, r b, r c, r d, r e, r f where a.id + b.id + c.id + d.id + e.id + f.id = 0",
	} {
		for _, form := range explainForms {
			explainText(t, s, "explain ("+form+") "+q)
		}
	}
	if _, err := s.Query(context.Background(), "explain analyze select id / (k - k) from r"); diag.CodeOf(err) != diag.DivisionByZero {
		t.Errorf("EXPLAIN ANALYZE runs the query: got %v", err)
	}
	explainText(t, s, "explain create table made as select * from r")
	explainText(t, s, "explain insert into s select k, k, date '2020-01-01' from r")
	explainText(t, s, "explain analyze insert into s select k, k, date '2020-01-01' from r")
	if got := rowsText(t, s, "select count(*) from s"); got != "50" {
		t.Errorf("s has %s rows", got)
	}
	if _, err := s.Query(context.Background(), "select * from made"); diag.CodeOf(err) != diag.UndefinedTable {
		t.Errorf("EXPLAIN CREATE TABLE: %v", err)
	}
}

// TestExplainCounts compares the rows of every operator of analyzed plans with those of the
// same query run under count(*), for scans, filters, joins and groups.
func TestExplainCounts(t *testing.T) {
	s := explainSession(t)
	for _, c := range []struct {
		device  string
		threads int
	}{{"cpu", 1}, {"cpu", 4}, {"simt", 1}} {
		if c.device == "cpu" && !device.HasCPU() {
			continue
		}
		s.Configure(func(x *Settings) { x.Device, x.Threads, x.MorselRows = c.device, c.threads, 7 })
		for _, q := range explainQueries {
			res, err := s.Query(context.Background(), q)
			if c.device != "cpu" && diag.CodeOf(err) == diag.FeatureNotSupported {
				continue
			}
			if err != nil {
				t.Fatal(diag.Format(err, q))
			}
			want := res.Rows
			res.Close()
			var doc struct {
				Plan      struct{ Plan *jsonPlanNode }
				Pipelines []jsonPipeline
				Summary   jsonSummary
			}
			explainJSON(t, s, "explain (analyze, format json) "+q, &doc)
			if doc.Summary.Rows != want {
				t.Errorf("%s: %d rows, want %d", q, doc.Summary.Rows, want)
			}
			if strings.Contains(q, "limit 3") { // morsels after the last row wanted may or may not run
				continue
			}
			if root := doc.Plan.Plan; root.Actual == nil || *root.Actual != want {
				t.Errorf("%s: the root has %v rows, want %d", q, root.Actual, want)
			}
			doc.Plan.Plan.walk(func(n *jsonPlanNode) {
				if n.Actual == nil {
					t.Errorf("%s: no rows for %s", q, n.Text)
				}
			})
			for _, p := range doc.Pipelines {
				if p.Stats.Morsels+p.Stats.Launches == 0 && p.Stats.RowsIn > 0 {
					t.Errorf("%s: %s has no morsels and no launches", q, p.Name)
				}
			}
		}
	}
}

type jsonPlanNode struct {
	Op, Text string
	Actual   *int64 `json:"actual_rows"`
	Inputs   []*jsonPlanNode
}

func (n *jsonPlanNode) walk(f func(*jsonPlanNode)) {
	f(n)
	for _, m := range n.Inputs {
		m.walk(f)
	}
}

// explainJSON runs a statement that gives one JSON document.
func explainJSON(t *testing.T, s *Session, sql string, into any) string {
	t.Helper()
	res, err := s.Query(context.Background(), sql)
	if err != nil {
		t.Fatal(diag.Format(err, sql))
	}
	defer res.Close()
	rows := res.Values()
	if len(rows) != 1 || len(res.Columns) != 1 || res.Columns[0].Name != "QUERY PLAN" {
		t.Fatalf("%s: %d rows, columns %v", sql, len(rows), res.Columns)
	}
	if err := json.Unmarshal([]byte(rows[0][0].S), into); err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, rows[0][0].S)
	}
	return rows[0][0].S
}

// TestExplainActual checks known numbers operator by operator.
func TestExplainActual(t *testing.T) {
	s := explainSession(t)
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"select count(*) from r where k = 3", []string{"Group(; ", "rows 1 (", "Scan(r: k", "rows 14 ("}},
		{"select name, count(*) from r group by name", []string{"rows 2 (", "rows 100 (", "array, 2 groups"}},
		{"select r.id from r join s on r.id = s.k", []string{"rows 36 (", "InnerJoin"}},
		{"select r.id from r left join s on r.id = s.k and s.v > 1000", []string{"LeftJoin", "rows 100 (", "rows 0 ("}},
		{"select k from r union all select k from s", []string{"UnionAll", "rows 150 (", "rows 100 (", "rows 50 ("}},
		{"select id from r where k in (select k from s)", []string{"SemiJoin", "table, "}},
	} {
		text := explainText(t, s, "explain (analyze, timing off) "+c.sql)
		for _, w := range c.want {
			if !strings.Contains(text, w) {
				t.Errorf("%s: no %q in\n%s", c.sql, w, text)
			}
		}
	}
}

// TestExplainJSON: all forms give one valid document, with keys always in the same order.
func TestExplainJSON(t *testing.T) {
	s := explainSession(t)
	forms := "plan, pipelines, ir, ptx"
	if device.HasCPU() {
		forms += ", x64"
	}
	for _, q := range explainQueries {
		var doc map[string]any
		a := explainJSON(t, s, "explain ("+forms+", format json) "+q, &doc)
		b := explainJSON(t, s, "explain ("+forms+", format json) "+q, &doc)
		if a != b {
			t.Errorf("%s: two documents", q)
		}
		for _, f := range strings.Split(forms, ", ") {
			if doc[f] == nil {
				t.Errorf("%s: no %s", q, f)
			}
		}
		explainJSON(t, s, "explain (analyze, verbose, "+forms+", format json) "+q, &doc)
		if doc["optimizer"] == nil || doc["summary"] == nil {
			t.Errorf("%s: no optimizer or summary", q)
		}
	}
}

// TestExplainText: the shape of the text result, what ANALYZE and VERBOSE add.
func TestExplainText(t *testing.T) {
	s := explainSession(t)
	res, err := s.Query(context.Background(), "explain analyze verbose select count(*) from r")
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Columns) != 1 || res.Columns[0].Name != "QUERY PLAN" || res.Columns[0].Type != types.TText || res.CommandTag() != "EXPLAIN" {
		t.Errorf("columns %v, tag %s", res.Columns, res.CommandTag())
	}
	var text strings.Builder
	for _, r := range res.Values() {
		if strings.Contains(r[0].S, "\n") {
			t.Errorf("more than a line: %q", r[0].S)
		}
		text.WriteString(r[0].S + "\n")
	}
	for _, want := range []string{"-- plan\noutput", "-- pipelines\npipe0  ", " ms, compiled in ", "1 morsel, 1 variant",
		"optimizer: fold ", "parse ", ", plan ", ", compile ", ", execute ", "peak memory "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "peak memory 0") {
		t.Errorf("no memory is said to be used:\n%s", text.String())
	}
	if got := explainText(t, s, "explain (analyze off) select 1"); strings.Contains(got, "rows 1") {
		t.Errorf("analyze off:\n%s", got)
	}
	if got := explainText(t, s, "explain (plan, ir off) select 1"); strings.Contains(got, "func") || !strings.HasPrefix(got, "output") {
		t.Errorf("ir off:\n%s", got)
	}
}

func TestExplainErrors(t *testing.T) {
	s := explainSession(t)
	for _, c := range []struct{ sql, code, hint string }{
		{"explain (pipeline) select 1", diag.SyntaxError, `did you mean "pipelines"?`},
		{"explain (bananas) select 1", diag.SyntaxError, "the options are plan, pipelines"},
		{"explain (format xml) select 1", diag.InvalidParameter, "the formats are text, json, plan-json and, for LANES, svg"},
		{"explain (lanes) select 1", diag.InvalidParameter, "write EXPLAIN (ANALYZE, LANES)"},
		{"explain (analyze, format svg) select 1", diag.InvalidParameter, "write EXPLAIN (ANALYZE, LANES, FORMAT svg)"},
		{"explain (ir maybe) select 1", diag.InvalidParameter, ""},
		{"explain truncate r", diag.FeatureNotSupported, "SELECT"},
		{"explain create table q (a int)", diag.FeatureNotSupported, "SELECT"},
		{"explain set threads = 1", diag.FeatureNotSupported, "SELECT"},
		{"explain select nothing from r", diag.UndefinedColumn, ""},
	} {
		_, err := s.Query(context.Background(), c.sql)
		if diag.CodeOf(err) != c.code || !strings.Contains(diag.Format(err, c.sql), c.hint) {
			t.Errorf("%s: %v", c.sql, diag.Format(err, c.sql))
		}
	}
}

// TestExplainTPCH holds the pipelines of a benchmark query to testdata/explain, and explains all
// queries in all forms.
func TestExplainTPCH(t *testing.T) {
	s := load(t, "tpch", "0.01")
	s.Configure(func(x *Settings) { x.Check, x.SIMD = true, device.SIMDAVX2 })
	for _, q := range suiteQueries("tpch") {
		sql := queryText(t, "tpch", q)
		for _, form := range explainForms {
			if form == "x64" && !device.HasCPU() {
				continue
			}
			text := explainText(t, s, fmt.Sprintf("explain (%s) %s", form, sql))
			if strings.Contains(text, "internal error") {
				t.Errorf("%s (%s): %s", q, form, text)
			}
			if q != "q3" || form != "pipelines" {
				continue
			}
			file := filepath.Join("testdata", "explain", "tpch_q3_pipelines.txt")
			if *rewrite {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := os.ReadFile(file)
			if string(want) != text+"\n" {
				t.Errorf("pipelines differ from %s:\n%s", file, text)
			}
		}
	}
}

// TestExplainProfile: a pipeline that takes a while tells where, and the parts add up.
func TestExplainProfile(t *testing.T) {
	if !device.HasCPU() || testing.Short() {
		t.Skip("needs a CPU translator, and larger data: not with -short")
	}
	s := load(t, "tpch", "0.1")
	var doc struct {
		Pipelines []jsonPipeline
		Summary   jsonSummary
	}
	sql := queryText(t, "tpch", "q9")
	explainJSON(t, s, "explain (analyze, pipelines, format json) "+sql, &doc)
	found := false
	for _, p := range doc.Pipelines {
		if p.Source.MS == nil {
			continue
		}
		found = true
		sum := *p.Source.MS + *p.Sink.MS + *p.Stats.FinishMS
		for _, o := range p.Ops {
			sum += *o.MS
		}
		if total := *p.Stats.ExecuteMS; sum < 0.95*total || sum > 1.05*total {
			t.Errorf("%s: the parts take %f ms, all %f ms", p.Name, sum, total)
		}
	}
	if !found {
		t.Error("no pipeline was profiled")
	}
	// Profiling leaves no trace in the result.
	for _, q := range suiteQueries("tpch") {
		explainJSON(t, s, "explain (analyze, pipelines, format json) "+queryText(t, "tpch", q), &doc)
		if want := int64(len(answer(t, "tpch", "0.1", q))); doc.Summary.Rows != want {
			t.Errorf("%s has %d rows when it is profiled, not %d", q, doc.Summary.Rows, want)
		}
	}
}

// TestExplainRecursion: the rows of all rounds are counted once, and what comes behind the rounds runs once.
func TestExplainRecursion(t *testing.T) {
	s := New(NewDB())
	text := explainText(t, s, "EXPLAIN (analyze, pipelines, timing off) WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 10) SELECT n % 3, count(*) FROM r GROUP BY 1 ORDER BY 1")
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"pipe1 after pipe0 10 morsels, 1 variant scan rounds 2, the last rows 10 (", "filter n#2 < 10 rows 9 (",
		"10 rows in 11 rounds", "pipe2 after pipe0, pipe1 1 morsel, 1 variant scan rounds 2 rows 10 (", "pipe3 after pipe2 1 morsel"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestExplainRecursionDevice: where a GPU is asked for, EXPLAIN says that the CPU runs a recursion, and shows the CPU's decisions.
func TestExplainRecursionDevice(t *testing.T) {
	const recursion = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT sum(n) FROM r"
	const note = "device cpu: WITH RECURSIVE is not for GPUs"
	s := New(NewDB())
	for _, form := range []string{"plan", "pipelines", "ir", "analyze, pipelines, timing off, summary off"} {
		explain := "EXPLAIN (" + form + ") "
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := explainText(t, s, explain+recursion)
		if strings.Contains(want, "device") {
			t.Errorf("%s on the CPU speaks of devices:\n%s", form, want)
		}
		s.Configure(func(x *Settings) { x.Device = "simt" })
		if got := explainText(t, s, explain+recursion); strings.TrimSpace(got) != strings.TrimSpace(want)+"\n\n"+note {
			t.Errorf("%s with a GPU:\n%s\nwant what is on the CPU, and %q:\n%s", form, got, note, want)
		}
		if got := explainText(t, s, explain+"SELECT 1 AS n UNION ALL SELECT 2"); strings.Contains(got, note) {
			t.Errorf("%s of a query without recursion:\n%s", form, got)
		}
	}
	if got := explainText(t, s, "EXPLAIN (format json) "+recursion); !strings.Contains(got, `"why": "WITH RECURSIVE is not for GPUs"`) || strings.Contains(got, "cpu_ms") {
		t.Errorf("as JSON:\n%s", got)
	}
}
