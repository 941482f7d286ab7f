package lab

import "fmt"

// memoryTaken tells what the patterns take of the device's memory: beside the columns, what is kept between kernels, hash tables, and results.
func memoryTaken(b *bench, r *Result) error {
	rows := b.rows(60_000_000)
	r.Cost = "MB"
	r.Table.Columns = []string{"pattern", "fused", "operator at a time", "×", "multi-pass", "columns"}
	keys, err := b.weave(rows)
	if err != nil {
		return err
	}
	r.Workload = woven(rows, keys)
	for _, p := range fivePatterns(keys) {
		fused, passes, apart, err := b.inModels(p.sql)
		if err != nil {
			return err
		}
		r.Table.add(p.name, fused.Taken/1e6, apart.Taken/1e6, apart.Taken/fused.Taken, passes.Taken/1e6, fused.Columns/1e6)
	}
	more := r.Table.column(2)
	r.Claim = "without fusion more memory is taken, for intermediate results; but for (d), where the fused operator keeps two outputs and takes a little more"
	r.Ours = fmt.Sprintf("operators one at a time take %s to %s as much, %s on average; (d) %s", times(best(more)), times(worst(more)), times(geomean(more)), times(more[3]))
	r.Picture = r.chart("MB", 0, 1).Bars()
	return nil
}
