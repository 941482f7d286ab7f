package tables

import (
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// open makes an open-addressing table if all hashes differ: then keys are unique.
func (b *Builder) open(d phys.Table) (unique bool, err error) {
	t := b.Table
	t.Bits = d.Bits
	if t.Slots, err = b.Mem.AllocShared(b.Team, 8<<t.Bits); err != nil {
		return false, err
	}
	if unique, err = b.fillOpen(); err == nil && !unique {
		b.Mem.Free(t.Slots)
		t.Slots = 0
	}
	return unique, err
}

// fillOpen enters every tuple by its hash; it gives up when two have the same. Threads do not lock: when two write to a
// slot that both found free, one of the tuples is lost. That is rare, and seen when the tuples are counted; then all look for
// themselves, and enter themselves again.
func (b *Builder) fillOpen() (unique bool, err error) {
	t, k := b.Table, b.hashOf()
	o := &opening{dir: mem.Words(t.Slots, 1<<t.Bits), key: k}
	tasks := b.tasks()
	pass := func(enter func(hs []uint64, at uintptr) bool) (bool, error) {
		return b.each(len(tasks), func(i int) bool { return k.batches(tasks[i], enter) })
	}
	unique, err = pass(o.enter)
	if !unique || err != nil || b.alone() || occupied(b, o.dir) == t.Rows {
		return unique, err
	}
	return pass(o.enterLost)
}

// opening is an open-addressing table being filled.
type opening struct {
	dir []uint64
	key keyReader
}

// enter puts tuples with the given hashes, from the one at a on, each into the first free slot from its own on.
// It gives up at a hash that is there already. Most slots are free: a loop without branches fills those, so that many are on
// their way from memory at a time, and lists the others.
func (o *opening) enter(hs []uint64, a uintptr) bool {
	dir, size := o.dir, o.key.size
	mask := uint64(len(dir) - 1)
	var rest [batchRows]uint16
	n := 0
	at := a
	for i, h := range hs {
		slot := &dir[h&mask]
		e := *slot
		x := e
		if e == 0 {
			x = h&layout.TagMask | uint64(at)
		}
		*slot = x
		rest[n&(batchRows-1)] = uint16(i)
		n += int((e | -e) >> 63)
		at += size
	}
	for _, i := range rest[:n] {
		h, at := hs[i], a+uintptr(i)*size
		for i := h & mask; ; i = (i + 1) & mask {
			e := dir[i]
			if e == 0 {
				dir[i] = h&layout.TagMask | uint64(at)
				break
			}
			if o.same(e, h) {
				return false
			}
		}
	}
	return true
}

// enterLost enters the tuples that are not there.
func (o *opening) enterLost(hs []uint64, a uintptr) bool {
	mask := uint64(len(o.dir) - 1)
	for _, h := range hs {
		mine := h&layout.TagMask | uint64(a)
		for i := h & mask; ; i = (i + 1) & mask {
			e := atomic.LoadUint64(&o.dir[i])
			if e == 0 && atomic.CompareAndSwapUint64(&o.dir[i], 0, mine) {
				break
			}
			if e == 0 {
				e = atomic.LoadUint64(&o.dir[i])
			}
			if e == mine {
				break
			}
			if o.same(e, h) {
				return false
			}
		}
		a += o.key.size
	}
	return true
}

// same reports that the tuple of entry e has the hash h.
func (o *opening) same(e, h uint64) bool {
	return (e^h)&layout.TagMask == 0 && o.key.at(uintptr(e&layout.AddrMask)) == h
}

// buckets sorts the tuples by the top bits of their hashes behind a directory.
func (b *Builder) buckets() error {
	t, n, size := b.Table, int(b.Table.Rows), b.Tuple.Size
	count := 1 << t.Bits
	var err error
	if t.Slots, err = b.Mem.Take(8 * (count + 1)); err != nil {
		return err
	}
	shift := 64 - t.Bits
	sp, err := b.spread(b.hashOf(), shift, t.Bits)
	if err != nil {
		return err
	}
	to, err := b.Mem.Take(n*size + 64)
	if err != nil {
		return err
	}
	dir := mem.Words(t.Slots, count+1)
	dir[0] = uint64(to) << 16
	width := 1 << (t.Bits - sp.bits)
	_, err = b.each(sp.parts(), func(p int) bool {
		mine, size, shift := sp.part(p), size, shift&63
		first := uint64(p * width)
		own := dir[1+first:][:width]
		clear(own)
		for i := range mine {
			h := mine[i].x
			e := &own[h>>shift-first]
			*e = (*e + 1<<16) | 1<<(h>>layout.FilterShift&15)
		}
		// Counts become begins; as tuples move, a begin moves up to the bucket's end.
		at := uint64(to) + uint64(sp.from[p]*size)
		for i, e := range own {
			own[i] = at<<16 | e&0xffff
			at += e >> 16 * uint64(size)
		}
		for i := range mine {
			e := &own[mine[i].x>>shift-first]
			tuples.Copy(uintptr(*e>>16), mine[i].at, size)
			*e += uint64(size) << 16
		}
		return true
	})
	b.Mem.Free(sp.mem)
	b.replace(to, n)
	return err
}
