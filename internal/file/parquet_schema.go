package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

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

// parquetColumn is a top-level column.
type parquetColumn struct {
	catalog.ColumnDef
	form form
	leaf int // its number among the columns of the file's row groups; -1: it has none that can be read

	value types.Value // inPath: of all rows
	tree  *nestedNode // nested
}

// leaf is how the file describes a column that can be read.
func (f *parquetFile) leaf(col int) *schema.Column { return f.meta.Schema.Column(f.cols[col].leaf) }

// form is what the bytes of a column's physical type mean.
type form uint8

const (
	asIs     form = iota
	unsigned      // the bits of an unsigned integer
	millis        // time units, to be microseconds
	nanos
	binaryText // bytes that we take for text if they are
	rawBytes   // bytes that are none
	utf8Text
	bigEndian // a decimal's bytes
	uuidText
	intervals // months, days, milliseconds
	inPath    // the value of a folder's name, for all rows of the file
	nested    // made of several leaves
)

// guard turns a panic of the Parquet library, which trusts files more than they
// deserve, into an error about the file.
func guard(path string, err *error) {
	switch v := recover().(type) {
	case nil:
	case error:
		*err = damaged(path, v)
	default:
		*err = damaged(path, fmt.Errorf("%v", v))
	}
}

// lookParquet reads the footers.
func (s *Source) lookParquet(opts *Options) error {
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
			if !sameColumn(&cols[i], &s.cols[i]) {
				return s.disagree(in, cols)
			}
			s.cols[i].NotNull = s.cols[i].NotNull && cols[i].NotNull
		}
		s.parquet = append(s.parquet, f)
		s.rows += f.meta.GetNumRows()
	}
	s.guessAll()
	if err := s.addPlaces(opts); err != nil {
		return err
	}
	s.addFolderChunks()
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
	leaves := 0
	for i := range root.NumFields() {
		marked := marksTexts(f.meta.GetCreatedBy())
		c := columnOf(root.Field(i), marked)
		if c.Foreign != nil {
			if tree := f.nestedOf(root.Field(i), leaves, marked); tree != nil {
				c.Foreign, c.Type, c.form, c.tree = nil, tree.t, nested, tree
				c.NotNull = tree.def == 0
			}
		}
		if c.form == nested {
			// Its leaves have numbers; it has none.
		} else if c.Foreign == nil || !c.Foreign.Unreadable {
			c.leaf = leaves
		}
		f.cols = append(f.cols, c)
		leaves += leavesOf(root.Field(i))
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

// openReader opens a file for the library, which reads the footer.
func openReader(in *input) (*pqfile.Reader, error) {
	f, err := os.Open(in.path)
	if err != nil {
		return nil, fileError("open", in.path, err)
	}
	if err := checkFooter(f); err != nil {
		f.Close()
		return nil, damaged(in.path, err)
	}
	r, err := pqfile.NewParquetReader(f, pqfile.WithReadProps(parquet.NewReaderProperties(memory.NewGoAllocator())))
	if err != nil {
		f.Close()
		return nil, damaged(in.path, err)
	}
	return r, nil
}

// checkFooter makes sure that the footer claims nothing that it cannot have, before the library believes it. What is
// wrong in another way is left to the library.
func checkFooter(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return fileError("read", f.Name(), err)
	}
	var end [8]byte
	if st.Size() < 12 {
		return nil
	}
	if err := readFull(f, end[:], st.Size()-8); err != nil {
		return err
	}
	size := int64(le32(end[:]))
	if !bytes.Equal(end[4:], parquetMagic) || size > st.Size()-12 {
		return nil
	}
	b := make([]byte, size)
	if err := readFull(f, b, st.Size()-8-size); err != nil {
		return err
	}
	if !wellFormed(b) {
		return errors.New("the footer makes no sense")
	}
	return nil
}

// checkChunks checks what readers would believe and allocate memory for.
func (f *parquetFile) checkChunks() error {
	total := int64(0)
	for g := range f.meta.GetRowGroups() {
		rg := f.meta.RowGroup(g)
		if rg.NumRows() < 0 {
			return fmt.Errorf("row group %d has %d rows", g, rg.NumRows())
		}
		if n := f.meta.Schema.NumColumns(); rg.NumColumns() != n {
			return fmt.Errorf("row group %d has %d columns instead of %d", g, rg.NumColumns(), n)
		}
		total += rg.NumRows()
		for i := range f.cols {
			if f.cols[i].form == nested {
				if err := f.checkLeaves(rg, &f.cols[i]); err != nil {
					return err
				}
			}
			if f.cols[i].leaf < 0 {
				continue
			}
			c, err := rg.ColumnChunk(f.cols[i].leaf)
			if err != nil {
				return err
			}
			if !f.inside(c) {
				return fmt.Errorf("column %q of row group %d is outside of the file", f.cols[i].Name, g)
			}
			if c.NumValues() != rg.NumRows() {
				return fmt.Errorf("column %q of row group %d has %d values for %d rows", f.cols[i].Name, g, c.NumValues(), rg.NumRows())
			}
			if c.Type() != f.leaf(i).PhysicalType() {
				return fmt.Errorf("column %q of row group %d has type %s", f.cols[i].Name, g, c.Type())
			}
		}
	}
	if total != f.meta.GetNumRows() {
		return fmt.Errorf("the row groups have %d rows instead of %d", total, f.meta.GetNumRows())
	}
	return nil
}

