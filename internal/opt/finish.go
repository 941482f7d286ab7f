package opt

import "github.com/kelpiedb/kelpie/internal/plan"

// finish estimates what no pass has estimated, numbers the operators in the order in which EXPLAIN
// prints them, and settles which columns are never NULL.
func (s *state) finish() {
	id := 0
	var number func(plan.Node)
	number = func(n plan.Node) {
		id++
		n.Props().ID = id
		for _, m := range n.Inputs() {
			number(m)
		}
	}
	s.sortShared()
	for _, sh := range s.q.Shared {
		s.estimateAll(sh.Plan)
	}
	s.estimateAll(s.q.Root)
	s.roots(func(n plan.Node) plan.Node {
		number(n)
		return n
	})
	s.settleNulls()
}

// sortShared puts every shared plan after those that it reads, so that they can be computed in order, and
// forgets those that nobody reads any more.
func (s *state) sortShared() {
	if len(s.q.Shared) == 0 {
		return
	}
	at := make([]int, len(s.q.Shared))
	var kept []*plan.SharedPlan
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		plan.WalkNode(n, func(n plan.Node) bool {
			if x, ok := n.(*plan.SharedScan); ok {
				if at[x.Index] == 0 {
					visit(s.q.Shared[x.Index].Plan)
					kept = append(kept, s.q.Shared[x.Index])
					at[x.Index] = len(kept)
				}
			}
			return true
		})
	}
	visit(s.q.Root)
	s.q.Shared = kept
	s.roots(func(n plan.Node) plan.Node {
		plan.WalkNode(n, func(n plan.Node) bool {
			if x, ok := n.(*plan.SharedScan); ok {
				x.Index = at[x.Index] - 1
			}
			return true
		})
		return n
	})
}

// estimateAll estimates operators also below those that have an estimate already.
func (s *state) estimateAll(n plan.Node) {
	for _, m := range n.Inputs() {
		s.estimateAll(m)
	}
	s.estimate(n)
}

// settleNulls sets Col.NotNull for the columns that are never NULL wherever they are visible.
// Rewriting may have made promises stronger, by turning outer joins into inner ones, or
// weaker.
func (s *state) settleNulls() {
	v := nullness{s: s}
	for _, sh := range s.q.Shared {
		v.node(sh.Plan)
	}
	v.node(s.q.Root)
	for id := range v.padded.All {
		s.cols.Get(id).NotNull = false
	}
}

type nullness struct {
	s      *state
	padded plan.ColSet // columns that an outer join fills with NULL
}

// node settles the columns that the operators of a subtree introduce.
func (v *nullness) node(n plan.Node) {
	for _, m := range n.Inputs() {
		v.node(m)
	}
	cols := v.s.cols
	switch x := n.(type) {
	case *plan.Scan:
		for i, id := range x.Cols {
			o := x.Ordinal[i]
			known := x.Table != nil && x.Table.Columns[o].NotNull
			if x.Snap != nil && o < len(x.Snap.Stats) && x.Snap.Rows > 0 {
				known = known || x.Snap.Stats[o].NullCount == 0
			}
			cols.Get(id).NotNull = known
		}
	case *plan.SharedScan:
		for i, id := range x.Cols {
			src := x.Source[i]
			cols.Get(id).NotNull = cols.Get(src).NotNull && !v.padded.Has(src)
		}
	case *plan.Values, *plan.Series, *plan.SetOp:
		set := plan.NotNullCols(v.s.q, n)
		for _, id := range n.Produces(nil) {
			cols.Get(id).NotNull = set.Has(id)
		}
	case *plan.Project:
		for i, e := range x.Exprs {
			cols.Get(x.Cols[i]).NotNull = v.notNull(e)
		}
	case *plan.Repeat:
		cols.Get(x.Col).NotNull = true
	case *plan.Recursive, *plan.WorkScan: // what a round brings is not known
		for _, id := range n.Produces(nil) {
			cols.Get(id).NotNull = false
		}
	case *plan.Group:
		for i, e := range x.Keys {
			cols.Get(x.KeyCols[i]).NotNull = v.notNull(e)
		}
		for _, a := range x.Aggs {
			switch a.Func {
			case plan.Count, plan.CountStar, plan.Spread:
				cols.Get(a.Col).NotNull = true
			case plan.Folded:
				cols.Get(a.Col).NotNull = false
			default:
				cols.Get(a.Col).NotNull = len(x.Keys) > 0 && a.Filter == nil && v.notNull(a.Arg)
			}
		}
	case *plan.Window:
		for i := range x.Funcs {
			cols.Get(x.Funcs[i].Col).NotNull = x.Funcs[i].NeverNull()
		}
	case *plan.Join:
		switch x.Kind {
		case plan.Left, plan.Single:
			v.pad(x.Right)
		case plan.Full:
			v.pad(x.Left)
			v.pad(x.Right)
		case plan.Mark:
			cols.Get(x.MarkCol).NotNull = v.markNotNull(x)
		}
	}
}

func (v *nullness) pad(n plan.Node) {
	v.padded.AddAll(n.Produces(nil))
}

// notNull holds for an expression above everything that was visited so far.
func (v *nullness) notNull(e plan.Expr) bool {
	set := plan.Refs(e)
	for id := range set.All {
		if !v.s.cols.Get(id).NotNull || v.padded.Has(id) {
			set.Remove(id)
		}
	}
	return plan.NotNullExpr(e, &set)
}

// markNotNull: only a mark join with a single key and nothing else tells NULL from false.
func (v *nullness) markNotNull(x *plan.Join) bool {
	if len(x.LKeys) != 1 || len(x.On) > 0 || x.NullSafe != nil {
		return true
	}
	return v.notNull(x.LKeys[0]) && v.notNull(x.RKeys[0])
}
