package sorting

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Where one word holds all keys and the keys are all that tuples have, there is no need to remember which tuple a key came
// from: the words alone are sorted, and the tuples are written anew from them, where they lie, in order. Nobody has to
// visit tuples all over the memory afterwards.

// bareLeast is from how many tuples on that is worth a thought.
const bareLeast = 1 << 10

// bare is the word that tells everything about tuples, nil if there is none. Fields in s.Void do not count.
func (s *Sorter) bare() *keyWord {
	t := s.tuple
	if s.NoRadix || s.NoBare {
		return nil
	}
	ws := keyWords(s.keys)
	if len(ws) != 1 || ws[0].text >= 0 {
		return nil
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if slices.Contains(s.Void, plan.ColID(f.ID)) {
			continue
		}
		if f.Desc.Form.Words() > 1 || !slices.ContainsFunc(s.keys, func(k key) bool { return k.f == f }) {
			return nil
		}
	}
	for _, p := range ws[0].parts {
		if p.kind != intPart {
			return nil
		}
	}
	return &ws[0]
}

// sortBare orders rows, of which w tells everything. sorted, unless it is nil, sees the words in order.
func (s *Sorter) sortBare(rows *tuples.Rows, w *keyWord, sorted func(xs []uint64) error) error {
	n := int(rows.Len())
	xs, release, err := items[uint64](s.Mem, n)
	if err != nil {
		return err
	}
	defer release()
	tmp, releaseTmp, err := items[uint64](s.Mem, n)
	if err != nil {
		return err
	}
	defer releaseTmp()
	size := uintptr(rows.Tuple.Size)
	tasks := rows.Tasks()
	from := make([]int, len(tasks)+1)
	for i, t := range tasks {
		from[i+1] = from[i] + t.N
	}
	spread := s.Team.Threads > 1 && n >= threadsLeast
	batches := func(f func(task int, xs []uint64, first uintptr)) error {
		_, err := s.Team.Each(!spread, len(tasks), func(i int) bool {
			a := tasks[i].Addr
			for lo := from[i]; lo < from[i+1]; lo += fillRows {
				part := xs[lo:min(lo+fillRows, from[i+1])]
				f(i, part, a)
				a += uintptr(len(part)) * size
			}
			return true
		})
		return err
	}
	// What there is to know of keys before they are sorted is found while they are in the cache.
	known := make([]extent, len(tasks))
	if err := batches(func(task int, xs []uint64, first uintptr) {
		w.bareKeys(xs, first, size)
		known[task].join(extentOf(xs))
	}); err != nil {
		return err
	}
	var all extent
	for _, x := range known {
		all.join(x)
	}
	if err := radixSortIn(s.Team, xs, tmp, all, spread); err != nil {
		return err
	}
	if sorted != nil {
		if err := sorted(xs); err != nil {
			return err
		}
	}
	return batches(func(_ int, xs []uint64, first uintptr) { w.restore(xs, first, size) })
}

// bareKeys computes the words of at most fillRows tuples that lie side by side.
func (w *keyWord) bareKeys(xs []uint64, first, size uintptr) {
	clear(xs)
	for i := range w.parts {
		p := &w.parts[i]
		if p.null == 0 && p.kind == intPart {
			flip, add := p.linear()
			p.at.ShiftIn(xs, first, size, p.bits, flip, add)
			continue
		}
		var room [fillRows]uintptr
		addrs := room[:len(xs)]
		for k := range addrs {
			addrs[k] = first + uintptr(k)*size
		}
		shiftIn(p, xs, addrs)
	}
}

// linear has a number of the part, which is not NULL, from the word of a tuple: (word ^ flip) + add.
func (p *keyPart) linear() (flip, add uint64) {
	if p.flip { // max - (word - base)
		return ^uint64(0), p.max + p.base + 1
	}
	return 0, -p.base
}

// restore writes to tuples that lie side by side what the words tell.
func (w *keyWord) restore(xs []uint64, first, size uintptr) {
	shift := uint(0)
	for i := len(w.parts) - 1; i >= 0; i-- {
		p := &w.parts[i]
		mask := ^uint64(0) >> (64 - p.bits)
		flip, add := p.linear()
		if p.null == 0 {
			p.at.ShiftOut(xs, first, size, shift, mask, flip, add)
		} else {
			a := first
			for _, x := range xs {
				x = x >> shift & mask
				null := p.first && x == 0 || !p.first && x > p.max
				if p.first {
					x--
				}
				flag := byte(1)
				if !null {
					flag = 0
					p.at.Store(a, x-add^flip)
				}
				mem.Store8(a+p.null, flag)
				a += size
			}
		}
		shift += p.bits
	}
}
