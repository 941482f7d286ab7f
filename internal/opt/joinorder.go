package opt

import "github.com/kelpiedb/kelpie/internal/plan"

// maxExact is the largest number of relations that are ordered by dynamic programming, as long as that
// looks at no more than maxPairs pairs of sets: a star of 11 relations has 5120, but a clique, such as a chain of
// equalities on one column makes, has 3025 at 8 and 28501 at 10.
const (
	maxExact  = 12
	maxPairs  = 6000
	neverMany = 8 // relations that have no more pairs than that, however they are joined
)

// joinOrder orders the joins of each block, from the leaves of the query up, and decides which side
// of a join is hashed.
func (s *state) joinOrder() {
	for _, sh := range s.q.Shared {
		if sh != nil {
			sh.Plan = s.orderTree(sh.Plan)
			s.estimate(sh.Plan)
		}
	}
	s.q.Root = s.orderTree(s.q.Root)
	s.estimate(s.q.Root)
	s.mapNodes(func(n plan.Node) plan.Node {
		if x, ok := n.(*plan.Recursive); ok {
			hashOnce(x.Step)
		}
		return n
	})
}

// hashOnce has the sides of joins hashed that are the same in every round of a recursion.
func hashOnce(n plan.Node) {
	plan.WalkNode(n, func(n plan.Node) bool {
		if x, ok := n.(*plan.Join); ok && !x.Gate {
			switch {
			case plan.Works(x.Left):
				x.BuildLeft = false
			case x.Kind == plan.Inner && plan.Works(x.Right):
				x.BuildLeft = true
			}
		}
		return true
	})
}

func (s *state) orderTree(n plan.Node) plan.Node {
	switch x := n.(type) {
	case *plan.Join:
		if !apart(x) {
			return s.orderBlock(x)
		}
		x.Left, x.Right = s.orderTree(x.Left), s.orderTree(x.Right)
		s.estimate(x)
		x.BuildLeft = !x.Gate && x.Left.Props().Rows < x.Right.Props().Rows
		return x
	case *plan.Filter:
		if hasJoin(x.Input) {
			return s.orderBlock(x)
		}
	}
	plan.MapInputs(n, s.orderTree)
	return n
}

// hasJoin reports that a block starts below filters.
func hasJoin(n plan.Node) bool {
	switch x := n.(type) {
	case *plan.Join:
		return !apart(x)
	case *plan.Filter:
		return hasJoin(x.Input)
	}
	return false
}

// apart reports a join that is not reordered with others: a full join, and a gate, behind which its left side
// must stay.
func apart(x *plan.Join) bool { return x.Kind == plan.Full || x.Gate }

// relation is a node of the join graph: an input of inner joins, or the right side of
// a join of another kind, which is applied to any set of relations that has what it needs.
type relation struct {
	node plan.Node
	made plan.ColSet
	rows float64
	// width is how many columns it adds to a tuple, as far as known.
	width int
	op    *plan.Join // semi, anti, left, mark or single; nil for an ordinary relation
	req   relSet     // op: what its condition refers to
	// op: how it changes the number of rows on its left
	factor float64
}

// graph is a block as the enumeration sees it.
type graph struct {
	s       *state
	rels    []relation
	owners  []int32  // by column: the relation that produces it, and one; 0: none
	adj     []relSet // neighbours
	classes []eqClass
	preds   []joinPred
	pairs   []pairFix
	plain   relSet // relations that are not operators
}

// eqClass is a set of columns made equal by the block's predicates. A join of two sets
// compares one member of each.
type eqClass struct {
	members []classMember
	unique  []*classMember // those that are a key of their relation, that of the most rows first
	mask    relSet
}

type classMember struct {
	ref  *plan.Ref
	rel  int
	dom  float64
	rows float64 // of rel
	span float64 // of the values, as far as known
}

// joinPred is any other predicate on several relations.
type joinPred struct {
	e    plan.Expr
	mask relSet
	sel  float64
	equi bool
}

// pairFix corrects the assumption that several classes shared by two relations are independent.
type pairFix struct {
	mask   relSet
	factor float64
}

// orderBlock finds the best order of the joins at and below n.
func (s *state) orderBlock(n plan.Node) plan.Node {
	g := &graph{s: s}
	var preds []plan.Expr
	g.collect(n, &preds)
	if len(g.rels) > maxRels {
		return s.orderInputs(n)
	}
	g.findOwners()
	g.addPreds(s.conjunction(preds))
	if len(g.rels) == 1 {
		return g.rels[0].node
	}
	g.prepare()
	t := g.exact()
	if t == nil {
		t = g.greedy()
	}
	b := builder{g: g, used: make([]bool, len(g.preds))}
	return b.build(t, len(t)-1)
}

// orderInputs leaves a very large block as it is and only treats what it joins.
func (s *state) orderInputs(n plan.Node) plan.Node {
	switch x := n.(type) {
	case *plan.Join:
		x.Left, x.Right = s.orderInputs(x.Left), s.orderInputs(x.Right)
		return x
	case *plan.Filter:
		x.Input = s.orderInputs(x.Input)
		return x
	}
	return s.orderTree(n)
}

