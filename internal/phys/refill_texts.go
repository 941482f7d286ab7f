package phys

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Lane refill between the steps of a text search: of rows that are tested by LIKE '%a%b%', those that have the first part wait until there are enough of them
// for a warp that looks for the second.

// LikeSteps recognizes a test by a LIKE pattern with several parts.
func LikeSteps(x plan.Expr) (like *plan.Call, pattern string, ok bool) {
	c, ok := x.(*plan.Call)
	if !ok || c.Op != plan.Like {
		return nil, "", false
	}
	p, ok := c.Args[1].(*plan.Const)
	if !ok || p.V.Null || strings.ContainsAny(p.V.S, `_\`) {
		return nil, "", false
	}
	parts := strings.FieldsFunc(p.V.S, func(r rune) bool { return r == '%' })
	return c, p.V.S, len(parts) > 1
}

// Apply makes operators of such tests that scans have, where rows may wait inside of operators only. What is searched before needs no steps.
func (r Refill) Apply(prog *pipe.Program, search Search) {
	for _, p := range prog.Pipelines {
		if t, ok := p.Source.(*pipe.Table); ok && r.At(p) == RefillFlush && search.At(t.Scan) != SearchFlat {
			testBehind(p, func(f plan.Expr) bool { _, _, ok := LikeSteps(f); return ok })
		}
	}
}
