package types

// Int128 is a signed 128-bit integer, two's complement.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Value is one SQL value of a given type: a literal, a statistic, a result cell.
//
//	Bool, integers, dates and times: I
//	Enum:                            I, the number of the label
//	Decimal:                         I and Hi together, low and high half of the scaled integer (use Int128)
//	Float32, Float64:                F
//	Text, Bytes, UUID, List:         S
//	Interval:                        Months, Days in I (months<<32 | uint32(days)), microseconds in Hi
type Value struct {
	Type Type
	Null bool
	I    int64
	Hi   int64
	F    float64
	S    string
}

// Int128 is the scaled integer of a Decimal, or the value of an integer.
func (v Value) Int128() Int128 {
	if v.Type.Kind == Decimal {
		return Int128{uint64(v.I), v.Hi}
	}
	return Int128{uint64(v.I), v.I >> 63}
}

// Constructors for the common cases.
func NullOf(t Type) Value                { return Value{Type: t, Null: true} }
func BoolValue(b bool) Value             { return Value{Type: TBool, I: b2i(b)} }
func IntValue(t Type, i int64) Value     { return Value{Type: t, I: i} }
func FloatValue(t Type, f float64) Value { return Value{Type: t, F: f} }
func TextValue(s string) Value           { return Value{Type: TText, S: s} }
func DateValue(days int64) Value         { return Value{Type: TDate, I: days} }
func DecimalValue(t Type, x Int128) Value {
	return Value{Type: t, I: int64(x.Lo), Hi: x.Hi}
}
func IntervalValue(months, days int32, micros int64) Value {
	return Value{Type: TInterval, I: int64(months)<<32 | int64(uint32(days)), Hi: micros}
}

// IntervalParts takes an interval value apart.
func (v Value) IntervalParts() (months, days int32, micros int64) {
	return int32(v.I >> 32), int32(uint32(v.I)), v.Hi
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
