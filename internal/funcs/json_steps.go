package funcs

import (
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Paths into JSON as DuckDB writes them: $.a."b c"[0][#-1], /a/b/0, or one key. With $.*, $[*] or $..key they lead to several values.

// jsonWay is a step of such a path.
type jsonWay struct {
	kind  byte // k a key, i an index, p a part of /a/0, which may be either; * all fields, [ all elements, . a key at any depth
	key   string
	index int64
}

// ManyWays reports a path that may lead to several values.
func ManyWays(path string) bool {
	ways, err := jsonWays(path)
	if err != nil {
		return false
	}
	for _, w := range ways {
		if w.several() {
			return true
		}
	}
	return false
}

func (w jsonWay) several() bool { return w.kind == '*' || w.kind == '[' || w.kind == '.' }

func jsonWays(path string) (ways []jsonWay, err error) {
	if rest, ok := strings.CutPrefix(path, "/"); ok {
		for _, p := range strings.Split(rest, "/") {
			ways = append(ways, jsonWay{kind: 'p', key: strings.ReplaceAll(strings.ReplaceAll(p, "~1", "/"), "~0", "~")})
		}
		return ways, nil
	}
	s, ok := strings.CutPrefix(path, "$")
	switch {
	case path == "":
		return nil, nil
	case !ok:
		return []jsonWay{{kind: 'k', key: path}}, nil
	}
	for s != "" {
		var w jsonWay
		if w, s = nextWay(s); w.kind == 0 {
			return nil, errorf(diag.InvalidParameter, "%q is no path of JSON", path)
		}
		ways = append(ways, w)
	}
	return ways, nil
}

// nextWay takes a step off a path; its kind is 0 where there is none.
func nextWay(s string) (w jsonWay, rest string) {
	if s[0] == '[' {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return w, s
		}
		inside := s[1:end]
		if inside == "*" {
			return jsonWay{kind: '['}, s[end+1:]
		}
		i, err := strconv.ParseInt(strings.TrimPrefix(inside, "#"), 10, 64)
		if err != nil || strings.HasPrefix(inside, "#") && i >= 0 {
			return w, s
		}
		return jsonWay{kind: 'i', index: i}, s[end+1:]
	}
	kind := byte('k')
	after, ok := strings.CutPrefix(s, "..")
	if ok {
		kind = '.'
	} else if after, ok = strings.CutPrefix(s, "."); !ok {
		return w, s
	}
	if rest, ok = strings.CutPrefix(after, `"`); ok {
		key, rest, found := strings.Cut(rest, `"`)
		if !found {
			return w, s
		}
		return jsonWay{kind: kind, key: key}, rest
	}
	end := strings.IndexAny(after, ".[")
	if end < 0 {
		end = len(after)
	}
	switch key := after[:end]; {
	case key == "":
		return w, s
	case key == "*" && kind == 'k':
		return jsonWay{kind: '*'}, after[end:]
	default:
		return jsonWay{kind: kind, key: key}, after[end:]
	}
}

// along are the values that steps lead to.
func along(v types.JSONValue, ways []jsonWay) []types.JSONValue {
	at := []types.JSONValue{v}
	for _, w := range ways {
		var next []types.JSONValue
		for _, x := range at {
			next = w.from(x, next)
		}
		at = next
	}
	return at
}

// from appends the values that one step from x leads to.
func (w jsonWay) from(x types.JSONValue, out []types.JSONValue) []types.JSONValue {
	var y types.JSONValue
	ok := false
	switch {
	case w.kind == 'k', w.kind == 'p' && x.Kind == '{':
		y, ok = x.Field(w.key)
	case w.kind == 'i':
		y, ok = x.Index(w.index)
	case w.kind == 'p':
		if i, err := strconv.ParseInt(w.key, 10, 64); err == nil && i >= 0 {
			y, ok = x.Index(i)
		}
	case w.kind == '*' && x.Kind == '{', w.kind == '[' && x.Kind == '[':
		return append(out, x.Elems...)
	case w.kind == '.':
		for i, e := range x.Elems {
			if x.Kind == '{' && x.Keys[i] == w.key {
				out = append(out, e)
			}
			out = w.from(e, out)
		}
	}
	if ok {
		out = append(out, y)
	}
	return out
}

// jsonAt is what the path in argument i leads to, the whole value without that argument; there may be nothing.
func jsonAt(a []types.Value, i int) (v types.JSONValue, ok bool, err error) {
	if v, err = types.ParseJSON(a[0].S); err != nil || i >= len(a) {
		return v, err == nil, err
	}
	if a[i].Type.IsInteger() {
		v, ok = v.Index(a[i].I)
		return v, ok, nil
	}
	ways, err := jsonWays(a[i].S)
	if err != nil {
		return v, false, err
	}
	found := along(v, ways)
	if len(found) == 0 {
		return v, false, nil
	}
	if len(found) > 1 {
		return v, false, diag.Unsupported(diag.NoPos, "a path of JSON with * that is not a constant, or in this function").WithHint("json_extract with a constant path gives a list")
	}
	return found[0], true, nil
}
