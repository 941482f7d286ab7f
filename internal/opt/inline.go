package opt

import "github.com/kelpiedb/kelpie/internal/plan"

// inline puts shared plans in place that are used once, so that they are optimized together with
// the query around them, and those that are so cheap that materializing them costs more than
// computing them again.
func (s *state) inline() {
	if len(s.q.Shared) == 0 {
		return
	}
	for {
		uses := s.sharedUses()
		again := false
		for i, sh := range s.q.Shared {
			if sh == nil {
				continue
			}
			if uses[i] == 0 {
				s.q.Shared[i] = nil
				again = true // what it used has a use less
			} else if uses[i] == 1 || cheap(sh.Plan) {
				s.inlineOne(i, uses[i] == 1)
				again = true
			}
		}
		if !again {
			break
		}
	}
	s.compactShared()
}

// sharedUses counts the scans of each shared plan.
func (s *state) sharedUses() []int {
	uses := make([]int, len(s.q.Shared))
	s.roots(func(n plan.Node) plan.Node {
		plan.WalkNode(n, func(n plan.Node) bool {
			if x, ok := n.(*plan.SharedScan); ok {
				uses[x.Index]++
			}
			return true
		})
		return n
	})
	return uses
}

// cheap reports a plan that only reads and computes: no join, grouping or sorting.
func cheap(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Scan, *plan.Values, *plan.Series, *plan.SharedScan:
		return true
	case *plan.Filter:
		return cheap(x.Input)
	case *plan.Project:
		return cheap(x.Input)
	}
	return false
}

// inlineOne replaces all scans of shared plan i. The columns of the plan take the place of
// the scan's own.
func (s *state) inlineOne(i int, once bool) {
	sh := s.q.Shared[i]
	s.q.Shared[i] = nil
	names := make(plan.Renaming, s.cols.Len())
	renamed := false
	s.mapNodes(func(n plan.Node) plan.Node {
		x, ok := n.(*plan.SharedScan)
		if !ok || x.Index != i {
			return n
		}
		if once {
			for k, id := range x.Cols {
				names[id] = x.Source[k]
				renamed = true
			}
			return sh.Plan
		}
		body, fresh := plan.CloneNode(s.cols, sh.Plan)
		p := &plan.Project{Input: body, Cols: x.Cols}
		for _, id := range x.Source {
			p.Exprs = append(p.Exprs, s.ref(fresh.Get(id)))
		}
		return p
	})
	if renamed {
		s.renameAll(names)
	}
}

// compactShared removes the gaps that inlining left.
func (s *state) compactShared() {
	at := make([]int, len(s.q.Shared))
	var kept []*plan.SharedPlan
	for i, sh := range s.q.Shared {
		if sh != nil {
			at[i] = len(kept)
			kept = append(kept, sh)
		}
	}
	if len(kept) == len(s.q.Shared) {
		return
	}
	s.q.Shared = kept
	s.mapNodes(func(n plan.Node) plan.Node {
		if x, ok := n.(*plan.SharedScan); ok {
			x.Index = at[x.Index]
		}
		return n
	})
}
