package planjson

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// setFields are the fields of an operator that are not empty.
func setFields(o *operator) (out []string) {
	v := reflect.ValueOf(*o)
	for i := range v.NumField() {
		if !v.Field(i).IsZero() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			out = append(out, name)
		}
	}
	return out
}

func (r *reader) operator(o *operator, path string) plan.Node {
	switch o.Op {
	case "scan":
		return r.scan(o, path)
	case "values":
		return r.values(o, path)
	case "series":
		t := r.typeAt(o.Type, path+".type")
		if !t.IsInteger() || o.Count < 1 || o.Step == 0 {
			fail(path, "a series has a count and a step, and is of integers")
		}
		way, _ := types.FromInt64(o.Count - 1).Mul(types.FromInt64(o.Step))
		for _, n := range []types.Int128{types.FromInt64(o.From), types.FromInt64(o.From).Add(way)} {
			if _, err := types.Cast(types.DecimalValue(types.TDecimal(types.MaxPrecision, 0), n), t); err != nil {
				fail(path+".count", "%s is no %s", n, t)
			}
		}
		return &plan.Series{Col: r.define(o.As, t, true, path+".as"), From: o.From, Step: o.Step, N: o.Count}
	case "shared":
		return r.sharedScan(o, path)
	case "filter":
		in := r.node(o.Input, path+".input")
		return &plan.Filter{Input: in, Preds: r.preds(o.Where, plan.Produced(in), path+".where")}
	case "project":
		in := r.node(o.Input, path+".input")
		have := plan.Produced(in)
		p := &plan.Project{Input: in, Keep: r.refs(o.Keep, have, path+".keep")}
		p.Cols, p.Exprs = r.computed(o.Cols, have, path+".columns")
		return p
	case "join":
		return r.join(o, path)
	case "group":
		return r.group(o, path)
	case "union all":
		s := &plan.SetOp{}
		s.Args, s.InCols = r.inputs(o, path, func(int) {})
		s.Cols = r.typed(o.Cols, path+".columns")
		return s
	case "repeat":
		in := r.node(o.Input, path+".input")
		if o.Times == nil {
			fail(path+".times", "how often is missing")
		}
		times := r.expr(o.Times, plan.Produced(in), path+".times")
		if times.Type() != types.TInt64 {
			fail(path+".times", "%s where BIGINT is expected", times.Type())
		}
		return &plan.Repeat{Input: in, Count: times, Col: r.define(o.As, types.TInt64, true, path+".as")}
	case "sort":
		in := r.node(o.Input, path+".input")
		s := &plan.Sort{Input: in, Keys: r.order(o.Order, plan.Produced(in), path+".order"), Limit: -1, Offset: o.Skip}
		if o.Limit != nil {
			s.Limit = *o.Limit
		}
		if s.Offset < 0 || o.Limit != nil && s.Limit < 0 {
			fail(path, "LIMIT and OFFSET must not be negative")
		}
		return s
	case "window":
		return r.window(o, path)
	case "recursive":
		return r.recursive(o, path)
	}
	return r.work(o, path)
}

func (r *reader) scan(o *operator, path string) plan.Node {
	t, err := r.Table(o.Schema, o.Table)
	if err != nil {
		fail(path+".table", "%v", err)
	}
	s := &plan.Scan{Table: t, Snap: t.Snapshot(), Alias: t.Name}
	if o.Alias != "" {
		s.Alias = o.Alias
	}
	ordinals := map[string]int{}
	for i := range t.Columns {
		ordinals[t.Columns[i].Name] = i
	}
	for i, c := range o.Cols {
		at := fmt.Sprintf("%s.columns[%d]", path, i)
		ord := choice(ordinals, c.Column, "column", at+".column")
		def := &t.Columns[ord]
		s.Ordinal = append(s.Ordinal, ord)
		s.Cols = append(s.Cols, r.define(c.As, def.Type, def.NotNull, at+".as"))
	}
	s.Filter = r.preds(o.Where, plan.Produced(s), path+".where")
	return s
}

func (r *reader) values(o *operator, path string) plan.Node {
	v := &plan.Values{Cols: r.typed(o.Cols, path+".columns")}
	for i, row := range o.Rows {
		at := fmt.Sprintf("%s.rows[%d]", path, i)
		if len(row) != len(v.Cols) {
			fail(at, "%d values for %d columns", len(row), len(v.Cols))
		}
		es := make([]plan.Expr, len(row))
		for k := range row {
			es[k] = r.expr(&row[k], plan.ColSet{}, fmt.Sprintf("%s[%d]", at, k))
			if want := r.q.Cols.Get(v.Cols[k]).Type; !fits(es[k].Type(), want) {
				fail(fmt.Sprintf("%s[%d]", at, k), "%s where %s is expected", es[k].Type(), want)
			}
		}
		v.Rows = append(v.Rows, es)
	}
	return v
}

func (r *reader) sharedScan(o *operator, path string) plan.Node {
	if o.Shared == nil || *o.Shared < 0 || *o.Shared >= len(r.shares) {
		fail(path+".shared", "there is no such shared plan before this place")
	}
	s := &plan.SharedScan{Index: r.shares[*o.Shared]}
	have := plan.MakeColSet(r.q.Shared[s.Index].Cols...)
	for i, c := range o.Cols {
		at := fmt.Sprintf("%s.columns[%d]", path, i)
		from := r.ref(c.Column, have, at+".column")
		col := *r.q.Cols.Get(from)
		s.Source = append(s.Source, from)
		s.Cols = append(s.Cols, r.define(c.As, col.Type, col.NotNull, at+".as"))
	}
	return s
}

