package funcs

import (
	"math/big"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The functions of JSON that DuckDB has and PostgreSQL has not. They take texts, too, in which there must be JSON.

var jsonDuckRows = func() []Row {
	texts := types.TList(tText)
	rows := []Row{
		made("json_extract", "Jt", `json_extract('{"a": [7]}', '$.a[0]') → 7`), made("json_extract", "Wt", ""),
		fn("json_extract", "Ji", tSame, "", jsonExtract(false), nullOut, fails),
		made("json_extract", "JX", `json_extract('{"a": 1, "b": "x"}', ['$.b', '$.c']) → {"\"x\"",NULL}`), made("json_extract", "WX", ""),
		made("json_extract_string", "Jt", `json_extract_string('{"a": "x"}', '$.a') → x`), made("json_extract_string", "Wt", ""),
		fn("json_extract_string", "Ji", tText, "", jsonExtract(true), nullOut, fails),
		made("json_extract_string", "JX", `json_extract_string('{"a": 1, "b": "x"}', ['$.b', '$.c']) → {x,NULL}`), made("json_extract_string", "WX", ""),
		fn("json_valid", "t", tBool, `json_valid('{') → false`, func(a []types.Value, _ types.Type) (types.Value, error) {
			_, err := types.ParseJSON(a[0].S)
			return boolean(err == nil)
		}),
		fn("json_array_length", "W", tInt, "", jsonDuckLength, fails, nullOut),
		fn("json_array", "?*…", types.TJSON, `json_array(1, 'a', null) → [1,"a",null]`, jsonBuildArray(","), seesNull, fails),
		fn("json_object", "?*…", types.TJSON, `json_object('a', 1, 'b', [2]) → {"a":1,"b":[2]}`, jsonBuildObject(",", ":"), seesNull, fails),
		fn("json_quote", "*", types.TJSON, `json_quote('a"b') → "a\"b"`, toJSON, fails),
		fn("json_merge_patch", "JJ", types.TJSON, `json_merge_patch('{"a": 1, "b": 2}', '{"b": null, "c": 3}') → {"a":1,"c":3}`, jsonMergePatch, fails),
	}
	for _, letter := range []string{"J", "W"} {
		example := func(e string) string {
			if letter == "W" {
				return ""
			}
			return e
		}
		rows = append(rows,
			fn("json_keys", letter+"?t", texts, example(`json_keys('{"b": 1, "a": 2}') → {b,a}`), jsonDuckKeys, fails, nullOut),
			fn("json_array_length", letter+"t", tInt, example(`json_array_length('{"a": [1, 2]}', '$.a') → 2`), jsonDuckLength, fails, nullOut),
			fn("json_type", letter+"?t", tText, example(`json_type('{"a": [1]}', '$.a') → ARRAY`), jsonDuckType, fails, nullOut),
			fn("json_exists", letter+"t", tBool, example(`json_exists('{"a": null}', '$.a') → true`), func(a []types.Value, _ types.Type) (types.Value, error) {
				_, ok, err := jsonAt(a, 1)
				return types.BoolValue(ok), err
			}, fails),
			fn("json_value", letter+"t", types.TJSON, example(`json_value('{"a": [1]}', '$.a') → NULL`), func(a []types.Value, t types.Type) (types.Value, error) {
				v, ok, err := jsonAt(a, 1)
				if err != nil {
					return types.Value{}, err
				}
				return jsonResult(v, ok && !isContainer(v), false, t)
			}, fails, nullOut),
			fn("json_contains", letter+"J", tBool, example(`json_contains('{"a": {"b": 1}}', '{"b": 1}') → true`), jsonDuckContains, fails),
			fn("json_structure", letter, types.TJSON, example(`json_structure('{"a": [1, 2.5]}') → {"a":["DOUBLE"]}`), jsonStructure, fails),
			fn("json_pretty", letter, tText, "", func(a []types.Value, _ types.Type) (types.Value, error) {
				v, err := types.ParseJSON(a[0].S)
				if err != nil {
					return types.Value{}, err
				}
				return text(string(appendIndented(nil, v, 0)))
			}, fails))
	}
	return rows
}()

// JSONExtract and JSONExtractString are what one path leads to, JSONExtractAll and JSONExtractTexts lists of what several paths, or one with * in it, lead to.
var (
	JSONExtract       = internalFn("json_at_path", jsonExtract(false), nullOut)
	JSONExtractString = internalFn("json_text_at_path", jsonExtract(true), nullOut)
	JSONExtractAll    = internalFn("json_at_paths", jsonExtractAll(false), nullOut)
	JSONExtractTexts  = internalFn("json_texts_at_paths", jsonExtractAll(true), nullOut)
)

// jsonExtract is the value that a path, which may be a number, leads to.
func jsonExtract(text bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		v, ok, err := jsonAt(a, 1)
		if err != nil {
			return types.Value{}, err
		}
		return jsonResult(v, ok, text, t)
	}
}

