package lab

import "fmt"

// posterCase is what TPC-H Q10 asks, with its tables in an order in which they are joined: the first is scanned, all others are build sides.
func posterCase(tables string) string {
	return `select c_custkey, sum(l_extendedprice * (1 - l_discount)) from ` + tables + `
		where c_custkey = o_custkey and l_orderkey = o_orderkey and o_orderdate >= date '1993-10-01' and o_orderdate < date '1994-01-01' and l_returnflag = 'R' and c_nationkey = n_nationkey
		group by c_custkey`
}

// poster measures a poster case in several ways: what its pipeline costs, and the lanes behind its first join. The optimizer's order of joins is the last row,
// and so is what it does to rows that will find no match.
func (b *bench) poster(tables string, list []way) error {
	r := b.r
	r.Table.Columns = []string{"way", "cost of the pipeline", "of all pipelines", "tuples behind the first join", "warp iterations", "mean lanes", "mean lanes at the end"}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", b.sf(25))); err != nil {
		return err
	}
	sql := posterCase(tables)
	for i, w := range append(list, together("the optimizer's order of joins")) {
		if i < len(list) {
			w = together(w.name, append([]string{asWritten, "set semijoin_filters = off"}, w.sets()...)...)
		}
		s, err := b.try(w, sql)
		if err != nil {
			return err
		}
		p, err := b.seen(w, sql)
		if err != nil {
			return err
		}
		j, err := p.behind("probe")
		if err != nil {
			return err
		}
		r.Table.add(w.name, s.Main, s.Cost, float64(j.Lanes.Tuples), float64(j.Lanes.Iterations), j.Lanes.Mean, p.lanes())
	}
	r.Picture = r.chart(r.Cost, 0).Bars()
	return nil
}

// posterExpansion is poster case 1: orders of a quarter find their returned items, of which each has up to seven.
func posterExpansion(b *bench, r *Result) error {
	r.Workload = fmt.Sprintf("TPC-H Q10 that scans orders and looks up lineitem, scale factor %g; without filters by keys of joins", b.sf(25))
	list := b.ways("expand", "lane", "group", "warp", "balanced")
	if err := b.poster("orders, lineitem, customer, nation", list); err != nil {
		return err
	}
	cost, all, lanes := r.Table.column(0), r.Table.column(1), r.Table.column(4)
	r.Claim = "2.9 million matches take 2.3 million warp iterations, 1.3 lanes each; push-down parallelism takes 13.8 ms instead of 26.4: 1.9×"
	r.Ours = fmt.Sprintf("a loop per lane has %.1f lanes behind the join, push-down parallelism %.1f and costs %s of it; balanced %.1f, %s; in the optimizer's order of joins all pipelines together cost %s",
		lanes[1], lanes[3], times(cost[3]/cost[1]), lanes[4], times(cost[4]/cost[1]), times(all[len(all)-1]/all[1]))
	return nil
}
