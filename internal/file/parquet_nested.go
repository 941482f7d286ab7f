package file

import (
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Nested columns: lists, structs and maps. Their leaves are columns of the file with two numbers for each value, as in Dremel: the
// definition level says how much of the path to it is there, the repetition level in which of the lists around it a new element
// begins. The values of a row are put together from those of the leaves, and encoded as one value (types/list.go).

// nestedNode is a part of a nested column.
type nestedNode struct {
	t     types.Type
	def   int16 // definition level from which on the value is there, and not NULL
	rep   int16 // lists and maps: repetition level of their elements
	items int16 // lists and maps: definition level from which on there are elements
	kids  []*nestedNode
	leaf  *nestedLeaf // of one that has no kids
	first *nestedLeaf // the leaf by which the node's levels are seen
}

// nestedLeaf is a column of the file under a nested one.
type nestedLeaf struct {
	parquetColumn
	desc *schema.Column

	// Its entries, while a chunk is read: levels, and values of those that are there.
	defs, reps []int16
	at, value  int
	get        func(i int) (types.Value, error)
}

// nestedOf is our view of a nested column whose first leaf has a number; nil: some part of it has no SQL type.
func (f *parquetFile) nestedOf(n schema.Node, leaf int, marked bool) *nestedNode {
	b := &nestedBuilder{f: f, leaf: leaf, marked: marked}
	node := b.field(n, 0, 0)
	if node == nil || !types.CanList(node.t) || !node.t.IsNested() {
		return nil
	}
	return node
}

type nestedBuilder struct {
	f      *parquetFile
	leaf   int
	marked bool
}

// field is a node that is a field: required, optional, or repeated, which is a list that cannot be NULL.
func (b *nestedBuilder) field(n schema.Node, def, rep int16) *nestedNode {
	switch n.RepetitionType() {
	case parquet.Repetitions.Repeated:
		elem := b.value(n, def+1, rep+1)
		return listNode(elem, def, rep+1, def+1)
	case parquet.Repetitions.Optional:
		def++
	}
	return b.value(n, def, rep)
}

// listNode is a list of elem.
func listNode(elem *nestedNode, def, rep, items int16) *nestedNode {
	if elem == nil || !types.CanList(elem.t) {
		return nil
	}
	return &nestedNode{t: types.TList(elem.t), def: def, rep: rep, items: items, kids: []*nestedNode{elem}, first: elem.first}
}

// value is a node whose own repetition has been seen to.
func (b *nestedBuilder) value(n schema.Node, def, rep int16) *nestedNode {
	g, ok := n.(*schema.GroupNode)
	if !ok {
		return b.primitive(n.(*schema.PrimitiveNode), def)
	}
	switch g.LogicalType().(type) {
	case schema.ListLogicalType:
		if g.NumFields() == 1 && g.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
			return listNode(b.element(g, def+1, rep+1), def, rep+1, def+1)
		}
	case schema.MapLogicalType:
		return b.pairs(g, def, rep)
	}
	if g.ConvertedType() == schema.ConvertedTypes.MapKeyValue {
		return b.pairs(g, def, rep)
	}
	node := &nestedNode{def: def}
	var fields []types.Member
	seen := map[string]bool{}
	for i := range g.NumFields() {
		kid := b.field(g.Field(i), def, rep)
		if kid == nil || seen[g.Field(i).Name()] {
			return nil
		}
		seen[g.Field(i).Name()] = true
		node.kids = append(node.kids, kid)
		fields = append(fields, types.Member{Name: g.Field(i).Name(), Type: kid.t})
	}
	if len(fields) == 0 {
		return nil
	}
	node.t, node.first = types.TStruct(fields), node.kids[0].first
	return node
}

// element is what a list has elements of. Today that is the field of the repeated group; older writers repeated the element
// itself, which the names tell.
func (b *nestedBuilder) element(list *schema.GroupNode, def, rep int16) *nestedNode {
	repeated := list.Field(0)
	g, ok := repeated.(*schema.GroupNode)
	if !ok || g.NumFields() != 1 || g.Name() == "array" || g.Name() == list.Name()+"_tuple" {
		return b.value(repeated, def, rep)
	}
	return b.field(g.Field(0), def, rep)
}

