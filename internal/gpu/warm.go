package gpu

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// What the device lacked for a query that ran elsewhere is made ready behind the queries, so that the next of its kind finds it: the query is run once more, and its rows are thrown away. Then
// all is there for certain, kernels that nobody foresees among it. One thread does that, one program after the other, and gives way to all others. When somebody waits
// for what it holds, it ends, or, in the middle of a column, all processors help.

// warmer makes programs ready. The store's mu guards it.
type warmer struct {
	warming map[uint64]bool // the shapes of programs that wait or are made ready now
	waiting []warmUp
	busy    bool        // there is a thread
	stop    func()      // ends what it does now; nil: it does nothing
	awaited atomic.Bool // somebody waits for that
}

// warmUp is a program that is to be made ready.
type warmUp struct {
	prog *pipe.Program
	opts exec.Options
}

// errBusy: there is no room now for what nobody waits for.
var errBusy = errors.New("others need the room")

// maxWaiting bounds the programs that wait, and with them the rows that they keep alive. The oldest goes then: its query asks again, if it comes again.
const maxWaiting = 16

// Warm makes ready what a program would have found missing, behind the queries. Nobody waits for that; what fails is met again by whoever needs it.
func (s *Store) Warm(prog *pipe.Program, opts exec.Options) {
	shape := shapeOfProgram(prog)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || s.warming[shape] || opts.Code != exec.CodeKept { // who must not use it needs none
		return
	}
	opts.Account, opts.Progress, opts.Deliver, opts.Partner = budget.New(opts.Account.Limit()), nil, nil, nil
	opts.Count, opts.Lanes, opts.Profile, opts.Listing, opts.Times, opts.Tally, opts.Parts, opts.CPUFirst = false, false, false, false, false, false, false, false
	opts.Threads, opts.Behind, opts.Last = 1, true, true
	opts.Off.EarlyKernels = true // one after the other
	if len(s.waiting) == maxWaiting {
		delete(s.warming, shapeOfProgram(s.waiting[0].prog))
		s.waiting = s.waiting[1:]
	}
	s.warming[shape] = true
	s.waiting = append(s.waiting, warmUp{prog, opts})
	if !s.busy {
		s.busy = true
		s.copying.Go(s.warmAll)
	}
}

// warmAll makes programs ready until none waits.
func (s *Store) warmAll() {
	work.GiveWay()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.waiting) > 0 {
		last := len(s.waiting) - 1 // of the queries that were asked last, more may come
		w := s.waiting[last]
		s.waiting[last] = warmUp{}
		s.waiting = s.waiting[:last]
		ctx, stop := context.WithCancel(context.Background())
		s.stop = stop
		s.awaited.Store(false)
		s.mu.Unlock()
		err := s.warm(ctx, w.prog, w.opts)
		stopped := ctx.Err() != nil
		stop()
		s.mu.Lock()
		s.stop = nil
		shape := shapeOfProgram(w.prog)
		delete(s.warming, shape)
		if err != nil && !stopped && !errors.Is(err, errBusy) {
			s.note(shape, func(x *past) {
				x.stuck = true
				if e := (*diag.Error)(nil); errors.As(err, &e) && e.Code == diag.FeatureNotSupported {
					x.refused = e.Msg
				}
			})
		}
	}
	s.waiting, s.busy = nil, false
}

// Rest ends what is done behind the queries, and lets what waits for that go.
func (s *Store) Rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest()
}

// rest is Rest. mu is held.
func (s *Store) rest() {
	for _, w := range s.waiting {
		delete(s.warming, shapeOfProgram(w.prog))
	}
	s.waiting = nil
	s.hurry()
}

// hurry ends what is done behind the queries, because somebody waits for what it holds. mu is held.
func (s *Store) hurry() {
	if s.stop != nil {
		s.stop()
		s.awaited.Store(true)
	}
}

// warm makes one program ready.
func (s *Store) warm(ctx context.Context, prog *pipe.Program, opts exec.Options) (err error) {
	defer diag.Recover("gpu", &err)
	defer work.PanicOnFault()()
	for _, p := range prog.Pipelines {
		if t, ok := p.Source.(*pipe.Table); ok && t.Scan.Snap.Table.Snapshot() != t.Scan.Snap {
			return nil // nobody will read these rows again
		}
	}
	if s.canRehearse(prog, &opts) {
		res, _, err := Run(ctx, prog, s, opts)
		if err != nil {
			return err
		}
		res.Close()
	} else if err := s.prepareAll(ctx, prog, opts); err != nil {
		return err
	}
	s.Ran(prog, "")
	for _, p := range prog.Pipelines { // as partners know it
		if sub := pipe.Only(prog, p); sub != nil {
			s.Ran(sub, "")
		}
	}
	return nil
}

// canRehearse reports a program that can run once more without anybody noticing: its columns stay on the device, and it changes nothing.
func (s *Store) canRehearse(prog *pipe.Program, opts *exec.Options) bool {
	p := s.Prospects(prog)
	return opts.Feed.Keeps() && p.Files == 0 && p.Bytes <= s.Limit(opts.GPUMemory) && plan.Repeatable(prog.Query)
}

// prepareAll compiles the kernels that a program will probably need, and brings the columns that are to stay.
func (s *Store) prepareAll(ctx context.Context, prog *pipe.Program, opts exec.Options) error {
	opts.Off.EarlyKernels = false
	r := newRun(ctx, prog, s, opts)
	defer r.mem.Close()
	defer r.close()
	if err := r.begin(termsOf(s, &opts)); err != nil {
		return err
	}
	r.foresee()
	if opts.Feed.Keeps() {
		if _, err := r.bringAll(); err != nil {
			return err
		}
	}
	for _, list := range r.loader.begun {
		for _, b := range list {
			<-b.done
		}
	}
	return nil
}
