package opt

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// groupKeys hashes as few keys as possible: a key that other keys determine, by a primary key and
// equalities (GROUP BY c_custkey, c_name, …), is the same for all rows of a group, and any
// of its values will do. A grouping without aggregates over unique rows disappears.
func (s *state) groupKeys() {
	s.mapNodes(func(n plan.Node) plan.Node {
		g, ok := n.(*plan.Group)
		if !ok || len(g.Keys) == 0 {
			return n
		}
		if len(g.Aggs) == 0 {
			var cols plan.ColSet
			for _, k := range g.Keys {
				if r, ok := k.(*plan.Ref); ok {
					cols.Add(r.ID)
				}
			}
			if s.uniqueOn(g.Input, cols, true) {
				return projectKeys(g, g.Input)
			}
		}
		if len(g.Keys) > 1 && !g.Folded() {
			s.dropKeys(g)
		}
		return g
	})
}

// projectKeys computes the keys of a grouping without grouping.
func projectKeys(g *plan.Group, in plan.Node) plan.Node {
	p := &plan.Project{Input: in}
	for i, k := range g.Keys {
		if isColumn(k, g.KeyCols[i]) {
			p.Keep = append(p.Keep, g.KeyCols[i])
			continue
		}
		p.Exprs = append(p.Exprs, k)
		p.Cols = append(p.Cols, g.KeyCols[i])
	}
	return p
}

func (s *state) dropKeys(g *plan.Group) {
	deps := s.dependencies(nil, g.Input, false)
	// The keys that are dearest to hash are tried first.
	order := make([]int, len(g.Keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keyWeight(g.Keys[b]), keyWeight(g.Keys[a])) })
	dropped := make([]bool, len(g.Keys))
	left := len(g.Keys)
	for _, i := range order {
		var rest plan.ColSet
		for k, e := range g.Keys {
			if k == i || dropped[k] {
				continue
			}
			// Only plain columns start a dependency; x + 1 does not determine x.
			if r, ok := e.(*plan.Ref); ok {
				rest.Add(r.ID)
			}
		}
		refs := plan.Refs(g.Keys[i])
		known := closure(rest, deps)
		if left > 1 && refs.SubsetOf(&known) {
			dropped[i] = true
			left--
		}
	}
	if left == len(g.Keys) {
		return
	}
	var keys []plan.Expr
	var cols []plan.ColID
	for i, e := range g.Keys {
		if dropped[i] {
			g.Aggs = append(g.Aggs, plan.Agg{Func: plan.AnyValue, Arg: e, Col: g.KeyCols[i]})
			continue
		}
		keys = append(keys, e)
		cols = append(cols, g.KeyCols[i])
	}
	g.Keys, g.KeyCols = keys, cols
}

// keyWeight orders keys by what hashing and comparing them costs.
func keyWeight(e plan.Expr) int {
	w := 2
	switch t := e.Type(); t.Phys() {
	case types.PhysStr:
		w = 100
	case types.PhysI128, types.PhysIvl:
		w = 20
	case types.PhysF64:
		w = 10
	default:
		if t.Kind == types.Decimal || t.Kind == types.Date {
			w = 5 // a number that identifies something is rarely one of these
		}
	}
	if _, plain := e.(*plan.Ref); !plain {
		w++
	}
	return w
}
