package exec

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A result that need not be there as a whole is delivered while the query runs. The worker that made rows has them packed,
// morsel by morsel, and uses its memory again. Parcels are sent in the order of the morsels, so that rows come as they would from a
// result: a parcel waits until nobody can make rows before its own. Whoever brings a parcel sends all that may go. If many
// wait, workers wait, too, but for the one whose rows are next.

// Deliver packs rows, which are gone when it returns. Many threads call it.
type Deliver func(rows *result.Result) (Parcel, error)

// Parcel is packed rows. One at a time is sent, in order; those that never are, are dropped.
type Parcel struct {
	Size int64 // bytes that it takes until it is sent
	Send func() error
	Drop func()
}

// mostWaiting is how many bytes of parcels may wait; of a statement with a limit, an eighth of that.
const mostWaiting = 64 << 20

// nowhere is behind all morsels.
const nowhere = math.MaxInt64

// delivery is the parcels of a query.
type delivery struct {
	pack Deliver
	most int64
	team *work.Team

	mu    sync.Mutex
	moved sync.Cond
	// bounds: worker i will not bring rows of a morsel before this one; floor: nor are there any before it that nobody has taken.
	bounds  []int64
	floor   int64
	waiting []waiting // in order
	size    int64     // bytes of them
	sending bool
	err     error
	rows    int64
}

type waiting struct {
	seq int64
	Parcel
}

// delivers reports that the rows of a sink are delivered.
func (r *run) delivers(s pipe.Sink) bool {
	c, ok := s.(*pipe.Collect)
	return ok && r.Deliver != nil && c == r.prog.Result && len(c.Keys) == 0 && c.Window == nil && c.Limit < 0 && c.Offset == 0
}

func (r *run) newDelivery() *delivery {
	d := &delivery{pack: r.Deliver, most: mostWaiting, bounds: make([]int64, r.Threads), team: r.team}
	if limit := r.mem.Account().Limit(); limit > 0 {
		d.most = min(d.most, limit/8)
	}
	d.moved.L = &d.mu
	return d
}

// begin is called before the workers of a pipeline run; the function that it returns, when all are done.
func (d *delivery) begin(ctx context.Context, j *job) (end func()) {
	d.floor = j.seq
	for i := range d.bounds {
		if d.bounds[i] = nowhere; j.stream != nil { // a stream does not say what it is about to give
			d.bounds[i] = j.seq
		}
	}
	if j.stream != nil {
		d.floor = nowhere
	}
	wake := context.AfterFunc(ctx, func() {
		d.mu.Lock()
		d.moved.Broadcast()
		d.mu.Unlock()
	})
	return func() {
		wake()
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, p := range d.waiting { // after an error
			p.Drop()
		}
		d.waiting, d.size = nil, 0
	}
}

// took notes that a worker has begun a morsel, and where the first rows are that nobody has taken.
func (d *delivery) took(id int, seq, floor int64) {
	d.mu.Lock()
	d.bounds[id], d.floor = seq, floor
	d.moved.Broadcast()
	d.mu.Unlock()
}

// left notes that a worker is done, which may have failed, and sends what may go.
func (j *job) left(id int, err error) error {
	d := j.delivery
	if d == nil || err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bounds[id] = nowhere
	d.moved.Broadcast()
	return d.send()
}

// lowest is where rows may still come from, others' than the given worker's.
func (d *delivery) lowest(except int) int64 {
	low := d.floor
	for i, b := range d.bounds {
		if i != except {
			low = min(low, b)
		}
	}
	return low
}

// put takes rows of a worker's morsel; last: it has no more.
func (d *delivery) put(id int, seq int64, rows *result.Result, last bool) error {
	var p Parcel
	n := rows.Len()
	if n > 0 {
		var err error
		if p, err = d.pack(rows); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n > 0 {
		d.rows += n
		d.size += p.Size
		at := len(d.waiting)
		for at > 0 && d.waiting[at-1].seq > seq {
			at--
		}
		d.waiting = slices.Insert(d.waiting, at, waiting{seq, p})
	}
	if last {
		d.bounds[id] = seq + 1
	}
	for {
		if err := cmp.Or(d.send(), d.team.Canceled()); err != nil {
			return err
		}
		if d.size <= d.most || d.lowest(id) > seq || d.team.Stopped() {
			return nil
		}
		d.moved.Wait()
	}
}

// send sends the parcels before which nothing can come any more, unless somebody else does.
func (d *delivery) send() error {
	for !d.sending && d.err == nil && len(d.waiting) > 0 && d.waiting[0].seq < d.lowest(-1) && !d.team.Stopped() {
		if d.err = d.team.Canceled(); d.err != nil {
			break
		}
		p := d.waiting[0]
		d.waiting = d.waiting[1:]
		d.sending = true
		d.mu.Unlock()
		err := p.Send()
		d.mu.Lock()
		d.sending = false
		d.size -= p.Size
		d.err = err
		d.moved.Broadcast()
	}
	return d.err
}

// deliver has the rows of a worker packed and starts its buffer again.
func (s *collectSink) deliver(w *worker, last bool) error {
	c := s.workers[w.id]
	c.buf.Cut(uintptr(mem.Load64(w.ctx + layout.CtxCur)))
	rows := result.OfTuples(result.Owned{Cols: s.s.Cols, Threads: 1, Mem: s.r.mem}, tuples.Rows{Tuple: s.tuple, Pieces: c.buf.Pieces},
		result.Columns(s.s.Cols, s.tuple, s.r.late.Ordinal), s.r.late.segs)
	if err := s.delivery.put(w.id, w.seq, rows, last); err != nil {
		return err
	}
	c.buf.Rewind()
	c.buf.ToContext(w.ctx)
	if last {
		w.forgetTexts()
	}
	return nil
}
