package file

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/kelpiedb/kelpie/internal/types"
)

// chunkInfo is what the footer says of one column of one row group.
type chunkInfo struct {
	start, size int64 // its pages, the dictionary's included
	rows        int64
	unpacked    int64 // bytes of its pages, decompressed
	codec       compress.Compression
	optional    bool // there are definition levels
	bounds
	distinct  int64 // claimed; -1: unknown
	dictAt    int64 // place of the dictionary, if it has one …
	dictBytes int64 // … and its bytes with the header, else 0
	allDict   bool  // all values are in the dictionary
	shared    bool  // texts share beginnings (DELTA_BYTE_ARRAY)

	offsetIndex, columnIndex *metadata.IndexLocation
}

// bounds are between which the values of some rows are. They may be wider than need be.
type bounds struct {
	nulls    int64 // -1: unknown
	known    bool  // there are min and max
	min, max types.Value
}

// readFooter fills f.chunks.
func (f *parquetFile) readFooter() {
	f.chunks = make([][]chunkInfo, len(f.meta.GetRowGroups()))
	for g := range f.chunks {
		rg := f.meta.RowGroup(g)
		f.chunks[g] = make([]chunkInfo, len(f.cols))
		for i := range f.cols {
			if f.cols[i].leaf < 0 {
				f.chunks[g][i] = chunkInfo{rows: rg.NumRows(), optional: true, bounds: bounds{nulls: -1}, distinct: -1}
				if tree := f.cols[i].tree; tree != nil {
					tree.leaves(func(l *nestedLeaf) {
						if c, err := rg.ColumnChunk(l.leaf); err == nil {
							f.chunks[g][i].size += c.TotalCompressedSize()
							f.chunks[g][i].unpacked += c.TotalUncompressedSize()
						}
					})
				}
				continue
			}
			f.chunks[g][i] = f.readChunkInfo(rg, i)
		}
	}
}

func (f *parquetFile) readChunkInfo(rg *metadata.RowGroupMetaData, i int) chunkInfo {
	c, err := rg.ColumnChunk(f.cols[i].leaf)
	if err != nil { // checkChunks has seen it
		panic(err)
	}
	info := chunkInfo{start: c.DataPageOffset(), size: c.TotalCompressedSize(), rows: rg.NumRows(), unpacked: c.TotalUncompressedSize(),
		codec: c.Compression(), optional: f.leaf(i).MaxDefinitionLevel() > 0, distinct: -1,
		offsetIndex: c.GetOffsetIndexLocation(), columnIndex: c.GetColumnIndexLocation()}
	info.nulls = -1
	if !info.optional {
		info.nulls = 0
	}
	if at := c.DictionaryPageOffset(); c.HasDictionaryPage() && at > 0 && at < info.start {
		info.dictAt, info.dictBytes = at, info.start-at
		info.start = at
	}
	info.allDict = info.dictBytes > 0 && dictionaryOnly(c)
	for _, e := range c.Encodings() {
		info.shared = info.shared || e == parquet.Encodings.DeltaByteArray
	}
	if st, err := c.Statistics(); err == nil && st != nil {
		if e, err := st.Encode(); err == nil {
			f.addStatistics(&info, i, &e)
		}
	}
	return info
}

// dictionaryOnly reports that all data pages refer to the dictionary, if the footer tells.
func dictionaryOnly(c *metadata.ColumnChunkMetaData) bool {
	isDict := func(e parquet.Encoding) bool {
		return e == parquet.Encodings.PlainDict || e == parquet.Encodings.RLEDict
	}
	if list := c.EncodingStats(); len(list) > 0 {
		for _, s := range list {
			if pageKind(s.PageType) != dictionaryPage && !isDict(s.Encoding) {
				return false
			}
		}
		return true
	}
	// Without them: old writers list PLAIN_DICTIONARY, and PLAIN only if they fell back to it.
	old := false
	for _, e := range c.Encodings() {
		switch e {
		case parquet.Encodings.PlainDict:
			old = true
		case parquet.Encodings.RLE, parquet.Encodings.BitPacked:
		default:
			return false
		}
	}
	return old
}

func (f *parquetFile) addStatistics(info *chunkInfo, col int, e *metadata.EncodedStatistics) {
	if e.HasNullCount && e.NullCount >= 0 && e.NullCount <= info.rows && info.optional {
		info.nulls = e.NullCount
	}
	if e.HasDistinctCount && e.DistinctCount > 0 {
		info.distinct = e.DistinctCount
	}
	if e.HasMin && e.HasMax {
		f.setBounds(&info.bounds, col, e.Min, e.Max)
	}
}

