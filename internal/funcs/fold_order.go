package funcs

import (
	"math"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxTextResult is what PostgreSQL allows a text to be.
const maxTextResult = 1 << 30

func stringAgg(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	n := rows.Len()
	if n == 0 {
		return null(t)
	}
	size := 0
	eachText(rows, func(texts, seps []string) {
		for i, t := range texts {
			size += len(t) + len(seps[i])
		}
	})
	if size >= maxTextResult {
		return fail(diag.ProgramLimitExceeded, "the text has %d bytes, which is too many", size)
	}
	if err := rows.Room(int64(size)); err != nil {
		return types.Value{}, err
	}
	var b []byte
	if c, ok := rows.(plan.FoldColumns); ok {
		b = c.Scratch(size)
	}
	b = slices.Grow(b, size)
	eachText(rows, func(texts, seps []string) {
		for i, t := range texts {
			b = append(append(b, seps[i]...), t...)
		}
	})
	return text(unsafe.String(unsafe.SliceData(b), len(b)))
}

// eachText calls f with the texts of rows, some at a time, and what stands before each of them.
func eachText(rows plan.FoldRows, f func(texts, seps []string)) {
	const most = 256
	texts := func(arg, row, n int) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = rows.Value(row+i, arg).S // NULL has no bytes
		}
		return out
	}
	if c, ok := rows.(plan.FoldColumns); ok {
		texts = c.Texts
	}
	for lo := 0; lo < rows.Len(); lo += most {
		n := min(most, rows.Len()-lo)
		seps := texts(1, lo, n)
		if lo == 0 {
			seps[0] = ""
		}
		f(texts(0, lo, n), seps)
	}
}

// fraction checks the fraction of a percentile; ok is false where it is NULL.
func fraction(direct []types.Value) (f float64, ok bool, err error) {
	if direct[0].Null {
		return 0, false, nil
	}
	if f = direct[0].F; !(f >= 0 && f <= 1) {
		return 0, false, errorf(diag.NumericOutOfRange, "percentile value %g is not between 0 and 1", f)
	}
	return f, true, nil
}

// discrete is the place of a discrete percentile, continuous that of one that may lie between two values, and middle that of the median.
func discrete(n int, direct []types.Value) (plan.FoldRank, bool, error) {
	f, ok, err := fraction(direct)
	at := max(int(math.Ceil(f*float64(n))), 1) - 1
	return plan.FoldRank{Lo: at, Hi: at}, ok, err
}

func continuous(n int, direct []types.Value) (plan.FoldRank, bool, error) {
	f, ok, err := fraction(direct)
	at := f * float64(n-1)
	lo, hi := math.Floor(at), math.Ceil(at)
	return plan.FoldRank{Lo: int(lo), Hi: int(hi), Part: at - lo}, ok, err
}

func middle(n int, _ []types.Value) (plan.FoldRank, bool, error) {
	return continuous(n, []types.Value{types.FloatValue(tDouble, 0.5)})
}

// atRank is the value at a place of rows in order.
func atRank(rank func(n int, direct []types.Value) (plan.FoldRank, bool, error)) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, direct []types.Value, t types.Type) (types.Value, error) {
		r, ok, err := rank(rows.Len(), direct)
		if err != nil || !ok || rows.Len() == 0 {
			return types.NullOf(t), err
		}
		a := rows.Value(r.Lo, 0)
		if r.Lo == r.Hi {
			return a, nil
		}
		return between(a, rows.Value(r.Hi, 0), r.Part, t)
	}
}

// rankFold is an aggregate that is the value at a place.
func rankFold(name, params string, rank func(n int, direct []types.Value) (plan.FoldRank, bool, error), doc string) FoldRow {
	r := fold(name, params, tSame, plan.SkipNull, atRank(rank), doc)
	r.Fold.Ranked, r.Fold.Between = rank, between
	return r
}

// severalContinuous and severalDiscrete are percentiles at all places of a list, which is their direct argument.
var (
	severalContinuous = &plan.Fold{Name: "percentile_cont_list", Skips: plan.SkipNull, Eval: atRanks(continuous)}
	severalDiscrete   = &plan.Fold{Name: "percentile_disc_list", Skips: plan.SkipNull, Eval: atRanks(discrete)}
)

// several lets the fraction of an aggregate be a list.
func several(r FoldRow, list *plan.Fold) FoldRow {
	r.Several = list
	return r
}

// atRanks is atRank for each element of a list, and of lists in it.
func atRanks(rank func(n int, direct []types.Value) (plan.FoldRank, bool, error)) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	one := atRank(rank)
	var all func(rows plan.FoldRows, at types.Value, t types.Type) (types.Value, error)
	all = func(rows plan.FoldRows, at types.Value, t types.Type) (types.Value, error) {
		if at.Null || rows.Len() == 0 {
			return null(t)
		}
		if at.Type.Kind != types.List {
			return one(rows, []types.Value{at}, t)
		}
		var out []types.Value
		for _, x := range at.Elems() {
			v, err := all(rows, x, t.Elem())
			if err != nil {
				return v, err
			}
			out = append(out, v)
		}
		return types.ListValue(t.Elem(), out), nil
	}
	return func(rows plan.FoldRows, direct []types.Value, t types.Type) (types.Value, error) {
		return all(rows, direct[0], t)
	}
}