// jsonExtractAll is the list of what a path leads to, or of what each path of a list does.
func jsonExtractAll(text bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		v, err := types.ParseJSON(a[0].S)
		if err != nil {
			return types.Value{}, err
		}
		var out []types.Value
		add := func(x types.JSONValue, ok bool) {
			var r types.Value
			if r, err = jsonResult(x, ok, text, t.Elem()); err == nil {
				out = append(out, r)
			}
		}
		if a[1].Type.Kind == types.Text {
			ways, err := jsonWays(a[1].S)
			if err != nil {
				return types.Value{}, err
			}
			for _, x := range along(v, ways) {
				add(x, true)
			}
		} else {
			for _, p := range a[1].Elems() {
				if p.Null {
					add(v, false)
					continue
				}
				x, ok, failed := jsonAt([]types.Value{a[0], p}, 1)
				if failed != nil {
					return types.Value{}, failed
				}
				add(x, ok)
			}
		}
		return types.ListValue(t.Elem(), out), err
	}
}

func jsonDuckKeys(a []types.Value, t types.Type) (types.Value, error) {
	v, ok, err := jsonAt(a, 1)
	if err != nil || !ok {
		return types.NullOf(t), err
	}
	return textList(v.Keys)
}

func jsonDuckLength(a []types.Value, t types.Type) (types.Value, error) {
	v, ok, err := jsonAt(a, 1)
	if err != nil || !ok {
		return types.NullOf(t), err
	}
	if v.Kind != '[' {
		return number(t, 0)
	}
	return number(t, int64(len(v.Elems)))
}

func jsonDuckType(a []types.Value, t types.Type) (types.Value, error) {
	v, ok, err := jsonAt(a, 1)
	if err != nil || !ok {
		return types.NullOf(t), err
	}
	switch v.Kind {
	case '{':
		return text("OBJECT")
	case '[':
		return text("ARRAY")
	}
	return text(scalarName(v))
}

// scalarName is the type that DuckDB finds for a scalar.
func scalarName(v types.JSONValue) string {
	switch v.Kind {
	case '"':
		return "VARCHAR"
	case 't':
		return "BOOLEAN"
	case 'n':
		return "NULL"
	}
	x, whole := new(big.Int).SetString(v.Raw, 10)
	switch {
	case whole && x.Sign() >= 0 && x.IsUint64():
		return "UBIGINT"
	case whole && x.IsInt64():
		return "BIGINT"
	}
	return "DOUBLE"
}

// jsonMergePatch is what RFC 7396 makes of two values: fields of the second, of which null means none, replace those of the first.
func jsonMergePatch(a []types.Value, t types.Type) (types.Value, error) {
	x, err := types.ParseJSON(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	y, err := types.ParseJSON(a[1].S)
	if err != nil {
		return types.Value{}, err
	}
	return asJSON(appendCompact(nil, patched(x, y)), t)
}

func patched(x, y types.JSONValue) types.JSONValue {
	if y.Kind != '{' {
		return y
	}
	out := types.JSONValue{Kind: '{'}
	if x.Kind == '{' {
		out.Keys, out.Elems = slices.Clone(x.Keys), slices.Clone(x.Elems)
	}
	for i, k := range y.Keys {
		at := slices.Index(out.Keys, k)
		switch e := y.Elems[i]; {
		case e.Kind == 'n' && at >= 0:
			out.Keys, out.Elems = slices.Delete(out.Keys, at, at+1), slices.Delete(out.Elems, at, at+1)
		case e.Kind == 'n':
		case at >= 0:
			out.Elems[at] = patched(out.Elems[at], e)
		default:
			out.Keys, out.Elems = append(out.Keys, k), append(out.Elems, patched(types.JSONValue{Kind: 'n'}, e))
		}
	}
	return out
}

// appendCompact appends a value without blanks.
func appendCompact(dst []byte, v types.JSONValue) []byte {
	if !isContainer(v) {
		return append(dst, v.Raw...)
	}
	dst = append(dst, v.Kind)
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Kind == '{' {
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ':')
		}
		dst = appendCompact(dst, e)
	}
	return append(dst, v.Kind+2) // { and }, [ and ]
}

// appendIndented appends a value with a line for each part.
func appendIndented(dst []byte, v types.JSONValue, depth int) []byte {
	if !isContainer(v) || len(v.Elems) == 0 {
		return appendCompact(dst, v)
	}
	line := func(depth int) { dst = append(append(dst, '\n'), strings.Repeat("    ", depth)...) }
	dst = append(dst, v.Kind)
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if line(depth + 1); v.Kind == '{' {
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ": "...)
		}
		dst = appendIndented(dst, e, depth+1)
	}
	line(depth)
	return append(dst, v.Kind+2)
}

