package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/gen/tpch"
)

// BenchmarkTPCH runs the 22 queries from text to Arrow batches on little data: what counts is the
// way there.
func BenchmarkTPCH(b *testing.B) {
	s := load(b, "tpch", "0.01")
	s.Configure(func(s *Settings) { s.Threads = 1; s.Check = false })
	for _, q := range tpch.Queries() {
		b.Run(q.Name, func(b *testing.B) {
			stages(b, s, q.SQL)
		})
	}
}

// stages runs a query b.N times and reports where its time goes.
func stages(b *testing.B, s *Session, sql string) {
	b.ReportAllocs()
	var t Timing
	for range b.N {
		r, err := s.Query(context.Background(), sql)
		if err != nil {
			b.Fatal(err)
		}
		for {
			rec, err := r.Next()
			if err != nil {
				b.Fatal(err)
			}
			if rec == nil {
				break
			}
			rec.Release()
		}
		t.Parse += r.Timing.Parse
		t.Plan += r.Timing.Plan
		t.Compile += r.Timing.Compile
		t.Exec += r.Timing.Exec
		r.Close()
	}
	b.ReportMetric(float64(t.Parse)/float64(b.N), "parse-ns")
	b.ReportMetric(float64(t.Plan)/float64(b.N), "plan-ns")
	b.ReportMetric(float64(t.Compile)/float64(b.N), "compile-ns")
	b.ReportMetric(float64(t.Exec)/float64(b.N), "exec-ns")
}

// BenchmarkGrow runs queries that grow in one dimension; what they cost should grow with it, not faster.
// bench/compile.go has the same beside DuckDB.
func BenchmarkGrow(b *testing.B) {
	s := New(NewDB())
	s.Configure(func(s *Settings) { s.Threads = 1; s.Check = false })
	list := func(n int, sep, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(strings.ReplaceAll(format, "#2", fmt.Sprint(i+2)), "#", fmt.Sprint(i+1))
		}
		return strings.Join(parts, sep)
	}
	mustRun(b, s, list(100, "; ", "create table r# as select i as a, i + 1 as b from generate_series(1, 1000) t(i)"))
	mustRun(b, s, "create table wide as select "+list(500, ", ", "i * # % 1000 as a#")+" from generate_series(1, 1000) t(i)")
	for _, c := range []struct {
		name  string
		sizes []int
		query func(n int) string
	}{
		{"clique", []int{2, 5, 10, 20, 50, 100}, func(n int) string {
			return "select " + list(n, ", ", "r#.a") + " from " + list(n, ", ", "r#") + " where " + list(n-1, " and ", "r#.a = r#2.a")
		}},
		{"chain", []int{2, 5, 10, 20, 50, 100}, func(n int) string {
			return "select r1.a from " + list(n, ", ", "r#") + " where " + list(n-1, " and ", "r#.b = r#2.a")
		}},
		{"star", []int{2, 5, 10, 20, 50, 100}, func(n int) string {
			return "select count(*) from wide, " + list(n, ", ", "r#") + " where " + list(n, " and ", "a# = r#.a")
		}},
		{"columns", []int{50, 500}, func(n int) string { return "select " + list(n, ", ", "a#") + " from wide where a1 < 10" }},
		{"sums", []int{50, 500}, func(n int) string { return "select " + list(n, ", ", "sum(a#)") + " from wide where a1 < 10" }},
		{"unequal", []int{10, 100, 1000}, func(n int) string { return "select a from r1 where " + list(n, " and ", "a <> # * 7") }},
		{"equal", []int{10, 100, 1000}, func(n int) string { return "select a from r1 where " + list(n, " or ", "a = # * 7") }},
		{"mixed", []int{10, 100, 400}, func(n int) string { return "select a1 from wide where " + list(n, " and ", "a# + 1 < 2000 - #") }},
		{"in", []int{10, 100, 1000}, func(n int) string { return "select a from r1 where a in (" + list(n, ", ", "# * 70") + ")" }},
		{"case", []int{10, 100, 1000}, func(n int) string {
			return "select case " + list(n, " ", "when a = # then # + b") + " else 0 end from r1"
		}},
		{"depth", []int{10, 100, 1000}, func(n int) string { return "select " + list(n, " + ", "# * a") + " from r1" }},
		{"union", []int{2, 10, 50}, func(n int) string { return list(n, " union all ", "select a from r#") }},
	} {
		for _, n := range c.sizes {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) { stages(b, s, c.query(n)) })
		}
	}
}
