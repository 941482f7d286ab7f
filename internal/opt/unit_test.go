package opt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func TestLikeLiteral(t *testing.T) {
	for _, c := range []struct {
		pattern, prefix string
		whole           bool
		literals        int
	}{{"abc", "abc", true, 3}, {"ab%", "ab", false, 2}, {"%a_b%", "", false, 2}, {`a\%b`, "a%b", true, 3}, {"", "", true, 0},
		{`a\\`, `a\`, true, 2}, {`ab\`, "ab", false, 2}, {`%\`, "", false, 0}} {
		prefix, whole, n := likeLiteral(c.pattern)
		if prefix != c.prefix || whole != c.whole || n != c.literals {
			t.Errorf("%q: %q %v %d", c.pattern, prefix, whole, n)
		}
	}
}

// testGraph makes a random connected join graph by hand.
func testGraph(r *rand.Rand, n int) *graph {
	s := &state{cols: new(plan.Columns)}
	s.q = &plan.Query{Cols: s.cols}
	g := &graph{s: s}
	ids := make([]plan.ColID, n)
	for i := range n {
		ids[i] = s.cols.New(fmt.Sprint("c", i), types.TInt32, true)
		v := &plan.Values{Cols: ids[i : i+1], Props_: plan.Props{Rows: math.Floor(math.Exp(r.Float64() * 14))}}
		g.rels = append(g.rels, relation{node: v, made: plan.MakeColSet(ids[i]), rows: v.Props_.Rows})
	}
	link := func(a, b int) {
		e := plan.Compare(plan.Eq, s.ref(ids[a]), s.ref(ids[b]))
		g.preds = append(g.preds, joinPred{e: e, mask: oneRel(a).or(oneRel(b)), sel: math.Exp(-r.Float64() * 12), equi: true})
	}
	for i := 1; i < n; i++ {
		link(r.IntN(i), i)
	}
	for range r.IntN(n) {
		if a, b := r.IntN(n), r.IntN(n); a != b {
			link(a, b)
		}
	}
	g.prepare()
	return g
}

// cost adds up a join tree as the enumeration does.
func (t tree) cost(g *graph) float64 {
	total := 0.0
	for _, s := range t {
		if s.left < 0 {
			continue
		}
		c, _ := g.joinCost(side{set: t[s.left].set, rows: t[s.left].rows}, side{set: t[s.right].set, rows: t[s.right].rows}, s.rows)
		total += c.cost
	}
	return total
}

// bruteForce is the least cost over all trees without cross products.
func bruteForce(g *graph, set uint64, memo map[uint64]float64) float64 {
	if set&(set-1) == 0 {
		return 0
	}
	if c, ok := memo[set]; ok {
		return c
	}
	best := math.Inf(1)
	for sub := (set - 1) & set; sub != 0; sub = (sub - 1) & set {
		rest := set &^ sub
		if sub < rest || !g.adjacent(relSet{lo: sub}, relSet{lo: rest}) {
			continue
		}
		rows := func(m uint64) float64 {
			if i := (relSet{lo: m}).only(); i >= 0 {
				return g.rels[i].rows
			}
			return g.rows(relSet{lo: m})
		}
		c, ok := g.joinCost(side{set: relSet{lo: sub}, rows: rows(sub)}, side{set: relSet{lo: rest}, rows: rows(rest)}, rows(set))
		if ok {
			best = math.Min(best, c.cost+bruteForce(g, sub, memo)+bruteForce(g, rest, memo))
		}
	}
	memo[set] = best
	return best
}

func TestExactIsOptimal(t *testing.T) {
	for seed := range 200 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		g := testGraph(r, 2+r.IntN(6))
		tr := g.exact()
		got := tr.cost(g)
		want := bruteForce(g, 1<<len(g.rels)-1, map[uint64]float64{})
		if math.Abs(got-want) > 1e-6*want {
			t.Fatalf("seed %d: cost %g, best is %g", seed, got, want)
		}
		if greedy := g.greedy().cost(g); greedy < got*(1-1e-9) {
			t.Fatalf("seed %d: greedy %g beats exact %g", seed, greedy, got)
		}
	}
}

// TestManyRelations: chains, stars and cross products beyond what dynamic programming can do.
func TestManyRelations(t *testing.T) {
	for _, n := range []int{8, 12, 13, 30, 64, 70, 128, 140} {
		for _, shape := range []string{"chain", "star", "none"} {
			if shape == "none" && n > 13 {
				continue
			}
			var from, where []string
			for i := range n {
				from = append(from, fmt.Sprintf("w w%d", i))
				if i > 0 && shape == "chain" {
					where = append(where, fmt.Sprintf("w%d.n = w%d.a", i-1, i))
				}
				if i > 0 && shape == "star" {
					where = append(where, fmt.Sprintf("w0.n = w%d.a", i))
				}
			}
			sql := "select count(*) from " + strings.Join(from, ", ")
			if where != nil {
				sql += " where " + strings.Join(where, " and ")
			}
			q, err := bound(t, smallEnv(), sql)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if _, _, err := Optimize(q, Options{Check: true}); err != nil {
				t.Errorf("%s of %d: %v", shape, n, err)
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("%s of %d takes %v", shape, n, d)
			}
		}
	}
}

// TestDisabled: any pass that can be left out may be.
func TestDisabled(t *testing.T) {
	for _, p := range passes {
		if p.Required {
			continue
		}
		for name, sql := range benchQueries(t, "tpch") {
			q, err := bound(t, tpchEnv(), sql)
			if err != nil {
				t.Fatal(err)
			}
			if _, infos, err := Optimize(q, Options{Check: true, Disabled: map[string]bool{p.Name: true}}); err != nil {
				t.Errorf("%s without %s: %v", name, p.Name, err)
			} else if len(infos) != len(passes)-1 {
				t.Errorf("%s without %s: %d passes ran", name, p.Name, len(infos))
			}
		}
	}
}

// TestEstimates compares estimates of filters with what TPC-H's generator makes at scale factor 1.
func TestEstimates(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want float64 // true rows
		off  float64 // allowed factor
	}{
		{"select 1 from lineitem where l_shipdate <= date '1998-09-02'", 5.9e6, 1.1},
		{"select 1 from lineitem where l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and l_quantity < 24", 114e3, 1.3},
		{"select 1 from orders where o_orderdate >= date '1993-07-01' and o_orderdate < date '1993-10-01'", 57e3, 1.1},
		{"select 1 from customer where c_mktsegment = 'BUILDING'", 30e3, 1.1},
		{"select 1 from part where p_type like '%BRASS' and p_size = 15", 800, 1.5},
		{"select 1 from part where p_brand <> 'Brand#45' and p_type not like 'MEDIUM POLISHED%' and p_size in (49, 14, 23, 45, 19, 3, 36, 9)", 29.8e3, 1.2},
		{"select 1 from lineitem, part where l_partkey = p_partkey and p_brand = 'Brand#23' and p_container = 'MED BOX'", 6e3, 2},
		{"select 1 from lineitem, partsupp where l_partkey = ps_partkey and l_suppkey = ps_suppkey", 6e6, 1.3},
		{"select 1 from customer, orders, lineitem where c_custkey = o_custkey and o_orderkey = l_orderkey and c_nationkey = 3", 240e3, 1.3},
		{"select 1 from orders where exists (select 1 from lineitem where l_orderkey = o_orderkey)", 1.5e6, 1.3},
		{"select 1 from customer where not exists (select 1 from orders where o_custkey = c_custkey)", 50e3, 3},
		{"select l_partkey, l_suppkey from lineitem group by l_partkey, l_suppkey", 800e3, 8},
	} {
		q, err := bound(t, tpchEnv(), c.sql)
		if err != nil {
			t.Fatal(err)
		}
		if q, _, err = Optimize(q, Options{Check: true}); err != nil {
			t.Fatal(err)
		}
		if got := q.Root.Props().Rows; got > c.want*c.off || got < c.want/c.off {
			t.Errorf("%s: estimated %s rows, really about %s", c.sql, plan.FormatRows(got), plan.FormatRows(c.want))
		}
	}
}

// TestInequalitiesComeLast: predicates that are tested on pairs, however many, do not put cross products
// before the joins of a chain; where nothing else connects two parts, they do.
func TestInequalitiesComeLast(t *testing.T) {
	for _, n := range []int{4, 12, 40} {
		var from, eq, less []string
		for i := range n {
			from = append(from, fmt.Sprintf("w t%d", i))
			if i > 0 {
				eq = append(eq, fmt.Sprintf("t%d.n = t%d.a", i-1, i))
			}
			for j := range i {
				less = append(less, fmt.Sprintf("t%d.a < t%d.a", j, i))
			}
		}
		for _, apart := range []bool{false, true} {
			preds := slices.Concat(eq, less)
			if apart { // the last table hangs on by inequalities alone
				preds = slices.Concat(eq[:n-2], less)
			}
			q, err := bound(t, smallEnv(), "select 1 from "+strings.Join(from, ", ")+" where "+strings.Join(preds, " and "))
			if err != nil {
				t.Fatal(err)
			}
			if q, _, err = Optimize(q, Options{Check: true}); err != nil {
				t.Fatal(err)
			}
			joins, crosses := 0, 0
			plan.WalkNode(q.Root, func(n plan.Node) bool {
				if j, ok := n.(*plan.Join); ok {
					joins++
					if len(j.LKeys) == 0 {
						crosses++
					}
				}
				return true
			})
			want := 0
			if apart {
				want = 1
			}
			if joins != n-1 || crosses != want {
				t.Errorf("%d tables: %d joins, %d of them without keys, want %d", n, joins, crosses, want)
			}
		}
	}
}
