package plan

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Check verifies what every plan must satisfy at any stage: each reference resolves to a
// column produced below it (or, in a subquery or a dependent join's right side, around it), no column
// is introduced twice, and types agree.
func Check(q *Query) error { return check(q, false) }

// CheckFinal verifies in addition what the optimizer guarantees to later stages: no
// subqueries and no dependent joins, no DISTINCT aggregates, no Avg, Stddev or Var, equal types
// of join keys that each refer to one side, no other equalities between the sides, shared plans in the
// order of their dependence, and estimated rows everywhere.
func CheckFinal(q *Query) error { return check(q, true) }

func check(q *Query, final bool) (err error) {
	c := checker{q: q, final: final, made: make([]Node, q.Cols.Len())}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case checkError:
			err = e
		default:
			panic(e)
		}
	}()
	for i, s := range q.Shared {
		if s == nil {
			continue
		}
		if final {
			WalkNode(s.Plan, func(n Node) bool {
				if x, ok := n.(*SharedScan); ok && x.Index >= i {
					c.fail(n, "shared plan %d reads one that comes later", i)
				}
				return true
			})
		}
		have := c.node(s.Plan, ColSet{})
		for _, id := range s.Cols {
			if !have.Has(id) {
				c.fail(s.Plan, "shared plan %d does not produce its column %s", i, c.col(id))
			}
		}
	}
	have := c.node(q.Root, ColSet{})
	for _, id := range q.Output {
		if !have.Has(id) {
			c.fail(q.Root, "output column %s is not produced", c.col(id))
		}
	}
	return nil
}

type checkError struct{ msg string }

func (e checkError) Error() string { return e.msg }

type checker struct {
	q     *Query
	final bool
	made  []Node // which operator introduced each column
}

func (c *checker) fail(n Node, format string, args ...any) {
	panic(checkError{fmt.Sprintf(format, args...) + " in " + Describe(c.q.Cols, n)})
}

func (c *checker) col(id ColID) string { return FormatExpr(c.q.Cols, &Ref{ID: id}) }

// define notes that n introduces id.
func (c *checker) define(n Node, id ColID) {
	if id <= 0 || int(id) >= len(c.made) {
		c.fail(n, "column #%d does not exist", id)
	}
	if c.made[id] != nil {
		c.fail(n, "column %s is introduced twice", c.col(id))
	}
	c.made[id] = n
}

func (c *checker) need(n Node, have *ColSet, id ColID) {
	if !have.Has(id) {
		c.fail(n, "column %s is not visible", c.col(id))
	}
}

