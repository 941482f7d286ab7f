package plan

import (
	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Function is an operation that is computed in Go alone, where a pipeline is cut for it. Package funcs
// has one row for each; two calls are of one function exactly when their Fn is one pointer.
type Function struct {
	Name string
	// Strict: NULL when an operand is, and Eval does not see that.
	Strict bool
	// NullOut: may be NULL although no operand is.
	NullOut bool
	// Fails: may raise an error at run time; see opInfo.
	Fails bool
	// Volatile: each row has another value, so that it is computed when the query runs, for each row, and no two
	// calls are the same.
	Volatile bool
	// InOrder: rows that are stored should ask for it one after the other, in their order.
	InOrder bool
	// InTurn: element i, the second operand, of the first operand, a list, is asked for row by row, i = 1, 2, …
	InTurn bool
	// Cast: it is a cast of its last operand, and printed so; what stands before says where and when.
	Cast bool
	// Eval computes a value of type t. It keeps none of its operands but parts of their texts, and
	// may be called by many threads at once.
	Eval func(args []types.Value, t types.Type) (types.Value, error)
	// Size bounds the bytes of the text that Eval will make, where that can be much more than those
	// of the operands; nil: it cannot.
	Size func(args []types.Value) int64
	// Matching is what is done to the first operand, a text, when the others are constants, of which none is NULL: by an automaton, for which
	// there is code. nil: Go alone can tell.
	Matching func(rest []types.Value) *automaton.Use
	// Formula is what code computes instead of Eval; nil: Go alone can.
	Formula *Formula
}

// Matching is what a call does to its first operand by an automaton; nil: it does something else.
func (x *Call) Matching() *automaton.Use {
	if x.Op != Apply || x.Fn.Matching == nil {
		return nil
	}
	rest := make([]types.Value, 0, 4)
	for _, a := range x.Args[1:] {
		c, ok := a.(*Const)
		if !ok || c.V.Null {
			return nil
		}
		rest = append(rest, c.V)
	}
	return x.Fn.Matching(rest)
}

// NewApply is a call of a function.
func NewApply(fn *Function, t types.Type, pos int, args ...Expr) *Call {
	return &Call{Op: Apply, Fn: fn, T: t, Args: args, Pos: pos}
}

// Volatile reports that an expression has a value of its own for each row.
func Volatile(e Expr) bool {
	found := false
	WalkExpr(e, func(e Expr) bool {
		x, ok := e.(*Call)
		found = found || ok && x.Op == Apply && x.Fn.Volatile
		return !found
	})
	return found
}

// InOrder reports a query with a function that rows should ask for in their order.
func InOrder(q *Query) bool {
	return applies(q.Root, func(f *Function) bool { return f.InOrder })
}

// Repeatable reports a query that may run again unseen: no function of it has another value then, or changes something.
func Repeatable(q *Query) bool {
	volatile := func(f *Function) bool { return f.Volatile }
	for _, s := range q.Shared {
		if s != nil && applies(s.Plan, volatile) {
			return false
		}
	}
	return !applies(q.Root, volatile)
}

// applies reports a plan with a function of some kind.
func applies(root Node, is func(*Function) bool) bool {
	found := false
	WalkNode(root, func(n Node) bool {
		NodeExprs(n, func(e Expr) {
			WalkExpr(e, func(e Expr) bool {
				x, ok := e.(*Call)
				found = found || ok && x.Op == Apply && is(x.Fn)
				return !found
			})
		})
		return !found
	})
	return found
}
