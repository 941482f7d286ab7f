package opt

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// interp runs a plan at any stage, subqueries and dependent joins included, in the most literal way. It
// is what the rewrites are compared with, and it does what doc.go asks of the executor.
type interp struct {
	q    *plan.Query
	data map[string][][]types.Value // tables by name
	memo map[plan.Node]*relationData
}

type relationData struct {
	cols []plan.ColID
	rows [][]types.Value
}

// scopeRow is a row that expressions see, inside of outer ones.
type scopeRow struct {
	cols  []plan.ColID
	row   []types.Value
	outer *scopeRow
}

func (s *scopeRow) get(id plan.ColID) (types.Value, bool) {
	for ; s != nil; s = s.outer {
		if i := slices.Index(s.cols, id); i >= 0 {
			return s.row[i], true
		}
	}
	return types.Value{}, false
}

var errRuntime = errors.New("run-time error")

func runPlan(q *plan.Query, data map[string][][]types.Value) (out [][]types.Value, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case error:
			if !errors.Is(e, errRuntime) {
				panic(e)
			}
			err = e
		default:
			panic(e)
		}
	}()
	in := &interp{q: q, data: data, memo: map[plan.Node]*relationData{}}
	r := in.run(q.Root, nil)
	for _, row := range r.rows {
		line := make([]types.Value, len(q.Output))
		for i, id := range q.Output {
			line[i] = row[slices.Index(r.cols, id)]
		}
		out = append(out, line)
	}
	return out, nil
}

func (in *interp) run(n plan.Node, outer *scopeRow) *relationData {
	free := plan.FreeRefs(n)
	if r := in.memo[n]; r != nil && free.Empty() {
		return r
	}
	r := in.exec(n, outer)
	if free.Empty() {
		in.memo[n] = r
	}
	return r
}

func (in *interp) exec(n plan.Node, outer *scopeRow) *relationData {
	out := &relationData{cols: n.Produces(nil)}
	switch x := n.(type) {
	case *plan.Scan:
		in.scan(x, out, outer)
	case *plan.Values:
		for _, r := range x.Rows {
			row := make([]types.Value, len(r))
			for i, e := range r {
				row[i] = in.eval(e, outer)
			}
			out.rows = append(out.rows, row)
		}
	case *plan.Series:
		for i := range x.N {
			out.rows = append(out.rows, []types.Value{types.IntValue(in.q.Cols.Get(x.Col).Type, x.From+i*x.Step)})
		}
	case *plan.SharedScan:
		src := in.run(in.q.Shared[x.Index].Plan, nil)
		for _, r := range src.rows {
			row := make([]types.Value, len(x.Source))
			for i, id := range x.Source {
				row[i] = r[slices.Index(src.cols, id)]
			}
			out.rows = append(out.rows, row)
		}
	case *plan.Filter:
		src := in.run(x.Input, outer)
		for _, r := range src.rows {
			if in.all(x.Preds, &scopeRow{src.cols, r, outer}) {
				out.rows = append(out.rows, r)
			}
		}
	case *plan.Project:
		src := in.run(x.Input, outer)
		for _, r := range src.rows {
			s := &scopeRow{src.cols, r, outer}
			var row []types.Value
			for _, id := range x.Keep {
				v, _ := s.get(id)
				row = append(row, v)
			}
			for _, e := range x.Exprs {
				row = append(row, in.eval(e, s))
			}
			out.rows = append(out.rows, row)
		}
	case *plan.Repeat:
		src := in.run(x.Input, outer)
		for _, r := range src.rows {
			n := in.eval(x.Count, &scopeRow{src.cols, r, outer})
			for k := int64(0); !n.Null && k < n.I; k++ {
				out.rows = append(out.rows, append(slices.Clone(r), types.IntValue(types.TInt64, k)))
			}
		}
	case *plan.Join:
		in.join(x, out, outer)
	case *plan.Group:
		in.group(x, out, outer)
	case *plan.SetOp:
		in.setOp(x, out, outer)
	case *plan.Sort:
		src := in.run(x.Input, outer)
		out.rows = slices.Clone(src.rows)
		sort.SliceStable(out.rows, func(i, j int) bool { return in.less(x, src.cols, out.rows[i], out.rows[j]) })
		out.rows = out.rows[min(int(x.Offset), len(out.rows)):]
		if x.Limit >= 0 {
			out.rows = out.rows[:min(int(x.Limit), len(out.rows))]
		}
	}
	return out
}

