package opt

import (
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/plan"
)

func trailing(mask uint64) int { return bits.TrailingZeros64(mask) }

// prepare computes domains, neighbours and corrections once all predicates are known.
func (g *graph) prepare() {
	g.adj = make([]uint64, len(g.rels))
	for i := range g.rels {
		if g.rels[i].op == nil {
			g.plain |= 1 << i
		}
	}
	for i := range g.classes {
		c := &g.classes[i]
		for k := range c.members {
			m := &c.members[k]
			m.dom = math.Max(g.s.stat(m.ref.ID).dom, 1)
			g.adj[m.rel] |= c.mask &^ (1 << m.rel)
		}
	}
	for _, p := range g.preds {
		// Predicates over more than two relations do not connect: they would make sets that nothing
		// joins yet look joined.
		if bits.OnesCount64(p.mask) == 2 {
			g.link(p.mask)
		}
	}
	for i := range g.rels {
		if r := &g.rels[i]; r.op != nil {
			for k := range g.rels {
				if r.req>>k&1 != 0 {
					g.link(1<<i | 1<<k)
				}
			}
		}
	}
	g.connect()
	g.fixPairs()
}

// link makes two relations neighbours.
func (g *graph) link(pair uint64) {
	a := trailing(pair)
	b := trailing(pair & (pair - 1))
	g.adj[a] |= 1 << b
	g.adj[b] |= 1 << a
}

// component is the set of relations reachable from one.
func (g *graph) component(from int) uint64 {
	seen, todo := uint64(1)<<from, uint64(1)<<from
	for todo != 0 {
		i := trailing(todo)
		todo &= todo - 1
		next := g.adj[i] &^ seen
		seen |= next
		todo |= next
	}
	return seen
}

// connect adds cross products where the graph is not connected. Relations of a single row may be joined
// to any other, since that costs nothing; else the smallest relations of two parts meet.
func (g *graph) connect() {
	all := uint64(1)<<len(g.rels) - 1
	if len(g.rels) == 64 {
		all = math.MaxUint64
	}
	first := g.component(0)
	for first != all {
		other := g.component(trailing(all &^ first))
		a, b := g.smallest(first), g.smallest(other)
		g.link(1<<a | 1<<b)
		for i := range g.rels {
			if first>>i&1 != 0 && g.rels[b].rows <= 1 && i != a && g.rels[i].op == nil {
				g.link(1<<i | 1<<b)
			}
			if other>>i&1 != 0 && g.rels[a].rows <= 1 && i != b && g.rels[i].op == nil {
				g.link(1<<i | 1<<a)
			}
		}
		first |= other
	}
}

// smallest is the relation with the fewest rows in a set, operators apart.
func (g *graph) smallest(set uint64) int {
	best := trailing(set)
	for m := set & g.plain; m != 0; m &= m - 1 {
		i := trailing(m)
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
	for i := range g.rels {
		for j := i + 1; j < len(g.rels); j++ {
			shared := 0
			each, di, dj := 1.0, 1.0, 1.0
			bi, bj := math.Inf(1), math.Inf(1)
			for k := range g.classes {
				c := &g.classes[k]
				if c.mask>>i&1 == 0 || c.mask>>j&1 == 0 {
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
				g.pairs = append(g.pairs, pairFix{mask: 1<<i | 1<<j, factor: each / d})
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
func (g *graph) rows(set uint64) float64 {
	r := 1.0
	for m := set; m != 0; m &= m - 1 {
		rel := &g.rels[trailing(m)]
		if rel.op != nil {
			r *= rel.factor
		} else {
			r *= rel.rows
		}
	}
	for i := range g.classes {
		c := &g.classes[i]
		if both := c.mask & set; both&(both-1) == 0 {
			continue
		}
		least := math.Inf(1)
		for k := range c.members {
			if m := &c.members[k]; set>>m.rel&1 != 0 {
				r /= m.dom
				least = math.Min(least, m.dom)
			}
		}
		r *= least
	}
	for i := range g.preds {
		if p := &g.preds[i]; p.mask&^set == 0 {
			r *= p.sel
		}
	}
	if len(g.pairs) > 0 {
		r *= g.pairFactor(set)
	}
	return math.Max(r, 1)
}

// pairFactor applies the corrections of a set, one less than relations that share the classes.
func (g *graph) pairFactor(set uint64) float64 {
	f := 1.0
	var groups [8]uint64
	n := 0
	for _, p := range g.pairs {
		if p.mask&^set != 0 {
			continue
		}
		known := false
		for i := range groups[:n] {
			if p.mask&^groups[i] == 0 {
				known = true
			} else if p.mask&groups[i] != 0 {
				groups[i] |= p.mask
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

// tableCost is the cost per tuple of building a table over a set of relations, to be probed from
// another set.
func (g *graph) tableCost(build, probe uint64, rows float64) float64 {
	width := 0
	for m := build; m != 0; m &= m - 1 {
		width += g.rels[trailing(m)].width
	}
	keys, unique, dense := 0, false, false
	for i := range g.classes {
		c := &g.classes[i]
		if c.mask&build == 0 || c.mask&probe == 0 {
			continue
		}
		keys++
		for k := range c.members {
			m := &c.members[k]
			if build>>m.rel&1 == 0 {
				continue
			}
			st := g.s.stat(m.ref.ID)
			// No more rows than the relation of the key: the other joins did not repeat it.
			if st.unique && rows <= g.rels[m.rel].rows {
				unique = true
				dense = st.whole && st.hasRange && st.hi-st.lo < 8*rows+4096
			}
		}
	}
	cost := bucketCost
	switch {
	case unique && dense && keys == 1:
		cost = directCost
	case unique:
		cost = uniqueCost
	}
	cost += columnCost * float64(width)
	if build&(build-1) != 0 {
		cost *= joinedRisk
	}
	return cost
}

// candidate is a way to join two sets.
type candidate struct {
	cost      float64
	swap      bool // the second set probes, the first is built
	buildLeft bool // operators: hash the left side
}

// joinCost compares the ways to join two planned sets; ok is false where there is none.
func (g *graph) joinCost(a, b uint64, ra, rb, out float64) (c candidate, ok bool) {
	ia, ib := onlyBit(a), onlyBit(b)
	if ib >= 0 && g.rels[ib].op != nil {
		return g.opCost(ib, a, ra, out, false)
	}
	if ia >= 0 && g.rels[ia].op != nil {
		return g.opCost(ia, b, rb, out, true)
	}
	if !g.equi(a, b) {
		return candidate{cost: ra*rb + out + math.Min(ra, rb), swap: ra < rb}, true
	}
	right := g.tableCost(b, a, rb)*rb + ra*probeCost(rb) + out
	left := g.tableCost(a, b, ra)*ra + rb*probeCost(ra) + out
	if left < right {
		return candidate{cost: left, swap: true}, true
	}
	return candidate{cost: right}, true
}

// opCost is the cost of applying operator i to a set.
func (g *graph) opCost(i int, set uint64, rows, out float64, swap bool) (candidate, bool) {
	r := &g.rels[i]
	if r.req&^set != 0 {
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

// equi reports that an equality connects two sets, so that they can be hashed.
func (g *graph) equi(a, b uint64) bool {
	for i := range g.classes {
		if m := g.classes[i].mask; m&a != 0 && m&b != 0 {
			return true
		}
	}
	for i := range g.preds {
		if p := &g.preds[i]; p.equi && p.mask&a != 0 && p.mask&b != 0 && p.mask&^(a|b) == 0 {
			return true
		}
	}
	return false
}
