package session

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// rowsOf runs a query and prints its rows, one line each.
func rowsOf(t testing.TB, s *Session, text string) string {
	t.Helper()
	res, err := s.Query(context.Background(), text)
	if err != nil {
		t.Fatalf("%s\n%s", text, diag.Format(err, text))
	}
	return resultText(res)
}

// resultText is the rows of a result, which ends.
func resultText(res *Result) string {
	defer res.Close()
	var b strings.Builder
	for _, row := range res.Values() {
		for i, v := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			b.WriteString(v.String())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// rowsFrom is the rows of queries, each over what %s stands for in it; "" for one that a GPU cannot run.
func rowsFrom(t testing.TB, s *Session, queries []string, from string) (out []string) {
	t.Helper()
	for _, q := range queries {
		q = strings.ReplaceAll(strings.ReplaceAll(q, "%s", from), "%%", "%")
		if res, err := s.Query(context.Background(), q); err != nil && strings.Contains(err.Error(), "device simt") {
			out = append(out, "")
			continue
		} else if err == nil {
			res.Close()
		}
		out = append(out, rowsOf(t, s, q))
	}
	return out
}

func TestCopyRoundTrip(t *testing.T) {
	s := New(NewDB())
	dir := t.TempDir()
	rowsOf(t, s, `CREATE TABLE t (b BOOLEAN, i SMALLINT, n INTEGER NOT NULL, l BIGINT, d DECIMAL(12,3), w DECIMAL(38,5), r REAL, f DOUBLE,
		day DATE, at TIMESTAMP, s VARCHAR)`)
	rowsOf(t, s, `INSERT INTO t VALUES
		(true, 1, 1, 9000000000, 1.5, 123456789012345678901234567890.12345, 1.5, 2.25, '1996-02-29', '2001-02-03 04:05:06.789', 'plain'),
		(false, -1, 2, -9000000000, -0.001, -1, -0.5, 1e300, '1969-12-31', '1969-12-31 23:59:59', 'with "quotes", commas
and lines'),
		(NULL, NULL, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(true, 0, 4, 0, 0, 0, 0, 0, '2000-01-01', '2000-01-01', 'Grüße, 世界')`)
	want := rowsOf(t, s, "SELECT * FROM t ORDER BY n")
	for _, ext := range []string{"csv", "parquet"} {
		path := filepath.Join(dir, "t."+ext)
		rowsOf(t, s, "COPY t TO '"+path+"'")
		rowsOf(t, s, "DROP TABLE IF EXISTS u; CREATE TABLE u (b BOOLEAN, i SMALLINT, n INTEGER NOT NULL, l BIGINT, d DECIMAL(12,3), w DECIMAL(38,5), r REAL, f DOUBLE, day DATE, at TIMESTAMP, s VARCHAR)")
		rowsOf(t, s, "COPY u FROM '"+path+"'")
		if got := rowsOf(t, s, "SELECT * FROM u ORDER BY n"); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", ext, got, want)
		}
		if got := rowsOf(t, s, "SELECT count(*), min(n), max(day) FROM '"+path+"'"); got != "4|1|2000-01-01\n" {
			t.Errorf("%s: FROM file: %s", ext, got)
		}
		rowsOf(t, s, "COPY (SELECT * FROM t WHERE n < 3) TO '"+filepath.Join(dir, "part1."+ext)+"'")
		rowsOf(t, s, "COPY (SELECT * FROM t WHERE n >= 3) TO '"+filepath.Join(dir, "part2."+ext)+"'")
		if got := rowsOf(t, s, "SELECT sum(n) FROM '"+filepath.Join(dir, "part*."+ext)+"'"); got != "10\n" {
			t.Errorf("%s: FROM glob: %s", ext, got)
		}
	}
	// A changed file is read again.
	path := filepath.Join(dir, "t.parquet")
	rowsOf(t, s, "COPY (SELECT * FROM t WHERE n = 1) TO '"+path+"'")
	if got := rowsOf(t, s, "SELECT count(*) FROM '"+path+"'"); got != "1\n" {
		t.Errorf("after a change: %s", got)
	}
	_, err := s.Query(context.Background(), "SELECT * FROM '"+filepath.Join(dir, "none.parquet")+"'")
	if err == nil || !strings.Contains(err.Error(), "No such file") {
		t.Errorf("missing file: %v", err)
	}
}
