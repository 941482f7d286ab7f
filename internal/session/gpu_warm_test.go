package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// onAuto is a session whose queries run where they are fast, and its simulated GPU of so many bytes for columns; 0: all.
func onAuto(t *testing.T, limit int64) (*Session, *gpu.Store, *device.Simulated) {
	t.Helper()
	s := New(NewDB())
	mustRun(t, s, "create table t as select g a, g % 1000 b, 'text ' || g % 50 s from generate_series(1, 50000) x(g)")
	sim := device.NewSimulated(device.SimulatedOptions{})
	store := gpu.NewStore(sim, limit)
	s.DB.Accelerate(store)
	mustRun(t, s, "set threads = 1")
	mustRun(t, s, "set device = 'auto'; set gpu_history = off") // a simulated GPU is slow
	return s, store, sim
}

// TestGPUWarming: what a GPU lacks for a query of the CPU is there when it comes again, whatever the query does; what cannot be repeated is not.
func TestGPUWarming(t *testing.T) {
	s, store, sim := onAuto(t, 0)
	const behind = "which is done behind the query"
	for _, sql := range []string{
		"select b, count(*), max(s) from t group by b order by b limit 10",
		"select s, count(*) from t where a > 0 group by s order by 1",
		"select count(*) from t x join t y on x.a = y.a where x.b < 500",
		"select reverse(s), n from (select s, count(*) n from t group by s) x order by 1", // made in Go, of few rows
		"with few as (select a % 500 k, sum(b) n from t group by 1) select count(*) from t join few on b = k",
	} {
		if got := chosen(t, s, sql); !strings.HasPrefix(got, "cpu: ") || !strings.HasSuffix(got, behind) {
			t.Errorf("%s: %s", sql, got)
		}
		before := sim.Counts().Launches
		want := rowsOf(t, s, sql)
		store.Settle()
		warmed := sim.Counts().Launches
		if warmed == before {
			t.Errorf("%s: nothing was run behind it", sql)
		}
		if got := chosen(t, s, sql); !strings.HasPrefix(got, "gpu: ") || strings.Contains(got, "copying") || strings.Contains(got, "compiling") {
			t.Errorf("%s, warm: %s", sql, got)
		}
		if got := rowsOf(t, s, sql); got != want || sim.Counts().Launches == warmed {
			t.Errorf("%s, by %d launches:\n%s\nwant\n%s", sql, sim.Counts().Launches-warmed, got, want)
		}
	}

	// Rows that change are brought again.
	const sum = "select b > 5 k, sum(a) from t group by 1 order by 1"
	for i := range 3 {
		mustRun(t, s, "update t set b = b + 1 where a < 1000")
		want := fmt.Sprintf("false|%d\ntrue|%d\n", sumBelow(i), 1250025000-sumBelow(i))
		for k := range 2 {
			if got := rowsOf(t, s, sum); got != want {
				t.Errorf("after %d updates, run %d: %s, want %s", i+1, k, got, want)
			}
			store.Settle()
		}
	}

	// What has another value each time must not be asked once more.
	mustRun(t, s, "create sequence q")
	before := sim.Counts().Launches
	next := "with n as (select nextval('q') v) select b, sum(a) from t, n where n.v > 0 group by b"
	if got := chosen(t, s, next); strings.Contains(got, behind) {
		t.Errorf("a sequence: %s", got)
	}
	_ = rowsOf(t, s, next)
	store.Settle()
	if got := rowsOf(t, s, "select nextval('q')"); got != "2\n" {
		t.Errorf("the query was run again: %s", got)
	}
	if sim.Counts().Launches != before {
		t.Error("a query that must not be repeated was run behind")
	}

	// Nor what is switched off, or uses no code that is kept.
	for _, set := range []string{"gpu_warming = off", "gpu_code = 'stored'", "feed = 'batch'", "fuse = 'operator'"} {
		mustRun(t, s, "set "+set)
		if got := chosen(t, s, "select s, min(a), max(a * 7) from t group by s"); strings.Contains(got, behind) {
			t.Errorf("%s: %s", set, got)
		}
		name, _, _ := strings.Cut(set, " ")
		mustRun(t, s, "reset "+name)
	}
}

// sumBelow is the sum of the a whose b is at most 5 after so many more updates than one.
func sumBelow(i int) int {
	sum := 0
	for a := 1; a <= 50000; a++ {
		b := a % 1000
		if a < 1000 {
			b += i + 1
		}
		if b <= 5 {
			sum += a
		}
	}
	return sum
}

// TestGPUWarmingRoom: columns that others would have to go for come only when that pays, and Rest lets all be.
func TestGPUWarmingRoom(t *testing.T) {
	s, store, sim := onAuto(t, 230<<10)
	const one, other = "select a % 7, count(*) from t group by 1", "select b, count(*), min(s) from t group by b"
	want := rowsOf(t, s, one)
	store.Settle()
	if got := chosen(t, s, one); !strings.HasPrefix(got, "gpu: ") {
		t.Errorf("there was room: %s", got)
	}
	held := store.Bytes()
	if got := chosen(t, s, other); strings.Contains(got, "behind") {
		t.Errorf("there is no room left beside %d bytes: %s", held, got)
	}
	tries := 0
	for launches := sim.Counts().Launches; sim.Counts().Launches == launches && tries < 1000; tries++ {
		_ = rowsOf(t, s, other)
		store.Settle()
	}
	if tries < 3 || tries == 1000 {
		t.Errorf("others went after %d queries", tries)
	}
	if got := chosen(t, s, other); !strings.HasPrefix(got, "gpu: ") {
		t.Errorf("then: %s", got)
	}
	if got := rowsOf(t, s, one); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if store.Peak() > 230<<10 {
		t.Errorf("columns took %d bytes", store.Peak())
	}
	s.DB.Rest()
	store.Settle()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestGPUWarmingAtOnce: sessions that ask and change while columns come behind them see their own rows.
func TestGPUWarmingAtOnce(t *testing.T) {
	s, store, _ := onAuto(t, 0)
	mustRun(t, s, "create table u as select g a, 1 b from generate_series(1, 30000) x(g)")
	var wg sync.WaitGroup
	for k := range 4 {
		wg.Go(func() {
			own := New(s.DB)
			mustRun(t, own, "set threads = 1")
			mustRun(t, own, "set device = 'auto'")
			last := 0
			for i := range 6 {
				switch {
				case k == 0:
					mustRun(t, own, "update u set b = b + 1")
				case k == 1 && i == 3:
					s.DB.Rest()
				default:
					var n, sum int
					if _, err := fmt.Sscanf(rowsOf(t, own, fmt.Sprintf("select count(*), sum(b) from u where a > %d group by b", -k)), "%d|%d", &n, &sum); err != nil {
						t.Error(err)
					}
					if n != 30000 || sum%n != 0 || sum/n < last {
						t.Errorf("%d rows, sum %d, after %d updates", n, sum, last)
					}
					last = sum / n
				}
			}
		})
	}
	wg.Wait()
	store.Settle()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
