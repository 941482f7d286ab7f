package opt

import "math"

// part is a set of relations that the greedy algorithm has joined, with what it needs to estimate further
// joins without looking at every relation again.
type part struct {
	step  int // of the tree
	set   relSet
	near  relSet
	raw   float64 // rows, before the estimate is rounded up to one
	rows  float64
	fix   float64 // pairFactor of the set
	width int
	// least is the smallest domain that a class has here, 0 where it has no member.
	least []float64
}

// option is two parts that can be joined: the least that is needed to compare it with others, since there
// may be many.
type option struct {
	rows, cost float64
	a, b       int32 // parts
}

func (o *option) before(p *option) bool {
	return o.rows < p.rows || o.rows == p.rows && o.cost < p.cost
}

// pairing is two parts joined.
type pairing struct {
	raw, rows, fix float64
	how            candidate
	ok             bool
}

// greedy joins the pair with the smallest result until one set is left (greedy operator ordering,
// L. Fegaras 1998). It serves blocks too large for dynamic programming. Pairs are estimated when they come into
// being, in time that does not depend on how many relations they hold.
func (g *graph) greedy() tree {
	t := make(tree, 0, 2*len(g.rels))
	parts := make([]*part, 0, 2*len(g.rels))
	live := make([]bool, 0, 2*len(g.rels))
	var options []option
	consider := func(i, j int) {
		if c := g.pair(parts[i], parts[j]); c.ok {
			options = append(options, option{c.rows, c.how.cost, int32(i), int32(j)})
		}
	}
	add := func(p *part) {
		at := len(parts)
		parts, live = append(parts, p), append(live, true)
		for i, o := range parts[:at] {
			if live[i] && o.near.overlaps(p.set) {
				consider(i, at)
			}
		}
	}
	for i := range g.rels {
		t = append(t, step{set: oneRel(i), left: -1, rel: i, rows: g.rels[i].rows})
		add(g.leaf(i))
	}
	for range len(g.rels) - 1 {
		best := bestOption(&options, live)
		if best == nil { // nothing connects what is left: any two
			for i := range parts {
				for j := i + 1; j < len(parts); j++ {
					if live[i] && live[j] {
						consider(i, j)
					}
				}
			}
			if best = bestOption(&options, live); best == nil {
				panic("operators of a block wait for each other")
			}
		}
		a, b := parts[best.a], parts[best.b]
		c := g.pair(a, b)
		l, r := a.step, b.step
		if c.how.swap {
			l, r = r, l
		}
		t = append(t, step{set: a.set.or(b.set), left: l, right: r, rows: c.rows, buildLeft: c.how.buildLeft})
		live[best.a], live[best.b] = false, false
		p := g.merge(a, b, &c)
		p.step = len(t) - 1
		add(p)
	}
	return t
}

// bestOption drops options that are gone and finds the best of the others, nil if there is none.
func bestOption(options *[]option, live []bool) *option {
	var best *option
	kept := (*options)[:0]
	for i := range *options {
		o := &(*options)[i]
		if !live[o.a] || !live[o.b] {
			continue
		}
		kept = append(kept, *o)
		if o = &kept[len(kept)-1]; best == nil || o.before(best) {
			best = o
		}
	}
	*options = kept
	return best
}

// leaf is a part of one relation.
func (g *graph) leaf(i int) *part {
	p := &part{step: i, set: oneRel(i), near: g.adj[i], raw: g.share(i), rows: g.rels[i].rows, fix: 1, width: g.rels[i].width,
		least: make([]float64, len(g.classes))}
	for k := range g.classes {
		if c := &g.classes[k]; c.mask.has(i) {
			p.least[k] = c.member(i).dom
		}
	}
	for k := range g.preds {
		if g.preds[k].mask == p.set {
			p.raw *= g.preds[k].sel
		}
	}
	return p
}

// merge is the part of a pair.
func (g *graph) merge(a, b *part, c *pairing) *part {
	p := &part{set: a.set.or(b.set), raw: c.raw, rows: c.rows, fix: c.fix, width: a.width + b.width, least: a.least}
	p.near = a.near.or(b.near).minus(p.set)
	for k, d := range b.least { // a's are not needed any more
		if d == 0 {
			continue
		}
		if p.least[k] == 0 || d < p.least[k] {
			p.least[k] = d
		}
	}
	return p
}

// pair estimates the join of two parts.
func (g *graph) pair(a, b *part) pairing {
	both := a.set.or(b.set)
	c := pairing{raw: a.raw * b.raw, fix: 1}
	for k := range a.least {
		if a.least[k] != 0 && b.least[k] != 0 {
			c.raw /= math.Max(a.least[k], b.least[k])
		}
	}
	for k := range g.preds {
		if p := &g.preds[k]; p.mask.overlaps(a.set) && p.mask.overlaps(b.set) && p.mask.within(both) {
			c.raw *= p.sel
		}
	}
	if len(g.pairs) > 0 {
		c.fix = g.pairFactor(both)
		c.raw *= c.fix / (a.fix * b.fix)
	}
	c.rows = math.Max(c.raw, 1)
	c.how, c.ok = g.joinCost(side{a.set, a.rows, a.width}, side{b.set, b.rows, b.width}, c.rows)
	return c
}

// adjacent reports that something connects two sets.
func (g *graph) adjacent(a, b relSet) bool {
	for i := range a.all {
		if g.adj[i].overlaps(b) {
			return true
		}
	}
	return false
}
