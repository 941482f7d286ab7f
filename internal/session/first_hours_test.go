package session

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestFirstHours: what people and tools send in their first hours with a database, a line each, runs, or is refused with 0A000, a position and
// a hint: no word that PostgreSQL or DuckDB knows is a syntax error, or does not exist.
func TestFirstHours(t *testing.T) {
	text, err := os.ReadFile("testdata/first_hours.sql")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // nothing may be written anywhere else
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	runs, refused := 0, 0
	for i, line := range lines {
		if (testing.Short() || raced) && i%8 != 0 {
			continue
		}
		s := New(NewDB())
		s.Stdout = io.Discard
		mustRun(t, s, "create table t (a int, b int, s text, y int)")
		mustRun(t, s, "insert into t values (1, 2, 'x', 5), (3, 4, 'y', null)")
		mustRun(t, s, "create view v as select a from t")
		mustRun(t, s, "create table keyed (id int primary key, n text default 'x')")
		mustRun(t, s, "create sequence numbers")
		before, last := strings.Split(line, "; "), ""
		before, last = before[:len(before)-1], before[len(before)-1]
		for _, sql := range before {
			mustRun(t, s, sql)
		}
		res, err := s.Query(context.Background(), last)
		if err == nil {
			for range res.Values() { // all of them, where rows are only made when they are asked for
			}
			res.Close()
			runs++
			continue
		}
		var e *diag.Error
		if !errors.As(err, &e) || e.Code != diag.FeatureNotSupported || e.Pos < 0 || e.Hint == "" {
			t.Errorf("%s\n%s", line, diag.Format(err, last))
		}
		refused++
	}
	t.Logf("%d statements run, %d are refused", runs, refused)
}
