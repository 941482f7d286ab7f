package vector

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The bits of floats, taken as unsigned numbers, grow with the float from +0 up to infinity and the NaNs above it,
// and with its size from -0 on: a range of floats is one, two or three ranges of integers.

// floatTest is a conjunction of bounds on a column of floats: from lo to hi, and NaN, which is greater than all, if nan.
type floatTest struct {
	c      maskCol
	id     plan.ColID
	lo, hi float64
	nan    bool
	preds  []plan.Expr
}

// addFloat folds a comparison of a float column with a literal into the column's bounds.
func (f *Front) addFloat(tests *[]*floatTest, x plan.Expr) bool {
	call, ok := x.(*plan.Call)
	if !ok || !call.Op.IsComparison() || call.Op == plan.Ne {
		return false
	}
	op, l, r := call.Op, call.Args[0], call.Args[1]
	if _, ok := l.(*plan.Const); ok {
		op, l, r = op.Mirror(), r, l
	}
	ref, ok1 := l.(*plan.Ref)
	k, ok2 := r.(*plan.Const)
	if !ok1 || !ok2 || k.V.Null || k.V.Type.Phys() != types.PhysF64 || math.IsNaN(k.V.F) {
		return false
	}
	var t *floatTest
	for _, o := range *tests {
		if o.id == ref.ID {
			t = o
		}
	}
	if t == nil {
		c, ok := f.floatCol(ref.ID)
		if !ok {
			return false
		}
		t = &floatTest{c: c, id: ref.ID, lo: math.Inf(-1), hi: math.Inf(1), nan: true}
		*tests = append(*tests, t)
	}
	t.preds = append(t.preds, x)
	v, below, above := k.V.F, math.Nextafter(k.V.F, math.Inf(-1)), math.Nextafter(k.V.F, math.Inf(1))
	switch op {
	case plan.Eq:
		t.lo, t.hi, t.nan = max(t.lo, v), min(t.hi, v), false
	case plan.Le:
		t.hi, t.nan = min(t.hi, v), false
	case plan.Lt:
		if v == math.Inf(-1) {
			t.lo = math.Inf(1)
		}
		t.hi, t.nan = min(t.hi, below), false
	case plan.Ge:
		t.lo = max(t.lo, v)
	case plan.Gt:
		if v == math.Inf(1) { // only NaN is greater
			t.hi = math.Inf(-1)
		}
		t.lo = max(t.lo, above)
	}
	return true
}

func (f *Front) floatCol(id plan.ColID) (maskCol, bool) {
	c, ok := f.scanCol(id)
	return c, ok && c.shape.Enc == column.EncF64 && c.d.Form == layout.F64
}

// bitRange is a stretch of unsigned numbers that may run over the largest to 0.
type bitRange struct{ lo, hi uint64 }

// bitRanges is which bits of a float of so many bytes lie in the bounds.
func (t *floatTest) bitRanges(width int) (out []bitRange) {
	sign, inf := uint64(1)<<63, math.Float64bits(math.Inf(1))
	bits := math.Float64bits
	lo, hi := t.lo, t.hi
	if width == 4 {
		sign, inf = 1<<31, uint64(math.Float32bits(float32(math.Inf(1))))
		bits = func(f float64) uint64 { return uint64(math.Float32bits(float32(f))) }
		lo, hi = inner32(lo, 1), inner32(hi, -1)
	}
	if lo <= 0 && lo <= hi { // what has the sign bit, from the one nearest to 0 on
		out = append(out, bitRange{bits(min(hi, 0)) | sign, bits(lo) | sign})
	}
	if hi >= 0 && lo <= hi {
		out = append(out, bitRange{bits(max(lo, 0)) &^ sign, bits(hi) &^ sign})
	}
	if t.nan {
		out = append(out, bitRange{inf + 1, sign - 1}, bitRange{sign + inf + 1, sign + sign - 1})
	}
	return joined(out, width)
}

// inner32 is the single nearest to f that is not beyond it, seen from inside of the bounds: above f if dir is 1.
func inner32(f float64, dir int) float64 {
	s := float32(f)
	if float64(s) != f && (float64(s) < f) == (dir > 0) {
		s = math.Nextafter32(s, float32(math.Inf(dir)))
	}
	return float64(s)
}

// joined puts ranges that follow each other together.
func joined(rs []bitRange, width int) []bitRange {
	mask := uint64(math.MaxUint64) >> (64 - 8*width)
	for again := true; again; {
		again = false
		for i := range rs {
			for j := range rs {
				if i != j && (rs[i].hi+1)&mask == rs[j].lo {
					rs[i].hi = rs[j].hi
					rs = append(rs[:j], rs[j+1:]...)
					again = true
					break
				}
			}
			if again {
				break
			}
		}
	}
	return rs
}

// floatMask is the test of folded bounds.
func (f *Front) floatMask(t *floatTest) maskTest {
	w := int(t.c.shape.Width)
	ranges := t.bitRanges(w)
	valid := f.notNull(t.c, false)
	m := maskTest{share: t.share(f), cost: t.c.cost() * float64(len(ranges))}
	m.say = func(n plan.Names) string { return "where " + n.And(t.preds) }
	m.mask = func(m, at ir.Reg) {
		valid(m, at)
		if len(ranges) == 0 {
			f.B.Mov(m, ir.K(0))
			return
		}
		hits, part := f.Int("hits"), f.Int("part")
		for i, r := range ranges {
			to := part
			if i == 0 {
				to = hits
			}
			f.array(t.c, at, func(codes ir.Mem, w int) {
				f.B.MaskRange(to, m.V(), ir.K(int64(r.lo)), ir.K(int64(r.hi-r.lo)), codes, w)
			})
			if i > 0 {
				f.B.Op2(ir.Or, hits, hits.V(), part.V())
			}
		}
		f.B.Mov(m, hits.V())
		f.B.Clear(part, hits)
	}
	return m
}

// share guesses how many rows pass, as if values were spread evenly.
func (t *floatTest) share(f *Front) float64 {
	st := f.stats(t.c)
	if !st.HasRange || !(st.Max.F > st.Min.F) || math.IsInf(st.Max.F-st.Min.F, 0) {
		return 0.3
	}
	lo, hi := max(t.lo, st.Min.F), min(t.hi, st.Max.F)
	return min(max((hi-lo)/(st.Max.F-st.Min.F), 0), 1)
}
