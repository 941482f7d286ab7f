package types

import (
	"slices"
	"strings"
)

// Structs and maps are text-like values, as lists are (see list.go):
//
//	struct = { element }       as many as the type has fields
//	map    = a list of structs of key and value, in the order in which they were given
//
// so that structs are compared field by field, and NULL fields are equal and after all others: as PostgreSQL compares rows of
// tables, and DuckDB structs.

// StructValue is the struct of some values, each of the type of its field or NULL.
func StructValue(t Type, vals []Value) Value {
	var b []byte
	for i, f := range t.Fields() {
		b = AppendElem(b, f.Type, vals[i])
	}
	return Value{Type: t, S: string(b)}
}

// FieldValues takes a struct apart.
func (v Value) FieldValues() []Value {
	fields := v.Type.Fields()
	out := make([]Value, len(fields))
	s := v.S
	for i, f := range fields {
		out[i], s = nextElem(f.Type, s)
	}
	return out
}

// FieldValue is one field of a struct.
func (v Value) FieldValue(i int) Value {
	s := v.S
	for k, f := range v.Type.Fields() {
		var x Value
		if x, s = nextElem(f.Type, s); k == i {
			return x
		}
	}
	return NullOf(TUnknown)
}

// structEnd is how many bytes the struct at the start of s has.
func structEnd(t Type, s string) int {
	rest := s
	for _, f := range t.Fields() {
		_, rest = nextElem(f.Type, rest)
	}
	return len(s) - len(rest)
}

// FindField is the place of a struct's field, by its name or, if there is none, in any case; -1 if there is none.
func (t Type) FindField(name string) int {
	fields := t.Fields()
	if i := slices.IndexFunc(fields, func(f Member) bool { return f.Name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(fields, func(f Member) bool { return strings.EqualFold(f.Name, name) })
}

// MapValue is the map of some pairs; keys are not NULL and differ.
func MapValue(t Type, keys, values []Value) (Value, error) {
	pair := t.Elem()
	seen := make(map[string]bool, len(keys))
	elems := make([]Value, len(keys))
	for i, k := range keys {
		if k.Null {
			return Value{}, errf("22004", "map keys cannot be NULL")
		}
		elems[i] = StructValue(pair, []Value{k, values[i]})
		if code := string(AppendElem(nil, k.Type, k)); seen[code] {
			return Value{}, errf("22023", "map keys must be unique: %s", quoted(k.String()))
		} else {
			seen[code] = true
		}
	}
	l := ListValue(pair, elems)
	l.Type = t
	return l, nil
}

// castStruct converts field by field: by name, or by place where one of the two has no names. Fields that the value lacks are
// NULL.
func castStruct(v Value, to Type, cast func(Value, Type) (Value, error)) (Value, error) {
	from, have := v.Type, v.FieldValues()
	fields := to.Fields()
	out := make([]Value, len(fields))
	for i, f := range fields {
		k := i
		if !byPlace(from, to) {
			k = from.FindField(f.Name)
		}
		if k < 0 {
			out[i] = NullOf(f.Type)
			continue
		}
		var err error
		if out[i], err = cast(have[k], f.Type); err != nil {
			return Value{}, err
		}
	}
	return StructValue(to, out), nil
}

// byPlace reports that fields correspond by their places.
func byPlace(from, to Type) bool { return from.IsRow() || to.IsRow() }

func canCastStruct(from, to Type) bool {
	have, want := from.Fields(), to.Fields()
	if byPlace(from, to) && len(have) != len(want) {
		return false
	}
	matches := 0
	for i, f := range want {
		k := i
		if !byPlace(from, to) {
			k = from.FindField(f.Name)
		}
		if k < 0 {
			continue
		}
		if matches++; !CanCast(have[k].Type, f.Type) {
			return false
		}
	}
	return matches > 0 || len(want) == 0
}

// commonStruct is the struct that two can be brought to: the fields of both.
func commonStruct(a, b Type) (Type, bool) {
	fa, fb := a.Fields(), b.Fields()
	var out []Member
	if byPlace(a, b) {
		if len(fa) != len(fb) {
			return Type{}, false
		}
		names := fa
		if a.IsRow() {
			names = fb
		}
		for i := range fa {
			t, ok := CommonType(fa[i].Type, fb[i].Type)
			if !ok {
				return Type{}, false
			}
			out = append(out, Member{names[i].Name, t})
		}
		if a.IsRow() && b.IsRow() {
			return TRow(out), true
		}
		return TStruct(out), true
	}
	for _, f := range fa {
		if i := b.FindField(f.Name); i >= 0 {
			t, ok := CommonType(f.Type, fb[i].Type)
			if !ok {
				return Type{}, false
			}
			f.Type = t
		}
		out = append(out, f)
	}
	for _, f := range fb {
		if a.FindField(f.Name) < 0 {
			out = append(out, f)
		}
	}
	return TStruct(out), true
}

// castMap converts keys and values.
func castMap(v Value, to Type) (Value, error) {
	kv := to.Fields()
	var keys, values []Value
	for _, e := range v.Elems() {
		pair := e.FieldValues()
		k, err := Cast(pair[0], kv[0].Type)
		if err != nil {
			return Value{}, err
		}
		x, err := Cast(pair[1], kv[1].Type)
		if err != nil {
			return Value{}, err
		}
		keys, values = append(keys, k), append(values, x)
	}
	return MapValue(to, keys, values)
}

// structName is the type as SQL writes it.
func structName(t Type) string {
	var b strings.Builder
	b.WriteString(map[bool]string{true: "ROW(", false: "STRUCT("}[t.IsRow()])
	for i, f := range t.Fields() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(f.Name) + " " + f.Type.String())
	}
	return b.String() + ")"
}

// quoteName puts a name in quotes, unless it is a plain one.
func quoteName(s string) string {
	plain := s != "" && !isDigit(s[0])
	for i := range len(s) {
		c := s[i]
		plain = plain && (c >= 'a' && c <= 'z' || c == '_' || isDigit(c) || c >= 0x80)
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
