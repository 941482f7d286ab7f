package funcs

import (
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// The functions of paths of JSONB. They have a value, a path, and if need be an object with variables and whether errors mean nothing.

var jsonPathRows = []Row{
	fn("jsonb_path_exists", "Jt?Jb", tBool, `jsonb_path_exists('{"a": [1, 2]}', '$.a[*] ? (@ > 1)') → true`, pathExists(false), fails, nullOut),
	fn("jsonb_path_match", "Jt?Jb", tBool, `jsonb_path_match('{"a": [1, 2]}', '$.a[*] > 1') → true`, pathMatch(false), fails, nullOut),
	fn("jsonb_path_query_array", "Jt?Jb", types.TJSONB, `jsonb_path_query_array('{"a": [1, 2]}', '$.a[*] ? (@ > 1)') → [2]`, func(a []types.Value, t types.Type) (types.Value, error) {
		vs, err := pathValues(a)
		return types.Value{Type: t, S: string(types.JSONValue{Kind: '[', Elems: vs}.AppendJSONB(nil))}, err
	}, fails),
	fn("jsonb_path_query_first", "Jt?Jb", types.TJSONB, `jsonb_path_query_first('{"a": [1, 2]}', '$.a[*]') → 1`, func(a []types.Value, t types.Type) (types.Value, error) {
		vs, err := pathValues(a)
		if err != nil || len(vs) == 0 {
			return types.NullOf(t), err
		}
		return types.Value{Type: t, S: string(vs[0].AppendJSONB(nil))}, nil
	}, fails, nullOut),
	made("jsonb_path_query", "Jt?Jb", ""),
	fn("@?", "Jt", tBool, `'{"a": [1, 2]}'::jsonb @? '$.a[*] ? (@ > 2)' → false`, pathExists(true), fails, nullOut),
	fn("@@", "Jt", tBool, `'{"a": [1, 2]}'::jsonb @@ '$.a[*] > 1' → true`, pathMatch(true), fails, nullOut),
}

// JSONPathQuery is the list of what jsonb_path_query has rows of.
var JSONPathQuery = internalFn("jsonb_path_query", func(a []types.Value, t types.Type) (types.Value, error) {
	vs, err := pathValues(a)
	if err != nil {
		return types.Value{}, err
	}
	elems := make([]types.Value, len(vs))
	for i, v := range vs {
		elems[i] = types.Value{Type: t.Elem(), S: string(v.AppendJSONB(nil))}
	}
	return types.ListValue(t.Elem(), elems), nil
})

// readPaths are those that were read lately: rows of a query have few.
var readPaths struct {
	sync.Mutex
	trees map[string]*jsonPathTree
}

func jsonPathOf(text string) (*jsonPathTree, error) {
	readPaths.Lock()
	tree := readPaths.trees[text]
	readPaths.Unlock()
	if tree != nil {
		return tree, nil
	}
	text = strings.Clone(text) // it may lie in memory that goes with the query
	tree, err := readJSONPath(text)
	if err != nil {
		return nil, err
	}
	readPaths.Lock()
	defer readPaths.Unlock()
	if readPaths.trees == nil || len(readPaths.trees) > 200 {
		readPaths.trees = map[string]*jsonPathTree{}
	}
	readPaths.trees[text] = tree
	return tree, nil
}

// TakesJSONPath reports whether a function's or operator's second argument is a path.
func TakesJSONPath(name string) bool {
	return name == "@?" || name == "@@" || strings.HasPrefix(name, "jsonb_path_")
}

// CheckJSONPath is what is wrong with a path, before there is a value.
func CheckJSONPath(text string) error {
	_, err := jsonPathOf(text)
	return err
}

// pathPattern is the pattern of like_regex.
func pathPattern(n *pathNode) (matcher, error) { return compile(n.name, n.flags, false) }

// newPathRun prepares the arguments of a function; bare are those of an operator.
func newPathRun(a []types.Value, bare bool) (*pathRun, error) {
	tree, err := jsonPathOf(a[1].S)
	if err != nil {
		return nil, err
	}
	r := &pathRun{tree: tree, bare: bare}
	if r.root, err = types.ParseJSON(a[0].S); err != nil {
		return nil, err
	}
	if len(a) > 2 {
		if r.vars, err = types.ParseJSON(a[2].S); err != nil {
			return nil, err
		}
		if r.vars.Kind != '{' {
			return nil, errorf(diag.InvalidParameter, `"vars" argument is not an object`)
		}
	}
	return r, nil
}

// pathValues are the values that a path leads to. Where errors mean nothing, those before one are.
func pathValues(a []types.Value) ([]types.JSONValue, error) {
	r, err := newPathRun(a, false)
	if err != nil {
		return nil, err
	}
	vs, err := r.all(r.tree.root, false)
	if r.fatal != nil {
		err = r.fatal
	} else if at(a, 3, 0) != 0 {
		err = nil
	}
	return vs, err
}

func pathExists(operator bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		r, err := newPathRun(a, operator)
		if err != nil {
			return types.Value{}, err
		}
		any := false
		err = r.eval(r.tree.root, false, func(types.JSONValue) error {
			any = true
			if r.lax() {
				return errEnough
			}
			return nil
		})
		switch {
		case r.fatal != nil:
			return types.Value{}, r.fatal
		case err == nil || err == errEnough:
			return boolean(any)
		case operator || at(a, 3, 0) != 0:
			return null(t)
		}
		return types.Value{}, err
	}
}

func pathMatch(operator bool) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		r, err := newPathRun(a, operator)
		if err != nil {
			return types.Value{}, err
		}
		vs, err := r.all(r.tree.root, false)
		quiet := operator || at(a, 3, 0) != 0
		switch {
		case r.fatal != nil:
			return types.Value{}, r.fatal
		case err != nil && quiet:
			return null(t)
		case err != nil:
			return types.Value{}, err
		case len(vs) == 1 && vs[0].Kind == 't':
			return boolean(vs[0].Raw == "true")
		case len(vs) == 1 && vs[0].Kind == 'n', quiet:
			return null(t)
		}
		return fail("22038", "single boolean result is expected")
	}
}
