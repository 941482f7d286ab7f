package exec

import (
	"context"
	"time"

	"github.com/kelpiedb/kelpie/internal/phys"
)

// A query that begins on the CPU while a GPU lacks code or columns for it is a shared one whose partner comes late, or not at all: it is asked when that
// pays, to judge by how far the threads have come.

// askWait is how long the CPU runs between two looks at its progress.
const askWait = time.Millisecond

// beginLate asks the partner when it pays.
func (j *job) beginLate(ctx context.Context) <-chan Part {
	came := make(chan Part, 1)
	go func() {
		r := j.r
		for {
			select {
			case <-ctx.Done():
				came <- Part{Err: ctx.Err()}
				return
			case <-time.After(askWait):
			}
			if now, part := j.split.progress(); phys.JoinPays(r.Partner.Effort(r.prog, j.p), now, part, r.Threads) {
				break
			}
		}
		came <- <-r.Partner.Begin(ctx, r.prog, j.p, j.split, j.sink.(*groupSink).plan)
	}()
	return came
}

// progress is how long the CPU has been at it, and which part of the rows it has taken.
func (s *Split) progress() (now time.Duration, part float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Since(s.start), float64(s.front) / float64(max(s.rows, 1))
}
