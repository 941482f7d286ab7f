package types

import "math"

// CanCast reports whether a cast from one type to another exists at all. Any
// particular value may still fail.
func CanCast(from, to Type) bool {
	switch {
	case from.Kind == List && to.Kind == List:
		return CanCast(from.Elem(), to.Elem())
	case from.Kind == Struct && to.Kind == Struct:
		return canCastStruct(from, to)
	case from.Kind == Map && to.Kind == Map:
		return CanCast(from.Elem(), to.Elem())
	case from.Kind == Enum && to.Kind == Enum:
		return sameEnum(from, to)
	case from.IsNested() && to.Kind == JSON, from.Kind == JSON && to.IsNested(), isJSONScalar(from, to):
		return true
	case from.Kind == to.Kind, from.Kind == Unknown, from.Kind == Text, to.Kind == Text:
		return to.Kind != Unknown
	case from.IsNumeric() && to.IsNumeric():
		return true
	case from.Kind == Bool:
		return to.IsInteger()
	case to.Kind == Bool:
		return from.IsInteger()
	case from.Kind == Date:
		return to.IsCalendar()
	case from.IsCalendar():
		return to.IsCalendar() || to.Kind == Time || from.Kind == TimestampTZ && to.Kind == TimeTZ
	case from.Kind == Time:
		return to.Kind == Interval || to.Kind == TimeTZ
	case from.Kind == TimeTZ:
		return to.Kind == Time
	case from.Kind == Interval:
		return to.Kind == Time
	}
	return false
}

// Cast converts v as CAST does: texts are cut to VARCHAR(n); floats round half to
// even, decimals half away from zero; what does not fit is an error.
func Cast(v Value, to Type) (Value, error) {
	if to.Kind == Text && v.Type.Kind == Text && !v.Null && to.Len > 0 {
		cut, _ := cutText(v.S, int(to.Len))
		return Value{Type: to, S: cut}, nil
	}
	return Assign(v, to)
}

// Assign converts v as storing it in a column of type to does: like Cast, except
// that a text too long for its VARCHAR(n) is an error.
func Assign(v Value, to Type) (Value, error) {
	from := v.Type
	if !CanCast(from, to) {
		return Value{}, errf(codeCannotCoerce, "cannot cast type %s to %s", from.SQLName(), to.SQLName())
	}
	switch {
	case v.Null:
		return NullOf(to), nil
	case from == to:
		return v, nil
	case from.Kind == Text || from.Kind == Unknown:
		return ParseValue(to, v.S)
	}
	if isJSONScalar(from, to) {
		return castJSONScalar(v, to)
	}
	if v.IsInfinite() && to.IsCalendar() {
		return infiniteAs(v, to), nil
	}
	switch to.Kind {
	case JSON:
		if from.IsNested() {
			return parseJSON(to, string(ToJSON(nil, v)))
		}
		return parseJSON(to, v.S) // of the other kind
	case List, Struct, Map:
		switch {
		case from.Kind == JSON:
			return jsonNested(v, to)
		case to.Kind == Struct:
			return castStruct(v, to, Cast)
		case to.Kind == Map:
			return castMap(v, to)
		}
		return castList(v, to)
	case Text:
		return parseText(to, v.String())
	case Enum:
		return castEnum(v, to)
	case Bool:
		return BoolValue(v.I != 0), nil
	case Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64:
		return castInt(v, to)
	case Decimal:
		return castDecimal(v, to)
	case Float32:
		return castReal(v.Float())
	case Float64:
		return FloatValue(to, v.Float()), nil
	case Date:
		days, _ := SplitTimestamp(v.I)
		return DateValue(days), nil
	case Timestamp, TimestampTZ: // in UTC: the binder takes another zone into account before
		if from.Kind != Date {
			return IntValue(to, v.I), nil
		}
		ts, err := DateToTimestamp(v.I)
		return IntValue(to, ts), err
	case TimeTZ:
		return ClockIn(UTC, v)
	case Time:
		if from.Kind == TimeTZ {
			local, _ := SplitTimeTZ(v.I)
			return IntValue(to, local), nil
		}
		if from.Kind == Interval {
			return IntValue(to, TimeOfInterval(v)), nil
		}
		if v.IsInfinite() {
			return NullOf(to), nil
		}
		_, us := SplitTimestamp(v.I)
		return IntValue(to, us), nil
	case Interval:
		return IntervalValue(0, 0, v.I), nil
	}
	return v, nil
}

func castInt(v Value, to Type) (Value, error) {
	i := v.I
	switch v.Type.Kind {
	case Float32, Float64:
		f := math.RoundToEven(v.F)
		if !(f >= -0x1p63 && f < 0x1p63) {
			return Value{}, ErrOutOfRange(to)
		}
		i = int64(f)
	case Decimal:
		x, _ := Rescale(v.Int128(), int(v.Type.Scale), 0)
		if !x.FitsInt64() {
			return Value{}, ErrOutOfRange(to)
		}
		i = int64(x.Lo)
	}
	if lo, hi := intRange(to); i < lo || i > hi {
		return Value{}, ErrOutOfRange(to)
	}
	return IntValue(to, i), nil
}

func castDecimal(v Value, to Type) (Value, error) {
	if v.Type.IsFloat() {
		size := 64
		if v.Type.Kind == Float32 {
			size = 32
		}
		x, err := FloatDecimal(v.F, to, size)
		return DecimalValue(to, x), err
	}
	x, ok := Rescale(v.Int128(), v.scale(), int(to.Scale))
	if !ok || !FitsDecimal(x, to) {
		return Value{}, ErrOutOfRange(to)
	}
	return DecimalValue(to, x), nil
}

// castReal rounds to single precision; what becomes infinite or zero by it is an error.
func castReal(f float64) (Value, error) {
	r := float64(float32(f))
	switch {
	case math.IsInf(r, 0) && !math.IsInf(f, 0):
		return Value{}, errOverflow
	case r == 0 && f != 0:
		return Value{}, errUnderflow
	}
	return FloatValue(TFloat32, r), nil
}
