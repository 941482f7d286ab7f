package opt

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// orderPreds sorts the conjuncts of scans and filters so that the work per row is least: what is cheap and
// drops much comes first. Predicates on one column stay together, since they may be
// tested as one range. Predicates that can fail stay behind those that may guard them.
func (s *state) orderPreds() {
	s.roots(func(n plan.Node) plan.Node {
		plan.WalkNode(n, func(n plan.Node) bool {
			switch x := n.(type) {
			case *plan.Scan:
				if len(x.Filter) > 1 {
					// Selectivities of single predicates, each on all rows.
					rows := s.tableRows(x)
					for i, id := range x.Cols {
						*s.stat(id) = scanStat(x, x.Ordinal[i], rows)
					}
					x.Filter = s.ranked(x.Filter)
					s.conjunctionSel(x.Filter)
				}
			case *plan.Filter:
				if len(x.Preds) > 1 {
					x.Preds = s.ranked(x.Preds)
				}
			}
			return true
		})
		return n
	})
}

// tableRows is the number of rows of a scan before its filter.
func (s *state) tableRows(x *plan.Scan) float64 {
	if x.Snap == nil {
		return defaultRows
	}
	return float64(x.Snap.Rows)
}

func (s *state) ranked(preds []plan.Expr) []plan.Expr {
	type group struct {
		col   plan.ColID
		preds []plan.Expr
		sel   float64
		cost  float64
		fails bool
	}
	var groups []group
	of := map[plan.ColID]int{} // the group of a column
	for _, p := range preds {
		g := group{col: singleColumn(p), preds: []plan.Expr{p}, sel: s.selectivity(p), cost: s.evalCost(p), fails: mayFail(p)}
		at, known := of[g.col]
		if g.col == 0 || g.fails || !known {
			if g.col != 0 && !g.fails {
				of[g.col] = len(groups)
			}
			groups = append(groups, g)
			continue
		}
		o := &groups[at]
		o.preds = append(o.preds, p)
		o.sel *= g.sel
		o.cost += g.cost
	}
	rank := func(g group) float64 {
		if g.fails {
			return 1 // after all others, in their order
		}
		return (g.sel - 1) / g.cost
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(rank(a), rank(b)) })
	out := make([]plan.Expr, 0, len(preds))
	for _, g := range groups {
		out = append(out, g.preds...)
	}
	return out
}

// mayFail reports an operation that fails on some values of its operands' types, a cast to a larger
// type apart.
func mayFail(e plan.Expr) bool {
	found := false
	plan.WalkExpr(e, func(e plan.Expr) bool {
		if x, ok := e.(*plan.Call); ok && x.MayFail() {
			switch x.Op {
			case plan.Cast:
				found = found || !widening(x) && !(x.T.Kind == types.Float64 && x.Args[0].Type().IsNumeric())
			case plan.Extract, plan.Substring:
			case plan.Add, plan.Sub, plan.Mul:
				found = found || x.T.Kind != types.Decimal
			case plan.Neg:
				found = found || !x.T.IsFloat() && x.T.Kind != types.Decimal
			default:
				found = true
			}
		}
		return !found
	})
	return found
}

// evalCost guesses what evaluating e costs, in comparisons of integers.
func (s *state) evalCost(e plan.Expr) float64 {
	cost := 0.0
	text := false
	if id := singleColumn(e); id != 0 {
		text = s.stat(id).st == nil || s.stat(id).st.Dict == nil // else one lookup per code will do
	}
	plan.WalkExpr(e, func(e plan.Expr) bool {
		x, ok := e.(*plan.Call)
		if !ok {
			return true
		}
		c := 1.0
		switch {
		case x.Op == plan.Like:
			c = 20
		case x.Op == plan.InList:
			c = 1 + float64(len(x.Args))/4
		case x.Op == plan.And, x.Op == plan.Or, x.Op == plan.Not:
			c = 0.2
		}
		if len(x.Args) > 0 && x.Args[0].Type().Phys() == types.PhysStr {
			if c *= 4; !text {
				c = 2
			}
		}
		cost += c
		return true
	})
	return max(cost, 0.5)
}
