package funcs

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// structRows are functions of structs and maps, whose types the binder finds.
var structRows = []Row{
	made("row", "?*…", "row(1, 'x') → (1,x)"),
	made("struct_pack", "?*…", "struct_pack(a := 1, b := 'x') → {'a': 1, 'b': x}"),
	made("struct_extract", "**", "struct_extract({'a': 1}, 'a') → 1"),
	made("struct_keys", "*", "struct_keys({'a': 1, 'b': 2}) → {a,b}"),
	made("struct_insert", "**…", "struct_insert({'a': 1}, b := 2) → {'a': 1, 'b': 2}"),
	made("map", "?**", "map(['a', 'b'], [1, 2]) → {a=1, b=2}"),
	made("map_keys", "*", "map_keys(MAP {'a': 1, 'b': 2}) → {a,b}"),
	made("map_values", "*", "map_values(MAP {'a': 1, 'b': 2}) → {1,2}"),
	made("map_entries", "*", "map_entries(MAP {'a': 1}) → [{'key': a, 'value': 1}]"),
	made("map_from_entries", "*", "map_from_entries([row('a', 1)]) → {a=1}"),
	made("map_extract", "**", "map_extract(MAP {'a': 1}, 'a') → {1}"),
	made("map_extract_value", "**", "map_extract_value(MAP {'a': 1}, 'a') → 1"),
	made("map_contains", "**", "map_contains(MAP {'a': 1}, 'b') → false"),
	made("element_at", "**", "element_at(MAP {'a': 1}, 'b') → {}"),
	made("cardinality", "*", "cardinality(MAP {'a': 1, 'b': 2}) → 2"),
	made("row_to_json", "*?b", `row_to_json(row(1, 'x')) → {"f1":1,"f2":"x"}`),
}

// The functions behind the syntax of structs and maps, and behind the names above.
var (
	StructMake = &plan.Function{Name: "struct_make", Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		return types.StructValue(t, a), nil
	}}
	// StructAt is the field of a struct with a number, from 0.
	StructAt = &plan.Function{Name: "struct_at", Strict: true, NullOut: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		return a[0].FieldValue(int(a[1].I)), nil
	}}
	// MapMake is the map of a list of keys and one of values.
	MapMake = internalFn("map", func(a []types.Value, t types.Type) (types.Value, error) {
		keys, values := a[0].Elems(), a[1].Elems()
		if len(keys) != len(values) {
			return fail("2202E", "a map needs as many values as keys, not %d for %d", len(values), len(keys))
		}
		return types.MapValue(t, keys, values)
	})
	// MapOf is the map of a list of pairs.
	MapOf = internalFn("map_from_entries", func(a []types.Value, t types.Type) (types.Value, error) {
		var keys, values []types.Value
		for _, e := range a[0].Elems() {
			if e.Null {
				return fail("22004", "an entry of a map cannot be NULL")
			}
			pair := e.FieldValues()
			keys, values = append(keys, pair[0]), append(values, pair[1])
		}
		return types.MapValue(t, keys, values)
	})
	// MapAt is map[key]: NULL where there is no such key.
	MapAt = &plan.Function{Name: "map_at", Strict: true, NullOut: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		v, _ := mapFind(a[0], a[1], t)
		return v, nil
	}}
	// MapExtract is the list of what map[key] is, which is empty where there is no such key.
	MapExtract = &plan.Function{Name: "map_extract", Strict: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		v, ok := mapFind(a[0], a[1], t.Elem())
		if !ok {
			return types.ListValue(t.Elem(), nil), nil
		}
		return types.ListValue(t.Elem(), []types.Value{v}), nil
	}}
	MapContains = &plan.Function{Name: "map_contains", Strict: true, Eval: func(a []types.Value, _ types.Type) (types.Value, error) {
		_, ok := mapFind(a[0], a[1], types.TUnknown)
		return boolean(ok)
	}}
	MapKeys    = &plan.Function{Name: "map_keys", Strict: true, Eval: mapParts(0)}
	MapValues  = &plan.Function{Name: "map_values", Strict: true, Eval: mapParts(1)}
	MapEntries = &plan.Function{Name: "map_entries", Strict: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		return types.Value{Type: t, S: a[0].S}, nil // in memory it is that
	}}
	MapLen = &plan.Function{Name: "cardinality", Strict: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(a[0].ListLen()))
	}}
)

// Internal are functions that have no row of their own: plans that are written and read again have them.
var Internal = []*plan.Function{StructMake, StructAt, MapMake, MapOf, MapAt, MapExtract, MapContains, MapKeys, MapValues, MapEntries, MapLen,
	Occurrences, ListConcat, ListAppend, ListFirst, TextMoment, TryTextMoment, ListMake, ListSlice, ListAt, ListNext, ListRows, Quantified, OrderKey, ListFill, Extreme, JSONRecord, JSONRecords, JSONPopulated, JSONExtract, JSONExtractString, JSONExtractAll, JSONExtractTexts, JSONPathQuery, JSONLines,
	NumbersByRow["gcd decimal"], NumbersByRow["lcm decimal"], NumbersByRow["round decimal"], NumbersByRow["trunc decimal"], NumbersByRow["round double"], NumbersByRow["trunc double"]}

// mapFind is the value of a key, and whether there is one.
func mapFind(m, key types.Value, t types.Type) (types.Value, bool) {
	for _, e := range m.Elems() {
		if types.Compare(e.FieldValue(0), key) == 0 {
			return e.FieldValue(1), true
		}
	}
	return types.NullOf(t), false
}

func mapParts(i int) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		var out []types.Value
		for _, e := range a[0].Elems() {
			out = append(out, e.FieldValue(i))
		}
		return types.ListValue(t.Elem(), out), nil
	}
}
