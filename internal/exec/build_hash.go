package exec

import (
	"math/bits"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/layout"
)

// open makes an open-addressing table if all hashes differ: then keys are unique.
func (s *buildSink) open() (done bool, err error) {
	t, n := s.table, int(s.table.Rows)
	t.Bits = uint8(max(bits.Len(uint(2*n)), 3))
	if t.Slots, err = s.r.alloc(8 << t.Bits); err != nil {
		return false, err
	}
	unique, err := s.fillOpen()
	if err != nil {
		return false, err
	}
	if !unique {
		s.r.mem.free(t.Slots)
		t.Slots = 0
		return false, nil
	}
	t.Kind = layout.Open
	return true, nil
}

// fillOpen enters every tuple by its hash; it gives up when two have the same.
func (s *buildSink) fillOpen() (unique bool, err error) {
	t, k := s.table, s.hashOf()
	o := &opening{dir: words(t.Slots, 1<<t.Bits), key: k, shared: !s.alone()}
	touch := t.Bits >= touchBits
	tasks := s.tasks()
	return s.each(len(tasks), func(i int) bool {
		if o.twice.Load() {
			return false
		}
		return k.batches(tasks[i], func(hs []uint64, at uintptr) bool {
			if touch {
				o.touch(hs)
			}
			if !o.enter(hs, at) {
				o.twice.Store(true)
			}
			return !o.twice.Load()
		})
	})
}

// opening is an open-addressing table being filled.
type opening struct {
	dir    []uint64
	key    keyReader
	shared bool // other threads fill it too
	twice  atomic.Bool
	sum    uint64
}

// touchBits is the size of a directory, as a logarithm, from which its slots are read once before they are needed:
// the reads of a batch wait for memory together, while the search for a free slot waits for each.
const touchBits = 17

func (o *opening) touch(hs []uint64) {
	var sum uint64
	mask := uint64(len(o.dir) - 1)
	for _, h := range hs {
		sum |= o.dir[h&mask]
	}
	if sum == 1 { // never: the reads must not be left out
		o.sum++
	}
}

// enter puts tuples with the given hashes, from the one at a on, each into the first free slot from its own on.
// It gives up at a hash that is there already.
func (o *opening) enter(hs []uint64, a uintptr) bool {
	dir, size := o.dir, o.key.size
	mask := uint64(len(dir) - 1)
	for _, h := range hs {
		const tag = 1<<64 - 1<<layout.TagShift
		mine := h&tag | uint64(a)
		for i := h & mask; ; i = (i + 1) & mask {
			e := dir[i]
			if e == 0 {
				if !o.shared {
					dir[i] = mine
					break
				}
				if atomic.CompareAndSwapUint64(&dir[i], 0, mine) {
					break
				}
				e = atomic.LoadUint64(&dir[i])
			}
			if (e^h)&tag == 0 && o.key.at(uintptr(e&layout.AddrMask)) == h {
				return false
			}
		}
		a += size
	}
	return true
}

// buckets sorts the tuples by the top bits of their hashes behind a directory.
func (s *buildSink) buckets() error {
	t, n, size := s.table, int(s.table.Rows), s.tuple.Size
	t.Kind = layout.Buckets
	t.Bits = uint8(max(bits.Len(uint(n)), 2))
	count := 1 << t.Bits
	var err error
	if t.Slots, err = s.r.mem.room(8 * (count + 1)); err != nil {
		return err
	}
	shift := 64 - t.Bits
	sp, err := s.spread(s.hashOf(), shift, t.Bits)
	if err != nil {
		return err
	}
	to, err := s.r.mem.room(n*size + 64)
	if err != nil {
		return err
	}
	dir := words(t.Slots, count+1)
	dir[0] = uint64(to) << 16
	width := 1 << (t.Bits - sp.bits)
	_, err = s.each(sp.parts(), func(p int) bool {
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
			copyTuple(uintptr(*e>>16), mine[i].at, size)
			*e += uint64(size) << 16
		}
		return true
	})
	s.r.mem.free(sp.mem)
	s.replace(to, n)
	return err
}
