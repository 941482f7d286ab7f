package opt

import (
	"cmp"
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// prepare computes domains, neighbours and corrections once all predicates are known.
func (g *graph) prepare() {
	g.adj = make([]relSet, len(g.rels))
	for i := range g.rels {
		if g.rels[i].op == nil {
			g.plain = g.plain.or(oneRel(i))
		}
	}
	for i := range g.classes {
		c := &g.classes[i]
		for k := range c.members {
			m := &c.members[k]
			st := g.s.stat(m.ref.ID)
			m.dom, m.rows, m.span = math.Max(st.dom, 1), g.rels[m.rel].rows, math.Inf(1)
			if st.whole && st.hasRange {
				m.span = st.hi - st.lo
			}
			if st.unique {
				c.unique = append(c.unique, m)
			}
			g.adj[m.rel] = g.adj[m.rel].or(c.mask.minus(oneRel(m.rel)))
		}
		slices.SortStableFunc(c.unique, func(a, b *classMember) int { return cmp.Compare(b.rows, a.rows) })
	}
	for i := range g.preds {
		if p := &g.preds[i]; p.equi || !inequality(p.e) && g.fewPairs(p) {
			g.linkPred(p)
		}
	}
	for i := range g.rels {
		if r := &g.rels[i]; r.op != nil {
			for k := range r.req.all {
				g.link(i, k)
			}
		}
	}
	// What is tested on every pair connects only parts that no equality does: estimates of many such
	// predicates are far too low, and cross products would come first.
	for i := range g.preds {
		p := &g.preds[i]
		if p.mask.len() == 2 && !p.mask.within(g.component(p.mask.first())) {
			g.linkPred(p)
		}
	}
	g.connect()
	g.fixPairs()
}

// linkPred makes the relations of a predicate neighbours. Predicates over more than two do not connect: they
// would make sets that nothing joins yet look joined.
func (g *graph) linkPred(p *joinPred) {
	if p.mask.len() == 2 {
		a := p.mask.first()
		g.link(a, p.mask.minus(oneRel(a)).first())
	}
}

// inequality reports a comparison that is no equality.
func inequality(e plan.Expr) bool {
	x, ok := e.(*plan.Call)
	return ok && x.Op.IsComparison() && x.Op != plan.Eq
}

// fewPairs reports a predicate on two small relations of a block in which costs are compared exactly, such as
// the nations of TPC-H Q7: trying all pairs may be the best beginning.
func (g *graph) fewPairs(p *joinPred) bool {
	const few = 1 << 16
	pairs := 1.0
	for i := range p.mask.all {
		pairs *= g.rels[i].rows
	}
	return len(g.rels) <= maxExact && pairs <= few
}

// link makes two relations neighbours.
func (g *graph) link(a, b int) {
	g.adj[a] = g.adj[a].or(oneRel(b))
	g.adj[b] = g.adj[b].or(oneRel(a))
}

// component is the set of relations reachable from one.
func (g *graph) component(from int) relSet {
	seen, todo := oneRel(from), oneRel(from)
	for !todo.empty() {
		i := todo.first()
		next := g.adj[i].minus(seen)
		seen = seen.or(next)
		todo = todo.minus(oneRel(i)).or(next)
	}
	return seen
}

// connect adds cross products where the graph is not connected. Relations of a single row may be joined
// to any other, since that costs nothing; else the smallest relations of two parts meet.
func (g *graph) connect() {
	all := firstRels(len(g.rels))
	first := g.component(0)
	for first != all {
		other := g.component(all.minus(first).first())
		a, b := g.smallest(first), g.smallest(other)
		g.link(a, b)
		for i := range g.rels {
			if first.has(i) && g.rels[b].rows <= 1 && i != a && g.rels[i].op == nil {
				g.link(i, b)
			}
			if other.has(i) && g.rels[a].rows <= 1 && i != b && g.rels[i].op == nil {
				g.link(i, a)
			}
		}
		first = first.or(other)
	}
}

// smallest is the relation with the fewest rows in a set, operators apart.
func (g *graph) smallest(set relSet) int {
	best := set.first()
	for i := range set.and(g.plain).all {
		if g.rels[best].op != nil || g.rels[i].rows < g.rels[best].rows {
			best = i
		}
	}
	return best
}

// fixPairs finds relations that share several classes, such as an order line and the
// supplier's part that it refers to by two columns: together they have no more values than the
// referred relation has rows.
func (g *graph) fixPairs() {
	// Relations of several classes are the only ones that can share two.
	var once, twice relSet
	for i := range g.classes {
		twice = twice.or(once.and(g.classes[i].mask))
		once = once.or(g.classes[i].mask)
	}
	for i := range twice.all {
		for j := range twice.and(g.adj[i]).all {
			if j <= i {
				continue
			}
			shared := 0
			each, di, dj := 1.0, 1.0, 1.0
			bi, bj := math.Inf(1), math.Inf(1)
			for k := range g.classes {
				c := &g.classes[k]
				if !c.mask.has(i) || !c.mask.has(j) {
					continue
				}
				shared++
				a, b := c.member(i), c.member(j)
				each *= math.Max(a.dom, b.dom)
				di *= a.dom
				dj *= b.dom
				bi = math.Min(bi, positive(g.s.stat(a.ref.ID).base))
				bj = math.Min(bj, positive(g.s.stat(b.ref.ID).base))
			}
			if shared < 2 {
				continue
			}
			if d := composite(di, dj, bi, bj); each > d {
				g.pairs = append(g.pairs, pairFix{mask: oneRel(i).or(oneRel(j)), factor: each / d})
			}
		}
	}
}

// member is the class's column of a relation.
func (c *eqClass) member(rel int) *classMember {
	for k := range c.members {
		if c.members[k].rel == rel {
			return &c.members[k]
		}
	}
	return nil
}

// rows estimates the join of a set of relations. It depends on the set alone, so that plans for it
// compare by cost.
func (g *graph) rows(set relSet) float64 {
	r := 1.0
	for i := range set.all {
		r *= g.share(i)
	}
	for i := range g.classes {
		c := &g.classes[i]
		if !c.mask.and(set).several() {
			continue
		}
		least := math.Inf(1)
		for k := range c.members {
			if m := &c.members[k]; set.has(m.rel) {
				r /= m.dom
				least = math.Min(least, m.dom)
			}
		}
		r *= least
	}
	for i := range g.preds {
		if p := &g.preds[i]; p.mask.within(set) {
			r *= p.sel
		}
	}
	if len(g.pairs) > 0 {
		r *= g.pairFactor(set)
	}
	return math.Max(r, 1)
}

// share is what a relation multiplies the rows of a join with.
func (g *graph) share(i int) float64 {
	if r := &g.rels[i]; r.op != nil {
		return r.factor
	}
	return g.rels[i].rows
}

// pairFactor applies the corrections of a set, one less than relations that share the classes.
func (g *graph) pairFactor(set relSet) float64 {
	f := 1.0
	var groups [8]relSet
	n := 0
	for _, p := range g.pairs {
		if !p.mask.within(set) {
			continue
		}
		known := false
		for i := range groups[:n] {
			if p.mask.within(groups[i]) {
				known = true
			} else if p.mask.overlaps(groups[i]) {
				groups[i] = groups[i].or(p.mask)
				known = true
				f *= p.factor
			}
		}
		if !known {
			f *= p.factor
			if n < len(groups) {
				groups[n] = p.mask
				n++
			}
		}
	}
	return f
}

// Costs are in units of passing one tuple on. A build tuple is written and then put into a table: an
// array indexed by the key where keys are dense and unique, a hash table else, in which duplicates are
// sorted together. Each column adds to the tuple. Probing a table that does not fit a cache costs more.
const (
	directCost = 2.5
	uniqueCost = 3.0
	bucketCost = 3.5
	columnCost = 0.1
	joinedRisk = 1.3 // how many rows a join really has is less sure than the size of a table
	cachedRows = 1 << 15
)

func probeCost(build float64) float64 {
	if build <= cachedRows {
		return 1
	}
	return 1 + 0.15*math.Log2(build/cachedRows)
}

// hashCost is the cost of a join when nothing is known of the table.
func hashCost(build, probe, out float64) float64 {
	return uniqueCost*build + probe*probeCost(build) + out
}

// keyFacts is what matters about the keys by which a table is built.
type keyFacts struct {
	keys  int     // how many
	rows  float64 // the most rows of a relation of which one of them is a unique key; 0: none is
	span  float64 // of that key's values
	width int     // columns of a tuple
	many  bool    // the table is of a join, not of a single relation
}

// tableCost is the cost per tuple of building a table of rows tuples.
func (k keyFacts) tableCost(rows float64) float64 {
	cost := bucketCost
	switch unique := rows <= k.rows; { // no more rows than the relation of the key: other joins did not repeat it
	case unique && k.keys == 1 && k.span < 8*rows+4096:
		cost = directCost
	case unique:
		cost = uniqueCost
	}
	cost += columnCost * float64(k.width)
	if k.many {
		cost *= joinedRisk
	}
	return cost
}

// facts are the keys of a table over the relations of build that is probed from those of probe.
func (g *graph) facts(build side, probe relSet) keyFacts {
	k := keyFacts{many: build.set.several(), width: build.width}
	for i := range g.classes {
		if c := &g.classes[i]; c.mask.overlaps(build.set) && c.mask.overlaps(probe) {
			k.meet(c.uniqueIn(build.set))
		}
	}
	return k
}

// uniqueIn is the member that is a key of its relation, that of the most rows among several.
func (c *eqClass) uniqueIn(set relSet) (rows, span float64) {
	for _, m := range c.unique {
		if set.has(m.rel) {
			return m.rows, m.span
		}
	}
	return 0, 0
}

// meet adds the key of one more class, unique in a relation of so many rows.
func (k *keyFacts) meet(rows, span float64) {
	k.keys++
	if rows > k.rows {
		k.rows, k.span = rows, span
	}
}

// candidate is a way to join two sets.
type candidate struct {
	cost      float64
	swap      bool // the second set probes, the first is built
	buildLeft bool // operators: hash the left side
}

// side is a set of relations that is planned.
type side struct {
	set   relSet
	rows  float64
	width int
}

// joinCost compares the ways to join two planned sets; ok is false where there is none.
func (g *graph) joinCost(a, b side, out float64) (c candidate, ok bool) {
	if i := b.set.minus(g.plain).only(); i >= 0 && !b.set.several() {
		return g.opCost(i, a.set, a.rows, out, false)
	}
	if i := a.set.minus(g.plain).only(); i >= 0 && !a.set.several() {
		return g.opCost(i, b.set, b.rows, out, true)
	}
	ka, kb := g.facts(a, b.set), g.facts(b, a.set)
	if ka.keys == 0 && !g.equi(a.set, b.set) {
		return cross(a.rows, b.rows, out), true
	}
	return cheaperSide(ka, kb, a.rows, b.rows, out), true
}

// cross compares every row with every other.
func cross(ra, rb, out float64) candidate {
	return candidate{cost: ra*rb + out + math.Min(ra, rb), swap: ra < rb}
}

// cheaperSide decides which of two sets is built, the other probes.
func cheaperSide(ka, kb keyFacts, ra, rb, out float64) candidate {
	right := kb.tableCost(rb)*rb + ra*probeCost(rb) + out
	left := ka.tableCost(ra)*ra + rb*probeCost(ra) + out
	if left < right {
		return candidate{cost: left, swap: true}
	}
	return candidate{cost: right}
}

// opCost is the cost of applying operator i to a set.
func (g *graph) opCost(i int, set relSet, rows, out float64, swap bool) (candidate, bool) {
	r := &g.rels[i]
	if !r.req.within(set) {
		return candidate{}, false
	}
	c := candidate{swap: swap}
	if len(r.op.LKeys) == 0 {
		c.cost = rows*r.rows + out
		return c, true
	}
	c.cost = hashCost(r.rows, rows, out)
	if canBuildLeft(r.op.Kind) && rows*4 < r.rows {
		// Matches are marked in the table, which is read again in the end.
		if left := hashCost(rows, r.rows, out) + rows; left < c.cost {
			c.cost, c.buildLeft = left, true
		}
	}
	return c, true
}

func canBuildLeft(k plan.JoinKind) bool {
	return k == plan.Semi || k == plan.Anti || k == plan.Left || k == plan.Inner
}

// equi reports that an equality of expressions connects two sets, so that they can be hashed.
func (g *graph) equi(a, b relSet) bool {
	for i := range g.preds {
		if p := &g.preds[i]; p.equi && p.mask.overlaps(a) && p.mask.overlaps(b) && p.mask.within(a.or(b)) {
			return true
		}
	}
	return false
}
