package opt

import "github.com/kelpiedb/kelpie/internal/plan"

// readTwice sees to it that a group whose input will be copied reads the same rows in all copies: what may be different the
// next time, because it is random or the first rows of no order, is computed once and shared.
func (s *state) readTwice(g *plan.Group) {
	unsteady := false
	look := func(e plan.Expr) { unsteady = unsteady || plan.Volatile(e) }
	plan.NodeExprs(g, look)
	plan.WalkNode(g.Input, func(n plan.Node) bool {
		plan.NodeExprs(n, look)
		if x, ok := n.(*plan.Sort); ok {
			unsteady = unsteady || x.Limit >= 0 || x.Offset > 0
		}
		return !unsteady
	})
	if !unsteady {
		return
	}
	s.columnsForFold(g)
	cols := g.Input.Produces(nil)
	body, fresh := plan.CloneNode(s.cols, g.Input)
	scan := &plan.SharedScan{Index: len(s.q.Shared), Cols: cols}
	sh := &plan.SharedPlan{Name: "group input", Plan: body}
	for _, id := range cols {
		scan.Source = append(scan.Source, fresh.Get(id))
		sh.Cols = append(sh.Cols, fresh.Get(id))
	}
	s.q.Shared = append(s.q.Shared, sh)
	g.Input = scan
}
