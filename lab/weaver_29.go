package lab

import "fmt"

// optimized tells what an optimizer of kernels brings to the patterns, fused and not. On a GPU that is its driver's assembler, with and without any optimization. The simulated GPU has no assembler, and runs what
// it is given: there, the optimizer is that of the code generator, which knows the ranges of numbers and computes in 32 bits where those are enough.
func optimized(b *bench, r *Result) error {
	rows := b.rows(60_000_000)
	off := "kernel_optimizer = off"
	if b.Device == "simt" {
		off = "range_checks = off"
	}
	r.Table.Columns = []string{"pattern", "fused, not optimized", "fused", "×", "operator at a time, not optimized", "operator at a time", "×"}
	keys, err := b.weave(rows)
	if err != nil {
		return err
	}
	r.Workload = woven(rows, keys) + "; not optimized: SET " + off
	for _, p := range fivePatterns(keys) {
		var cost [2][2]float64 // fused or not, plain or optimized
		for k := range 2 {
			if k == 0 {
				if err := b.do("set " + off); err != nil {
					return err
				}
			}
			fused, err := b.under(models[0], p.sql)
			if err != nil {
				return err
			}
			apart, err := b.asWritten(models[2], p.sql)
			if err != nil {
				return err
			}
			cost[0][k], cost[1][k] = fused.Cost, apart.Cost
			if k == 0 {
				if err := b.do("reset " + off[:len(off)-len(" = off")]); err != nil {
					return err
				}
			}
		}
		r.Table.add(p.name, cost[0][0], cost[0][1], cost[0][0]/cost[0][1], cost[1][0], cost[1][1], cost[1][0]/cost[1][1])
	}
	fused, apart := r.Table.column(2), r.Table.column(5)
	r.Claim = "what -O3 gains over -O0 is more with fusion than without, for all patterns: the compiler sees more code at once"
	more := 0
	for i := range fused {
		if fused[i] > apart[i] {
			more++
		}
	}
	r.Ours = fmt.Sprintf("optimizing gains %s with fusion, %s without, on average; more with fusion for %d of %d patterns", times(geomean(fused)), times(geomean(apart)), more, len(fused))
	r.Picture = r.chart("×", 2, 5).Bars()
	return nil
}
