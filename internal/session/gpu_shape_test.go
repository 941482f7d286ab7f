package session

import (
	"bytes"
	"context"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// launched runs a query on the simulated device and tells what its pipelines did.
func launched(t *testing.T, s *Session, text string) exec.Stats {
	t.Helper()
	set, timing := s.Settings(), Timing{}
	prog, _, err := s.plan(context.Background(), boundQuery(t, s, text), &set, nil, &timing)
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

// assembled lets NVIDIA's assembler, if KELPIE_PTXAS names one, look at a pipeline's kernel: it may not need more than so many registers, or memory
// for those that it does not have.
func assembled(t *testing.T, name string, most int, p *exec.PipelineStats) {
	tool := os.Getenv("KELPIE_PTXAS")
	if tool == "" {
		return
	}
	dir := t.TempDir()
	for _, f := range p.Fragments {
		text, err := device.ListGPU(f.Func)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "q.ptx")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, arch := range []string{"sm_70", "sm_80", "sm_90"} {
			out, err := osexec.Command(tool, "-v", "-arch="+arch, "-o", filepath.Join(dir, "q.cubin"), file).CombinedOutput()
			if err != nil {
				t.Errorf("%s: ptxas for %s: %v\n%s", name, arch, err, out)
			}
			registers := 0
			if m := regexp.MustCompile(`Used (\d+) registers`).FindSubmatch(out); m != nil {
				registers, _ = strconv.Atoi(string(m[1]))
			}
			if registers == 0 || registers > most || !bytes.Contains(out, []byte(" 0 bytes spill stores, 0 bytes spill loads")) {
				t.Errorf("%s: %s for %s:\n%s", name, f.Func.Name, arch, out)
			}
			t.Logf("%s: %s for %s: %d registers", name, f.Func.Name, arch, registers)
		}
	}
}

// TestGPUShapePtxas holds the kernels over the largest table of a query to what they may cost: instructions of a warp for 32 rows,
// and atomics on global memory for a thousand. At this scale factor, what is done once for a table that is joined counts in SSB's.
func TestGPUShapePtxas(t *testing.T) {
	cases := []struct {
		suite, q string
		instrs   float64 // in whole bytes, and
		packed   float64
		atomics  float64
		most     int // registers; 64 let a multiprocessor hold 1,024 threads, which sm_70 does not reach where bitmaps of keys are tested
	}{
		{"tpch", "q6", 18, 24, 1, 64}, {"tpch", "q1", 80, 84, 1, 64}, {"ssb", "q1.1", 19, 24, 12, 64}, {"ssb", "q2.1", 56, 60, 12, 72}, {"ssb", "q3.1", 64, 68, 12, 72},
	}
	for i := range 2 * len(cases) {
		c := cases[i/2]
		s := load(t, c.suite, "0.01")
		accelerate(t, s, 1, func(g *gpu.Store, x *Settings) {
			x.Grid, x.Block = 1, 256
			if g.PackLeast = 1; i%2 == 0 {
				g.PackLeast, c.packed = 0, c.instrs
			}
		})
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
		assembled(t, c.suite+" "+c.q, c.most, p)
		if instrs > c.packed {
			t.Errorf("%s %s: %.1f instructions for 32 rows, more than %.1f", c.suite, c.q, instrs, c.packed)
		}
		if atomics > c.atomics {
			t.Errorf("%s %s: %.2f atomics for 1000 rows, more than %.2f", c.suite, c.q, atomics, c.atomics)
		}
	}
}
