package session

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// BenchmarkCancel measures how long statements go on that are canceled at different moments. Each of them takes longer than a
// second; what is told is the longest wait.
func BenchmarkCancel(b *testing.B) {
	dir := b.TempDir()
	csv, parquet, fifo := filepath.Join(dir, "t.csv"), filepath.Join(dir, "t.parquet"), filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		b.Fatal(err)
	}
	hold, err := os.OpenFile(fifo, os.O_RDWR, 0) // so that the other end is there, and says nothing
	if err != nil {
		b.Fatal(err)
	}
	defer hold.Close()
	s := New(NewDB())
	mustRun(b, s, `create table t as select g, (g::bigint * 919) % 1000003 as r, 'some longer common prefix ' || ((g::bigint * 919) % 1000003) as s
		from generate_series(1, 4000000) g; create table small (a int, b int); insert into small values (1, 2)`)
	mustRun(b, s, "copy t to '"+csv+"'; copy t to '"+parquet+"'; set file_cache = off")
	many := manyTerms(60000)
	for _, c := range []struct{ name, sql string }{
		{"product", "select count(*) from t a, t b where a.s < b.s"},
		{"join with many matches", "select sum(a.g * b.r) from t a join t b on a.g % 100 = b.r % 100"},
		{"sort of texts", "select s, r from t order by s desc, r"},
		{"sort of made texts", "select s || 'x' as m from t order by m"},
		{"sort of products", "select a.g from t a, t b order by a.s, b.s"},
		{"groups of texts", "select s, count(*) from t group by s"},
		{"distinct texts", "select count(distinct s || 'y') from t"},
		{"series", "select count(*) from generate_series(1, 100000000000) g where g % 7 = 3"},
		{"made table", "create table made as select a.g, a.s || b.s as m from t a, t b"},
		{"insert", "insert into t select a.* from t a, small"},
		{"update", "update t set s = s || 'z' where r >= 0"},
		{"copy to CSV", "copy (select a.s, b.s from t a, t b) to '" + filepath.Join(dir, "out.csv") + "'"},
		{"copy to Parquet", "copy (select a.s, b.s from t a, t b) to '" + filepath.Join(dir, "out.parquet") + "'"},
		{"scan of CSV", "select count(*) from '" + csv + "' a, '" + csv + "' b where a.s < b.s"},
		{"load of CSV", "create table loaded as select * from '" + csv + "' union all select * from '" + csv + "'"},
		{"scan of Parquet", "select count(*) from '" + parquet + "' a, t b where a.s < b.s"},
		{"generated tables", "call tpch(sf => 10)"},
		{"a FIFO", "select * from '" + fifo + "' (format csv)"},
		{"copy from a FIFO", "copy small from '" + fifo + "' (format csv)"},
		{"60,000 OR terms", many["or"]},
		{"60,000 AND terms", many["and"]},
		{"60,000 IN terms", many["in"]},
		{"60,000 CASE terms", strings.TrimSuffix(many["case"], "t") + "small"},
	} {
		c.sql = strings.ReplaceAll(strings.ReplaceAll(c.sql, "from t where", "from small t where"), "' (format csv)", "'")
		b.Run(c.name, func(b *testing.B) {
			var worst time.Duration
			ended := 0
			for i := range b.N {
				ctx, cancel := context.WithCancel(context.Background())
				var at time.Time
				timer := time.AfterFunc(time.Duration(1+i*37%400)*time.Millisecond, func() { at = time.Now(); cancel() })
				res, err := s.Query(ctx, c.sql)
				switch {
				case err == nil:
					res.Close()
				case diag.CodeOf(err) == diag.QueryCanceled:
					worst = max(worst, time.Since(at))
				default:
					ended++
					b.Log(err)
				}
				if timer.Stop() {
					ended++
				}
				cancel()
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
			b.ReportMetric(float64(ended), "too-soon")
		})
	}
}
