package opt

import "math"

// step is a node of a finished join tree: a leaf (left < 0) or the join of two
// earlier steps.
type step struct {
	set         relSet
	left, right int // indexes of steps; left probes
	rel         int // leaf
	rows        float64
	buildLeft   bool
}

// tree is a join tree in postfix order; the last step is the root.
type tree []step

// best is the cheapest plan known for a set.
type best struct {
	cost, rows  float64
	width       int
	left, right uint32 // 0: a leaf, or no plan if cost is not set
	buildLeft   bool
	known       bool // rows were estimated
}

func (b *best) side(set uint64) side { return side{relSet{lo: set}, b.rows, b.width} }

// enumerator is the state of DPccp.
type enumerator struct {
	g     *graph
	n     int
	table []best
	adj   [maxExact]uint64
	left  int  // pairs that may still be looked at
	count bool // only count them
}

// exact finds the cheapest join tree without needless cross products: DPccp enumerates each pair of
// connected sets that are connected with each other once, smaller sets first (G. Moerkotte, T. Neumann:
// Analysis of Two Existing and One New Dynamic Programming Algorithm, VLDB 2006). nil: there are too many.
func (g *graph) exact() tree {
	n := len(g.rels)
	if n > maxExact {
		return nil
	}
	e := &enumerator{g: g, n: n, table: make([]best, 1<<n), left: maxPairs}
	for i := range n {
		e.adj[i] = g.adj[i].lo
	}
	for i := range g.rels {
		b := &e.table[1<<i]
		b.rows, b.width, b.known = g.rels[i].rows, g.rels[i].width, true
	}
	if n > neverMany {
		e.count = true
		e.enumerate()
		if e.left <= 0 {
			return nil
		}
		e.count, e.left = false, maxPairs
	}
	e.enumerate()
	full := uint64(1)<<n - 1
	if e.table[full].left == 0 { // operators need sets which are joined by a predicate over many relations only
		return nil
	}
	var t tree
	e.extract(&t, full)
	return t
}

// enumerate visits all pairs, or as many as it may.
func (e *enumerator) enumerate() {
	for i := e.n - 1; i >= 0; i-- {
		v := uint64(1) << i
		e.emitCsg(v)
		e.csgRec(v, v|(v-1))
	}
}

// neighbours of a set, outside of it and of the excluded relations.
func (e *enumerator) neighbours(set, excluded uint64) uint64 {
	var out uint64
	for m := set; m != 0; m &= m - 1 {
		out |= e.adj[trailing(m)]
	}
	return out &^ set &^ excluded
}

// csgRec enlarges a connected set by every subset of its neighbours.
func (e *enumerator) csgRec(set, excluded uint64) {
	nb := e.neighbours(set, excluded)
	if nb == 0 {
		return
	}
	for sub := nb & -nb; sub != 0; sub = (sub - nb) & nb {
		e.emitCsg(set | sub)
	}
	for sub := nb & -nb; sub != 0 && e.left > 0; sub = (sub - nb) & nb {
		e.csgRec(set|sub, excluded|nb)
	}
}

// emitCsg finds the complements of a connected set: connected sets among later relations that are its
// neighbours.
func (e *enumerator) emitCsg(set uint64) {
	low := set & -set
	excluded := set | (low - 1) | low
	nb := e.neighbours(set, excluded)
	for m := nb; m != 0; {
		i := 63 - leading(m)
		v := uint64(1) << i
		m &^= v
		e.pair(set, v)
		e.cmpRec(set, v, excluded|(nb&(v|(v-1))))
	}
}

func (e *enumerator) cmpRec(set, cmp, excluded uint64) {
	nb := e.neighbours(cmp, excluded) &^ set
	if nb == 0 {
		return
	}
	for sub := nb & -nb; sub != 0; sub = (sub - nb) & nb {
		e.pair(set, cmp|sub)
	}
	for sub := nb & -nb; sub != 0 && e.left > 0; sub = (sub - nb) & nb {
		e.cmpRec(set, cmp|sub, excluded|nb)
	}
}

// planned reports that there is a plan for a set.
func (e *enumerator) planned(set uint64) bool {
	return set&(set-1) == 0 || e.table[set].left != 0
}

// pair considers joining two sets.
func (e *enumerator) pair(a, b uint64) {
	e.left--
	if e.count || !e.planned(a) || !e.planned(b) || e.left <= 0 {
		return
	}
	pa, pb := &e.table[a], &e.table[b]
	to := &e.table[a|b]
	if !to.known {
		to.rows, to.cost, to.known = e.g.rows(relSet{lo: a | b}), math.Inf(1), true
		to.width = pa.width + pb.width
	}
	c, ok := e.g.joinCost(pa.side(a), pb.side(b), to.rows)
	if !ok {
		return
	}
	if cost := pa.cost + pb.cost + c.cost; cost < to.cost {
		to.cost, to.buildLeft = cost, c.buildLeft
		to.left, to.right = uint32(a), uint32(b)
		if c.swap {
			to.left, to.right = uint32(b), uint32(a)
		}
	}
}

// extract writes the tree of a set in postfix order and returns its index.
func (e *enumerator) extract(t *tree, set uint64) int {
	b := e.table[set]
	if set&(set-1) == 0 {
		*t = append(*t, step{set: relSet{lo: set}, left: -1, rel: trailing(set), rows: b.rows})
		return len(*t) - 1
	}
	l := e.extract(t, uint64(b.left))
	r := e.extract(t, uint64(b.right))
	*t = append(*t, step{set: relSet{lo: set}, left: l, right: r, rows: b.rows, buildLeft: b.buildLeft})
	return len(*t) - 1
}
