package types

// Keys of what bytes do not compare. A value of JSONB keeps how its numbers were written, and an interval its months, days and
// microseconds, though 1.0 = 1 and 24 hours = 1 day. An interval by itself is compared as what it is; of JSONB, and of what has either of
// them inside, a key is compared in the place of the value.

// Keyed reports a type whose values are compared by their keys.
func (t Type) Keyed() bool {
	switch t.Kind {
	case JSON:
		return t == TJSONB
	case List, Struct, Map:
		for _, f := range t.Fields() {
			if f.Type.Kind == Interval || f.Type.Keyed() {
				return true
			}
		}
	}
	return false
}

// KeyType is the type of keys of values of type t, which is that of a part of a nested type, or keyed.
func KeyType(t Type) Type {
	switch {
	case t.Kind == Interval:
		return TDecimal(MaxPrecision, 0)
	case t == TJSONB:
		return TBytes
	case t.Kind == List && t.Keyed():
		return TList(KeyType(t.Elem()))
	case t.Kind == Map && t.Keyed():
		return TMap(KeyType(t.Fields()[0].Type), KeyType(t.Fields()[1].Type))
	case t.Keyed():
		fields := make([]Member, len(t.Fields()))
		for i, f := range t.Fields() {
			fields[i] = Member{Name: f.Name, Type: KeyType(f.Type)}
		}
		return TStruct(fields)
	}
	return t
}

// OrderKey is the key of a value, of type KeyType.
func OrderKey(v Value) Value {
	t := KeyType(v.Type)
	switch {
	case v.Null:
		return NullOf(t)
	case v.Type.Kind == Interval:
		k := IntervalKey(v.IntervalParts())
		return Value{Type: t, I: int64(k.Lo), Hi: k.Hi}
	case v.Type == TJSONB:
		return Value{Type: t, S: JSONBKey(v.S)}
	case !v.Type.Keyed():
		return v
	case v.Type.Kind == Struct:
		return StructValue(t, orderKeys(v.FieldValues()))
	}
	list := ListValue(t.Elem(), orderKeys(v.Elems()))
	list.Type = t
	return list
}

// orderKeys puts keys in the place of values.
func orderKeys(vals []Value) []Value {
	for i, v := range vals {
		vals[i] = OrderKey(v)
	}
	return vals
}
