package funcs

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// What PostgreSQL has for the keys of JSONB: whether they are there, values without them, two values in one.

// jsonbKeyRows are these operators.
var jsonbKeyRows = []Row{
	fn("?", "Jt", tBool, `'{"a": 1}'::jsonb ? 'a' → true`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return jsonHas(a[0], a[1:2], false)
	}, fails),
	fn("?|", "JX", tBool, `'["x", "y"]'::jsonb ?| array['y', 'z'] → true`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return jsonHas(a[0], a[1].Elems(), false)
	}, fails),
	fn("?&", "JX", tBool, `'["x", "y"]'::jsonb ?& array['y', 'z'] → false`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return jsonHas(a[0], a[1].Elems(), true)
	}, fails),
	fn("-", "Jt", types.TJSONB, `'{"a": 1, "b": 2}'::jsonb - 'a' → {"b": 2}`, func(a []types.Value, t types.Type) (types.Value, error) {
		return jsonWithout(a[0], t, a[1:2])
	}, fails),
	fn("-", "JX", types.TJSONB, `'["a", "b", 1]'::jsonb - array['a', 'b'] → [1]`, func(a []types.Value, t types.Type) (types.Value, error) {
		return jsonWithout(a[0], t, a[1].Elems())
	}, fails),
	fn("-", "Ji", types.TJSONB, `'[1, 2, 3]'::jsonb - -1 → [1, 2]`, jsonWithoutElement, fails),
	fn("||", "JJ", types.TJSONB, `'{"a": 1, "b": 2}'::jsonb || '{"b": 3}' → {"a": 1, "b": 3}`, jsonConcat, fails),
}

// hasKey reports that a key of an object, a string in an array, or a string by itself is k.
func hasKey(v types.JSONValue, k string) bool {
	switch v.Kind {
	case '{':
		return slices.Contains(v.Keys, k)
	case '[':
		return slices.ContainsFunc(v.Elems, func(e types.JSONValue) bool { return isString(e, k) })
	}
	return isString(v, k)
}

func isString(v types.JSONValue, k string) bool { return v.Kind == '"' && v.Text() == k }

// jsonHas reports that v has one of the keys, or all of them. NULLs among them mean nothing.
func jsonHas(v types.Value, keys []types.Value, all bool) (types.Value, error) {
	x, err := types.ParseJSON(v.S)
	if err != nil {
		return types.Value{}, err
	}
	for _, k := range keys {
		if !k.Null && hasKey(x, k.S) != all {
			return boolean(!all)
		}
	}
	return boolean(all)
}

// jsonWithout is v without the keys of an object, or the strings of an array, that are listed.
func jsonWithout(v types.Value, t types.Type, keys []types.Value) (types.Value, error) {
	listed := func(k string) bool {
		return slices.ContainsFunc(keys, func(l types.Value) bool { return !l.Null && l.S == k })
	}
	return jsonEdited(v, t, func(v types.JSONValue) (types.JSONValue, error) {
		if err := notScalar(v, "delete from"); err != nil {
			return v, err
		}
		out := types.JSONValue{Kind: v.Kind}
		for i, e := range v.Elems {
			if v.Kind == '[' && e.Kind == '"' && listed(e.Text()) || v.Kind == '{' && listed(v.Keys[i]) {
				continue
			}
			out.Elems = append(out.Elems, e)
			if v.Kind == '{' {
				out.Keys = append(out.Keys, v.Keys[i])
			}
		}
		return out, nil
	})
}

// jsonWithoutElement is an array without one element; numbers below zero count from its end.
func jsonWithoutElement(a []types.Value, t types.Type) (types.Value, error) {
	return jsonEdited(a[0], t, func(v types.JSONValue) (types.JSONValue, error) {
		if v.Kind == '{' {
			return v, errorf(diag.InvalidParameter, "cannot delete from object using integer index")
		}
		if err := notScalar(v, "delete from"); err != nil {
			return v, err
		}
		i, n := a[1].I, int64(len(v.Elems))
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			return v, nil
		}
		return types.JSONValue{Kind: '[', Elems: slices.Delete(slices.Clone(v.Elems), int(i), int(i)+1)}, nil
	})
}

// jsonConcat puts two objects together, of which the second counts more, or two arrays, which everything else is the only element of.
func jsonConcat(a []types.Value, t types.Type) (types.Value, error) {
	y, err := types.ParseJSON(a[1].S)
	if err != nil {
		return types.Value{}, err
	}
	return jsonEdited(a[0], t, func(x types.JSONValue) (types.JSONValue, error) {
		if x.Kind != '{' || y.Kind != '{' {
			return types.JSONValue{Kind: '[', Elems: slices.Concat(asElements(x), asElements(y))}, nil
		}
		return types.JSONValue{Kind: '{', Keys: slices.Concat(x.Keys, y.Keys), Elems: slices.Concat(x.Elems, y.Elems)}, nil
	})
}

func asElements(v types.JSONValue) []types.JSONValue {
	if v.Kind == '[' {
		return v.Elems
	}
	return []types.JSONValue{v}
}
