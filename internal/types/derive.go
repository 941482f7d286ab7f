package types

import "math"

// The types of computed values. The binder asks here; generated code and
// constant folding rely on the answers.

// DecimalRange is the least and the largest number that a decimal type has at its scale.
func DecimalRange(t Type) (lo, hi Int128) {
	if t == TUInt64 {
		return Int128{}, Int128{Lo: math.MaxUint64}
	}
	hi = pow10[t.Prec].Sub(FromInt64(1))
	return hi.Neg(), hi
}

// FitsDecimal reports that a decimal type has a number.
func FitsDecimal(x Int128, t Type) bool {
	lo, hi := DecimalRange(t)
	return x.Cmp(lo) >= 0 && x.Cmp(hi) <= 0
}

// AsDecimal is the DECIMAL that holds every value of a decimal or integer type:
// SMALLINT is DECIMAL(5,0), INTEGER DECIMAL(10,0), BIGINT DECIMAL(19,0).
func AsDecimal(t Type) (Type, bool) {
	switch t.Kind {
	case Int8, UInt8:
		return TDecimal(3, 0), true
	case Int16, UInt16:
		return TDecimal(5, 0), true
	case Int32, UInt32:
		return TDecimal(10, 0), true
	case Int64:
		return TDecimal(19, 0), true
	case Decimal:
		return t.Signed(), true
	}
	return Type{}, false
}

// decimalOf clamps to 38 digits, the scale's digits before the integer's.
func decimalOf(intDigits, scale int) Type {
	if scale > MaxPrecision {
		scale = MaxPrecision
	}
	return TDecimal(max(1, min(MaxPrecision, intDigits+scale)), scale)
}

// CommonType is the type to which both operands of a comparison, the branches of
// a CASE or the columns of a UNION are brought. Unknown adopts the other side.
// Text agrees only with Text: a literal is Unknown or Text to the binder, which casts
// literals to the other side's type itself.
func CommonType(a, b Type) (Type, bool) {
	switch {
	case a == b:
		return a, true
	case a.Kind == Unknown:
		return b, true
	case b.Kind == Unknown:
		return a, true
	case a.IsNumeric() && b.IsNumeric():
		return commonNumeric(a, b), true
	case a.Kind == List && b.Kind == List:
		elem, ok := CommonType(a.Elem(), b.Elem())
		return TList(elem), ok
	case a.Kind == Struct && b.Kind == Struct:
		return commonStruct(a, b)
	case a.Kind == Map && b.Kind == Map:
		x, y := a.Fields(), b.Fields()
		key, ok := CommonType(x[0].Type, y[0].Type)
		value, ok2 := CommonType(x[1].Type, y[1].Type)
		return TMap(key, value), ok && ok2
	case a.Kind == Text && b.Kind == Text:
		if a.Len == 0 || b.Len == 0 {
			return TText, true
		}
		return Type{Kind: Text, Len: max(a.Len, b.Len)}, true
	case a.IsCalendar() && b.IsCalendar():
		if a.Kind == TimestampTZ || b.Kind == TimestampTZ {
			return TTimestampTZ, true
		}
		return TTimestamp, true
	case a.Kind == Time && b.Kind == TimeTZ || a.Kind == TimeTZ && b.Kind == Time:
		return TTimeTZ, true
	case a.Kind == Time && b.Kind == Interval || a.Kind == Interval && b.Kind == Time:
		return TInterval, true
	}
	return Type{}, false
}

func commonNumeric(a, b Type) Type {
	switch {
	case a.IsFloat() || b.IsFloat():
		if a.Kind == Float32 && b.Kind == Float32 {
			return TFloat32
		}
		return TFloat64
	case a.IsInteger() && b.IsInteger():
		return commonInteger(a, b)
	}
	x, _ := AsDecimal(a)
	y, _ := AsDecimal(b)
	return decimalOf(max(int(x.Prec)-int(x.Scale), int(y.Prec)-int(y.Scale)), int(max(x.Scale, y.Scale)))
}

// commonInteger is the one of two types that covers the other or, as in DuckDB, the smallest with a sign that covers both.
func commonInteger(a, b Type) Type {
	switch {
	case a.Covers(b):
		return a
	case b.Covers(a):
		return b
	}
	a, b = a.Signed(), b.Signed()
	if a.Covers(b) {
		return a
	}
	return b
}

// AddType is the type of a + b and a - b for numbers. Integers and floats give
// their common type; decimals gain a digit, so that the sum always fits unless it
// had 38 already.
func AddType(a, b Type) (Type, bool) {
	if !a.IsNumeric() || !b.IsNumeric() {
		return Type{}, false
	}
	t := commonNumeric(a, b)
	if t.Kind == Decimal {
		t = decimalOf(int(t.Prec)-int(t.Scale)+1, int(t.Scale))
	}
	return t, true
}

