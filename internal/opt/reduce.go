package opt

import (
	"cmp"
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// A reducer pays when it drops many rows of a scan that is not tiny.
const (
	reduceBelow   = 0.5  // share of the key's values that the hash table keeps
	reduceMinRows = 1000 // rows of the scan
	reducePerScan = 3
)

// reduce lets hash tables filter scans that run after they are built: a row whose key is not in the
// table cannot reach the result. It follows keys from joins down to scans, also to scans on the
// build side of other joins of the same block whose keys are equal to them, as long as no two hash
// tables wait for each other.
func (s *state) reduce() {
	s.roots(func(n plan.Node) plan.Node {
		r := reducer{s: s}
		r.number(n)
		if len(r.joins) > 0 && len(r.joins) <= 64 {
			r.closeDeps()
			r.walk(n)
			r.choose()
		}
		return n
	})
}

// reducer works on one tree.
type reducer struct {
	s       *state
	joins   []*plan.Join
	origins map[columnOf]origin
	// deps[i] has bit k set when join i's hash table cannot be finished before join k's.
	deps  []uint64
	scans []scanSite
	found []reduction
}

// scanSite is a scan and the joins whose build sides it is part of.
type scanSite struct {
	scan *plan.Scan
	in   uint64
}

// reduction is a reducer that would be correct.
type reduction struct {
	join, key int
	scan      int
	col       plan.ColID
	keeps     float64 // share of values
}

func buildSide(j *plan.Join) plan.Node {
	if j.BuildLeft {
		return j.Left
	}
	return j.Right
}

func buildKeys(j *plan.Join) []plan.Expr {
	if j.BuildLeft {
		return j.LKeys
	}
	return j.RKeys
}

func probeKeys(j *plan.Join) []plan.Expr {
	if j.BuildLeft {
		return j.RKeys
	}
	return j.LKeys
}

// number lists joins and scans with what they wait for.
func (r *reducer) number(n plan.Node) { r.numberIn(n, 0) }

func (r *reducer) numberIn(n plan.Node, in uint64) {
	switch x := n.(type) {
	case *plan.Scan:
		r.scans = append(r.scans, scanSite{x, in})
	case *plan.Join:
		i := len(r.joins)
		r.joins = append(r.joins, x)
		r.deps = append(r.deps, 0)
		if i >= 64 {
			return
		}
		for k := range i {
			if in>>k&1 != 0 {
				r.deps[k] |= 1 << i // its pipeline probes this table
			}
		}
		build := buildSide(x)
		for _, m := range x.Inputs() {
			if m == build {
				r.numberIn(m, in|1<<i)
			} else {
				r.numberIn(m, in)
			}
		}
	default:
		for _, m := range n.Inputs() {
			r.numberIn(m, in)
		}
	}
}

// closeDeps makes the dependencies transitive.
func (r *reducer) closeDeps() {
	for again := true; again; {
		again = false
		for i := range r.deps {
			d := r.deps[i]
			for m := d; m != 0; m &= m - 1 {
				d |= r.deps[trailing(m)]
			}
			if d != r.deps[i] {
				r.deps[i] = d
				again = true
			}
		}
	}
}

// walk looks at each block of inner joins.
func (r *reducer) walk(n plan.Node) {
	if j, ok := n.(*plan.Join); ok {
		r.block(j)
		return
	}
	for _, m := range n.Inputs() {
		r.walk(m)
	}
}

// block finds the reductions of the joins at and below a join that filter each other's rows: inner
// joins, and the left sides of the other kinds.
func (r *reducer) block(top *plan.Join) {
	var cl classes
	var sources []*plan.Join
	var collect func(n plan.Node)
	collect = func(n plan.Node) {
		switch x := n.(type) {
		case *plan.Filter:
			collect(x.Input)
			return
		case *plan.Join:
			switch x.Kind {
			case plan.Inner:
				for i := range x.LKeys {
					a, ok1 := x.LKeys[i].(*plan.Ref)
					b, ok2 := x.RKeys[i].(*plan.Ref)
					if ok1 && ok2 && (x.NullSafe == nil || !x.NullSafe[i]) {
						cl.equate(a, b)
					}
				}
				sources = append(sources, x)
				collect(x.Left)
				collect(x.Right)
				return
			case plan.Semi:
				sources = append(sources, x)
				collect(x.Left)
				r.walk(x.Right)
				return
			case plan.Anti, plan.Left, plan.Mark, plan.Single:
				sources = append(sources, x)
				collect(x.Left)
				r.walk(x.Right)
				return
			}
		}
		r.walk(n)
	}
	if top.Kind == plan.Full {
		r.walk(top.Left)
		r.walk(top.Right)
		return
	}
	collect(top)
	for _, j := range sources {
		r.source(j, top, &cl)
	}
}

// source finds what one join's hash table can reduce.
func (r *reducer) source(j, top *plan.Join, cl *classes) {
	probe := probeKeys(j)
	for i := range probe {
		if j.NullSafe != nil && j.NullSafe[i] {
			continue
		}
		p, ok := probe[i].(*plan.Ref)
		if !ok {
			continue
		}
		switch {
		case j.Kind == plan.Inner || j.Kind == plan.Semi && !j.BuildLeft:
			// Every row of the block's result has a key of the table, in all columns equal to it.
			r.try(j, i, top, p.ID)
			if k := cl.find(p.ID); k >= 0 {
				for _, m := range cl.members[k] {
					if m.ID != p.ID {
						r.try(j, i, top, m.ID)
					}
				}
			}
		case j.BuildLeft && (j.Kind == plan.Semi || j.Kind == plan.Anti || j.Kind == plan.Left):
			// The right side is only looked at for matches.
			r.try(j, i, j.Right, p.ID)
		}
	}
}

// try notes a reduction of the scan from which a column of n comes, if it is allowed and pays.
func (r *reducer) try(j *plan.Join, key int, n plan.Node, col plan.ColID) {
	from := r.origin(n, col)
	ji := slices.Index(r.joins, j)
	if from.site < 0 || r.scans[from.site].in>>ji&1 != 0 {
		return
	}
	if keeps := r.keeps(j, key, from.col); keeps < reduceBelow {
		r.found = append(r.found, reduction{ji, key, from.site, from.col, keeps})
	}
}

// origin is where a column of a node comes from: a scan that is worth reducing, by its number, or -1.
type origin struct {
	site int
	col  plan.ColID
}

type columnOf struct {
	node plan.Node
	col  plan.ColID
}

// origin traces a column, once: many joins may ask for columns that are equal to theirs.
func (r *reducer) origin(n plan.Node, col plan.ColID) origin {
	o, known := r.origins[columnOf{n, col}]
	if known {
		return o
	}
	scan, at := r.trace(n, col)
	o = origin{-1, at}
	if scan != nil && (scan.Snap == nil || scan.Snap.Rows >= reduceMinRows) {
		o.site = slices.IndexFunc(r.scans, func(x scanSite) bool { return x.scan == scan })
	}
	if r.origins == nil {
		r.origins = map[columnOf]origin{}
	}
	r.origins[columnOf{n, col}] = o
	return o
}

// keeps estimates the share of a column's values that are in a join's hash table.
func (r *reducer) keeps(j *plan.Join, key int, col plan.ColID) float64 {
	rows := buildSide(j).Props().Rows
	b := r.s.exprStat(buildKeys(j)[key], math.Inf(1))
	have := distinctIn(b.dom, rows)
	c := r.s.stat(col)
	return have / math.Max(c.dom, 1)
}

// trace follows a column down to the scan that reads it, through operators that drop or keep
// rows by themselves: removing rows with other values below does not change those that
// remain.
func (r *reducer) trace(n plan.Node, col plan.ColID) (*plan.Scan, plan.ColID) {
	switch x := n.(type) {
	case *plan.Scan:
		if slices.Contains(x.Cols, col) {
			return x, col
		}
	case *plan.Filter:
		return r.trace(x.Input, col)
	case *plan.Project:
		if slices.Contains(x.Keep, col) {
			return r.trace(x.Input, col)
		}
		if i := slices.Index(x.Cols, col); i >= 0 {
			if ref, ok := x.Exprs[i].(*plan.Ref); ok {
				return r.trace(x.Input, ref.ID)
			}
		}
	case *plan.Group:
		if i := slices.Index(x.KeyCols, col); i >= 0 {
			if ref, ok := x.Keys[i].(*plan.Ref); ok {
				return r.trace(x.Input, ref.ID)
			}
		}
	case *plan.Repeat:
		return r.trace(x.Input, col)
	case *plan.Sort:
		if x.Limit < 0 && x.Offset == 0 {
			return r.trace(x.Input, col)
		}
	case *plan.Window:
		if by := x.PartitionedBy(); by.Has(col) { // whole partitions disappear
			return r.trace(x.Input, col)
		}
	case *plan.Join:
		if x.Kind == plan.Full {
			return nil, 0
		}
		if scan, c := r.trace(x.Left, col); scan != nil {
			return scan, c
		}
		if x.Kind == plan.Inner {
			return r.trace(x.Right, col)
		}
	}
	return nil, 0
}

// choose takes the reductions that keep least first, and leaves those out that would make hash tables
// wait for each other.
func (r *reducer) choose() {
	slices.SortStableFunc(r.found, func(a, b reduction) int { return cmp.Compare(a.keeps, b.keeps) })
	for _, f := range r.found {
		site := &r.scans[f.scan]
		waits := r.deps[f.join] | 1<<f.join
		if site.in&waits != 0 || len(site.scan.Reduce) >= reducePerScan {
			continue
		}
		j := r.joins[f.join]
		red := plan.Reducer{Join: j, Key: f.key, Col: f.col}
		if slices.ContainsFunc(site.scan.Reduce, func(o plan.Reducer) bool { return r.related(o, red) }) {
			continue
		}
		site.scan.Reduce = append(site.scan.Reduce, red)
		for m := site.in; m != 0; m &= m - 1 {
			r.deps[trailing(m)] |= waits
		}
		r.closeDeps()
	}
}

// related reports that two reducers of one column say nearly the same: one join is part of the other's
// build side, so the keys of one are among those of the other.
func (r *reducer) related(a, b plan.Reducer) bool {
	if a.Col != b.Col {
		return false
	}
	i, k := slices.Index(r.joins, a.Join), slices.Index(r.joins, b.Join)
	return i == k || r.deps[i]>>k&1 != 0 || r.deps[k]>>i&1 != 0
}
