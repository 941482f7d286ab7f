package file

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/types"
)

// parquetTop is a column of the table that is written: one sink, or, if it is nested, one for each leaf.
type parquetTop struct {
	sinks []*parquetSink
	root  *shredNode // nil: it is not nested
}

// shredNode is a part of a nested column that is written; see nestedNode for what levels are.
type shredNode struct {
	kind     types.Kind
	optional bool
	rep      int16 // of elements
	kids     []*shredNode
	sink     *parquetSink // of a leaf
}

// descent is a step from an array to the one under it: to the elements of a list, a field of a struct, keys or values of a map.
type descent func(col arrow.Array, lo, hi int) (arrow.Array, int, int)

func toElements(col arrow.Array, lo, hi int) (arrow.Array, int, int) {
	c := col.(*array.List)
	lo, hi = elementRange(c, lo, hi)
	return c.ListValues(), lo, hi
}

func elementRange(c array.ListLike, lo, hi int) (int, int) {
	if lo == hi {
		return 0, 0
	}
	from, _ := c.ValueOffsets(lo)
	_, to := c.ValueOffsets(hi - 1)
	return int(from), int(to)
}

func toField(k int) descent {
	return func(col arrow.Array, lo, hi int) (arrow.Array, int, int) { return col.(*array.Struct).Field(k), lo, hi }
}

func toKeys(col arrow.Array, lo, hi int) (arrow.Array, int, int) {
	c := col.(*array.Map)
	lo, hi = elementRange(c, lo, hi)
	return c.Keys(), lo, hi
}

func toItems(col arrow.Array, lo, hi int) (arrow.Array, int, int) {
	c := col.(*array.Map)
	lo, hi = elementRange(c, lo, hi)
	return c.Items(), lo, hi
}

// leafOf is the array of the sink's values under a column's rows, and which of them.
func (s *parquetSink) leafOf(col arrow.Array, lo, hi int) (arrow.Array, int, int) {
	for _, d := range s.down {
		col, lo, hi = d(col, lo, hi)
	}
	return col, lo, hi
}

// shredder makes the schema of a nested column and its sinks.
type shredder struct {
	top  string
	list []*parquetSink
}

// field is a part called name; down leads to it, and path is its place in the schema.
func (b *shredder) field(name string, t types.Type, required bool, rep int16, path []string, down []descent) (*shredNode, schema.Node, error) {
	n := &shredNode{kind: t.Kind, optional: !required}
	repetition := parquet.Repetitions.Optional
	if required {
		repetition = parquet.Repetitions.Required
	}
	path = append(path[:len(path):len(path)], name)
	kid := func(name string, t types.Type, required bool, rep int16, d descent, at ...string) (schema.Node, error) {
		k, node, err := b.field(name, t, required, rep, append(path[:len(path):len(path)], at...), append(down[:len(down):len(down)], d))
		n.kids = append(n.kids, k)
		return node, err
	}
	switch t.Kind {
	case types.List:
		n.rep = rep + 1
		elem, err := kid("element", t.Elem(), false, n.rep, toElements, "list")
		if err != nil {
			return nil, nil, err
		}
		node, err := schema.ListOfWithName(name, elem, repetition, -1)
		return n, node, err
	case types.Map:
		n.rep = rep + 1
		kv := t.Fields()
		key, err := kid("key", kv[0].Type, true, n.rep, toKeys, "key_value")
		if err != nil {
			return nil, nil, err
		}
		value, err := kid("value", kv[1].Type, false, n.rep, toItems, "key_value")
		if err != nil {
			return nil, nil, err
		}
		node, err := schema.MapOf(name, key, value, repetition, -1)
		return n, node, err
	case types.Struct:
		var fields schema.FieldList
		for i, f := range t.Fields() {
			node, err := kid(f.Name, f.Type, false, rep, toField(i))
			if err != nil {
				return nil, nil, err
			}
			fields = append(fields, node)
		}
		node, err := schema.NewGroupNode(name, repetition, fields, -1)
		return n, node, err
	}
	n.sink = &parquetSink{def: catalog.ColumnDef{Name: b.top, Type: t, NotNull: required}, path: path, down: down}
	b.list = append(b.list, n.sink)
	node, err := n.sink.node(name)
	return n, node, err
}

// write writes rows of a column.
func (t *parquetTop) write(col arrow.Array, lo, hi int) error {
	if t.root == nil {
		return t.sinks[0].write(col, lo, hi)
	}
	for _, s := range t.sinks {
		s.reset()
		s.page += hi - lo
	}
	for row := lo; row < hi; row++ {
		t.root.shred(col, row, 0, 0)
	}
	for _, s := range t.sinks {
		leaf, from, to := s.leafOf(col, lo, hi)
		if err := s.flush(leaf, from, to, s.defs, s.reps); err != nil {
			return err
		}
	}
	return nil
}

// shred notes the levels of value i of an array.
func (n *shredNode) shred(col arrow.Array, i int, rep, def int16) {
	if n.optional {
		if col.IsNull(i) {
			n.absent(rep, def)
			return
		}
		def++
	}
	switch n.kind {
	case types.Struct:
		for k, kid := range n.kids {
			kid.shred(col.(*array.Struct).Field(k), i, rep, def)
		}
	case types.List:
		c := col.(*array.List)
		from, to := c.ValueOffsets(i)
		if from == to {
			n.absent(rep, def)
		}
		for k := from; k < to; k++ {
			n.kids[0].shred(c.ListValues(), int(k), rep, def+1)
			rep = n.rep
		}
	case types.Map:
		c := col.(*array.Map)
		from, to := c.ValueOffsets(i)
		if from == to {
			n.absent(rep, def)
		}
		for k := from; k < to; k++ {
			n.kids[0].shred(c.Keys(), int(k), rep, def+1)
			n.kids[1].shred(c.Items(), int(k), rep, def+1)
			rep = n.rep
		}
	default:
		n.absent(rep, def) // is there: the level says so
	}
}

// absent gives all leaves an entry.
func (n *shredNode) absent(rep, def int16) {
	if s := n.sink; s != nil {
		s.defs, s.reps = append(s.defs, def), append(s.reps, rep)
	}
	for _, k := range n.kids {
		k.absent(rep, def)
	}
}
