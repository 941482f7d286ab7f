package funcs

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Values of JSON made of others: with something inserted, without nulls, of lists of texts, and rows made of them.

var jsonMadeRows = func() []Row {
	rows := []Row{
		fn("jsonb_set_lax", "JXJ?bt", types.TJSONB, `jsonb_set_lax('{"a": 1}', '{a}', null, true, 'delete_key') → {}`, jsonSetLax, fails, seesNull, nullOut),
		fn("array_to_json", "L?b", types.TJSON, "array_to_json(array[[1, 2], [3, 4]]) → [[1,2],[3,4]]", func(a []types.Value, t types.Type) (types.Value, error) {
			return types.Value{Type: t, S: string(jsonLines(a[0], len(a) > 1 && a[1].I != 0, types.UTC))}, nil
		}),
		fn("jsonb_insert", "JXJ?b", types.TJSONB, `jsonb_insert('{"a": [1, 2]}', '{a,1}', '9') → {"a": [1, 9, 2]}`, jsonInsert, fails),
	}
	for name, t := range map[string]types.Type{"json": types.TJSON, "jsonb": types.TJSONB} {
		rows = append(rows,
			fn(name+"_strip_nulls", "J", t, name+`_strip_nulls('[1, null]') → `+map[string]string{"json": "[1,null]", "jsonb": "[1, null]"}[name], jsonStripNulls, fails),
			fn(name+"_object", "X", t, "", jsonObjectOfPairs, fails),
			fn(name+"_object", "XX", t, "", jsonObjectOfLists, fails))
	}
	return rows
}()

// JSONLines is row_to_json: a struct as JSON in a zone, with a line for each field if the second argument says so.
var JSONLines = internalFn("row_to_json", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[2].S)
	if err != nil {
		return types.Value{}, err
	}
	return types.Value{Type: t, S: string(jsonLines(a[0], a[1].I != 0, z))}, nil
})

// jsonLines is a list or a struct as JSON. Its parts, but not theirs, can have a line each.
func jsonLines(v types.Value, lines bool, z *types.Zone) []byte {
	if !lines {
		return types.ToJSONIn(nil, v, z)
	}
	separator := ""
	if v.Type.Kind == types.List {
		b := []byte{'['}
		for _, e := range v.Elems() {
			b = types.ToJSONIn(append(b, separator...), e, z)
			separator = ",\n "
		}
		return append(b, ']')
	}
	b := []byte{'{'}
	for i, x := range v.FieldValues() {
		b = append(types.AppendJSONString(append(b, separator...), v.Type.Fields()[i].Name), ':')
		b = types.ToJSONIn(b, x, z)
		separator = ",\n "
	}
	return append(b, '}')
}

