package windows

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// RANGE with a distance: a frame begins with the first row whose key is not before the current key moved by the distance, and
// ends with the last that is not after it. NULLs are near to NULLs only.

// rangeBound finds bounds that are a distance away from the sort key.
func (b *block) rangeBound(f *plan.Frame, at *plan.FrameBound, out []int32, end bool) {
	key := b.column(f.Key)
	lows, highs := b.peerBounds()
	later := (at.Kind == plan.Following) != f.Desc // the key grows by the distance
	var moved func(i int)                          // computes the bound of row i …
	var cmp func(j int) (int, bool)                // … with which the key of row j is compared; false: it is within, whatever it is
	switch off := at.Offset; {
	case key.f.Desc.Form == layout.F64:
		var x float64
		var open bool // infinity was taken from infinity: all keys are that near, as PostgreSQL says
		moved = func(i int) {
			k := math.Float64frombits(key.lo[i])
			if x = k + off.F; !later {
				x = k - off.F
			}
			open = x != x && k == k
		}
		cmp = func(j int) (int, bool) {
			k, y := sorting.OrderedFloat(math.Float64frombits(key.lo[j])), sorting.OrderedFloat(x)
			return compare(k, y), !open
		}
	case key.f.Desc.Type.Kind == types.Timestamp, key.f.Desc.Type.Kind == types.TimestampTZ:
		months, days, micros := off.IntervalParts()
		if !later {
			months, days, micros = -months, -days, -micros
		}
		var x int64
		moved = func(i int) {
			ts := int64(key.lo[i])
			var err error
			if x, err = types.AddInterval(ts, months, days, micros); err != nil {
				panic(diag.Errorf(diag.DatetimeOverflow, -1, "timestamp out of range"))
			}
		}
		cmp = func(j int) (int, bool) { return compare(int64(key.lo[j]), x), true }
	case key.f.Desc.Form == layout.Ivl:
		months, days, micros := off.IntervalParts()
		if !later {
			months, days, micros = -months, -days, -micros
		}
		var x types.Int128
		moved = func(i int) {
			v := types.Value{Type: types.TInterval, I: int64(key.lo[i]), Hi: int64(key.hi[i])}
			m, d, u := v.IntervalParts()
			x = types.IntervalKey(m+months, d+days, u+micros)
		}
		cmp = func(j int) (int, bool) {
			v := types.Value{Type: types.TInterval, I: int64(key.lo[j]), Hi: int64(key.hi[j])}
			return types.IntervalKey(v.IntervalParts()).Cmp(x), true
		}
	default:
		d := off.Int128()
		if !later {
			d = d.Neg()
		}
		number := func(i int) types.Int128 {
			if key.hi != nil {
				return types.Int128{Lo: key.lo[i], Hi: int64(key.hi[i])}
			}
			return types.FromInt64(int64(key.lo[i]))
		}
		var x types.Int128
		moved = func(i int) { x = number(i).Add(d) }
		cmp = func(j int) (int, bool) { return number(j).Cmp(x), true }
	}
	b.partitions(func(lo, hi int) {
		// NULLs are at one end.
		first, last := lo, hi
		for first < hi && key.isNull(first) {
			first++
		}
		for last > first && key.isNull(last-1) {
			last--
		}
		for i := lo; i < hi; i++ {
			if key.isNull(i) {
				if out[i] = lows[i]; end {
					out[i] = highs[i]
				}
			}
		}
		j := first
		for i := first; i < last; i++ {
			moved(i)
			for j < last {
				c, ok := cmp(j)
				if !ok { // all rows are within
					if end {
						j = last
					}
					break
				}
				if f.Desc {
					c = -c
				}
				if end && c > 0 || !end && c >= 0 {
					break
				}
				j++
			}
			out[i] = int32(j)
		}
	})
}

func compare[T uint64 | int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
