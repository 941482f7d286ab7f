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
	out := jsonQuery{Output: q.Names, Plan: toJSON(q.Cols, q.Root)}
	for i, s := range q.Shared {
		if s == nil {
			continue
		}
		if out.Shared == nil {
			out.Shared = map[string]*jsonNode{}
		}
		out.Shared[fmt.Sprint(i)] = toJSON(q.Cols, s.Plan)
	}
	b, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		panic(err) // an estimate that is not finite
	}
	return b
}

func toJSON(cols *Columns, n Node) *jsonNode {
	p := n.Props()
	out := &jsonNode{
		Op: reflect.TypeOf(n).Elem().Name(), Text: Describe(cols, n), Rows: p.Rows, ID: p.ID, Cols: []string{},
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
		out.Inputs = append(out.Inputs, toJSON(cols, m))
	}
	return out
}
