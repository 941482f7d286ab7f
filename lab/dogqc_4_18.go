package lab

import "fmt"

// balancingNeeds sets what kernels need of a multiprocessor beside each other, with and without what balances lanes: for the joins of Figure 4.9 and the filter of Figure 4.12.
func balancingNeeds(b *bench, r *Result) error {
	n, sf := b.rows(10_000_000), b.sf(5)
	r.Workload = fmt.Sprintf("pk-4zipf-fk of about %d rows; lineitem filtered and joined with part, TPC-H, scale factor %g", n, sf)
	r.Cost = "registers, bytes and instructions"
	r.Table.Columns = []string{"kernel", "registers of a thread", "shared memory of a block, bytes", "instructions", "threads that a multiprocessor can hold, %"}
	if err := b.keyTables(keyDistributions[4], n); err != nil {
		return err
	}
	if err := b.here(fmt.Sprintf("call tpch(sf => %g)", sf)); err != nil {
		return err
	}
	filter := "select sum(p_size * l_extendedprice) from lineitem, part where l_partkey = p_partkey and l_quantity <= 5"
	for _, k := range []struct {
		way way
		sql string
	}{
		{together("expansion, a loop per lane", asWritten, "set expand = lane"), operators(0, expansion)},
		{together("expansion, push-down", asWritten, "set expand = warp"), operators(0, expansion)},
		{together("expansion, balanced", asWritten, "set expand = balanced"), operators(0, expansion)},
		{together("filter, one row per lane", "set row_front = off", "set wide_rows = off"), filter},
		{together("filter, lane refill", "set refill = flush"), filter},
		{together("filter, a front of several rows", "set refill = off"), filter},
		{together("filter, a front and a list", "set refill = list"), filter},
	} {
		s, err := b.try(k.way, k.sql)
		if err != nil {
			return err
		}
		n := s.Needs[len(s.Needs)-2] // the last reads the sum
		r.Table.add(k.way.name, n.Registers, n.Shared, n.Code, n.Occupancy)
	}
	code, registers := r.Table.column(2), r.Table.column(0)
	r.Claim = "push-down takes 29 registers instead of 19, refill 33 instead of 36 and 1 KB of shared memory; code grows 2.2× and 3.9×, and all of it is far from what there is"
	r.Ours = fmt.Sprintf("push-down takes %.0f registers instead of %.0f, refill %.0f instead of %.0f and %.0f bytes of shared memory; code grows %s and %s",
		registers[1], registers[0], registers[4], registers[3], r.Table.column(1)[4], times(code[1]/code[0]), times(code[4]/code[3]))
	if b.Device == "simt" {
		r.Notes = []string{"registers are estimated: PTX has as many as it likes"}
	}
	r.Picture = r.chart(r.Cost, 0, 2).Bars()
	return nil
}
