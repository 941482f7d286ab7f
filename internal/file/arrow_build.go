package file

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// ArrowType is the Arrow type by which a SQL type is delivered to a session in a zone; nil: UTC.
func ArrowType(t types.Type, z *types.Zone) arrow.DataType {
	switch t.Kind {
	case types.Bool:
		return arrow.FixedWidthTypes.Boolean
	case types.Int8:
		return arrow.PrimitiveTypes.Int8
	case types.UInt8:
		return arrow.PrimitiveTypes.Uint8
	case types.UInt16:
		return arrow.PrimitiveTypes.Uint16
	case types.UInt32:
		return arrow.PrimitiveTypes.Uint32
	case types.Int16:
		return arrow.PrimitiveTypes.Int16
	case types.Int32:
		return arrow.PrimitiveTypes.Int32
	case types.Int64:
		return arrow.PrimitiveTypes.Int64
	case types.Decimal:
		if t == types.TUInt64 {
			return arrow.PrimitiveTypes.Uint64
		}
		return &arrow.Decimal128Type{Precision: int32(t.Prec), Scale: int32(t.Scale)}
	case types.Float32:
		return arrow.PrimitiveTypes.Float32
	case types.Float64:
		return arrow.PrimitiveTypes.Float64
	case types.Date:
		return arrow.FixedWidthTypes.Date32
	case types.Timestamp:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case types.TimestampTZ:
		if z == nil {
			z = types.UTC
		}
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: z.Name}
	case types.Bytes:
		return arrow.BinaryTypes.Binary
	case types.List:
		return arrow.ListOf(ArrowType(t.Elem(), z))
	case types.Struct:
		return ArrowStruct(t, func(t types.Type) arrow.DataType { return ArrowType(t, z) })
	case types.Map:
		return arrow.MapOf(ArrowType(t.Fields()[0].Type, z), ArrowType(t.Fields()[1].Type, z))
	case types.Time:
		return arrow.FixedWidthTypes.Time64us
	case types.Interval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case types.Text, types.UUID, types.JSON, types.Enum, types.TimeTZ: // there are no times with a zone
		return arrow.BinaryTypes.String
	}
	return arrow.Null
}

// AppendArrow appends a value to an array of its type.
func AppendArrow(b array.Builder, v types.Value) error {
	if v.Null {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.I != 0)
	case *array.Int8Builder:
		b.Append(int8(v.I))
	case *array.Uint8Builder:
		b.Append(uint8(v.I))
	case *array.Uint16Builder:
		b.Append(uint16(v.I))
	case *array.Uint32Builder:
		b.Append(uint32(v.I))
	case *array.Uint64Builder:
		b.Append(uint64(v.I))
	case *array.Int16Builder:
		b.Append(int16(v.I))
	case *array.Int32Builder:
		b.Append(int32(v.I))
	case *array.Int64Builder:
		b.Append(v.I)
	case *array.Time64Builder:
		b.Append(arrow.Time64(v.I))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.I))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.I))
	case *array.Decimal128Builder:
		x := v.Int128()
		b.Append(decimal128.New(x.Hi, x.Lo))
	case *array.Float32Builder:
		b.Append(float32(v.F))
	case *array.Float64Builder:
		b.Append(v.F)
	case *array.StringBuilder:
		b.Append(v.String())
	case *array.BinaryBuilder:
		b.Append([]byte(v.S))
	case *array.StructBuilder:
		b.Append(true)
		for i, x := range v.FieldValues() {
			if err := AppendArrow(b.FieldBuilder(i), x); err != nil {
				return err
			}
		}
	case *array.MapBuilder:
		b.Append(true)
		for _, e := range v.Elems() {
			if err := AppendArrow(b.KeyBuilder(), e.FieldValue(0)); err != nil {
				return err
			}
			if err := AppendArrow(b.ItemBuilder(), e.FieldValue(1)); err != nil {
				return err
			}
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.Elems() {
			if err := AppendArrow(b.ValueBuilder(), e); err != nil {
				return err
			}
		}
	case *array.MonthDayNanoIntervalBuilder:
		x, err := ArrowInterval(v.IntervalParts())
		if err != nil {
			return err
		}
		b.Append(x)
	default:
		b.AppendNull()
	}
	return nil
}

// ArrowInterval is an interval as Arrow has them, whose time is counted in nanoseconds.
func ArrowInterval(months, days int32, micros int64) (arrow.MonthDayNanoInterval, error) {
	ns := micros * 1000
	if ns/1000 != micros {
		return arrow.MonthDayNanoInterval{}, diag.Errorf(diag.DatetimeOverflow, -1, "interval %s is out of the range of Arrow's intervals",
			types.AppendInterval(nil, months, days, micros)).WithHint("cast it to VARCHAR")
	}
	return arrow.MonthDayNanoInterval{Months: months, Days: days, Nanoseconds: ns}, nil
}
