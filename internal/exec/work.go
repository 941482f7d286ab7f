package exec

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// team is the threads of a query and the reasons for which they stop: an error of one of them, or the end of the
// query's context.
type team struct {
	ctx     context.Context
	threads int

	stop atomic.Bool
	mu   sync.Mutex
	err  error // the first
}

// newTeam is a query's threads; there are threads of them.
func newTeam(ctx context.Context, threads int) *team { return &team{ctx: ctx, threads: threads} }

// canceled is the error of a query whose context has ended.
func (t *team) canceled() error {
	switch err := t.ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return diag.Errorf(diag.QueryCanceled, -1, "canceling statement due to timeout")
	default:
		return diag.Errorf(diag.QueryCanceled, -1, "canceling statement due to user request")
	}
}

// fail records the first error and stops all workers.
func (t *team) fail(err error) {
	t.mu.Lock()
	if t.err == nil {
		t.err = err
	}
	t.mu.Unlock()
	t.stop.Store(true)
}

// failure is why a thread has failed; nil: none has.
func (t *team) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// stopped reports that a thread has failed: nobody needs what the others do.
func (t *team) stopped() bool { return t.stop.Load() }

// panicOnFault makes every fault of this goroutine a panic until the function that it returns is called: Go
// code that sorts, merges and reads tuples trusts addresses that generated code wrote.
func panicOnFault() (undo func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// parallelUnless is parallel, or on this thread alone.
func (t *team) parallelUnless(alone bool, n int, f func(i int) error) error {
	if !alone {
		return t.parallel(n, f)
	}
	return t.inTurn(n, f)
}

// inTurn runs f(0) … f(n-1) on this thread, until the query is canceled.
func (t *team) inTurn(n int, f func(i int) error) error {
	for i := range n {
		if err := t.canceled(); err != nil {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// blocks calls f on stretches that make up 0 … n-1, until the query is canceled. It is for long loops: a step takes
// far less than the time in which a query must end.
func (t *team) blocks(n, step int, f func(lo, hi int)) error {
	for lo := 0; lo < n; lo += step {
		if err := t.canceled(); err != nil {
			return err
		}
		f(lo, min(lo+step, n))
	}
	return nil
}

// parallel runs f(0) … f(n-1) on the query's threads, until the query is canceled.
func (t *team) parallel(n int, f func(i int) error) error {
	k := min(n, t.threads)
	if k <= 1 {
		return t.inTurn(n, f)
	}
	var next atomic.Int64
	work := func() {
		var err error
		defer func() {
			if err != nil {
				t.fail(err)
			}
		}()
		defer diag.Recover("exec", &err)
		defer panicOnFault()()
		for !t.stop.Load() {
			i := int(next.Add(1) - 1)
			if i >= n {
				return
			}
			if err = t.canceled(); err != nil {
				return
			}
			if err = f(i); err != nil {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range k - 1 {
		wg.Go(work)
	}
	work() // instead of waiting for one more
	wg.Wait()
	return t.err
}

// each runs f(i) for i below n, on all threads unless alone; an error or f's false ends it.
func (t *team) each(alone bool, n int, f func(i int) bool) (all bool, err error) {
	if alone {
		for i := range n {
			if !f(i) {
				return false, nil
			}
			if err := t.canceled(); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	var ended atomic.Bool
	err = t.parallel(n, func(i int) error {
		if !ended.Load() && !f(i) {
			ended.Store(true)
		}
		return t.canceled()
	})
	return !ended.Load(), err
}