// jsonDuckContains reports that the second value is the first, or in it at any depth; objects need have the fields alone, and arrays the elements.
func jsonDuckContains(a []types.Value, _ types.Type) (types.Value, error) {
	x, err := types.ParseJSON(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	y, err := types.ParseJSON(a[1].S)
	if err != nil {
		return types.Value{}, err
	}
	return boolean(anywhere(x, y))
}

func anywhere(x, y types.JSONValue) bool {
	return partOf(x, y) || slices.ContainsFunc(x.Elems, func(e types.JSONValue) bool { return anywhere(e, y) })
}

// partOf reports that y is x, or a part of it at this depth.
func partOf(x, y types.JSONValue) bool {
	switch {
	case x.Kind != y.Kind:
		return false
	case x.Kind == '"':
		return x.Text() == y.Text()
	case x.Kind == '[':
		return !slices.ContainsFunc(y.Elems, func(e types.JSONValue) bool {
			return !slices.ContainsFunc(x.Elems, func(f types.JSONValue) bool { return partOf(f, e) })
		})
	case x.Kind == '{':
		for i, k := range y.Keys {
			if f, ok := x.Field(k); !ok || !partOf(f, y.Elems[i]) {
				return false
			}
		}
		return true
	}
	return x.Raw == y.Raw
}

// jsonStructure is JSON with the names of types in the places of values.
func jsonStructure(a []types.Value, t types.Type) (types.Value, error) {
	v, err := types.ParseJSON(a[0].S)
	if err != nil {
		return types.Value{}, err
	}
	return asJSON(appendCompact(nil, shapeOf(v)), t)
}

// typeNamed is the name of a type, in a shape.
func typeNamed(name string) types.JSONValue { return types.JSONValue{Kind: '"', Raw: `"` + name + `"`} }

func shapeOf(v types.JSONValue) types.JSONValue {
	switch v.Kind {
	case '{':
		out := types.JSONValue{Kind: '{'}
		for i, k := range v.Keys {
			out = withShape(out, k, shapeOf(v.Elems[i]))
		}
		return out
	case '[':
		elem := typeNamed("NULL")
		for _, e := range v.Elems {
			elem = commonShape(elem, shapeOf(e))
		}
		return types.JSONValue{Kind: '[', Elems: []types.JSONValue{elem}}
	}
	return typeNamed(scalarName(v))
}

// withShape is an object of shapes with one more field, or a field that has another shape, too.
func withShape(o types.JSONValue, key string, shape types.JSONValue) types.JSONValue {
	if at := slices.Index(o.Keys, key); at >= 0 {
		o.Elems[at] = commonShape(o.Elems[at], shape)
		return o
	}
	o.Keys, o.Elems = append(o.Keys, key), append(o.Elems, shape)
	return o
}

// commonShape is the shape that values of either have.
func commonShape(x, y types.JSONValue) types.JSONValue {
	isNumber := func(v types.JSONValue) bool {
		return v.Raw == `"UBIGINT"` || v.Raw == `"BIGINT"` || v.Raw == `"HUGEINT"` || v.Raw == `"DOUBLE"`
	}
	switch {
	case x.Raw == `"NULL"`:
		return y
	case y.Raw == `"NULL"`:
		return x
	case x.Kind == '{' && y.Kind == '{':
		for i, k := range y.Keys {
			x = withShape(x, k, y.Elems[i])
		}
		return x
	case x.Kind == '[' && y.Kind == '[':
		return types.JSONValue{Kind: '[', Elems: []types.JSONValue{commonShape(x.Elems[0], y.Elems[0])}}
	case x.Kind == '"' && x.Raw == y.Raw:
		return x
	case isNumber(x) && isNumber(y) && (x.Raw == `"DOUBLE"` || y.Raw == `"DOUBLE"`):
		return typeNamed("DOUBLE")
	case isNumber(x) && isNumber(y):
		return typeNamed("HUGEINT")
	}
	return typeNamed("JSON")
}

// jsonGroupArray is json_group_array, which is json_agg as DuckDB writes it; jsonGroupObject likewise.
func jsonGroupArray(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	return jsonGroup(rows, t, '[', func(b []byte, i int) ([]byte, error) { return types.ToJSON(b, rows.Value(i, 0)), nil })
}

func jsonGroupObject(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	return jsonGroup(rows, t, '{', func(b []byte, i int) ([]byte, error) {
		key := rows.Value(i, 0)
		if key.Null {
			return nil, errorf(diag.InvalidParameter, "field name must not be null")
		}
		return types.ToJSON(append(jsonKey(b, key), ':'), rows.Value(i, 1)), nil
	})
}

func jsonGroup(rows plan.FoldRows, t types.Type, kind byte, part func(b []byte, i int) ([]byte, error)) (types.Value, error) {
	if rows.Len() == 0 {
		return null(t)
	}
	b := []byte{kind}
	asked := 0
	for i := range rows.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = part(b, i); err != nil {
			return types.Value{}, err
		}
		if i%1024 == 0 || i == rows.Len()-1 {
			if err := rows.Room(int64(len(b) - asked)); err != nil {
				return types.Value{}, err
			}
			asked = len(b)
		}
	}
	return asJSON(append(b, kind+2), t)
}