// preds reads a conjunction.
func (r *reader) preds(list []operand, have plan.ColSet, path string) []plan.Expr {
	var out []plan.Expr
	for i := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		e := r.expr(&list[i], have, at)
		if e.Type().Kind != types.Bool {
			fail(at, "%s where BOOLEAN is expected", e.Type())
		}
		out = append(out, e)
	}
	return out
}

// computed reads columns with their expressions.
func (r *reader) computed(cols []column, have plan.ColSet, path string) (ids []plan.ColID, es []plan.Expr) {
	for i, c := range cols {
		at := fmt.Sprintf("%s[%d]", path, i)
		if c.Value == nil {
			fail(at+".value", "an expression is missing")
		}
		es = append(es, r.expr(c.Value, have, at+".value"))
	}
	for i, c := range cols {
		if ref, ok := es[i].(*plan.Ref); ok && r.names[c.As] == ref.ID { // a key of a group that keeps its name
			ids = append(ids, ref.ID)
			continue
		}
		ids = append(ids, r.define(c.As, es[i].Type(), false, fmt.Sprintf("%s[%d].as", path, i)))
	}
	return ids, es
}

func (r *reader) join(o *operator, path string) plan.Node {
	j := &plan.Join{Kind: choice(joinKinds, o.Kind, "kind of join", path+".kind"), Left: r.node(o.Left, path+".left"), Right: r.node(o.Right, path+".right"),
		AtMostOne: o.Unique, Gate: o.Gate}
	left, right := plan.Produced(j.Left), plan.Produced(j.Right)
	nullSafe := false
	for i := range o.Keys {
		k, at := &o.Keys[i], fmt.Sprintf("%s.keys[%d]", path, i)
		l, rt := r.expr(&k.Left, left, at+".left"), r.expr(&k.Right, right, at+".right")
		if !plan.SameKeyType(l.Type(), rt.Type()) {
			fail(at, "keys are of %s and %s", l.Type(), rt.Type())
		}
		j.LKeys, j.RKeys = append(j.LKeys, l), append(j.RKeys, rt)
		j.NullSafe = append(j.NullSafe, k.NullSafe)
		nullSafe = nullSafe || k.NullSafe
	}
	if !nullSafe {
		j.NullSafe = nil
	}
	both := left
	both.Union(right)
	j.On = r.preds(o.On, both, path+".on")
	switch o.Build {
	case "", "right":
	case "left":
		if j.BuildLeft = true; j.Kind == plan.Mark || j.Kind == plan.Single {
			fail(path+".build", "a %s join cannot build its left side", j.Kind)
		}
	default:
		fail(path+".build", "%q is neither left nor right", o.Build)
	}
	if (j.Kind == plan.Mark) != (o.Mark != "") {
		fail(path+".mark", "a mark join, and no other, names a column for its mark")
	}
	if o.Mark != "" {
		j.MarkCol = r.define(o.Mark, types.TBool, false, path+".mark")
	}
	if j.Gate && j.Kind != plan.Semi {
		fail(path+".gate", "only semi joins can be gates")
	}
	return j
}

func (r *reader) order(keys []sortKey, have plan.ColSet, path string) (out []plan.SortKey) {
	for i, k := range keys {
		out = append(out, plan.SortKey{Col: r.ref(k.Column, have, fmt.Sprintf("%s[%d].column", path, i)), Desc: k.Desc, NullsFirst: k.NullsFirst})
	}
	return out
}

func (r *reader) recursive(o *operator, path string) plan.Node {
	if len(o.Inputs) != 2 {
		fail(path+".inputs", "a recursion has two inputs: what it begins with, and a round")
	}
	if o.Number <= 0 {
		fail(path+".number", "a recursion needs a number above 0")
	}
	for _, w := range r.working {
		if w.number == o.Number {
			fail(path+".number", "a recursion around it has that number")
		}
	}
	n := &plan.Recursive{Name: o.Name, Number: o.Number, Distinct: o.Distinct, Cols: r.typed(o.Cols, path+".columns")}
	nodes, from := r.inputs(o, path, func(i int) {
		if i == 1 {
			r.working = append(r.working, recursionPart{o.Number, n.Cols})
		}
	})
	r.working = r.working[:len(r.working)-1]
	n.Init, n.Step, n.InCols = nodes[0], nodes[1], [2][]plan.ColID{from[0], from[1]}
	return n
}

func (r *reader) work(o *operator, path string) plan.Node {
	n := &plan.WorkScan{Name: o.Name, Number: o.Number}
	for _, w := range r.working {
		if w.number != o.Number {
			continue
		}
		for i, c := range o.Cols {
			at := fmt.Sprintf("%s.columns[%d]", path, i)
			ord, err := strconv.Atoi(c.Column)
			if err != nil || ord < 0 || ord >= len(w.cols) {
				fail(at+".column", "%q is no column of the recursion, of which there are %d", c.Column, len(w.cols))
			}
			n.Ordinal = append(n.Ordinal, ord)
			n.Cols = append(n.Cols, r.define(c.As, r.q.Cols.Get(w.cols[ord]).Type, false, at+".as"))
		}
		return n
	}
	panic(mistake{diag.Errorf(diag.InvalidParameter, diag.NoPos, "plan, at %s.number: no recursion %d is around it", path, o.Number)})
}
