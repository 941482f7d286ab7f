package session

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// chosen is what EXPLAIN says of the device.
func chosen(t *testing.T, s *Session, sql string) string {
	t.Helper()
	for _, row := range strings.Split(rowsOf(t, s, "explain "+sql), "\n") {
		if _, line, ok := strings.Cut(row, "device "); ok {
			return line
		}
	}
	return "none"
}

// TestAutoDevice: SET device = 'auto' takes the GPU where that pays, says why, and learns.
func TestAutoDevice(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, g % 1000 b from generate_series(1, 600000) x(g)")
	mustRun(t, s, "create table small as select 1 a")
	const sum, other = "select sum(a) from t where b > 5", "select count(*) from t where a > b"
	mustRun(t, s, "set threads = 1")
	mustRun(t, s, "set device = 'auto'")
	mustRun(t, s, "set gpu_warming = off; set gpu_history = off") // a simulated GPU is slow
	if got := rowsOf(t, s, "show device"); !strings.Contains(got, "auto") {
		t.Errorf("show device: %s", got)
	}

	// There is no GPU here; on a machine that has one the test gives the database another.
	s.DB.gpu.err = &device.Error{Kind: device.Missing, Err: context.DeadlineExceeded}
	if got := chosen(t, s, sum); got != "cpu: context deadline exceeded" {
		t.Errorf("without a GPU: %s", got)
	}

	sim := device.NewSimulated(device.SimulatedOptions{})
	store := gpu.NewStore(sim, 0)
	s.DB.Accelerate(store)
	if got := chosen(t, s, "select * from small"); !strings.HasSuffix(got, "less than a GPU needs to begin") || !strings.HasPrefix(got, "cpu: ") {
		t.Errorf("a small table: %s", got)
	}
	if got := chosen(t, s, sum); !strings.HasPrefix(got, "cpu: ") || !strings.Contains(got, "compiling its kernels") {
		t.Errorf("nothing is there: %s", got)
	}
	want := rowsOf(t, s, sum)
	if n := sim.Counts().Launches; n != 0 {
		t.Errorf("a query on the CPU launched %d kernels", n)
	}

	// What SET device = 'gpu' brought to the device stays.
	mustRun(t, s, "set device = 'gpu'")
	_ = rowsOf(t, s, sum)
	mustRun(t, s, "set device = 'auto'")
	if got := chosen(t, s, sum); !strings.HasPrefix(got, "gpu: ") || strings.Contains(got, "copying") {
		t.Errorf("all is there: %s", got)
	}
	if got := chosen(t, s, strings.Replace(sum, "5", "77", 1)); !strings.HasPrefix(got, "gpu: ") {
		t.Errorf("another literal: %s", got)
	}
	before := sim.Counts().Launches
	if got := rowsOf(t, s, sum); got != want || sim.Counts().Launches == before {
		t.Errorf("%s after %d launches, want %s", got, sim.Counts().Launches-before, want)
	}

	// Rows that changed are not there.
	mustRun(t, s, "insert into t values (1, 1)")
	if got := chosen(t, s, sum); !strings.HasPrefix(got, "cpu: ") || !strings.Contains(got, "copying 3.6 MB there") || strings.Contains(got, "compiling") {
		t.Errorf("after an insert: %s", got)
	}

	// EXPLAIN alone counts for nothing; queries that would have been faster on the GPU do, in the end.
	for range 1000 {
		_ = chosen(t, s, other)
	}
	tries := 0
	for before = sim.Counts().Launches; tries < 1000 && sim.Counts().Launches == before; tries++ {
		_ = rowsOf(t, s, other)
	}
	if tries < 10 || tries == 1000 {
		t.Errorf("the GPU was taken into use after %d queries", tries)
	}
	if got := chosen(t, s, other); !strings.HasPrefix(got, "gpu: ") || strings.Contains(got, "copying") || strings.Contains(got, "compiling") {
		t.Errorf("afterwards: %s", got)
	}

	// What the device is known to lack is not tried again.
	set := s.Settings()
	prog, _, err := s.plan(context.Background(), boundQuery(t, s, other), &set, nil, &Timing{})
	if err != nil {
		t.Fatal(err)
	}
	store.Ran(prog, "it counts too high")
	if got := chosen(t, s, other); got != "cpu: it counts too high" {
		t.Errorf("what the device lacks: %s", got)
	}
	file := filepath.Join(t.TempDir(), "t.parquet")
	mustRun(t, s, "copy t to '"+file+"'")
	if got := chosen(t, s, "select sum(a) from '"+file+"'"); !strings.HasSuffix(got, "over the bus each time") {
		t.Errorf("a file: %s", got)
	}

	// Columns that do not fit.
	s.DB.Accelerate(gpu.NewStore(sim, 1<<20))
	if got := chosen(t, s, sum); !strings.HasSuffix(got, "over the bus each time") {
		t.Errorf("too little room: %s", got)
	}
}

