package folds

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Where the keys of groups are whole numbers, or codes, of which there cannot be many more than there are rows, each group has a slot: rows are
// counted and then put in the place of their group, in their order, without being compared.

// slotKey is a key as a part of a slot's number.
type slotKey struct {
	word  tuples.Word
	null  int   // where its flag is; -1: it is never NULL
	least int64 // value
	times uint64
	nulls uint64 // what is added where it is NULL
}

// fewSlots are always worth it, and so many for each row.
const (
	fewSlots   = 1 << 16
	slotsOfRow = 4
)

// slotKeys are the keys as parts of numbers below slots; 0 where there are too many, or where keys are something else.
func slotKeys(t *layout.Tuple, ids []int32, rows int64) (keys []slotKey, slots uint64) {
	most := uint64(max(fewSlots, slotsOfRow*rows))
	slots = 1
	for _, id := range ids {
		field := t.Find(id)
		form := field.Desc.Form
		n := uint64(field.Desc.Range.Span(int64(most)))
		if form != layout.I64 && form != layout.Code || n == 0 {
			return nil, 0
		}
		k := slotKey{word: tuples.WordOf(field), null: field.Null, least: int64(field.Desc.Range.Lo.Lo), times: slots}
		if field.Null >= 0 {
			k.nulls = n * slots
			n++
		}
		if slots *= n; slots > most {
			return nil, 0
		}
		keys = append(keys, k)
	}
	return keys, slots
}

// slot is the number of the group that a row belongs to.
func slot(keys []slotKey, row uintptr) (at uint64) {
	for i := range keys {
		k := &keys[i]
		if k.null >= 0 && mem.Load8(row+uintptr(k.null)) != 0 {
			at += k.nulls
			continue
		}
		at += uint64(int64(k.word.Load(row))-k.least) * k.times
	}
	return at
}

// addTo adds a key's part of the slots' numbers of rows; room is for as many words.
func (k *slotKey) addTo(slots []uint64, rows []uintptr, room []uint64) {
	k.word.LoadMany(rows, room)
	if k.null < 0 {
		for i, w := range room[:len(rows)] {
			slots[i] += uint64(int64(w)-k.least) * k.times
		}
		return
	}
	for i, a := range rows {
		if mem.Load8(a+uintptr(k.null)) != 0 {
			slots[i] += k.nulls
		} else {
			slots[i] += uint64(int64(room[i])-k.least) * k.times
		}
	}
}

// dense puts rows in the places of their groups; starts are where they begin, and the end.
func (f *folder) dense(rows *tuples.Rows, keys []slotKey, slots uint64) error {
	n := int(rows.Len())
	at, err := f.Mem.Take(24*n + 8)
	if err != nil {
		return err
	}
	all, slotOf := mem.Words(at, n), mem.Words(at+uintptr(8*n), n)
	f.rows = mem.Words(at+uintptr(16*n), n)
	i := 0
	for _, p := range rows.Pieces {
		rows.Addresses(p, 0, addresses(all[i:i+p.N]))
		i += p.N
	}
	const step = 4 << 10
	if err := f.Team.Parallel((n+step-1)/step, func(part int) error {
		lo, hi := part*step, min(part*step+step, n)
		var room [step]uint64
		clear(slotOf[lo:hi])
		for i := range keys {
			keys[i].addTo(slotOf[lo:hi], addresses(all[lo:hi]), room[:])
		}
		return nil
	}); err != nil {
		return err
	}
	counts, err := f.Mem.Alloc(8 * int(slots+1))
	if err != nil {
		return err
	}
	f.starts = mem.Words(counts, int(slots)+1)
	for _, s := range slotOf {
		f.starts[s]++
	}
	sum := uint64(0)
	for s, n := range f.starts {
		f.starts[s] = sum
		sum += n
	}
	for i, s := range slotOf {
		f.rows[f.starts[s]] = all[i]
		f.starts[s]++
	}
	// Each start has moved to the end of its group: that is where the next one begins.
	copy(f.starts[1:], f.starts[:slots])
	f.starts[0] = 0
	return nil
}

// slotCuts are at which slots stretches begin that are computed apart, and the end.
func (f *folder) slotCuts() []int {
	slots := len(f.starts) - 1
	parts := min(len(f.rows)/stretchRows, 8*f.Team.Threads)
	cuts := []int{0}
	for i := 1; i < parts; i++ {
		want := uint64(i * len(f.rows) / parts)
		s := cuts[len(cuts)-1]
		for s < slots && f.starts[s] < want {
			s++
		}
		if s > cuts[len(cuts)-1] && s < slots {
			cuts = append(cuts, s)
		}
	}
	return append(cuts, slots)
}

// slotStretch computes the groups of the slots from lo to hi.
func (f *folder) slotStretch(to *tuples.Buffer, lo, hi int) error {
	g := &grouping{f: f, to: to, texts: mem.Arena{Mem: f.Mem}}
	look := 0
	for s := lo; s < hi; s++ {
		from, end := f.starts[s], f.starts[s+1]
		if from == end {
			continue
		}
		if look++; look&63 == 0 {
			if err := f.Team.Canceled(); err != nil {
				return err
			}
		}
		if err := g.group(f.rows[from:end]); err != nil {
			return err
		}
	}
	to.Cut(to.Cur)
	return nil
}
