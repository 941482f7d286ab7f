package session

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/types"
)

// AppendCell appends the text of value i of a result's column, as psql would show it; nothing for
// NULL. It is what clients that speak text print.
func AppendCell(dst []byte, col arrow.Array, i int) []byte {
	if col.IsNull(i) {
		return dst
	}
	switch c := col.(type) {
	case *array.String:
		return append(dst, c.Value(i)...)
	case *array.Decimal128:
		x := c.Value(i)
		scale := c.DataType().(*arrow.Decimal128Type).Scale
		return types.AppendDecimal(dst, types.Int128{Lo: x.LowBits(), Hi: x.HighBits()}, int(scale))
	case *array.List:
		return appendList(dst, c, i)
	case *array.Timestamp:
		if z := file.ZoneOf(c); z != nil {
			return types.AppendTimestampTZ(dst, int64(c.Value(i)), z)
		}
	}
	return Cell(col, i).AppendText(dst)
}

// Cell is value i of a result's column.
func Cell(col arrow.Array, i int) types.Value {
	if col.IsNull(i) {
		return types.NullOf(types.TUnknown)
	}
	switch c := col.(type) {
	case *array.Boolean:
		return types.BoolValue(c.Value(i))
	case *array.Int16:
		return types.IntValue(types.TInt16, int64(c.Value(i)))
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
		if file.ZoneOf(c) != nil {
			return types.IntValue(types.TTimestampTZ, int64(c.Value(i)))
		}
		return types.IntValue(types.TTimestamp, int64(c.Value(i)))
	case *array.Time64:
		return types.IntValue(types.TTime, int64(c.Value(i)))
	case *array.MonthDayNanoInterval:
		x := c.Value(i)
		return types.IntervalValue(x.Months, x.Days, x.Nanoseconds/1000)
	case *array.Decimal128:
		x, t := c.Value(i), c.DataType().(*arrow.Decimal128Type)
		return types.DecimalValue(types.TDecimal(int(t.Precision), int(t.Scale)), types.Int128{Lo: x.LowBits(), Hi: x.HighBits()})
	case *array.Binary:
		return types.Value{Type: types.TBytes, S: string(c.Value(i))}
	case *array.List:
		return listCell(c, i)
	case *array.String:
		return types.TextValue(strings.Clone(c.Value(i))) // the batch's memory is used again
	}
	return types.NullOf(types.TUnknown)
}

// appendList appends a list as PostgreSQL writes arrays.
func appendList(dst []byte, c *array.List, i int) []byte {
	dst = append(dst, '{')
	from, to := c.ValueOffsets(i)
	for k := int(from); k < int(to); k++ {
		if k > int(from) {
			dst = append(dst, ',')
		}
		switch e := c.ListValues().(type) {
		case *array.List:
			if !e.IsNull(k) {
				dst = appendList(dst, e, k)
				continue
			}
		case *array.Boolean:
			if !e.IsNull(k) {
				dst = append(dst, map[bool]byte{true: 't', false: 'f'}[e.Value(k)])
				continue
			}
		}
		if c.ListValues().IsNull(k) {
			dst = append(dst, "NULL"...)
		} else {
			dst = types.AppendListElem(dst, string(AppendCell(nil, c.ListValues(), k)))
		}
	}
	return append(dst, '}')
}

// listCell is a list of a result's column.
func listCell(c *array.List, i int) types.Value {
	from, to := c.ValueOffsets(i)
	elems := make([]types.Value, 0, to-from)
	for k := int(from); k < int(to); k++ {
		elems = append(elems, Cell(c.ListValues(), k))
	}
	return types.ListValue(elemType(c.ListValues()), elems)
}

// elemType is the type of the values of an array that we made.
func elemType(a arrow.Array) types.Type {
	switch c := a.(type) {
	case *array.List:
		return types.TList(elemType(c.ListValues()))
	case *array.Boolean:
		return types.TBool
	case *array.Int16:
		return types.TInt16
	case *array.Int32:
		return types.TInt32
	case *array.Int64:
		return types.TInt64
	case *array.Float32:
		return types.TFloat32
	case *array.Float64:
		return types.TFloat64
	case *array.Date32:
		return types.TDate
	case *array.Time64:
		return types.TTime
	case *array.Binary:
		return types.TBytes
	case *array.Timestamp:
		if file.ZoneOf(c) != nil {
			return types.TTimestampTZ
		}
		return types.TTimestamp
	case *array.Decimal128:
		t := c.DataType().(*arrow.Decimal128Type)
		return types.TDecimal(int(t.Precision), int(t.Scale))
	}
	return types.TText
}
