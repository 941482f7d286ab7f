package gpu

import (
	"context"
	"maps"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Partner lets a device share pipelines with the CPU (exec/share.go). Each pipeline is a run of its own, over a program that has nothing but what it looks up: columns that are
// not on the device stream, from the table's end on, and the groups go to the host. It takes no rows before its code is there, so that the CPU may be done before.
type Partner struct {
	Open func() (*Store, error) // takes the device into use, which may take long
	Here func() *Store          // the device, if it is in use already
	Opts exec.Options
}

// Effort is what exec.Partner says.
func (h *Partner) Effort(prog *pipe.Program, p *pipe.Pipeline) time.Duration {
	if s := h.Here(); s != nil && h.Opts.Code == exec.CodeKept && s.knows(pipe.Only(prog, p)) {
		return 0
	}
	return phys.FirstCode
}

// Begin is what exec.Partner says.
func (h *Partner) Begin(ctx context.Context, prog *pipe.Program, p *pipe.Pipeline, s *exec.Split, plan *emit.GroupPlan) <-chan exec.Part {
	came := make(chan exec.Part, 1)
	go func() {
		var part exec.Part
		defer func() { came <- part }()
		defer diag.Recover("gpu", &part.Err)
		defer work.PanicOnFault()()
		store, err := h.open(ctx)
		if err != nil {
			part.Err = err
			return
		}
		part = share(ctx, pipe.Only(prog, p), store, h.Opts, s, plan)
	}()
	return came
}

// open is the device, unless nobody wants it any more before it is there.
func (h *Partner) open(ctx context.Context) (*Store, error) {
	type opened struct {
		store *Store
		err   error
	}
	came := make(chan opened, 1)
	go func() {
		store, err := h.Open()
		came <- opened{store, err}
	}()
	select {
	case o := <-came:
		return o.store, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// share runs the last pipeline of a program over rows that the CPU leaves to it, and those before over all.
func share(ctx context.Context, prog *pipe.Program, store *Store, opts exec.Options, s *exec.Split, plan *emit.GroupPlan) (part exec.Part) {
	r := newRun(ctx, prog, store, opts)
	r.loader.done = ctx.Done()
	r.team = work.NewTeam(ctx, max(opts.Threads/2, 1)) // the others stay with the CPU's part
	defer func() {
		r.close()
		if part.Err != nil {
			r.mem.Close()
		}
	}()
	defer diag.Recover("gpu", &part.Err)
	t := termsOf(store, &opts)
	t.pass = true
	if part.Err = r.begin(t); part.Err != nil {
		return part
	}
	last := len(prog.Pipelines) - 1
	idle := pipe.NewIdleness(prog)
	left := maps.Clone(r.walk.Makers())
	for i, q := range r.prog.Pipelines[:last] { // what it looks up
		if part.Err = r.pipeline(q, idle.Idle[i]); part.Err != nil {
			return part
		}
		if left[q.Sink]--; left[q.Sink] == 0 {
			if part.Err = r.sinks[q.Sink].finish(); part.Err != nil {
				return part
			}
			if r.sinks[q.Sink].empty() {
				idle.IsEmpty(q.Sink)
			}
		}
	}
	p := r.prog.Pipelines[last]
	r.split, r.theirs = s, plan.Tuple
	if part.Err = r.pipeline(p, idle.Idle[last]); part.Err != nil {
		return part
	}
	g := r.sinks[p.Sink].(*groupSink)
	if part.Err = g.finish(); part.Err != nil {
		return part
	}
	part.Rows, part.Err = r.download(g.result)
	if part.Err == nil {
		store.Ran(prog, "")
	}
	part.Stats = r.stats.Pipelines[last]
	part.Keep = append(r.keep, r.mem)
	for _, d := range r.dicts {
		part.Keep = append(part.Keep, d.view)
	}
	return part
}

// halves is what is left of a scan that the CPU shares, chunk by chunk, from its end on.
type halves struct {
	left []rowSpan
	rate float64 // rows in a second that the device should manage, before it has shown
}

// residentTake is how many rows the device takes at a time of columns that are in its memory.
const residentTake = 1 << 24

// busGuess is how many bytes of columns come over the bus in a second, if they have to be put together first.
const busGuess = 20e9

// share makes the chunks of the feed those that the device gets in the end.
func (f *feed) share() {
	bytes := 0.0
	for _, c := range f.src.scan.cols {
		if c.streamed {
			bytes += c.perRow(1)
		}
	}
	f.halves = &halves{f.spans, busGuess / max(bytes, 0.1)}
	f.spans = nil
}

// another takes another chunk, if the CPU leaves one.
func (f *feed) another() bool {
	h := f.halves
	if len(h.left) == 0 {
		return false
	}
	last := &h.left[len(h.left)-1]
	from, ok := f.r.split.Back(last.lo, last.lo+last.n, h.rate)
	if !ok {
		h.left = nil
		return false
	}
	f.spans = append(f.spans, rowSpan{from, last.lo + last.n - from})
	if last.n = from - last.lo; last.n == 0 {
		h.left = h.left[:len(h.left)-1]
	}
	return true
}

// through notes that a chunk is done.
func (f *feed) through(k int64, began time.Time) {
	if f.halves != nil {
		s := f.spans[k]
		f.r.split.Done(s.n)
		f.r.split.Note(true, s.lo, s.lo+s.n, began)
	}
}