// node checks a subtree that may refer to the columns in outer, and returns what is visible
// above it.
func (c *checker) node(n Node, outer ColSet) ColSet {
	if c.final && !(n.Props().Rows > 0) {
		c.fail(n, "no estimate of rows")
	}
	switch x := n.(type) {
	case *Scan:
		if len(x.Cols) != len(x.Ordinal) {
			c.fail(n, "%d columns but %d ordinals", len(x.Cols), len(x.Ordinal))
		}
		for i, id := range x.Cols {
			c.define(n, id)
			if x.Table != nil && (x.Ordinal[i] < 0 || x.Ordinal[i] >= len(x.Table.Columns)) {
				c.fail(n, "no column %d in the table", x.Ordinal[i])
			}
		}
		vis := c.visible(n, outer)
		c.preds(n, x.Filter, vis)
		for _, r := range x.Reduce {
			c.reducer(x, r)
		}
	case *Values:
		for _, id := range x.Cols {
			c.define(n, id)
		}
		for _, r := range x.Rows {
			if len(r) != len(x.Cols) {
				c.fail(n, "row of %d values for %d columns", len(r), len(x.Cols))
			}
			for k, e := range r {
				c.expr(n, e, &outer)
				c.same(n, "value", e.Type(), c.q.Cols.Get(x.Cols[k]).Type)
			}
		}
	case *Series:
		c.define(n, x.Col)
		if t := c.q.Cols.Get(x.Col).Type; x.N < 1 || !t.IsInteger() {
			c.fail(n, "a series of %d elements of %s", x.N, t.SQLName())
		}
	case *SharedScan:
		c.sharedScan(x)
	case *Filter:
		vis := c.with(c.node(x.Input, outer), outer)
		c.preds(n, x.Preds, vis)
	case *Project:
		in := c.node(x.Input, outer)
		for _, id := range x.Keep {
			c.need(n, &in, id)
		}
		vis := c.with(in, outer)
		for i, e := range x.Exprs {
			c.expr(n, e, vis)
			c.define(n, x.Cols[i])
			c.same(n, "expression", e.Type(), c.q.Cols.Get(x.Cols[i]).Type)
		}
	case *Join:
		c.join(x, outer)
	case *Group:
		c.group(x, outer)
	case *SetOp:
		c.united(n, "set operation", x.Args, x.InCols, x.Cols, outer)
	case *Recursive:
		c.united(n, "recursion", x.Inputs(), x.InCols[:], x.Cols, outer)
	case *WorkScan:
		if len(x.Cols) != len(x.Ordinal) {
			c.fail(n, "%d columns but %d ordinals", len(x.Cols), len(x.Ordinal))
		}
		for _, id := range x.Cols {
			c.define(n, id)
		}
	case *Repeat:
		vis := c.with(c.node(x.Input, outer), outer)
		c.expr(n, x.Count, vis)
		c.same(n, "count", x.Count.Type(), types.TInt64)
		c.define(n, x.Col)
	case *Sort:
		in := c.node(x.Input, outer)
		for _, k := range x.Keys {
			c.need(n, &in, k.Col)
		}
	case *Window:
		c.window(x, outer)
	case nil:
		panic(checkError{"missing operator"})
	}
	return Produced(n)
}

// united holds a node whose rows come from several inputs, column by column.
func (c *checker) united(n Node, what string, inputs []Node, from [][]ColID, cols []ColID, outer ColSet) {
	for i, a := range inputs {
		in := c.node(a, outer)
		if len(from[i]) != len(cols) {
			c.fail(n, "input %d has %d columns instead of %d", i, len(from[i]), len(cols))
		}
		for k, id := range from[i] {
			c.need(n, &in, id)
			c.same(n, what, c.q.Cols.Get(id).Type, c.q.Cols.Get(cols[k]).Type)
		}
	}
	for _, id := range cols {
		c.define(n, id)
	}
}

func (c *checker) with(s, outer ColSet) *ColSet {
	s.Union(outer)
	return &s
}

func (c *checker) visible(n Node, outer ColSet) *ColSet { return c.with(Produced(n), outer) }

func (c *checker) reducer(x *Scan, r Reducer) {
	vis := Produced(x)
	c.need(x, &vis, r.Col)
	if r.Join == nil || r.Key < 0 || r.Key >= len(r.Join.RKeys) {
		c.fail(x, "reducer without a join key")
	}
	build := r.Join.Right
	if r.Join.BuildLeft {
		build = r.Join.Left
	}
	// The build side must be complete before the scan starts.
	WalkNode(build, func(m Node) bool {
		if m == Node(x) {
			c.fail(x, "reducer from a join whose build side holds the scan")
		}
		return true
	})
}

func (c *checker) sharedScan(x *SharedScan) {
	if x.Index < 0 || x.Index >= len(c.q.Shared) || c.q.Shared[x.Index] == nil {
		c.fail(x, "no shared plan %d", x.Index)
	}
	if len(x.Cols) != len(x.Source) {
		c.fail(x, "%d columns but %d sources", len(x.Cols), len(x.Source))
	}
	have := MakeColSet(c.q.Shared[x.Index].Cols...)
	for i, id := range x.Source {
		c.need(x, &have, id)
		c.define(x, x.Cols[i])
		c.same(x, "column", c.q.Cols.Get(id).Type, c.q.Cols.Get(x.Cols[i]).Type)
	}
}

