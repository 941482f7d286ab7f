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
	count uint64 // of values, NULL included
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
		k.count = n
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

// of is the key's word of a slot's rows, or that it is NULL.
func (k *slotKey) of(slot uint64) (word uint64, null bool) {
	part := slot / k.times % k.count
	if k.null >= 0 && part == k.count-1 {
		return 0, true
	}
	return part + uint64(k.least), false
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
	at, err := f.Mem.Take(32*n + 8)
	if err != nil {
		return err
	}
	f.words = mem.Words(at+uintptr(24*n), n)
	f.column = f.firstColumn()
	all, slotOf := mem.Words(at, n), mem.Words(at+uintptr(8*n), n)
	f.rows = mem.Words(at+uintptr(16*n), n)
	if f.column != nil && f.column.Null < 0 && f.enough() {
		f.rows, f.wordsOnly = f.words, true // as many
	}
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
	if err := f.scatter(all, slotOf); err != nil {
		return err
	}
	// Each start has moved to the end of its group: that is where the next one begins.
	copy(f.starts[1:], f.starts[:slots])
	f.starts[0] = 0
	return nil
}

// firstColumn is a word that aggregates read of all rows of a group; nil: there is none.
func (f *folder) firstColumn() *layout.Field {
	for i := range f.aggs {
		if a := &f.aggs[i]; a.plain() {
			for k := range a.args {
				if field := a.args[k].Field(); field.Desc.Form == layout.I64 || field.Desc.Form == layout.F64 {
					return field
				}
			}
		}
	}
	return nil
}

// enough reports that the column that is taken along is all that is read of rows: the slots tell the keys.
func (f *folder) enough() bool {
	for i := range f.keys {
		if !f.told(i) {
			return false
		}
	}
	for i := range f.aggs {
		if a := &f.aggs[i]; !a.plain() || len(a.args) != 1 || a.args[0].Field() != f.column {
			return false
		}
	}
	return true
}

// told reports that the number of a slot tells the key at i.
func (f *folder) told(i int) bool {
	return f.keys[i].from.Field().Desc.Form == layout.I64 && f.keys[i].to.Desc.Form == layout.I64
}

// plain reports that an aggregate looks at all rows as they come.
func (a *agg) plain() bool { return a.all && a.order == nil && a.distinct == nil && !a.ranked }

// scatter puts rows in the places of their slots, and moves starts to the ends. What aggregates read is taken along: here rows still come in
// the order in which they lie in memory.
func (f *folder) scatter(all, slotOf []uint64) error {
	const step = 1 << 10
	var room [step]uint64
	return f.Team.Blocks(len(all), step, func(lo, hi int) {
		if f.column == nil {
			for i, s := range slotOf[lo:hi] {
				f.rows[f.starts[s]] = all[lo+i]
				f.starts[s]++
			}
			return
		}
		tuples.WordOf(f.column).LoadMany(addresses(all[lo:hi]), room[:])
		if f.wordsOnly {
			for i, s := range slotOf[lo:hi] {
				f.words[f.starts[s]] = room[i]
				f.starts[s]++
			}
			return
		}
		for i, s := range slotOf[lo:hi] {
			to := f.starts[s]
			f.rows[to], f.words[to] = all[lo+i], room[i]
			f.starts[s] = to + 1
		}
	})
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
	g := f.grouping(to)
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
		g.first, g.slot = int(from), s
		if err := g.group(f.rows[from:end]); err != nil {
			return err
		}
	}
	to.Cut(to.Cur)
	return nil
}
