package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// RowCount checks a LIMIT or OFFSET that is known only when the query runs.
func RowCount(clause, code string) *plan.Function {
	return &plan.Function{Name: "row_count", Strict: true, Fails: true, Eval: func(a []types.Value, _ types.Type) (types.Value, error) {
		if a[0].I < 0 {
			return types.Value{}, errorf(code, "%s must not be negative", clause)
		}
		return a[0], nil
	}}
}

// ShareOfRows is how many of the first argument's rows as many percent as the second says are, without fractions.
var ShareOfRows = &plan.Function{Name: "share_of_rows", Strict: true, Eval: func(a []types.Value, _ types.Type) (types.Value, error) {
	return types.IntValue(types.TInt64, int64(math.Floor(float64(a[0].I)*a[1].F/100))), nil
}}
