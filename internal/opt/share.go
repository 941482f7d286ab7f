package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// share finds subplans that compute the same and lets them be computed once, where writing the result down
// and reading it again costs less than computing it again.
func (s *state) share() {
	for range maxShared {
		if !s.repeats() {
			return
		}
		a, b, m := s.findTwins()
		if a == nil {
			return
		}
		m.apply()
		s.shareTwins(a, b, m.names)
	}
}

// repeats is the cheap test that most queries fail: is any table read twice?
func (s *state) repeats() bool {
	var seen []any
	twice := false
	s.roots(func(n plan.Node) plan.Node {
		plan.WalkNode(n, func(n plan.Node) bool {
			var src any
			switch x := n.(type) {
			case *plan.Scan:
				src = x.Table
			case *plan.SharedScan:
				src = x.Index
			default:
				return true
			}
			twice = twice || slices.Contains(seen, src)
			seen = append(seen, src)
			return true
		})
		return n
	})
	return twice
}

// maxShared bounds the search in queries with very many equal parts.
const maxShared = 8

// site is a subtree and the place that holds it.
type site struct {
	node plan.Node
	hash uint64
	work float64
	set  func(plan.Node)
	root int // index of the shared plan of which it is the root, or -1
}

// findTwins returns the two equal subplans that are most work, and how the second's columns are
// called in the first.
func (s *state) findTwins() (a, b *site, found matcher) {
	var sites []site
	for i := range s.q.Shared {
		if sh := s.q.Shared[i]; sh != nil {
			s.sites(&sites, sh.Plan, func(n plan.Node) { sh.Plan = n })
			if k := len(sites) - 1; k >= 0 && sites[k].node == sh.Plan {
				sites[k].root = i
			}
		}
	}
	s.sites(&sites, s.q.Root, func(n plan.Node) { s.q.Root = n })
	for i := range sites {
		for j := i + 1; j < len(sites); j++ {
			x, y := &sites[i], &sites[j]
			if x.hash != y.hash || a != nil && x.work <= a.work || !worthSharing(x) {
				continue
			}
			m := matcher{s: s, names: make(plan.Renaming, s.cols.Len())}
			if m.node(x.node, y.node) {
				a, b, found = x, y, m
			}
		}
	}
	return a, b, found
}

// worthSharing compares computing once more with writing and reading the result.
func worthSharing(x *site) bool {
	const tuple = 4 // writing a tuple and reading it twice
	return x.work > tuple*x.node.Props().Rows+1000
}

// sites lists the subtrees that may be shared, and returns the hash and the work of this one. Scans with
// filters are never shared: reading them again is as cheap as reading a copy.
func (s *state) sites(dst *[]site, n plan.Node, set func(plan.Node)) (hash uint64, work float64) {
	rows := s.estimate(n)
	hash = shape(n)
	in := n.Inputs()
	for i, m := range in {
		dst := dst
		if x, ok := n.(*plan.Join); ok && x.Gate {
			dst = new([]site) // what is behind a gate stays there
		}
		h, w := s.sites(dst, m, func(r plan.Node) { n.SetInput(i, r) })
		hash = hash*1099511628211 ^ h
		work += w
	}
	switch x := n.(type) {
	case *plan.Scan:
		base := rows
		if x.Snap != nil {
			base = float64(x.Snap.Rows)
		}
		return hash, base + rows
	case *plan.SharedScan, *plan.Values, *plan.Series:
		return hash, rows
	case *plan.Join:
		build, probe := x.Right.Props().Rows, x.Left.Props().Rows
		work += hashCost(build, probe, rows)
		*dst = append(*dst, site{n, hash, work, set, -1})
	case *plan.Group:
		work += 2*x.Input.Props().Rows + rows
		*dst = append(*dst, site{n, hash, work, set, -1})
	case *plan.Window:
		work += 8 * rows
		*dst = append(*dst, site{n, hash, work, set, -1})
	default:
		work += rows
	}
	return hash, work
}

// shape hashes what equal operators have in common, columns apart.
func shape(n plan.Node) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	mix := func(v int) { h = (h ^ uint64(v)) * prime }
	switch x := n.(type) {
	case *plan.Scan:
		mix(1)
		mix(len(x.Filter))
		if x.Table != nil {
			for i := range len(x.Table.Name) {
				mix(int(x.Table.Name[i]))
			}
		}
	case *plan.Filter:
		mix(2)
		mix(len(x.Preds))
	case *plan.Project:
		mix(3)
	case *plan.Join:
		mix(4)
		mix(int(x.Kind))
		mix(len(x.LKeys))
		mix(len(x.On))
	case *plan.Group:
		mix(5)
		mix(len(x.Keys))
	case *plan.SetOp:
		mix(6)
	case *plan.Sort:
		mix(7)
		mix(int(x.Limit))
	case *plan.SharedScan:
		mix(8)
		mix(x.Index)
	case *plan.Values:
		mix(9)
		mix(len(x.Rows))
	case *plan.Window:
		mix(11)
		mix(len(x.Funcs))
	case *plan.Series:
		mix(10)
		mix(int(x.N))
	case *plan.Repeat:
		mix(11)
	case *plan.Recursive:
		mix(12)
	case *plan.WorkScan:
		mix(13)
	}
	return h
}

// shareTwins makes the first a shared plan, unless it is one, and both places scans of it.
func (s *state) shareTwins(a, b *site, names plan.Renaming) {
	index := a.root
	var fresh plan.Renaming
	if index < 0 {
		index = len(s.q.Shared)
		var body plan.Node
		body, fresh = plan.CloneNode(s.cols, a.node)
		s.q.Shared = append(s.q.Shared, &plan.SharedPlan{Name: "common", Plan: body, Cols: body.Produces(nil)})
		for id := range fresh {
			if fresh[id] != 0 {
				c := *s.stat(plan.ColID(id))
				*s.stat(fresh[id]) = c
			}
		}
	} else {
		s.q.Shared[index].Cols = a.node.Produces(nil) // matching may have added some
	}
	scan := func(n plan.Node, toFirst func(plan.ColID) plan.ColID) plan.Node {
		x := &plan.SharedScan{Index: index, Cols: n.Produces(nil)}
		for _, id := range x.Cols {
			x.Source = append(x.Source, fresh.Get(toFirst(id)))
		}
		x.Props_.Rows = n.Props().Rows
		return x
	}
	second := scan(b.node, names.Get)
	if a.root < 0 {
		a.set(scan(a.node, func(id plan.ColID) plan.ColID { return id }))
	}
	b.set(second)
}
