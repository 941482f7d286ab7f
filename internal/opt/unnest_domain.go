package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// domain is the distinct values of the outer columns that a subquery refers to. Joined into the
// subquery, it makes it independent of the outer query: the subquery then computes its
// result for all values at once, with the values beside.
type domain struct {
	s     *state
	left  plan.Node    // where the values come from; cloned for each use
	outer []plan.ColID // the columns
	set   plan.ColSet
	pos   int
	// work are the recursions around, by number, with the place of the domain's first column among their columns: the rows of a
	// round know their values.
	work map[int]int
}

// joinDomain replaces the right side of a dependent join by its result for the whole domain,
// joined back on the outer columns. NULLs in them are values like any other.
func (s *state) joinDomain(j *plan.Join, guard plan.Expr, free *plan.ColSet, pos int) plan.Node {
	d := &domain{s: s, left: under(j.Left, guard), outer: free.Slice(), set: *free, pos: pos}
	r, cur := d.spread(j.Right)
	j.Right = r
	s.pad(j.Kind, r)
	for i, id := range d.outer {
		j.On = append(j.On[:len(j.On):len(j.On)], plan.Compare(plan.NotDistinct, s.ref(id), s.ref(cur[i])))
	}
	return j
}

// groupDomain groups by the domain as well, for a grouping without keys whose missing groups the caller
// takes care of. It returns the conditions by which left rows find their group.
func (s *state) groupDomain(left plan.Node, g *plan.Group, free *plan.ColSet, pos int) (*plan.Group, []plan.Expr) {
	d := &domain{s: s, left: left, outer: free.Slice(), set: *free, pos: pos}
	out := d.addKeys(g)
	on := make([]plan.Expr, len(out))
	for i, id := range d.outer {
		on[i] = plan.Compare(plan.NotDistinct, s.ref(id), s.ref(out[i]))
	}
	return g, on
}

// relation makes a copy of the domain and says which columns hold the values.
func (d *domain) relation() (plan.Node, []plan.ColID) {
	in, names := plan.CloneNode(d.s.cols, d.left)
	g := &plan.Group{Input: in}
	for _, id := range d.outer {
		g.Keys = append(g.Keys, d.s.ref(names.Get(id)))
		g.KeyCols = append(g.KeyCols, d.s.copyCol(id))
	}
	return g, slices.Clone(g.KeyCols)
}

// rewrite replaces references to outer columns by the columns that hold them here.
func (d *domain) rewrite(n plan.Node, cur []plan.ColID) {
	plan.MapNodeExprs(n, func(e plan.Expr) plan.Expr {
		return plan.Substitute(e, func(id plan.ColID) plan.Expr {
			if i := slices.Index(d.outer, id); i >= 0 {
				return d.s.ref(cur[i])
			}
			return nil
		})
	})
}

func (d *domain) needs(n plan.Node) bool {
	free := plan.FreeRefs(n)
	if free.Intersects(&d.set) {
		return true
	}
	found := false
	if len(d.work) > 0 {
		plan.WalkNode(n, func(n plan.Node) bool {
			if w, ok := n.(*plan.WorkScan); ok {
				_, around := d.work[w.Number]
				found = found || around
			}
			return !found
		})
	}
	return found
}

// spread returns n's rows for every value of the domain, with columns that hold the value.
func (d *domain) spread(n plan.Node) (plan.Node, []plan.ColID) {
	if !d.needs(n) {
		r, cur := d.relation()
		return &plan.Join{Kind: plan.Inner, Left: n, Right: r}, cur
	}
	switch x := n.(type) {
	case *plan.Filter:
		in, cur := d.spread(x.Input)
		x.Input = in
		d.rewrite(x, cur)
		return x, cur
	case *plan.Repeat:
		in, cur := d.spread(x.Input)
		x.Input = in
		d.rewrite(x, cur)
		return x, cur
	case *plan.Project:
		in, cur := d.spread(x.Input)
		x.Input = in
		d.rewrite(x, cur)
		x.Keep = slices.Concat(x.Keep, cur)
		return x, cur
	case *plan.Group:
		return d.group(x)
	case *plan.Window:
		// Rows of different values must not see each other.
		in, cur := d.spread(x.Input)
		x.Input = in
		for i := range x.Specs {
			x.Specs[i].Partition = slices.Concat(cur, x.Specs[i].Partition)
		}
		return x, cur
	case *plan.Join:
		return d.join(x)
	case *plan.Sort:
		in, cur := d.spread(x.Input)
		return d.s.limitEach(x, in, cur), cur
	case *plan.SetOp:
		for i, a := range x.Args {
			in, cur := d.spread(a)
			x.Args[i] = in
			x.InCols[i] = slices.Concat(x.InCols[i], cur)
		}
		out := d.copies()
		x.Cols = slices.Concat(x.Cols, out)
		return x, out
	case *plan.Recursive:
		return d.recursive(x)
	case *plan.WorkScan:
		cur := d.copies()
		for i, id := range cur {
			x.Cols, x.Ordinal = append(x.Cols[:len(x.Cols):len(x.Cols)], id), append(x.Ordinal[:len(x.Ordinal):len(x.Ordinal)], d.work[x.Number]+i)
		}
		return x, cur
	case *plan.Scan:
		preds := x.Filter
		x.Filter = nil
		return d.spread(&plan.Filter{Input: x, Preds: preds})
	}
	panic(diag.Internalf("opt unnest", "correlated %T", n))
}

