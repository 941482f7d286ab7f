package types

import "strings"

// typeNames maps every name of a type without parameters.
var typeNames = map[string]Type{
	"bool": TBool, "boolean": TBool, "logical": TBool,
	"tinyint": TInt8, "int1": TInt8, "utinyint": TUInt8, "uint8": TUInt8, "usmallint": TUInt16, "uint16": TUInt16, "uinteger": TUInt32, "uint32": TUInt32,
	"ubigint": TUInt64, "uint64": TUInt64, "uhugeint": TDecimal(MaxPrecision, 0), "uint128": TDecimal(MaxPrecision, 0),
	"int2": TInt16, "smallint": TInt16, "short": TInt16,
	"int": TInt32, "int4": TInt32, "integer": TInt32, "signed": TInt32,
	"int8": TInt64, "bigint": TInt64, "long": TInt64,
	"hugeint": TDecimal(MaxPrecision, 0), "int128": TDecimal(MaxPrecision, 0),
	"real": TFloat32, "float4": TFloat32,
	"double": TFloat64, "double precision": TFloat64, "float8": TFloat64,
	"date":      TDate,
	"timestamp": TTimestamp, "timestamp without time zone": TTimestamp, "datetime": TTimestamp,
	"timetz": TTimeTZ, "time with time zone": TTimeTZ, "timestamptz": TTimestampTZ, "timestamp with time zone": TTimestampTZ,
	"time": TTime, "time without time zone": TTime,
	"bytea": TBytes, "blob": TBytes, "binary": TBytes, "varbinary": TBytes,
	"uuid": TUUID, "json": TJSON, "jsonb": TJSONB,
	"interval": TInterval,
	"oid":      TInt64, "name": TText, // of pg_catalog
	"text": TText, "string": TText, "varchar": TText, "character varying": TText,
	"char": TText, "character": TText, "bpchar": TText, "char varying": TText, "nvarchar": TText,
}

// known are types that PostgreSQL or DuckDB have, and we do not yet: to say that there is no such type would be wrong.
var known = func() map[string]bool {
	m := map[string]bool{"bit varying": true}
	for _, n := range strings.Fields(`timestamp_s timestamp_ms timestamp_ns xml
		enum struct row map list union array bit
		varbit bitstring varint bignum money inet cidr macaddr macaddr8 point line lseg box path polygon circle tsvector tsquery regclass regtype
		regproc regprocedure regnamespace regrole serial serial2 serial4 serial8 bigserial smallserial hstore geometry variant int4range int8range numrange tsrange tstzrange
		daterange pg_lsn citext`) {
		m[n] = true
	}
	return m
}()

// ParseType finds a type by any of its SQL names, in any case, with its
// parameters. CHAR(n) is VARCHAR(n): trailing blanks are not special. DECIMAL alone is
// DECIMAL(18,3) as in DuckDB.
func ParseType(name string, args []int) (Type, error) {
	n := strings.ToLower(strings.Join(strings.Fields(name), " "))
	switch n {
	case "decimal", "numeric", "dec":
		return decimalType(args)
	case "float":
		return floatType(args)
	}
	t, ok := typeNames[n]
	if !ok {
		if known[n] {
			return Type{}, errf(codeNotSupported, "type %s is not supported", strings.ToUpper(n))
		}
		return Type{}, errf(codeUndefinedType, "type %q does not exist", name)
	}
	switch {
	case len(args) == 0:
		if n == "char" || n == "character" { // CHAR is CHAR(1)
			t.Len = 1
		}
		return t, nil
	case t.Kind == Text && n != "text" && n != "string":
		if len(args) != 1 || args[0] < 1 {
			return Type{}, errf(codeBadParameter, "length for type %s must be at least 1", n)
		}
		if args[0] > 10485760 {
			return Type{}, errf(codeBadParameter, "length for type %s cannot exceed 10485760", n)
		}
		t.Len = uint32(args[0])
		return t, nil
	case t.Kind == Timestamp || t.Kind == Interval || t.Kind == TimestampTZ || t.Kind == Time || t.Kind == TimeTZ:
		// TIMESTAMP(6) is what we store; other precisions would have to round.
		if len(args) == 1 && args[0] == 6 {
			return t, nil
		}
		return Type{}, errf(codeNotSupported, "%s precision other than 6 is not supported", strings.ToUpper(n))
	}
	return Type{}, errf("42601", "type modifier is not allowed for type %q", n)
}

func decimalType(args []int) (Type, error) {
	prec, scale := 18, 3
	switch len(args) {
	case 0:
	case 1:
		prec, scale = args[0], 0
	case 2:
		prec, scale = args[0], args[1]
	default:
		return Type{}, errf(codeBadParameter, "invalid NUMERIC type modifier")
	}
	if prec < 1 || prec > MaxPrecision {
		return Type{}, errf(codeBadParameter, "NUMERIC precision %d must be between 1 and %d", prec, MaxPrecision)
	}
	if scale < 0 || scale > prec {
		return Type{}, errf(codeBadParameter, "NUMERIC scale %d must be between 0 and precision %d", scale, prec)
	}
	return TDecimal(prec, scale), nil
}

func floatType(args []int) (Type, error) {
	switch {
	case len(args) == 0:
		return TFloat64, nil
	case len(args) > 1 || args[0] < 1:
		return Type{}, errf(codeBadParameter, "precision for type float must be at least 1 bit")
	case args[0] <= 24:
		return TFloat32, nil
	case args[0] <= 53:
		return TFloat64, nil
	}
	return Type{}, errf(codeBadParameter, "precision for type float must be less than 54 bits")
}
