package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// prune removes columns, expressions, aggregates and whole joins that nobody reads, from the
// root down. Shared plans come after all their readers.
func (s *state) prune() {
	p := pruner{s: s, shared: make([]plan.ColSet, len(s.q.Shared))}
	s.q.Root = p.node(s.q.Root, plan.MakeColSet(s.q.Output...))
	for _, i := range s.sharedOrder() {
		sh := s.q.Shared[i]
		keep := sh.Cols[:0:0]
		for _, id := range sh.Cols {
			if p.shared[i].Has(id) {
				keep = append(keep, id)
			}
		}
		sh.Cols = keep
		sh.Plan = p.node(sh.Plan, p.shared[i])
	}
}

// sharedOrder lists the shared plans so that each comes after those that read it.
func (s *state) sharedOrder() []int {
	readers := make([]int, len(s.q.Shared)) // shared plans that read it and are not listed yet
	reads := make([][]int, len(s.q.Shared))
	for i, sh := range s.q.Shared {
		if sh == nil {
			continue
		}
		plan.WalkNode(sh.Plan, func(n plan.Node) bool {
			if x, ok := n.(*plan.SharedScan); ok {
				reads[i] = append(reads[i], x.Index)
				readers[x.Index]++
			}
			return true
		})
	}
	var order []int
	for i := range s.q.Shared {
		if readers[i] == 0 && s.q.Shared[i] != nil {
			order = append(order, i)
		}
	}
	for k := 0; k < len(order); k++ {
		for _, j := range reads[order[k]] {
			if readers[j]--; readers[j] == 0 {
				order = append(order, j)
			}
		}
	}
	return order
}

type pruner struct {
	s      *state
	shared []plan.ColSet // what is read of each shared plan
}

// node prunes a subtree of which the columns in need are read.
func (p *pruner) node(n plan.Node, need plan.ColSet) plan.Node {
	switch x := n.(type) {
	case *plan.Scan:
		for _, e := range x.Filter {
			plan.AddRefs(&need, e)
		}
		keepCols(&x.Cols, &need, func(i, at int) { x.Ordinal[at] = x.Ordinal[i] })
		x.Ordinal = x.Ordinal[:len(x.Cols)]
	case *plan.Values:
		keepCols(&x.Cols, &need, func(i, at int) {
			for _, r := range x.Rows {
				r[at] = r[i]
			}
		})
		for k := range x.Rows {
			x.Rows[k] = x.Rows[k][:len(x.Cols)]
		}
	case *plan.SharedScan:
		keepCols(&x.Cols, &need, func(i, at int) { x.Source[at] = x.Source[i] })
		x.Source = x.Source[:len(x.Cols)]
		p.shared[x.Index].AddAll(x.Source)
	case *plan.Filter:
		if p.antiJoin(x, &need) {
			return p.node(filter(x.Input, x.Preds), need)
		}
		for _, e := range x.Preds {
			plan.AddRefs(&need, e)
		}
		x.Input = p.node(x.Input, need)
	case *plan.Project:
		return p.project(x, need)
	case *plan.Join:
		return p.join(x, need)
	case *plan.Group:
		p.group(x, need)
	case *plan.SetOp:
		p.setOp(x, need)
	case *plan.Recursive: // each round may read all columns
		x.Init = p.node(x.Init, plan.MakeColSet(x.InCols[0]...))
		x.Step = p.node(x.Step, plan.MakeColSet(x.InCols[1]...))
	case *plan.WorkScan:
		keepCols(&x.Cols, &need, func(i, at int) { x.Ordinal[at] = x.Ordinal[i] })
		x.Ordinal = x.Ordinal[:len(x.Cols)]
	case *plan.Repeat:
		need.Remove(x.Col)
		plan.AddRefs(&need, x.Count)
		x.Input = p.node(x.Input, need)
	case *plan.Sort:
		for _, k := range x.Keys {
			need.Add(k.Col)
		}
		x.Input = p.node(x.Input, need)
	case *plan.Window:
		funcs := x.Funcs[:0:0]
		for _, f := range x.Funcs {
			if need.Has(f.Col) {
				funcs = append(funcs, f)
			}
			need.Remove(f.Col)
		}
		if len(funcs) == 0 {
			return p.node(x.Input, need)
		}
		x.Funcs = funcs
		x.DropSpecs()
		need.Union(x.Reads())
		x.Input = p.node(x.Input, need)
	}
	return n
}

