package exec

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Split is the rows of a table that two processors take from both ends, until they meet. Rows are numbered as they lie in the table.
// A partner's takes become smaller towards the end, so that both are done at the same time, as far as their speed so far tells.
type Split struct {
	mu          sync.Mutex
	front, back int64 // rows before front were taken by the CPU, those from back on by its partner
	rows        int64 // all
	meet        int64 // where they have to meet; < 0: where they do
	closed      bool  // the partner gets nothing more
	chunks      int   // that it took
	taken, done int64 // rows of these, and those that are through
	start       time.Time
	began       time.Time // when the partner took its first rows
	before      int64     // front at that time
	wants       int       // threads of the CPU that the partner needs
	ranges      []Range
	record      bool
}

// Range is rows that a processor took at a time, and when, from the pipeline's beginning on.
type Range struct {
	GPU      bool
	Lo, Hi   int64
	From, To time.Duration
}

// SplitRows is what partners take multiples of.
const SplitRows = 1 << 8

// newSplit divides rows, where the processors meet or, if meet is not negative, there.
func newSplit(rows, meet int64, record bool) *Split {
	if meet >= 0 {
		meet = min(upSplit(meet), rows)
	}
	return &Split{back: rows, rows: rows, meet: meet, start: time.Now(), record: record}
}

func upSplit(row int64) int64 { return (row + SplitRows - 1) &^ (SplitRows - 1) }

// forward takes rows from lo on for the CPU, hi at the most, and tells up to where.
func (s *Split) forward(lo, hi int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.back
	if s.meet >= 0 {
		end = min(end, s.meet)
	}
	hi = min(hi, end)
	if hi > lo {
		s.front = hi
	}
	return hi
}

const (
	// shareLag is what a partner needs at least for what it takes, and to give its groups back in the end.
	shareLag = 300 * time.Microsecond
	// leastTake is the part of a whole chunk that is still worth a launch.
	leastTake = 16
)

// Back takes rows for the partner: the last ones of those from lo up to hi, which are a whole chunk; all of them, unless the end is near. What is taken begins at
// lo or at a multiple of SplitRows. guess is how many rows it should manage in a second, as long as nobody knows. false: the rest is the CPU's.
func (s *Split) Back(lo, hi int64, guess float64) (from int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from = max(lo, upSplit(s.front), s.meet)
	if s.closed || from >= hi {
		return 0, false
	}
	now := time.Now()
	if s.meet < 0 {
		if most := s.fair(now, guess); from < hi-most {
			if most < (hi-lo)/leastTake || upSplit(hi-most) >= hi {
				return 0, false
			}
			from = upSplit(hi - most)
		}
	}
	if s.chunks == 0 {
		s.began, s.before, s.wants = now, s.front, max(s.wants, 1)
	}
	s.back = from
	s.chunks++
	s.taken += hi - from
	return from, true
}

// fair is how many of the rows that are left the partner should take now for both to end together. mu is held.
func (s *Split) fair(now time.Time, guess float64) int64 {
	left := float64(s.back - s.front)
	cpu := float64(s.front) / max(now.Sub(s.start).Seconds(), 1e-6)
	if s.chunks > 0 && now.Sub(s.began) > shareLag && s.front > s.before { // with the threads that it has since then
		cpu = float64(s.front-s.before) / now.Sub(s.began).Seconds()
	}
	if cpu == 0 { // nobody knows; not too much, in case that it is fast
		return int64(left / 2)
	}
	gpu := guess
	if s.done > 0 {
		gpu = float64(s.done) / max(now.Sub(s.began).Seconds(), 1e-6)
	}
	pending := float64(s.taken - s.done)
	// (pending + n) / gpu + lag = (left - n) / cpu
	return int64(max((left*gpu-pending*cpu-shareLag.Seconds()*gpu*cpu)/(gpu+cpu), 0))
}

// Done notes that rows which the partner took are through.
func (s *Split) Done(rows int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done += rows
}

// Note remembers when a range was done, if somebody wants to see that.
func (s *Split) Note(gpu bool, lo, hi int64, from time.Time) {
	if s == nil || !s.record {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranges = append(s.ranges, Range{gpu, lo, hi, from.Sub(s.start), time.Since(s.start)})
}

// Want tells that the partner keeps so many threads of the CPU busy from now on.
func (s *Split) Want(threads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wants = max(s.wants, threads)
}

// wanted is how many threads the partner needs, as long as it has rows.
func (s *Split) wanted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chunks == 0 {
		return 0
	}
	return s.wants
}

// untouched closes the split if its partner has taken nothing, and reports that.
func (s *Split) untouched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || s.chunks == 0 && s.meet < 0
	return s.closed && s.chunks == 0
}

// leaveRest ends the partner's part where it is. It reports that there are rows which nobody has taken.
func (s *Split) leaveRest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meet, s.closed = -1, true
	return s.front < s.back
}

// giveBack lets the CPU take all that is left, also what its partner took, but did not manage.
func (s *Split) giveBack() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.back, s.meet, s.closed, s.chunks, s.taken = s.rows, -1, true, 0, 0
}

// shownRanges is how many stretches of time the CPU's ranges are shown in, at the most.
const shownRanges = 100

// thinned puts morsels together that were done at about the same time: threads take them one behind the other.
func thinned(all []Range) (out []Range) {
	last := time.Duration(1)
	for _, r := range all {
		last = max(last, r.To)
	}
	slots := make([]*Range, shownRanges)
	for _, r := range all {
		if r.GPU {
			out = append(out, r)
			continue
		}
		switch s := &slots[min(int(r.To*shownRanges/last), shownRanges-1)]; {
		case *s == nil:
			*s = &r
		default:
			**s = Range{false, min((*s).Lo, r.Lo), max((*s).Hi, r.Hi), min((*s).From, r.From), max((*s).To, r.To)}
		}
	}
	for _, s := range slots {
		if s != nil {
			out = append(out, *s)
		}
	}
	slices.SortStableFunc(out, func(a, b Range) int { return cmp.Compare(a.To, b.To) })
	return out
}
