package types

import (
	"math"
	"strconv"
	"strings"
)

// String is the value as psql prints it (booleans as true and false, NULL as NULL).
func (v Value) String() string {
	if v.Type.Kind == Text && !v.Null {
		return v.S
	}
	return string(v.AppendText(nil))
}

// AppendText appends the value's text.
func (v Value) AppendText(dst []byte) []byte { return v.AppendTextIn(dst, UTC) }

// AppendTextIn is AppendText where instants are shown in zone z.
func (v Value) AppendTextIn(dst []byte, z *Zone) []byte {
	if v.Null {
		return append(dst, "NULL"...)
	}
	switch v.Type.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.I != 0)
	case Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64:
		return strconv.AppendInt(dst, v.I, 10)
	case Decimal:
		return AppendDecimal(dst, v.Int128(), int(v.Type.Scale))
	case Float32:
		return AppendFloat(dst, v.F, 32)
	case Float64:
		return AppendFloat(dst, v.F, 64)
	case Date:
		return AppendDate(dst, v.I)
	case Timestamp:
		return AppendTimestamp(dst, v.I)
	case TimestampTZ:
		return AppendTimestampTZ(dst, v.I, z)
	case Time:
		return AppendTime(dst, v.I)
	case TimeTZ:
		return AppendTimeTZ(dst, v.I)
	case Enum:
		return append(dst, v.label()...)
	case Bytes:
		return AppendBytes(dst, v.S)
	case List:
		return appendList(dst, v, z)
	case Map:
		return appendNamed(dst, v, z)
	case Struct:
		if v.Type.hasNames() {
			return appendNamed(dst, v, z)
		}
		return appendRow(dst, v, z)
	case Interval:
		return AppendInterval(dst, int32(v.I>>32), int32(uint32(v.I)), v.Hi)
	}
	return append(dst, v.S...)
}

// Literal is the value as SQL text: 'o”clock', DATE '1998-09-02'.
func (v Value) Literal() string {
	if v.Null {
		return "NULL"
	}
	switch v.Type.Kind {
	case Text:
		return "'" + strings.ReplaceAll(v.S, "'", "''") + "'"
	case Bytes, List, Struct, Map, Enum:
		return "'" + strings.ReplaceAll(v.String(), "'", "''") + "'::" + v.Type.String()
	case Date, Timestamp, TimestampTZ, Time, TimeTZ, Interval, UUID, JSON:
		return kindNames[v.Type.Kind] + " '" + v.String() + "'"
	case Float32, Float64:
		if math.IsNaN(v.F) || math.IsInf(v.F, 0) {
			return kindNames[v.Type.Kind] + " '" + v.String() + "'"
		}
	}
	return v.String()
}

// FormatFloat is AppendFloat as a string.
func FormatFloat(f float64, bitSize int) string { return string(AppendFloat(nil, f, bitSize)) }

// AppendFloat appends the shortest text that reads back as f, in PostgreSQL's form: plain
// up to 15 digits before the point (6 for REAL), else with a two-digit exponent.
func AppendFloat(dst []byte, f float64, bitSize int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, bitSize)
	// The exponent decides; find it at the end.
	e := len(dst) - 1
	for dst[e] != 'e' {
		e--
	}
	exp, _ := strconv.Atoi(string(dst[e+1:]))
	limit := 15
	if bitSize == 32 {
		limit = 6
	}
	if exp >= -4 && exp < limit {
		return strconv.AppendFloat(dst[:start], f, 'f', -1, bitSize)
	}
	return dst
}
