package tables

import (
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Set is the set of values of one build key.
type Set struct {
	b     *Builder
	key   keyReader
	Range layout.Range
	Kind  layout.FilterKind
	Bits  uint8
	Addr  uintptr
	Count int64 // values in the set, as far as it is known: duplicates are counted until a bitmap is there
	exact bool  // there are no duplicates
	done  bool
}

// Set decides what the set of key number i of the finished table is, once; Fill makes it.
func (b *Builder) Set(i int) (*Set, error) {
	if f := b.sets[i]; f != nil {
		return f, nil
	}
	k := &Set{b: b, key: b.keyOf(i), Count: b.Table.Rows}
	b.sets[i] = k
	if b.Table.Rows == 0 { // nothing passes
		k.Range, k.done = layout.Between(1, 0), true
		return k, nil
	}
	t := b.Table
	lo, hi := t.Min, t.Min+t.Span-1
	if i > 0 || t.Kind != layout.Direct && t.Kind != layout.DenseBuckets {
		var err error
		if lo, hi, err = b.keyRange(i); err != nil {
			return nil, err
		}
		if lo > hi { // only NULLs
			k.Range, k.Count, k.done = layout.Between(1, 0), 0, true
			return k, nil
		}
	}
	k.Range = layout.Between(lo, hi)
	k.key.min = lo
	d := phys.ChooseKeySet(t.Rows, lo, hi, phys.Capabilities{})
	if k.Kind, k.Bits = d.Kind, d.Bits; k.Kind == layout.Bitmap {
		if k.exact = i == 0 && b.Keys == 1 && t.Kind.Unique(); k.exact {
			return k, nil
		}
		return k, k.Fill()
	}
	k.key.min, k.key.hash = 0, true
	return k, nil
}

// Fill makes the set of bits.
func (k *Set) Fill() error {
	if k.done {
		return nil
	}
	k.done = true
	b, t := k.b, k.b.Table
	n := 1 << k.Bits
	if k.Kind == layout.Bitmap {
		n = int((uint64(k.Range.Hi.Lo)-uint64(k.Range.Lo.Lo))/64) + 1
	}
	var err error
	if k.Addr, err = b.Mem.AllocShared(b.Team, n*8); err != nil {
		return err
	}
	ws := mem.Words(k.Addr, n)
	if k.Kind == layout.Bitmap && t.Kind == layout.Direct && k.key.off == b.keyOf(0).off {
		slots := mem.Halves(t.Slots, int(t.Span))
		return k.eachWords(n, func(lo, hi int) { fromSlots(ws[lo:hi], slots[min(lo*64, len(slots)):]) })
	}
	sets, err := k.gather(ws)
	if err != nil || len(sets) == 1 && (k.Kind != layout.Bitmap || k.exact) {
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
	if k.Kind == layout.Bitmap {
		k.Count = count.Load()
	}
	for _, more := range sets[1:] {
		b.Mem.Free(uintptr(unsafe.Pointer(&more[0])))
	}
	return err
}

// eachWords cuts n words into stretches for all threads.
func (k *Set) eachWords(n int, f func(lo, hi int)) error {
	const step = 4 << 10
	_, err := k.b.Team.Each(k.b.alone() || n < 4*step, (n+step-1)/step, func(i int) bool {
		f(i*step, min((i+1)*step, n))
		return true
	})
	return err
}

// gather sets the bits of all tuples. Threads have sets of their own, the first one's is ws.
func (k *Set) gather(ws []uint64) (sets [][]uint64, err error) {
	enter := func(ws []uint64, t tuples.Piece) {
		k.key.batches(t, func(xs []uint64, _ uintptr) bool {
			if k.Kind == layout.Bitmap {
				for _, d := range xs {
					ws[d>>6] |= 1 << (d & 63)
				}
				return true
			}
			for _, h := range xs {
				ws[h>>(64-k.Bits)] |= 1<<(h&63) | 1<<(h>>6&63)
			}
			return true
		})
	}
	b := k.b
	tasks := b.tasks()
	// Another set costs as much as some tuples for each of its words.
	sets = make([][]uint64, 1, b.Team.Threads)
	if rows := b.Table.Rows; !b.alone() && rows > int64(len(ws)) {
		sets = sets[:min(int64(b.Team.Threads), rows/(16<<10))]
	}
	var next atomic.Int64
	err = b.Team.Parallel(len(sets), func(i int) error {
		switch {
		case i == 0:
			sets[i] = ws
		case int(next.Load()) >= len(tasks):
			return nil
		default:
			a, err := b.Mem.Alloc(len(ws) * 8)
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
			if err := b.Team.Canceled(); err != nil {
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
