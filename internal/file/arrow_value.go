package file

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/types"
)

// ArrowValue is value i of an Arrow array that a result has, or one that was read from a file.
func ArrowValue(col arrow.Array, i int) types.Value {
	if col.IsNull(i) {
		return types.NullOf(types.TUnknown)
	}
	switch c := col.(type) {
	case *array.Boolean:
		return types.BoolValue(c.Value(i))
	case *array.Int8:
		return types.IntValue(types.TInt8, int64(c.Value(i)))
	case *array.Uint8:
		return types.IntValue(types.TUInt8, int64(c.Value(i)))
	case *array.Uint16:
		return types.IntValue(types.TUInt16, int64(c.Value(i)))
	case *array.Uint32:
		return types.IntValue(types.TUInt32, int64(c.Value(i)))
	case *array.Int16:
		return types.IntValue(types.TInt16, int64(c.Value(i)))
	case *array.Uint64:
		return types.DecimalValue(types.TUInt64, types.Int128{Lo: c.Value(i)})
	case *array.Int32:
		return types.IntValue(types.TInt32, int64(c.Value(i)))
	case *array.Int64:
		return types.IntValue(types.TInt64, c.Value(i))
	case *array.Float32:
		return types.FloatValue(types.TFloat32, float64(c.Value(i)))
	case *array.Float64:
		return types.FloatValue(types.TFloat64, c.Value(i))
	case *array.Date32:
		return types.DateValue(int64(c.Value(i)))
	case *array.Timestamp:
		return types.IntValue(SQLType(c.DataType()), int64(c.Value(i)))
	case *array.Time64:
		return types.IntValue(types.TTime, int64(c.Value(i)))
	case *array.MonthDayNanoInterval:
		x := c.Value(i)
		return types.IntervalValue(x.Months, x.Days, x.Nanoseconds/1000)
	case *array.Decimal128:
		x := c.Value(i)
		return types.DecimalValue(SQLType(c.DataType()), types.Int128{Lo: x.LowBits(), Hi: x.HighBits()})
	case *array.Binary:
		return types.Value{Type: types.TBytes, S: string(c.Value(i))}
	case *array.String:
		return types.TextValue(strings.Clone(c.Value(i))) // the batch's memory is used again
	case *array.List, *array.Struct, *array.Map:
		return nestedValue(SQLType(col.DataType()), col, i)
	}
	return types.NullOf(types.TUnknown)
}

// nestedValue is a value of type t that is made of others.
func nestedValue(t types.Type, col arrow.Array, i int) types.Value {
	return types.Value{Type: t, S: string(appendNested(nil, t, col, i))}
}

// appendNested appends the encoding of value i.
func appendNested(b []byte, t types.Type, col arrow.Array, i int) []byte {
	elem := func(t types.Type, col arrow.Array, k int) {
		v := types.NullOf(t)
		switch {
		case col.IsNull(k):
		case t.IsNested():
			v = nestedValue(t, col, k)
		default:
			v = ArrowValue(col, k)
		}
		b = types.AppendElem(b, t, v)
	}
	switch c := col.(type) {
	case *array.Struct:
		for k, f := range t.Fields() {
			elem(f.Type, c.Field(k), i) // which begins where the struct does
		}
		return b
	case *array.Map: // before List, which it is, too
		from, to := c.ValueOffsets(i)
		for k := int(from); k < int(to); k++ {
			b = types.AppendElem(b, t.Elem(), types.Value{Type: t.Elem(), S: string(appendPair(t, c, k))})
		}
	case *array.List:
		from, to := c.ValueOffsets(i)
		for k := int(from); k < int(to); k++ {
			elem(t.Elem(), c.ListValues(), k)
		}
	}
	return append(b, 0)
}

// appendPair is the struct of a map's key and value.
func appendPair(t types.Type, c *array.Map, k int) (b []byte) {
	for i, col := range []arrow.Array{c.Keys(), c.Items()} {
		ft := t.Fields()[i].Type
		v := types.NullOf(ft)
		if !col.IsNull(k) {
			if v = ArrowValue(col, k); ft.IsNested() {
				v = nestedValue(ft, col, k)
			}
		}
		b = types.AppendElem(b, ft, v)
	}
	return b
}

// rowMark is the metadata of fields that ROW(…) made: see types.TRow.
var rowMark = arrow.NewMetadata([]string{"kelpie.row"}, []string{"1"})

// ArrowStruct is the Arrow type of a struct, whose fields have types.
func ArrowStruct(t types.Type, field func(types.Type) arrow.DataType) arrow.DataType {
	var fs []arrow.Field
	for _, m := range t.Fields() {
		f := arrow.Field{Name: m.Name, Type: field(m.Type), Nullable: true}
		if t.IsRow() {
			f.Metadata = rowMark
		}
		fs = append(fs, f)
	}
	return arrow.StructOf(fs...)
}

// SQLType is the type of values of an Arrow type that we made; texts stand for several.
func SQLType(dt arrow.DataType) types.Type {
	switch dt := dt.(type) {
	case *arrow.ListType:
		return types.TList(SQLType(dt.Elem()))
	case *arrow.MapType:
		return types.TMap(SQLType(dt.KeyType()), SQLType(dt.ItemType()))
	case *arrow.StructType:
		fields := make([]types.Member, dt.NumFields())
		row := len(fields) == 0
		for i, f := range dt.Fields() {
			fields[i] = types.Member{Name: f.Name, Type: SQLType(f.Type)}
			row = row || f.HasMetadata() && f.Metadata.Equal(rowMark)
		}
		if row {
			return types.TRow(fields)
		}
		return types.TStruct(fields)
	case *arrow.BooleanType:
		return types.TBool
	case *arrow.Int8Type:
		return types.TInt8
	case *arrow.Uint8Type:
		return types.TUInt8
	case *arrow.Uint16Type:
		return types.TUInt16
	case *arrow.Uint32Type:
		return types.TUInt32
	case *arrow.Uint64Type:
		return types.TUInt64
	case *arrow.Int16Type:
		return types.TInt16
	case *arrow.Int32Type:
		return types.TInt32
	case *arrow.Int64Type:
		return types.TInt64
	case *arrow.Float32Type:
		return types.TFloat32
	case *arrow.Float64Type:
		return types.TFloat64
	case *arrow.Date32Type:
		return types.TDate
	case *arrow.Time64Type:
		return types.TTime
	case *arrow.BinaryType:
		return types.TBytes
	case *arrow.TimestampType:
		if dt.TimeZone != "" {
			return types.TTimestampTZ
		}
		return types.TTimestamp
	case *arrow.Decimal128Type:
		return types.TDecimal(int(dt.Precision), int(dt.Scale))
	}
	return types.TText
}

// zoneIn is the zone of the timestamps in a type; UTC if there are none.
func zoneIn(dt arrow.DataType) *types.Zone {
	switch t := dt.(type) {
	case *arrow.TimestampType:
		if z := zoneNamed(t.TimeZone); z != nil {
			return z
		}
	case arrow.NestedType:
		for _, f := range t.Fields() {
			if z := zoneIn(f.Type); z != types.UTC {
				return z
			}
		}
	}
	return types.UTC
}

// AppendNestedText appends the text of a list, a struct or a map.
func AppendNestedText(dst []byte, col arrow.Array, i int) []byte {
	return ArrowValue(col, i).AppendTextIn(dst, zoneIn(col.DataType()))
}
