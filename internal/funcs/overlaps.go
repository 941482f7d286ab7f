package funcs

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Overlaps tells whether two spans of time, each given by its ends in any order, have a moment in common. The later end does not
// belong to a span, unless it is the only moment of it. Where an end is NULL, the answer may be known all the same.
var Overlaps = &plan.Function{Name: "overlaps", NullOut: true, Eval: overlaps}

// timeSpan is a span: its beginning, and its end unless that is not known.
type timeSpan struct {
	from, to int64
	open     bool // the end is NULL
}

func timeSpanOf(a, b types.Value) (s timeSpan, ok bool) {
	switch {
	case a.Null && b.Null:
		return s, false
	case a.Null:
		return timeSpan{from: b.I, open: true}, true
	case b.Null:
		return timeSpan{from: a.I, open: true}, true
	}
	return timeSpan{from: min(a.I, b.I), to: max(a.I, b.I)}, true
}

func overlaps(a []types.Value, t types.Type) (types.Value, error) {
	x, ok := timeSpanOf(a[0], a[1])
	y, too := timeSpanOf(a[2], a[3])
	if !ok || !too {
		return null(t)
	}
	if x.from > y.from {
		x, y = y, x
	}
	switch {
	case x.from == y.from && (x.open || y.open):
		return null(t)
	case x.from == y.from:
		return types.BoolValue(true), nil
	case x.open: // it may reach the other
		return null(t)
	case y.from < x.to:
		return types.BoolValue(true), nil
	case y.open:
		return null(t)
	}
	return types.BoolValue(false), nil
}
