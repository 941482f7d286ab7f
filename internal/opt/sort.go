package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// sorts removes orderings that nobody can see, merges LIMIT with the ORDER BY below it, drops
// sort keys that earlier ones determine, and lets projections run after a limit.
func (s *state) sorts() {
	for _, sh := range s.q.Shared {
		if sh != nil {
			sh.Plan = s.sortTree(sh.Plan, false)
		}
	}
	s.q.Root = s.sortTree(s.q.Root, true)
}

// sortTree treats a subtree; ordered says that the order of its rows matters.
func (s *state) sortTree(n plan.Node, ordered bool) plan.Node {
	switch x := n.(type) {
	case *plan.Filter:
		x.Input = s.sortTree(x.Input, ordered)
	case *plan.Repeat:
		x.Input = s.sortTree(x.Input, ordered)
	case *plan.Project:
		x.Input = s.sortTree(x.Input, ordered)
		return s.mergeProjects(x)
	case *plan.Sort:
		return s.sortNode(x, ordered)
	case *plan.Join:
		x.Left = s.sortTree(x.Left, false)
		x.Right = s.sortTree(x.Right, false)
		if x.Kind == plan.Semi || x.Kind == plan.Anti || x.Kind == plan.Mark {
			x.Right = dropDuplicateRemoval(x.Right)
		}
	default:
		for i, m := range n.Inputs() {
			n.SetInput(i, s.sortTree(m, false))
		}
	}
	return n
}

// dropDuplicateRemoval: a semi join asks only whether there is a row.
func dropDuplicateRemoval(n plan.Node) plan.Node {
	switch x := n.(type) {
	case *plan.Group:
		if len(x.Aggs) == 0 && len(x.Keys) > 0 {
			return projectKeys(x, dropDuplicateRemoval(x.Input))
		}
	case *plan.Project:
		x.Input = dropDuplicateRemoval(x.Input)
	case *plan.Filter:
		x.Input = dropDuplicateRemoval(x.Input)
	}
	return n
}

func (s *state) sortNode(x *plan.Sort, ordered bool) plan.Node {
	if x.Limit < 0 && x.Offset == 0 && !ordered {
		return s.sortTree(x.Input, false)
	}
	if in, ok := x.Input.(*plan.Sort); ok && mergeLimit(x, in) {
		return s.sortNode(x, ordered)
	}
	// Without keys of its own, a limit takes the rows in the order below.
	x.Input = s.sortTree(x.Input, len(x.Keys) == 0)
	s.dropSortKeys(x)
	if len(x.Keys) == 0 && x.Limit < 0 && x.Offset == 0 {
		return x.Input
	}
	if x.Limit >= 0 {
		if p, ok := x.Input.(*plan.Project); ok && sortBelow(x, p) {
			x.Input = p.Input
			p.Input = s.sortNode(x, ordered)
			return p
		}
	}
	return x
}

// mergeLimit joins a limit, or a sort that overrides the one below, with the sort below it.
func mergeLimit(x, in *plan.Sort) bool {
	switch {
	case len(x.Keys) > 0 && in.Limit < 0 && in.Offset == 0:
		x.Input = in.Input // sorted again: the order below is lost
		return true
	case len(x.Keys) == 0:
		limit := x.Limit
		if in.Limit >= 0 {
			rest := max(in.Limit-x.Offset, 0)
			if limit < 0 || rest < limit {
				limit = rest
			}
		}
		x.Keys, x.Limit, x.Offset, x.Input = in.Keys, limit, x.Offset+in.Offset, in.Input
		return true
	}
	return false
}

// dropSortKeys removes keys that are constant or depend on earlier keys.
func (s *state) dropSortKeys(x *plan.Sort) {
	if len(x.Keys) == 0 {
		return
	}
	deps := s.dependencies(nil, x.Input, false)
	var before plan.ColSet
	keys := x.Keys[:0:0]
	for _, k := range x.Keys {
		if known := closure(before, deps); known.Has(k.Col) {
			continue
		}
		keys = append(keys, k)
		before.Add(k.Col)
	}
	x.Keys = keys
}

// sortBelow rewrites a sort to run below a projection, if the keys are there; else it changes
// nothing.
func sortBelow(x *plan.Sort, p *plan.Project) bool {
	keys := slices.Clone(x.Keys)
	for i, k := range keys {
		if slices.Contains(p.Keep, k.Col) {
			continue
		}
		at := slices.Index(p.Cols, k.Col)
		if at < 0 {
			return false
		}
		r, ok := p.Exprs[at].(*plan.Ref)
		if !ok {
			return false
		}
		keys[i].Col = r.ID
	}
	x.Keys = keys
	return true
}

// mergeProjects makes one of two projections in a row, unless that would compute something
// twice.
func (s *state) mergeProjects(x *plan.Project) plan.Node {
	in, ok := x.Input.(*plan.Project)
	if !ok {
		return x
	}
	uses := make([]int, len(in.Cols))
	for _, e := range x.Exprs {
		plan.WalkExpr(e, func(e plan.Expr) bool {
			if r, ok := e.(*plan.Ref); ok {
				if i := slices.Index(in.Cols, r.ID); i >= 0 {
					uses[i]++
				}
			}
			return true
		})
	}
	for i, e := range in.Exprs {
		if _, call := e.(*plan.Call); call && (uses[i] > 1 || uses[i] == 1 && slices.Contains(x.Keep, in.Cols[i])) {
			return x
		}
	}
	out := &plan.Project{Input: in.Input}
	for _, id := range x.Keep {
		if i := slices.Index(in.Cols, id); i >= 0 {
			out.Exprs = append(out.Exprs, in.Exprs[i])
			out.Cols = append(out.Cols, id)
		} else {
			out.Keep = append(out.Keep, id)
		}
	}
	for i, e := range x.Exprs {
		out.Exprs = append(out.Exprs, s.foldExpr(throughProject(in, e)))
		out.Cols = append(out.Cols, x.Cols[i])
	}
	return s.mergeProjects(out)
}
