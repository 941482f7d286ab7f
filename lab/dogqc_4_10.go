package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plot"
)

// afterExpansion puts operators behind a join whose rows have very different numbers of matches.
func afterExpansion(b *bench, r *Result) error {
	n := b.rows(10_000_000)
	r.Workload = fmt.Sprintf("pk-4zipf-fk of about %d rows, then projections, one in three with a filter", n)
	if err := b.keyTables(keyDistributions[4], n); err != nil {
		return err
	}
	if err := b.do(asWritten); err != nil {
		return err
	}
	return b.behind(b.ways("expand", "lane", "group", "warp", "balanced"), func(n int) string { return operators(n, expansion) },
		"push-down parallelism gains the more the more operators follow, up to 10.3×")
}

// afterFilter puts operators behind a filter that a tenth of the rows pass.
func afterFilter(b *bench, r *Result) error {
	sf := b.sf(10)
	r.Workload = fmt.Sprintf("lineitem with l_quantity > 45, then projections, one in three with a filter; TPC-H, scale factor %g", sf)
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	list := append(b.ways("refill", "off", "flush", "list"), way{"one row per lane", "set row_front = off"})
	return b.behind(list, func(n int) string { return operators(n, "select l_partkey as x from lineitem where l_quantity > 45") },
		"lane refill keeps 27 operators at 91 ms where 799 are needed without: up to 8.8×")
}

// behind measures a query with 0, 3, 9 and 27 operators in several ways.
func (b *bench) behind(list []way, sql func(operators int) string, claim string) error {
	r := b.r
	r.Table.Columns = []string{"operators"}
	for _, w := range list {
		r.Table.Columns = append(r.Table.Columns, w.name)
	}
	r.Table.Columns = append(r.Table.Columns, "mean lanes as decided")
	for _, n := range []int{0, 3, 9, 27} {
		var values []float64
		for _, w := range list {
			s, err := b.try(w, sql(n))
			if err != nil {
				return err
			}
			values = append(values, s.Main)
		}
		p, err := b.explain(sql(n))
		if err != nil {
			return err
		}
		r.Table.add(fmt.Sprint(n), append(values, p.lanes())...)
	}
	r.Claim = claim
	var cols []int
	gain, of, by := plot.None, "", ""
	last := r.Table.Rows[len(r.Table.Rows)-1].Values
	for k, w := range list {
		cols = append(cols, k)
		for j, v := range list {
			if f := last[k] / last[j]; !(f <= gain) {
				gain, of, by = f, w.name, v.name
			}
		}
	}
	r.Ours = fmt.Sprintf("27 operators cost %s of none; lanes behind the last: %.1f of 32", times(last[0]/r.Table.Rows[0].Values[0]), last[len(last)-1])
	if gain > 1 {
		r.Ours += fmt.Sprintf("; between %q and %q lie %s", of, by, times(gain))
	}
	r.Picture = r.chart(r.Cost, cols...).Bars()
	return nil
}
