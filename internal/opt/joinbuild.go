package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
)

// builder turns a join tree into operators.
type builder struct {
	g    *graph
	used []bool // predicates that are placed
}

func (b *builder) build(t tree, at int) plan.Node {
	st := &t[at]
	if st.left < 0 {
		return b.filtered(b.g.rels[st.rel].node, st.set)
	}
	left, right := &t[st.left], &t[st.right]
	if i := right.set.only(); i >= 0 && b.g.rels[i].op != nil {
		return b.operator(t, st, &b.g.rels[i], left, i)
	}
	j := &plan.Join{Kind: plan.Inner, Left: b.build(t, st.left), Right: b.build(t, st.right)}
	for i := range b.g.classes {
		c := &b.g.classes[i]
		if !c.mask.overlaps(left.set) || !c.mask.overlaps(right.set) {
			continue
		}
		l, r := c.pick(left.set), c.pick(right.set)
		b.g.s.addKey(j, l, r, false)
	}
	j.On = b.ready(st.set)
	l, r := plan.Produced(j.Left), plan.Produced(j.Right)
	b.g.s.takeKeys(j, &l, &r)
	j.Props_.Rows = st.rows
	return j
}

// pick is the column by which a set takes part in a class: the one with the smallest domain, which
// is where a filter has been.
func (c *eqClass) pick(set relSet) *plan.Ref {
	var m *classMember
	for i := range c.members {
		if k := &c.members[i]; set.has(k.rel) && (m == nil || k.dom < m.dom) {
			m = k
		}
	}
	return m.ref
}

// ready lists the predicates that a set has all columns for and that are not placed yet.
func (b *builder) ready(set relSet) []plan.Expr {
	var out []plan.Expr
	for i := range b.g.preds {
		if p := &b.g.preds[i]; !b.used[i] && p.mask.within(set) {
			b.used[i] = true
			out = append(out, p.e)
		}
	}
	return out
}

// filtered puts the predicates that are ready above a node that cannot take them as its condition.
func (b *builder) filtered(n plan.Node, set relSet) plan.Node {
	preds := b.ready(set)
	if len(preds) == 0 {
		return n
	}
	return &plan.Filter{Input: n, Preds: preds, Props_: plan.Props{Rows: n.Props().Rows}}
}

// operator applies a join that is not inner. Predicates and classes that involve its columns are
// conditions on its result, not on its matches.
func (b *builder) operator(t tree, st *step, r *relation, left *step, rel int) plan.Node {
	j := r.op
	j.Left = b.build(t, st.left)
	j.Right = r.node
	j.BuildLeft = st.buildLeft
	j.Props_.Rows = max(left.rows*r.factor, 1)
	var above []plan.Expr
	for i := range b.g.classes {
		c := &b.g.classes[i]
		if m := c.member(rel); m != nil && c.mask.overlaps(left.set) {
			above = append(above, plan.Compare(plan.Eq, c.pick(left.set), m.ref))
		}
	}
	above = append(above, b.ready(st.set)...)
	if len(above) == 0 {
		return j
	}
	return &plan.Filter{Input: j, Preds: above, Props_: plan.Props{Rows: st.rows}}
}
