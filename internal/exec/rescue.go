package exec

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Groups point to texts of the segments that they were found in. A stream's segments would all have to
// stay for them, though groups may be few. So a worker that keeps much copies the texts that its groups still point
// to, and gives the segments back: a copying garbage collector whose roots are tuples.

// kept is memory that texts are in which tuples may point to.
type kept struct {
	addr uintptr
	size int
}

// worthRescue is from how many kept bytes on texts are copied, if few of them were needed the last time.
const worthRescue = 4 << 20

// keep notes that a text column of a segment must stay, and now and then finds out for what.
func (w *worker) keep(c *column.Chunk) {
	size := w.r.mem.SizeOf(c.Data)
	w.kept = append(w.kept, kept{c.Data, size})
	w.keptBytes += size
}

// rescue copies the texts that the worker's groups point to, if what they are in has become much.
func (w *worker) rescue() error {
	s, ok := w.j.sink.(*groupSink)
	if !ok || w.r.gpu != nil || len(w.kept) == 0 || s.workers[w.id] == nil {
		return nil
	}
	if w.keptBytes < max(worthRescue, 2*w.rescued) && !w.r.Verify { // tests do it always
		return nil
	}
	old := w.kept
	slices.SortFunc(old, func(a, b kept) int { return cmp.Compare(a.addr, b.addr) })
	inside := func(p uintptr) bool {
		i, found := slices.BinarySearchFunc(old, p, func(k kept, p uintptr) int { return cmp.Compare(k.addr, p) })
		return found || i > 0 && p < old[i-1].addr+uintptr(old[i-1].size)
	}
	var fields []*layout.Field
	for i := range s.plan.Tuple.Fields {
		if f := &s.plan.Tuple.Fields[i]; f.Desc.Form == layout.Str {
			fields = append(fields, f)
		}
	}
	to := textCopies{mem: w.r.mem}
	g := s.workers[w.id]
	g.FromContext(w.ctx)
	var err error
	s.all.EachTuple(g, func(a uintptr) {
		for _, f := range fields {
			at := a + uintptr(f.Off)
			p, n := uintptr(mem.Load64(at)), int(mem.Load64(at+8))
			if err != nil || !inside(p) {
				continue
			}
			q := w.r.zero
			if n > 0 && (f.Null < 0 || mem.Load8(a+uintptr(f.Null)) == 0) {
				q, err = to.put(p, n)
			}
			mem.Store64(at, uint64(q))
		}
	})
	if err != nil {
		return err
	}
	for _, k := range old {
		w.r.mem.Free(k.addr)
	}
	w.kept, w.keptBytes, w.rescued = to.chunks, to.bytes, to.bytes
	return nil
}

// textCopies holds copies of texts.
type textCopies struct {
	mem      *mem.Memory
	chunks   []kept
	bytes    int
	cur, end uintptr
}

// put copies the text of n bytes at p.
func (t *textCopies) put(p uintptr, n int) (uintptr, error) {
	if t.cur+uintptr(n)+column.TextPad > t.end {
		size := max(min(max(t.bytes, mem.FirstTexts), mem.LastTexts), n+column.TextPad)
		a, err := t.mem.Take(size)
		if err != nil {
			return 0, err
		}
		t.chunks = append(t.chunks, kept{a, size})
		t.bytes += size
		t.cur, t.end = a, a+uintptr(size)
	}
	q := t.cur
	copy(mem.Bytes(q, n), mem.Bytes(p, n))
	t.cur += uintptr(n)
	return q, nil
}
