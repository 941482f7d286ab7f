package session

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// On a machine with a GPU, KELPIE_GPU=cuda lets these tests use it instead of a simulated one, and KELPIE_TEST_SF1=1
// lets them answer the benchmarks' queries at scale factor 1, too: scripts/gpu-check.

// realGPU is taken into use once, realStore for all tests without a limit.
var (
	realGPU   = sync.OnceValues(func() (device.Device, error) { return device.OpenCUDA(0) })
	realStore = sync.OnceValues(func() (*gpu.Store, error) {
		dev, err := realGPU()
		if err != nil {
			return nil, err
		}
		return gpu.NewStore(dev, 0), nil
	})
)

// limited is a device and a store of its own that holds at most so many bytes there; 0: as many as the device has.
func limited(t *testing.T, seed uint64, limit int64) (device.Device, *gpu.Store) {
	var dev device.Device = device.NewSimulated(device.SimulatedOptions{Seed: seed})
	if os.Getenv("KELPIE_GPU") == "cuda" {
		var err error
		if dev, err = realGPU(); err != nil {
			t.Fatal(err)
		}
	}
	return dev, gpu.NewStore(dev, limit)
}

// accelerate lets a session's queries run on a GPU, a simulated one unless the machine has another.
func accelerate(t *testing.T, s *Session, seed uint64, set func(*gpu.Store, *Settings)) {
	var store *gpu.Store
	if os.Getenv("KELPIE_GPU") == "cuda" {
		var err error
		if store, err = realStore(); err != nil {
			t.Fatal(err)
		}
	} else {
		_, store = limited(t, seed, 0)
	}
	store.Room, store.SortLeast, store.Sample, store.PackLeast = 0, 0, 0, int64(seed%2) // 1: all columns are packed that can be
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) {
		x.Device, x.Check = "gpu", true
		if set != nil {
			set(store, x)
		}
	})
}

// TestGPUAnswers: all queries of both benchmarks run on the device, and are answered as they must be.
func TestGPUAnswers(t *testing.T) {
	for _, c := range []struct{ suite, sf string }{{"tpch", "0.01"}, {"ssb", "0.01"}, {"tpch", "1"}, {"ssb", "1"}} {
		t.Run(c.suite+" sf"+c.sf, func(t *testing.T) {
			if c.sf == "1" && (os.Getenv("KELPIE_TEST_SF1") == "" || os.Getenv("KELPIE_GPU") == "") {
				t.Skip("a simulated GPU is too slow for that")
			}
			s := load(t, c.suite, c.sf)
			accelerate(t, s, 1, nil)
			for _, q := range suiteQueries(c.suite) {
				if testing.Short() && !slices.Contains(simtFive[c.suite], q) {
					continue
				}
				checkAnswer(t, s, c.suite, c.sf, q)
				onDevice(t, s, c.suite, q)
			}
		})
	}
}

// onDevice fails if a query is left to the CPU.
func onDevice(t *testing.T, s *Session, suite, q string) {
	t.Helper()
	res, err := s.Query(context.Background(), "explain analyze "+queryText(t, suite, q))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if n := res.Notices(); len(n) > 0 {
		t.Errorf("%s: %s", q, n)
	}
}

// TestGPURoom: sinks that are far too small at first, launches of any shape and orders of blocks and warps change nothing.
func TestGPURoom(t *testing.T) {
	for suite, queries := range simtFive {
		s := load(t, suite, "0.01")
		for i, c := range []struct{ room, grid, block, takes int }{{1, 0, 0, 64}, {100, 1, 32, 0}, {7, 3, 64, 0}, {5000, 2, 1024, 64}, {5000, 5, 64, 32}} {
			if testing.Short() && i > 0 {
				break
			}
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				g.Room, x.Grid, x.Block, g.Takes = int64(c.room), c.grid, c.block, int64(c.takes)
			})
			for _, q := range thin(queries) {
				checkAnswer(t, s, suite, "0.01", q)
				onDevice(t, s, suite, q)
			}
		}
	}
}

