package funcs

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// What PostgreSQL has for JSONB alone: what contains what, and values with a part of them changed.

// jsonbRows are these functions.
var jsonbRows = []Row{
	fn("@>", "JJ", tBool, `'{"a": 1, "b": 2}'::jsonb @> '{"b": 2}' → true`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return jsonContains(a[0], a[1])
	}, fails),
	fn("<@", "JJ", tBool, `'2'::jsonb <@ '[1, 2]' → true`, func(a []types.Value, _ types.Type) (types.Value, error) {
		return jsonContains(a[1], a[0])
	}, fails),
	fn("#-", "JX", types.TJSONB, `'{"a": [1, 2]}'::jsonb #- '{a,0}' → {"a": [2]}`, jsonDeletePath, fails),
	fn("jsonb_set", "JXJ?b", types.TJSONB, `jsonb_set('{"a": 1}', '{a}', '2') → {"a": 2}`, jsonSet, fails),
	fn("jsonb_pretty", "J", tText, "jsonb_pretty('1') → 1", func(a []types.Value, _ types.Type) (types.Value, error) {
		v, err := types.ParseJSON(a[0].S)
		if err != nil {
			return types.Value{}, err
		}
		return text(string(appendPretty(nil, v, 0)))
	}, fails),
}

func jsonDeletePath(a []types.Value, t types.Type) (types.Value, error) {
	return jsonEdited(a[0], t, func(v types.JSONValue) (types.JSONValue, error) {
		if err := notScalar(v, "delete path in"); err != nil {
			return v, err
		}
		return editedAt(v, a[1].Elems(), 1, deleteAt)
	})
}

func jsonSet(a []types.Value, t types.Type) (types.Value, error) { return jsonPutAt(a, t, 1, setAt) }

func jsonInsert(a []types.Value, t types.Type) (types.Value, error) {
	return jsonPutAt(a, t, 0, insertAt)
}

// jsonPutAt brings the third argument to the path that is the second; how decides what becomes of what is there, by the fourth, which is otherwise if there is none.
func jsonPutAt(a []types.Value, t types.Type, otherwise int64, how func(path []types.Value, x types.JSONValue, option bool) func(*types.JSONValue, int, bool) error) (types.Value, error) {
	x, err := types.ParseJSON(a[2].S)
	if err != nil {
		return types.Value{}, err
	}
	return jsonEdited(a[0], t, func(v types.JSONValue) (types.JSONValue, error) {
		if err := notScalar(v, "set path in"); err != nil {
			return v, err
		}
		path := a[1].Elems()
		return editedAt(v, path, 1, how(path, x, at(a, 3, otherwise) != 0))
	})
}

// jsonContains reports that every part of b is in a, wherever it stands in an array. An array by itself contains its scalars, too.
func jsonContains(a, b types.Value) (types.Value, error) {
	x, err := types.ParseJSON(a.S)
	if err != nil {
		return types.Value{}, err
	}
	y, err := types.ParseJSON(b.S)
	if err != nil {
		return types.Value{}, err
	}
	if x.Kind == '[' && !isContainer(y) {
		y = types.JSONValue{Kind: '[', Elems: []types.JSONValue{y}}
	}
	return boolean(contained(x, y))
}

func isContainer(v types.JSONValue) bool { return v.Kind == '[' || v.Kind == '{' }

func contained(x, y types.JSONValue) bool {
	switch {
	case x.Kind != y.Kind:
		return false
	case x.Kind == '{':
		for i, k := range y.Keys {
			if have, ok := x.Field(k); !ok || !contained(have, y.Elems[i]) {
				return false
			}
		}
		return true
	case x.Kind == '[':
		for _, e := range y.Elems {
			if !slices.ContainsFunc(x.Elems, func(have types.JSONValue) bool { return contained(have, e) }) {
				return false
			}
		}
		return true
	}
	return x.SameScalar(y)
}

func notScalar(v types.JSONValue, what string) error {
	if !isContainer(v) {
		return errorf(diag.InvalidParameter, "cannot %s scalar", what)
	}
	return nil
}

// jsonEdited is a value of JSONB that was changed.
func jsonEdited(v types.Value, t types.Type, edit func(types.JSONValue) (types.JSONValue, error)) (types.Value, error) {
	x, err := types.ParseJSON(v.S)
	if err == nil {
		x, err = edit(x)
	}
	if err != nil {
		return types.Value{}, err
	}
	return types.Value{Type: t, S: string(x.AppendJSONB(nil))}, nil
}

