package lab

import "fmt"

// warpsPerUnit filters lineitem by quantity and joins what passes with part, with so many warps on each multiprocessor.
func warpsPerUnit(warps int) func(b *bench, r *Result) error {
	return func(b *bench, r *Result) error {
		sf := b.sf(5)
		units, err := b.units()
		if err != nil {
			return err
		}
		r.Workload = fmt.Sprintf("lineitem filtered by l_quantity, joined with part, summed; TPC-H, scale factor %g, warps on each of %d units: %d", sf, units, warps)
		if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
			return err
		}
		if err := b.do(fmt.Sprintf("set gpu_blocks = %d", units), fmt.Sprintf("set gpu_threads = %d", 32*warps)); err != nil {
			return err
		}
		list := append(b.ways("refill", "off", "flush", "list"), way{"one row per lane", "set row_front = off"})
		r.Table.Columns = []string{"selectivity"}
		for _, w := range list {
			r.Table.Columns = append(r.Table.Columns, w.name)
		}
		r.Table.Columns = append(r.Table.Columns, "mean lanes as decided")
		for _, q := range []int{5, 10, 20, 30, 40, 50} {
			sql := fmt.Sprintf("select sum(p_size * l_extendedprice) from lineitem, part where l_partkey = p_partkey and l_quantity <= %d", q)
			values, err := b.costs(list, sql)
			if err != nil {
				return err
			}
			p, err := b.explain(sql)
			if err != nil {
				return err
			}
			r.Table.add(fmt.Sprintf("%.1f", float64(q)/50), append(values, p.lanes())...)
		}
		first, last := r.Table.Rows[0].Values, r.Table.Rows[len(r.Table.Rows)-1].Values
		r.Claim = "lane refill scales with what passes: 81% less time at 0.1 than at 1, 2.8× faster than without; 2.2× with eight warps"
		r.Ours = fmt.Sprintf("%.0f%% less at 0.1 than at 1; one row per lane %.0f%%", 100*(1-first[0]/last[0]), 100*(1-first[len(list)-1]/last[len(list)-1]))
		var cols []int
		for k := range list {
			cols = append(cols, k)
		}
		r.Picture = r.chart(r.Cost, cols...).Lines()
		return nil
	}
}