// collect gathers relations, operators and predicates of a block and returns the mask of what it
// found below n.
func (g *graph) collect(n plan.Node, preds *[]plan.Expr) relSet {
	switch x := n.(type) {
	case *plan.Filter:
		if hasJoin(x.Input) {
			*preds = append(*preds, x.Preds...)
			return g.collect(x.Input, preds)
		}
	case *plan.Join:
		switch {
		case apart(x):
		case x.Kind == plan.Inner:
			b := block{preds: *preds}
			b.addJoinPreds(x)
			*preds = b.preds
			left := g.collect(x.Left, preds)
			return left.or(g.collect(x.Right, preds))
		default:
			left := g.collect(x.Left, preds)
			return left.or(g.addOp(x, left))
		}
	}
	return g.addRel(relation{node: g.s.orderTree(n)})
}

func (g *graph) addRel(r relation) relSet {
	r.rows = g.s.estimate(r.node)
	r.made = plan.Produced(r.node)
	r.width = r.made.Len()
	g.rels = append(g.rels, r)
	return oneRel(len(g.rels) - 1)
}

// addOp takes a join of another kind into the graph: its right side is a relation that can be joined as
// soon as the columns of its condition are there. A scalar subquery that may fail waits for all
// rows to which the query applies it.
func (g *graph) addOp(x *plan.Join, left relSet) relSet {
	r := relation{node: g.s.orderTree(x.Right), op: x}
	var refs plan.ColSet
	for _, e := range x.LKeys {
		plan.AddRefs(&refs, e)
	}
	for _, e := range x.On {
		plan.AddRefs(&refs, e)
	}
	for i := range g.rels {
		if refs.Intersects(&g.rels[i].made) && left.has(i) {
			r.req = r.req.or(oneRel(i)).or(g.rels[i].req) // and what that needs itself
		}
	}
	if x.Kind == plan.Single && !x.AtMostOne || r.req.empty() {
		r.req = left
	}
	rows := g.s.estimate(r.node)
	const many = 1e9 // any number: the factor is what counts
	r.factor = g.s.joinRows(x, many, rows) / many
	bit := g.addRel(r)
	at := &g.rels[len(g.rels)-1]
	switch x.Kind {
	case plan.Semi, plan.Anti:
		at.made = plan.ColSet{}
	case plan.Mark:
		at.made = plan.MakeColSet(x.MarkCol)
	}
	return bit
}

// addPreds sorts the predicates of the block: equalities of columns make classes, conditions on one
// relation go into it, the rest become edges.
func (g *graph) addPreds(preds []plan.Expr) {
	var cl classes
	var rest []plan.Expr
	for _, p := range preds {
		a, b, ok := columnsEqual(p)
		if ok && a.ID != b.ID && g.owner(a.ID) >= 0 && g.owner(b.ID) >= 0 && g.owner(a.ID) != g.owner(b.ID) {
			cl.equate(a, b)
		} else {
			rest = append(rest, p)
		}
	}
	for _, p := range rest {
		mask := g.maskOf(p)
		if i := mask.only(); i >= 0 && g.rels[i].op == nil {
			g.filterRel(i, p)
			continue
		}
		x, isCall := p.(*plan.Call)
		equi := isCall && (x.Op == plan.Eq || x.Op == plan.NotDistinct)
		g.preds = append(g.preds, joinPred{e: p, mask: mask, sel: g.s.residualSel([]plan.Expr{p}), equi: equi})
	}
	for _, m := range cl.members {
		g.addClass(m)
	}
}

func (g *graph) addClass(refs []*plan.Ref) {
	var c eqClass
	for _, r := range refs {
		i := g.owner(r.ID)
		if c.mask.has(i) {
			// Two columns of one relation are equal: a condition on it.
			for _, m := range c.members {
				if m.rel == i {
					g.filterRel(i, plan.Compare(plan.Eq, m.ref, r))
					break
				}
			}
			continue
		}
		c.mask = c.mask.or(oneRel(i))
		c.members = append(c.members, classMember{ref: r, rel: i})
	}
	g.classes = append(g.classes, c)
}

// filterRel applies a predicate to one relation. Above an operator, it has to stay a predicate.
func (g *graph) filterRel(i int, p plan.Expr) {
	r := &g.rels[i]
	if r.op != nil {
		g.preds = append(g.preds, joinPred{e: p, mask: oneRel(i), sel: g.s.residualSel([]plan.Expr{p})})
		return
	}
	r.node = g.s.push(r.node, []plan.Expr{p})
	r.node.Props().Rows = 0
	r.rows = g.s.estimate(r.node)
}

// findOwners notes which relation produces which column.
func (g *graph) findOwners() {
	g.owners = make([]int32, g.s.cols.Len()+1)
	for i := len(g.rels) - 1; i >= 0; i-- {
		for id := range g.rels[i].made.All {
			g.owners[id] = int32(i + 1)
		}
	}
}

// owner is the relation that produces a column, -1 if none does.
func (g *graph) owner(id plan.ColID) int {
	if int(id) >= len(g.owners) {
		return -1
	}
	return int(g.owners[id]) - 1
}

func (g *graph) maskOf(e plan.Expr) relSet {
	refs := plan.Refs(e)
	var mask relSet
	for id := range refs.All {
		if i := g.owner(id); i >= 0 {
			mask = mask.or(oneRel(i))
		}
	}
	return mask
}
