package exec

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/load"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A stream's segments come while the pipeline runs. A worker reads one, processes its rows and gives
// its memory back, but for texts that may be pointed to by tuples; then it reads another. All
// segments have the same shapes, so there is one variant.

// fromStream compiles the code for a stream's segments.
func (j *job) fromStream(t *pipe.Table) error {
	if err := j.r.begin(t.Scan.Snap.Stream); err != nil {
		return err
	}
	j.stream, j.escapes = t.Scan.Snap.Stream, pipe.Escapes(j.p)
	load.LeaveParts(t.Scan, j.step.Filters)
	j.total = t.Scan.Table.Snapshot().Rows // a guess
	j.step.Shapes = load.Shapes(t.Scan, t.Scan.Snap.Segments[0])
	_, err := j.addVariant()
	return err
}

// begin notes that a stream is read, which is possible only once.
func (r *run) begin(s catalog.Stream) error {
	if slices.Contains(r.streams, s) {
		return diag.Internalf("exec", "a stream is read twice")
	}
	r.streams = append(r.streams, s)
	return nil
}

// closeStreams ends reading, also of streams that were not read to their end.
func (r *run) closeStreams() {
	for _, s := range r.streams {
		s.Close()
	}
}

// next is the worker's next morsel.
func (w *worker) next(rows int) (m morsel, ok bool, err error) {
	j := w.j
	if j.stream == nil {
		m, ok = j.feed.take(w.id, rows, w.sp)
		return m, ok, nil
	}
	sp := w.sp
	if sp == nil || sp.given >= sp.rows {
		if sp, err = w.read(sp); sp == nil || err != nil {
			return m, false, err
		}
	}
	m = morsel{sp, sp.given, min(sp.given+rows, sp.rows), j.seq + sp.first + int64(sp.given)}
	sp.given = m.hi
	j.feed.mu.Lock()
	j.feed.n++
	j.feed.done += int64(m.hi - m.lo)
	j.feed.mu.Unlock()
	if j.delivery != nil {
		j.delivery.took(w.id, m.seq, nowhere)
	}
	return m, true, nil
}

// read takes the stream's next segment, after the worker is done with one. Segments that were begun
// are processed to their end, so that a LIMIT gets the first rows of the source.
func (w *worker) read(before *span) (*span, error) {
	j := w.j
	if before != nil {
		for ord, c := range before.seg.Chunks {
			switch {
			case c == nil:
			case c.Enc == column.EncStr && j.escaping(ord):
				w.kept.Add(w.r.mem, c)
			default:
				w.r.mem.Free(c.Data)
			}
		}
		if err := w.rescue(); err != nil {
			return nil, err
		}
	}
	j.feed.mu.Lock()
	enough := j.limit >= 0 && j.feed.got >= j.limit
	j.feed.mu.Unlock()
	if enough {
		return nil, nil
	}
	seg, num, err := j.stream.Next(w.r.ctx, w.r.mem)
	if seg == nil || err != nil {
		return nil, err
	}
	return &span{v: j.variants[0], seg: seg, rows: seg.Rows, first: int64(num) * column.SegmentRows, num: num}, nil
}

// rescue copies the texts that the worker's groups point to, if what they are in has become much.
func (w *worker) rescue() error {
	s, ok := w.j.sink.(*groupSink)
	if !ok || s.workers[w.id] == nil || !w.kept.Much(w.r.Verify) { // tests do it always
		return nil
	}
	g := s.workers[w.id]
	g.FromContext(w.ctx)
	return w.kept.Rescue(w.r.mem, s.plan.Tuple, w.r.zero, func(f func(a uintptr)) { s.all.EachTuple(g, f) })
}
