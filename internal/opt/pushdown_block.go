package opt

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// block is a set of relations connected by inner joins: their order is free, and
// predicates belong to the block, not to a join.
type block struct {
	leaves []plan.Node
	made   []plan.ColSet // what each leaf produces
	preds  []plan.Expr
	// Projections between the joins; they are computed above the block.
	exprs []plan.Expr
	cols  []plan.ColID
}

// pushBlock distributes predicates over the inner joins rooted at x.
func (s *state) pushBlock(x *plan.Join, preds []plan.Expr) plan.Node {
	b := &block{preds: slices.Clone(preds)}
	s.collect(b, x)
	s.absorbOuter(b)
	if len(b.cols) > 0 {
		// Inner projections come last in exprs; write everything in columns of the leaves.
		for i := len(b.exprs) - 1; i >= 0; i-- {
			b.exprs[i] = b.inline(b.exprs[i])
		}
		for i, p := range b.preds {
			b.preds[i] = s.foldExpr(b.inline(p))
		}
	}
	b.preds = s.conjunction(b.preds)
	if len(b.preds) == 1 && plan.IsFalseConst(b.preds[0]) {
		return empty(x)
	}
	for i := range b.leaves {
		b.made[i] = plan.Produced(b.leaves[i])
	}
	b.preds = append(b.preds, s.transitive(b)...)
	b.preds = append(b.preds, s.deriveFromOrs(b)...)

	perLeaf := make([]plan.ExprList, len(b.leaves))
	var joins []plan.Expr
	for _, p := range b.preds {
		if at := b.leafOf(p); at < 0 {
			joins = append(joins, p)
		} else {
			perLeaf[at].Add(p)
		}
	}
	for i, l := range b.leaves {
		b.leaves[i] = s.push(l, perLeaf[i].Exprs)
		if isEmpty(b.leaves[i]) {
			return empty(x)
		}
	}
	n := s.leftDeep(b, joins)
	if len(b.cols) > 0 {
		n = &plan.Project{Input: n, Keep: n.Produces(nil), Exprs: b.exprs, Cols: b.cols}
	}
	return n
}

// collect gathers the leaves and predicates of a block. Projections over joins would cut it in two;
// they move above.
func (s *state) collect(b *block, n plan.Node) {
	switch x := n.(type) {
	case *plan.Join:
		s.strengthen(x, b.preds)
		if x.Kind == plan.Inner {
			b.addJoinPreds(x)
			s.collect(b, x.Left)
			s.collect(b, x.Right)
			return
		}
	case *plan.Filter:
		b.preds = append(b.preds, x.Preds...)
		s.collect(b, x.Input)
		return
	case *plan.Project:
		if overInnerJoin(x.Input) {
			b.exprs = append(b.exprs, x.Exprs...)
			b.cols = append(b.cols, x.Cols...)
			s.collect(b, x.Input)
			return
		}
	}
	b.leaves = append(b.leaves, n)
	b.made = append(b.made, plan.Produced(n))
}

// addJoinPreds turns a join's condition into predicates of the block.
func (b *block) addJoinPreds(x *plan.Join) {
	b.preds = append(b.preds, x.On...)
	for i := range x.LKeys {
		op := plan.Eq
		if x.NullSafe != nil && x.NullSafe[i] {
			op = plan.NotDistinct
		}
		b.preds = append(b.preds, plan.Compare(op, x.LKeys[i], x.RKeys[i]))
	}
}

func overInnerJoin(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Join:
		return x.Kind == plan.Inner
	case *plan.Filter:
		return overInnerJoin(x.Input)
	case *plan.Project:
		return overInnerJoin(x.Input)
	}
	return false
}

// absorbOuter strengthens outer joins among the leaves that a predicate of the block
// rejects, and takes them into the block.
func (s *state) absorbOuter(b *block) {
	for again := true; again; {
		again = false
		for i, l := range b.leaves {
			x, ok := l.(*plan.Join)
			if !ok || x.Kind != plan.Left && x.Kind != plan.Full && x.Kind != plan.Single {
				continue
			}
			if s.strengthen(x, b.preds); x.Kind == plan.Inner {
				b.leaves = slices.Delete(b.leaves, i, i+1)
				b.made = slices.Delete(b.made, i, i+1)
				s.collect(b, x)
				again = true
				break
			}
		}
	}
}

// inline writes an expression in columns of the leaves.
func (b *block) inline(e plan.Expr) plan.Expr {
	for {
		changed := false
		e = plan.Substitute(e, func(id plan.ColID) plan.Expr {
			if i := slices.Index(b.cols, id); i >= 0 {
				changed = true
				return b.exprs[i]
			}
			return nil
		})
		if !changed {
			return e
		}
	}
}

// leafOf is the leaf that produces all columns of p, -1 if there is none.
func (b *block) leafOf(p plan.Expr) int {
	refs := plan.Refs(p)
	if refs.Empty() {
		return 0
	}
	for i := range b.made {
		if refs.SubsetOf(&b.made[i]) {
			return i
		}
	}
	return -1
}

// leftDeep joins the leaves in their order, except that a leaf without a connection waits until one
// has come. The join order pass starts from this; it is also the plan when that is off.
func (s *state) leftDeep(b *block, preds []plan.Expr) plan.Node {
	n := b.leaves[0]
	have := b.made[0]
	done := make([]bool, len(b.leaves))
	refs := make([]plan.ColSet, len(preds))
	for i, p := range preds {
		refs[i] = plan.Refs(p)
	}
	for range len(b.leaves) - 1 {
		next := -1
		for i := 1; i < len(b.leaves); i++ {
			if done[i] {
				continue
			}
			if next < 0 {
				next = i
			}
			if connected(refs, &have, &b.made[i]) {
				next = i
				break
			}
		}
		done[next] = true
		j := &plan.Join{Kind: plan.Inner, Left: n, Right: b.leaves[next]}
		left := have
		have.Union(b.made[next])
		kept := 0
		for i, p := range preds { // those that are left
			if refs[i].SubsetOf(&have) {
				j.On = append(j.On, p)
				continue
			}
			preds[kept], refs[kept] = p, refs[i]
			kept++
		}
		preds, refs = preds[:kept], refs[:kept]
		s.takeKeys(j, &left, &b.made[next])
		n = j
	}
	return n
}

// connected reports a predicate, by the columns that it reads, between two sets of columns.
func connected(preds []plan.ColSet, a, b *plan.ColSet) bool {
	for i := range preds {
		if p := &preds[i]; p.Intersects(b) && p.Intersects(a) {
			rest := *p
			rest.Minus(*a)
			if rest.SubsetOf(b) {
				return true
			}
		}
	}
	return false
}
