package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// onTop computes the right side of a dependent join on top of the left, if it reads nothing but the left row: a function in
// FROM that makes rows of it. nil: it reads more.
func onTop(x *plan.Join) plan.Node {
	if x.Kind != plan.Inner || len(x.LKeys) > 0 {
		return nil
	}
	var chain []plan.Node
	for n := x.Right; ; n = n.Inputs()[0] {
		switch n := n.(type) {
		case *plan.Filter, *plan.Project, *plan.Repeat:
			chain = append(chain, n)
			continue
		case *plan.Values:
			if len(n.Cols) > 0 || len(n.Rows) != 1 {
				return nil
			}
		default:
			return nil
		}
		break
	}
	out, left := x.Left, x.Left.Produces(nil)
	for _, n := range slices.Backward(chain) {
		n.SetInput(0, out)
		if p, ok := n.(*plan.Project); ok {
			p.Keep = slices.Concat(p.Keep, left)
		}
		out = n
	}
	return filter(out, x.On)
}