func (in *interp) less(x *plan.Sort, cols []plan.ColID, a, b []types.Value) bool {
	for _, k := range x.Keys {
		i := slices.Index(cols, k.Col)
		u, v := a[i], b[i]
		if u.Null != v.Null {
			return u.Null == k.NullsFirst
		}
		c := types.Compare(u, v)
		if c != 0 {
			return (c < 0) != k.Desc
		}
	}
	return false
}

func (in *interp) scan(x *plan.Scan, out *relationData, outer *scopeRow) {
	// What the hash tables hold that reduce this scan.
	sets := make([]map[string]bool, len(x.Reduce))
	for i, r := range x.Reduce {
		build, keys := buildSide(r.Join), buildKeys(r.Join)
		sets[i] = map[string]bool{}
		src := in.run(build, nil)
		for _, row := range src.rows {
			sets[i][key(in.eval(keys[r.Key], &scopeRow{src.cols, row, nil}))] = true
		}
	}
	for _, r := range in.data[x.Table.Name] {
		row := make([]types.Value, len(x.Cols))
		for i, o := range x.Ordinal {
			row[i] = r[o]
		}
		s := &scopeRow{x.Cols, row, outer}
		keep := in.all(x.Filter, s)
		for i, r := range x.Reduce {
			v, _ := s.get(r.Col)
			keep = keep && sets[i][key(v)]
		}
		if keep {
			out.rows = append(out.rows, row)
		}
	}
}

func (in *interp) join(x *plan.Join, out *relationData, outer *scopeRow) {
	left := in.run(x.Left, outer)
	lcols, rcols := left.cols, x.Right.Produces(nil)
	matchedRight := map[int]bool{}
	var right *relationData
	for _, l := range left.rows {
		ls := &scopeRow{lcols, l, outer}
		around := outer
		if x.Dependent {
			around = ls
		}
		right = in.run(x.Right, around)
		var matches [][]types.Value
		unknown := false
		for i, r := range right.rows {
			switch m := in.matches(x, ls, &scopeRow{rcols, r, ls}); {
			case m.Null:
				unknown = true
			case m.I != 0:
				matches = append(matches, r)
				matchedRight[i] = true
			}
		}
		pad := func() []types.Value {
			row := slices.Clone(l)
			for _, id := range rcols {
				row = append(row, types.NullOf(in.q.Cols.Get(id).Type))
			}
			return row
		}
		switch x.Kind {
		case plan.Semi:
			if len(matches) > 0 {
				out.rows = append(out.rows, l)
			}
			continue
		case plan.Anti:
			if len(matches) == 0 {
				out.rows = append(out.rows, l)
			}
			continue
		case plan.Mark:
			v := types.BoolValue(len(matches) > 0)
			// Only a single plain key tells NULL from false.
			if len(matches) == 0 && unknown && len(x.LKeys) == 1 && len(x.On) == 0 && x.NullSafe == nil {
				v = types.NullOf(types.TBool)
			}
			out.rows = append(out.rows, append(slices.Clone(l), v))
			continue
		case plan.Single:
			if len(matches) > 1 {
				panic(fmt.Errorf("more than one row: %w", errRuntime))
			}
		}
		if x.AtMostOne && len(matches) > 1 {
			panic(fmt.Sprintf("AtMostOne with %d matches: %s", len(matches), plan.Describe(in.q.Cols, x)))
		}
		for _, r := range matches {
			out.rows = append(out.rows, append(slices.Clone(l), r...))
		}
		if len(matches) == 0 && x.Kind != plan.Inner {
			out.rows = append(out.rows, pad())
		}
	}
	if x.Kind != plan.Full {
		return
	}
	right = in.run(x.Right, outer)
	for i, r := range right.rows {
		if matchedRight[i] {
			continue
		}
		var row []types.Value
		for _, id := range lcols {
			row = append(row, types.NullOf(in.q.Cols.Get(id).Type))
		}
		out.rows = append(out.rows, append(row, r...))
	}
}

