package load

import (
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
)

// Of a segment of a file, the columns that the scan's filters test are loaded first. Of the others only the pages with rows
// that pass are loaded. Where rows that pass are everywhere, that saves nothing, and is soon given up.

// Sieve decides which columns of a scan's segments are loaded first, by what came of it before.
type Sieve struct {
	tested map[int]bool // ordinals of the columns that filters read
	vain   atomic.Int32 // segments in a row in which nothing was left out
}

// NewSieve is for a scan whose filters read the given columns.
func NewSieve(tested map[int]bool) *Sieve { return &Sieve{tested: tested} }

const (
	// vainSegments is after how many segments it is given up, but for one in retrySegments.
	vainSegments  = 2
	retrySegments = 16
	// worthSieve is the bytes of a segment's other columns from which on it pays.
	worthSieve = 64 << 10
	// leftOut is the part of a segment that must not be needed for the effort to pay.
	leftOut = 0.25
)

// split tells the columns of a segment that are tested from the others; false: load all at once.
func (s *Sieve) split(seg *catalog.Segment, cols []int, num int) (first, rest []int, ok bool) {
	if s == nil || s.vain.Load() >= vainSegments && num%retrySegments != 0 {
		return nil, nil, false
	}
	size := int64(0)
	for _, c := range cols {
		if s.tested[c] {
			first = append(first, c)
		} else {
			rest = append(rest, c)
			size += seg.Loader.Cost(c)
		}
	}
	return first, rest, size >= worthSieve
}

// Judge is the need for the rows of a segment that pass, which each tells; nil: all may as well be loaded.
func (s *Sieve) Judge(rows int, each func(passes func(row int))) catalog.Need {
	marks := catalog.NoNeed(rows)
	count := 0
	each(func(row int) {
		if b := &marks[row/catalog.NeedRows]; !*b {
			*b = true
			count++
		}
	})
	if float64(count) > (1-leftOut)*float64(len(marks)) {
		s.vain.Add(1)
		return nil
	}
	s.vain.Store(0)
	return marks
}