// TestGPUCorpus: the corpus gives the same on a device, which leaves nothing to the CPU but recursion.
func TestGPUCorpus(t *testing.T) {
	paths, err := filepath.Glob("testdata/corpus/*.test")
	if err != nil || len(paths) == 0 {
		t.Fatal("no corpus", err)
	}
	onCPU, total := map[string]int{}, 0
	for i, path := range paths {
		f, err := corpus.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if testing.Short() && i%6 != 0 {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			s := New(NewDB())
			accelerate(t, s, uint64(i), func(g *gpu.Store, x *Settings) {
				if i%2 == 1 {
					g.Room, g.SortLeast, g.Takes, g.Sample = 3, 2, 64, 256
				}
			})
			for _, r := range f.Records {
				total++
				rows, err := askNoting(s, r.SQL, onCPU)
				if diff := corpusOutcome(positiveZeros(r, rows), rows, err); diff != "" {
					t.Errorf("%s.test:%d: %s\n%s", f.Name, r.Line, diff, r.SQL)
				}
			}
		})
	}
	n := 0
	for why, k := range onCPU {
		t.Logf("%4d %s", k, why)
		if !strings.Contains(why, "WITH RECURSIVE is not supported yet") {
			n += k
		}
	}
	t.Logf("%d of %d records ran on the CPU", n, total)
	if n > 0 {
		t.Errorf("%d of %d records ran on the CPU", n, total)
	}
}

// askNoting runs a statement, and counts why it ran on the CPU.
func askNoting(s *Session, sql string, onCPU map[string]int) ([][]corpus.Cell, error) {
	res, err := s.Query(context.Background(), sql)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	for _, n := range res.Notices() {
		if why, ok := strings.CutPrefix(n, "the query runs on the CPU: "); ok {
			onCPU[why]++
		}
	}
	var rows [][]corpus.Cell
	for _, row := range res.Values() {
		var cells []corpus.Cell
		for _, v := range row {
			cells = append(cells, corpusValue(v, res.zone))
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// positiveZeros takes the signs from zeros, in the rows that came and in those that the record wants: which of two equal keys
// stands for a group is open where many lanes look for it at once.
func positiveZeros(r *corpus.Record, rows [][]corpus.Cell) *corpus.Record {
	out := *r
	out.Rows = nil
	for _, row := range r.Rows {
		cells := strings.Split(row, "|")
		for i, c := range cells {
			if c == "-0" {
				cells[i] = "0"
			}
		}
		out.Rows = append(out.Rows, strings.Join(cells, "|"))
	}
	for _, row := range rows {
		for i := range row {
			if row[i].Text == "-0" {
				row[i].Text = "0"
			}
		}
	}
	return &out
}

// TestGPUFails: what the device cannot do, or fails to do, the CPU does.
func TestGPUFails(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, 'text '||g s from generate_series(1, 30000) x(g)")
	for _, c := range []struct {
		memory uint64
		sql    string
		notice string
	}{
		{1 << 9, "select sum(a) from t", "out of memory"},
		{1 << 15, "select sum(a) from t", ""}, // in chunks
		{1 << 30, "select sum(a) from t", ""},
	} {
		s.DB.Accelerate(gpu.NewStore(device.NewSimulated(device.SimulatedOptions{Memory: c.memory}), 0))
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := rowsOf(t, s, c.sql)
		s.Configure(func(x *Settings) { x.Device = "gpu" })
		res, err := s.Query(context.Background(), c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		if n := strings.Join(res.Notices(), " "); !strings.Contains(n, c.notice) || (n == "") != (c.notice == "") {
			t.Errorf("%s: the notice is %q", c.sql, n)
		}
		res.Close()
		if got := rowsOf(t, s, c.sql); got != want {
			t.Errorf("%s: %s, want %s", c.sql, got, want)
		}
	}
}
