package types

import (
	"fmt"
	"strings"
)

// Error is a mistake in a value or in a use of a type, with its SQLSTATE. The
// binder and the executor turn it into a diag.Error, adding the place in the text;
// it lives here because types imports nothing of ours.
type Error struct {
	Code   string // SQLSTATE, five characters
	Msg    string // as PostgreSQL words it
	Detail string // optional second sentence with the facts
}

// Error is the message followed by the code.
func (e *Error) Error() string { return e.Msg + " (" + e.Code + ")" }

// The SQLSTATEs of this package.
const (
	codeSyntax        = "22P02" // invalid_text_representation
	codeOutOfRange    = "22003" // numeric_value_out_of_range
	codeDateFormat    = "22007" // invalid_datetime_format
	codeDateOverflow  = "22008" // datetime_field_overflow
	codeTooLong       = "22001" // string_data_right_truncation
	codeDivisionZero  = "22012" // division_by_zero
	codeCannotCoerce  = "42846" // cannot_coerce
	codeUndefinedType = "42704" // undefined_object
	codeBadParameter  = "22023" // invalid_parameter_value
	codeNotSupported  = "0A000" // feature_not_supported
)

func errf(code, format string, args ...any) *Error {
	return &Error{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// ErrDivisionByZero is what x / 0 and x % 0 report.
var ErrDivisionByZero = &Error{Code: codeDivisionZero, Msg: "division by zero"}

// ErrOutOfRange is the error of a computation whose result a type cannot hold.
func ErrOutOfRange(t Type) *Error {
	switch t.Kind {
	case TimestampTZ:
		return &Error{Code: codeDateOverflow, Msg: "timestamp out of range"}
	case Date, Timestamp, Time:
		return &Error{Code: codeDateOverflow, Msg: t.SQLName() + " out of range"}
	case Interval:
		return &Error{Code: codeDateOverflow, Msg: "interval out of range"}
	case Decimal:
		if t != TUInt64 {
			return &Error{Code: codeOutOfRange, Msg: "numeric field overflow"}
		}
	}
	return &Error{Code: codeOutOfRange, Msg: t.SQLName() + " out of range"}
}

// SQLName is the type's name in PostgreSQL's messages: integer, numeric,
// double precision.
func (t Type) SQLName() string {
	if t.Kind == List {
		return strings.TrimRight(t.Elem().SQLName(), "[]") + "[]" // PostgreSQL's types do not tell dimensions
	}
	switch {
	case t == TJSONB:
		return "jsonb"
	case t == TUInt64:
		return "ubigint"
	case t.IsRow():
		return "record"
	case t.Kind == Struct || t.Kind == Map || t.Kind == Enum:
		return t.String()
	}
	return sqlNames[t.Kind]
}

var sqlNames = [...]string{
	Unknown: "unknown", Bool: "boolean", Int8: "tinyint", UInt8: "utinyint", UInt16: "usmallint", UInt32: "uinteger", Int16: "smallint", Int32: "integer", Int64: "bigint",
	Decimal: "numeric", Float32: "real", Float64: "double precision", Date: "date",
	Timestamp: "timestamp", Interval: "interval", Text: "text", TimestampTZ: "timestamp with time zone", Time: "time", Bytes: "bytea", UUID: "uuid", List: "array", JSON: "json", TimeTZ: "time with time zone",
}
