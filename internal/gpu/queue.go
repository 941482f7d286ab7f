package gpu

import (
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
)

// queue is where a pipeline's kernel leaves rows with very many matches, in pieces, and another takes them (emit/expand_queue.go). nil: there is none.
type queue struct {
	r    *run
	at   device.Addr
	room int64

	f    *emit.Fragment // what takes them, once it was needed
	fn   device.Function
	luts []device.Addr
}

func (r *run) newQueue(step *compile.Step, src *source) (*queue, error) {
	if step.Queue.Op == 0 {
		return nil, nil
	}
	q := &queue{r: r, room: step.Queue.Room}
	var err error
	q.at, err = r.alloc(q.bytes())
	src.queue = q.at
	return q, err
}

func (q *queue) bytes() int64 { return emit.QueueHead + q.room*emit.QueueEntry }

// clear empties the queue: what is claimed in vain has no candidates.
func (q *queue) clear() error {
	if q == nil {
		return nil
	}
	return q.r.failed(q.r.st.Fill(q.at, 0, int(q.bytes())))
}

func (q *queue) close() {
	if q != nil {
		q.r.free(q.at)
	}
}

// drain runs the other kernel over what is in the queue.
func (q *queue) drain(step *compile.Step, src *source, st *exec.PipelineStats, bind func(c *block, f *emit.Fragment) error) error {
	if q == nil {
		return nil
	}
	r := q.r
	n, err := r.read(q.at, 1)
	if err != nil || n[0] == 0 {
		return err
	}
	if q.f == nil {
		if q.f, err = step.Pieces(); err != nil {
			return err
		}
		if q.fn, err = r.compile(q.f); err != nil {
			return err
		}
		if q.luts, err = r.luts(q.f); err != nil {
			return err
		}
		if r.Listing {
			st.Fragments = append(st.Fragments, q.f)
		}
	}
	c := r.newContext(q.f)
	if err := r.fill(c, q.f, src, q.luts); err != nil {
		return err
	}
	nothing := func() error { return nil }
	if err := r.launches(step.Pipeline, c, q.f, q.fn, min(int64(n[0]), q.room), func() error { return bind(c, q.f) }, nil, nothing); err != nil {
		return err
	}
	r.free(c.at)
	r.addCounts(st, step.Pipeline, q.f, c)
	return nil
}
