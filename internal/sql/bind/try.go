package bind

import (
	"errors"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// try binds TRY(x): x, or NULL where a value makes it fail. Generated code leaves a query at the first error, so that Go computes x, as
// a function of the columns that it reads.
func (b *binder) try(s *scope, e *ast.Func) plan.Expr {
	if len(e.Args) != 1 {
		fail(diag.UndefinedFunction, e.Pos, "TRY takes one argument")
	}
	x := e.Args[0].X
	l := &lambda{pos: x.Position()}
	if l.body = b.tried(s, x); l.body == nil {
		if c, ok := x.(*ast.Cast); ok {
			return plan.NullConst(b.typeName(c.Type))
		}
		return plan.NullConst(types.Type{})
	}
	switch {
	case plan.HasSubquery(l.body):
		panic(diag.Unsupported(l.pos, "a subquery in TRY").WithHint("write TRY inside of the subquery, around what fails"))
	case plan.Volatile(l.body):
		panic(diag.Unsupported(l.pos, "a volatile function in TRY").WithHint("compute it in a subquery in FROM, and TRY what is done with its column"))
	}
	refs := plan.Refs(l.body)
	for id := range refs.All {
		l.outer = append(l.outer, id)
	}
	fn := &plan.Function{Name: "try", NullOut: true, Fails: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		v, err := eval.Expr(l.body, func(id plan.ColID) (types.Value, bool) {
			i := slices.Index(l.outer, id)
			return a[i], true
		})
		if ofValues(err) {
			return types.NullOf(t), nil
		}
		return v, err
	}}
	return b.applyLambda(l, fn, l.body.Type(), e)
}

// tried binds what TRY is for; nil if it has a constant that fails already here.
func (b *binder) tried(s *scope, x ast.Expr) (bound plan.Expr) {
	agg, ctes, unnests := b.agg, b.ctes, b.unnests
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !ofValues(err) {
				panic(r)
			}
			b.agg, b.ctes, b.unnests, bound = agg, ctes, unnests, nil
		}
	}()
	return b.settle(b.expr(s, x))
}

// raised is the code of what error('…') says.
const raised = "P0001"

// ofValues reports an error that other values would not have had; names, types and our own faults are none.
func ofValues(err error) bool {
	var e *diag.Error
	return errors.As(err, &e) && (strings.HasPrefix(e.Code, "22") || e.Code == raised)
}
