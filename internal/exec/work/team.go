package work

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Team is the threads of a query and the reasons for which they stop: an error of one of them, or the end of the
// query's context.
type Team struct {
	ctx     context.Context
	Threads int

	stop atomic.Bool
	mu   sync.Mutex
	err  error // the first
}

// NewTeam is the threads of a query that ends with ctx.
func NewTeam(ctx context.Context, threads int) *Team { return &Team{ctx: ctx, Threads: threads} }

// Canceled is the error of a query whose context has ended.
func (t *Team) Canceled() error { return diag.Canceled(t.ctx) }

// Fail records the first error and stops all workers.
func (t *Team) Fail(err error) {
	t.mu.Lock()
	if t.err == nil {
		t.err = err
	}
	t.mu.Unlock()
	t.stop.Store(true)
}

// Err is why a thread has failed; nil: none has.
func (t *Team) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Stopped reports that a thread has failed: nobody needs what the others do.
func (t *Team) Stopped() bool { return t.stop.Load() }

// PanicOnFault makes every fault of this goroutine a panic until the function that it returns is called: Go
// code that sorts, merges and reads tuples trusts addresses that generated code wrote.
func PanicOnFault() (undo func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// ParallelUnless is Parallel, or on this thread alone.
func (t *Team) ParallelUnless(alone bool, n int, f func(i int) error) error {
	if !alone {
		return t.Parallel(n, f)
	}
	return t.inTurn(n, f)
}

// inTurn runs f(0) … f(n-1) on this thread, until the query is canceled.
func (t *Team) inTurn(n int, f func(i int) error) error {
	for i := range n {
		if err := t.Canceled(); err != nil {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
	return nil
}

// Blocks calls f on stretches that make up 0 … n-1, until the query is canceled. It is for long loops: a step takes
// far less than the time in which a query must end.
func (t *Team) Blocks(n, step int, f func(lo, hi int)) error {
	for lo := 0; lo < n; lo += step {
		if err := t.Canceled(); err != nil {
			return err
		}
		f(lo, min(lo+step, n))
	}
	return nil
}

// Parallel runs f(0) … f(n-1) on the query's threads, until the query is canceled.
func (t *Team) Parallel(n int, f func(i int) error) error {
	k := min(n, t.Threads)
	if k <= 1 {
		return t.inTurn(n, f)
	}
	var next atomic.Int64
	work := func() {
		var err error
		defer func() {
			if err != nil {
				t.Fail(err)
			}
		}()
		defer diag.Recover("exec", &err)
		defer PanicOnFault()()
		for !t.stop.Load() {
			i := int(next.Add(1) - 1)
			if i >= n {
				return
			}
			if err = t.Canceled(); err != nil {
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

// Each runs f(i) for i below n, on all threads unless alone; an error or f's false ends it.
func (t *Team) Each(alone bool, n int, f func(i int) bool) (all bool, err error) {
	if alone {
		for i := range n {
			if !f(i) {
				return false, nil
			}
			if err := t.Canceled(); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	var ended atomic.Bool
	err = t.Parallel(n, func(i int) error {
		if !ended.Load() && !f(i) {
			ended.Store(true)
		}
		return t.Canceled()
	})
	return !ended.Load(), err
}
