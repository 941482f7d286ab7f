package types

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// Shapes. A type is a few bytes that can be compared; what a nested type is made of is kept here, and its number, from 1, is in
// Prec and Scale of the type. Types of the same shape have the same number, so that == compares them.

// Member is a part of a STRUCT.
type Member struct {
	Name string
	Type Type
}

// shape is what a nested type is made of.
type shape struct {
	fields []Member         // of a struct; an element of a list; key and value of a map
	elem   Type             // of a list, and of a map: a struct of key and value
	labels []string         // of an enum, in order
	name   string           // of an enum
	index  map[string]int64 // of an enum: the numbers of its labels
	row    bool             // a struct that ROW(…) made: see Type.IsRow
}

var shapes struct {
	sync.Mutex // of who adds one
	byKey      map[string]Type
	list       atomic.Pointer[[]shape] // only grows
	lists      sync.Map                // the type of lists by that of elements, which is asked for most
}

// maxShapes is how many there can be in a process.
const maxShapes = 1<<16 - 1

func (t Type) shape() *shape {
	i := int(t.Prec)<<8 | int(t.Scale)
	if i == 0 { // any
		return &shape{}
	}
	return &(*shapes.list.Load())[i-1]
}

// shaped is the type of a kind that is made of s.
func shaped(kind Kind, s shape) Type {
	key := []byte{byte(kind), byte(b2i(s.row))}
	text := func(s string) {
		key = append(binary.AppendUvarint(key, uint64(len(s))), s...)
	}
	text(s.name)
	for _, f := range s.fields {
		text(f.Name)
		key = append(key, byte(f.Type.Kind), f.Type.Prec, f.Type.Scale)
		key = binary.BigEndian.AppendUint32(key, f.Type.Len)
	}
	for _, l := range s.labels {
		text(l)
	}
	shapes.Lock()
	defer shapes.Unlock()
	if t, ok := shapes.byKey[string(key)]; ok {
		return t
	}
	var list []shape
	if p := shapes.list.Load(); p != nil {
		list = *p
	}
	if len(list) == maxShapes {
		panic(errf("54000", "there are more than %d nested types", maxShapes))
	}
	list = append(list, s)
	i := len(list)
	shapes.list.Store(&list)
	if shapes.byKey == nil {
		shapes.byKey = map[string]Type{}
	}
	t := Type{Kind: kind, Prec: uint8(i >> 8), Scale: uint8(i)}
	shapes.byKey[string(key)] = t
	return t
}

// TList is the type of lists of elem.
func TList(elem Type) Type {
	if t, ok := shapes.lists.Load(elem); ok {
		return t.(Type)
	}
	t := shaped(List, shape{fields: []Member{{"", elem}}, elem: elem})
	shapes.lists.Store(elem, t)
	return t
}

// TStruct is the type of structs with some fields.
func TStruct(fields []Member) Type { return shaped(Struct, shape{fields: fields}) }

// TRow is the type of what ROW(…) makes: a struct that is written as PostgreSQL writes rows.
func TRow(fields []Member) Type { return shaped(Struct, shape{fields: fields, row: true}) }

// TMap is the type of maps.
func TMap(key, value Type) Type {
	pair := []Member{{"key", key}, {"value", value}}
	return shaped(Map, shape{fields: pair, elem: TStruct(pair)})
}

// Elem is the type of a list's elements, and of a map's: structs of key and value.
func (t Type) Elem() Type { return t.shape().elem }

// Fields are those of a struct, and key and value of a map. They are not to be changed.
func (t Type) Fields() []Member { return t.shape().fields }

// IsRow reports a struct that ROW(…) made: fields without names of their own.
func (t Type) IsRow() bool { return t.Kind == Struct && t.shape().row }

// IsNested reports a type that is made of others.
func (t Type) IsNested() bool { return t.Kind == List || t.Kind == Struct || t.Kind == Map }

// hasNames reports a struct with names, or a map, somewhere in t: such values are written as DuckDB writes them, all others as
// PostgreSQL does.
func (t Type) hasNames() bool {
	switch t.Kind {
	case Map:
		return true
	case List:
		return t.Elem().hasNames()
	case Struct:
		if !t.IsRow() {
			return true
		}
		for _, f := range t.Fields() {
			if f.Type.hasNames() {
				return true
			}
		}
	}
	return false
}

// Holds reports that t, or a type that it is made of, is of a kind.
func (t Type) Holds(kind Kind) bool {
	if t.Kind == kind {
		return true
	}
	if t.IsNested() {
		for _, f := range t.Fields() {
			if f.Type.Holds(kind) {
				return true
			}
		}
	}
	return false
}

// CanList reports a type that lists can have elements of, and structs fields.
func CanList(t Type) bool { return !t.Holds(Interval) && !t.Holds(Unknown) }
