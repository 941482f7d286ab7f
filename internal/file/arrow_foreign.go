package file

import (
	"math"
	"math/big"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// arrowSQLType is the SQL type of an Arrow type; ok is false if there is none.
func arrowSQLType(t arrow.DataType) (out types.Type, ok bool) {
	switch x := t.(type) {
	case *arrow.BooleanType:
		return types.TBool, true
	case *arrow.Int8Type:
		return types.TInt8, true
	case *arrow.Uint8Type:
		return types.TUInt8, true
	case *arrow.Int16Type:
		return types.TInt16, true
	case *arrow.Uint16Type:
		return types.TUInt16, true
	case *arrow.Int32Type:
		return types.TInt32, true
	case *arrow.Uint32Type:
		return types.TUInt32, true
	case *arrow.Int64Type:
		return types.TInt64, true
	case *arrow.Uint64Type:
		return types.TUInt64, true
	case *arrow.Float16Type, *arrow.Float32Type:
		return types.TFloat32, true
	case *arrow.Float64Type:
		return types.TFloat64, true
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType, *arrow.NullType:
		return types.TText, true
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		return types.TBytes, true
	case *arrow.Date32Type, *arrow.Date64Type:
		return types.TDate, true
	case *arrow.TimestampType:
		if x.TimeZone != "" {
			return types.TTimestampTZ, true
		}
		return types.TTimestamp, true
	case *arrow.Time32Type, *arrow.Time64Type:
		return types.TTime, true
	case *arrow.MonthDayNanoIntervalType, *arrow.MonthIntervalType, *arrow.DayTimeIntervalType, *arrow.DurationType:
		return types.TInterval, true
	case arrow.DecimalType:
		if p, s := x.GetPrecision(), x.GetScale(); p <= types.MaxPrecision && s >= 0 && s <= p {
			return types.TDecimal(int(p), int(s)), true
		}
	case *arrow.DictionaryType:
		return arrowSQLType(x.ValueType)
	case *arrow.ListType:
		return arrowList(x.Elem())
	case *arrow.LargeListType:
		return arrowList(x.Elem())
	case *arrow.StructType:
		return arrowStruct(x)
	case *arrow.MapType:
		key, ok := arrowSQLType(x.KeyType())
		value, ok2 := arrowSQLType(x.ItemType())
		if ok && ok2 && types.CanList(key) && types.CanList(value) {
			return types.TMap(key, value), true
		}
	}
	return types.Type{}, false
}

func arrowList(elem arrow.DataType) (types.Type, bool) {
	t, ok := arrowSQLType(elem)
	if !ok || !types.CanList(t) {
		return types.Type{}, false
	}
	return types.TList(t), true
}

// arrowValues reads the values of an array as those of type t; nil if it has another type than it should.
func arrowValues(col arrow.Array, t types.Type) func(row int) (types.Value, error) {
	if got, ok := arrowSQLType(col.DataType()); !ok || got != t {
		return nil
	}
	whole := func(f func(row int) int64) func(int) (types.Value, error) {
		return func(row int) (types.Value, error) { return types.IntValue(t, f(row)), nil }
	}
	real := func(f func(row int) float64) func(int) (types.Value, error) {
		return func(row int) (types.Value, error) { return types.FloatValue(t, f(row)), nil }
	}
	text := func(f func(row int) string) func(int) (types.Value, error) {
		return func(row int) (types.Value, error) {
			s := f(row)
			if !utf8.ValidString(s) {
				return types.Value{}, diag.Errorf(diag.CharacterNotInRepertoire, diag.NoPos, `invalid byte sequence for encoding "UTF8"`)
			}
			return types.TextValue(s), nil
		}
	}
	blob := func(f func(row int) []byte) func(int) (types.Value, error) {
		return func(row int) (types.Value, error) { return types.Value{Type: t, S: string(f(row))}, nil }
	}
	span := func(f func(row int) (months, days int32, micros int64)) func(int) (types.Value, error) {
		return func(row int) (types.Value, error) { return types.IntervalValue(f(row)), nil }
	}
	switch c := col.(type) {
	case *array.Boolean:
		return func(row int) (types.Value, error) { return types.BoolValue(c.Value(row)), nil }
	case *array.Int8:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Int16:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Int32:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Int64:
		return whole(c.Value)
	case *array.Uint8:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Uint16:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Uint32:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Uint64:
		return func(row int) (types.Value, error) { return types.DecimalValue(t, types.Int128{Lo: c.Value(row)}), nil }
	case *array.Float16:
		return real(func(row int) float64 { return float64(c.Value(row).Float32()) })
	case *array.Float32:
		return real(func(row int) float64 { return float64(c.Value(row)) })
	case *array.Float64:
		return real(c.Value)
	case *array.String:
		return text(c.Value)
	case *array.LargeString:
		return text(c.Value)
	case *array.StringView:
		return text(c.Value)
	case *array.Null:
		return func(int) (types.Value, error) { return types.NullOf(t), nil }
	case *array.Binary:
		return blob(c.Value)
	case *array.LargeBinary:
		return blob(c.Value)
	case *array.BinaryView:
		return blob(c.Value)
	case *array.FixedSizeBinary:
		return blob(c.Value)
	case *array.Date32:
		return whole(func(row int) int64 { return int64(c.Value(row)) })
	case *array.Date64:
		return whole(func(row int) int64 { return floorDiv(int64(c.Value(row)), 24*60*60*1000) })
	case *array.Timestamp:
		unit := c.DataType().(*arrow.TimestampType).Unit
		return micros(t, unit, func(row int) int64 { return int64(c.Value(row)) })
	case *array.Time32:
		return micros(t, c.DataType().(*arrow.Time32Type).Unit, func(row int) int64 { return int64(c.Value(row)) })
	case *array.Time64:
		return micros(t, c.DataType().(*arrow.Time64Type).Unit, func(row int) int64 { return int64(c.Value(row)) })
	case *array.MonthDayNanoInterval:
		return span(func(row int) (int32, int32, int64) {
			v := c.Value(row)
			return v.Months, v.Days, v.Nanoseconds / 1000
		})
	case *array.MonthInterval:
		return span(func(row int) (int32, int32, int64) { return int32(c.Value(row)), 0, 0 })
	case *array.DayTimeInterval:
		return span(func(row int) (int32, int32, int64) {
			v := c.Value(row)
			return 0, v.Days, int64(v.Milliseconds) * 1000
		})
	case *array.Duration:
		of := micros(types.TInt64, c.DataType().(*arrow.DurationType).Unit, func(row int) int64 { return int64(c.Value(row)) })
		return func(row int) (types.Value, error) {
			v, err := of(row)
			return types.IntervalValue(0, 0, v.I), err
		}
	case *array.Decimal128:
		return func(row int) (types.Value, error) {
			v := c.Value(row)
			return decimalOf(t, types.Int128{Lo: v.LowBits(), Hi: v.HighBits()})
		}
	case *array.Decimal256:
		return func(row int) (types.Value, error) { return bigDecimal(t, c.Value(row).BigInt()) }
	case *array.Decimal32:
		return func(row int) (types.Value, error) { return bigDecimal(t, big.NewInt(int64(c.Value(row)))) }
	case *array.Decimal64:
		return func(row int) (types.Value, error) { return bigDecimal(t, big.NewInt(int64(c.Value(row)))) }
	case *array.Dictionary:
		of := arrowValues(c.Dictionary(), t)
		if of == nil {
			return nil
		}
		return func(row int) (types.Value, error) {
			at := c.GetValueIndex(row)
			if c.Dictionary().IsNull(at) {
				return types.NullOf(t), nil
			}
			return of(at)
		}
	case *array.Struct:
		return arrowStructs(c, t)
	case *array.Map:
		return arrowMaps(c, t)
	case array.ListLike:
		elems := c.ListValues()
		of := arrowValues(elems, t.Elem())
		if of == nil {
			return nil
		}
		return func(row int) (types.Value, error) {
			lo, hi := c.ValueOffsets(row)
			var list []types.Value
			for k := int(lo); k < int(hi); k++ {
				v := types.NullOf(t.Elem())
				if !elems.IsNull(k) {
					var err error
					if v, err = of(k); err != nil {
						return v, err
					}
				}
				list = append(list, v)
			}
			return types.ListValue(t.Elem(), list), nil
		}
	}
	return nil
}

// micros reads times, of any unit, in microseconds. What is finer is left out.
func micros(t types.Type, unit arrow.TimeUnit, f func(row int) int64) func(int) (types.Value, error) {
	each := int64(unit.Multiplier() / time.Microsecond) // 0: nanoseconds
	return func(row int) (types.Value, error) {
		x := f(row)
		if each == 0 {
			return types.IntValue(t, floorDiv(x, 1000)), nil
		}
		y := x * each
		if y/each != x {
			return types.Value{}, diag.Errorf(diag.DatetimeOverflow, diag.NoPos, "a time is out of range")
		}
		return types.IntValue(t, y), nil
	}
}

func bigDecimal(t types.Type, x *big.Int) (types.Value, error) {
	abs := new(big.Int).Abs(x)
	if abs.BitLen() > 127 {
		return types.Value{}, diag.Errorf(diag.NumericOutOfRange, diag.NoPos, "numeric field overflow")
	}
	v := types.Int128{Lo: new(big.Int).And(abs, new(big.Int).SetUint64(math.MaxUint64)).Uint64(), Hi: int64(new(big.Int).Rsh(abs, 64).Uint64())}
	if x.Sign() < 0 {
		v = v.Neg()
	}
	return decimalOf(t, v)
}

// decimalOf is a decimal, of not more digits than its type has.
func decimalOf(t types.Type, x types.Int128) (types.Value, error) {
	limit := types.Pow10(int(t.Prec))
	if x.Cmp(limit) >= 0 || x.Cmp(limit.Neg()) <= 0 {
		return types.Value{}, diag.Errorf(diag.NumericOutOfRange, diag.NoPos, "numeric field overflow")
	}
	return types.DecimalValue(t, x), nil
}
