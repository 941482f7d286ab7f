package session

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/types"
)

// planText is what EXPLAIN (FORMAT plan-json) writes.
func planText(s *Session, sql string) (string, error) {
	rows, err := askCorpus(s, "EXPLAIN (FORMAT plan-json) "+sql, false)
	if err != nil {
		return "", err
	}
	return rows[0][0].Text, nil
}

// TestPlanJSONCorpus: what is written of the plans of the corpus' queries gives the same answers when it is read and run.
func TestPlanJSONCorpus(t *testing.T) {
	paths, err := filepath.Glob("testdata/corpus/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus", err)
	}
	ran, total := 0, 0
	why := map[string]int{}
	for i, path := range paths {
		if (testing.Short() || raced) && i%6 != 0 {
			continue
		}
		f, err := corpus.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(f.Name, func(t *testing.T) {
			s := New(NewDB())
			s.Configure(func(x *Settings) { x.Check = true })
			for _, r := range f.Records {
				sql, args := r.SQL, []types.Value(nil)
				if r.Query && s.open == nil { // a plan that cannot be written would fail the transaction
					total++
					text, err := planText(s, r.SQL)
					if err == nil {
						ran++
						sql, args = "CALL run_plan($1)", []types.Value{types.TextValue(text)}
					} else if msg := err.Error(); strings.Contains(msg, "cannot be written") {
						why[msg]++
					}
				}
				rows, err := askCorpus(s, sql, false, args...)
				if diff := corpusOutcome(r, rows, err); diff != "" {
					t.Errorf("%s.test:%d: %s\n%s", f.Name, r.Line, diff, r.SQL)
				}
			}
		})
	}
	for w, n := range why {
		t.Logf("%4d %s", n, w)
	}
	t.Logf("%d of %d queries ran as JSON", ran, total)
	if ran*10 < total*8 {
		t.Errorf("only %d of %d queries were written as JSON", ran, total)
	}
}

// TestPlanJSONAnswers: the plans of both benchmarks give the reference answers when they are written, read and run, and with every operator cut off
// from the next, too.
func TestPlanJSONAnswers(t *testing.T) {
	operators := regexp.MustCompile(`"op": "(scan|filter|project|join|group|sort|shared|window|repeat|series|values|union all)"`)
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		s.Configure(func(x *Settings) { x.Check = true })
		for _, q := range suiteQueries(suite) {
			text, err := planText(s, queryText(t, suite, q))
			if err != nil {
				t.Errorf("%s %s: %v", suite, q, err)
				continue
			}
			cut := operators.ReplaceAllString(text, `"cut": true, $0`)
			for _, doc := range []string{text, cut} {
				sameAnswer(t, s, suite, "0.01", q, "CALL run_plan($1)", types.TextValue(doc))
			}
			if n := strings.Count(cut, `"cut"`); n < 2 {
				t.Errorf("%s: %d cuts", q, n)
			}
		}
	}
}

