package file

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// parquetEncoder writes row groups, whose columns are encoded side by side. The first rows are kept until
// there are enough to decide how.
type parquetEncoder struct {
	out   io.Writer
	root  *schema.GroupNode
	codec string // "": what suits each column
	first []arrow.RecordBatch
	kept  int64 // rows of first

	w     *pqfile.Writer // nil: not yet
	tops  []*parquetTop  // columns …
	cols  []*parquetSink // … and what is written of them: their leaves
	group pqfile.BufferedRowGroupWriter
	rows  int64 // of the group
	limit int64
}

// parquetSink is a column being written.
type parquetSink struct {
	def  catalog.ColumnDef
	path []string  // name in the file
	down []descent // from the column to what is written, if it is nested
	w    pqfile.ColumnChunkWriter
	page int // bytes of the page's texts, plus its rows
	defs []int16
	reps []int16 // of a leaf in a list

	// Values that are not NULL, one of them used.
	bools  []bool
	i32    []int32
	i64    []int64
	f32    []float32
	f64    []float64
	bytes  []parquet.ByteArray
	fixed  []parquet.FixedLenByteArray
	arena  []byte
	length int // of fixed
}

var codecs = map[string]compress.Compression{
	"snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd,
	"gzip": compress.Codecs.Gzip, "brotli": compress.Codecs.Brotli, "lz4": compress.Codecs.Lz4Raw,
	"none": compress.Codecs.Uncompressed, "uncompressed": compress.Codecs.Uncompressed,
}

func newParquetEncoder(w io.Writer, cols []catalog.ColumnDef, opts Options) (*parquetEncoder, error) {
	if _, ok := codecs[opts.Compression]; !ok && opts.Compression != "" {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "compression %q not recognized", opts.Compression)
	}
	if len(cols) == 0 {
		return nil, diag.Unsupported(diag.NoPos, "writing a Parquet file without columns")
	}
	e := &parquetEncoder{out: w, codec: opts.Compression, limit: opts.RowGroupSize}
	if e.limit <= 0 {
		e.limit = defaultRowGroupSize
	}
	var names []string
	for _, c := range cols {
		names = append(names, c.Name)
	}
	var fields schema.FieldList
	for i, name := range uniqueNames(names) { // the same name twice would confuse readers
		s := &parquetSink{def: cols[i], path: []string{name}}
		top := &parquetTop{sinks: []*parquetSink{s}}
		var node schema.Node
		var err error
		if cols[i].Type.IsNested() {
			b := &shredder{top: cols[i].Name}
			top.root, node, err = b.field(name, cols[i].Type, cols[i].NotNull, 0, nil, nil)
			top.sinks = b.list
		} else {
			node, err = s.node(name)
		}
		if err != nil {
			return nil, err
		}
		fields = append(fields, node)
		e.tops, e.cols = append(e.tops, top), append(e.cols, top.sinks...)
	}
	var err error
	e.root, err = schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	return e, err
}

// start begins the file, with the rows that were kept.
func (e *parquetEncoder) start() error {
	first := e.first
	e.first = nil
	defer func() {
		for _, rec := range first {
			rec.Release()
		}
	}()
	list, err := e.properties(first)
	if err != nil {
		return err
	}
	props := parquet.NewWriterProperties(append(list, parquet.WithCreatedBy("kelpie"),
		parquet.WithMaxRowGroupLength(math.MaxInt64), parquet.WithPageIndexEnabled(true), parquet.WithDataPageSize(math.MaxInt64), // cutPage does it

		parquet.WithDictionaryPageSizeLimit(dictSize))...)
	if e.w, err = pqfile.NewParquetWriterWithError(onlyWriter{e.out}, e.root, pqfile.WithWriterProps(props)); err != nil {
		return err
	}
	for _, rec := range first {
		if err := e.write(rec); err != nil {
			return err
		}
	}
	return nil
}

// Pages end after so many rows, in all columns alike, so that readers can leave those out that have no rows they
// need; and after so many bytes of texts.
const (
	pageRows = 20 << 10
	pageSize = 1 << 20
)

// dictSize is the bytes that a dictionary may have before its column goes on without.
const dictSize = 1 << 20

// onlyWriter hides Close from the library, which would close what is not its own.
type onlyWriter struct{ io.Writer }

