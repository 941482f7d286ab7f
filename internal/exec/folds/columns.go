package folds

import (
	"math"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Arguments of a group as columns: plan.FoldColumns. And values that are found by their rank, without an order of all.

// known reports that no row that counts has NULL for an argument.
func (a *agg) known(arg int) bool {
	return a.args[arg].Field().Null < 0 || a.Fold.Skips == plan.SkipAnyNull || a.Fold.Skips == plan.SkipNull && arg == 0
}

// words are the words of an argument, if it has one of the given form.
func (v *values) words(arg int, form layout.Form) []uint64 {
	f := v.a.args[arg].Field()
	if f.Desc.Form != form || !v.a.known(arg) || len(v.rows) == 0 {
		return nil
	}
	if v.whole && v.g.f.column == f {
		return v.g.f.words[v.g.first:][:len(v.rows)]
	}
	c := &v.g.columns[min(arg, len(v.g.columns)-1)]
	if all := unsafe.SliceData(v.rows); v.whole && c.of == f && c.first == all {
		return c.words[:len(v.rows)] // another aggregate of the group has read it
	}
	dst, err := v.g.column(arg, len(v.rows))
	if err != nil {
		return nil // there may be room for what is made one by one
	}
	v.a.args[arg].Words(addresses(v.rows), dst)
	if v.whole {
		c.of, c.first = f, unsafe.SliceData(v.rows)
	}
	return dst
}

// addresses are words as what they are.
func addresses(rows []uint64) []uintptr {
	return unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows))
}

func (v *values) Floats(arg int) []float64 {
	w := v.words(arg, layout.F64)
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
}

func (v *values) Integers(arg int) []int64 {
	w := v.words(arg, layout.I64)
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(w))), len(w))
}

func (v *values) Texts(arg, row, n int) []string {
	room := &v.g.strings[arg]
	*room = slices.Grow((*room)[:0], n)[:n]
	v.a.args[arg].Texts(addresses(v.rows[row:row+n]), *room)
	return *room
}

// column is room for n words of an argument.
func (g *grouping) column(arg, n int) ([]uint64, error) {
	c := &g.columns[min(arg, len(g.columns)-1)]
	c.of = nil
	if cap(c.words) < n {
		room := max(n, 2*cap(c.words))
		at, err := g.f.Mem.Take(8 * room)
		if err != nil {
			return nil, err
		}
		if c.at != 0 {
			g.f.Mem.Free(c.at)
		}
		c.at, c.words = at, mem.Words(at, room)
	}
	return c.words[:n:n], nil
}

// scratch is memory for words.
type scratch struct {
	words []uint64
	at    uintptr
	// of is the field of all rows of the group from first on that words are of; nil: of others.
	of    *layout.Field
	first *uint64
}

func (v *values) Scratch(n int) []byte {
	b, err := v.g.texts.Room(n)
	if err != nil {
		return nil // it is told when the result is put there
	}
	return b[:0:n]
}

// selects reports that an aggregate is found by ranks of numbers, so that its rows need no order.
func selects(a *plan.Agg, t *layout.Tuple) bool {
	if a.Fold.Ranked == nil || a.Distinct || len(a.Order) != 1 {
		return false
	}
	arg, ok := a.Arg.(*plan.Ref)
	by, isRef := a.Order[0].X.(*plan.Ref)
	if !ok || !isRef || arg.ID != by.ID {
		return false
	}
	form := t.Find(int32(arg.ID)).Desc.Form
	return form == layout.I64 || form == layout.F64
}

// ranked computes such an aggregate of rows.
func (g *grouping) ranked(a *agg, rows []uint64) (types.Value, error) {
	t := a.to.Desc.Type
	n := len(rows)
	r, ok, err := a.Fold.Ranked(n, a.Direct)
	if err != nil || !ok || n == 0 {
		return types.NullOf(t), err
	}
	if a.Order[0].Desc {
		r.Lo, r.Hi = n-1-r.Lo, n-1-r.Hi
	}
	keys, err := g.column(0, n)
	if err != nil {
		return types.Value{}, err
	}
	f := a.args[0].Field()
	a.args[0].Words(addresses(rows), keys)
	floats := f.Desc.Form == layout.F64
	for i, k := range keys {
		keys[i] = k ^ 1<<63
		if floats {
			keys[i] = floatKey(k)
		}
	}
	at := func(rank int) types.Value {
		k := selectKey(keys, rank)
		v := types.Value{Type: f.Desc.Type}
		if floats {
			v.F = keyFloat(k)
			return v
		}
		v.I = int64(k ^ 1<<63)
		if v.Type.Kind == types.Decimal {
			v.Hi = v.I >> 63
		}
		return v
	}
	lo := at(r.Lo)
	if r.Lo == r.Hi {
		return lo, nil
	}
	return a.Fold.Between(lo, at(r.Hi), r.Part, t)
}

// floatKey is a number that orders as a double does: NaN, of which there is one, comes last.
func floatKey(bits uint64) uint64 {
	if f := math.Float64frombits(bits); f != f {
		return math.MaxUint64
	}
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func keyFloat(k uint64) float64 {
	switch {
	case k == math.MaxUint64:
		return math.NaN()
	case k>>63 != 0:
		return math.Float64frombits(k &^ (1 << 63))
	}
	return math.Float64frombits(^k)
}

// selectKey is the key that would be at a place if all were in order, which they are not afterwards. What is smaller is before it then. It
// counts the digits of the keys from the highest on, and goes on with those that have the digit of the one that is looked for.
func selectKey(keys []uint64, at int) uint64 {
	for shift := 56; ; shift -= 8 {
		if len(keys) <= fewKeys {
			return selectFew(keys, at)
		}
		// The digits that all have in common are skipped.
		all, any := keys[0], keys[0]
		for _, k := range keys {
			all &= k
			any |= k
		}
		if all == any {
			return all
		}
		for (all^any)>>shift&0xff == 0 {
			shift -= 8
		}
		var counts [256]int
		for _, k := range keys {
			counts[k>>shift&0xff]++
		}
		digit := 0
		for at >= counts[digit] {
			at -= counts[digit]
			digit++
		}
		// Those with the digit come first; the others are still needed when another rank is asked for.
		n := 0
		for i, k := range keys {
			if k>>shift&0xff == uint64(digit) {
				keys[n], keys[i] = k, keys[n]
				n++
			}
		}
		keys = keys[:n]
		if shift == 0 {
			return keys[0]
		}
	}
}

// fewKeys are put in order.
const fewKeys = 24

func selectFew(keys []uint64, at int) uint64 {
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for ; j > 0 && keys[j-1] > k; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
	return keys[at]
}
