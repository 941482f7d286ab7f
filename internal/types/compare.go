package types

import (
	"cmp"
	"math"
	"strings"
)

// Compare orders two values of comparable types: -1, 0 or 1. NULL equals NULL and is
// after everything, as ORDER BY wants it; NaN equals NaN and is after every number; texts
// go by bytes; numbers of different kinds by value.
func Compare(a, b Value) int {
	switch {
	case a.Null || b.Null:
		return int(b2i(a.Null) - b2i(b.Null))
	case a.Type.IsFloat() || b.Type.IsFloat():
		return CompareFloat(a.Float(), b.Float())
	}
	switch a.Type.Kind {
	case List, JSON, Struct, Map:
		if a.Type.Keyed() {
			a, b = OrderKey(a), OrderKey(b)
		}
		return strings.Compare(a.S, b.S)
	case Text, Unknown, Bytes, UUID:
		return strings.Compare(a.S, b.S)
	case Interval:
		am, ad, au := a.IntervalParts()
		bm, bd, bu := b.IntervalParts()
		return IntervalKey(am, ad, au).Cmp(IntervalKey(bm, bd, bu))
	case Date, Timestamp, TimestampTZ:
		if a.Type.Kind != b.Type.Kind {
			return compareDates(a, b)
		}
	}
	if a.Type.Kind == Decimal || b.Type.Kind == Decimal {
		return compareDecimal(a, b)
	}
	return cmp.Compare(a.I, b.I)
}

// CompareFloat orders doubles as PostgreSQL does: NaN last, -0 equal to 0.
func CompareFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case x == y:
		return 0
	}
	return int(b2i(math.IsNaN(x)) - b2i(math.IsNaN(y)))
}

// compareDates compares a DATE with a timestamp, of whatever kind, right even for dates beyond the
// timestamps.
func compareDates(a, b Value) int {
	split := func(v Value) (days, micros int64) {
		if v.IsInfinite() {
			v = infiniteAs(v, TDate)
		}
		if v.Type.Kind == Date {
			return v.I, 0
		}
		return SplitTimestamp(v.I)
	}
	ad, au := split(a)
	bd, bu := split(b)
	if ad != bd {
		return cmp.Compare(ad, bd)
	}
	return cmp.Compare(au, bu)
}

func compareDecimal(a, b Value) int {
	as, bs := a.scale(), b.scale()
	x, y := a.Int128(), b.Int128()
	if as == bs {
		return x.Cmp(y)
	}
	// Bring both to the larger scale; what does not fit is the larger in magnitude.
	var ok bool
	if as < bs {
		if x, ok = x.Mul(pow10[bs-as]); !ok {
			return a.Int128().Sign()
		}
	} else if y, ok = y.Mul(pow10[as-bs]); !ok {
		return -b.Int128().Sign()
	}
	return x.Cmp(y)
}

func (v Value) scale() int {
	if v.Type.Kind == Decimal {
		return int(v.Type.Scale)
	}
	return 0
}

// Float is the nearest double of any number.
func (v Value) Float() float64 {
	switch v.Type.Kind {
	case Float32, Float64:
		return v.F
	case Decimal:
		return DecimalFloat(v.Int128(), int(v.Type.Scale))
	}
	return float64(v.I)
}

// Equal reports whether two values are not distinct: equal, or both NULL.
func Equal(a, b Value) bool { return Compare(a, b) == 0 }