// Quotients have no finite scale, and PostgreSQL chooses one for each value: at least 16
// significant digits. A static type needs a rule that holds for all of its values.
const (
	// quotientScale is how many digits after the point a quotient has where there is room: as
	// many as PostgreSQL gives to a quotient from 0.0001 to 1, and more than to a larger one.
	quotientScale = 20
	// leastQuotientScale is how few it may have so that every quotient of such types fits.
	leastQuotientScale = 12
	// widestQuotientScale is what it has where the types would leave fewer: sums have 38 digits by
	// type, and hardly ever by value. 22 digits before the point remain.
	widestQuotientScale = 16
)

// MulType is the type of a * b. Decimals: scales and precisions add. Where that makes more than 38
// digits, most of them after the point, the scale gives way to the digits before the point; it
// stays at least quotientScale and that of either operand.
func MulType(a, b Type) (Type, bool) {
	if !a.IsNumeric() || !b.IsNumeric() {
		return Type{}, false
	}
	t := commonNumeric(a, b)
	if t.Kind != Decimal {
		return t, true
	}
	x, _ := AsDecimal(a)
	y, _ := AsDecimal(b)
	scale := int(x.Scale) + int(y.Scale)
	whole := int(x.Prec) + int(y.Prec) - scale
	if scale > quotientScale && whole+scale > MaxPrecision {
		scale = min(scale, max(MaxPrecision-whole, quotientScale, int(x.Scale), int(y.Scale)))
	}
	return decimalOf(whole, scale), true
}

// DivType is the type of a / b: integers divide as integers, floats as floats, and decimals give a
// decimal of quotientScale digits after the point.
func DivType(a, b Type) (Type, bool) {
	if !a.IsNumeric() || !b.IsNumeric() {
		return Type{}, false
	}
	t := commonNumeric(a, b)
	if t.Kind != Decimal {
		return t, true
	}
	x, _ := AsDecimal(a)
	y, _ := AsDecimal(b)
	// The largest quotient is that of the largest dividend and the smallest divisor.
	whole := int(x.Prec) - int(x.Scale) + int(y.Scale)
	return quotientType(whole, int(x.Scale)), true
}

// quotientType is the type of a quotient with up to whole digits before the point. Digits of the
// dividend are not lost: x / 1 is x.
func quotientType(whole, dividendScale int) Type {
	scale := min(quotientScale, MaxPrecision-whole)
	if scale < leastQuotientScale {
		scale = widestQuotientScale
	}
	return decimalOf(whole, max(scale, dividendScale))
}

// ModType is the type of a % b: that of the common scale.
func ModType(a, b Type) (Type, bool) {
	if !a.IsNumeric() || !b.IsNumeric() || a.IsFloat() || b.IsFloat() {
		return Type{}, false
	}
	return commonNumeric(a, b), true
}

// SumType is the type of sum(t).
func SumType(t Type) (Type, bool) {
	switch t.Kind {
	case Int8, UInt8, Int16, UInt16, Int32, UInt32:
		return TInt64, true
	case Int64:
		return TDecimal(MaxPrecision, 0), true
	case Decimal:
		return TDecimal(MaxPrecision, int(t.Scale)), true
	case Float32, Float64, Interval:
		return t, true
	}
	return Type{}, false
}

// AvgType is the type of avg(t): exact for integers and decimals, the quotient of their sum and
// their number; doubles and intervals stay what they are.
func AvgType(t Type) (Type, bool) {
	switch {
	case t.IsFloat():
		return TFloat64, true
	case t.IsNumeric():
		d, _ := AsDecimal(t)
		// An average is not larger than the largest of its values.
		return quotientType(int(d.Prec)-int(d.Scale), int(d.Scale)), true
	case t.Kind == Interval:
		return t, true
	}
	return Type{}, false
}

// ParseNumber reads a number written in a query. Its type is the smaller of INTEGER
// and BIGINT that holds it; with a point, or beyond BIGINT, the DECIMAL with exactly its
// digits; with an exponent, DOUBLE. More digits than a DECIMAL has are an error.
func ParseNumber(text string) (Value, error) {
	for i := 0; i < len(text); i++ {
		if text[i] == 'e' || text[i] == 'E' {
			return ParseValue(TFloat64, text)
		}
	}
	x, scale, fit, ok := ParseDecimal(text)
	if !ok {
		return Value{}, syntaxError(TDecimal(MaxPrecision, 0), text)
	}
	if !fit {
		return Value{}, errf(codeOutOfRange, "a number of more than %d digits is out of range for type numeric", MaxPrecision)
	}
	point := scale > 0
	for i := 0; i < len(text) && !point; i++ {
		point = text[i] == '.'
	}
	switch {
	case !point && x.FitsInt64() && int64(x.Lo) == int64(int32(x.Lo)):
		return IntValue(TInt32, int64(x.Lo)), nil
	case !point && x.FitsInt64():
		return IntValue(TInt64, int64(x.Lo)), nil
	}
	prec := max(1, scale)
	for !FitsPrecision(x, prec) {
		prec++
	}
	return DecimalValue(TDecimal(prec, scale), x), nil
}
