package windows

import (
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Sums of exact numbers are differences of sums from the beginning of the block. Those wrap around without harm, as long as
// the difference itself has room: 64 bits where ranges say so, else three words, of which the third catches what decimals
// of 38 digits may add up to.

// sum64 computes sums that fit 64 bits.
func (b *block) sum64(f *plan.WindowFunc) {
	v, out := b.column(f.Args[0]), b.results(f)
	e := b.extent(&f.Frame)
	if e != slides {
		b.partitions(func(lo, hi int) {
			sum, n, at := uint64(0), 0, lo
			b.run(e, lo, hi, func(from, to, end int) {
				for ; at < end; at++ {
					if !v.isNull(at) {
						sum += v.lo[at]
						n++
					}
				}
				null := byte(0)
				if n == 0 {
					null = 1
				}
				for i := from; i < to; i++ {
					out.lo[i], out.null[i] = sum, null
				}
			})
		})
		b.write(out)
		return
	}
	x, before := b.slide(f), b.counted(v)
	sums := take[uint64](b.room, b.n+1)
	sum := uint64(0)
	for i := range b.n {
		sums[i] = sum
		if !v.isNull(i) {
			sum += v.lo[i]
		}
	}
	sums[b.n] = sum
	b.each(func(lo, hi int) {
		if x.frame.Exclude == plan.ExcludeNone {
			for i := lo; i < hi; i++ {
				from, to := x.lo[i], x.hi[i]
				out.lo[i], out.null[i] = sums[to]-sums[from], 0
				if between(before, from, to) == 0 {
					out.null[i] = 1
				}
			}
			return
		}
		for i := lo; i < hi; i++ {
			p, q, self := b.parts(x, i)
			s := sums[p.hi] - sums[p.lo] + sums[q.hi] - sums[q.lo]
			if self {
				s += sums[i+1] - sums[i]
			}
			out.lo[i], out.null[i] = s, 0
			if b.within(before, x, i) == 0 {
				out.lo[i], out.null[i] = 0, 1
			}
		}
	})
	b.write(out)
}

// limbs is a number of 192 bits, the lowest first.
type limbs [3]uint64

func (a limbs) add(b limbs) (c limbs) {
	var carry uint64
	c[0], carry = bits.Add64(a[0], b[0], 0)
	c[1], carry = bits.Add64(a[1], b[1], carry)
	c[2], _ = bits.Add64(a[2], b[2], carry)
	return c
}

func (a limbs) sub(b limbs) (c limbs) {
	var borrow uint64
	c[0], borrow = bits.Sub64(a[0], b[0], 0)
	c[1], borrow = bits.Sub64(a[1], b[1], borrow)
	c[2], _ = bits.Sub64(a[2], b[2], borrow)
	return c
}

// limbs is the number of row i, zero for NULL.
func (v *values) limbs(i int) limbs {
	if v.isNull(i) {
		return limbs{}
	}
	hi := uint64(int64(v.lo[i]) >> 63)
	if v.hi != nil {
		hi = v.hi[i]
	}
	return limbs{v.lo[i], hi, uint64(int64(hi) >> 63)}
}

// sumWide computes sums of decimals.
func (b *block) sumWide(f *plan.WindowFunc) {
	v, out := b.column(f.Args[0]), b.results(f)
	limit := types.Pow10(types.MaxPrecision)
	set := func(i int, s limbs, n int) {
		if n == 0 {
			out.lo[i], out.hi[i], out.null[i] = 0, 0, 1
			return
		}
		x := types.Int128{Lo: s[0], Hi: int64(s[1])}
		if s[2] != uint64(x.Hi>>63) || x.Cmp(limit) >= 0 || x.Cmp(limit.Neg()) <= 0 {
			panic(diag.Errorf(diag.NumericOutOfRange, -1, "numeric field overflow").
				WithDetail("a sum has more than %d digits", types.MaxPrecision))
		}
		out.lo[i], out.hi[i], out.null[i] = s[0], s[1], 0
	}
	e := b.extent(&f.Frame)
	if e != slides {
		b.partitions(func(lo, hi int) {
			var sum limbs
			n, at := 0, lo
			b.run(e, lo, hi, func(from, to, end int) {
				for ; at < end; at++ {
					if !v.isNull(at) {
						sum = sum.add(v.limbs(at))
						n++
					}
				}
				for i := from; i < to; i++ {
					set(i, sum, n)
				}
			})
		})
		b.write(out)
		return
	}
	x, before := b.slide(f), b.counted(v)
	sums := take[limbs](b.room, b.n+1)
	sum := limbs{}
	for i := range b.n {
		sums[i] = sum
		sum = sum.add(v.limbs(i))
	}
	sums[b.n] = sum
	b.each(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, q, self := b.parts(x, i)
			s := sums[p.hi].sub(sums[p.lo]).add(sums[q.hi].sub(sums[q.lo]))
			if self {
				s = s.add(v.limbs(i))
			}
			set(i, s, int(b.within(before, x, i)))
		}
	})
	b.write(out)
}

// floats adds floating-point numbers up, in the order of the rows: nothing is ever taken away, which would leave errors
// of rounding, and infinities, behind.
type floats struct{ v *values }

func (s floats) of(i int) float64 {
	if s.v.isNull(i) {
		return s.none()
	}
	return math.Float64frombits(s.v.lo[i])
}

func (s floats) join(x, y float64) float64 { return x + y }

// none is what changes no number, not even the sign of a zero.
func (s floats) none() float64 { return math.Copysign(0, -1) }

// sumFloats computes sums of floating-point numbers.
func (b *block) sumFloats(f *plan.WindowFunc) {
	v, out := b.column(f.Args[0]), b.results(f)
	sums := take[float64](b.room, b.n)
	fold(b, f, floats{v}, sums)
	before := b.counted(v)
	single := out.f.Desc.Type.Kind == types.Float32
	var endless []int32
	for i, s := range sums {
		if single {
			s = float64(float32(s))
			sums[i] = s
		}
		if s-s != 0 && endless == nil {
			endless = b.endless(v)
		}
	}
	set := func(i int, count func(before []int32) int32) {
		s := sums[i]
		if s-s != 0 && count(endless) == 0 {
			panic(diag.Errorf(diag.NumericOutOfRange, -1, "value out of range: overflow"))
		}
		out.setFloat(i, s)
		out.null[i] = 0
		if count(before) == 0 {
			out.lo[i], out.null[i] = 0, 1
		}
	}
	if e := b.extent(&f.Frame); e != slides {
		b.partitions(func(lo, hi int) {
			b.run(e, lo, hi, func(from, to, end int) {
				for i := from; i < to; i++ {
					set(i, func(before []int32) int32 { return between(before, int32(lo), int32(end)) })
				}
			})
		})
	} else {
		x := b.slide(f)
		b.each(func(lo, hi int) {
			for i := lo; i < hi; i++ {
				set(i, func(before []int32) int32 { return b.within(before, x, i) })
			}
		})
	}
	b.write(out)
}

// endless are, for each row, how many values before it in the block are infinite or NaN.
func (b *block) endless(v *values) []int32 {
	before := take[int32](b.room, b.n+1)
	n := int32(0)
	for i := range b.n {
		before[i] = n
		if x := (floats{v}).of(i); x-x != 0 {
			n++
		}
	}
	before[b.n] = n
	return before
}
