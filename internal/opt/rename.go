package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// rename changes the names of columns in a whole tree: in expressions, and where operators name
// columns directly.
func rename(n plan.Node, names plan.Renaming) {
	ids := func(list []plan.ColID) []plan.ColID {
		changed := false
		for _, id := range list {
			changed = changed || names.Get(id) != id
		}
		if !changed {
			return list
		}
		out := make([]plan.ColID, len(list))
		for i, id := range list {
			out[i] = names.Get(id)
		}
		return out
	}
	plan.WalkNode(n, func(n plan.Node) bool {
		if g, ok := n.(*plan.Group); ok {
			renameKept(g, names)
		}
		plan.MapNodeExprs(n, names.Expr)
		switch x := n.(type) {
		case *plan.Project:
			x.Keep = ids(x.Keep)
			slices.Sort(x.Keep)
			x.Keep = slices.Compact(x.Keep)
		case *plan.SharedScan:
			x.Source = ids(x.Source)
		case *plan.SetOp:
			for i := range x.InCols {
				x.InCols[i] = ids(x.InCols[i])
			}
		case *plan.Recursive:
			for i := range x.InCols {
				x.InCols[i] = ids(x.InCols[i])
			}
		case *plan.Window:
			x.Rename(names)
		case *plan.Sort:
			for i := range x.Keys {
				x.Keys[i].Col = names.Get(x.Keys[i].Col)
			}
		}
		return true
	})
}

// renameKept renames the columns that a grouping passes on under their own names: keys that are plain
// columns, and any_value of one. Those that it introduces stay.
func renameKept(g *plan.Group, names plan.Renaming) {
	keeps := func(e plan.Expr, id plan.ColID) bool {
		r, ok := e.(*plan.Ref)
		return ok && r.ID == id && names.Get(id) != id
	}
	for i, k := range g.Keys {
		if keeps(k, g.KeyCols[i]) {
			g.KeyCols = slices.Clone(g.KeyCols) // may be shared with another node
			g.KeyCols[i] = names.Get(g.KeyCols[i])
		}
	}
	for i := range g.Aggs {
		if a := &g.Aggs[i]; keeps(a.Arg, a.Col) {
			a.Col = names.Get(a.Col)
		}
	}
}

// renameAll changes the names of columns everywhere in the query.
func (s *state) renameAll(names plan.Renaming) {
	s.roots(func(n plan.Node) plan.Node {
		rename(n, names)
		return n
	})
	for i, id := range s.q.Output {
		s.q.Output[i] = names.Get(id)
	}
	for _, sh := range s.q.Shared {
		if sh == nil {
			continue
		}
		for i, id := range sh.Cols {
			sh.Cols[i] = names.Get(id)
		}
	}
}