// matches evaluates a join's condition in three-valued logic.
func (in *interp) matches(x *plan.Join, ls, both *scopeRow) types.Value {
	res := types.BoolValue(true)
	and := func(v types.Value) {
		switch {
		case !v.Null && v.I == 0:
			res = v
		case v.Null && (res.Null || res.I != 0):
			res = v
		}
	}
	for i := range x.LKeys {
		op := plan.Eq
		if x.NullSafe != nil && x.NullSafe[i] {
			op = plan.NotDistinct
		}
		and(in.eval(plan.Compare(op, x.LKeys[i], x.RKeys[i]), both))
	}
	for _, e := range x.On {
		and(in.eval(e, both))
	}
	return res
}

func (in *interp) all(preds []plan.Expr, s *scopeRow) bool {
	for _, p := range preds {
		if v := in.eval(p, s); v.Null || v.I == 0 {
			return false
		}
	}
	return true
}

// eval replaces subqueries by their values and leaves the rest to the constant folder's eval.
func (in *interp) eval(e plan.Expr, s *scopeRow) types.Value {
	if plan.HasSubquery(e) {
		e = plan.MapExpr(e, func(e plan.Expr) plan.Expr {
			if q, ok := e.(*plan.Subquery); ok {
				return plan.NewConst(in.subquery(q, s))
			}
			return e
		})
	}
	v, ok := evaluate(e, s.get)
	if !ok {
		panic(fmt.Errorf("cannot evaluate %s: %w", plan.FormatExpr(in.q.Cols, e), errRuntime))
	}
	return v
}

func (in *interp) subquery(q *plan.Subquery, s *scopeRow) types.Value {
	r := in.run(q.Plan, s)
	switch q.Kind {
	case plan.Exists:
		return types.BoolValue(len(r.rows) > 0)
	case plan.Scalar:
		if len(r.rows) > 1 {
			panic(fmt.Errorf("more than one row: %w", errRuntime))
		}
		if len(r.rows) == 0 {
			return types.NullOf(q.T)
		}
		return r.rows[0][slices.Index(r.cols, q.Output[0])]
	}
	null := false
	for _, row := range r.rows {
		var parts []plan.Expr
		for i, n := range q.Needle {
			parts = append(parts, plan.Compare(q.Cmp, n, plan.NewConst(row[slices.Index(r.cols, q.Output[i])])))
		}
		whole := plan.AndOf(parts...)
		if q.Cmp == plan.Ne {
			whole = plan.OrOf(parts...)
		}
		v := in.eval(whole, s)
		switch {
		case v.Null:
			null = true
		case (v.I != 0) == (q.Kind == plan.In):
			return v
		}
	}
	if null {
		return types.NullOf(types.TBool)
	}
	return types.BoolValue(q.Kind == plan.All)
}

// key identifies a value as grouping does.
func key(v types.Value) string {
	if v.Null {
		return "null"
	}
	return v.String()
}

func rowKey(vs []types.Value) string {
	var b strings.Builder
	for _, v := range vs {
		b.WriteString(key(v))
		b.WriteByte('|')
	}
	return b.String()
}

