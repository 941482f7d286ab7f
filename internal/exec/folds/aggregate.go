package folds

import (
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// agg is an aggregate of the groups.
type agg struct {
	*plan.Agg
	args     []compute.Reader
	filter   *compute.Reader // nil: all rows count
	order    *sorting.Sorter // nil: rows come in its order
	distinct *sorting.Sorter // compares arguments; nil: equal ones count again
	to       *layout.Field
	nulls    []uintptr // where flags are that make a row not count
	all      bool      // rows count
	ranked   bool      // see selects
}

// newAgg is for tuples t, which come in the order that the aggregate wants or not.
func (f *folder) newAgg(a *plan.Agg, t *layout.Tuple, inOrder bool) agg {
	x := agg{Agg: a, to: f.out.Find(int32(a.Col))}
	reader := func(e plan.Expr) compute.Reader { return compute.NewReader(t.Find(int32(e.(*plan.Ref).ID)), f.View) }
	var args []plan.SortKey
	for _, e := range a.Args() {
		x.args = append(x.args, reader(e))
		args = append(args, plan.SortKey{Col: e.(*plan.Ref).ID})
	}
	if a.Filter != nil {
		r := reader(a.Filter)
		x.filter = &r
	}
	x.ranked = selects(a, t)
	for i := range x.args {
		if at := x.args[i].Field().Null; at >= 0 && (a.Fold.Skips == plan.SkipAnyNull || a.Fold.Skips == plan.SkipNull && i == 0) {
			x.nulls = append(x.nulls, uintptr(at))
		}
	}
	x.all = x.filter == nil && len(x.nulls) == 0
	if by := wanted(a, t); len(by) > 0 && !inOrder {
		x.order = f.sorter(t, by)
	}
	if a.Distinct {
		x.distinct = f.sorter(t, args)
	}
	return x
}

// counts reports that the row at a is one that the aggregate looks at.
func (a *agg) counts(row uintptr) bool {
	if a.filter != nil {
		if v := a.filter.Value(row); v.Null || v.I == 0 {
			return false
		}
	}
	for _, at := range a.nulls {
		if mem.Load8(row+at) != 0 {
			return false
		}
	}
	return true
}

// fold computes an aggregate for the rows of a group and writes it to the tuple at to.
func (g *grouping) fold(to uintptr, a *agg, rows []uint64) error {
	list, err := g.counting(a, rows)
	if err != nil {
		return err
	}
	if a.order != nil {
		if err := a.order.Addresses(list); err != nil {
			return err
		}
	}
	if a.distinct != nil {
		list = slices.CompactFunc(list, func(x, y uint64) bool { return a.distinct.Compare(uintptr(x), uintptr(y)) == 0 })
	}
	var v types.Value
	if a.ranked {
		v, err = g.ranked(a, list)
	} else {
		g.values = values{g: g, a: a, rows: list, whole: unsafe.SliceData(list) == unsafe.SliceData(rows)}
		v, err = a.Fold.Eval(&g.values, a.Direct, a.to.Desc.Type)
	}
	if err == nil && !v.Null && len(v.S) > 0 {
		// It may be a text that Go will forget.
		var p uintptr
		if p, err = g.texts.Put(v.S); err == nil {
			v.S = mem.Text(p, len(v.S))
		}
	}
	if g.room > 0 {
		g.f.Mem.Account().Give(g.room)
		g.room = 0
	}
	if err == nil {
		compute.Put(to, a.to, v, g.f.Zero)
	}
	return err
}

// counting are the rows that count for an aggregate, in a list of its own if they will be moved.
func (g *grouping) counting(a *agg, rows []uint64) ([]uint64, error) {
	all := true
	for i := 0; all && !a.all && i < len(rows); i++ {
		all = a.counts(uintptr(rows[i]))
	}
	if all && a.order == nil && a.distinct == nil {
		return rows, nil
	}
	if cap(g.list) < len(rows) {
		n := max(len(rows), 2*cap(g.list))
		at, err := g.f.Mem.Take(8 * n)
		if err != nil {
			return nil, err
		}
		if g.at != 0 {
			g.f.Mem.Free(g.at)
		}
		g.at, g.list = at, mem.Words(at, n)
	}
	list := g.list[:0:len(g.list)]
	for _, row := range rows {
		if a.counts(uintptr(row)) {
			list = append(list, row)
		}
	}
	return list, nil
}

// values are the rows of a group as an aggregate sees them.
type values struct {
	g     *grouping
	a     *agg
	rows  []uint64
	whole bool // rows are all of the group
	read  int
}

func (v *values) Len() int { return len(v.rows) }

func (v *values) Value(row, arg int) types.Value {
	if v.read++; v.read&(1<<16-1) == 0 {
		if err := v.g.f.Team.Canceled(); err != nil {
			panic(err) // recovered at the door of the room
		}
	}
	r := &v.a.args[arg]
	if v.g.f.wordsOnly {
		return r.OfWord(v.g.f.words[v.g.first+row])
	}
	return r.Value(uintptr(v.rows[row]))
}

// smallResult is what a result may take without being counted before it is made.
const smallResult = 1 << 12

func (v *values) Room(bytes int64) error {
	if bytes <= smallResult {
		return nil
	}
	err := v.g.f.Mem.Account().Take(bytes)
	if err == nil {
		v.g.room += bytes
	}
	return err
}
