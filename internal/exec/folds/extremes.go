package folds

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// arg_min and arg_max, where what is compared is one word and groups have slots: the row that is best so far stands in the slot, and nobody brings the
// rows of a group together.

// found is the best row of a slot.
type found struct {
	row  uint64 // its address, 0: there is none
	rank int64  // greater is better
}

// findsWord reports an aggregate that finds the row with the least or the greatest word.
func (a *agg) findsWord() bool {
	if a.Fold.Extreme == 0 {
		return false
	}
	form := a.args[1].Field().Desc.Form
	return form == layout.I64 || form == layout.F64
}

// find looks at rows of slots. Of equal ones the first is found.
func (r *running) find(in input, best []found, rows []uintptr, slots []uint64) {
	words := r.words[:len(rows)]
	in.args[1].Words(rows, words)
	if in.args[1].Field().Desc.Form == layout.F64 {
		for i, w := range words {
			words[i] = uint64(rankOfFloat(math.Float64frombits(w)))
		}
	}
	flip := int64(0)
	if in.Fold.Extreme < 0 {
		flip = -1 // the complement has the opposite order
	}
	for i, w := range words {
		rank := int64(w) ^ flip
		if b := &best[slots[i]]; b.row == 0 || rank > b.rank {
			*b = found{uint64(rows[i]), rank}
		}
	}
}

// rankOfFloat is a number in the order of doubles: zeros are equal, and NaN is above all others.
func rankOfFloat(x float64) int64 {
	switch {
	case x != x:
		return math.MaxInt64
	case x == 0:
		return 0
	}
	b := int64(math.Float64bits(x))
	if b < 0 {
		b = math.MinInt64 - b
	}
	return b
}

// putFound writes an aggregate of a slot to the tuple at to: parts have the rows of stretches, of which the first comes first.
func (f *folder) putFound(parts []*running, input, slot int, to uintptr) {
	var best found
	for _, p := range parts {
		if o := p.found[input][slot]; o.row != 0 && (best.row == 0 || o.rank > best.rank) {
			best = o
		}
	}
	a := f.inputs[input].agg
	if best.row == 0 {
		compute.Put(to, a.to, types.NullOf(a.to.Desc.Type), f.Zero)
		return
	}
	a.args[0].Copy(uintptr(best.row), to, a.to, f.Zero)
}