// node is the Parquet schema of the column.
func (s *parquetSink) node(name string) (schema.Node, error) {
	rep := parquet.Repetitions.Optional
	if s.def.NotNull {
		rep = parquet.Repetitions.Required
	}
	t := s.def.Type
	var phys parquet.Type
	var logical schema.LogicalType = schema.NoLogicalType{}
	switch t.Kind {
	case types.Bool:
		phys = parquet.Types.Boolean
	case types.Int8:
		phys, logical = parquet.Types.Int32, schema.NewIntLogicalType(8, true)
	case types.UInt8:
		phys, logical = parquet.Types.Int32, schema.NewIntLogicalType(8, false)
	case types.UInt16:
		phys, logical = parquet.Types.Int32, schema.NewIntLogicalType(16, false)
	case types.UInt32:
		phys, logical = parquet.Types.Int32, schema.NewIntLogicalType(32, false)
	case types.Int16:
		phys, logical = parquet.Types.Int32, schema.NewIntLogicalType(16, true)
	case types.Int32:
		phys, logical = parquet.Types.Int32, schema.NewIntLogicalType(32, true)
	case types.Int64:
		phys, logical = parquet.Types.Int64, schema.NewIntLogicalType(64, true)
	case types.Float32:
		phys = parquet.Types.Float
	case types.Float64:
		phys = parquet.Types.Double
	case types.Date:
		phys, logical = parquet.Types.Int32, schema.DateLogicalType{}
	case types.Timestamp:
		phys, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(false, schema.TimeUnitMicros)
	case types.TimestampTZ:
		phys, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)
	case types.Time:
		phys, logical = parquet.Types.Int64, schema.NewTimeLogicalType(false, schema.TimeUnitMicros)
	case types.Bytes:
		phys = parquet.Types.ByteArray
	case types.UUID:
		phys, logical, s.length = parquet.Types.FixedLenByteArray, schema.UUIDLogicalType{}, 16
	case types.JSON:
		phys, logical = parquet.Types.ByteArray, schema.JSONLogicalType{}
	case types.Text:
		phys, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case types.Interval:
		phys, logical, s.length = parquet.Types.FixedLenByteArray, schema.IntervalLogicalType{}, 12
	case types.Unknown: // a column of NULLs
		phys, logical = parquet.Types.Int32, schema.NullLogicalType{}
	case types.Decimal:
		if t == types.TUInt64 {
			phys, logical = parquet.Types.Int64, schema.NewIntLogicalType(64, false)
			break
		}
		logical = schema.NewDecimalLogicalType(int32(t.Prec), int32(t.Scale))
		switch {
		case t.Prec <= 9:
			phys = parquet.Types.Int32
		case t.Prec <= 18:
			phys = parquet.Types.Int64
		default:
			phys, s.length = parquet.Types.FixedLenByteArray, decimalBytes(int(t.Prec))
		}
	default:
		return nil, diag.Unsupported(diag.NoPos, "column %q: writing %s to Parquet", s.def.Name, t)
	}
	length := s.length
	if length == 0 {
		length = -1
	}
	return schema.NewPrimitiveNodeLogical(name, rep, logical, phys, length, -1)
}

// decimalBytes is how many bytes hold every signed number of so many digits.
func decimalBytes(prec int) int {
	return types.Pow10(prec).ToBig().BitLen()/8 + 1
}

