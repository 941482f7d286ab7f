package session

import (
	"context"
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
			b.ReportAllocs()
			var t Timing
			for range b.N {
				r, err := s.Query(context.Background(), q.SQL)
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
		})
	}
}
