package file

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// gatherer makes an array of rows that are taken from arrays of the same type.
type gatherer interface {
	add(col arrow.Array, rows []int32)
	take() arrow.Array // all that was added; it begins anew
}

// newGatherer is one for any type that results have.
func newGatherer(t arrow.DataType) (gatherer, error) {
	g := gathered{typ: t}
	switch t := t.(type) {
	case *arrow.NullType:
		return &gatherNulls{gathered: g}, nil
	case *arrow.BooleanType:
		return &gatherBits{gatheredValues{gathered: g}}, nil
	case *arrow.StringType, *arrow.BinaryType:
		return &gatherBytes{gathered: g, offsets: []int32{0}}, nil
	case *arrow.StructType:
		out := &gatherStruct{gathered: g}
		for _, f := range t.Fields() {
			child, err := newGatherer(f.Type)
			if err != nil {
				return nil, err
			}
			out.fields = append(out.fields, child)
		}
		return out, nil
	case arrow.ListLikeType: // maps are lists of pairs
		child, err := newGatherer(t.Elem())
		return &gatherList{gathered: g, offsets: []int32{0}, elems: child}, err
	case arrow.FixedWidthDataType:
		return &gatherFixed{gatheredValues{gathered: g}, t.Bytes()}, nil
	}
	return nil, diag.Internalf("write partitions", "rows of type %s cannot be taken apart", t)
}

// gathered is what all kinds have: how many rows, and which of them are NULL.
type gathered struct {
	typ   arrow.DataType
	n     int
	nulls int
	valid []byte // a bit for each row; short if there are no more that are not NULL
}

// mark notes which rows are NULL.
func (g *gathered) mark(col arrow.Array, rows []int32) {
	for _, r := range rows {
		if g.n%8 == 0 {
			g.valid = append(g.valid, 0)
		}
		if col.IsNull(int(r)) {
			g.nulls++
		} else {
			g.valid[g.n/8] |= 1 << (g.n % 8)
		}
		g.n++
	}
}

// finish makes the array and begins anew.
func (g *gathered) finish(buffers [][]byte, children ...arrow.ArrayData) arrow.Array {
	list := []*memory.Buffer{nil}
	if g.nulls > 0 {
		list[0] = memory.NewBufferBytes(g.valid)
	}
	for _, b := range buffers {
		list = append(list, memory.NewBufferBytes(b))
	}
	data := array.NewData(g.typ, g.n, list, children, g.nulls, 0)
	defer data.Release()
	g.n, g.nulls, g.valid = 0, 0, nil
	return array.MakeFromData(data)
}

// gatherNulls: there is nothing but their number.
type gatherNulls struct{ gathered }

func (g *gatherNulls) add(_ arrow.Array, rows []int32) { g.n += len(rows) }
func (g *gatherNulls) take() arrow.Array {
	n := g.n
	g.n = 0
	return array.NewNull(n)
}

// gatheredValues has values that lie side by side.
type gatheredValues struct {
	gathered
	data []byte
}

func (g *gatheredValues) take() arrow.Array {
	data := g.data
	g.data = nil
	return g.finish([][]byte{data})
}

// gatherFixed takes values of the same number of bytes.
type gatherFixed struct {
	gatheredValues
	width int
}

func (g *gatherFixed) add(col arrow.Array, rows []int32) {
	g.mark(col, rows)
	from := col.Data().Buffers()[1].Bytes()[col.Data().Offset()*g.width:]
	for _, r := range rows {
		g.data = append(g.data, from[int(r)*g.width:][:g.width]...)
	}
}

// gatherBits takes booleans.
type gatherBits struct{ gatheredValues }

func (g *gatherBits) add(col arrow.Array, rows []int32) {
	for i, r := range rows {
		at := g.n + i
		if at%8 == 0 {
			g.data = append(g.data, 0)
		}
		if col.(*array.Boolean).Value(int(r)) {
			g.data[at/8] |= 1 << (at % 8)
		}
	}
	g.mark(col, rows)
}

// gatherBytes takes texts and bytes.
type gatherBytes struct {
	gathered
	offsets []int32
	data    []byte
}

func (g *gatherBytes) add(col arrow.Array, rows []int32) {
	g.mark(col, rows)
	texts, _ := col.(*array.String)
	for _, r := range rows {
		if texts != nil {
			g.data = append(g.data, texts.Value(int(r))...)
		} else {
			g.data = append(g.data, col.(*array.Binary).Value(int(r))...)
		}
		g.offsets = append(g.offsets, int32(len(g.data)))
	}
}

func (g *gatherBytes) take() arrow.Array {
	offsets, data := g.offsets, g.data
	g.offsets, g.data = []int32{0}, nil
	return g.finish([][]byte{arrow.Int32Traits.CastToBytes(offsets), data})
}

// gatherList takes lists, and what is in them.
type gatherList struct {
	gathered
	offsets []int32
	elems   gatherer
	rows    []int32 // one of those in use
}

func (g *gatherList) add(col arrow.Array, rows []int32) {
	g.mark(col, rows)
	from := col.(array.ListLike)
	g.rows = g.rows[:0]
	last := g.offsets[len(g.offsets)-1]
	for _, r := range rows {
		lo, hi := from.ValueOffsets(int(r))
		for k := lo; k < hi && col.IsValid(int(r)); k++ {
			g.rows = append(g.rows, int32(k))
		}
		g.offsets = append(g.offsets, last+int32(len(g.rows)))
	}
	g.elems.add(from.ListValues(), g.rows)
}

func (g *gatherList) take() arrow.Array {
	offsets, elems := g.offsets, g.elems.take()
	defer elems.Release()
	g.offsets = []int32{0}
	return g.finish([][]byte{arrow.Int32Traits.CastToBytes(offsets)}, elems.Data())
}

// gatherStruct takes the fields of structs.
type gatherStruct struct {
	gathered
	fields []gatherer
}

func (g *gatherStruct) add(col arrow.Array, rows []int32) {
	g.mark(col, rows)
	for i, f := range g.fields {
		f.add(col.(*array.Struct).Field(i), rows)
	}
}

func (g *gatherStruct) take() arrow.Array {
	var fields []arrow.ArrayData
	for _, f := range g.fields {
		a := f.take()
		defer a.Release()
		fields = append(fields, a.Data())
	}
	return g.finish(nil, fields...)
}
