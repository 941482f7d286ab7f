package tables

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// direct makes a table addressed by the key itself, unless a key is there twice: then there are slots, but nothing in them
// that counts.
func (b *Builder) direct(d phys.Table) (unique bool, err error) {
	t := b.Table
	t.Min, t.Span = d.Min, d.Span
	if t.Slots, err = b.Mem.AllocShared(b.Team, int(d.Span+2)*4); err != nil {
		return false, err
	}
	if err := b.withinReach(); err != nil {
		return false, err
	}
	return b.fillDirect(b.slotOf())
}

// slotOf reads the slot of the only key in a table that is addressed by it.
func (b *Builder) slotOf() keyReader {
	k := b.keyOf(0)
	k.min = b.Table.Min
	return k
}

// keyRange is the smallest and the largest value of key number i.
func (b *Builder) keyRange(i int) (lo, hi int64, err error) {
	if r, ok := b.ranges[i]; ok {
		return r[0], r[1], nil
	}
	k, tasks := b.keyOf(i), b.tasks()
	los, his := make([]int64, len(tasks)), make([]int64, len(tasks))
	_, err = b.each(len(tasks), func(i int) bool {
		l, h := int64(math.MaxInt64), int64(math.MinInt64)
		k.batches(tasks[i], func(xs []uint64, _ uintptr) bool {
			for _, x := range xs {
				l, h = min(l, int64(x)), max(h, int64(x))
			}
			return true
		})
		los[i], his[i] = l, h
		return true
	})
	lo, hi = slices.Min(los), slices.Max(his)
	b.ranges[i] = [2]int64{lo, hi}
	return lo, hi, err
}

// reach is how far apart tuples may lie that slots of 4 bytes can tell apart, in bytes.
var reach uintptr = 8 << 32

// withinReach sets the table's base so that every tuple is 1 to 2^32-1 words behind it.
func (b *Builder) withinReach() error {
	lo, hi := ^uintptr(0), uintptr(0)
	for _, p := range b.Rows.Pieces {
		lo, hi = min(lo, p.Addr), max(hi, p.Addr+uintptr(p.N*b.Tuple.Size))
	}
	if hi-lo > reach-16 {
		if err := b.contiguous(); err != nil {
			return err
		}
		lo = b.Table.Tuples
	}
	b.Table.Tuples = lo - 8
	return nil
}

// fillDirect enters every tuple at its key's place; it gives up at a duplicate. Two threads that enter one key at the same
// time may both find the slot free: then one of the tuples is not there when they look again.
func (b *Builder) fillDirect(k keyReader) (unique bool, err error) {
	t, slots, tasks := b.Table, mem.Pointer(b.Table.Slots), b.tasks()
	step := uint32(k.size / 8)
	unique, err = b.each(len(tasks), func(i int) bool {
		return k.batches(tasks[i], func(xs []uint64, at uintptr) bool {
			v := uint32((at - t.Tuples) / 8)
			for _, x := range xs {
				slot := (*uint32)(unsafe.Add(slots, x*4))
				if *slot != 0 {
					return false
				}
				*slot = v
				v += step
			}
			return true
		})
	})
	if !unique || err != nil || b.alone() {
		return unique, err
	}
	if t.Span < 4*t.Rows { // faster: count them
		return occupied(b, mem.Halves(t.Slots, int(t.Span))) == t.Rows, nil
	}
	return b.each(len(tasks), func(i int) bool {
		return k.batches(tasks[i], func(xs []uint64, at uintptr) bool {
			v := uint32((at - t.Tuples) / 8)
			var differ uint32
			for _, x := range xs {
				differ |= *(*uint32)(unsafe.Add(slots, x*4)) ^ v
				v += step
			}
			return differ == 0
		})
	})
}

// occupied counts the slots that are not 0.
func occupied[T uint32 | uint64](b *Builder, slots []T) int64 {
	const step = 1 << 15
	top := 8*unsafe.Sizeof(T(0)) - 1
	var sum atomic.Int64
	_, _ = b.each((len(slots)+step-1)/step, func(i int) bool {
		n := T(0)
		for _, x := range slots[i*step : min((i+1)*step, len(slots))] {
			n += (x | -x) >> top
		}
		sum.Add(int64(n))
		return true
	})
	return sum.Load()
}

// sortByKey sorts the tuples by key: count, sum up, move. While tuples move, the begin of each key's tuples
// moves up to its end, which is the begin of the next; hence the shift by one.
func (b *Builder) sortByKey() error {
	t, size := b.Table, b.Tuple.Size
	slotBits := uint8(bits.Len64(uint64(t.Span - 1)))
	sp, err := b.spread(b.slotOf(), 0, slotBits)
	if err != nil {
		return err
	}
	to, err := b.Mem.Take(int(t.Rows)*size + 64)
	if err != nil {
		return err
	}
	idx := mem.Halves(t.Slots, int(t.Span)+2)
	shift := slotBits - sp.bits
	_, err = b.each(sp.parts(), func(p int) bool {
		mine := sp.part(p)
		first := min(p<<shift, int(t.Span))
		last := min((p+1)<<shift, int(t.Span))
		counts := idx[first+1 : last+1] // the slots after one's own
		clear(counts)
		for i := range mine {
			counts[mine[i].x-uint64(first)]++
		}
		at := uint32(sp.from[p])
		for i, c := range counts {
			counts[i] = at
			at += c
		}
		for i := range mine {
			next := &counts[mine[i].x-uint64(first)]
			tuples.Copy(to+uintptr(*next)*uintptr(size), mine[i].at, size)
			*next++
		}
		return true
	})
	idx[0] = 0
	b.Mem.Free(sp.mem)
	b.replace(to, int(t.Rows))
	return err
}