// TestPlanJSONRuns: hand-written documents.
func TestPlanJSONRuns(t *testing.T) {
	s := New(NewDB())
	ask := func(sql string, args ...types.Value) string {
		t.Helper()
		rows, err := askCorpus(s, sql, false, args...)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, r := range rows {
			out = append(out, corpus.RowText(r))
		}
		return strings.Join(out, ";")
	}
	ask("create table t as select i as a, case when i % 3 = 0 then null else 'x' || i % 2 end as b from generate_series(1, 10) g(i)")
	const doc = `{"kelpie_plan": 1, %s "plan": {"op": "sort", "order": [{"column": "b"}], "input": {"op": "group", "by": [{"as": "b", "value": "text"}],
		"aggregates": [{"as": "n", "function": "count(*)", "type": "bigint"}, {"as": "avg", "function": "avg", "args": ["a"], "type": "decimal(38,4)"},
		{"as": "d", "function": "count", "distinct": true, "args": [{"op": "%%", "args": ["a", {"value": "3", "type": "integer"}], "type": "integer"}], "type": "bigint"}],
		"input": {"op": "scan", "cut": true, "table": "t", "columns": [{"as": "a", "column": "a"}, {"as": "text", "column": "b"}]}}},
		"output": [{"column": "b", "name": "b"}, {"column": "n", "name": "n"}, {"column": "avg", "name": "avg"}, {"column": "d", "name": "d"}]}`
	want := "x0|4|6.0000|2;x1|3|4.3333|2;NULL|3|6.0000|1"
	for _, with := range []string{"", `"optimize": true,`, `"settings": {"device": "simt", "radix_sort": "off"},`} {
		if got := ask("CALL run_plan($1)", types.TextValue(strings.Replace(strings.Replace(doc, "%s", with, 1), "%%", "%", 1))); got != want {
			t.Errorf("%s: %s, want %s", with, got, want)
		}
	}
	for _, c := range []struct{ sql, arg, want string }{
		{"CALL run_plan($1)", `{"kelpie_plan": 1, "settings": {"nope": "1"}, "plan": {"op": "series", "as": "i", "type": "bigint", "from": 1, "step": 1, "count": 2}, "output": [{"column": "i", "name": "i"}]}`,
			`plan, at $.settings.nope: unrecognized configuration parameter "nope"`},
		{"CALL run_plan($1)", `{"kelpie_plan": 1, "plan": {"op": "scan", "table": "tt"}, "output": []}`, `at $.plan.table: table "tt" does not exist; did you mean "t"?`},
		{"CALL run_plan(1)", "", "run_plan has one argument"},
		{"EXPLAIN (FORMAT plan-json) INSERT INTO t VALUES (1, 'a')", "", "only the plans of queries can be written as JSON"},
		{"EXPLAIN (ANALYZE, FORMAT plan-json) SELECT 1", "", "EXPLAIN ANALYZE has no format plan-json"},
		{"EXPLAIN (FORMAT plan-jason) SELECT 1", "", `unrecognized value for EXPLAIN option "format": "plan-jason"`},
	} {
		var args []types.Value
		if c.arg != "" {
			args = append(args, types.TextValue(c.arg))
		}
		if got := ask(c.sql, args...); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
	ask("SET threads = 1; SET radix_sort = off")
	if text, err := planText(s, "select a from t order by a"); err != nil || !strings.Contains(text, `"settings": {"radix_sort": "off"}`) {
		t.Errorf("settings are not written: %v %s", err, text)
	}
	ask("BEGIN READ ONLY")
	if got := ask("CALL run_plan($1)", types.TextValue(strings.Replace(strings.Replace(doc, "%s", "", 1), "%%", "%", 1))); got != want {
		t.Errorf("in a read-only transaction: %s", got)
	}
}

// TestPlanJSONEnums: plans with enums, of any schema, also ones that are parts of other types or have no name, run again from what was written.
func TestPlanJSONEnums(t *testing.T) {
	s := New(NewDB())
	for _, sql := range []string{
		"create schema x", "create type mood as enum ('sad', 'ok', 'happy')", `create type x."Odd, (name)[]" as enum ('it''s', 'a, b', ')', '')`,
		`create table e (id int, m mood, o x."Odd, (name)[]", n enum('q''s,', 'r)'))`,
		"insert into e values (1, 'ok', ')', 'r)'), (2, null, 'a, b', 'q''s,'), (3, 'happy', 'it''s', null), (4, 'sad', '', 'r)')",
	} {
		mustRun(t, s, sql)
	}
	for _, sql := range []string{
		"select m, count(*) from e where m >= 'ok' group by m order by m",
		"select max(m), min(o), max(n) from e",
		"select o, n, m::text || 'x' from e where o <> 'it''s' or n = 'r)' order by o desc",
		"select id, [m], [o, ')'], {'a': m, 'b': n} from e order by id",
		"select 'ok'::mood a, n from e where n in ('r)', 'q''s,') union all select m, null from e order by 1, 2",
		"select id, lag(m) over (order by id), first_value(o) over (order by id) from e order by id",
	} {
		want, err := askCorpus(s, sql, false)
		if err != nil {
			t.Fatal(sql, err)
		}
		text, err := planText(s, sql)
		if err != nil {
			t.Error(sql, err)
			continue
		}
		if got, err := askCorpus(s, "CALL run_plan($1)", false, types.TextValue(text)); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v %v, want %v\n%s", sql, got, err, want, text)
		}
	}
	text, err := planText(s, "select id from e where m = 'ok'")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ was, is, wrong string }{
		{`"value": "ok"`, `"value": "good"`, `.where[0].args[1].value: invalid input value for enum mood: "good"`},
		{`"type": "mood"`, `"type": "moods"`, `.where[0].args[1].type: type "moods" does not exist`},
		{`"type": "mood"`, `"type": "ENUM('ok', 'ok')"`, `is not a type`},
		{`"type": "mood"`, `"type": "ENUM('ok', no)"`, `is not a type`},
		{`"type": "mood"`, `"type": "ENUM('ok')"`, `.where[0]: `},
	} {
		doc := strings.Replace(text, c.was, c.is, 1)
		if _, err := askCorpus(s, "CALL run_plan($1)", false, types.TextValue(doc)); err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), "plan, at $.plan.") {
			t.Errorf("%s: %v\n%s", c.is, err, doc)
		}
	}
}
