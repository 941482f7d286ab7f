package windows

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Functions whose value is that of some row first find out which; then values are copied.

const (
	noRow      = -1 // NULL
	defaultRow = -2 // the default of lag and lead
)

// pick writes the values of the rows.
func (b *block) pick(f *plan.WindowFunc, rows []int32) {
	out := b.results(f)
	from := b.as(b.column(f.Args[0]), out.f)
	other := from
	if len(f.Args) == 3 {
		other = b.as(b.column(f.Args[2]), out.f)
	}
	b.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v, k := from, int(rows[i])
			if k == defaultRow {
				v, k = other, i
			}
			if k < 0 || v.isNull(k) {
				out.lo[i], out.null[i] = 0, 1
				if out.hi != nil {
					out.hi[i] = 0
				}
				if out.f.Desc.Form == layout.Str {
					out.lo[i] = uint64(b.c.Zero)
				}
				continue
			}
			out.lo[i], out.null[i] = v.lo[k], 0
			if out.hi != nil {
				out.hi[i] = v.hi[k]
			}
		}
	})
	b.write(out)
}

// shifted computes lag and lead.
func (b *block) shifted(f *plan.WindowFunc) {
	rows := take[int32](b.room, b.n)
	missing := int32(noRow)
	if len(f.Args) == 3 {
		missing = defaultRow
	}
	by := func(int) (int64, bool) { return 1, true }
	if len(f.Args) > 1 {
		v := b.column(f.Args[1])
		by = func(i int) (int64, bool) { return int64(v.lo[i]), !v.isNull(i) }
	}
	sign := int64(1)
	if f.Func == plan.Lag {
		sign = -1
	}
	if f.IgnoreNulls {
		b.shiftedValues(f, rows, missing, sign, by)
		b.pick(f, rows)
		return
	}
	b.partitions(func(lo, hi int) {
		if len(f.Args) < 2 {
			shiftByOne(rows[lo:hi], int32(lo), int(sign), missing)
			return
		}
		for i := lo; i < hi; i++ {
			d, ok := by(i)
			switch d = max(min(d, math.MaxInt32), -math.MaxInt32); {
			case !ok:
				rows[i] = noRow
			default:
				if k := int64(i) + sign*d; k >= int64(lo) && k < int64(hi) {
					rows[i] = int32(k)
				} else {
					rows[i] = missing
				}
			}
		}
	})
	b.pick(f, rows)
}

// shiftByOne points each row of a partition, the first of which is row lo, to its neighbour.
func shiftByOne(rows []int32, lo int32, d int, missing int32) {
	for i := range rows {
		rows[i] = lo + int32(i+d)
	}
	if d < 0 {
		rows[0] = missing
	} else {
		rows[len(rows)-1] = missing
	}
}

// shiftedValues is lag and lead over rows whose value is not NULL.
func (b *block) shiftedValues(f *plan.WindowFunc, rows []int32, missing int32, sign int64, by func(int) (int64, bool)) {
	v := b.column(f.Args[0])
	var at []int32
	b.partitions(func(lo, hi int) {
		at = at[:0]
		for i := lo; i < hi; i++ {
			if !v.isNull(i) {
				at = append(at, int32(i))
			}
		}
		before := 0 // of at, those before row i
		for i := lo; i < hi; i++ {
			d, ok := by(i)
			d = sign * max(min(d, math.MaxInt32), -math.MaxInt32)
			k := int64(before) + d
			if d > 0 && v.isNull(i) { // the next is the first after the row
				k--
			}
			switch {
			case !ok:
				rows[i] = noRow
			case d == 0:
				rows[i] = int32(i)
			case k < 0 || k >= int64(len(at)):
				rows[i] = missing
			default:
				rows[i] = at[k]
			}
			if !v.isNull(i) {
				before++
			}
		}
	})
}

// valueOf computes first_value, last_value and nth_value.
func (b *block) valueOf(f *plan.WindowFunc) {
	rows := take[int32](b.room, b.n)
	x := b.frame(&f.Frame)
	value := b.column(f.Args[0])
	var nth *values
	if f.Func == plan.NthValue {
		nth = b.column(f.Args[1])
	}
	if x.frame.Exclude >= plan.ExcludeGroup {
		b.peerBounds()
	}
	// Rows with values have numbers of their own: number(i) are those before row i, at is where each is.
	number := func(i int32) int32 { return i }
	at := number
	if f.IgnoreNulls && value.null != nil {
		list, before := take[int32](b.room, b.n)[:0], take[int32](b.room, b.n+1)
		for i := range b.n {
			before[i] = int32(len(list))
			if value.null[i] == 0 {
				list = append(list, int32(i))
			}
		}
		before[b.n] = int32(len(list))
		number = func(i int32) int32 { return before[i] }
		at = func(i int32) int32 { return list[i] }
	}
	b.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, q, self := b.parts(x, i)
			p, q = part{number(p.lo), number(p.hi)}, part{number(q.lo), number(q.hi)}
			me := part{number(int32(i)), number(int32(i))}
			if self {
				me.hi = number(int32(i) + 1)
			}
			one, two, three := p.hi-p.lo, me.hi-me.lo, q.hi-q.lo
			n := int64(1) // the place of the row
			switch f.Func {
			case plan.LastValue:
				n = int64(one + two + three)
			case plan.NthValue:
				if nth.isNull(i) {
					rows[i] = noRow
					continue
				}
				if n = int64(nth.lo[i]); n <= 0 {
					panic(diag.Errorf(diag.InvalidNthValue, -1, "argument of nth_value must be greater than zero"))
				}
			}
			switch n--; {
			case n < 0 || n >= int64(one+two+three):
				rows[i] = noRow
			case n < int64(one):
				rows[i] = at(p.lo + int32(n))
			case n < int64(one+two):
				rows[i] = at(me.lo)
			default:
				rows[i] = at(q.lo + int32(n) - one - two)
			}
		}
	})
	b.pick(f, rows)
}
