package folds

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Options are what folds work with.
type Options struct {
	Team *work.Team
	Mem  *mem.Memory
	View func(*column.Dict) column.DictView
	Zero uintptr // where texts without bytes are; there is something to be read
	// Techniques that are switched off.
	NoRadix, NoBare bool
}

// folder is a grouping being computed.
type folder struct {
	Options
	out  *layout.Tuple
	by   *sorting.Sorter // the keys, and what all aggregates are ordered by
	keys []key
	aggs []agg
	rows []uint64 // addresses, those of a group together
	// starts are where the groups of slots begin in rows, if they have slots: see dense.
	starts []uint64
	// column is an argument of which words has those of rows; nil: none has been read beforehand.
	column    *layout.Field
	words     []uint64
	wordsOnly bool      // rows has no addresses: nobody reads anything else of them
	slotKeys  []slotKey // none where the keys are something else
	inputs    []input   // what sums are kept of, if all aggregates are made of such: see running …
	listed    []listed  // the aggregates, if all are lists of numbers: see lists …
	slots     uint64    // … and how many groups there may be in either case
}

// key is a key of the groups: where it is read and written.
type key struct {
	from compute.Reader
	to   *layout.Field
}

// Groups makes a tuple for each group of rows; without keys there is one group, of any number of rows.
func Groups(rows tuples.Rows, g *plan.Group, out *layout.Tuple, o Options) (tuples.Rows, error) {
	f := &folder{Options: o, out: out}
	result := tuples.Rows{Tuple: out}
	if err := f.prepare(&rows, g); err != nil {
		return result, err
	}
	if f.inputs != nil {
		to := tuples.NewBuffer(o.Mem, out.Size)
		err := f.runningGroups(&rows, &to)
		result.Pieces = to.Pieces
		return result, err
	}
	if f.listed != nil {
		parts, err := f.listGroups(&rows, f.listed)
		for i := range parts {
			result.Pieces = append(result.Pieces, parts[i].Pieces...)
		}
		return result, err
	}
	stretch := f.stretch
	var cuts []int
	switch {
	case len(g.Keys) == 0:
		cuts = []int{0, len(f.rows)}
	case f.starts != nil:
		cuts, stretch = f.slotCuts(), f.slotStretch
	default:
		cuts = f.cuts()
	}
	parts := make([]tuples.Buffer, len(cuts)-1)
	err := o.Team.Parallel(len(parts), func(i int) error {
		parts[i] = tuples.NewBuffer(o.Mem, out.Size)
		return stretch(&parts[i], cuts[i], cuts[i+1])
	})
	for i := range parts {
		result.Pieces = append(result.Pieces, parts[i].Pieces...)
	}
	return result, err
}

// prepare sorts the rows so that those of a group lie together, and in the order that the aggregates want if it is the same
// for all.
func (f *folder) prepare(rows *tuples.Rows, g *plan.Group) error {
	var by []plan.SortKey
	for i, k := range g.Keys {
		id := k.(*plan.Ref).ID
		by = append(by, plan.SortKey{Col: id})
		f.keys = append(f.keys, key{compute.NewReader(rows.Tuple.Find(int32(id)), f.View), f.out.Find(int32(g.KeyCols[i]))})
	}
	shared := wanted(&g.Aggs[0], rows.Tuple)
	for i := range g.Aggs {
		if !slices.Equal(wanted(&g.Aggs[i], rows.Tuple), shared) {
			shared = nil
			break
		}
	}
	var ids []int32
	for _, k := range by {
		ids = append(ids, int32(k.Col))
	}
	var slots uint64
	f.slotKeys, slots = slotKeys(rows.Tuple, ids, rows.Len())
	dense := len(by) > 0 && slots > 0
	if dense && len(shared) > 0 {
		// Rows of a slot stay in the order in which they come. That of a table is often the one that is wanted.
		var err error
		if dense, err = f.sorter(rows.Tuple, shared).InOrder(rows); err != nil {
			return err
		}
	}
	if slots > 0 {
		for i := range g.Aggs {
			f.aggs = append(f.aggs, f.newAgg(&g.Aggs[i], rows.Tuple, false))
		}
		if f.inputs = inputs(f.aggs); f.inputs != nil && slots <= mostStates(f.inputs, rows.Len()) {
			f.slots = slots
			return nil
		}
		f.aggs, f.inputs = nil, nil
	}
	f.by = f.sorter(rows.Tuple, append(by, shared...))
	if len(by)+len(shared) > 0 && !dense {
		if err := f.by.Sort(rows, rows.Len()); err != nil {
			return err
		}
	}
	for i := range g.Aggs {
		f.aggs = append(f.aggs, f.newAgg(&g.Aggs[i], rows.Tuple, shared != nil))
	}
	if dense {
		if f.listed = f.lists(f.aggs, slots); f.listed != nil {
			f.slots = slots
			return nil
		}
		return f.dense(rows, f.slotKeys, slots)
	}
	at, err := f.Mem.Take(int(rows.Len())*8 + 8)
	if err != nil {
		return err
	}
	f.rows = mem.Words(at, int(rows.Len()))
	n := 0
	return rows.Poll(f.Team, func(a uintptr) bool {
		f.rows[n] = uint64(a)
		n++
		return true
	})
}

