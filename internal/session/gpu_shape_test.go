package session

import (
	"context"
	"testing"

	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// launched runs a query on the simulated device and tells what its pipelines did.
func launched(t *testing.T, s *Session, text string) exec.Stats {
	t.Helper()
	stmts, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Statement(env{s, s.DB.Catalog.Begin(), context.Background()}, stmts[0].Stmt, nil)
	if err != nil {
		t.Fatal(err)
	}
	set, timing := s.Settings(), Timing{}
	prog, _, err := s.plan(context.Background(), b.(*bind.Query).Plan, &set, nil, &timing)
	if err != nil {
		t.Fatal(err)
	}
	store, err := s.DB.gpu.open()
	if err != nil {
		t.Fatal(err)
	}
	opts := s.options(&set)
	opts.Listing = true
	res, stats, err := gpu.Run(context.Background(), prog, store, opts)
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	return *stats
}

// TestGPUShape holds the kernels over the largest table of a query to what they may cost: instructions of a warp for 32 rows,
// and atomics on global memory for a thousand.
func TestGPUShape(t *testing.T) {
	for _, c := range []struct {
		suite, q string
		instrs   float64
		atomics  float64
	}{
		{"tpch", "q6", 40, 1}, {"tpch", "q1", 100, 1}, {"ssb", "q1.1", 40, 1}, {"ssb", "q2.1", 56, 11}, {"ssb", "q3.1", 68, 1},
	} {
		s := load(t, c.suite, "0.01")
		accelerate(t, s, 1, func(_ *gpu.Store, x *Settings) { x.Grid, x.Block = 1, 256 })
		st := launched(t, s, queryText(t, c.suite, c.q))
		p := &st.Pipelines[0]
		for i := range st.Pipelines {
			if st.Pipelines[i].RowsIn > p.RowsIn {
				p = &st.Pipelines[i]
			}
		}
		l, rows := &p.Lanes, float64(p.RowsIn)
		instrs, atomics := float64(l.WarpInstrs)*32/rows, float64(l.Atomics)*1000/rows
		t.Logf("%s %s: %.1f instructions for 32 rows, %.2f atomics for 1000, %.2f sectors for 32, %.0f%% active", c.suite, c.q, instrs, atomics,
			float64(l.SectorsRead)*32/rows, 100*l.Activity())
		if instrs > c.instrs {
			t.Errorf("%s %s: %.1f instructions for 32 rows, more than %.1f", c.suite, c.q, instrs, c.instrs)
		}
		if atomics > c.atomics {
			t.Errorf("%s %s: %.2f atomics for 1000 rows, more than %.2f", c.suite, c.q, atomics, c.atomics)
		}
	}
}
