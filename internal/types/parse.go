package types

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseValue reads a value of type t from its text, as PostgreSQL's input
// functions do, with their error messages. Texts longer than a VARCHAR(n) are errors.
func ParseValue(t Type, text string) (Value, error) { return ParseIn(UTC, t, text) }

// ParseIn is ParseValue where timestamps with time zone that do not say theirs are in zone z.
func ParseIn(z *Zone, t Type, text string) (Value, error) {
	switch t.Kind {
	case Unknown, Text:
		return parseText(t, text)
	case Bool:
		b, ok := parseBool(text)
		if !ok {
			return Value{}, syntaxError(t, text)
		}
		return BoolValue(b), nil
	case Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64:
		i, err := parseInt(t, text)
		return IntValue(t, i), err
	case Decimal:
		x, err := ParseDecimalAs(text, t)
		return DecimalValue(t, x), err
	case Float32, Float64:
		f, err := parseFloat(t, text)
		return FloatValue(t, f), err
	case Date:
		d, err := ParseDate(z.spelled(text, true))
		return DateValue(d), err
	case Timestamp:
		ts, err := ParseTimestamp(z.spelled(text, true))
		return IntValue(TTimestamp, ts), err
	case TimestampTZ:
		ts, err := ParseTimestampTZ(z.spelled(text, true), z)
		return IntValue(t, ts), err
	case Time:
		us, err := ParseTime(z.spelled(text, false))
		return IntValue(t, us), err
	case TimeTZ:
		x, err := ParseTimeTZ(z.spelled(text, false), z)
		return IntValue(t, x), err
	case Enum:
		return parseEnum(t, text)
	case Bytes:
		b, err := ParseBytes(text)
		return Value{Type: t, S: b}, err
	case UUID:
		u, err := ParseUUID(text)
		return Value{Type: t, S: u}, err
	case JSON:
		return parseJSON(t, text)
	case List:
		return parseList(z, t, text)
	case Struct, Map:
		return parseNested(z, t, text)
	case Interval:
		return ParseInterval(text, "")
	}
	return Value{}, errf(codeUndefinedType, "type %s has no input", t)
}

func syntaxError(t Type, text string) *Error {
	return errf(codeSyntax, "invalid input syntax for type %s: %s", t.SQLName(), quoted(text))
}

// quoted puts a text between double quotes as it is: PostgreSQL does not escape in messages.
func quoted(s string) string { return `"` + s + `"` }

func parseText(t Type, s string) (Value, error) {
	if !utf8.ValidString(s) {
		return Value{}, &Error{Code: "22021", Msg: `invalid byte sequence for encoding "UTF8"`}
	}
	if t.Len > 0 && utf8.RuneCountInString(s) > int(t.Len) {
		cut, blank := cutText(s, int(t.Len))
		if !blank { // blanks beyond the limit are dropped silently, as the standard says
			return Value{}, errf(codeTooLong, "value too long for type character varying(%d)", t.Len)
		}
		s = cut
	}
	return Value{Type: t, S: s}, nil
}

// cutText is the first n characters of s, and whether only blanks follow.
func cutText(s string, n int) (cut string, blank bool) {
	end := 0
	for i := range s {
		if n == 0 {
			end = i
			break
		}
		n--
		end = len(s)
	}
	return s[:end], strings.Trim(s[end:], " ") == ""
}

// parseBool accepts what PostgreSQL does: any unambiguous prefix of the words.
func parseBool(s string) (value, ok bool) {
	s = strings.ToLower(trimSpace(s))
	switch {
	case s == "":
		return false, false
	case s == "1", s == "on", strings.HasPrefix("true", s), strings.HasPrefix("yes", s):
		return true, true
	case s == "0", s == "of", s == "off", strings.HasPrefix("false", s), strings.HasPrefix("no", s):
		return false, true
	}
	return false, false
}

// IntRange is the least and greatest value of an integer type.
func IntRange(t Type) (lo, hi int64) { return intRange(t) }

func intRange(t Type) (lo, hi int64) {
	switch t.Kind {
	case Int8:
		return math.MinInt8, math.MaxInt8
	case UInt8:
		return 0, math.MaxUint8
	case UInt16:
		return 0, math.MaxUint16
	case UInt32:
		return 0, math.MaxUint32
	case Int16:
		return math.MinInt16, math.MaxInt16
	case Int32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func parseInt(t Type, text string) (int64, error) {
	s := trimSpace(text)
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || digits == "" || digitsAt(digits) != len(digits) {
		return 0, syntaxError(t, text)
	}
	lo, hi := intRange(t)
	i, err := strconv.ParseInt(s, 10, 64)
	if err != nil || i < lo || i > hi {
		return 0, errf(codeOutOfRange, "value %s is out of range for type %s", quoted(text), t.SQLName())
	}
	return i, nil
}

func parseFloat(t Type, text string) (float64, error) {
	s := trimSpace(text)
	switch strings.ToLower(s) {
	case "nan":
		return math.NaN(), nil
	case "inf", "infinity", "+inf", "+infinity":
		return math.Inf(1), nil
	case "-inf", "-infinity":
		return math.Inf(-1), nil
	}
	zero := true // every digit before the exponent is 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == 'e' || c == 'E' {
			break
		}
		if !isDigit(c) && c != '.' && c != '-' && c != '+' { // Go would take hexadecimals, underscores
			return 0, syntaxError(t, text)
		}
		zero = zero && (c == '0' || !isDigit(c))
	}
	if strings.ContainsAny(s, "_xXpP") {
		return 0, syntaxError(t, text)
	}
	size := 64
	if t.Kind == Float32 {
		size = 32
	}
	f, err := strconv.ParseFloat(s, size)
	switch {
	case err != nil && !math.IsInf(f, 0):
		return 0, syntaxError(t, text)
	case err != nil || f == 0 && !zero: // overflow, underflow
		return 0, errf(codeOutOfRange, "%s is out of range for type %s", quoted(text), t.SQLName())
	}
	return f, nil
}