// pairs is a map.
func (b *nestedBuilder) pairs(m *schema.GroupNode, def, rep int16) *nestedNode {
	if m.NumFields() != 1 || m.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		return nil
	}
	g, ok := m.Field(0).(*schema.GroupNode)
	if !ok || g.NumFields() != 2 {
		return nil
	}
	key := b.field(g.Field(0), def+1, rep+1)
	if key == nil {
		return nil
	}
	value := b.field(g.Field(1), def+1, rep+1)
	if value == nil || !types.CanList(key.t) || !types.CanList(value.t) {
		return nil
	}
	return &nestedNode{t: types.TMap(key.t, value.t), def: def, rep: rep + 1, items: def + 1, kids: []*nestedNode{key, value}, first: key.first}
}

func (b *nestedBuilder) primitive(p *schema.PrimitiveNode, def int16) *nestedNode {
	l := &nestedLeaf{desc: b.f.meta.Schema.Column(b.leaf)}
	l.leaf = b.leaf
	b.leaf++
	t, form, ok := typeOf(p)
	if !ok || t.Kind == types.Interval {
		return nil
	}
	if l.Type, l.form = t, form; form == binaryText && b.marked {
		l.Type, l.form = types.TBytes, rawBytes
	}
	l.Name = p.Name()
	return &nestedNode{t: l.Type, def: def, leaf: l, first: l}
}

// leaves calls f for each leaf.
func (n *nestedNode) leaves(f func(*nestedLeaf)) {
	if n.leaf != nil {
		f(n.leaf)
	}
	for _, k := range n.kids {
		k.leaves(f)
	}
}

// clone is a copy that a reader can use.
func (n *nestedNode) clone() *nestedNode {
	c := *n
	if n.leaf != nil {
		l := *n.leaf
		c.leaf, c.first = &l, &l
		return &c
	}
	c.kids = make([]*nestedNode, len(n.kids))
	for i, k := range n.kids {
		c.kids[i] = k.clone()
	}
	c.first = c.kids[0].first
	return &c
}

var errLevels = errors.New("levels of a nested column make no sense")

// peek is the definition level of the next entry.
func (l *nestedLeaf) peek() int16 {
	if l.at >= len(l.defs) {
		panic(errLevels)
	}
	return l.defs[l.at]
}

// skip goes past one entry of each leaf: nothing is there.
func (n *nestedNode) skip() {
	n.leaves(func(l *nestedLeaf) {
		if l.at >= len(l.defs) || l.defs[l.at] == l.desc.MaxDefinitionLevel() {
			panic(errLevels)
		}
		l.at++
	})
}

// appendElem appends the next value as an element.
func (n *nestedNode) appendElem(b []byte) []byte {
	d := n.first.peek()
	if d < n.def {
		n.skip()
		return types.AppendElem(b, n.t, types.NullOf(n.t))
	}
	if n.leaf != nil {
		l := n.leaf
		l.at++
		v, err := l.get(l.value)
		if err != nil {
			panic(err)
		}
		l.value++
		return types.AppendElem(b, n.t, v)
	}
	return n.appendValue(append(b, 1))
}

// appendValue appends the encoding of the next value, which is not NULL.
func (n *nestedNode) appendValue(b []byte) []byte {
	if n.t.Kind == types.Struct {
		for _, k := range n.kids {
			b = k.appendElem(b)
		}
		return b
	}
	if n.first.peek() < n.items { // it is empty
		n.skip()
		return append(b, 0)
	}
	for {
		if n.t.Kind == types.Map {
			b = append(b, 1) // a pair
		}
		for _, k := range n.kids {
			b = k.appendElem(b)
		}
		if l := n.first; l.at == len(l.reps) || l.reps[l.at] < n.rep {
			return append(b, 0)
		}
	}
}

