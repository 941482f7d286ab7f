package opt

import (
	"errors"

	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// evaluate computes an expression without references, or with bound values for some
// columns: bind may be nil. ok is false where the optimizer cannot know the value: a column without
// one, or an error, which belongs to run time and may be on a branch that no row takes.
func evaluate(e plan.Expr, bind func(plan.ColID) (types.Value, bool)) (v types.Value, ok bool) {
	v, err := eval.Within(e, bind, func(bytes int64) error {
		if bytes > longestConstant {
			return errLarge
		}
		return nil
	})
	return v, err == nil
}

// longestConstant is how many bytes a text may have that is made out of smaller ones before the query runs, and
// counts its memory.
const longestConstant = 1 << 16

var errLarge = errors.New("opt: a text for run time")
