package file

import (
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

var parquetMagic = []byte("PAR1")

// parquetFile is what Open remembers of a Parquet file.
type parquetFile struct {
	in   *input
	meta *metadata.FileMetaData
	cols []parquetColumn

	chunks [][]chunkInfo // by row group and column
	memory mapping
}

// parquetColumn is a top-level column, which is also a leaf: nested ones are refused.
type parquetColumn struct {
	catalog.ColumnDef
	form form
}

// form is what the bytes of a column's physical type mean.
type form uint8

const (
	asIs     form = iota
	unsigned      // the bits of an unsigned integer
	millis        // time units, to be microseconds
	nanos
	binaryText // bytes that we take for text if they are
	utf8Text
	bigEndian // a decimal's bytes
	uuidText
	intervals // months, days, milliseconds
)

// guard turns a panic of the Parquet library, which trusts files more than they
// deserve, into an error about the file.
func guard(path string, err *error) {
	if v := recover(); v != nil {
		*err = damaged(path, fmt.Errorf("%v", v))
	}
}

// lookParquet reads the footers.
func (s *Source) lookParquet() error {
	for _, in := range s.files {
		if in.stream != nil {
			return diag.Unsupported(diag.NoPos, "reading Parquet from a stream")
		}
		f, err := openParquet(in)
		if err != nil {
			return err
		}
		var cols []catalog.ColumnDef
		for _, c := range f.cols {
			cols = append(cols, c.ColumnDef)
		}
		if s.parquet == nil {
			s.cols = cols
		}
		if len(cols) != len(s.cols) {
			return s.disagree(in, cols)
		}
		for i := range cols {
			if cols[i].Name != s.cols[i].Name || cols[i].Type != s.cols[i].Type {
				return s.disagree(in, cols)
			}
			s.cols[i].NotNull = s.cols[i].NotNull && cols[i].NotNull
		}
		s.parquet = append(s.parquet, f)
		s.rows += f.meta.GetNumRows()
	}
	s.guessAll()
	return nil
}

// openParquet reads the footer of a file and checks it as far as that goes without the data.
func openParquet(in *input) (f *parquetFile, err error) {
	defer guard(in.path, &err)
	r, err := openReader(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f = &parquetFile{in: in, meta: r.MetaData()}
	root := f.meta.Schema.Root()
	for i := range root.NumFields() {
		c, err := columnOf(root.Field(i))
		if err != nil {
			return nil, located(err, "file %s", in.path)
		}
		f.cols = append(f.cols, c)
	}
	if len(f.cols) == 0 {
		return nil, diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "file %q has no columns", in.path)
	}
	if err := f.checkChunks(); err != nil {
		return nil, damaged(in.path, err)
	}
	f.readFooter()
	return f, nil
}

// openUnchanged opens a file whose footer has been read.
func openUnchanged(f *parquetFile) (*os.File, error) {
	h, err := os.Open(f.in.path)
	if err != nil {
		return nil, fileError("open", f.in.path, err)
	}
	if st, err := h.Stat(); err != nil || st.Size() != f.in.size || !st.ModTime().Equal(f.in.mod) {
		h.Close()
		return nil, diag.Errorf(diag.IOError, diag.NoPos, "file %q was changed while it was read", f.in.path)
	}
	return h, nil
}

// openReader opens a file for the library, which reads the footer.
func openReader(in *input) (*pqfile.Reader, error) {
	f, err := os.Open(in.path)
	if err != nil {
		return nil, fileError("open", in.path, err)
	}
	r, err := pqfile.NewParquetReader(f, pqfile.WithReadProps(parquet.NewReaderProperties(memory.NewGoAllocator())))
	if err != nil {
		f.Close()
		return nil, damaged(in.path, err)
	}
	return r, nil
}

// checkChunks checks what readers would believe and allocate memory for.
func (f *parquetFile) checkChunks() error {
	total := int64(0)
	for g := range f.meta.GetRowGroups() {
		rg := f.meta.RowGroup(g)
		if rg.NumRows() < 0 {
			return fmt.Errorf("row group %d has %d rows", g, rg.NumRows())
		}
		if rg.NumColumns() != len(f.cols) {
			return fmt.Errorf("row group %d has %d columns instead of %d", g, rg.NumColumns(), len(f.cols))
		}
		total += rg.NumRows()
		for i := range f.cols {
			c, err := rg.ColumnChunk(i)
			if err != nil {
				return err
			}
			start := c.DataPageOffset()
			if at := c.DictionaryPageOffset(); c.HasDictionaryPage() && at > 0 {
				start = min(start, at)
			}
			size := c.TotalCompressedSize()
			if start < 0 || size < 0 || start > f.in.size || size > f.in.size-start {
				return fmt.Errorf("column %q of row group %d is outside of the file", f.cols[i].Name, g)
			}
			if c.NumValues() != rg.NumRows() {
				return fmt.Errorf("column %q of row group %d has %d values for %d rows", f.cols[i].Name, g, c.NumValues(), rg.NumRows())
			}
			if c.Type() != f.meta.Schema.Column(i).PhysicalType() {
				return fmt.Errorf("column %q of row group %d has type %s", f.cols[i].Name, g, c.Type())
			}
		}
	}
	if total != f.meta.GetNumRows() {
		return fmt.Errorf("the row groups have %d rows instead of %d", total, f.meta.GetNumRows())
	}
	return nil
}

// columnOf is our view of a column.
func columnOf(n schema.Node) (c parquetColumn, err error) {
	c.Name = n.Name()
	c.NotNull = n.RepetitionType() == parquet.Repetitions.Required
	p, ok := n.(*schema.PrimitiveNode)
	if !ok || n.RepetitionType() == parquet.Repetitions.Repeated {
		return c, diag.Unsupported(diag.NoPos, "column %q: a nested column", c.Name)
	}
	c.Type, c.form, ok = typeOf(p)
	if !ok {
		kind := p.PhysicalType().String()
		if l := p.LogicalType(); l != nil && l.IsValid() && !l.IsNone() {
			kind = l.String()
		}
		return c, diag.Unsupported(diag.NoPos, "column %q: the Parquet type %s", c.Name, kind)
	}
	return c, nil
}

// typeOf is the SQL type of a Parquet type.
func typeOf(p *schema.PrimitiveNode) (t types.Type, f form, ok bool) {
	phys := p.PhysicalType()
	switch l := p.LogicalType().(type) {
	case schema.DecimalLogicalType:
		prec, scale := int(l.Precision()), int(l.Scale())
		if prec < 1 || prec > types.MaxPrecision || scale < 0 || scale > prec {
			return t, f, false
		}
		if phys == parquet.Types.ByteArray || phys == parquet.Types.FixedLenByteArray {
			f = bigEndian
		}
		return types.TDecimal(prec, scale), f, true
	case schema.IntLogicalType:
		t, f = intType(int(l.BitWidth()), l.IsSigned())
		if l.BitWidth() == 64 {
			return t, f, phys == parquet.Types.Int64
		}
		return t, f, phys == parquet.Types.Int32
	case schema.DateLogicalType:
		return types.TDate, asIs, phys == parquet.Types.Int32
	case schema.TimestampLogicalType:
		switch l.TimeUnit() {
		case schema.TimeUnitMillis:
			f = millis
		case schema.TimeUnitNanos:
			f = nanos
		}
		return types.TTimestamp, f, phys == parquet.Types.Int64
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return types.TText, utf8Text, phys == parquet.Types.ByteArray
	case schema.UUIDLogicalType:
		return types.TText, uuidText, phys == parquet.Types.FixedLenByteArray && p.TypeLength() == 16
	case schema.IntervalLogicalType:
		return types.TInterval, intervals, phys == parquet.Types.FixedLenByteArray && p.TypeLength() == 12
	case schema.NoLogicalType, schema.UnknownLogicalType, schema.NullLogicalType, nil:
		return plainType(phys)
	}
	return t, f, false
}

// intType is the type that holds all integers of a width.
func intType(bits int, signed bool) (types.Type, form) {
	switch {
	case bits == 64 && !signed:
		return types.TDecimal(20, 0), unsigned
	case bits == 64:
		return types.TInt64, asIs
	case bits == 32 && !signed:
		return types.TInt64, unsigned
	case bits == 32, bits == 16 && !signed:
		return types.TInt32, asIs
	}
	return types.TInt16, asIs
}

// plainType is the type of a physical type without further meaning.
func plainType(p parquet.Type) (types.Type, form, bool) {
	switch p {
	case parquet.Types.Boolean:
		return types.TBool, asIs, true
	case parquet.Types.Int32:
		return types.TInt32, asIs, true
	case parquet.Types.Int64:
		return types.TInt64, asIs, true
	case parquet.Types.Int96: // what old Hive and Spark write for timestamps
		return types.TTimestamp, nanos, true
	case parquet.Types.Float:
		return types.TFloat32, asIs, true
	case parquet.Types.Double:
		return types.TFloat64, asIs, true
	case parquet.Types.ByteArray:
		return types.TText, binaryText, true
	}
	return types.Type{}, asIs, false
}
