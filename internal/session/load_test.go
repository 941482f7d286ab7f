package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// loadSources are tables of n rows, numbered in order by i, from which others are filled.
func loadSources(t *testing.T, s *Session, n int) (from map[string]string) {
	t.Helper()
	dir := t.TempDir()
	ran(t, s, fmt.Sprintf(`create table src as select i, case when i %% 7 = 0 then null else i * 3 end b, (i / 4.0)::double precision d,
		case when i %% 5 = 0 then null else 'k' || i %% 40 end few, 'text number ' || i many, cast(i as varchar(12)) short,
		i %% 3 = 0 flag, date '2000-01-01' + (i %% 900)::int day, i * 12345678901234567890.5 + 0.25 wide
		from (select g::bigint i from generate_series(0, %d) x(g)) x`, n-1))
	parquet, csv := filepath.Join(dir, "src.parquet"), filepath.Join(dir, "src.csv")
	ran(t, s, fmt.Sprintf("copy src to '%s' (format parquet, row_group_size 40000)", parquet))
	ran(t, s, fmt.Sprintf("copy src to '%s' (format csv, header)", csv))
	return map[string]string{
		"memory":  "select * from src",
		"filter":  "select * from src where i >= 0 or b > 3",
		"compute": "select i + 0 i, b + 0 b, d * 1 d, few || '' few, many || '' many, short, not not flag flag, day + 0 as day, wide + 0 wide from src",
		"parquet": fmt.Sprintf("select * from '%s'", parquet),
		"sift":    fmt.Sprintf("select * from '%s' where i > -1", parquet),
		"csv":     fmt.Sprintf("select * from '%s'", csv),
		"copy p":  fmt.Sprintf("copy %%s from '%s' (format parquet)", parquet),
		"copy c":  fmt.Sprintf("copy %%s from '%s' (format csv, header)", csv),
	}
}

// ran runs a statement that must not fail.
func ran(t *testing.T, s *Session, sql string) *Result {
	t.Helper()
	res, err := s.Query(context.Background(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return res
}

// rowText is a row as one text.
func rowText(row []types.Value) string {
	var out []string
	for _, v := range row {
		out = append(out, v.String())
	}
	return strings.Join(out, "|")
}

// TestLoadOrder fills tables from memory and from files, with one thread and with more: rows come in order, and
// all of them.
func TestLoadOrder(t *testing.T) {
	s := New(NewDB())
	n, counts := 210_001, []int{1, 2, 7} // segments and row groups end at different rows
	if testing.Short() {
		n, counts = 70_001, []int{3}
	}
	sources := loadSources(t, s, n)
	var want []string
	src := ran(t, s, "select * from src")
	for _, row := range src.Values() {
		want = append(want, rowText(row))
	}
	src.Close()
	for name, from := range sources {
		for _, threads := range counts {
			ran(t, s, fmt.Sprintf("set threads = %d", threads))
			ran(t, s, "drop table if exists made")
			copying := strings.HasPrefix(from, "copy")
			if copying {
				ran(t, s, "create table made as select * from src limit 0")
				ran(t, s, fmt.Sprintf(from, "made"))
			} else {
				ran(t, s, "create table made as "+from)
			}
			if copying {
				ran(t, s, fmt.Sprintf(from, "made"))
			} else {
				ran(t, s, "insert into made "+from)
			}
			res := ran(t, s, "select * from made")
			if res.Rows != int64(2*n) {
				t.Fatalf("%s, %d threads: %d rows", name, threads, res.Rows)
			}
			rows := res.Values()
			for i, row := range rows {
				if raced && i%29 > 0 {
					continue
				}
				got, want := rowText(row), want[i%n]
				if name == "csv" { // which does not say that the last column is a wide decimal
					got, want = got[:strings.LastIndex(got, "|")], want[:strings.LastIndex(want, "|")]
				}
				if got != want {
					t.Fatalf("%s, %d threads: row %d is %s, want %s", name, threads, i, got, want)
				}
			}
			res.Close()
		}
	}
}

// TestLoadFails has loads that fail leave the table as it was; of two mistakes the first is told.
func TestLoadFails(t *testing.T) {
	s := New(NewDB())
	n := 200_000
	loadSources(t, s, n)
	ran(t, s, "set threads = 4")
	ran(t, s, "create table short(i bigint primary key, s varchar(3) not null)")
	ran(t, s, "insert into short values (-1, 'old')")
	for sql, want := range map[string]string{
		"insert into short select i, case when i in (70000, 190000) then 'too long' else 'ok' end from src": "22001 value too long",
		"insert into short select i, case when i = 150000 then null else 'ok' end from src":                 "23502 null value",
		"insert into short select i % 199999, 'x' from src":                                                 "23505 duplicate key",
		"insert into short select i, substring(many from 1 for 3) from src where 1 / (i - 180000) < 2":      "22012 division by zero",
	} {
		_, err := s.Query(context.Background(), sql)
		if e, ok := err.(*diag.Error); !ok || !strings.HasPrefix(e.Code+" "+e.Msg, want) {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
		if got := ran(t, s, "select count(*), min(s) from short").Values(); got[0][0].I != 1 || got[0][1].S != "old" {
			t.Errorf("%s left %v", sql, got)
		}
	}
	// Blanks beyond the limit go, as the standard has it; characters count, not bytes.
	ran(t, s, "insert into short select i, case when i % 2 = 0 then 'äöü' else 'ab    ' end from src")
	if got := ran(t, s, "select count(*), min(length(s)), max(length(s)) from short").Values()[0]; got[0].I != int64(n)+1 || got[1].I != 3 || got[2].I != 3 {
		t.Errorf("%v", got)
	}
}

// TestLoadCancel has a load answer within moments.
func TestLoadCancel(t *testing.T) {
	s := New(NewDB())
	from := loadSources(t, s, 150_000)
	ran(t, s, "set threads = 2")
	for _, name := range []string{"memory", "compute", "parquet", "csv", "copy p", "copy c"} {
		for _, wait := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
			ran(t, s, "drop table if exists made")
			ran(t, s, "create table made as select * from src limit 0")
			sql := from[name]
			if strings.HasPrefix(sql, "copy") {
				sql = fmt.Sprintf(sql, "made")
			} else {
				sql = "insert into made " + sql
			}
			ctx, cancel := context.WithTimeout(context.Background(), wait)
			_, err := s.Query(ctx, sql)
			cancel()
			if err == nil {
				continue // it was done before
			}
			if e, ok := err.(*diag.Error); !ok || e.Code != diag.QueryCanceled {
				t.Errorf("%s after %v: %v", name, wait, err)
			}
			if got := ran(t, s, "select count(*) from made").Values()[0][0].I; got != 0 {
				t.Errorf("%s after %v left %d rows", name, wait, got)
			}
		}
	}
}
