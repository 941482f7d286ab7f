package plan

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Expressions are immutable once built and may be shared between nodes; rewriting makes new ones.
// Nodes are mutable and each has exactly one parent.

// NewRef is a reference to a column.
func (c *Columns) NewRef(id ColID) *Ref { return &Ref{ID: id, T: c.Get(id).Type} }

// NewConst is a literal.
func NewConst(v types.Value) *Const { return &Const{V: v} }

// BoolConst is TRUE or FALSE.
func BoolConst(b bool) *Const { return &Const{V: types.BoolValue(b)} }

// NullConst is NULL of a type.
func NullConst(t types.Type) *Const { return &Const{V: types.NullOf(t)} }

// NewCall applies an operation, at no position of the query text.
func NewCall(op Op, t types.Type, args ...Expr) *Call {
	return &Call{Op: op, T: t, Args: args, Pos: -1}
}

// Compare is a comparison (Eq … Ge, NotDistinct) of two operands of one type.
func Compare(op Op, l, r Expr) *Call { return NewCall(op, types.TBool, l, r) }

// Negate is NOT e.
func Negate(e Expr) Expr { return NewCall(Not, types.TBool, e) }

// AndOf is the conjunction of any number of predicates; none is TRUE.
func AndOf(es ...Expr) Expr { return logicOf(And, es) }

// OrOf is the disjunction of any number of predicates; none is FALSE.
func OrOf(es ...Expr) Expr { return logicOf(Or, es) }

func logicOf(op Op, es []Expr) Expr {
	switch len(es) {
	case 0:
		return BoolConst(op == And)
	case 1:
		return es[0]
	}
	return &Call{Op: op, T: types.TBool, Args: es, Pos: -1}
}

// Conjuncts appends the predicates of which e is the conjunction, TRUE left out.
func Conjuncts(dst []Expr, e Expr) []Expr { return flatten(dst, And, e) }

// Disjuncts appends the predicates of which e is the disjunction, FALSE left out.
func Disjuncts(dst []Expr, e Expr) []Expr { return flatten(dst, Or, e) }

func flatten(dst []Expr, op Op, e Expr) []Expr {
	switch x := e.(type) {
	case nil:
		return dst
	case *Call:
		if x.Op == op {
			for _, a := range x.Args {
				dst = flatten(dst, op, a)
			}
			return dst
		}
	case *Const:
		if !x.V.Null && (x.V.I != 0) == (op == And) {
			return dst
		}
	}
	return append(dst, e)
}

// IsTrueConst reports the literal TRUE.
func IsTrueConst(e Expr) bool {
	c, ok := e.(*Const)
	return ok && !c.V.Null && c.V.Type.Kind == types.Bool && c.V.I != 0
}

// IsFalseConst reports the literal FALSE.
func IsFalseConst(e Expr) bool {
	c, ok := e.(*Const)
	return ok && !c.V.Null && c.V.Type.Kind == types.Bool && c.V.I == 0
}

// IsNullConst reports a NULL literal of any type.
func IsNullConst(e Expr) bool {
	c, ok := e.(*Const)
	return ok && c.V.Null
}

// WalkExpr calls f for e and, as long as f returns true, for its operands. It visits the
// needles of a Subquery, but not its plan.
func WalkExpr(e Expr, f func(Expr) bool) {
	if e == nil || !f(e) {
		return
	}
	switch x := e.(type) {
	case *Call:
		for _, a := range x.Args {
			WalkExpr(a, f)
		}
	case *Subquery:
		for _, a := range x.Needle {
			WalkExpr(a, f)
		}
	}
}

// MapExpr rewrites an expression bottom-up: f gets each node with its operands already rewritten,
// and returns what replaces it. Unchanged parts are shared with e. It does not enter the plan
// of a Subquery.
func MapExpr(e Expr, f func(Expr) Expr) Expr {
	switch x := e.(type) {
	case nil:
		return nil
	case *Call:
		if args, changed := mapExprs(x.Args, f); changed {
			y := *x
			y.Args = args
			return f(&y)
		}
	case *Subquery:
		if needle, changed := mapExprs(x.Needle, f); changed {
			y := *x
			y.Needle = needle
			return f(&y)
		}
	}
	return f(e)
}

func mapExprs(es []Expr, f func(Expr) Expr) ([]Expr, bool) {
	out := es
	for i, e := range es {
		m := MapExpr(e, f)
		if m == e {
			continue
		}
		if &out[0] == &es[0] {
			out = slices.Clone(es)
		}
		out[i] = m
	}
	return out, len(es) > 0 && &out[0] != &es[0]
}

