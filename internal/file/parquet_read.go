package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// batchRows is how many rows are decoded at a time: small enough that values and levels
// stay in the cache until they are in the builder.
const batchRows = 4096

// columnCursor reads one column through the row groups of a unit. It belongs to one goroutine at a time.
type columnCursor struct {
	col   int // in the file
	to    int // in the table
	t     types.Type
	null  bool // NULL is allowed
	table string
	name  string

	groups []rowGroup // still to come
	cur    rowGroup   // also before the first is opened, for errors
	def    *parquetColumn
	r      pqfile.ColumnChunkReader
	pages  *checkedPages
	left   int64 // rows of the current row group
	max    int16 // definition level of a value

	defs   []int16
	bools  []bool
	i32    []int32
	i64    []int64
	f32    []float32
	f64    []float64
	i96    []parquet.Int96
	bytes  []parquet.ByteArray
	fixed  []parquet.FixedLenByteArray
	ints   []int64 // i32, bools and others widened
	values values
}

// values is a batch of values that are not NULL: in one of the slices.
type values struct {
	n      int
	ints   []int64
	wide   []types.Int128
	floats []float64
	bytes  []parquet.ByteArray
	ivls   []types.Value
}

// fill appends rows to a builder.
func (c *columnCursor) fill(b *column.Builder, rows int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.damaged(fmt.Errorf("%v", v))
		}
	}()
	for rows > 0 {
		if c.left == 0 {
			if err := c.open(); err != nil {
				return err
			}
			continue
		}
		n, err := c.decode(min(rows, batchRows, int(c.left)))
		if err != nil {
			return err
		}
		if err := c.append(b, n); err != nil {
			return err
		}
		rows -= n
		c.left -= int64(n)
	}
	return nil
}

// open goes to the next row group.
func (c *columnCursor) open() error {
	c.close()
	c.cur, c.groups = c.groups[0], c.groups[1:]
	f := c.cur.file
	c.def = &f.cols[c.col]
	rg := c.cur.r.RowGroup(c.cur.index)
	c.left = rg.NumRows()
	pages, err := rg.GetColumnPageReader(c.col)
	if err != nil {
		return c.damaged(err)
	}
	descr := f.meta.Schema.Column(c.col)
	c.max = descr.MaxDefinitionLevel()
	c.pages = &checkedPages{PageReader: pages, text: c.def.form == utf8Text || c.def.form == binaryText}
	c.r = pqfile.NewColumnReader(descr, c.pages, memory.DefaultAllocator, c.cur.r.BufferPool())
	return nil
}

func (c *columnCursor) close() {
	if c.r != nil {
		c.r.Close()
		c.r = nil
	}
}

// damaged is the error of a column that cannot be decoded.
func (c *columnCursor) damaged(err error) error {
	return located(damaged(c.cur.file.in.path, err), "row group %d, column %q", c.cur.index, c.def.Name)
}

// fail is the error of a value that cannot be stored.
func (c *columnCursor) fail(err error) error {
	return located(err, "file %s, row group %d, column %q", c.cur.file.in.path, c.cur.index, c.def.Name)
}

