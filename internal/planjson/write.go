package planjson

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Write makes a document of a plan, with the settings under which it should run. schema tells in which schema a table is, named finds the
// types that have names of their own. The error names what a document cannot hold.
func Write(q *plan.Query, settings map[string]string, schema func(*plan.Scan) (string, error), named func(name string) (types.Type, bool)) (text []byte, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case mistake:
			err = e.Error
		default:
			panic(e)
		}
	}()
	w := writer{q, schema, named}
	d := document{Version: version, Settings: settings}
	for _, s := range q.Shared {
		d.Shared = append(d.Shared, shared{s.Name, w.node(s.Plan), w.cols(s.Cols)})
	}
	d.Plan = w.node(q.Root)
	for i, id := range q.Output {
		d.Output = append(d.Output, output{w.col(id), q.Names[i]})
	}
	b, err := encode(d)
	return []byte(inLines(string(b))), err
}

// encode is json.Marshal without HTML's escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

type writer struct {
	q      *plan.Query
	schema func(*plan.Scan) (string, error)
	named  func(name string) (types.Type, bool)
}

// typeText is the name of a type by which it is found again.
func (w *writer) typeText(t types.Type) string {
	text := t.String()
	if back, err := types.ReadTypeOf(text, w.named); err != nil || back != t {
		cannot("a value of type %s", text)
	}
	return text
}

// cannot ends writing.
func cannot(format string, args ...any) {
	panic(mistake{diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "a plan with "+format+" cannot be written as JSON", args...)})
}

func (w *writer) col(id plan.ColID) string {
	return fmt.Sprintf("%s#%d", w.q.Cols.Get(id).Name, id)
}

func (w *writer) cols(ids []plan.ColID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = w.col(id)
	}
	return out
}

// typed are columns with their types.
func (w *writer) typed(ids []plan.ColID) []column {
	out := make([]column, len(ids))
	for i, id := range ids {
		out[i] = column{As: w.col(id), Type: w.typeText(w.q.Cols.Get(id).Type)}
	}
	return out
}

func (w *writer) node(n plan.Node) *operator {
	o := w.operator(n)
	o.Switches = n.Props().Switches
	return o
}

func (w *writer) operator(n plan.Node) *operator {
	switch x := n.(type) {
	case *plan.Scan:
		return w.scan(x)
	case *plan.Values:
		o := &operator{Op: "values", Cols: w.typed(x.Cols)}
		for _, r := range x.Rows {
			o.Rows = append(o.Rows, w.exprs(r))
		}
		return o
	case *plan.Series:
		return &operator{Op: "series", As: w.col(x.Col), Type: w.typeText(w.q.Cols.Get(x.Col).Type), From: x.From, Step: x.Step, Count: x.N}
	case *plan.SharedScan:
		o := &operator{Op: "shared", Shared: &x.Index}
		for i, id := range x.Cols {
			o.Cols = append(o.Cols, column{As: w.col(id), Column: w.col(x.Source[i])})
		}
		return o
	case *plan.Filter:
		return &operator{Op: "filter", Where: w.exprs(x.Preds), Input: w.node(x.Input)}
	case *plan.Project:
		return &operator{Op: "project", Keep: w.cols(x.Keep), Cols: w.values(x.Cols, x.Exprs), Input: w.node(x.Input)}
	case *plan.Join:
		return w.join(x)
	case *plan.Group:
		o := &operator{Op: "group", By: w.values(x.KeyCols, x.Keys), Input: w.node(x.Input)}
		for i := range x.Aggs {
			o.Aggs = append(o.Aggs, w.aggregate(&x.Aggs[i]))
		}
		return o
	case *plan.SetOp:
		o := &operator{Op: "union all", Cols: w.typed(x.Cols)}
		w.united(o, x.Args, x.InCols)
		return o
	case *plan.Repeat:
		times := w.expr(x.Count)
		return &operator{Op: "repeat", Times: &times, As: w.col(x.Col), Input: w.node(x.Input)}
	case *plan.Sort:
		o := &operator{Op: "sort", Order: w.order(x.Keys), Skip: x.Offset, Input: w.node(x.Input)}
		if x.Limit >= 0 {
			o.Limit = &x.Limit
		}
		return o
	case *plan.Window:
		return w.window(x)
	case *plan.Recursive:
		o := &operator{Op: "recursive", Name: x.Name, Number: x.Number, Distinct: x.Distinct, Cols: w.typed(x.Cols)}
		w.united(o, x.Inputs(), x.InCols[:])
		return o
	case *plan.WorkScan:
		o := &operator{Op: "work", Name: x.Name, Number: x.Number}
		for i, id := range x.Cols {
			o.Cols = append(o.Cols, column{As: w.col(id), Column: fmt.Sprint(x.Ordinal[i]), Type: w.typeText(w.q.Cols.Get(id).Type)})
		}
		return o
	}
	panic(fmt.Sprintf("planjson: operator %T", n))
}

func (w *writer) scan(x *plan.Scan) *operator {
	schema, err := w.schema(x)
	if err != nil {
		cannot("%v", err)
	}
	o := &operator{Op: "scan", Schema: schema, Table: x.Table.Name, Where: w.exprs(x.Filter)}
	if x.Alias != x.Table.Name {
		o.Alias = x.Alias
	}
	for i, id := range x.Cols {
		o.Cols = append(o.Cols, column{As: w.col(id), Column: x.Table.Columns[x.Ordinal[i]].Name})
	}
	return o
}

