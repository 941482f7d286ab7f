package load

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

// Kept is memory with texts that tuples of a worker may point to.
type Kept struct {
	blocks  []keptBlock
	bytes   int
	rescued int // bytes that were needed the last time
}

type keptBlock struct {
	addr uintptr
	size int
}

// worthRescue is from how many kept bytes on texts are copied, if few of them were needed the last time.
const worthRescue = 4 << 20

// Add notes that a text column of a segment must stay.
func (k *Kept) Add(m *mem.Memory, c *column.Chunk) {
	size := m.SizeOf(c.Data)
	k.blocks = append(k.blocks, keptBlock{c.Data, size})
	k.bytes += size
}

// Much reports that it is time to find out what is still needed; always: even if it is little.
func (k *Kept) Much(always bool) bool {
	return len(k.blocks) > 0 && (always || k.bytes >= max(worthRescue, 2*k.rescued))
}

// Rescue copies the texts that tuples still point to, which each calls its argument with, and gives all else back. zero is
// where empty texts are.
func (k *Kept) Rescue(m *mem.Memory, t *layout.Tuple, zero uintptr, each func(f func(a uintptr))) error {
	old := k.blocks
	slices.SortFunc(old, func(a, b keptBlock) int { return cmp.Compare(a.addr, b.addr) })
	inside := func(p uintptr) bool {
		i, found := slices.BinarySearchFunc(old, p, func(k keptBlock, p uintptr) int { return cmp.Compare(k.addr, p) })
		return found || i > 0 && p < old[i-1].addr+uintptr(old[i-1].size)
	}
	var fields []*layout.Field
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Desc.Form == layout.Str {
			fields = append(fields, f)
		}
	}
	to := textCopies{mem: m}
	var err error
	each(func(a uintptr) {
		for _, f := range fields {
			at := a + uintptr(f.Off)
			p, n := uintptr(mem.Load64(at)), int(mem.Load64(at+8))
			if err != nil || !inside(p) {
				continue
			}
			q := zero
			if n > 0 && (f.Null < 0 || mem.Load8(a+uintptr(f.Null)) == 0) {
				q, err = to.put(p, n)
			}
			mem.Store64(at, uint64(q))
		}
	})
	if err != nil {
		return err
	}
	for _, b := range old {
		m.Free(b.addr)
	}
	k.blocks, k.bytes, k.rescued = to.chunks, to.bytes, to.bytes
	return nil
}

// textCopies holds copies of texts.
type textCopies struct {
	mem      *mem.Memory
	chunks   []keptBlock
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
		t.chunks = append(t.chunks, keptBlock{a, size})
		t.bytes += size
		t.cur, t.end = a, a+uintptr(size)
	}
	q := t.cur
	copy(mem.Bytes(q, n), mem.Bytes(p, n))
	t.cur += uintptr(n)
	return q, nil
}
