package layout

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Form is how a value is held in registers and tuples. It is narrower than its
// SQL type where more is known than the type says.
type Form uint8

const (
	I64  Form = iota // an integer register: booleans, integers, dates, timestamps, decimals whose range fits
	I128             // two integer registers, low first
	F64              // a float register
	Str              // address and length of bytes that outlive the query's use of them
	Code             // a Text as the code of a dictionary entry
	Ivl              // months<<32|days, microseconds
)

// Words is how many 8-byte words a form takes.
func (f Form) Words() int {
	switch f {
	case I128, Str, Ivl:
		return 2
	}
	return 1
}

func (f Form) String() string { return [...]string{"i64", "i128", "f64", "str", "code", "ivl"}[f] }

// Range bounds an integer-like value. The zero Range is unknown.
type Range struct {
	Known  bool
	Lo, Hi types.Int128
}

// Between makes a range from 64-bit bounds.
func Between(lo, hi int64) Range {
	return Range{true, types.FromInt64(lo), types.FromInt64(hi)}
}

// Fits64 reports that every value fits a signed 64-bit register.
func (r Range) Fits64() bool { return r.Known && r.Lo.FitsInt64() && r.Hi.FitsInt64() }

// Within reports that the range is known and lies inside of another.
func (r Range) Within(s Range) bool {
	return r.Known && s.Known && r.Lo.Cmp(s.Lo) >= 0 && r.Hi.Cmp(s.Hi) <= 0
}

// Span is the number of values in the range, 0 when unknown or beyond max.
func (r Range) Span(max int64) int64 {
	if !r.Fits64() {
		return 0
	}
	lo, hi := int64(r.Lo.Lo), int64(r.Hi.Lo)
	if d := uint64(hi) - uint64(lo); d < uint64(max) {
		return int64(d) + 1
	}
	return 0
}

// Add, Sub, Mul, Neg and Union are interval arithmetic; they give an unknown range when
// even 128 bits could overflow.
func (r Range) Add(s Range) Range {
	lo, ok1 := r.Lo.AddOK(s.Lo)
	hi, ok2 := r.Hi.AddOK(s.Hi)
	return Range{r.Known && s.Known && ok1 && ok2, lo, hi}
}

func (r Range) Neg() Range {
	lo, ok1 := types.Int128{}.SubOK(r.Hi)
	hi, ok2 := types.Int128{}.SubOK(r.Lo)
	return Range{r.Known && ok1 && ok2, lo, hi}
}

func (r Range) Sub(s Range) Range { return r.Add(s.Neg()) }

func (r Range) Mul(s Range) Range {
	if !r.Known || !s.Known {
		return Range{}
	}
	out := Range{Known: true}
	for i, p := range [4][2]types.Int128{{r.Lo, s.Lo}, {r.Lo, s.Hi}, {r.Hi, s.Lo}, {r.Hi, s.Hi}} {
		x, ok := p[0].Mul(p[1])
		if !ok {
			return Range{}
		}
		if i == 0 || x.Cmp(out.Lo) < 0 {
			out.Lo = x
		}
		if i == 0 || x.Cmp(out.Hi) > 0 {
			out.Hi = x
		}
	}
	return out
}

func (r Range) Union(s Range) Range {
	if !r.Known || !s.Known {
		return Range{}
	}
	if s.Lo.Cmp(r.Lo) < 0 {
		r.Lo = s.Lo
	}
	if s.Hi.Cmp(r.Hi) > 0 {
		r.Hi = s.Hi
	}
	return r
}

// Intersect narrows r by s, where both are known to hold.
func (r Range) Intersect(s Range) Range {
	if !r.Known {
		return s
	}
	if !s.Known {
		return r
	}
	if s.Lo.Cmp(r.Lo) > 0 {
		r.Lo = s.Lo
	}
	if s.Hi.Cmp(r.Hi) < 0 {
		r.Hi = s.Hi
	}
	return r
}

// Desc is what is known of a value at compile time.
type Desc struct {
	Type     types.Type
	Form     Form
	Nullable bool
	Range    Range        // forms I64 and I128, and Code (of the codes)
	Dict     *column.Dict // form Code
}

// TypeRange is what a type alone says about its values.
func TypeRange(t types.Type) Range {
	switch t.Kind {
	case types.Bool:
		return Between(0, 1)
	case types.Int8, types.UInt8, types.Int16, types.UInt16, types.Int32, types.UInt32, types.Int64:
		return Between(types.IntRange(t))
	case types.Date:
		return Between(-types.InfiniteDate, types.InfiniteDate)
	case types.Enum:
		return Between(0, max(0, int64(len(t.Labels()))-1))
	case types.Time:
		return Between(0, types.MicrosPerDay)
	case types.TimeTZ:
		return Between(types.MinTimeTZ, types.MaxTimeTZ)
	case types.Timestamp, types.TimestampTZ:
		return Between(-types.InfiniteTimestamp, types.InfiniteTimestamp)
	case types.Decimal:
		lo, hi := types.DecimalRange(t)
		return Range{true, lo, hi}
	}
	return Range{}
}

// FiniteRange is TypeRange without the infinite dates and timestamps.
func FiniteRange(t types.Type) Range {
	switch t.Kind {
	case types.Date:
		return Between(types.MinDate, types.MaxDate)
	case types.Timestamp, types.TimestampTZ:
		return Between(types.MinTimestamp, types.MaxTimestamp)
	}
	return TypeRange(t)
}

// FormOf is the form of a value of type t with the given range.
func FormOf(t types.Type, r Range) Form {
	switch t.Phys() {
	case types.PhysF64:
		return F64
	case types.PhysStr:
		return Str
	case types.PhysIvl:
		return Ivl
	}
	if t.Kind == types.Decimal && !r.Fits64() {
		return I128
	}
	return I64
}
