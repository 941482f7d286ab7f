package file

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// append appends the decoded batch of rows to a builder.
func (c *columnCursor) append(b *column.Builder, rows int) error {
	v := &c.values
	if v.n < rows && !c.null {
		return c.fail(diag.Errorf(diag.NotNullViolation, diag.NoPos,
			"null value in column %q of relation %q violates not-null constraint", c.name, c.table))
	}
	put := c.putter(b)
	if put == nil {
		if v.n == rows && c.bulk(b) {
			return nil
		}
		put = c.direct(b)
	}
	i := 0
	for row := range rows {
		if v.n < rows && c.defs[row] < c.max {
			b.AppendNull()
			continue
		}
		if err := put(i); err != nil {
			return c.fail(err)
		}
		i++
	}
	return nil
}

// bulk appends all values as they are, in one go; it returns false if it does not know how.
func (c *columnCursor) bulk(b *column.Builder) bool {
	v := &c.values
	switch {
	case v.floats != nil:
		b.AppendFloats(v.floats)
	case v.bytes != nil:
		for _, s := range v.bytes {
			b.AppendBytes(s)
		}
	case v.ints != nil:
		b.AppendInts(v.ints[:v.n])
	default:
		return false
	}
	return true
}

// direct appends value i as it is.
func (c *columnCursor) direct(b *column.Builder) func(i int) error {
	v := &c.values
	switch {
	case v.floats != nil:
		return func(i int) error { b.AppendFloat(v.floats[i]); return nil }
	case v.bytes != nil:
		return func(i int) error { b.AppendBytes(v.bytes[i]); return nil }
	case v.ints != nil:
		return func(i int) error { b.AppendInt(v.ints[i]); return nil }
	case len(v.ivls) > 0:
		return func(i int) error { b.Append(v.ivls[i]); return nil }
	}
	return func(i int) error { b.AppendI128(v.wide[i]); return nil }
}

// putter appends value i converted to the table's type; it is nil if there is nothing to convert.
func (c *columnCursor) putter(b *column.Builder) func(i int) error {
	from, to := c.def.Type, c.t
	switch {
	case from == to,
		from.IsInteger() && to.IsInteger() && from.Kind <= to.Kind,
		from.Kind == types.Text && to == types.TText,
		from.Kind == types.Float32 && to.Kind == types.Float64,
		from.Kind == types.Decimal && to.Kind == types.Decimal && from.Scale == to.Scale && from.Prec <= to.Prec:
		return nil
	case from.Kind == types.Text && to.Kind == types.Text && c.fits(int(to.Len)):
		return nil
	}
	return func(i int) error {
		v, err := types.Assign(c.value(i), to)
		if err == nil {
			b.Append(v)
		}
		return err
	}
}

// fits reports whether no text of the batch has more than n bytes, and so none more than n characters.
func (c *columnCursor) fits(n int) bool {
	for _, s := range c.values.bytes {
		if len(s) > n {
			return false
		}
	}
	return true
}

// value is value i of the batch.
func (c *columnCursor) value(i int) types.Value {
	v, t := &c.values, c.def.Type
	switch {
	case v.floats != nil:
		return types.FloatValue(t, v.floats[i])
	case v.bytes != nil:
		return types.Value{Type: t, S: string(v.bytes[i])}
	case v.ints != nil && t.Kind == types.Decimal:
		return types.DecimalValue(t, types.FromInt64(v.ints[i]))
	case v.ints != nil:
		return types.IntValue(t, v.ints[i])
	case len(v.ivls) > 0:
		return v.ivls[i]
	}
	return types.DecimalValue(t, v.wide[i])
}