// setBounds decodes encoded bounds, of a chunk or of a page. What makes no sense is ignored.
func (f *parquetFile) setBounds(b *bounds, col int, lo, hi []byte) {
	def := &f.cols[col]
	phys := f.leaf(col).PhysicalType()
	min, ok1 := boundOf(def, phys, lo)
	max, ok2 := boundOf(def, phys, hi)
	if !ok1 || !ok2 || types.Compare(min, max) > 0 {
		return
	}
	if t := def.Type.Phys(); t == types.PhysI64 || t == types.PhysI128 { // what is beyond the type is found out when it is read
		first, last := typeBounds(def.Type)
		if min.Int128().Cmp(last) > 0 || max.Int128().Cmp(first) < 0 {
			return
		}
		if min.Int128().Cmp(first) < 0 {
			min = numberOf(def.Type, first)
		}
		if max.Int128().Cmp(last) > 0 {
			max = numberOf(def.Type, last)
		}
	}
	b.known, b.min, b.max = true, min, max
}

// typeBounds are the least and largest number of a type. Not all between them are dates or timestamps: see noTime.
func typeBounds(t types.Type) (lo, hi types.Int128) {
	between := func(a, b int64) (types.Int128, types.Int128) { return types.FromInt64(a), types.FromInt64(b) }
	switch t.Kind {
	case types.Bool:
		return between(0, 1)
	case types.Int8, types.UInt8, types.Int16, types.UInt16, types.Int32, types.UInt32:
		return between(types.IntRange(t))
	case types.Date:
		return between(-types.InfiniteDate, types.InfiniteDate)
	case types.Time:
		return between(0, types.MicrosPerDay)
	case types.Timestamp, types.TimestampTZ:
		return between(-types.InfiniteTimestamp, types.InfiniteTimestamp)
	case types.Decimal:
		return types.DecimalRange(t)
	}
	return between(math.MinInt64, math.MaxInt64)
}

// finiteBounds are those of dates and timestamps that are not infinite; ok is false for other types.
func finiteBounds(t types.Type) (lo, hi int64, ok bool) {
	if t.Kind == types.Date {
		return types.MinDate, types.MaxDate, true
	}
	return types.MinTimestamp, types.MaxTimestamp, t.IsCalendar()
}

// noTime reports a number within the bounds of a calendar's type that is between its finite and its infinite values.
func noTime(t types.Type, x int64) bool {
	lo, hi, ok := finiteBounds(t)
	return ok && (x < lo || x > hi) && !types.IntValue(t, x).IsInfinite()
}

// numberOf is a value of a type that is stored as an integer.
func numberOf(t types.Type, x types.Int128) types.Value {
	if t.Kind == types.Decimal {
		return types.DecimalValue(t, x)
	}
	return types.IntValue(t, int64(x.Lo))
}

// boundOf decodes a bound; false: it tells nothing.
func boundOf(def *parquetColumn, phys parquet.Type, b []byte) (v types.Value, ok bool) {
	t := def.Type
	switch phys {
	case parquet.Types.Boolean:
		return types.BoolValue(len(b) == 1 && b[0] != 0), len(b) == 1
	case parquet.Types.Int32:
		if len(b) != 4 {
			return v, false
		}
		x := int64(int32(le32(b)))
		if def.form == unsigned {
			x = int64(uint32(x))
		}
		return numberOf(t, types.FromInt64(x)), true
	case parquet.Types.Int64:
		if len(b) != 8 {
			return v, false
		}
		x := int64(binary.LittleEndian.Uint64(b))
		switch def.form {
		case millis:
			if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
				return v, false
			}
			x *= 1000
		case nanos:
			x = floorDiv(x, 1000)
		case unsigned:
			return types.DecimalValue(t, types.Int128{Lo: uint64(x)}), true
		}
		return numberOf(t, types.FromInt64(x)), true
	case parquet.Types.Float:
		if len(b) != 4 {
			return v, false
		}
		x := math.Float32frombits(le32(b))
		return types.FloatValue(t, float64(x)), x == x
	case parquet.Types.Double:
		if len(b) != 8 {
			return v, false
		}
		x := math.Float64frombits(binary.LittleEndian.Uint64(b))
		return types.FloatValue(t, x), x == x
	}
	switch def.form {
	case utf8Text, binaryText:
		return types.Value{Type: t, S: string(b)}, true
	case bigEndian:
		x, ok := int128Bytes(b)
		return types.DecimalValue(t, x), ok
	}
	return v, false
}