// Substitute replaces references: by(id) is what stands for the column, nil to leave it.
// It enters the plans of subqueries, where it changes nodes in place.
func Substitute(e Expr, by func(ColID) Expr) Expr {
	return MapExpr(e, func(e Expr) Expr {
		switch x := e.(type) {
		case *Ref:
			if r := by(x.ID); r != nil {
				return r
			}
		case *Subquery:
			SubstituteNode(x.Plan, by)
		}
		return e
	})
}

// SubstituteNode replaces references in all expressions of a subtree, in place. Columns that
// operators name without an expression (sort keys, Keep) are not changed.
func SubstituteNode(n Node, by func(ColID) Expr) {
	WalkNode(n, func(n Node) bool {
		MapNodeExprs(n, func(e Expr) Expr { return Substitute(e, by) })
		return true
	})
}

// WalkNode calls f for n and, as long as f returns true, for its inputs. It does not enter
// subqueries or shared plans.
func WalkNode(n Node, f func(Node) bool) {
	if n == nil || !f(n) {
		return
	}
	switch x := n.(type) {
	case *Join:
		WalkNode(x.Left, f)
		WalkNode(x.Right, f)
	case *Filter:
		WalkNode(x.Input, f)
	case *Project:
		WalkNode(x.Input, f)
	case *Group:
		WalkNode(x.Input, f)
	case *Sort:
		WalkNode(x.Input, f)
	default:
		for _, m := range n.Inputs() {
			WalkNode(m, f)
		}
	}
}

// MapNode rewrites a tree bottom-up: f gets each node after its inputs were replaced, and
// returns what stands in its place.
func MapNode(n Node, f func(Node) Node) Node {
	MapInputs(n, func(m Node) Node { return MapNode(m, f) })
	return f(n)
}

// MapInputs replaces the inputs of a node.
func MapInputs(n Node, f func(Node) Node) {
	switch x := n.(type) {
	case *Scan:
	case *Join:
		x.Left = f(x.Left)
		x.Right = f(x.Right)
	case *Filter:
		x.Input = f(x.Input)
	case *Project:
		x.Input = f(x.Input)
	case *Group:
		x.Input = f(x.Input)
	case *Sort:
		x.Input = f(x.Input)
	default:
		for i, m := range n.Inputs() {
			n.SetInput(i, f(m))
		}
	}
}

// NodeExprs calls f for every expression that the operator itself evaluates. It only reads: others may read the plan at the same time.
func NodeExprs(n Node, f func(Expr)) {
	each := func(es []Expr) {
		for _, e := range es {
			f(e)
		}
	}
	switch x := n.(type) {
	case *Scan:
		each(x.Filter)
	case *Values:
		for _, r := range x.Rows {
			each(r)
		}
	case *Filter:
		each(x.Preds)
	case *Project:
		each(x.Exprs)
	case *Repeat:
		f(x.Count)
	case *Join:
		each(x.LKeys)
		each(x.RKeys)
		each(x.On)
	case *Group:
		each(x.Keys)
		for i := range x.Aggs {
			x.Aggs[i].EachExpr(f)
		}
	}
}

// MapNodeExprs replaces every expression that the operator itself evaluates.
func MapNodeExprs(n Node, f func(Expr) Expr) {
	all := func(es []Expr) []Expr {
		out := es
		for i, e := range es {
			if m := f(e); m != e {
				if &out[0] == &es[0] { // slices may be shared with another node
					out = slices.Clone(es)
				}
				out[i] = m
			}
		}
		return out
	}
	switch x := n.(type) {
	case *Scan:
		x.Filter = all(x.Filter)
	case *Values:
		for i, r := range x.Rows {
			x.Rows[i] = all(r)
		}
	case *Filter:
		x.Preds = all(x.Preds)
	case *Project:
		x.Exprs = all(x.Exprs)
	case *Repeat:
		x.Count = f(x.Count)
	case *Join:
		x.LKeys = all(x.LKeys)
		x.RKeys = all(x.RKeys)
		x.On = all(x.On)
	case *Group:
		x.Keys = all(x.Keys)
		for i := range x.Aggs {
			x.Aggs[i].MapExprs(f)
		}
	}
}

// Refs is the set of columns that an expression reads, those that subqueries take
// from outside included.
func Refs(e Expr) ColSet {
	var s ColSet
	AddRefs(&s, e)
	return s
}

// AddRefs adds the columns that e reads to s.
func AddRefs(s *ColSet, e Expr) {
	switch x := e.(type) {
	case *Ref:
		s.Add(x.ID)
	case *Call:
		for _, a := range x.Args {
			AddRefs(s, a)
		}
	case *Subquery:
		for _, a := range x.Needle {
			AddRefs(s, a)
		}
		s.Union(FreeRefs(x.Plan))
	}
}

