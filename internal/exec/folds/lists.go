package folds

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Lists of numbers, of groups with slots: once the rows of each slot are counted it is known where each list will be, and rows write
// their elements there as they come. Nobody brings those of a group together first.

// listed is an aggregate that is such a list.
type listed struct {
	agg   *agg
	elem  types.Type
	width uint64  // bytes of an element behind its mark
	texts uintptr // where the lists are
	// at has, for each stretch of rows and each slot, first the bytes of its elements, then where the next of them goes: see places.
	at [][]uint64
}

// lists are the aggregates, if each is such a list of rows as they come, and the slots tell all keys; else nil.
func (f *folder) lists(aggs []agg, slots uint64) []listed {
	if slots > math.MaxUint32 {
		return nil
	}
	for i := range f.keys {
		if !f.told(i) {
			return nil
		}
	}
	var out []listed
	for i := range aggs {
		a := &aggs[i]
		if !a.Fold.Lists || a.filter != nil || a.order != nil || a.distinct != nil {
			return nil
		}
		elem, form := a.to.Desc.Type.Elem(), a.args[0].Field().Desc.Form
		width, _ := types.FixedElem(elem)
		if width > 8 || form != layout.I64 && form != layout.F64 {
			return nil
		}
		out = append(out, listed{agg: a, elem: elem, width: uint64(width)})
	}
	return out
}

// listGroups writes the tuples of all groups.
func (f *folder) listGroups(rows *tuples.Rows, lists []listed) ([]tuples.Buffer, error) {
	n := rows.Len()
	// A stretch for each thread, unless most of their counters would be of rows that another one has.
	parts := int(max(min(n/stretchRows, int64(f.Team.Threads), 2*n/int64(f.slots)), 1))
	at, err := f.Mem.Take(4*int(n) + 8)
	if err != nil {
		return nil, err
	}
	defer f.Mem.Free(at)
	slotOf := mem.Halves(at, int(n))
	for i := range lists {
		for range parts {
			at, err := f.Mem.Alloc(8 * int(f.slots))
			if err != nil {
				return nil, err
			}
			lists[i].at = append(lists[i].at, mem.Words(at, int(f.slots)))
		}
	}
	stretches := func(do func(b *listing)) error {
		return f.Team.Parallel(parts, func(p int) error {
			lo, hi := n*int64(p)/int64(parts), n*int64(p+1)/int64(parts)
			some := *rows
			some.Cut(lo, hi-lo)
			return f.listing(&some, p, slotOf[lo:hi], do)
		})
	}
	if err := stretches(func(b *listing) { b.count(f.slotKeys, lists) }); err != nil {
		return nil, err
	}
	slots := f.listCuts(int(n))
	cuts := make([][]uint64, len(lists))
	for i := range lists {
		if cuts[i], err = f.places(&lists[i], slots); err != nil {
			return nil, err
		}
	}
	if err := stretches(func(b *listing) { b.write(lists) }); err != nil {
		return nil, err
	}
	out := make([]tuples.Buffer, len(slots)-1)
	err = f.Team.Parallel(len(out), func(i int) error {
		begins := make([]uint64, len(lists))
		for k := range begins {
			begins[k] = cuts[k][i]
		}
		out[i] = tuples.NewBuffer(f.Mem, f.out.Size)
		return f.listStretch(&out[i], lists, begins, slots[i], slots[i+1])
	})
	return out, err
}

// listCuts are at which slots stretches begin that are written apart, and the end.
func (f *folder) listCuts(rows int) []int {
	parts := max(min(rows/stretchRows, 4*f.Team.Threads), 1)
	cuts := make([]int, parts+1)
	for i := range cuts {
		cuts[i] = int(f.slots) * i / parts
	}
	return cuts
}

// places turns the sizes of a list's stretches of rows into where each begins, takes memory for all, and returns where the lists of the
// slots of cuts begin. A list ends with a byte of its own, which those without rows lack.
func (f *folder) places(l *listed, cuts []int) ([]uint64, error) {
	begins := make([]uint64, len(cuts))
	sum := uint64(0)
	for i, lo := range cuts[:len(cuts)-1] {
		begins[i] = sum
		if err := f.Team.Canceled(); err != nil {
			return nil, err
		}
		for s := lo; s < cuts[i+1]; s++ {
			begin := sum
			for _, at := range l.at {
				had := at[s]
				at[s] = sum
				sum += had
			}
			if sum != begin {
				sum++
			}
		}
	}
	var err error
	l.texts, err = f.Mem.Take(int(sum) + column.TextPad)
	return begins, err
}

