package more

import (
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/gen"
)

func TestQueries(t *testing.T) {
	all := Queries()
	if len(all) != 104 {
		t.Errorf("%d queries", len(all))
	}
	for _, q := range all {
		if !strings.Contains(strings.ToLower(q.SQL), "select") || q.Name == "tables" {
			t.Errorf("%s: %s", q.Name, q.SQL)
		}
	}
}

// TestTables: only tables that queries read are made, in the size of the scale factor.
func TestTables(t *testing.T) {
	all := Tables(1, Queries())
	if len(all) != 8 {
		t.Errorf("%d tables", len(all))
	}
	some := Tables(0.0015, []gen.Query{{SQL: "select * from edges, users_of_ours"}})
	if len(some) != 1 || !strings.Contains(some[0], "create table edges") || !strings.Contains(some[0], "generate_series(1, 600)") {
		t.Errorf("%q", some)
	}
}
