package session

import (
	"context"
	"testing"

	"github.com/kelpiedb/kelpie/gen/more"
	"github.com/kelpiedb/kelpie/gen/tpch"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// BenchmarkGPUCodeTPCH writes the IR and the text of all kernels of TPC-H's queries.
func BenchmarkGPUCodeTPCH(b *testing.B) {
	s := load(b, "tpch", "0.01")
	place := (*gpu.Store)(nil).Place("simt", &exec.Options{})
	for _, q := range tpch.Queries() {
		p := programOf(b, s, q.SQL)
		b.Run(q.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, l := range compile.Explain(p, place, compile.Options{}) {
					if l.Err == nil {
						if _, err := device.ListGPU(l.Fragment.Func); err != nil {
							b.Fatal(err)
						}
						l.Fragment.Func.Release()
					}
				}
			}
		})
	}
}

// BenchmarkGPUCode writes the IR of all kernels that 58 queries need, which every query does again before it finds its code in the cache.
func BenchmarkGPUCode(b *testing.B) {
	s := load(b, "tpch", "0.01")
	queries := more.Queries()
	for _, sql := range more.Tables(0.001, queries) {
		mustRun(b, s, sql)
	}
	var progs []*pipe.Program
	for _, q := range queries {
		if len(q.Name) > 6 && q.Name[:6] == "window" {
			continue
		}
		progs = append(progs, programOf(b, s, q.SQL))
	}
	place := (*gpu.Store)(nil).Place("simt", &exec.Options{})
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range progs {
			for _, l := range compile.Explain(p, place, compile.Options{}) {
				if l.Err == nil {
					l.Fragment.Func.Release()
				}
			}
		}
	}
}

// programOf plans a query.
func programOf(b *testing.B, s *Session, sql string) *pipe.Program {
	b.Helper()
	set := s.Settings()
	set.Device = "simt"
	prog, _, err := s.plan(context.Background(), boundQuery(b, s, sql), &set, nil, &Timing{})
	if err != nil {
		b.Fatal(err)
	}
	return prog
}