func (f *folder) sorter(t *layout.Tuple, keys []plan.SortKey) *sorting.Sorter {
	return sorting.New(t, keys, sorting.Options{Team: f.Team, Mem: f.Mem, View: f.View, NoRadix: f.NoRadix, NoBare: f.NoBare})
}

// wanted is the order in which an aggregate looks at the rows of a group. One of distinct values wants those that are equal
// next to each other.
func wanted(a *plan.Agg, t *layout.Tuple) []plan.SortKey {
	if selects(a, t) {
		return nil
	}
	var out []plan.SortKey
	add := func(k plan.SortKey) {
		if !slices.ContainsFunc(out, func(o plan.SortKey) bool { return o.Col == k.Col }) {
			out = append(out, k)
		}
	}
	for _, o := range a.Order {
		add(plan.SortKey{Col: o.X.(*plan.Ref).ID, Desc: o.Desc, NullsFirst: o.NullsFirst})
	}
	if a.Distinct {
		for _, x := range a.Args() {
			add(plan.SortKey{Col: x.(*plan.Ref).ID})
		}
	}
	return out
}

// stretchRows is how many rows are worth a thread.
const stretchRows = 8 << 10

// cuts are where stretches begin that are computed apart, and the end: between groups.
func (f *folder) cuts() []int {
	n := len(f.rows)
	parts := min(n/stretchRows, 8*f.Team.Threads)
	cuts := []int{0}
	for i := 1; i < parts; i++ {
		if at := f.next(max(i*n/parts, cuts[len(cuts)-1]+1) - 1); at < n && at > cuts[len(cuts)-1] {
			cuts = append(cuts, at)
		}
	}
	return append(cuts, n)
}

// next is where the group ends that the row at i belongs to.
func (f *folder) next(i int) int {
	first := uintptr(f.rows[i])
	if len(f.slotKeys) > 0 {
		s := slot(f.slotKeys, first)
		for i++; i < len(f.rows) && slot(f.slotKeys, uintptr(f.rows[i])) == s; i++ {
		}
		return i
	}
	for i++; i < len(f.rows) && f.by.Same(len(f.keys), first, uintptr(f.rows[i])); i++ {
	}
	return i
}

// stretch computes the groups of the rows from lo to hi.
func (f *folder) stretch(to *tuples.Buffer, lo, hi int) error {
	g := f.grouping(to)
	if len(f.keys) == 0 {
		if err := g.group(f.rows); err != nil {
			return err
		}
	}
	for look := 0; lo < hi && len(f.keys) > 0; look++ {
		if look&63 == 0 {
			if err := f.Team.Canceled(); err != nil {
				return err
			}
		}
		end := f.next(lo)
		if err := g.group(f.rows[lo:end]); err != nil {
			return err
		}
		lo = end
	}
	to.Cut(to.Cur)
	return nil
}

// grouping is one thread's part.
type grouping struct {
	f     *folder
	to    *tuples.Buffer
	texts mem.Arena
	list  []uint64 // rows of a group that count for an aggregate …
	at    uintptr  // … and its memory
	room  int64    // asked for, for the result at hand
	// columns have the arguments of a group.
	columns [2]scratch
	strings [2][]string
	first   int    // the place of its first row
	slot    int    // its slot; -1: there are none
	values  values // what an aggregate sees
}

func (f *folder) grouping(to *tuples.Buffer) *grouping {
	return &grouping{f: f, to: to, texts: mem.Arena{Mem: f.Mem}, slot: -1}
}

// key writes the key at i of a group. A slot tells whole numbers without a look at the row, which may lie anywhere.
func (g *grouping) key(at uintptr, i int, row uint64) {
	k := &g.f.keys[i]
	if g.slot < 0 || !g.f.told(i) {
		k.from.Copy(uintptr(row), at, k.to, g.f.Zero)
		return
	}
	word, null := g.f.slotKeys[i].of(uint64(g.slot))
	compute.PutWord(at, k.to, word, null)
}

// group writes the tuple of a group.
func (g *grouping) group(rows []uint64) error {
	f := g.f
	if g.to.Cur == g.to.End {
		if err := g.to.Grow(g.to.Cur); err != nil {
			return err
		}
	}
	at := g.to.Cur
	for i := range f.keys {
		g.key(at, i, rows[0])
	}
	for i := range f.aggs {
		if err := g.fold(at, &f.aggs[i], rows); err != nil {
			return err
		}
	}
	g.to.Cur += uintptr(f.out.Size)
	return nil
}