// listing is a thread's look at rows.
type listing struct {
	part  int
	rows  []uintptr
	slots []uint32 // of the rows
	words [listRows]uint64
	more  [listRows]uint64
}

// listRows are looked at at a time.
const listRows = 1 << 10

// listing has do look at all rows of a stretch, whose slots are, or will be, in slotOf.
func (f *folder) listing(rows *tuples.Rows, part int, slotOf []uint32, do func(b *listing)) error {
	b := &listing{part: part}
	var room [listRows]uintptr
	for _, p := range rows.Pieces {
		for lo := 0; lo < p.N; lo += listRows {
			if err := f.Team.Canceled(); err != nil {
				return err
			}
			b.rows = room[:min(p.N-lo, listRows)]
			rows.Addresses(p, lo, b.rows)
			b.slots, slotOf = slotOf[:len(b.rows)], slotOf[len(b.rows):]
			do(b)
		}
	}
	return nil
}

// count finds the slots of the rows at hand, and adds the bytes of their elements to the lists of those.
func (b *listing) count(keys []slotKey, lists []listed) {
	slots := b.words[:len(b.rows)]
	clear(slots)
	for i := range keys {
		keys[i].addTo(slots, b.rows, b.more[:])
	}
	for i, s := range slots {
		b.slots[i] = uint32(s)
	}
	for i := range lists {
		l := &lists[i]
		sizes, size := l.at[b.part], 1+l.width
		if null := l.agg.args[0].Field().Null; null >= 0 {
			for i, s := range b.slots {
				sizes[s] += 1 + l.width*uint64(mem.Load8(b.rows[i]+uintptr(null))^1)
			}
			continue
		}
		for _, s := range b.slots {
			sizes[s] += size
		}
	}
}

// write puts the elements of the rows at hand into their lists.
func (b *listing) write(lists []listed) {
	for i := range lists {
		l := &lists[i]
		words := b.words[:len(b.rows)]
		l.agg.args[0].Words(b.rows, words)
		types.ElemWords(l.elem, words)
		places := l.at[b.part]
		null := l.agg.args[0].Field().Null
		switch {
		case null >= 0:
			for i, s := range b.slots {
				to := l.texts + uintptr(places[s])
				if mem.Load8(b.rows[i]+uintptr(null)) != 0 {
					mem.Store8(to, types.ElemNull)
					places[s]++
					continue
				}
				mem.Store8(to, types.ElemValue)
				storeBytes(to+1, words[i], l.width)
				places[s] += 1 + l.width
			}
		case l.width == 8:
			for i, s := range b.slots {
				to := l.texts + uintptr(places[s])
				mem.Store8(to, types.ElemValue)
				mem.Store64(to+1, words[i])
				places[s] += 9
			}
		default:
			for i, s := range b.slots {
				to := l.texts + uintptr(places[s])
				mem.Store8(to, types.ElemValue)
				storeBytes(to+1, words[i], l.width)
				places[s] += 1 + l.width
			}
		}
	}
}

// storeBytes writes the lowest bytes of a word, of which there are 1, 2, 4 or 8.
func storeBytes(at uintptr, word, width uint64) {
	switch width {
	case 1:
		mem.Store8(at, byte(word))
	case 2:
		*(*uint16)(mem.Pointer(at)) = uint16(word)
	case 4:
		*(*uint32)(mem.Pointer(at)) = uint32(word)
	default:
		mem.Store64(at, word)
	}
}

// listStretch writes the tuples of the slots from lo to hi, whose first lists are at begins.
func (f *folder) listStretch(to *tuples.Buffer, lists []listed, begins []uint64, lo, hi int) error {
	first := lists[0].at[len(lists[0].at)-1]
	for s := lo; s < hi; s++ {
		if (s-lo)%listRows == 0 {
			if err := f.Team.Canceled(); err != nil {
				return err
			}
		}
		if first[s] == begins[0] {
			continue // it has no rows
		}
		if to.Cur == to.End {
			if err := to.Grow(to.Cur); err != nil {
				return err
			}
		}
		for i := range f.keys {
			word, null := f.slotKeys[i].of(uint64(s))
			compute.PutWord(to.Cur, f.keys[i].to, word, null)
		}
		for i := range lists {
			l := &lists[i]
			begin, end := begins[i], l.at[len(l.at)-1][s]
			mem.Store8(l.texts+uintptr(end), types.ElemsEnd)
			compute.PutText(to.Cur, l.agg.to, l.texts+uintptr(begin), int(end+1-begin))
			begins[i] = end + 1
		}
		to.Cur += uintptr(f.out.Size)
	}
	to.Cut(to.Cur)
	return nil
}
