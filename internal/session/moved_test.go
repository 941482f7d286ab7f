package session

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// moved is what EXPLAIN ANALYZE says of data movement: of the query, and of its pipelines.
func moved(t *testing.T, s *Session, sql string) (all *jsonMoved, pipes []*jsonMoved) {
	t.Helper()
	var doc struct {
		Pipelines []jsonPipeline
		Summary   jsonSummary
	}
	explainJSON(t, s, "explain (analyze, pipelines, timing off, format json) "+sql, &doc)
	for _, p := range doc.Pipelines {
		pipes = append(pipes, p.Stats.Moved)
	}
	return doc.Summary.Moved, pipes
}

// TestMovedByHand: the account of queries whose bytes one can count.
func TestMovedByHand(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	const n = 64_000
	mustRun(t, s, "create table r as select (i * 7919) % 100000 a, i % 200 b, i * 1000003::bigint c from generate_series(1, 64000) g(i)") // 4, 1 and 8 bytes
	small := func(x, most int64) bool { return x >= 0 && x <= most }
	// All of one column, once. The first time it crosses the bus.
	first, _ := moved(t, s, "select sum(a) from r")
	again, _ := moved(t, s, "select sum(a) from r")
	if first.Bus < 4*n || first.Bus > 4*n+16_000 || !small(again.Bus, 8_000) {
		t.Errorf("%d bytes over the bus, then %d", first.Bus, again.Bus)
	}
	if !again.Exact || !small(again.Memory-4*n, 8_000) || math.Abs(again.Passes-1) > 0.05 {
		t.Errorf("%+v", again)
	}
	// A column that one row in 200 needs: 8 bytes wide, four rows to a sector.
	late, _ := moved(t, s, "select sum(c) from r where b = 17")
	if want := int64(n + n/200*32); late.Memory < want || !small(late.Memory-want, 8_000) {
		t.Errorf("%d bytes through memory, not %d", late.Memory, want)
	}
	// What is written is read again to become a result.
	_, pipes := moved(t, s, "select a, c from r where b < 100 order by c + 1 limit 60000")
	if len(pipes) < 1 || pipes[0].Memory < 13*n+n/2*24 {
		t.Errorf("%+v", pipes[0])
	}
	// Groups of blocks stay on the chip.
	few, _ := moved(t, s, "select b, count(*), sum(a) from r group by b")
	if few.Chip < 8*n || few.Memory > 5*n+200*64*8 {
		t.Errorf("%+v", few)
	}
	mustRun(t, s, "set device = 'cpu'")
	if x, _ := moved(t, s, "select sum(a) from r"); x != nil {
		t.Errorf("on the CPU: %+v", x)
	}
}

// TestMovedReckoned: what is reckoned from rows, as it is on a real device, comes near to what a simulated one counts.
func TestMovedReckoned(t *testing.T) {
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		mustRun(t, s, "set device = 'simt'")
		for i, q := range suiteQueries(suite) {
			if testing.Short() && i%6 != 0 {
				continue
			}
			all, pipes := moved(t, s, queryText(t, suite, q))
			var counted, reckoned int64
			for _, m := range pipes {
				if m != nil {
					counted, reckoned = counted+m.Memory, reckoned+m.Reckoned
				}
			}
			if counted != all.Memory {
				t.Errorf("%s: pipelines move %d bytes, the query %d", q, counted, all.Memory)
			}
			if counted < 100_000 { // that is launches and their parameters
				continue
			}
			f := float64(reckoned) / float64(counted)
			t.Logf("%s: %d bytes counted, %d reckoned, %.2f times as many", q, counted, reckoned, f)
			if f < 0.6 || f > 1.4 {
				t.Errorf("%s: %d bytes counted, %d reckoned, %.2f times as many", q, counted, reckoned, f)
			}
		}
	}
}

func TestMovedText(t *testing.T) {
	s, _, _ := onGPU(t, 1, device.SimulatedOptions{})
	text := rowsOf(t, s, "explain analyze select sum(a) from t0")
	if !regexp.MustCompile(`\n  moved   [\d.]+ KiB over the bus, [\d.]+ KiB through memory, [\d.]+ K?i?B on chip; 1\.\d\d passes; bounds: bus \d\.\d{3} ms, memory \d\.\d{3} ms\n`).MatchString(text) ||
		!strings.Contains(text, "\nmoved ") {
		t.Error(text)
	}
}
