package gpu

import (
	"context"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Warm makes ready what a program would have found missing, behind the queries: its kernels are compiled, and columns that are to stay are brought. Nobody waits for that; what
// fails is met again by whoever needs it. A program is warmed once at a time.
func (s *Store) Warm(prog *pipe.Program, opts exec.Options) {
	shape := shapeOfProgram(prog)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || s.warming[shape] || opts.Code != exec.CodeKept { // who must not use it needs none
		return
	}
	s.warming[shape] = true
	s.copying.Go(func() {
		_ = s.warm(prog, opts)
		s.mu.Lock()
		delete(s.warming, shape)
		s.mu.Unlock()
	})
}

func (s *Store) warm(prog *pipe.Program, opts exec.Options) (err error) {
	opts.Account, opts.Count, opts.Listing = nil, false, false
	r := newRun(context.Background(), prog, s, opts)
	defer r.mem.Close()
	defer r.close()
	defer diag.Recover("gpu", &err)
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
	s.Ran(prog, "")
	for _, p := range prog.Pipelines { // as partners know it
		if sub := pipe.Only(prog, p); sub != nil {
			s.Ran(sub, "")
		}
	}
	return nil
}
