package opt

import "github.com/kelpiedb/kelpie/internal/plan"

// inline puts shared plans in place that are used once, so that they are optimized together with
// the query around them, and those that are so cheap that materializing them costs more than
// computing them again.
func (s *state) inline() {
	if len(s.q.Shared) == 0 {
		return
	}
	for s.inlineNext() {
	}
	s.compactShared()
}

// inlineNext puts one shared plan in place, or removes one without uses, and reports whether there
// was one. Either changes how often others are used.
func (s *state) inlineNext() bool {
	uses := s.sharedUses()
	for i, sh := range s.q.Shared {
		switch {
		case sh == nil:
			continue
		case uses[i] == 0:
			s.q.Shared[i] = nil
		case uses[i] == 1:
			s.inlineOnce(i)
		case cheap(sh.Plan):
			s.inlineCopies(i)
		default:
			continue
		}
		return true
	}
	return false
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

// inlineOnce replaces the only scan of shared plan i by the plan, whose columns take the place of
// the scan's own.
func (s *state) inlineOnce(i int) {
	sh := s.q.Shared[i]
	s.q.Shared[i] = nil
	names := make(plan.Renaming, s.cols.Len())
	s.replaceScans(i, func(x *plan.SharedScan) plan.Node {
		// The scan may give a column twice (select a x, a y): then it needs two names.
		twice := &plan.Project{Input: sh.Plan, Keep: sh.Plan.Produces(nil)}
		var seen plan.ColSet
		for k, id := range x.Cols {
			source := x.Source[k]
			if seen.Has(source) {
				twice.Exprs, twice.Cols = append(twice.Exprs, s.ref(source)), append(twice.Cols, id)
				continue
			}
			seen.Add(source)
			names[id] = source
		}
		if len(twice.Cols) > 0 {
			return twice
		}
		return sh.Plan
	})
	s.renameAll(names)
}

// inlineCopies replaces each scan of shared plan i by a copy.
func (s *state) inlineCopies(i int) {
	sh := s.q.Shared[i]
	s.q.Shared[i] = nil
	s.replaceScans(i, func(x *plan.SharedScan) plan.Node {
		body, fresh := plan.CloneNode(s.cols, sh.Plan)
		p := &plan.Project{Input: body, Cols: x.Cols}
		for _, id := range x.Source {
			p.Exprs = append(p.Exprs, s.ref(fresh.Get(id)))
		}
		return p
	})
}

// replaceScans puts f's result in the place of every scan of shared plan i.
func (s *state) replaceScans(i int, f func(*plan.SharedScan) plan.Node) {
	s.mapNodes(func(n plan.Node) plan.Node {
		if x, ok := n.(*plan.SharedScan); ok && x.Index == i {
			return f(x)
		}
		return n
	})
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