func (in *interp) setOp(x *plan.SetOp, out *relationData, outer *scopeRow) {
	var inputs [][][]types.Value
	for i, a := range x.Args {
		r := in.run(a, outer)
		var rows [][]types.Value
		for _, row := range r.rows {
			var line []types.Value
			for _, id := range x.InCols[i] {
				line = append(line, row[slices.Index(r.cols, id)])
			}
			rows = append(rows, line)
		}
		inputs = append(inputs, rows)
	}
	for _, rows := range inputs {
		out.rows = append(out.rows, rows...)
	}
}

func (in *interp) group(x *plan.Group, out *relationData, outer *scopeRow) {
	src := in.run(x.Input, outer)
	groups := map[string]int{}
	var keys [][]types.Value
	var members [][]*scopeRow
	if len(x.Keys) == 0 {
		keys, members = append(keys, nil), append(members, nil)
		groups[""] = 0
	}
	for _, r := range src.rows {
		s := &scopeRow{src.cols, r, outer}
		var k []types.Value
		for _, e := range x.Keys {
			k = append(k, in.eval(e, s))
		}
		g, ok := groups[rowKey(k)]
		if !ok {
			g = len(keys)
			groups[rowKey(k)] = g
			keys, members = append(keys, k), append(members, nil)
		}
		members[g] = append(members[g], s)
	}
	for g := range keys {
		row := slices.Clone(keys[g])
		for _, a := range x.Aggs {
			row = append(row, in.agg(a, members[g]))
		}
		out.rows = append(out.rows, row)
	}
}

func (in *interp) agg(a plan.Agg, rows []*scopeRow) types.Value {
	t := in.q.Cols.Get(a.Col).Type
	var vals []types.Value
	seen := map[string]bool{}
	n := int64(0)
	for _, s := range rows {
		if a.Filter != nil && !in.all([]plan.Expr{a.Filter}, s) {
			continue
		}
		n++
		if a.Arg == nil {
			continue
		}
		v := in.eval(a.Arg, s)
		if a.Func == plan.AnyValue {
			return v
		}
		if v.Null || a.Distinct && seen[key(v)] {
			continue
		}
		seen[key(v)] = true
		vals = append(vals, v)
	}
	switch a.Func {
	case plan.CountStar:
		return types.IntValue(t, n)
	case plan.Count:
		return types.IntValue(t, int64(len(vals)))
	}
	if len(vals) == 0 {
		return types.NullOf(t)
	}
	switch a.Func {
	case plan.Min:
		return slices.MinFunc(vals, types.Compare)
	case plan.Max:
		return slices.MaxFunc(vals, types.Compare)
	case plan.BoolAnd, plan.BoolOr:
		for _, v := range vals {
			if (v.I != 0) == (a.Func == plan.BoolOr) {
				return v
			}
		}
		return vals[0]
	case plan.Sum:
		sum := must(types.Cast(vals[0], t))
		for _, v := range vals[1:] {
			sum = must(types.Add(sum, must(types.Cast(v, t)), t))
		}
		return sum
	case plan.Avg:
		if !t.IsFloat() {
			of, _ := types.SumType(a.Arg.Type())
			sum := must(types.Cast(vals[0], of))
			for _, v := range vals[1:] {
				sum = must(types.Add(sum, must(types.Cast(v, of)), of))
			}
			return must(types.Div(sum, types.IntValue(types.TInt64, int64(len(vals))), t))
		}
	}
	var sum, squares float64
	for _, v := range vals {
		f := v.Float()
		sum += f
		squares += f * f
	}
	c := float64(len(vals))
	variance := math.Max(squares-sum*sum/c, 0)
	switch a.Func {
	case plan.Avg:
		return types.FloatValue(t, sum/c)
	case plan.VarPop:
		return types.FloatValue(t, variance/c)
	case plan.StddevPop:
		return types.FloatValue(t, math.Sqrt(variance/c))
	}
	if c < 2 {
		return types.NullOf(t)
	}
	if a.Func == plan.VarSamp {
		return types.FloatValue(t, variance/(c-1))
	}
	return types.FloatValue(t, math.Sqrt(variance/(c-1)))
}