// nested makes a chunk of a nested column: all rows from the first of the row group on are put together.
func (b *chunkMaker) nested(node *nestedNode) (err error) {
	r := b.r
	rd, err := pqfile.NewParquetReader(io.NewSectionReader(r.h, 0, r.f.in.size), pqfile.WithMetadata(r.f.meta))
	if err != nil {
		return err
	}
	node = node.clone()
	node.leaves(func(l *nestedLeaf) {
		if err == nil {
			err = l.read(r, rd)
		}
	})
	if err != nil {
		return err
	}
	var heap []byte
	ends := make([]int, r.hi)
	nulls := make([]uint8, r.hi)
	for row := range nulls {
		if node.first.at < len(node.first.reps) && node.first.reps[node.first.at] != 0 {
			return errLevels
		}
		if node.first.peek() < node.def {
			node.skip()
			nulls[row] = 1
		} else {
			heap = node.appendValue(heap)
		}
		ends[row] = len(heap)
	}
	from := 0
	if r.lo > 0 {
		from = ends[r.lo-1]
	}
	if err := r.count(len(heap)); err != nil {
		return err
	}
	if err := b.alloc(len(heap) - from + column.TextPad); err != nil {
		return err
	}
	copy(column.SliceAt[byte](b.c.Heap, len(heap)-from), heap[from:])
	desc := column.SliceAt[[2]uint64](b.c.Data, b.c.Rows)
	for i := range desc {
		row, start := int(r.lo)+i, 0
		if row > 0 {
			start = ends[row-1]
		}
		desc[i] = descriptor(heap[start:ends[row]], start-from)
	}
	copy(b.nulls(), nulls[r.lo:])
	b.c.Zone.Bytes = int64(len(heap) - from)
	return nil
}

// read reads all entries of a row group.
func (l *nestedLeaf) read(r *chunkReader, rd *pqfile.Reader) error {
	cr, err := rd.RowGroup(r.group).Column(l.leaf)
	if err != nil {
		return err
	}
	m, err := r.f.meta.RowGroup(r.group).ColumnChunk(l.leaf)
	if err != nil {
		return err
	}
	n := int(m.NumValues())
	if n < 0 || int64(n) > 64*(m.TotalUncompressedSize()+1)*8 {
		return fmt.Errorf("%d values in %d bytes", n, m.TotalUncompressedSize())
	}
	if err := r.count(n * 12); err != nil {
		return err
	}
	l.defs, l.reps = make([]int16, n), make([]int16, n)
	switch c := cr.(type) {
	case *pqfile.BooleanColumnChunkReader:
		xs, err := readLeaf(l, n, c.ReadBatch)
		l.get = func(i int) (types.Value, error) { return types.BoolValue(xs[i]), nil }
		return err
	case *pqfile.Int32ColumnChunkReader:
		xs, err := readLeaf(l, n, c.ReadBatch)
		l.get = func(i int) (types.Value, error) {
			x := int64(xs[i])
			if l.form == unsigned {
				x = int64(uint32(xs[i]))
			}
			return l.number(x)
		}
		return err
	case *pqfile.Int64ColumnChunkReader:
		xs, err := readLeaf(l, n, c.ReadBatch)
		l.get = func(i int) (types.Value, error) {
			if l.form == unsigned {
				return types.DecimalValue(l.Type, types.Int128{Lo: uint64(xs[i])}), nil
			}
			return l.number(xs[i])
		}
		return err
	case *pqfile.Int96ColumnChunkReader:
		xs, err := readLeaf(l, n, c.ReadBatch)
		l.get = func(i int) (types.Value, error) { return types.IntValue(l.Type, int96Micros(&xs[i])), nil }
		return err
	case *pqfile.Float32ColumnChunkReader:
		xs, err := readLeaf(l, n, c.ReadBatch)
		l.get = func(i int) (types.Value, error) { return types.FloatValue(l.Type, float64(xs[i])), nil }
		return err
	case *pqfile.Float64ColumnChunkReader:
		xs, err := readLeaf(l, n, c.ReadBatch)
		l.get = func(i int) (types.Value, error) { return types.FloatValue(l.Type, xs[i]), nil }
		return err
	case *pqfile.ByteArrayColumnChunkReader:
		xs, err := readLeaf(l, n, func(k int64, vs []parquet.ByteArray, defs, reps []int16) (int64, int, error) {
			total, read, err := c.ReadBatch(k, vs, defs, reps)
			for i := range vs[:read] { // the page is gone when the next one comes
				vs[i] = append(parquet.ByteArray{}, vs[i]...)
			}
			return total, read, err
		})
		l.get = func(i int) (types.Value, error) { return l.bytes(xs[i]) }
		return err
	case *pqfile.FixedLenByteArrayColumnChunkReader:
		xs, err := readLeaf(l, n, func(k int64, vs []parquet.FixedLenByteArray, defs, reps []int16) (int64, int, error) {
			total, read, err := c.ReadBatch(k, vs, defs, reps)
			for i := range vs[:read] {
				vs[i] = append(parquet.FixedLenByteArray{}, vs[i]...)
			}
			return total, read, err
		})
		l.get = func(i int) (types.Value, error) { return l.bytes(xs[i]) }
		return err
	}
	return fmt.Errorf("a column of type %s", l.desc.PhysicalType())
}

