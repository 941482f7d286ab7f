package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxSteps is a length that nobody waits for.
const maxSteps = 1 << 40

// SeriesLength is how many elements a series from the first argument to the second has, both included, by steps of the third:
// of integers, of decimals of one scale, or of timestamps with intervals between them.
var SeriesLength = &plan.Function{Name: "series_length", Strict: true, Fails: true, Eval: seriesLength}

// SeriesTime is element number i of a series of timestamps: its first, the step, i.
var SeriesTime = &plan.Function{Name: "series_time", Strict: true, Fails: true, Eval: seriesTime}

// SeriesNumber is element number i of a series of decimals: its first, the step, i.
var SeriesNumber = &plan.Function{Name: "series_number", Strict: true, Fails: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
	by, ok := a[1].Int128().Mul(types.FromInt64(a[2].I))
	if !ok {
		return types.Value{}, types.ErrOutOfRange(t)
	}
	return types.DecimalValue(t, a[0].Int128().Add(by)), nil
}}

// SeriesItem stands for an element of a series in a select list, one row each: from, to, step, and the zone if there is one. The binder
// puts another expression in its place, as for Unnest.
var SeriesItem = &plan.Function{Name: "generate_series", Strict: true, NullOut: true, Eval: func([]types.Value, types.Type) (types.Value, error) {
	return fail(diag.FeatureNotSupported, "generate_series is not supported here")
}}

func seriesLength(a []types.Value, t types.Type) (types.Value, error) {
	var n uint64
	var err error
	if a[0].Type.IsCalendar() {
		var z *types.Zone
		if z, err = zoneArg(a, 3); err == nil {
			n, err = timeSteps(a[0].I, a[1].I, a[2], z)
		}
	} else if a[0].Type.Kind == types.Decimal {
		n, err = decimalSteps(a[0].Int128(), a[1].Int128(), a[2].Int128())
	} else if a[2].I == 0 {
		err = errorf(diag.InvalidParameter, "step size cannot equal zero")
	} else {
		n = IntegerSteps(a[0].I, a[1].I, a[2].I)
	}
	if err == nil && n > maxSteps {
		err = diag.Unsupported(diag.NoPos, "a series of more than %d rows", int64(maxSteps))
	}
	return types.IntValue(t, int64(n)), err
}

// IntegerSteps is the number of integers from one to another, both included, by a step that is not zero.
func IntegerSteps(from, to, step int64) uint64 {
	width, by := uint64(to)-uint64(from), uint64(step)
	switch {
	case step > 0 && to < from || step < 0 && to > from:
		return 0
	case step < 0:
		width, by = -width, -by
	}
	if width == math.MaxUint64 && by == 1 {
		return width
	}
	return width/by + 1
}

// decimalSteps is IntegerSteps for decimals; a length that nobody waits for if it is longer.
func decimalSteps(from, to, step types.Int128) (uint64, error) {
	way := to.Sub(from)
	switch {
	case step.Sign() == 0:
		return 0, errorf(diag.InvalidParameter, "step size cannot equal zero")
	case way.Sign()*step.Sign() < 0:
		return 0, nil
	}
	if n, _ := way.DivRem(step); n.FitsInt64() {
		return n.Lo + 1, nil
	}
	return math.MaxUint64, nil
}

// zoneArg is the zone whose days count, if there is such an argument.
func zoneArg(a []types.Value, i int) (*types.Zone, error) {
	if len(a) <= i {
		return types.UTC, nil
	}
	return types.FindZone(a[i].S)
}

// timeSteps counts timestamps.
func timeSteps(from, to int64, step types.Value, z *types.Zone) (uint64, error) {
	if types.IsInfiniteTimestamp(from) || types.IsInfiniteTimestamp(to) {
		return 0, diag.Unsupported(diag.NoPos, "a series of timestamps without an end")
	}
	months, days, micros := step.IntervalParts()
	zero := types.IntervalKey(0, 0, 0)
	sign := types.IntervalKey(months, days, micros).Cmp(zero)
	if sign == 0 {
		return 0, errorf(diag.InvalidParameter, "step size cannot equal zero")
	}
	if by := int64(days)*86400e6 + micros; months == 0 && (days == 0 || z.IsUTC()) && (by > 0) == (sign > 0) {
		return IntegerSteps(from, to, by), nil
	}
	n := uint64(0)
	for at := from; sign > 0 && at <= to || sign < 0 && at >= to; n++ {
		next, err := z.AddInterval(at, months, days, micros)
		if err != nil || n > maxSteps {
			return n + 1, nil // the next would be beyond all timestamps
		}
		at = next
	}
	return n, nil
}

func seriesTime(a []types.Value, t types.Type) (types.Value, error) {
	months, days, micros := a[1].IntervalParts()
	at, n := a[0].I, a[2].I
	z, err := zoneArg(a, 3)
	if err != nil {
		return types.Value{}, err
	}
	if months == 0 && (days == 0 || z.IsUTC()) {
		return types.IntValue(t, at+n*(int64(days)*86400e6+micros)), nil
	}
	// A month later is the last day of a month that is too short, and the next month counts from there.
	for range n {
		if at, err = z.AddInterval(at, months, days, micros); err != nil {
			return types.Value{}, err
		}
	}
	return types.IntValue(t, at), nil
}

// longestRange is how many elements a list that range makes may have.
const longestRange = 1 << 24

// rangeList is range([from,] to [, step]) as a list, without its end.
func rangeList(a []types.Value, _ types.Type) (types.Value, error) {
	from, to, step := int64(0), a[0].I, int64(1)
	if len(a) > 1 {
		from, to = a[0].I, a[1].I
	}
	if len(a) > 2 {
		step = a[2].I
	}
	if step == 0 {
		return fail(diag.InvalidParameter, "step size cannot equal zero")
	}
	n := IntegerSteps(from, to, step)
	if n > 0 && int64(uint64(from)+(n-1)*uint64(step)) == to {
		n--
	}
	if n > longestRange {
		return fail(diag.ProgramLimitExceeded, "a list of more than %d elements; FROM range(…) has rows instead", int64(longestRange))
	}
	es := make([]types.Value, n)
	for i := range es {
		es[i] = types.IntValue(types.TInt64, from+int64(i)*step)
	}
	return types.ListValue(types.TInt64, es), nil
}

// rangeOfTimes is range(from, to, step) of timestamps as a list, without its end.
func rangeOfTimes(a []types.Value, t types.Type) (types.Value, error) {
	n, err := timeSteps(a[0].I, a[1].I, a[2], types.UTC)
	if err != nil {
		return types.Value{}, err
	}
	if n > longestRange {
		return fail(diag.ProgramLimitExceeded, "a list of more than %d elements; FROM range(…) has rows instead", int64(longestRange))
	}
	months, days, micros := a[2].IntervalParts()
	es := make([]types.Value, 0, n)
	for at := a[0].I; len(es) < int(n) && at != a[1].I; {
		es = append(es, types.IntValue(t.Elem(), at))
		if at, err = types.UTC.AddInterval(at, months, days, micros); err != nil {
			return types.Value{}, err
		}
	}
	return types.ListValue(t.Elem(), es), nil
}