// editedAt is v with the container to which a path leads edited in the last step of the path; at is the number of its first step. A path that
// leads nowhere changes nothing. edit gets a copy, the place in it, and whether something is there: else it is behind the end, or -1.
func editedAt(v types.JSONValue, path []types.Value, at int, edit func(out *types.JSONValue, i int, there bool) error) (types.JSONValue, error) {
	if len(path) == 0 {
		return v, nil
	}
	i, err := stepTo(v, path[0], at)
	if err != nil || !isContainer(v) {
		return v, err
	}
	there := i >= 0 && i < len(v.Elems)
	if len(path) > 1 && !there {
		return v, nil
	}
	out := types.JSONValue{Kind: v.Kind, Keys: slices.Clone(v.Keys), Elems: slices.Clone(v.Elems)}
	if len(path) > 1 {
		out.Elems[i], err = editedAt(v.Elems[i], path[1:], at+1, edit)
	} else {
		err = edit(&out, i, there)
	}
	return out, err
}

// deleteAt is for editedAt: nothing is in the place of what was there.
func deleteAt(out *types.JSONValue, i int, there bool) error {
	if there {
		out.Elems = slices.Delete(out.Elems, i, i+1)
		if out.Kind == '{' {
			out.Keys = slices.Delete(out.Keys, i, i+1)
		}
	}
	return nil
}

// setAt is for editedAt: x is in the place of what was there. What was not is added if it may be: a key to an object, an element at the beginning or
// the end of an array.
func setAt(path []types.Value, x types.JSONValue, add bool) func(out *types.JSONValue, i int, there bool) error {
	return func(out *types.JSONValue, i int, there bool) error {
		switch {
		case there:
			out.Elems[i] = x
		case add:
			putAt(out, path, i, x)
		}
		return nil
	}
}

// insertAt is for editedAt: x is before what was there, or behind it. A key that an object has already is an error.
func insertAt(path []types.Value, x types.JSONValue, behind bool) func(out *types.JSONValue, i int, there bool) error {
	return func(out *types.JSONValue, i int, there bool) error {
		if there && out.Kind == '{' {
			return errorf(diag.InvalidParameter, "cannot replace existing key")
		}
		if there && behind {
			i++
		}
		putAt(out, path, i, x)
		return nil
	}
}

// putAt makes room for x at a place, or where that is nearest; a key is the last step of the path.
func putAt(out *types.JSONValue, path []types.Value, i int, x types.JSONValue) {
	out.Elems = slices.Insert(out.Elems, min(max(i, 0), len(out.Elems)), x)
	if out.Kind == '{' {
		out.Keys = append(out.Keys, path[len(path)-1].S)
	}
}

// stepTo is the place in an object or array that step number at of a path leads to: behind the end, or -1, if there is none.
func stepTo(v types.JSONValue, step types.Value, at int) (int, error) {
	if step.Null {
		return 0, errorf(diag.NullNotAllowed, "path element at position %d is null", at)
	}
	switch v.Kind {
	case '{':
		if i := slices.Index(v.Keys, step.S); i >= 0 {
			return i, nil
		}
		return len(v.Keys), nil
	case '[':
		n, err := strconv.ParseInt(step.S, 10, 32)
		if err != nil {
			return 0, errorf(diag.InvalidTextRepresentation, "path element at position %d is not an integer: %q", at, step.S)
		}
		if n < 0 {
			n = max(n+int64(len(v.Elems)), -1)
		}
		return int(n), nil
	}
	return 0, nil
}

// appendPretty writes a value over several lines, each step inwards by four blanks.
func appendPretty(dst []byte, v types.JSONValue, depth int) []byte {
	if !isContainer(v) {
		return v.AppendJSONB(dst)
	}
	line := func(depth int) { dst = append(append(dst, '\n'), strings.Repeat("    ", depth)...) }
	dst = append(dst, v.Kind)
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		line(depth + 1)
		if v.Kind == '{' {
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ": "...)
		}
		dst = appendPretty(dst, e, depth+1)
	}
	line(depth)
	return append(dst, v.Kind+2) // { and }, [ and ]
}
