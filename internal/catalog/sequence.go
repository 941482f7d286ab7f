package catalog

import (
	"fmt"
	"math"
	"sync"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Sequence gives out numbers. That it is there is a matter of transactions; which number comes next is not: a number that was
// given out is gone, whatever becomes of who asked for it.
type Sequence struct {
	Schema, Name         string
	Increment            int64
	Min, Max, Start      int64
	Cycle                bool
	OwnerTable, OwnerCol string // the column whose default it is; "" if it stands alone
	Comment              string
	*counter
}

// counter is what versions of a sequence have in common.
type counter struct {
	mu     sync.Mutex
	last   int64
	called bool // last was given out
}

// NewSequence starts a sequence at its Start.
func NewSequence(q Sequence) *Sequence {
	q.counter = &counter{last: q.Start}
	return &q
}

// Restarted is a sequence like q that begins at n, while q stays as it is.
func (q Sequence) Restarted(n int64) *Sequence {
	q.counter = &counter{last: n}
	return &q
}

// Renamed is q under another name, with the same numbers.
func (q Sequence) Renamed(schema, name string) *Sequence {
	q.Schema, q.Name = schema, name
	return &q
}

// Next gives out a number.
func (q *Sequence) Next() (int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.called {
		q.called = true
		return q.last, nil
	}
	next := q.last + q.Increment
	over := q.Increment > 0 && (next > q.Max || next < q.last)
	under := q.Increment < 0 && (next < q.Min || next > q.last)
	switch {
	case (over || under) && !q.Cycle && over:
		return 0, &types.Error{Code: "2200H", Msg: fmt.Sprintf("nextval: reached maximum value of sequence %q (%d)", q.Name, q.Max)}
	case (over || under) && !q.Cycle:
		return 0, &types.Error{Code: "2200H", Msg: fmt.Sprintf("nextval: reached minimum value of sequence %q (%d)", q.Name, q.Min)}
	case over:
		next = q.Min
	case under:
		next = q.Max
	}
	q.last = next
	return next, nil
}

// Set makes n the last number, which was given out or, if not called, will be next.
func (q *Sequence) Set(n int64, called bool) error {
	if n < q.Min || n > q.Max {
		return &types.Error{Code: "22003", Msg: fmt.Sprintf("setval: value %d is out of bounds for sequence %q (%d..%d)", n, q.Name, q.Min, q.Max)}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.last, q.called = n, called
	return nil
}

// Last is the last number, and whether it was given out.
func (q *Sequence) Last() (int64, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.last, q.called
}

// SequenceBounds are the least and the greatest number of a sequence that has none given.
func SequenceBounds(increment int64) (lo, hi int64) {
	if increment < 0 {
		return math.MinInt64, -1
	}
	return 1, math.MaxInt64
}
