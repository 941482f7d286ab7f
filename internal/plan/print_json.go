package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// jsonNode is one operator of the JSON form. Text is the operator's line of the
// tree form; the other fields repeat what programs look for most.
type jsonNode struct {
	Op     string      `json:"op"`
	Text   string      `json:"text"`
	Table  string      `json:"table,omitempty"`
	Kind   string      `json:"kind,omitempty"`
	Rows   float64     `json:"rows,omitempty"`
	Actual *int64      `json:"actual_rows,omitempty"`
	ID     int         `json:"id,omitempty"`
	Cols   []string    `json:"columns"`
	Inputs []*jsonNode `json:"inputs,omitempty"`
}

type jsonQuery struct {
	Output []string             `json:"output"`
	Shared map[string]*jsonNode `json:"shared,omitempty"`
	Plan   *jsonNode            `json:"plan"`
}

// FormatJSON prints a query as JSON: {"output": …, "shared": …, "plan": {"op": …, "inputs": […]}}.
func FormatJSON(q *Query) []byte {
	b, err := json.MarshalIndent(JSONValue(q, nil), "", "  ")
	if err != nil {
		panic(err) // an estimate that is not finite
	}
	return b
}

// JSONValue is what FormatJSON prints, for a document that holds more than a plan. actual
// tells how many rows an operator gave when it was run; it may be nil.
func JSONValue(q *Query, actual func(Node) (int64, bool)) any {
	if actual == nil {
		actual = func(Node) (int64, bool) { return 0, false }
	}
	out := jsonQuery{Output: q.Names, Plan: toJSON(q.Cols, q.Root, actual)}
	for i, s := range q.Shared {
		if s == nil {
			continue
		}
		if out.Shared == nil {
			out.Shared = map[string]*jsonNode{}
		}
		out.Shared[fmt.Sprint(i)] = toJSON(q.Cols, s.Plan, actual)
	}
	return out
}

func toJSON(cols *Columns, n Node, actual func(Node) (int64, bool)) *jsonNode {
	p := n.Props()
	out := &jsonNode{
		Op: reflect.TypeOf(n).Elem().Name(), Text: Describe(cols, n), Rows: p.Rows, ID: p.ID, Cols: []string{},
	}
	if rows, ok := actual(n); ok {
		out.Actual = &rows
	}
	switch x := n.(type) {
	case *Scan:
		if x.Table != nil {
			out.Table = x.Table.Name
		}
	case *Join:
		out.Kind = x.Kind.String()
	}
	for _, id := range n.Produces(nil) {
		out.Cols = append(out.Cols, FormatExpr(cols, &Ref{ID: id}))
	}
	for _, m := range n.Inputs() {
		out.Inputs = append(out.Inputs, toJSON(cols, m, actual))
	}
	return out
}
