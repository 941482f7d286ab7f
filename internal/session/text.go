package session

import (
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
	case *array.List, *array.Struct, *array.Map:
		return file.AppendNestedText(dst, col, i)
	case *array.Timestamp:
		if z := file.ZoneOf(c); z != nil {
			return types.AppendTimestampTZ(dst, int64(c.Value(i)), z)
		}
	}
	return Cell(col, i).AppendText(dst)
}

// Cell is value i of a result's column.
func Cell(col arrow.Array, i int) types.Value { return file.ArrowValue(col, i) }