func (e *parquetEncoder) write(rec arrow.RecordBatch) error {
	if int(rec.NumCols()) != len(e.tops) {
		return diag.Internalf("write parquet", "a batch of %d columns for %d", rec.NumCols(), len(e.tops))
	}
	if e.w == nil {
		rec.Retain()
		e.first = append(e.first, rec)
		if e.kept += rec.NumRows(); e.kept < sampleRows {
			return nil
		}
		return e.start()
	}
	for lo := int64(0); lo < rec.NumRows(); {
		if e.group == nil {
			if err := e.begin(); err != nil {
				return err
			}
		}
		n := min(rec.NumRows()-lo, e.limit-e.rows, pageRows-e.rows%pageRows)
		e.rows += n
		if err := e.rowsOf(rec, int(lo), int(lo+n)); err != nil {
			return err
		}
		lo += n
		if e.rows == e.limit {
			if err := e.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin starts a row group.
func (e *parquetEncoder) begin() (err error) {
	if e.group, err = e.w.AppendBufferedRowGroupChecked(); err != nil {
		return err
	}
	for i, s := range e.cols {
		if s.w, err = e.group.Column(i); err != nil {
			return err
		}
		s.page = 0
	}
	e.rows = 0
	return nil
}

func (e *parquetEncoder) end() error {
	g := e.group
	e.group = nil
	return g.Close()
}

func (e *parquetEncoder) finish() error {
	if err := e.settle(); err != nil {
		return err
	}
	return e.w.Close()
}

// settle keeps no rows: they become a row group.
func (e *parquetEncoder) settle() error {
	if e.w == nil {
		if err := e.start(); err != nil {
			return err
		}
	}
	if e.group == nil {
		return nil
	}
	return e.end()
}

// rowsOf writes rows of a batch, some columns at a time.
func (e *parquetEncoder) rowsOf(rec arrow.RecordBatch, lo, hi int) error {
	errs := make([]error, len(e.tops))
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, t := range e.tops {
		wg.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			defer diag.Recover("write parquet", &errs[i])
			errs[i] = t.write(rec.Column(i), lo, hi)
			for _, s := range t.sinks {
				if errs[i] == nil && e.rows%pageRows == 0 {
					errs[i] = s.cutPage()
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// reset forgets the values.
func (s *parquetSink) reset() {
	s.bools, s.i32, s.i64, s.f32, s.f64 = s.bools[:0], s.i32[:0], s.i64[:0], s.f32[:0], s.f64[:0]
	s.bytes, s.fixed, s.arena, s.defs, s.reps = s.bytes[:0], s.fixed[:0], s.arena[:0], s.defs[:0], s.reps[:0]
}

// cutPage ends a page.
func (s *parquetSink) cutPage() error {
	if s.page == 0 {
		return nil
	}
	s.page = 0
	return s.w.(interface{ FlushCurrentPage() error }).FlushCurrentPage()
}

// write writes rows of a column.
func (s *parquetSink) write(col arrow.Array, lo, hi int) error {
	s.page += hi - lo
	if c, ok := col.(*array.String); ok {
		size := int(c.ValueOffsets()[hi] - c.ValueOffsets()[lo])
		if hi-lo > 1 && size > pageSize {
			s.page -= hi - lo
			if err := s.write(col, lo, (lo+hi)/2); err != nil {
				return err
			}
			return s.write(col, (lo+hi)/2, hi)
		}
		s.page += size
	}
	if err := s.writeSome(col, lo, hi); err != nil || s.page < pageSize {
		return err
	}
	return s.cutPage()
}

func (s *parquetSink) writeSome(col arrow.Array, lo, hi int) error {
	if s.def.NotNull && col.NullN() > 0 {
		return diag.Errorf(diag.NotNullViolation, diag.NoPos, "null value in column %q, which is not to have any", s.def.Name)
	}
	s.reset()
	var defs []int16
	if !s.def.NotNull {
		for row := lo; row < hi; row++ {
			d := int16(1)
			if col.IsNull(row) {
				d = 0
			}
			s.defs = append(s.defs, d)
		}
		defs = s.defs
	}
	return s.flush(col, lo, hi, defs, nil)
}

// flush writes values of an array that are not NULL, with the levels of all.
func (s *parquetSink) flush(col arrow.Array, lo, hi int, defs, reps []int16) error {
	if !s.gather(col, lo, hi) {
		return diag.Internalf("write parquet", "column %q of type %s is %s", s.def.Name, s.def.Type, col.DataType())
	}
	var err error
	switch w := s.w.(type) {
	case *pqfile.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(s.bools, defs, reps)
	case *pqfile.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(s.i32, defs, reps)
	case *pqfile.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(s.i64, defs, reps)
	case *pqfile.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(s.f32, defs, reps)
	case *pqfile.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(s.f64, defs, reps)
	case *pqfile.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(s.bytes, defs, reps)
	case *pqfile.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(s.fixed, defs, reps)
	default:
		err = fmt.Errorf("no writer for column %q", s.def.Name)
	}
	return err
}

// gather collects the values of rows that are not NULL. It returns false if the array is not of the column's
// type.
func (s *parquetSink) gather(col arrow.Array, lo, hi int) bool {
	switch c := col.(type) {
	case *array.Null:
		return true
	case *array.Boolean:
		each(col, lo, hi, func(i int) { s.bools = append(s.bools, c.Value(i)) })
	case *array.Int8:
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, int32(c.Value(i))) })
	case *array.Uint8:
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, int32(c.Value(i))) })
	case *array.Uint16:
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, int32(c.Value(i))) })
	case *array.Uint32: // its bits
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, int32(c.Value(i))) })
	case *array.Uint64: // its bits
		each(col, lo, hi, func(i int) { s.i64 = append(s.i64, int64(c.Value(i))) })
	case *array.Int16:
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, int32(c.Value(i))) })
	case *array.Int32:
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, c.Value(i)) })
	case *array.Date32:
		each(col, lo, hi, func(i int) { s.i32 = append(s.i32, int32(c.Value(i))) })
	case *array.Int64:
		each(col, lo, hi, func(i int) { s.i64 = append(s.i64, c.Value(i)) })
	case *array.Timestamp:
		if c.DataType().(*arrow.TimestampType).Unit != arrow.Microsecond {
			return false
		}
		each(col, lo, hi, func(i int) { s.i64 = append(s.i64, int64(c.Value(i))) })
	case *array.Time64:
		if c.DataType().(*arrow.Time64Type).Unit != arrow.Microsecond {
			return false
		}
		each(col, lo, hi, func(i int) { s.i64 = append(s.i64, int64(c.Value(i))) })
	case *array.Float32:
		each(col, lo, hi, func(i int) { s.f32 = append(s.f32, c.Value(i)) })
	case *array.Float64:
		each(col, lo, hi, func(i int) { s.f64 = append(s.f64, c.Value(i)) })
	case *array.Binary:
		each(col, lo, hi, func(i int) { s.bytes = append(s.bytes, c.Value(i)) })
	case *array.String:
		if s.def.Type.Kind == types.UUID {
			each(col, lo, hi, func(i int) { s.put(types.UUIDBytes(c.Value(i))) })
			s.cut()
			break
		}
		each(col, lo, hi, func(i int) { s.bytes = append(s.bytes, stringBytes(c.Value(i))) })
	case *array.Decimal128:
		return s.decimals(c, lo, hi)
	case *array.MonthDayNanoInterval:
		each(col, lo, hi, func(i int) { s.interval(c.Value(i)) })
		s.cut()
	default:
		return false
	}
	return true
}