// decode reads up to n rows of the current row group into defs and values.
func (c *columnCursor) decode(n int) (rows int, err error) {
	var total int64
	var got int
	c.defs = sized(c.defs, n)
	defs := c.defs
	if c.max == 0 {
		defs = nil
	}
	v := &c.values
	*v = values{wide: v.wide[:0], ivls: v.ivls[:0]}
	switch r := c.r.(type) {
	case *pqfile.BooleanColumnChunkReader:
		c.bools = sized(c.bools, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.bools, defs, nil)
		c.ints = sized(c.ints, got)
		for i, b := range c.bools[:got] {
			c.ints[i] = 0
			if b {
				c.ints[i] = 1
			}
		}
		v.ints = c.ints
	case *pqfile.Int32ColumnChunkReader:
		c.i32 = sized(c.i32, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.i32, defs, nil)
		c.ints = sized(c.ints, got)
		if c.def.form == unsigned {
			for i, x := range c.i32[:got] {
				c.ints[i] = int64(uint32(x))
			}
		} else {
			for i, x := range c.i32[:got] {
				c.ints[i] = int64(x)
			}
		}
		v.ints = c.ints
	case *pqfile.Int64ColumnChunkReader:
		c.i64 = sized(c.i64, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.i64, defs, nil)
		v.ints = c.i64[:got]
	case *pqfile.Int96ColumnChunkReader:
		c.i96 = sized(c.i96, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.i96, defs, nil)
		c.ints = sized(c.ints, got)
		for i := range c.i96[:got] {
			c.ints[i] = int96Micros(&c.i96[i])
		}
		v.ints = c.ints
	case *pqfile.Float32ColumnChunkReader:
		c.f32, c.f64 = sized(c.f32, n), sized(c.f64, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.f32, defs, nil)
		for i, x := range c.f32[:got] {
			c.f64[i] = float64(x)
		}
		v.floats = c.f64[:got]
	case *pqfile.Float64ColumnChunkReader:
		c.f64 = sized(c.f64, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.f64, defs, nil)
		v.floats = c.f64[:got]
	case *pqfile.ByteArrayColumnChunkReader:
		c.bytes = sized(c.bytes, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.bytes, defs, nil)
		v.bytes = c.bytes[:got]
	case *pqfile.FixedLenByteArrayColumnChunkReader:
		c.fixed, c.bytes = sized(c.fixed, n), sized(c.bytes, n)
		total, got, err = r.ReadBatchInPage(int64(n), c.fixed, defs, nil)
		for i, x := range c.fixed[:got] {
			c.bytes[i] = parquet.ByteArray(x)
		}
		v.bytes = c.bytes[:got]
	default:
		err = errors.New("unknown physical type")
	}
	if err == nil {
		err = c.r.Err()
	}
	if err == nil && (total == 0 || total > int64(n) || int64(got) > total || c.max == 0 && int64(got) != total) {
		err = fmt.Errorf("%d rows are missing", c.left)
	}
	if err != nil {
		return 0, c.damaged(err)
	}
	v.n = got
	return int(total), c.convert()
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// int96Micros is a timestamp of nanoseconds and Julian day. Every one that there is fits.
func int96Micros(x *parquet.Int96) int64 {
	ns := int64(binary.LittleEndian.Uint64(x[:8]))
	day := int64(binary.LittleEndian.Uint32(x[8:]))
	const unixJulian = 2440588
	day -= unixJulian
	if day > math.MaxInt32 || day < -unixJulian {
		return math.MaxInt64 // out of range, which is found out below
	}
	m, ok := types.FromInt64(day).Mul(types.FromInt64(types.MicrosPerDay))
	m = m.Add(types.FromInt64(ns / 1000))
	if !ok || !m.FitsInt64() {
		return math.MaxInt64
	}
	return int64(m.Lo)
}

// convert gives the values the representation of the column's SQL type and checks
// that they are in its range: what a file claims is not what it has.
func (c *columnCursor) convert() error {
	v := &c.values
	t := c.def.Type
	switch c.def.form {
	case millis:
		if err := c.check(v.ints, math.MinInt64/1000, math.MaxInt64/1000); err != nil {
			return err
		}
		for i := range v.ints {
			v.ints[i] *= 1000
		}
	case nanos:
		if _, ok := c.r.(*pqfile.Int64ColumnChunkReader); ok {
			for i, x := range v.ints {
				v.ints[i] = floorDiv(x, 1000)
			}
		}
	case unsigned:
		if t.Kind == types.Decimal { // 64 bits
			for _, x := range v.ints {
				v.wide = append(v.wide, types.Int128{Lo: uint64(x)})
			}
			v.ints = nil
			return nil
		}
	case bigEndian:
		for _, b := range v.bytes {
			x, ok := int128Bytes(b)
			if !ok || !types.FitsPrecision(x, int(t.Prec)) {
				return c.fail(types.ErrOutOfRange(t))
			}
			v.wide = append(v.wide, x)
		}
		v.bytes = nil
		return nil
	case utf8Text, binaryText:
		return c.checkText()
	case uuidText:
		for i, b := range v.bytes {
			v.bytes[i] = appendUUID(nil, b)
		}
		return nil
	case intervals:
		for _, b := range v.bytes {
			months, days, ms := le32(b), le32(b[4:]), le32(b[8:])
			if months > math.MaxInt32 || days > math.MaxInt32 {
				return c.fail(types.ErrOutOfRange(t))
			}
			v.ivls = append(v.ivls, types.IntervalValue(int32(months), int32(days), int64(ms)*1000))
		}
		v.bytes = nil
		return nil
	}
	switch t.Kind {
	case types.Int16:
		return c.check(v.ints, math.MinInt16, math.MaxInt16)
	case types.Int32:
		return c.check(v.ints, math.MinInt32, math.MaxInt32)
	case types.Date:
		return c.check(v.ints, types.MinDate, types.MaxDate)
	case types.Timestamp:
		return c.check(v.ints, types.MinTimestamp, types.MaxTimestamp)
	case types.Decimal:
		if t.Prec <= 18 {
			return c.check(v.ints, 1-pow10[t.Prec], pow10[t.Prec]-1)
		}
	}
	return nil
}

// check reports an integer outside of a range.
func (c *columnCursor) check(xs []int64, lo, hi int64) error {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, x := range xs {
		least, most = min(least, x), max(most, x)
	}
	if len(xs) > 0 && (least < lo || most > hi) {
		return c.fail(types.ErrOutOfRange(c.def.Type))
	}
	return nil
}

// checkText reports bytes that are no text.
func (c *columnCursor) checkText() error {
	if c.pages.checked {
		return nil
	}
	for _, b := range c.values.bytes {
		if utf8.Valid(b) {
			continue
		}
		if c.def.form == binaryText {
			return c.fail(diag.Unsupported(diag.NoPos, "column %q: binary data that is not text", c.def.Name))
		}
		return c.fail(&types.Error{Code: diag.CharacterNotInRepertoire, Msg: `invalid byte sequence for encoding "UTF8"`})
	}
	return nil
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// int128Bytes reads a two's complement number, most significant byte first.
func int128Bytes(b []byte) (x types.Int128, ok bool) {
	if len(b) == 0 {
		return x, true
	}
	sign := uint64(int64(int8(b[0])) >> 63)
	for len(b) > 16 { // more bytes than needed
		if b[0] != byte(sign) || int8(b[1])>>7 != int8(sign) {
			return x, false
		}
		b = b[1:]
	}
	hi, lo := sign, sign
	for _, d := range b {
		hi = hi<<8 | lo>>56
		lo = lo<<8 | uint64(d)
	}
	return types.Int128{Lo: lo, Hi: int64(hi)}, true
}

// appendUUID appends a UUID in its usual notation.
func appendUUID(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	for i, x := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hex[x>>4], hex[x&15])
	}
	return dst
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
