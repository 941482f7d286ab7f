package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/funcs/trial"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

const functionTablePath = "testdata/function_table.txt"

// functionTableTest compares calls with their lines of the table, or writes these.
type functionTableTest struct {
	t       *testing.T
	s       *Session
	known   map[string]trial.Line
	written *trial.Table
}

// section begins the lines of a function.
func (f *functionTableTest) section(signature string) {
	f.written.Sections = append(f.written.Sections, trial.Section{Signature: signature})
}

// call holds a call to its line in the section.
func (f *functionTableTest) call(call string) (answer string, rows [][]corpus.Cell, err error) {
	section := &f.written.Sections[len(f.written.Sections)-1]
	line, ok := f.known[section.Signature+": "+call]
	if !ok {
		line = trial.Line{Source: "?", Call: call}
	}
	rows, err = askCorpus(f.s, line.SQL(), false)
	answer = trial.Answer(rows, codeOrNone(err))
	if err != nil && diag.CodeOf(err) == diag.InternalError {
		f.t.Errorf("%s: %v", call, err)
	}
	switch {
	case *rewrite:
		line.Answer = answer
	case !ok:
		f.t.Errorf("%s is not in %s: run this test with -rewrite, and then TestFunctionTablePostgres of bench", call, functionTablePath)
	default:
		if wrong := corpusOutcome(line.Record(), rows, err); wrong != "" {
			f.t.Errorf("%s: %s", call, wrong)
		}
	}
	section.Lines = append(section.Lines, line)
	return answer, rows, err
}

// TestFunctionTable holds every function of the registry to its lines of the table: NULL, empty, extreme and multi-byte
// arguments; and every aggregate and window function. One without lines fails. -rewrite writes our answers; TestFunctionTablePostgres of
// bench then says which of them are PostgreSQL's.
func TestFunctionTable(t *testing.T) {
	old, err := trial.Read(functionTablePath)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	f := &functionTableTest{t: t, s: New(NewDB()), known: map[string]trial.Line{}, written: &trial.Table{}}
	if old != nil {
		for _, s := range old.Sections {
			for _, l := range s.Lines {
				f.known[s.Signature+": "+l.Call] = l
			}
		}
	}
	f.s.Configure(func(x *Settings) { x.Check = true })
	mustRun(t, f.s, "set timezone = 'UTC'")
	for i := range funcs.Rows {
		if r := &funcs.Rows[i]; trial.Untried(r) == "" {
			f.scalar(r)
		}
	}
	for _, a := range bind.Aggregates() {
		f.aggregate(&a)
	}
	for _, w := range bind.WindowFunctions() {
		f.window(&w)
	}
	if *rewrite {
		if err := f.written.Write(functionTablePath); err != nil {
			t.Fatal(err)
		}
	}
}

// scalar tries a row of the registry.
func (f *functionTableTest) scalar(r *funcs.Row) {
	if letter := trial.Missing(r); letter != "" {
		f.t.Errorf("%s: trial.Values has nothing for parameters of the letter %s", r.Signature(), letter)
		return
	}
	f.section(r.Signature())
	for _, args := range trial.Calls(r) {
		call := trial.Text(r, args)
		answer, rows, err := f.call(call)
		if r.Fn != nil && r.Fn.Strict && err == nil && slices.ContainsFunc(args, isNull) && len(rows) == 1 && answer != "NULL" {
			f.t.Errorf("%s is %s, want NULL", call, answer)
		}
		if err != nil || len(args) == 0 {
			continue
		}
		// The same values as columns of a row, which Go or generated code computes.
		rows, err = askCorpus(f.s, ofColumns(r, args), false)
		if err == nil && slices.Contains([]string{"round", "trunc", "to_number"}, r.Name) { // constants tell how many digits the type needs
			if wrong := (&trial.Line{Call: call, Answer: answer}).Record().Diff(rows, true); wrong != "" {
				f.t.Errorf("%s of columns: %s", call, wrong)
			}
		} else if got := trial.Answer(rows, codeOrNone(err)); got != answer && codeOrNone(err) != diag.FeatureNotSupported {
			f.t.Errorf("%s is %s of constants and %s of columns (%v)", call, answer, got, err)
		}
	}
}

// aggregate tries an aggregate, with and without OVER.
func (f *functionTableTest) aggregate(a *funcs.Aggregate) {
	calls, missing := trial.AggregateCalls(a)
	if missing != "" {
		f.t.Errorf("%s(%s): package trial has no columns for the argument %s", a.Name, a.Args, missing)
		return
	}
	f.section(trial.AggregateSection("aggregate", a))
	for _, call := range calls {
		answer, _, _ := f.call(call)
		if strings.Contains(call, " where n > 0") || strings.Contains(call, " over ") {
			continue
		}
		// The same rows as a group.
		rows, err := askCorpus(f.s, "select "+call+" group by n < 100", false)
		if got := trial.Answer(rows, codeOrNone(err)); got != answer {
			f.t.Errorf("%s is %s, and %s with GROUP BY (%v)", call, answer, got, err)
		}
	}
}

// window tries a window function that is no aggregate.
func (f *functionTableTest) window(w *funcs.Aggregate) {
	calls := trial.WindowCalls(w)
	if calls == nil {
		f.t.Errorf("%s: package trial has no arguments for this window function", w.Name)
		return
	}
	f.section(trial.AggregateSection("window", w))
	for _, call := range calls {
		f.call(call)
	}
}

func codeOrNone(err error) string {
	if err == nil {
		return ""
	}
	return diag.CodeOf(err)
}

func isNull(arg string) bool { return strings.HasPrefix(arg, "null::") }

// ofColumns is a call whose arguments are columns of a table of one row.
func ofColumns(r *funcs.Row, args []string) string {
	names, columns := make([]string, len(args)), make([]string, len(args))
	for p, a := range args {
		names[p] = fmt.Sprintf("c%d", p)
		columns[p] = a + " as " + names[p]
	}
	return "select " + trial.Text(r, names) + " from (select * from (select " + strings.Join(columns, ", ") + ") x limit 1) y"
}
