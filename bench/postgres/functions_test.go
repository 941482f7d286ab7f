package postgres

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/funcs/trial"
)

// TestFunctionTablePostgres: PostgreSQL confirms the table of functions, that every function has with NULL, empty, extreme and
// multi-byte arguments. With -rewrite it writes down which lines are PostgreSQL's.
func TestFunctionTablePostgres(t *testing.T) {
	const path = "../../internal/session/testdata/function_table.txt"
	d := Open(t)
	table, err := trial.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for i := range table.Sections {
		for k := range table.Sections[i].Lines {
			l := &table.Sections[i].Lines[k]
			r := l.Record()
			rows, err := d.Cells(r.SQL)
			source, diff := "pg", ""
			switch code := Code(err); {
			case err != nil && code == r.Code:
			case code == "42883" || code == "42601" || code == "42P18" || code == "42804" || code == "42809" || code == "42703" || code == "42704" || code == "42725":
				source = "nopg"
			case err != nil:
				source, diff = "own", err.Error()
			case r.Code != "":
				source, diff = "own", trial.Answer(rows, "")
			default:
				if diff = r.Diff(rows, true); diff != "" {
					source = "own"
				}
			}
			if *rewrite {
				l.Source = source
				if source == "own" && l.Reason == "" {
					l.Reason = "?"
				}
				if source != "own" {
					l.Reason = ""
				}
			}
			count[source]++
			switch {
			case l.Source != source:
				t.Errorf("%s → %s is said to be %s and is %s: %s", l.Call, l.Answer, l.Source, source, diff)
			case source == "own" && (l.Reason == "" || l.Reason == "?"):
				t.Errorf("%s → %s; PostgreSQL: %s", l.Call, l.Answer, diff)
			}
		}
	}
	t.Logf("%v", count)
	if *rewrite {
		if err := table.Write(path); err != nil {
			t.Fatal(err)
		}
	}
}
