package types

import "fmt"

// Kind is the family of a SQL type.
type Kind uint8

const (
	Unknown     Kind = iota // the type of a bare NULL
	Bool                    // BOOLEAN
	Int8                    // TINYINT
	UInt8                   // UTINYINT
	Int16                   // SMALLINT
	UInt16                  // USMALLINT
	Int32                   // INTEGER
	UInt32                  // UINTEGER
	Int64                   // BIGINT
	Decimal                 // DECIMAL(Prec, Scale)
	Float32                 // REAL
	Float64                 // DOUBLE PRECISION
	Date                    // days since 1970-01-01
	Timestamp               // microseconds since 1970-01-01 00:00
	Interval                // months, days, microseconds
	Text                    // VARCHAR / TEXT, UTF-8
	TimestampTZ             // microseconds since 1970-01-01 00:00 UTC: an instant
	Time                    // microseconds since midnight
	Bytes                   // BYTEA
	UUID                    // 36 letters
	List                    // of elements of one type: see list.go
	JSON                    // a text of JSON; Prec is 1 for JSONB
	Struct                  // fields with names: see struct.go
	Map                     // from keys to values
	Enum                    // one of some labels: see enum.go
	TimeTZ                  // a time of day in a zone: see timetz.go
)

// MaxPrecision is the largest DECIMAL precision: what a signed 128-bit integer holds.
const MaxPrecision = 38

// Type is a SQL type. It is comparable; two types are the same type exactly
// when they are ==. Nullability is a property of a column or expression, not of
// its type.
type Type struct {
	Kind  Kind
	Prec  uint8  // Decimal: total digits, 1…38. Nested types: with Scale, the number of their shape
	Scale uint8  // Decimal: digits after the point
	Len   uint32 // Text: VARCHAR(n) limit, 0 = unlimited. Decimal: 1 for UBIGINT
}

// The types without parameters.
var (
	TUnknown   = Type{Kind: Unknown}
	TBool      = Type{Kind: Bool}
	TInt8      = Type{Kind: Int8}
	TUInt8     = Type{Kind: UInt8}
	TUInt16    = Type{Kind: UInt16}
	TUInt32    = Type{Kind: UInt32}
	TUInt64    = Type{Kind: Decimal, Prec: 20, Len: 1} // what 64 bits hold without a sign; computed with as a decimal
	TInt16     = Type{Kind: Int16}
	TInt32     = Type{Kind: Int32}
	TInt64     = Type{Kind: Int64}
	TFloat32   = Type{Kind: Float32}
	TFloat64   = Type{Kind: Float64}
	TDate      = Type{Kind: Date}
	TTimestamp = Type{Kind: Timestamp}
	TInterval  = Type{Kind: Interval}
	TText      = Type{Kind: Text}
	TTime      = Type{Kind: Time}

	TTimestampTZ = Type{Kind: TimestampTZ}
	TTimeTZ      = Type{Kind: TimeTZ}
	TBytes       = Type{Kind: Bytes}
	TUUID        = Type{Kind: UUID}
	TJSON        = Type{Kind: JSON}
	TJSONB       = Type{Kind: JSON, Prec: 1}
)

// TDecimal is DECIMAL(prec, scale).
func TDecimal(prec, scale int) Type {
	return Type{Kind: Decimal, Prec: uint8(prec), Scale: uint8(scale)}
}

// String is the type as PostgreSQL's SQL would write it.
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		if t == TUInt64 {
			return "UBIGINT"
		}
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Prec, t.Scale)
	case Text:
		if t.Len > 0 {
			return fmt.Sprintf("VARCHAR(%d)", t.Len)
		}
		return "VARCHAR"
	case List:
		return t.Elem().String() + "[]"
	case Struct:
		return structName(t)
	case Map:
		return "MAP(" + t.Fields()[0].Type.String() + ", " + t.Fields()[1].Type.String() + ")"
	case Enum:
		return enumName(t)
	case JSON:
		if t == TJSONB {
			return "JSONB"
		}
	}
	return kindNames[t.Kind]
}

var kindNames = [...]string{
	Unknown: "UNKNOWN", Bool: "BOOLEAN", Int8: "TINYINT", UInt8: "UTINYINT", UInt16: "USMALLINT", UInt32: "UINTEGER", Int16: "SMALLINT", Int32: "INTEGER", Int64: "BIGINT",
	Decimal: "DECIMAL", Float32: "REAL", Float64: "DOUBLE", Date: "DATE", Timestamp: "TIMESTAMP",
	Interval: "INTERVAL", Text: "VARCHAR", TimestampTZ: "TIMESTAMP WITH TIME ZONE", Time: "TIME", Bytes: "BLOB", UUID: "UUID", List: "LIST", JSON: "JSON", Struct: "STRUCT", Map: "MAP", Enum: "ENUM", TimeTZ: "TIME WITH TIME ZONE",
}

// IsInteger reports an integer of any width, with a sign or without.
func (t Type) IsInteger() bool { return t.Kind >= Int8 && t.Kind <= Int64 }

// IsUnsigned reports an integer without a sign.
func (t Type) IsUnsigned() bool {
	return t.Kind == UInt8 || t.Kind == UInt16 || t.Kind == UInt32 || t == TUInt64
}

// Covers reports that every integer of type u is one of type t.
func (t Type) Covers(u Type) bool {
	lo, hi := intRange(t)
	l, h := intRange(u)
	return lo <= l && h <= hi
}

// Signed is the smallest type with a sign that covers integers of type t.
func (t Type) Signed() Type {
	switch t.Kind {
	case UInt8:
		return TInt16
	case UInt16:
		return TInt32
	case UInt32:
		return TInt64
	case Decimal:
		return TDecimal(int(t.Prec), int(t.Scale))
	}
	return t
}

// IsFloat reports REAL or DOUBLE.
func (t Type) IsFloat() bool { return t.Kind == Float32 || t.Kind == Float64 }

// IsNumeric reports any number: integer, decimal or float.
func (t Type) IsNumeric() bool { return t.Kind >= Int8 && t.Kind <= Float64 }

// IsCalendar reports DATE or one of the timestamps.
func (t Type) IsCalendar() bool {
	return t.Kind == Date || t.Kind == Timestamp || t.Kind == TimestampTZ
}

// Wide reports a DECIMAL that may need 128 bits. Whether a particular
// expression of such a type really does is decided from its known range.
func (t Type) Wide() bool { return t.Kind == Decimal && t.Prec > 18 }

// Phys is how a value looks to generated code and in materialized tuples.
type Phys uint8

const (
	PhysI64  Phys = iota // one 64-bit integer register: booleans (0/1), integers, enums, dates, timestamps, times, decimals of ≤ 18 digits
	PhysI128             // two 64-bit integer registers, low then high: wide decimals
	PhysF64              // one float register: REAL (rounded to single precision) and DOUBLE
	PhysStr              // two 64-bit registers: address of the bytes, length in bytes: texts, and what is stored as one
	PhysIvl              // two 64-bit registers: months<<32 | uint32(days), microseconds
)

// Phys is the default physical form of the type.
func (t Type) Phys() Phys {
	switch t.Kind {
	case Float32, Float64:
		return PhysF64
	case Text, Bytes, UUID, List, JSON, Struct, Map:
		return PhysStr
	case Interval:
		return PhysIvl
	case Decimal:
		if t.Wide() {
			return PhysI128
		}
	}
	return PhysI64
}