// jsonSetLax is jsonb_set where a new value that is NULL means what the last argument says.
func jsonSetLax(a []types.Value, t types.Type) (types.Value, error) {
	treatment := "use_json_null"
	if len(a) > 4 {
		if a[4].Null {
			return fail(diag.InvalidParameter, "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
		}
		treatment = a[4].S
	}
	if a[0].Null || a[1].Null || len(a) > 3 && a[3].Null {
		return null(t)
	}
	if !a[2].Null {
		return jsonSet(a[:min(len(a), 4)], t)
	}
	switch treatment {
	case "raise_exception":
		return fail(diag.NullNotAllowed, "JSON value must not be null")
	case "use_json_null":
		with := slices.Clone(a[:min(len(a), 4)])
		with[2] = types.Value{Type: types.TJSONB, S: "null"}
		return jsonSet(with, t)
	case "delete_key":
		return jsonDeletePath(a[:2], t)
	case "return_target":
		return a[0], nil
	}
	return fail(diag.InvalidParameter, "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
}

// jsonStripNulls is a value without the fields of objects in it that are null.
func jsonStripNulls(a []types.Value, t types.Type) (types.Value, error) {
	v, err := types.ParseJSON(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return asJSON(appendWithoutNulls(nil, v), t)
}

func appendWithoutNulls(dst []byte, v types.JSONValue) []byte {
	switch v.Kind {
	case '"':
		return types.AppendJSONString(dst, v.Text())
	case '{', '[':
	default:
		return append(dst, v.Raw...)
	}
	dst = append(dst, v.Kind)
	first := true
	for i, e := range v.Elems {
		if v.Kind == '{' && e.Kind == 'n' {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		if first = false; v.Kind == '{' {
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ':')
		}
		dst = appendWithoutNulls(dst, e)
	}
	return append(dst, v.Kind+2) // { and }, [ and ]
}

// jsonObjectOfPairs is the object of a list of keys and values by turns; jsonObjectOfLists that of a list of each.
func jsonObjectOfPairs(a []types.Value, t types.Type) (types.Value, error) {
	elems := a[0].Elems()
	if len(elems)%2 != 0 {
		return fail("2202E", "array must have even number of elements")
	}
	var keys, values []types.Value
	for i := 0; i < len(elems); i += 2 {
		keys, values = append(keys, elems[i]), append(values, elems[i+1])
	}
	return jsonObjectOf(keys, values, t)
}

func jsonObjectOfLists(a []types.Value, t types.Type) (types.Value, error) {
	keys, values := a[0].Elems(), a[1].Elems()
	if len(keys) != len(values) {
		return fail("2202E", "mismatched array dimensions")
	}
	return jsonObjectOf(keys, values, t)
}

func jsonObjectOf(keys, values []types.Value, t types.Type) (types.Value, error) {
	b := []byte{'{'}
	for i, k := range keys {
		if k.Null {
			return fail(diag.NullNotAllowed, "null value not allowed for object key")
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(types.AppendJSONString(b, k.S), " : "...)
		b = types.ToJSON(b, values[i])
	}
	return asJSON(append(b, '}'), t)
}

// JSONRecord is the list of the one struct that an object is, of NULLs for NULL, JSONRecords that of all objects in an array. The second argument is the zone of
// the session.
var (
	JSONRecord = internalFn("json_to_record", func(a []types.Value, t types.Type) (types.Value, error) {
		if a[0].Null {
			return types.ListValue(t.Elem(), []types.Value{types.NullOf(t.Elem())}), nil
		}
		v, err := types.ParseJSON(a[0].S)
		if err != nil {
			return types.Value{}, err
		}
		return jsonRecords(t, []types.JSONValue{v}, a[1].S, "json_to_record")
	}, seesNull)
	JSONRecords = internalFn("json_to_recordset", func(a []types.Value, t types.Type) (types.Value, error) {
		v, err := types.ParseJSON(a[0].S)
		if err != nil {
			return types.Value{}, err
		}
		if v.Kind != '[' {
			return fail(diag.InvalidParameter, "cannot call json_to_recordset on a non-array")
		}
		return jsonRecords(t, v.Elems, a[1].S, "json_to_recordset")
	})
)

// JSONPopulated is the list of the structs that objects are, with the fields of another struct, the third argument, where they have none: of one object, or of all in an
// array, as the fourth says.
var JSONPopulated = internalFn("json_populate_record", func(a []types.Value, t types.Type) (types.Value, error) {
	several, name := a[3].I != 0, "json_populate_record"
	if several {
		name += "set"
	}
	if a[0].Null {
		if several {
			return null(t)
		}
		return types.ListValue(t.Elem(), a[2:3]), nil
	}
	v, err := types.ParseJSON(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	objects := []types.JSONValue{v}
	if several {
		if v.Kind != '[' {
			return fail(diag.InvalidParameter, "cannot call %s on a non-array", name)
		}
		objects = v.Elems
	}
	rows, err := jsonRecords(t, objects, a[1].S, name)
	if err != nil || a[2].Null {
		return rows, err
	}
	structs, base := rows.Elems(), a[2].FieldValues()
	for i, row := range structs {
		fields := row.FieldValues()
		for k, f := range t.Elem().Fields() {
			if _, ok := objects[i].Field(f.Name); !ok {
				fields[k] = base[k]
			}
		}
		structs[i] = types.StructValue(t.Elem(), fields)
	}
	return types.ListValue(t.Elem(), structs), nil
}, seesNull)

func jsonRecords(t types.Type, objects []types.JSONValue, zone, name string) (types.Value, error) {
	z, err := types.FindZone(zone)
	if err != nil {
		return types.Value{}, err
	}
	rows := make([]types.Value, len(objects))
	for i, o := range objects {
		if o.Kind != '{' {
			return fail(diag.InvalidParameter, "argument of %s must be an object, or an array of objects", name)
		}
		if rows[i], err = jsonField(z, t.Elem(), o); err != nil {
			return types.Value{}, err
		}
	}
	return types.ListValue(t.Elem(), rows), nil
}

// jsonField is the value of a field of type t that PostgreSQL makes of JSON: null is NULL whatever the type, arrays and objects are lists and structs, and all
// else is read from its text.
func jsonField(z *types.Zone, t types.Type, v types.JSONValue) (types.Value, error) {
	var err error
	switch {
	case v.Kind == 'n':
		return types.NullOf(t), nil
	case t.Kind == types.JSON:
		return types.ParseValue(t, v.Raw)
	case t.Kind == types.List && v.Kind == '[':
		elems := make([]types.Value, len(v.Elems))
		for i, e := range v.Elems {
			if elems[i], err = jsonField(z, t.Elem(), e); err != nil {
				return types.Value{}, err
			}
		}
		return types.ListValue(t.Elem(), elems), nil
	case t.Kind == types.List && v.Kind != '"':
		return fail(diag.InvalidTextRepresentation, "expected JSON array")
	case t.Kind == types.Struct && v.Kind == '{':
		fields := t.Fields()
		vals := make([]types.Value, len(fields))
		for i, f := range fields {
			vals[i] = types.NullOf(f.Type)
			if e, ok := v.Field(f.Name); ok {
				if vals[i], err = jsonField(z, f.Type, e); err != nil {
					return types.Value{}, err
				}
			}
		}
		return types.StructValue(t, vals), nil
	}
	return types.ParseIn(z, t, v.Text())
}