// NodeRefs is the set of columns that the operator itself reads: by its expressions and
// by name.
func NodeRefs(n Node) ColSet {
	var s ColSet
	NodeExprs(n, func(e Expr) { AddRefs(&s, e) })
	switch x := n.(type) {
	case *Project:
		s.AddAll(x.Keep)
	case *SetOp:
		for _, ids := range x.InCols {
			s.AddAll(ids)
		}
	case *Recursive:
		for _, ids := range x.InCols {
			s.AddAll(ids)
		}
	case *Sort:
		for _, k := range x.Keys {
			s.Add(k.Col)
		}
	case *Window:
		s.Union(x.Reads())
	case *Scan:
		for _, r := range x.Reduce {
			s.Add(r.Col)
		}
	}
	return s
}

// Produced is the set of columns visible above a node.
func Produced(n Node) (s ColSet) {
	s.addProduced(n)
	return s
}

// addProduced is Produces without a list in between, which half of the optimizer would throw away.
func (s *ColSet) addProduced(n Node) {
	switch x := n.(type) {
	case *Scan:
		s.AddAll(x.Cols)
	case *Filter:
		s.addProduced(x.Input)
	case *Sort:
		s.addProduced(x.Input)
	case *Project:
		s.AddAll(x.Keep)
		s.AddAll(x.Cols)
	case *Group:
		s.AddAll(x.KeyCols)
		for i := range x.Aggs {
			s.Add(x.Aggs[i].Col)
		}
	case *Join:
		s.addProduced(x.Left)
		switch x.Kind {
		case Inner, Left, Full, Single:
			s.addProduced(x.Right)
		case Mark:
			s.Add(x.MarkCol)
		}
	default:
		s.AddAll(n.Produces(nil))
	}
}

// FreeRefs is the set of columns that a subtree reads but does not produce: what makes a subquery
// correlated.
func FreeRefs(n Node) ColSet {
	var used, made ColSet
	WalkNode(n, func(n Node) bool {
		used.Union(NodeRefs(n))
		made.Union(defined(n))
		return true
	})
	used.Minus(made)
	return used
}

// defined is the set of columns that the operator itself introduces.
func defined(n Node) ColSet {
	switch x := n.(type) {
	case *Scan, *Values, *Series, *SharedScan, *SetOp, *Recursive, *WorkScan, *Group:
		return Produced(n)
	case *Project:
		return MakeColSet(x.Cols...)
	case *Window:
		return MakeColSet(x.Made()...)
	case *Repeat:
		return MakeColSet(x.Col)
	case *Join:
		if x.Kind == Mark {
			return MakeColSet(x.MarkCol)
		}
	}
	return ColSet{}
}

// EqualExpr reports whether two expressions are the same computation. Positions do not matter;
// subqueries are equal only to themselves.
func EqualExpr(a, b Expr) bool {
	if a == b {
		return true
	}
	switch x := a.(type) {
	case *Ref:
		y, ok := b.(*Ref)
		return ok && x.ID == y.ID
	case *Const:
		y, ok := b.(*Const)
		return ok && sameValue(x.V, y.V)
	case *Call:
		y, ok := b.(*Call)
		if !ok || x.Op != y.Op || x.Fn != y.Fn || x.Fn != nil && x.Fn.Volatile || x.T != y.T || len(x.Args) != len(y.Args) {
			return false
		}
		for i := range x.Args {
			if !EqualExpr(x.Args[i], y.Args[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// sameValue: NaN is the same as itself, and 0 another value than -0.
func sameValue(a, b types.Value) bool {
	bits := math.Float64bits(a.F) == math.Float64bits(b.F)
	a.F, b.F = 0, 0
	return bits && a == b
}

// EqualExprs reports whether two lists are equal element by element.
func EqualExprs(a, b []Expr) bool { return slices.EqualFunc(a, b, EqualExpr) }

// ContainsExpr reports whether es holds an expression equal to e.
func ContainsExpr(es []Expr, e Expr) bool {
	return slices.ContainsFunc(es, func(x Expr) bool { return EqualExpr(x, e) })
}

// HasSubquery reports whether a subquery occurs in e.
func HasSubquery(e Expr) bool {
	switch x := e.(type) {
	case *Subquery:
		return true
	case *Call:
		return slices.ContainsFunc(x.Args, HasSubquery)
	}
	return false
}

// IsConst reports whether e reads no column and holds no subquery.
func IsConst(e Expr) bool {
	switch x := e.(type) {
	case *Const:
		return true
	case *Call:
		for _, a := range x.Args {
			if !IsConst(a) {
				return false
			}
		}
		return true
	}
	return false
}