// boundQuery is a query before it is optimized.
func boundQuery(t testing.TB, s *Session, text string) *plan.Query {
	t.Helper()
	stmts, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bind.Statement(s.env(context.Background(), s.DB.Catalog.Begin()), stmts[0].Stmt, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*bind.Query).Plan
}

// TestAutoCounts: what comes back to the host, and what Go has to make for a GPU, counts against it, and EXPLAIN says so.
func TestAutoCounts(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, g % 1000 b, 'text ' || g s from generate_series(1, 400000) x(g)")
	s.DB.Accelerate(gpu.NewStore(device.NewSimulated(device.SimulatedOptions{}), 0))
	mustRun(t, s, "set threads = 1")
	mustRun(t, s, "set device = 'auto'")
	for _, c := range []struct{ sql, want, says string }{
		{"select a, b, a + b, a - b from t where b > 0", "cpu: ", "MB come back"},
		{"select min(reverse(s)) from t where a % 2 = 0", "cpu: ", "where Go makes 200000 values"},
		{"select md5(s), count(*) from t group by 1 order by 2 limit 5", "cpu: ", "where Go makes 400000 values"},
	} {
		mustRun(t, s, "set device = 'gpu'")
		_ = rowsOf(t, s, c.sql)
		mustRun(t, s, "set device = 'auto'")
		if got := chosen(t, s, c.sql); !strings.HasPrefix(got, c.want) || !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", c.sql, got)
		}
	}
}

// TestAutoHistory: how long queries took counts for those with other literals, not for others, and not where rows were counted or handed on meanwhile.
func TestAutoHistory(t *testing.T) {
	s, store, sim := onAuto(t, 0)
	mustRun(t, s, "set gpu_history = on")
	const sql, like, other = "select b, sum(a) from t where a > 5 group by b", "select b, sum(a) from t where a > 77 group by b", "select b, max(a) from t where a > 5 group by b"
	const seen = " (measured)"
	_ = rowsOf(t, s, "explain analyze "+sql)
	mustRun(t, s, "copy ("+sql+") to '"+filepath.Join(t.TempDir(), "x.csv")+"'")
	store.Settle()
	if got := chosen(t, s, sql); strings.Contains(got, seen) {
		t.Errorf("nothing counts yet: %s", got)
	}
	// A simulated GPU takes far longer than a real one would: one run shows that.
	for tries := 0; tries < 50 && (sim.Counts().Launches == 0 || strings.HasPrefix(chosen(t, s, sql), "gpu: ")); tries++ {
		_ = rowsOf(t, s, sql)
		store.Settle()
	}
	for _, q := range []string{sql, like} {
		if got := chosen(t, s, q); !strings.HasPrefix(got, "cpu: ") || strings.Count(got, seen) == 0 {
			t.Errorf("%s: %s", q, got)
		}
	}
	if got := chosen(t, s, other); strings.Contains(got, seen) {
		t.Errorf("%s: %s", other, got)
	}
	mustRun(t, s, "set gpu_history = off")
	if got := chosen(t, s, sql); strings.Contains(got, seen) || !strings.HasPrefix(got, "gpu: ") {
		t.Errorf("off: %s", got)
	}
}
