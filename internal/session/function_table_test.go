package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/funcs/trial"
)

const functionTablePath = "testdata/function_table.txt"

// TestFunctionTable holds every function of the registry to its lines of the table: NULL, empty, extreme and multi-byte
// arguments. A function without lines fails. -rewrite writes our answers; TestFunctionTablePostgres of bench then
// says which of them are PostgreSQL's.
func TestFunctionTable(t *testing.T) {
	old, err := trial.Read(functionTablePath)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	known := map[string]trial.Line{}
	if old != nil {
		for _, s := range old.Sections {
			for _, l := range s.Lines {
				known[s.Signature+": "+l.Call] = l
			}
		}
	}
	s := New(NewDB())
	s.Configure(func(x *Settings) { x.Check = true })
	mustRun(t, s, "set timezone = 'UTC'")
	table := &trial.Table{}
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		if trial.Untried(r) != "" {
			continue
		}
		section := trial.Section{Signature: r.Signature()}
		if letter := trial.Missing(r); letter != "" {
			t.Errorf("%s: trial.Values has nothing for parameters of the letter %s", r.Signature(), letter)
			continue
		}
		for _, args := range trial.Calls(r) {
			call := trial.Text(r, args)
			line, ok := known[r.Signature()+": "+call]
			if !ok {
				line = trial.Line{Source: "?", Call: call}
			}
			rows, err := askCorpus(s, line.SQL(), false)
			answer := trial.Answer(rows, codeOrNone(err))
			if err != nil && diag.CodeOf(err) == diag.InternalError {
				t.Errorf("%s: %v", call, err)
			}
			switch {
			case *rewrite:
				line.Answer = answer
			case !ok:
				t.Errorf("%s is not in %s: run this test with -rewrite, and then TestFunctionTablePostgres of bench", call, functionTablePath)
			default:
				if wrong := corpusOutcome(line.Record(), rows, err); wrong != "" {
					t.Errorf("%s: %s", call, wrong)
				}
			}
			section.Lines = append(section.Lines, line)
			if r.Fn != nil && r.Fn.Strict && err == nil && slices.ContainsFunc(args, isNull) && len(rows) == 1 && answer != "NULL" {
				t.Errorf("%s is %s, want NULL", call, answer)
			}
			if err != nil || len(args) == 0 {
				continue
			}
			// The same values as columns of a row, which Go or generated code computes.
			rows, err = askCorpus(s, ofColumns(r, args), false)
			if err == nil && slices.Contains([]string{"round", "trunc", "to_number"}, r.Name) { // constants tell how many digits the type needs
				if wrong := (&trial.Line{Call: call, Answer: answer}).Record().Diff(rows, true); wrong != "" {
					t.Errorf("%s of columns: %s", call, wrong)
				}
			} else if got := trial.Answer(rows, codeOrNone(err)); got != answer && codeOrNone(err) != diag.FeatureNotSupported {
				t.Errorf("%s is %s of constants and %s of columns (%v)", call, answer, got, err)
			}
		}
		table.Sections = append(table.Sections, section)
	}
	if *rewrite {
		if err := table.Write(functionTablePath); err != nil {
			t.Fatal(err)
		}
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
