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
	batches := func(f func(xs []uint64, addrs []uintptr)) error {
		_, err := s.Team.Each(!spread, len(tasks), func(i int) bool {
			var room [fillRows]uintptr
			a := tasks[i].Addr
			for lo := from[i]; lo < from[i+1]; lo += fillRows {
				part := xs[lo:min(lo+fillRows, from[i+1])]
				addrs := room[:len(part)]
				for k := range addrs {
					addrs[k] = a
					a += size
				}
				f(part, addrs)
			}
			return true
		})
		return err
	}
	if err := batches(w.bareKeys); err != nil {
		return err
	}
	if err := radixSort(s.Team, xs, tmp, spread); err != nil {
		return err
	}
	if sorted != nil {
		if err := sorted(xs); err != nil {
			return err
		}
	}
	return batches(w.restore)
}

// bareKeys computes the words of at most fillRows tuples.
func (w *keyWord) bareKeys(xs []uint64, addrs []uintptr) {
	var es [fillRows]entry
	for i := range w.parts {
		w.parts[i].shiftIn(es[:len(xs)], addrs)
	}
	for i := range xs {
		xs[i] = es[i].key
	}
}

// restore writes to tuples what the words tell, which are lost.
func (w *keyWord) restore(xs []uint64, addrs []uintptr) {
	for i := len(w.parts) - 1; i >= 0; i-- {
		p := &w.parts[i]
		mask := ^uint64(0) >> (64 - p.bits)
		if p.null == 0 {
			var vals [fillRows]uint64
			for k, x := range xs {
				vals[k] = p.value(x & mask)
			}
			p.at.StoreMany(addrs, vals[:len(xs)])
		} else {
			for k, x := range xs {
				x &= mask
				null := p.first && x == 0 || !p.first && x > p.max
				if p.first {
					x--
				}
				flag := byte(1)
				if !null {
					flag = 0
					p.at.StoreMany(addrs[k:k+1], []uint64{p.value(x)})
				}
				mem.Store8(addrs[k]+p.null, flag)
			}
		}
		if p.bits < 64 {
			for k := range xs {
				xs[k] >>= p.bits
			}
		}
	}
}

// value is what has the number x, which stands for no NULL.
func (p *keyPart) value(x uint64) uint64 {
	if p.flip {
		x = p.max - x
	}
	return x + p.base
}