func (w *writer) united(o *operator, inputs []plan.Node, from [][]plan.ColID) {
	for i, n := range inputs {
		o.Inputs = append(o.Inputs, w.node(n))
		o.Sources = append(o.Sources, w.cols(from[i]))
	}
}

// values are computed columns.
func (w *writer) values(ids []plan.ColID, es []plan.Expr) []column {
	out := make([]column, len(ids))
	for i, id := range ids {
		e := w.expr(es[i])
		out[i] = column{As: w.col(id), Value: &e}
	}
	return out
}

func (w *writer) join(x *plan.Join) *operator {
	o := &operator{Op: "join", Kind: x.Kind.String(), On: w.exprs(x.On), Unique: x.AtMostOne, Gate: x.Gate, Left: w.node(x.Left), Right: w.node(x.Right)}
	for i := range x.LKeys {
		o.Keys = append(o.Keys, joinKey{w.expr(x.LKeys[i]), w.expr(x.RKeys[i]), x.NullSafe != nil && x.NullSafe[i]})
	}
	if x.MarkCol != 0 {
		o.Mark = w.col(x.MarkCol)
	}
	if x.BuildLeft {
		o.Build = "left"
	}
	return o
}

func (w *writer) aggregate(a *plan.Agg) aggregate {
	out := aggregate{As: w.col(a.Col), Function: a.Func.String(), Args: w.exprs(a.Args()), Type: w.typeText(w.q.Cols.Get(a.Col).Type), Distinct: a.Distinct}
	if a.Filter != nil {
		f := w.expr(a.Filter)
		out.Filter = &f
	}
	if a.Func != plan.Folded {
		return out
	}
	out.Function, out.Fold = a.Fold.Name, true
	if foldOf(a.Fold.Name, false) != a.Fold {
		out.Within = true
		if foldOf(a.Fold.Name, true) != a.Fold {
			cannot("%s", a.Fold.Name)
		}
	}
	for _, v := range a.Direct {
		out.Direct = append(out.Direct, w.literal(v))
	}
	for _, o := range a.Order {
		out.Order = append(out.Order, foldOrder{w.expr(o.X), o.Desc, o.NullsFirst})
	}
	return out
}

func (w *writer) order(keys []plan.SortKey) []sortKey {
	out := make([]sortKey, len(keys))
	for i, k := range keys {
		out[i] = sortKey{w.col(k.Col), k.Desc, k.NullsFirst}
	}
	return out
}

func (w *writer) window(x *plan.Window) *operator {
	o := &operator{Op: "window", Input: w.node(x.Input)}
	for _, s := range x.Specs {
		o.Windows = append(o.Windows, windowSpec{w.cols(s.Partition), w.order(s.Order)})
	}
	for i := range x.Funcs {
		f := &x.Funcs[i]
		out := windowFunc{As: w.col(f.Col), Function: f.Func.String(), Args: w.cols(f.Args), Type: w.typeText(w.q.Cols.Get(f.Col).Type), Window: f.Spec,
			Unit: f.Frame.Unit.String(), Start: w.frameBound(f.Frame.Start), End: w.frameBound(f.Frame.End), Exclude: exclusions[f.Frame.Exclude],
			Desc: f.Frame.Desc, IgnoreNulls: f.IgnoreNulls}
		if f.Func == plan.WinAgg {
			out.Function, out.Aggregate = f.Agg.String(), true
		}
		if f.Fold != nil {
			w.windowFold(f.Fold, &out)
		}
		if f.Frame.Key != 0 {
			out.Key = w.col(f.Frame.Key)
		}
		o.Functions = append(o.Functions, out)
	}
	return o
}

func (w *writer) windowFold(f *plan.WindowFold, out *windowFunc) {
	if windowFoldOf(f.Name) != f.Fold {
		cannot("%s", f.Name)
	}
	out.Function, out.Fold, out.Distinct = f.Name, true, f.Distinct
	for _, v := range f.Direct {
		out.Direct = append(out.Direct, w.literal(v))
	}
	if f.Filter != 0 {
		out.Filter = w.col(f.Filter)
	}
	if len(f.Order) > 0 {
		out.Order = w.order(f.Order)
	}
}

func (w *writer) frameBound(b plan.FrameBound) bound {
	out := bound{Kind: boundNames[b.Kind]}
	if b.Kind == plan.Preceding || b.Kind == plan.Following {
		v := w.literal(b.Offset)
		out.Offset = &v
	}
	return out
}

func (w *writer) exprs(es []plan.Expr) []operand {
	out := make([]operand, len(es))
	for i, e := range es {
		out[i] = w.expr(e)
	}
	return out
}

func (w *writer) expr(e plan.Expr) operand {
	switch x := e.(type) {
	case *plan.Ref:
		return operand{Column: w.col(x.ID)}
	case *plan.Const:
		return w.literal(x.V)
	case *plan.Call:
		out := operand{Op: x.Op.String(), Args: w.exprs(x.Args), Type: w.typeText(x.T)}
		if x.Op == plan.Apply {
			name, ok := functionNames[x.Fn]
			if !ok {
				cannot("%s", x.Fn.Name)
			}
			out.Op, out.Function = "", name
		}
		return out
	}
	panic(fmt.Sprintf("planjson: expression %T", e))
}

func (w *writer) literal(v types.Value) operand {
	if v.Null {
		return operand{Null: true, Type: w.typeText(v.Type)}
	}
	text := v.String()
	return operand{Value: &text, Type: w.typeText(v.Type)}
}
