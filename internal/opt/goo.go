package opt

import (
	"math"
	"math/bits"
)

func leading(mask uint64) int { return bits.LeadingZeros64(mask) }

// greedy joins the pair with the smallest result until one set is left (greedy operator ordering,
// L. Fegaras 1998). It serves blocks too large for dynamic programming.
func (g *graph) greedy() tree {
	var t tree
	var live []int // steps that are not joined yet
	for i := range g.rels {
		t = append(t, step{set: 1 << i, left: -1, rel: i, rows: g.rels[i].rows})
		live = append(live, i)
	}
	for len(live) > 1 {
		bi, bj, found := 0, 0, false
		var bc candidate
		bestRows, bestCost := math.Inf(1), math.Inf(1)
		// Neighbours first; if there are none left, any two.
		for _, connected := range []bool{true, false} {
			for i := range live {
				for j := i + 1; j < len(live); j++ {
					a, b := &t[live[i]], &t[live[j]]
					if connected && !g.adjacent(a.set, b.set) {
						continue
					}
					rows := g.rows(a.set | b.set)
					c, ok := g.joinCost(a.set, b.set, a.rows, b.rows, rows)
					if ok && (rows < bestRows || rows == bestRows && c.cost < bestCost) {
						bi, bj, bc, bestRows, bestCost, found = i, j, c, rows, c.cost, true
					}
				}
			}
			if found {
				break
			}
		}
		l, r := live[bi], live[bj]
		if bc.swap {
			l, r = r, l
		}
		t = append(t, step{set: t[l].set | t[r].set, left: l, right: r, rows: bestRows, buildLeft: bc.buildLeft})
		live[bi] = len(t) - 1
		live = append(live[:bj], live[bj+1:]...)
	}
	return t
}

func (g *graph) adjacent(a, b uint64) bool {
	for m := a; m != 0; m &= m - 1 {
		if g.adj[trailing(m)]&b != 0 {
			return true
		}
	}
	return false
}