// between is the value at a part of the way from a to b.
func between(a, b types.Value, part float64, t types.Type) (types.Value, error) {
	switch t.Kind {
	case types.Timestamp, types.TimestampTZ:
		switch {
		case a.IsInfinite():
			return a, nil
		case b.IsInfinite():
			return b, nil
		}
		// The distance of two times may be more than an int64.
		at := uint64(a.I) + uint64(math.Round(part*float64(uint64(b.I)-uint64(a.I))))
		if b.I < a.I {
			at = uint64(a.I) - uint64(math.Round(part*float64(uint64(a.I)-uint64(b.I))))
		}
		return types.IntValue(t, int64(at)), nil
	case types.Interval:
		d, err := types.Sub(b, a, t)
		if err == nil {
			d, err = types.ScaleInterval(d, part, false)
		}
		if err != nil {
			return d, err
		}
		return types.Add(a, d, t)
	}
	return types.FloatValue(t, a.F+part*(b.F-a.F)), nil
}

// medianDeviation looks for the median of distances from the median among values in order: those below it, from the middle
// down, and those above it, from the middle up, are two lists in order.
func medianDeviation(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	m, err := atRank(middle)(rows, nil, t)
	if err != nil || m.Null {
		return m, err
	}
	n := rows.Len()
	up := 0
	for up < n && rows.Value(up, 0).F < m.F {
		up++
	}
	down := up - 1
	next := func() float64 {
		if down >= 0 && (up >= n || m.F-rows.Value(down, 0).F <= rows.Value(up, 0).F-m.F) {
			down--
			return m.F - rows.Value(down+1, 0).F
		}
		up++
		return rows.Value(up-1, 0).F - m.F
	}
	var last, d float64
	for range n/2 + 1 {
		last, d = d, next()
	}
	if n%2 == 0 {
		d = (last + d) / 2
	}
	return types.FloatValue(t, d), nil
}

// modeSorted is the most frequent of values that come in order.
func modeSorted(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	best, most := types.NullOf(t), 0
	for i, n := 0, rows.Len(); i < n; {
		v := rows.Value(i, 0)
		end := i + 1
		for end < n && types.Compare(v, rows.Value(end, 0)) == 0 {
			end++
		}
		if end-i > most {
			best, most = v, end-i
		}
		i = end
	}
	return best, nil
}

// countsFold counts equal values, which come one after the other; of no rows there is no map.
func countsFold(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	var keys, counts []types.Value
	for i, n := 0, rows.Len(); i < n; {
		v := rows.Value(i, 0)
		end := i + 1
		for end < n && types.Compare(v, rows.Value(end, 0)) == 0 {
			end++
		}
		keys, counts = append(keys, v), append(counts, types.IntValue(types.TInt64, int64(end-i)))
		i = end
	}
	if keys == nil {
		return null(t)
	}
	return types.MapValue(t, keys, counts)
}

// same is what equal values of a type have in common.
func same(v types.Value) types.Value {
	switch {
	case v.Type.IsFloat():
		v.I, v.F = int64(math.Float64bits(v.F+0)), 0
		if f := math.Float64frombits(uint64(v.I)); f != f {
			v.I = -1
		}
	case v.Type.Kind == types.Interval:
		months, days, micros := v.IntervalParts()
		k := types.IntervalKey(months, days, micros)
		v.I, v.Hi = int64(k.Lo), k.Hi
	}
	return v
}

// frequencies counts values.
func frequencies(rows plan.FoldRows) (counts map[types.Value]int, err error) {
	counts = map[types.Value]int{}
	const each = 128 // bytes of an entry, about
	for i := range rows.Len() {
		if i&1023 == 0 {
			if err := rows.Room(each * 1024); err != nil {
				return nil, err
			}
		}
		counts[same(rows.Value(i, 0))]++
	}
	return counts, nil
}

// modeFirst is the most frequent value, of several that which came first.
func modeFirst(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	counts, err := frequencies(rows)
	best, most := types.NullOf(t), 0
	for i := 0; err == nil && i < rows.Len(); i++ {
		v := rows.Value(i, 0)
		if n := counts[same(v)]; n > most {
			best, most = v, n
		}
	}
	return best, err
}

func entropy(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	n := float64(rows.Len())
	counts, err := frequencies(rows)
	if err != nil {
		return types.Value{}, err
	}
	// In the order of the rows, so that the rounding is always the same.
	sum := 0.0
	for i := range rows.Len() {
		k := same(rows.Value(i, 0))
		if c := counts[k]; c > 0 {
			p := float64(c) / n
			sum -= p * math.Log2(p)
			counts[k] = 0
		}
	}
	return double(sum)
}

// extremeArg is the first argument where the second is extreme.
func extremeArg(sign int) func(plan.FoldRows, []types.Value, types.Type) (types.Value, error) {
	return func(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
		if rows.Len() == 0 {
			return null(t)
		}
		if c, ok := rows.(plan.FoldColumns); ok {
			if xs := c.Integers(1); xs != nil {
				return rows.Value(extremeAt(xs, sign), 0), nil
			}
		}
		at, best := 0, rows.Value(0, 1)
		for i := 1; i < rows.Len(); i++ {
			if v := rows.Value(i, 1); types.Compare(v, best)*sign > 0 {
				at, best = i, v
			}
		}
		return rows.Value(at, 0), nil
	}
}

// extremeAt is where the first of the extreme numbers is.
func extremeAt(xs []int64, sign int) (at int) {
	for i, x := range xs {
		if sign > 0 && x > xs[at] || sign < 0 && x < xs[at] {
			at = i
		}
	}
	return at
}

func firstRow(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	return rows.Value(0, 0), nil
}

func lastRow(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	return rows.Value(rows.Len()-1, 0), nil
}