// each calls f for the rows that are not NULL.
func each(col arrow.Array, lo, hi int, f func(i int)) {
	if col.NullN() == 0 {
		for i := lo; i < hi; i++ {
			f(i)
		}
		return
	}
	for i := lo; i < hi; i++ {
		if col.IsValid(i) {
			f(i)
		}
	}
}

func (s *parquetSink) decimals(c *array.Decimal128, lo, hi int) bool {
	t := s.def.Type
	if t.Kind != types.Decimal || c.DataType().(*arrow.Decimal128Type).Scale != int32(t.Scale) {
		return false
	}
	each(c, lo, hi, func(i int) {
		v := c.Value(i)
		switch {
		case t.Prec <= 9:
			s.i32 = append(s.i32, int32(v.LowBits()))
		case t.Prec <= 18:
			s.i64 = append(s.i64, int64(v.LowBits()))
		default:
			var b [16]byte
			binary.BigEndian.PutUint64(b[:], uint64(v.HighBits()))
			binary.BigEndian.PutUint64(b[8:], v.LowBits())
			s.put(b[16-s.length:])
		}
	})
	s.cut()
	return true
}

// interval keeps an interval. Parquet's have no sign and end at milliseconds; losing a part
// without a word would be worse than an error.
func (s *parquetSink) interval(v arrow.MonthDayNanoInterval) {
	ms := v.Nanoseconds / 1e6
	if v.Months < 0 || v.Days < 0 || ms < 0 || ms > math.MaxUint32 || v.Nanoseconds%1e6 != 0 {
		text := types.AppendInterval(nil, v.Months, v.Days, v.Nanoseconds/1000)
		panic(diag.Errorf(diag.IntervalOverflow, diag.NoPos, "interval %q cannot be stored in Parquet", text).
			WithDetail("column %q", s.def.Name).
			WithHint("Parquet has no negative intervals and no microseconds in them: cast the column to VARCHAR"))
	}
	var b [12]byte
	binary.LittleEndian.PutUint32(b[:], uint32(v.Months))
	binary.LittleEndian.PutUint32(b[4:], uint32(v.Days))
	binary.LittleEndian.PutUint32(b[8:], uint32(ms))
	s.put(b[:])
}

// put keeps a value of fixed length; cut makes slices of all, once the arena does not move any more.
func (s *parquetSink) put(b []byte) { s.arena = append(s.arena, b...) }

func (s *parquetSink) cut() {
	for i := len(s.fixed) * s.length; i < len(s.arena); i += s.length {
		s.fixed = append(s.fixed, s.arena[i:i+s.length])
	}
}

// stringBytes is the bytes of a string, in place.
func stringBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