// inside reports a chunk whose pages are in the file.
func (f *parquetFile) inside(c *metadata.ColumnChunkMetaData) bool {
	start := c.DataPageOffset()
	if at := c.DictionaryPageOffset(); c.HasDictionaryPage() && at > 0 {
		start = min(start, at)
	}
	size := c.TotalCompressedSize()
	return start >= 0 && size >= 0 && start <= f.in.size && size <= f.in.size-start
}

// checkLeaves checks the chunks of a nested column.
func (f *parquetFile) checkLeaves(rg *metadata.RowGroupMetaData, col *parquetColumn) (err error) {
	col.tree.leaves(func(l *nestedLeaf) {
		c, e := rg.ColumnChunk(l.leaf)
		switch {
		case err != nil:
		case e != nil:
			err = e
		case !f.inside(c):
			err = fmt.Errorf("column %q is outside of the file", col.Name)
		case c.NumValues() < rg.NumRows():
			err = fmt.Errorf("column %q has %d values for %d rows", col.Name, c.NumValues(), rg.NumRows())
		case c.Type() != l.desc.PhysicalType():
			err = fmt.Errorf("column %q has type %s", col.Name, c.Type())
		}
	})
	return err
}

// columnOf is our view of a column.
func columnOf(n schema.Node, marked bool) parquetColumn {
	c := parquetColumn{leaf: -1}
	c.Name = n.Name()
	c.NotNull = n.RepetitionType() == parquet.Repetitions.Required
	c.Type = types.TText // where the file's type has no other
	p, ok := n.(*schema.PrimitiveNode)
	if ok && n.RepetitionType() != parquet.Repetitions.Repeated {
		if t, f, ok := typeOf(p); ok {
			if c.Type, c.form = t, f; f == binaryText && marked {
				c.Type, c.form = types.TBytes, rawBytes
			}
			return c
		}
	}
	c.Foreign = &catalog.Foreign{Type: foreignName(n), Unreadable: true}
	return c
}

// marksTexts reports a writer that says of each text that it is one, so that other bytes are not. Older ones, and
// those of Hive and Impala, do not.
func marksTexts(writer string) bool {
	for _, name := range []string{"kelpie", "DuckDB", "parquet-cpp-arrow", "parquet-go", "parquet-rs", "polars"} {
		if strings.HasPrefix(strings.ToLower(writer), strings.ToLower(name)) {
			return true
		}
	}
	return false
}

// leavesOf is how many columns of row groups belong to a column.
func leavesOf(n schema.Node) int {
	g, ok := n.(*schema.GroupNode)
	if !ok {
		return 1
	}
	sum := 0
	for i := range g.NumFields() {
		sum += leavesOf(g.Field(i))
	}
	return sum
}

// foreignName is what to call a type that we have not.
func foreignName(n schema.Node) string {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		return "LIST"
	}
	switch l := n.LogicalType().(type) {
	case schema.ListLogicalType:
		return "LIST"
	case schema.MapLogicalType:
		return "MAP"
	case schema.DecimalLogicalType:
		return fmt.Sprintf("DECIMAL(%d,%d)", l.Precision(), l.Scale())
	case schema.TimeLogicalType:
		return "TIME"
	case schema.Float16LogicalType:
		return "FLOAT16"
	case schema.NoLogicalType, schema.UnknownLogicalType, schema.NullLogicalType, nil:
		if p, ok := n.(*schema.PrimitiveNode); ok {
			if p.PhysicalType() == parquet.Types.FixedLenByteArray {
				return fmt.Sprintf("BINARY(%d)", p.TypeLength())
			}
			return p.PhysicalType().String()
		}
		return "STRUCT"
	default:
		return strings.ToUpper(l.String())
	}
}

// sameColumn reports that two files mean the same by a column.
func sameColumn(a, b *catalog.ColumnDef) bool {
	foreign := func(c *catalog.ColumnDef) string {
		if c.Foreign == nil {
			return ""
		}
		return c.Foreign.Type
	}
	return a.Name == b.Name && a.Type == b.Type && foreign(a) == foreign(b)
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
		// Files of before there were logical types do not tell the two kinds apart, as Arrow sees it, and are taken for
		// what most of them are: without a zone.
		if l.IsAdjustedToUTC() && !l.IsFromConvertedType() {
			return types.TTimestampTZ, f, phys == parquet.Types.Int64
		}
		return types.TTimestamp, f, phys == parquet.Types.Int64
	case schema.TimeLogicalType:
		switch l.TimeUnit() {
		case schema.TimeUnitMillis:
			return types.TTime, millis, phys == parquet.Types.Int32
		case schema.TimeUnitNanos:
			f = nanos
		}
		return types.TTime, f, phys == parquet.Types.Int64
	case schema.JSONLogicalType:
		return types.TJSON, utf8Text, phys == parquet.Types.ByteArray
	case schema.StringLogicalType, schema.EnumLogicalType:
		return types.TText, utf8Text, phys == parquet.Types.ByteArray
	case schema.UUIDLogicalType:
		return types.TUUID, uuidText, phys == parquet.Types.FixedLenByteArray && p.TypeLength() == 16
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
		return types.TUInt64, unsigned
	case bits == 64:
		return types.TInt64, asIs
	case bits == 32 && !signed:
		return types.TUInt32, unsigned
	case bits == 32:
		return types.TInt32, asIs
	case bits == 16 && !signed:
		return types.TUInt16, asIs
	case bits == 16:
		return types.TInt16, asIs
	case !signed:
		return types.TUInt8, asIs
	}
	return types.TInt8, asIs
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
