package column

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/types"
)

// surveyInts finds range, order and width of an integer column.
func (p *sealing) surveyInts() {
	c := &p.c
	lo, hi, any := p.intRange()
	c.Width, c.Base = 8, 0
	if any {
		c.Zone.Min, c.Zone.Max = p.intValue(lo), p.intValue(hi)
		if p.opts.Narrow {
			c.Width, c.Base = frame(lo, hi)
		}
	} else if p.opts.Narrow {
		c.Width = 1
	}
	if p.sk != nil && any {
		p.sketchInts(lo, uint64(hi)-uint64(lo))
	}
}

// frame chooses width and base for a range. Base 0 is taken where it costs nothing.
func frame(lo, hi int64) (width uint8, base int64) {
	width = codeWidth(uint64(hi) - uint64(lo))
	switch {
	case width == 8:
		return 8, 0
	case lo >= 0 && codeWidth(uint64(hi)) == width:
		return width, 0
	}
	return width, lo
}

// intValue is x as a value of the column's type.
func (p *sealing) intValue(x int64) types.Value {
	if p.b.t.Kind == types.Decimal {
		return types.DecimalValue(p.b.t, types.FromInt64(x))
	}
	return types.IntValue(p.b.t, x)
}

// intRange also finds out whether the values are sorted: then the range is known
// without looking at each.
func (p *sealing) intRange() (lo, hi int64, any bool) {
	xs := p.b.ints
	if p.b.nNull > 0 {
		return p.intRangeNulls()
	}
	if len(xs) == 0 {
		return 0, 0, false
	}
	sorted, equal, prev := true, 0, xs[0]
	for _, x := range xs[1:] {
		if x < prev {
			sorted = false
			break
		}
		if x == prev {
			equal++
		}
		prev = x
	}
	if sorted {
		z := &p.c.Zone
		z.Sorted, z.Strict, z.Runs = true, equal == 0, len(xs)-equal
		return xs[0], xs[len(xs)-1], true
	}
	lo, hi = xs[0], xs[0]
	for _, x := range xs {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi, true
}

func (p *sealing) intRangeNulls() (lo, hi int64, any bool) {
	lo, hi = math.MaxInt64, math.MinInt64
	for i, x := range p.b.ints {
		if !p.b.isNull(i) {
			lo, hi = min(lo, x), max(hi, x)
			any = true
		}
	}
	return lo, hi, any
}

// sketchInts counts distinct values. A small range is counted by marking what occurs,
// which is cheaper than hashing each value; sorted values repeat next to each other.
func (p *sealing) sketchInts(lo int64, span uint64) {
	b := p.b
	if span < uint64(b.n) {
		s := &b.scratch
		if cap(s.seen) <= int(span) {
			s.seen = make([]bool, span+1)
		}
		seen := s.seen[:span+1]
		clear(seen)
		if b.nNull == 0 {
			for _, x := range b.ints {
				seen[x-lo] = true
			}
		} else {
			for i, x := range b.ints {
				if !b.isNull(i) {
					seen[x-lo] = true
				}
			}
		}
		for i, ok := range seen {
			if ok {
				p.sk.add(hashInt(uint64(lo + int64(i))))
			}
		}
		return
	}
	if b.nNull > 0 {
		for i, x := range b.ints {
			if !b.isNull(i) {
				p.sk.add(hashInt(uint64(x)))
			}
		}
		return
	}
	last, first := int64(0), true
	for _, x := range b.ints {
		if x != last || first {
			p.sk.add(hashInt(uint64(x)))
			last, first = x, false
		}
	}
}

func (p *sealing) writeInts(c *Chunk) {
	b := p.b
	switch c.Width {
	case 1:
		writeFrame(slice[uint8](c.Data, b.n), b, c.Base)
	case 2:
		writeFrame(slice[uint16](c.Data, b.n), b, c.Base)
	case 4:
		writeFrame(slice[uint32](c.Data, b.n), b, c.Base)
	default:
		copy(slice[int64](c.Data, b.n), b.ints)
	}
}

// writeFrame stores the codes of integers; those of NULLs are 0.
func writeFrame[T numbers](dst []T, b *Builder, base int64) {
	xs := b.ints[:len(dst)]
	for i, x := range xs {
		dst[i] = T(x - base)
	}
	for i, null := range b.nulls {
		if null != 0 {
			dst[i] = 0
		}
	}
}

// surveyWide finds range and order of 128-bit decimals.
func (p *sealing) surveyWide() {
	b := p.b
	at := func(i int) types.Int128 { return types.Int128{Lo: uint64(b.ints[i]), Hi: b.highs[i]} }
	order := newOrder(b.nNull == 0)
	var lo, hi types.Int128
	for i := range b.n {
		if b.isNull(i) {
			continue
		}
		x := at(i)
		if !order.any {
			lo, hi = x, x
		} else {
			order.next(at(i - 1).Cmp(x))
		}
		order.any = true
		if x.Cmp(lo) < 0 {
			lo = x
		}
		if x.Cmp(hi) > 0 {
			hi = x
		}
		if p.sk != nil {
			p.sk.add(hashI128(x))
		}
	}
	order.set(&p.c.Zone)
	if order.any {
		p.c.Zone.Min, p.c.Zone.Max = types.DecimalValue(b.t, lo), types.DecimalValue(b.t, hi)
	}
}

// surveyFloats finds range and order of floats; NaN is the largest.
func (p *sealing) surveyFloats() {
	b := p.b
	order := newOrder(b.nNull == 0)
	var lo, hi float64
	for i, x := range b.floats {
		if b.isNull(i) {
			continue
		}
		if !order.any {
			lo, hi = x, x
		} else if order.sorted {
			order.next(types.CompareFloat(b.floats[i-1], x))
		}
		order.any = true
		if !(x >= lo) && types.CompareFloat(x, lo) < 0 {
			lo = x
		}
		if !(x <= hi) && types.CompareFloat(x, hi) > 0 {
			hi = x
		}
		if p.sk != nil {
			p.sk.add(hashFloat(x))
		}
	}
	order.set(&p.c.Zone)
	if order.any {
		p.c.Zone.Min, p.c.Zone.Max = types.FloatValue(b.t, lo), types.FloatValue(b.t, hi)
	}
}

// surveyIntervals only counts: intervals have no zone.
func (p *sealing) surveyIntervals() {
	b := p.b
	for i := 0; p.sk != nil && i < b.n; i++ {
		if !b.isNull(i) {
			p.sk.add(hashInterval(b.ints[i], b.highs[i]))
		}
	}
}

// The hashes agree with SQL's equality: 0 and -0 are one value, all NaNs are, and a
// month is 30 days.
func hashFloat(x float64) uint64 {
	switch {
	case x == 0:
		x = 0
	case x != x:
		x = math.NaN()
	}
	return hashInt(math.Float64bits(x))
}

func hashI128(x types.Int128) uint64 {
	h := x.Lo
	if !x.FitsInt64() { // so that a value hashes alike in narrow and wide chunks
		h = fold(x.Lo^hashK0, uint64(x.Hi)^hashK1)
	}
	return hashInt(h)
}

func hashInterval(monthsDays, micros int64) uint64 {
	k := types.IntervalKey(int32(monthsDays>>32), int32(uint32(monthsDays)), micros)
	return hashI128(k)
}

// order watches whether values come in order.
type order struct {
	any, sorted bool
	equal, rows int
}

func newOrder(possible bool) order { return order{sorted: possible} }

// next takes the comparison of the previous value with this one.
func (o *order) next(c int) {
	o.sorted = o.sorted && c <= 0
	o.rows++
	if c == 0 {
		o.equal++
	}
}

func (o *order) set(z *Zone) {
	if o.any && o.sorted {
		z.Sorted, z.Strict, z.Runs = true, o.equal == 0, o.rows+1-o.equal
	}
}