func (c *checker) join(x *Join, outer ColSet) {
	l := c.node(x.Left, outer)
	rightOuter := outer
	if x.Dependent {
		if c.final {
			c.fail(x, "dependent join left over")
		}
		rightOuter.Union(l)
	}
	r := c.node(x.Right, rightOuter)
	if l.Intersects(&r) {
		c.fail(x, "both sides produce the same column")
	}
	if len(x.LKeys) != len(x.RKeys) || x.NullSafe != nil && len(x.NullSafe) != len(x.LKeys) {
		c.fail(x, "%d left keys, %d right keys, %d null flags", len(x.LKeys), len(x.RKeys), len(x.NullSafe))
	}
	for i := range x.LKeys {
		c.expr(x, x.LKeys[i], c.with(l, outer))
		c.expr(x, x.RKeys[i], c.with(r, outer))
		a, b := x.LKeys[i].Type(), x.RKeys[i].Type()
		if !SameKeyType(a, b) {
			c.fail(x, "key %d compares %s with %s", i, a, b)
		}
	}
	both := c.with(l, r)
	both.Union(outer)
	c.preds(x, x.On, both)
	if (x.Kind == Mark) != (x.MarkCol != 0) {
		c.fail(x, "mark column %d", x.MarkCol)
	}
	if x.Kind == Mark {
		c.define(x, x.MarkCol)
	}
	if x.BuildLeft && (x.Kind == Mark || x.Kind == Single) {
		c.fail(x, "this kind cannot build its left side")
	}
	if c.final && x.Kind != Mark && len(x.On) > 0 {
		c.onlyResiduals(x, &l, &r)
	}
}

// onlyResiduals checks that no equality between the sides was left in On.
func (c *checker) onlyResiduals(x *Join, l, r *ColSet) {
	for _, e := range x.On {
		if _, _, ok := EquiSides(e, l, r); ok {
			c.fail(x, "equality %s is not a key", FormatExpr(c.q.Cols, e))
		}
	}
}

func (c *checker) group(x *Group, outer ColSet) {
	vis := c.with(c.node(x.Input, outer), outer)
	if len(x.Keys) != len(x.KeyCols) {
		c.fail(x, "%d keys but %d key columns", len(x.Keys), len(x.KeyCols))
	}
	for i, e := range x.Keys {
		c.expr(x, e, vis)
		c.same(x, "key", e.Type(), c.q.Cols.Get(x.KeyCols[i]).Type)
		// A key that is a plain column may keep its name.
		if r, ok := e.(*Ref); !ok || r.ID != x.KeyCols[i] {
			c.define(x, x.KeyCols[i])
		}
	}
	for _, a := range x.Aggs {
		if (a.Func == CountStar) != (a.Arg == nil) {
			c.fail(x, "argument of %s", a.Func)
		}
		for _, e := range a.Args() {
			c.expr(x, e, vis)
		}
		for _, o := range a.Order {
			c.expr(x, o.X, vis)
		}
		if (a.Func == Folded) != (a.Fold != nil) || c.final && a.Func != Folded && x.Folded() {
			c.fail(x, "%s beside folds", a.Func)
		}
		if a.Filter != nil {
			c.preds(x, []Expr{a.Filter}, vis)
		}
		if _, ok := x.SpreadParts(&a); a.Func == Spread && !ok {
			c.fail(x, "a spread without its count or its sums")
		}
		if c.final && (a.Distinct || a.Func == Avg || a.Func >= StddevSamp && a.Func <= VarPop) && a.Func != Folded {
			c.fail(x, "aggregate %s was not split", a.Func)
		}
		if r, ok := a.Arg.(*Ref); !ok || r.ID != a.Col || a.Func != AnyValue && a.Func != First && a.Func != Min && a.Func != Folded {
			c.define(x, a.Col)
		}
	}
}

func (c *checker) window(x *Window, outer ColSet) {
	in := c.node(x.Input, outer)
	for id := range x.Reads().All {
		c.need(x, &in, id)
	}
	for i := range x.Funcs {
		f := &x.Funcs[i]
		if f.Spec < 0 || f.Spec >= len(x.Specs) {
			c.fail(x, "no window %d", f.Spec)
		}
		c.define(x, f.Col)
	}
}

