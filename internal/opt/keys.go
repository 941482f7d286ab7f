package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
)

// keys brings all joins into the form that the executor wants: equalities between the sides are keys of
// one type, keys that cannot be NULL need no NULL-safe comparison, and AtMostOne says what unique
// keys promise.
func (s *state) keys() {
	s.mapNodes(func(n plan.Node) plan.Node {
		x, ok := n.(*plan.Join)
		if !ok {
			return n
		}
		left, right := plan.Produced(x.Left), plan.Produced(x.Right)
		s.takeKeys(x, &left, &right)
		s.relaxNullSafe(x)
		if !x.AtMostOne {
			_, rk := s.keyCols(x)
			x.AtMostOne = s.uniqueOn(x.Right, rk, x.NullSafe != nil)
		}
		return x
	})
}

// relaxNullSafe compares keys with = where one side is never NULL: then NULL meets no NULL.
func (s *state) relaxNullSafe(x *plan.Join) {
	if x.NullSafe == nil {
		return
	}
	l, r := plan.NotNullCols(s.q, x.Left), plan.NotNullCols(s.q, x.Right)
	any := false
	for i := range x.NullSafe {
		if plan.NotNullExpr(x.LKeys[i], &l) || plan.NotNullExpr(x.RKeys[i], &r) {
			x.NullSafe[i] = false
		}
		any = any || x.NullSafe[i]
	}
	if !any {
		x.NullSafe = nil
	}
}
