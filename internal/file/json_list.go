package file

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/types"
)

// listOf reads an array of JSON as a list.
func (r *jsonRows) listOf(t types.Type, text []byte) (types.Value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return types.Value{}, &types.Error{Code: "22P02", Msg: "malformed JSON: " + err.Error()}
	}
	return r.jsonValue(t, x)
}

// jsonValue is a value of JSON as one of type t.
func (r *jsonRows) jsonValue(t types.Type, x any) (types.Value, error) {
	switch x := x.(type) {
	case nil:
		return types.NullOf(t), nil
	case []any:
		if t.Kind != types.List {
			break
		}
		elems := make([]types.Value, len(x))
		for i, e := range x {
			v, err := r.jsonValue(t.Elem(), e)
			if err != nil {
				return v, err
			}
			elems[i] = v
		}
		return types.ListValue(t.Elem(), elems), nil
	case string:
		return types.ParseIn(r.s.zone, t, x)
	case json.Number:
		if t.IsNumeric() || t.Kind == types.Text {
			return types.ParseValue(t, x.String())
		}
	case bool:
		if t.Kind == types.Bool || t.Kind == types.Text {
			return types.ParseValue(t, fmt.Sprint(x))
		}
	}
	return types.Value{}, &types.Error{Code: "22P02", Msg: fmt.Sprintf("there is another kind of value where %s should be", t)}
}