// recursive runs a recursion for all values at once: its rows have the value beside them.
func (d *domain) recursive(x *plan.Recursive) (plan.Node, []plan.ColID) {
	init, cur := d.spread(x.Init)
	x.Init, x.InCols[0] = init, slices.Concat(x.InCols[0], cur)
	if d.work == nil {
		d.work = map[int]int{}
	}
	d.work[x.Number] = len(x.Cols)
	step, cur := d.spread(x.Step)
	delete(d.work, x.Number)
	x.Step, x.InCols[1] = step, slices.Concat(x.InCols[1], cur)
	out := d.copies()
	x.Cols = slices.Concat(x.Cols, out)
	return x, out
}

// copies are columns like those of the domain.
func (d *domain) copies() []plan.ColID {
	out := make([]plan.ColID, len(d.outer))
	for i, id := range d.outer {
		out[i] = d.s.copyCol(id)
	}
	return out
}

// addKeys evaluates a grouping for the whole domain and returns its columns among the keys.
func (d *domain) addKeys(x *plan.Group) []plan.ColID {
	in, cur := d.spread(x.Input)
	x.Input = in
	d.rewrite(x, cur)
	out := make([]plan.ColID, len(cur))
	for i, id := range cur {
		out[i] = d.s.copyCol(id)
		x.Keys = append(x.Keys[:len(x.Keys):len(x.Keys)], d.s.ref(id))
		x.KeyCols = append(x.KeyCols[:len(x.KeyCols):len(x.KeyCols)], out[i])
	}
	return out
}

// group groups by the domain's columns too. Without other keys, every value has a row, even if there
// is nothing to aggregate: the domain is joined once more, and counts become zero.
func (d *domain) group(x *plan.Group) (plan.Node, []plan.ColID) {
	s := d.s
	single := len(x.Keys) == 0
	out := d.addKeys(x)
	if !single {
		return x, out
	}
	r, vals := d.relation()
	j := &plan.Join{Kind: plan.Left, Left: r, Right: x}
	p := &plan.Project{Input: j, Keep: slices.Clone(vals)}
	for i := range x.Aggs {
		a := &x.Aggs[i]
		if a.Func != plan.Count && a.Func != plan.CountStar {
			p.Keep = append(p.Keep, a.Col)
			continue
		}
		n := s.cols.New(s.cols.Get(a.Col).Name, types.TInt64, false)
		p.Cols = append(p.Cols, a.Col)
		a.Col = n
		p.Exprs = append(p.Exprs, s.countOrZero(n))
	}
	s.pad(plan.Left, x)
	for i := range vals {
		j.On = append(j.On, plan.Compare(plan.NotDistinct, s.ref(vals[i]), s.ref(out[i])))
	}
	return p, vals
}

func (d *domain) join(x *plan.Join) (plan.Node, []plan.ColID) {
	s := d.s
	right := d.needs(x.Right)
	if right {
		x.AtMostOne = false // one match for each value of the domain
	}
	if x.Kind == plan.Inner && right && !d.needs(x.Left) {
		r, cur := d.spread(x.Right)
		x.Right = r
		d.rewrite(x, cur)
		return x, cur
	}
	if !right && x.Kind != plan.Full {
		l, cur := d.spread(x.Left)
		x.Left = l
		d.rewrite(x, cur)
		return x, cur
	}
	l, cl := d.spread(x.Left)
	r, cr := d.spread(x.Right)
	x.Left, x.Right = l, r
	d.rewrite(x, cl)
	s.pad(x.Kind, r)
	for i := range cl {
		x.On = append(x.On[:len(x.On):len(x.On)], plan.Compare(plan.NotDistinct, s.ref(cl[i]), s.ref(cr[i])))
	}
	if x.Kind != plan.Full {
		return x, cl
	}
	// A row without a partner has the value on one side only. (A NULL on both is a NULL.)
	s.pad(plan.Full, l)
	p := &plan.Project{Input: x}
	have := plan.Produced(x)
	for _, id := range slices.Concat(cl, cr) {
		have.Remove(id)
	}
	p.Keep = have.Slice()
	for i := range cl {
		e := plan.NewCall(plan.Coalesce, s.cols.Get(cl[i]).Type, s.ref(cl[i]), s.ref(cr[i]))
		p.Exprs = append(p.Exprs, e)
		p.Cols = append(p.Cols, s.newCol(s.cols.Get(cl[i]).Name, e))
	}
	return p, p.Cols
}