func (c *checker) preds(n Node, es []Expr, vis *ColSet) {
	for _, e := range es {
		c.expr(n, e, vis)
		if k := e.Type().Kind; k != types.Bool {
			c.fail(n, "predicate %s is %s", FormatExpr(c.q.Cols, e), e.Type())
		}
	}
}

// expr checks an expression whose references must be in s.
func (c *checker) expr(n Node, e Expr, s *ColSet) {
	switch x := e.(type) {
	case nil:
		c.fail(n, "missing expression")
	case *Ref:
		c.need(n, s, x.ID)
		if t := c.q.Cols.Get(x.ID).Type; t != x.T {
			c.fail(n, "column %s is %s, referred to as %s", c.col(x.ID), t, x.T)
		}
	case *Call:
		for _, a := range x.Args {
			c.expr(n, a, s)
		}
		c.call(n, x)
	case *Subquery:
		if c.final {
			c.fail(n, "subquery left over")
		}
		for _, a := range x.Needle {
			c.expr(n, a, s)
		}
		have := c.node(x.Plan, *s)
		for _, id := range x.Output {
			c.need(n, &have, id)
		}
	}
}

// call checks operand types of the operations that have a simple rule.
func (c *checker) call(n Node, x *Call) {
	switch {
	case x.Op == And || x.Op == Or || x.Op == Not || x.Op == IsTrue:
		for _, a := range x.Args {
			c.same(n, x.Op.String(), a.Type(), types.TBool)
		}
	case x.Op.IsComparison() || x.Op == NotDistinct:
		if len(x.Args) != 2 {
			c.fail(n, "%s with %d operands", x.Op, len(x.Args))
		}
		c.same(n, x.Op.String(), x.Args[0].Type(), x.Args[1].Type())
	case x.Op == InList:
		for _, a := range x.Args[1:] {
			if _, ok := a.(*Const); !ok {
				c.fail(n, "IN list with an expression that is not constant")
			}
			c.same(n, "in", a.Type(), x.Args[0].Type())
		}
	case x.Op == Case:
		for i := 0; i+1 < len(x.Args); i += 2 {
			c.same(n, "case", x.Args[i].Type(), types.TBool)
			c.same(n, "case", x.Args[i+1].Type(), x.T)
		}
	}
}

// same checks that values of type a can stand where b is expected without a cast: one kind and,
// for decimals, one scale. An untyped NULL fits everywhere.
func (c *checker) same(n Node, what string, a, b types.Type) {
	if a.Kind == types.Unknown || b.Kind == types.Unknown {
		return
	}
	if a.Kind != b.Kind || a.Kind == types.Decimal && a.Scale != b.Scale {
		c.fail(n, "%s: %s where %s is expected", what, a, b)
	}
}

// SameKeyType reports whether values of two types are hashed and compared alike. Length limits of
// texts do not matter.
func SameKeyType(a, b types.Type) bool {
	if a.Kind == types.Text {
		return b.Kind == types.Text
	}
	return a == b
}

// EquiSides takes an equality (or IS NOT DISTINCT FROM) apart whose operands each refer to one side of
// a join only; l is the operand that refers to left. Operands without references are no key.
func EquiSides(e Expr, left, right *ColSet) (l, r Expr, ok bool) {
	x, isCall := e.(*Call)
	if !isCall || x.Op != Eq && x.Op != NotDistinct || HasSubquery(e) {
		return nil, nil, false
	}
	a, b := Refs(x.Args[0]), Refs(x.Args[1])
	switch {
	case a.Empty() || b.Empty():
	case a.SubsetOf(left) && b.SubsetOf(right):
		return x.Args[0], x.Args[1], true
	case a.SubsetOf(right) && b.SubsetOf(left):
		return x.Args[1], x.Args[0], true
	}
	return nil, nil, false
}
