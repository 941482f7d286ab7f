package funcs

import (
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// jsonRows are functions of JSON; those of JSONB have the same names with a b.
var jsonRows = func() []Row {
	rows := []Row{
		fn("->", "Jt", tSame, `'{"a": [1, 2]}'::json -> 'a' → [1, 2]`, jsonStep(false), nullOut, fails),
		fn("->", "Ji", tSame, `'[4, 5]'::json -> -1 → 5`, jsonStep(false), nullOut, fails),
		fn("->>", "Jt", tText, `'{"a": "x"}'::json ->> 'a' → x`, jsonStep(true), nullOut, fails),
		fn("->>", "Ji", tText, `'["x"]'::json ->> 0 → x`, jsonStep(true), nullOut, fails),
		fn("#>", "JX", tSame, `'{"a": [1, 2]}'::json #> '{a,1}' → 2`, jsonPath(false), nullOut, fails),
		fn("#>>", "JX", tText, `'{"a": ["x"]}'::json #>> '{a,0}' → x`, jsonPath(true), nullOut, fails),
	}
	for name, t := range map[string]types.Type{"json": types.TJSON, "jsonb": types.TJSONB} {
		rows = append(rows,
			fn(name+"_extract_path", "Jt…", t, "", jsonPathArgs(false), nullOut, fails),
			fn(name+"_extract_path_text", "Jt…", tText, "", jsonPathArgs(true), nullOut, fails),
			fn(name+"_typeof", "J", tText, name+"_typeof('[1]') → array", jsonTypeOf, fails),
			fn(name+"_array_length", "J", tInt, name+"_array_length('[1, 2]') → 2", jsonLength, fails),
			fn(name+"_build_array", "?*…", t, name+"_build_array(1, 'a', null) → [1, \"a\", null]", jsonBuildArray(", "), seesNull, fails),
			fn(name+"_build_object", "?*…", t, "", jsonBuildObject(", ", " : "), seesNull, fails),
			fn("to_"+name, "*", t, "to_"+name+"(1.50) → 1.50", toJSON, fails),
			made(name+"_array_elements", "J", ""), made(name+"_array_elements_text", "J", ""), made(name+"_object_keys", "J", ""))
	}
	return rows
}()

// OrderKey is what JSONB, and what has JSONB or intervals inside, is compared and sorted by.
var OrderKey = internalFn("order_key", func(a []types.Value, _ types.Type) (types.Value, error) { return types.OrderKey(a[0]), nil })

// Extreme is the least or greatest of values that are compared by their keys: of the second argument on. Of equal ones it is the first.
var Extreme = internalFn("extreme", func(a []types.Value, t types.Type) (types.Value, error) {
	best := types.NullOf(t)
	for _, v := range a[1:] {
		if !v.Null && (best.Null || types.Compare(v, best) == int(a[0].I)) {
			best = v
		}
	}
	return best, nil
}, seesNull)

// The lists of what has several rows.
var (
	JSONElements = internalFn("json_array_elements", jsonParts('[', "array", func(v types.JSONValue, i int) string { return v.Elems[i].Raw }))
	JSONTexts    = internalFn("json_array_elements_text", jsonParts('[', "array", nil))
	JSONKeys     = internalFn("json_object_keys", jsonParts('{', "object", func(v types.JSONValue, i int) string { return v.Keys[i] }))
	JSONValues   = internalFn("json_values", jsonParts('{', "object", func(v types.JSONValue, i int) string { return v.Elems[i].Raw }))
	JSONStrings  = internalFn("json_texts", jsonParts('{', "object", nil))
)

// jsonParts is the list of the parts of an array or object; without part, their texts, of which null is NULL.
func jsonParts(kind byte, name string, part func(v types.JSONValue, i int) string) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		v, err := types.ParseJSON(a[0].S)
		if err != nil {
			return types.Value{}, err
		}
		if v.Kind != kind {
			if name == "object" {
				return fail(diag.InvalidParameter, "cannot deconstruct a value of type %s as an object", v.TypeName())
			}
			return fail(diag.InvalidParameter, "cannot extract elements from a value of type %s", v.TypeName())
		}
		elems := make([]types.Value, len(v.Elems))
		for i := range elems {
			if elems[i].Type = t.Elem(); part != nil {
				elems[i].S = part(v, i)
			} else if elems[i].Null = v.Elems[i].Kind == 'n'; !elems[i].Null {
				if err := types.CheckEscapes(v.Elems[i].Raw); err != nil {
					return types.Value{}, err
				}
				elems[i].S = v.Elems[i].Text()
			}
		}
		return types.ListValue(t.Elem(), elems), nil
	}
}

// jsonResult is a part of a value; there may be none.
func jsonResult(v types.JSONValue, ok, text bool, t types.Type) (types.Value, error) {
	switch {
	case !ok || text && v.Kind == 'n':
		return null(t)
	case text:
		return types.Value{Type: t, S: v.Text()}, types.CheckEscapes(v.Raw)
	}
	return types.Value{Type: t, S: v.Raw}, nil
}

// jsonStep is a field of an object or an element of an array. A key that begins with $ or / is a path, as DuckDB has them.
func jsonStep(text bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		if a[1].Type.Kind == types.Text && strings.HasPrefix(a[1].S, "$") {
			return jsonExtract(text)(a, t)
		}
		v, err := types.ParseJSON(a[0].S)
		if err != nil {
			return types.Value{}, err
		}
		var ok bool
		if i := a[1].I; a[1].Type.IsInteger() {
			if v, ok = v.Index(i); !ok && a[0].Type == types.TJSONB && (i == 0 || i == -1) {
				v, ok = scalarElement(a[0].S)
			}
		} else {
			v, ok = v.Field(a[1].S)
		}
		return jsonResult(v, ok, text, t)
	}
}