// readLeaf reads n entries; values of those that are there come back.
func readLeaf[T any](l *nestedLeaf, n int, batch func(int64, []T, []int16, []int16) (int64, int, error)) ([]T, error) {
	out := make([]T, n)
	at, have := 0, 0
	for at < n {
		total, read, err := batch(int64(n-at), out[have:], l.defs[at:], l.reps[at:])
		if err != nil {
			return nil, err
		}
		if total == 0 {
			return nil, errShort
		}
		if l.desc.MaxDefinitionLevel() == 0 {
			clear(l.defs[at : at+int(total)])
		}
		if l.desc.MaxRepetitionLevel() == 0 {
			clear(l.reps[at : at+int(total)])
		}
		at, have = at+int(total), have+read
	}
	there := 0
	for _, d := range l.defs {
		if d < 0 || d > l.desc.MaxDefinitionLevel() {
			return nil, errLevels
		}
		if d == l.desc.MaxDefinitionLevel() {
			there++
		}
	}
	if there != have {
		return nil, errLevels
	}
	return out[:have], nil
}

// number is an integer as a value of the leaf's type.
func (l *nestedLeaf) number(x int64) (types.Value, error) {
	switch l.form {
	case millis:
		if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
			return types.Value{}, types.ErrOutOfRange(l.Type)
		}
		x *= 1000
	case nanos:
		x = floorDiv(x, 1000)
	}
	lo, hi := typeBounds(l.Type)
	if v := types.FromInt64(x); v.Cmp(lo) < 0 || v.Cmp(hi) > 0 || noTime(l.Type, x) {
		return types.Value{}, types.ErrOutOfRange(l.Type)
	}
	return numberOf(l.Type, types.FromInt64(x)), nil
}

// bytes is what bytes mean.
func (l *nestedLeaf) bytes(b []byte) (types.Value, error) {
	switch l.form {
	case bigEndian:
		x, ok := int128Bytes(b)
		if !ok || !types.FitsPrecision(x, int(l.Type.Prec)) {
			return types.Value{}, types.ErrOutOfRange(l.Type)
		}
		return types.DecimalValue(l.Type, x), nil
	case uuidText:
		return types.Value{Type: l.Type, S: string(appendUUID(nil, b))}, nil
	case utf8Text, binaryText:
		if !utf8.Valid(b) {
			return types.Value{}, &types.Error{Code: "22021", Msg: `invalid byte sequence for encoding "UTF8"`}
		}
	}
	return types.Value{Type: l.Type, S: string(b)}, nil
}
