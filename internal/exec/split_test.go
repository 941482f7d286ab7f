package exec

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestSplit: whoever comes when, and wherever they have to meet, each row is taken once.
func TestSplit(t *testing.T) {
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 5))
		rows := draw.Int64N(20000)
		meet := int64(-1)
		if seed%3 == 0 {
			meet = draw.Int64N(rows + 1)
		}
		s := newSplit(rows, meet, false)
		taken := make([]int, rows)
		take := func(lo, hi int64) {
			for i := lo; i < hi; i++ {
				taken[i]++
			}
		}
		chunk := (1 + draw.Int64N(8)) * SplitRows
		forward := func(at *int64) bool {
			hi := s.forward(*at, min(*at+1+draw.Int64N(700), rows))
			if hi <= *at {
				return false
			}
			take(*at, hi)
			*at = hi
			return true
		}
		front, end := int64(0), rows
		back := func() bool {
			lo := max((end-1)/chunk*chunk, 0)
			from, ok := s.Back(lo, end, 1e9)
			if !ok || end == 0 {
				return false
			}
			if from%SplitRows != 0 && from != lo || from < lo {
				t.Fatalf("seed %d: rows from %d of %d…%d", seed, from, lo, end)
			}
			take(from, end)
			s.Done(end - from)
			end = from
			return true
		}
		if seed%2 == 0 { // at the same time
			var both sync.WaitGroup
			both.Go(func() {
				for forward(&front) {
				}
			})
			both.Go(func() {
				for end > 0 && back() {
				}
			})
			both.Wait()
		} else {
			for ok := true; ok; {
				if ok = end > 0 && draw.IntN(2) == 0 && back(); !ok {
					ok = forward(&front)
				}
			}
			for end > 0 && back() {
			}
		}
		fails := seed%5 == 0
		if fails { // what the partner took is the CPU's again
			for i := end; i < rows; i++ {
				taken[i]--
			}
			s.giveBack()
			if _, ok := s.Back(0, rows, 1e9); ok {
				t.Fatalf("seed %d: rows for one who has given up", seed)
			}
		}
		for forward(&front) {
		}
		for i, n := range taken {
			if n != 1 {
				t.Fatalf("seed %d: row %d of %d, which meet at %d, was taken %d times", seed, i, rows, meet, n)
			}
		}
		if s.untouched() != (fails || end == rows && meet < 0) {
			t.Errorf("seed %d: untouched: %v; the partner took %d of %d rows", seed, s.untouched(), rows-end, rows)
		}
	}
}

// TestSplitFair: a partner takes as much as lets both end together: less the slower it is, and the more it has before it.
func TestSplitFair(t *testing.T) {
	for _, c := range []struct {
		front, taken, done int64
		gpu                float64 // rows a second, by guess
		want               int64   // of 1,000,000 rows, of which the CPU does 1,000 in a millisecond
	}{
		{0, 0, 0, 1e6, 500_000},                                       // the CPU has not begun
		{100_000, 0, 0, 1e6, (900_000 - 300) / 2},                     // as fast
		{100_000, 0, 0, 9e6, (9*900_000 - 2700) / 10},                 // faster
		{100_000, 0, 0, 1e3, 899},                                     // much slower
		{100_000, 100_000, 0, 1e6, (800_000 - 100_000 - 300) / 2},     // it is at something
		{100_000, 200_000, 200_000, 1, (700_000*2 - 300*2) / (2 + 1)}, // it did 2,000 in a millisecond, whatever was believed
		{499_999, 500_000, 0, 1e6, 0},
	} {
		now := time.Now()
		s := &Split{rows: 1_000_000, front: c.front, back: 1_000_000 - c.taken, taken: c.taken, done: c.done, meet: -1,
			start: now.Add(-time.Duration(c.front) * time.Microsecond), began: now.Add(-100 * time.Millisecond)}
		if got := s.fair(now, c.gpu); got < c.want-600 || got > c.want+600 {
			t.Errorf("%+v: %d rows", c, got)
		}
	}
}

// TestThinned: what is shown of a run covers all its rows and times, and the partner's chunks one by one.
func TestThinned(t *testing.T) {
	var all []Range
	for i := range int64(5000) {
		all = append(all, Range{false, 10 * i, 10*i + 10, time.Duration(i), time.Duration(i + 3)})
	}
	for i := range int64(20) {
		all = append(all, Range{true, 100_000 + i, 100_001 + i, time.Duration(200 * i), time.Duration(200*i + 300)})
	}
	cpu, gpus, hi := int64(0), 0, int64(0)
	out := thinned(all)
	for i, r := range out {
		if i > 0 && r.To < out[i-1].To {
			t.Fatalf("%v after %v", r, out[i-1])
		}
		if r.GPU {
			gpus++
			continue
		}
		if r.Lo != hi {
			t.Fatalf("%v after row %d", r, hi)
		}
		cpu += r.Hi - r.Lo
		hi = r.Hi
	}
	if cpu != 50_000 || gpus != 20 || len(out) != 20+shownRanges {
		t.Errorf("%d rows in %d ranges, %d of the partner", cpu, len(out), gpus)
	}
	if got := thinned(nil); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}