// scalarElement is a scalar as the one element that PostgreSQL takes it to have where JSONB is subscripted by -> and a number.
func scalarElement(s string) (types.JSONValue, bool) {
	v, err := types.ParseJSON(s)
	return v, err == nil && v.Kind != '[' && v.Kind != '{'
}

// follow goes down by keys and indexes.
func follow(v types.JSONValue, path []string) (types.JSONValue, bool) {
	ok := true
	for _, p := range path {
		if v.Kind == '[' {
			i, err := strconv.ParseInt(p, 10, 32)
			if err != nil {
				return v, false
			}
			v, ok = v.Index(i)
		} else {
			v, ok = v.Field(p)
		}
		if !ok {
			return v, false
		}
	}
	return v, true
}

func jsonFollow(a types.Value, path []string, text bool, t types.Type) (types.Value, error) {
	v, err := types.ParseJSON(a.S)
	if err != nil {
		return types.Value{}, err
	}
	v, ok := follow(v, path)
	return jsonResult(v, ok, text, t)
}

func jsonPath(text bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		var path []string
		for _, e := range a[1].Elems() {
			if e.Null {
				return null(t)
			}
			path = append(path, e.S)
		}
		return jsonFollow(a[0], path, text, t)
	}
}

func jsonPathArgs(text bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		var path []string
		for _, e := range a[1:] {
			path = append(path, e.S)
		}
		return jsonFollow(a[0], path, text, t)
	}
}

func jsonTypeOf(a []types.Value, _ types.Type) (types.Value, error) {
	v, err := types.ParseJSON(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return text(v.TypeName())
}

func jsonLength(a []types.Value, t types.Type) (types.Value, error) {
	v, err := types.ParseJSON(a[0].S)
	switch {
	case err != nil:
		return types.Value{}, err
	case v.Kind == '{':
		return fail(diag.InvalidParameter, "cannot get array length of a non-array")
	case v.Kind != '[':
		return fail(diag.InvalidParameter, "cannot get array length of a scalar")
	}
	return number(t, int64(len(v.Elems)))
}

// asJSON is a text of JSON as a value of type t.
func asJSON(b []byte, t types.Type) (types.Value, error) { return types.ParseValue(t, string(b)) }

func toJSON(a []types.Value, t types.Type) (types.Value, error) {
	return asJSON(types.ToJSON(nil, a[0]), t)
}

// jsonBuildArray makes an array of its arguments, with a comma as PostgreSQL or DuckDB writes it.
func jsonBuildArray(comma string) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		b := []byte{'['}
		for i, v := range a {
			if i > 0 {
				b = append(b, comma...)
			}
			b = types.ToJSON(b, v)
		}
		return asJSON(append(b, ']'), t)
	}
}

// jsonBuildObject makes an object of keys and values by turns.
func jsonBuildObject(comma, colon string) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		if len(a)%2 != 0 {
			return fail(diag.InvalidParameter, "argument list must have even number of elements")
		}
		b := []byte{'{'}
		for i := 0; i < len(a); i += 2 {
			if a[i].Null {
				return fail(diag.InvalidParameter, "argument %d: key must not be null", i+1)
			}
			if i > 0 {
				b = append(b, comma...)
			}
			b = types.ToJSON(append(jsonKey(b, a[i]), colon...), a[i+1])
		}
		return asJSON(append(b, '}'), t)
	}
}

// jsonKey appends a key: what the value is in JSON, as a string.
func jsonKey(b []byte, v types.Value) []byte {
	start := len(b)
	if b = types.ToJSON(b, v); b[start] == '"' {
		return b
	}
	return types.AppendJSONString(b[:start], string(b[start:]))
}

// jsonObjectFold is json_object_agg: an object of the first argument's texts and the second's values.
func jsonObjectFold(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	b := []byte("{ ")
	asked := 0
	for i := range rows.Len() {
		key := rows.Value(i, 0)
		if key.Null {
			return fail(diag.InvalidParameter, "field name must not be null")
		}
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(jsonKey(b, key), " : "...)
		if b = types.ToJSON(b, rows.Value(i, 1)); i%1024 == 0 || i == rows.Len()-1 {
			if err := rows.Room(int64(len(b) - asked)); err != nil {
				return types.Value{}, err
			}
			asked = len(b)
		}
	}
	return asJSON(append(b, " }"...), t)
}

// InstantJSON is the JSON of a value with instants in it, in a zone.
var InstantJSON = internalFn("timestamptz_json", func(a []types.Value, t types.Type) (types.Value, error) {
	z, err := types.FindZone(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return types.Value{Type: t, S: string(types.ToJSONIn(nil, a[1], z))}, nil
})

// jsonFold is json_agg.
func jsonFold(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	b := []byte{'['}
	asked := 0
	for i := range rows.Len() {
		if i > 0 {
			b = append(b, ", "...)
		}
		v := rows.Value(i, 0)
		if i > 0 && !v.Null && v.Type.IsNested() {
			b = append(b, "\n "...)
		}
		if b = types.ToJSON(b, v); i%1024 == 0 || i == rows.Len()-1 {
			if err := rows.Room(int64(len(b) - asked)); err != nil {
				return types.Value{}, err
			}
			asked = len(b)
		}
	}
	return asJSON(append(b, ']'), t)
}
