package exec

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// maxBitmap bounds the bytes of an exact set.
const maxBitmap = 8 << 20

// keySet is the set of values of one build key.
type keySet struct {
	b     *builder
	key   keyReader
	rng   layout.Range
	kind  layout.FilterKind
	bits  uint8
	addr  uintptr
	count int64 // values in the set, as far as it is known: duplicates are counted until a bitmap is there
	exact bool  // there are no duplicates
	done  bool
}

// set decides what the set of key number i of the finished table is, once; fill makes it.
func (b *builder) set(i int) (*keySet, error) {
	if f := b.sets[i]; f != nil {
		return f, nil
	}
	k := &keySet{b: b, key: b.keyOf(i), count: b.table.Rows}
	b.sets[i] = k
	if b.table.Rows == 0 { // nothing passes
		k.rng, k.done = layout.Between(1, 0), true
		return k, nil
	}
	t := b.table
	lo, hi := t.Min, t.Min+t.Span-1
	if i > 0 || t.Kind != layout.Direct && t.Kind != layout.DenseBuckets {
		var err error
		if lo, hi, err = b.keyRange(i); err != nil {
			return nil, err
		}
		if lo > hi { // only NULLs
			k.rng, k.count, k.done = layout.Between(1, 0), 0, true
			return k, nil
		}
	}
	k.rng = layout.Between(lo, hi)
	k.key.min = lo
	span := uint64(hi) - uint64(lo) + 1
	if span-1 < maxBitmap*8 {
		k.kind = layout.Bitmap
		if k.exact = i == 0 && b.keys == 1 && t.Kind.Unique(); k.exact {
			return k, nil
		}
		return k, k.fill()
	}
	k.kind, k.key.min, k.key.hash = layout.Bloom, 0, true
	k.bits = uint8(max(bits.Len64(uint64(t.Rows)/4), 6))
	return k, nil
}

// fill makes the set of bits.
func (k *keySet) fill() error {
	if k.done {
		return nil
	}
	k.done = true
	b, t := k.b, k.b.table
	n := 1 << k.bits
	if k.kind == layout.Bitmap {
		n = int((uint64(k.rng.Hi.Lo)-uint64(k.rng.Lo.Lo))/64) + 1
	}
	var err error
	if k.addr, err = b.mem.AllocShared(b.team, n*8); err != nil {
		return err
	}
	ws := mem.Words(k.addr, n)
	if k.kind == layout.Bitmap && t.Kind == layout.Direct && k.key.off == b.keyOf(0).off {
		slots := mem.Halves(t.Slots, int(t.Span))
		return k.eachWords(n, func(lo, hi int) { fromSlots(ws[lo:hi], slots[min(lo*64, len(slots)):]) })
	}
	sets, err := k.gather(ws)
	if err != nil || len(sets) == 1 && (k.kind != layout.Bitmap || k.exact) {
		return err
	}
	var count atomic.Int64
	err = k.eachWords(n, func(lo, hi int) {
		for _, more := range sets[1:] {
			for j, w := range more[lo:hi] {
				ws[lo+j] |= w
			}
		}
		c := 0
		for _, w := range ws[lo:hi] {
			c += bits.OnesCount64(w)
		}
		count.Add(int64(c))
	})
	if k.kind == layout.Bitmap {
		k.count = count.Load()
	}
	for _, more := range sets[1:] {
		b.mem.Free(uintptr(unsafe.Pointer(&more[0])))
	}
	return err
}

// eachWords cuts n words into stretches for all threads.
func (k *keySet) eachWords(n int, f func(lo, hi int)) error {
	const step = 4 << 10
	_, err := k.b.team.Each(k.b.alone() || n < 4*step, (n+step-1)/step, func(i int) bool {
		f(i*step, min((i+1)*step, n))
		return true
	})
	return err
}

// gather sets the bits of all tuples. Threads have sets of their own, the first one's is ws.
func (k *keySet) gather(ws []uint64) (sets [][]uint64, err error) {
	enter := func(ws []uint64, t tuples.Piece) {
		k.key.batches(t, func(xs []uint64, _ uintptr) bool {
			if k.kind == layout.Bitmap {
				for _, d := range xs {
					ws[d>>6] |= 1 << (d & 63)
				}
				return true
			}
			for _, h := range xs {
				ws[h>>(64-k.bits)] |= 1<<(h&63) | 1<<(h>>6&63)
			}
			return true
		})
	}
	b := k.b
	tasks := b.tasks()
	// Another set costs as much as some tuples for each of its words.
	sets = make([][]uint64, 1, b.team.Threads)
	if rows := b.table.Rows; !b.alone() && rows > int64(len(ws)) {
		sets = sets[:min(int64(b.team.Threads), rows/(16<<10))]
	}
	var next atomic.Int64
	err = b.team.Parallel(len(sets), func(i int) error {
		switch {
		case i == 0:
			sets[i] = ws
		case int(next.Load()) >= len(tasks):
			return nil
		default:
			a, err := b.mem.Alloc(len(ws) * 8)
			if err != nil {
				return err
			}
			sets[i] = mem.Words(a, len(ws))
		}
		for {
			t := int(next.Add(1) - 1)
			if t >= len(tasks) {
				return nil
			}
			enter(sets[i], tasks[t])
			if err := b.team.Canceled(); err != nil {
				return err
			}
		}
	})
	return slices.DeleteFunc(sets, func(ws []uint64) bool { return ws == nil }), err
}

// fromSlots takes the set from a table that is addressed by the key.
func fromSlots(ws []uint64, slots []uint32) {
	for i := range ws {
		part := slots[min(i*64, len(slots)):min(i*64+64, len(slots))]
		var w uint64
		for j, s := range part {
			w |= uint64((s|-s)>>31) << (j & 63)
		}
		ws[i] = w
	}
}
