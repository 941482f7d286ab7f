package folds

import (
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Deviations and the like are made of a few sums (plan.FoldSums). Where groups have slots, and not too many, rows are added to the sums
// of their group as they come: nobody brings those of a group together.

// input is what sums are kept of; aggregates with the same input share them.
type input struct {
	*agg  // one of them
	users []*agg
}

// inputs are those of the aggregates; nil if some aggregate is made of something else.
func inputs(aggs []agg) []input {
	var out []input
	for i := range aggs {
		a := &aggs[i]
		if a.order != nil || a.distinct != nil {
			return nil
		}
		if a.findsWord() {
			out = append(out, input{agg: a, users: []*agg{a}})
			continue
		}
		if a.Fold.Parts == nil || a.Fold.Parts.Sums == nil {
			return nil
		}
		k := slices.IndexFunc(out, func(in input) bool { return a.sameInput(in.agg) })
		if k < 0 {
			k = len(out)
			out = append(out, input{agg: a})
		}
		out[k].users = append(out[k].users, a)
	}
	return out
}

func (a *agg) sameInput(b *agg) bool {
	return b.Fold.Extreme == 0 && a.Fold.Parts.Sums == b.Fold.Parts.Sums && plan.EqualExprs(a.Args(), b.Args()) &&
		(a.Filter == b.Filter || a.Filter != nil && b.Filter != nil && plan.EqualExpr(a.Filter, b.Filter))
}

// So many states stay in a cache, and so many are always worth it.
const (
	cachedStates = 1 << 14
	fewStates    = 1 << 8
)

// mostStates is how many slots may have states, for so many rows. Rows that are found take less room, and the other way, where they are brought
// together, is as far from the cache.
func mostStates(in []input, rows int64) uint64 {
	if !slices.ContainsFunc(in, func(in input) bool { return in.Fold.Extreme == 0 }) {
		return uint64(max(fewSlots, rows))
	}
	return uint64(max(fewStates, min(rows, cachedStates)))
}

// running are the sums of some rows, by slots.
type running struct {
	f      *folder
	first  []uint64 // the address of a row of each slot, 0: it has none
	states [][]plan.FoldState
	found  [][]found // of inputs that have no states
	// What is known of the rows at hand.
	rows        []uintptr
	slots       []uint64
	someRows    []uintptr // those that count
	someSlots   []uint64
	words, more []uint64
}

// runningRows are looked at at a time.
const runningRows = 1 << 10

func (f *folder) newRunning() (*running, error) {
	r := &running{f: f, rows: make([]uintptr, runningRows), slots: make([]uint64, runningRows), someRows: make([]uintptr, runningRows),
		someSlots: make([]uint64, runningRows), words: make([]uint64, runningRows), more: make([]uint64, runningRows)}
	n := int(f.slots)
	at, err := f.Mem.Alloc(8 * n)
	if err != nil {
		return nil, err
	}
	r.first = mem.Words(at, n)
	r.states, r.found = make([][]plan.FoldState, len(f.inputs)), make([][]found, len(f.inputs))
	for i, in := range f.inputs {
		if in.Fold.Extreme != 0 {
			r.found[i], err = allocate[found](f.Mem, n)
		} else {
			r.states[i], err = allocate[plan.FoldState](f.Mem, n)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// allocate takes zeros for n values.
func allocate[T any](m *mem.Memory, n int) ([]T, error) {
	var x T
	at, err := m.Alloc(n * int(unsafe.Sizeof(x)))
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(mem.Pointer(at)), n), nil
}

// runningGroups writes the tuples of all groups. Each thread has the sums of a stretch of rows, and they are joined in the order of those.
func (f *folder) runningGroups(rows *tuples.Rows, to *tuples.Buffer) error {
	n := rows.Len()
	// Slots that are joined should be fewer than rows.
	parts := make([]*running, max(min(int(n/stretchRows), f.Team.Threads, int(n/max(int64(f.slots), 1))), 1))
	err := f.Team.Parallel(len(parts), func(i int) (err error) {
		if parts[i], err = f.newRunning(); err != nil {
			return err
		}
		lo, hi := n*int64(i)/int64(len(parts)), n*int64(i+1)/int64(len(parts))
		some := *rows
		some.Cut(lo, hi-lo)
		return parts[i].add(&some)
	})
	if err != nil {
		return err
	}
	for slot := range int(f.slots) {
		if err := f.runningGroup(parts, slot, to); err != nil {
			return err
		}
	}
	to.Cut(to.Cur)
	return nil
}

// add takes rows.
func (r *running) add(rows *tuples.Rows) error {
	for _, p := range rows.Pieces {
		for lo := 0; lo < p.N; lo += runningRows {
			if err := r.f.Team.Canceled(); err != nil {
				return err
			}
			r.rows = r.rows[:min(p.N-lo, runningRows)]
			rows.Addresses(p, lo, r.rows)
			if err := r.addRows(); err != nil {
				return err
			}
		}
	}
	return nil
}

// addRows adds the rows at hand to the sums of their slots.
func (r *running) addRows() error {
	slots := r.slots[:len(r.rows)]
	clear(slots)
	for i := range r.f.slotKeys {
		r.f.slotKeys[i].addTo(slots, r.rows, r.words)
	}
	for i, s := range slots {
		if r.first[s] == 0 {
			r.first[s] = uint64(r.rows[i])
		}
	}
	for i, in := range r.f.inputs {
		rows, groups := r.rows, slots
		if !in.all {
			n := r.counting(in.agg, rows, groups)
			rows, groups = r.someRows[:n], r.someSlots[:n]
		}
		if in.Fold.Extreme != 0 {
			r.find(in, r.found[i], rows, groups)
			continue
		}
		in.args[0].Words(rows, r.words)
		in.args[len(in.args)-1].Words(rows, r.more)
		if err := in.Fold.Parts.Sums.Add(r.states[i], groups, r.words, r.more); err != nil {
			return err
		}
	}
	return nil
}

// counting lists the rows that count for an aggregate, without branches where flags tell them.
func (r *running) counting(a *agg, rows []uintptr, slots []uint64) int {
	n := 0
	for _, null := range a.nulls {
		n = 0
		for i, row := range rows {
			r.someRows[n], r.someSlots[n] = row, slots[i]
			n += int(mem.Load8(row+null) ^ 1)
		}
		rows, slots = r.someRows[:n], r.someSlots[:n]
	}
	if a.filter == nil {
		return n
	}
	n = 0
	for i, row := range rows {
		if v := a.filter.Value(row); !v.Null && v.I != 0 {
			r.someRows[n], r.someSlots[n] = row, slots[i]
			n++
		}
	}
	return n
}

// runningGroup writes the tuple of a slot, if it has rows, or if there is one group in any case.
func (f *folder) runningGroup(parts []*running, slot int, to *tuples.Buffer) error {
	first := uint64(0)
	for _, p := range parts {
		if first = p.first[slot]; first != 0 {
			break
		}
	}
	if first == 0 && len(f.keys) > 0 {
		return nil
	}
	if to.Cur == to.End {
		if err := to.Grow(to.Cur); err != nil {
			return err
		}
	}
	for i := range f.keys {
		k := &f.keys[i]
		k.from.Copy(uintptr(first), to.Cur, k.to, f.Zero)
	}
	for i, in := range f.inputs {
		if in.Fold.Extreme != 0 {
			f.putFound(parts, i, slot, to.Cur)
			continue
		}
		s := parts[0].states[i][slot]
		for _, p := range parts[1:] {
			switch o := p.states[i][slot]; {
			case s.N == 0:
				s = o
			case o.N > 0:
				var err error
				if s, err = in.Fold.Parts.Join(s, o); err != nil {
					return err
				}
			}
		}
		for _, a := range in.users {
			v := types.NullOf(a.to.Desc.Type)
			if s.N > 0 {
				v = a.Fold.Parts.Value(s, a.to.Desc.Type)
			}
			compute.Put(to.Cur, a.to, v, f.Zero)
		}
	}
	to.Cur += uintptr(f.out.Size)
	return nil
}