// keepCols removes the columns that are not needed; move is told where each kept one goes.
func keepCols(cols *[]plan.ColID, need *plan.ColSet, move func(i, at int)) {
	at := 0
	for i, id := range *cols {
		if need.Has(id) {
			(*cols)[at] = id
			if i != at {
				move(i, at)
			}
			at++
		}
	}
	*cols = (*cols)[:at]
}

func (p *pruner) project(x *plan.Project, need plan.ColSet) plan.Node {
	x.Exprs, x.Cols = slices.Clone(x.Exprs), slices.Clone(x.Cols)
	keepCols(&x.Cols, &need, func(i, at int) { x.Exprs[at] = x.Exprs[i] })
	x.Exprs = x.Exprs[:len(x.Cols)]
	keep := x.Keep[:0:0]
	for _, id := range x.Keep {
		if need.Has(id) {
			keep = append(keep, id)
		}
	}
	x.Keep = keep
	below := plan.MakeColSet(keep...)
	for _, e := range x.Exprs {
		plan.AddRefs(&below, e)
	}
	x.Input = p.node(x.Input, below)
	if len(x.Exprs) == 0 {
		return x.Input // it only hid columns
	}
	return x
}

func (p *pruner) join(x *plan.Join, need plan.ColSet) plan.Node {
	right := plan.Produced(x.Right)
	switch x.Kind {
	case plan.Mark:
		if !need.Has(x.MarkCol) {
			return p.node(x.Left, need)
		}
	case plan.Left:
		// A join that can neither add nor remove rows serves only its columns.
		if !need.Intersects(&right) {
			if _, rk := p.s.keyCols(x); x.AtMostOne || p.s.uniqueOn(x.Right, rk, x.NullSafe != nil) {
				return p.node(x.Left, need)
			}
		}
	}
	for _, list := range [...][]plan.Expr{x.LKeys, x.RKeys, x.On} {
		for _, e := range list {
			plan.AddRefs(&need, e)
		}
	}
	left := plan.Produced(x.Left)
	left.Intersect(need)
	right.Intersect(need)
	x.Left = p.node(x.Left, left)
	x.Right = p.node(x.Right, right)
	return x
}

// antiJoin recognizes LEFT JOIN … WHERE right.x IS NULL, where x cannot be NULL in a match, and nothing
// else is read of the right side: rows without a match are wanted.
func (p *pruner) antiJoin(f *plan.Filter, need *plan.ColSet) bool {
	j, ok := f.Input.(*plan.Join)
	if !ok || j.Kind != plan.Left {
		return false
	}
	right := plan.Produced(j.Right)
	if need.Intersects(&right) {
		return false
	}
	at := -1
	for i, e := range f.Preds {
		if !uses(e, &right) {
			continue
		}
		x, ok := e.(*plan.Call)
		if !ok || x.Op != plan.IsNull || at >= 0 {
			return false
		}
		r, ok := x.Args[0].(*plan.Ref)
		if !ok || !p.neverNullInMatch(j, r.ID) {
			return false
		}
		at = i
	}
	if at < 0 {
		return false
	}
	j.Kind = plan.Anti
	f.Preds = slices.Delete(slices.Clone(f.Preds), at, at+1)
	return true
}

func (p *pruner) neverNullInMatch(j *plan.Join, id plan.ColID) bool {
	for i, k := range j.RKeys {
		if isColumn(k, id) && (j.NullSafe == nil || !j.NullSafe[i]) {
			return true
		}
	}
	set := plan.NotNullCols(p.s.q, j.Right)
	return set.Has(id)
}

func (p *pruner) group(x *plan.Group, need plan.ColSet) {
	aggs := x.Aggs[:0:0]
	var below plan.ColSet
	for _, k := range x.Keys {
		plan.AddRefs(&below, k)
	}
	for _, a := range x.Aggs {
		if !need.Has(a.Col) {
			continue
		}
		aggs = append(aggs, a)
		a.EachExpr(func(e plan.Expr) { plan.AddRefs(&below, e) })
	}
	x.Aggs = aggs
	x.Input = p.node(x.Input, below)
}

func (p *pruner) setOp(x *plan.SetOp, need plan.ColSet) {
	keepCols(&x.Cols, &need, func(i, at int) {
		for k := range x.InCols {
			x.InCols[k][at] = x.InCols[k][i]
		}
	})
	for k := range x.InCols {
		x.InCols[k] = x.InCols[k][:len(x.Cols)]
	}
	for i, a := range x.Args {
		x.Args[i] = p.node(a, plan.MakeColSet(x.InCols[i]...))
	}
}
