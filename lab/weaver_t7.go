package lab

import "fmt"

// singleOperators are those of Table 7, each in a kernel of its own.
func singleOperators(keys int) []pattern {
	return []pattern{
		{"PROJECT", "select w from weave"},
		{"SELECT", fmt.Sprintf("select k, v, u, w from weave where k < %d", keys/2)},
		{"JOIN", "select t.w, a.x from weave t join weave_a a on t.k = a.k"},
		{"+/-", "select u + v - w from weave"},
		{"Multiply", "select u::bigint * v from weave"},
	}
}

// fusedNeeds tells what single operators need of a multiprocessor, and what fused patterns do.
func fusedNeeds(b *bench, r *Result) error {
	rows := b.rows(60_000_000)
	r.Workload = fmt.Sprintf("single operators and the patterns of Figure 24 over %d rows; of joins, the kernel that looks rows up", rows)
	r.Cost = "registers, bytes, % and instructions"
	r.Table.Columns = []string{"kernel", "registers of a thread", "shared memory of a block, bytes", "occupancy, %", "instructions"}
	keys, err := b.weave(rows)
	if err != nil {
		return err
	}
	if err := b.do("set late_columns = off", "set direct_scan = off"); err != nil { // a kernel shall read and write what passes through
		return err
	}
	for _, p := range append(singleOperators(keys), fivePatterns(keys)...) {
		s, err := b.ask(p.sql)
		if err != nil {
			return err
		}
		n := s.Needs[len(s.Needs)-1] // those before it build tables
		r.Table.add(p.name, n.Registers, n.Shared, n.Occupancy, n.Code)
	}
	if err := b.do("reset late_columns", "reset direct_scan"); err != nil {
		return err
	}
	registers, occupancy := r.Table.column(0), r.Table.column(2)
	few, many := registers[:5], registers[5:]
	r.Claim = "single operators take 10 to 47 registers, fused patterns 22 to 62, and up to 23 KB of shared memory: occupancy falls from 38–100% to 17–88%"
	r.Ours = fmt.Sprintf("single operators take %.0f to %.0f registers, fused patterns %.0f to %.0f, and at most %.0f bytes of shared memory; occupancy is %.0f%% at least, and %.0f%% of the fused ones",
		best(few), worst(few), best(many), worst(many), worst(r.Table.column(1)), best(occupancy[:5]), best(occupancy[5:]))
	r.Notes = []string{"joins hash: they need no shared memory, where the paper's join sorted pieces in it"}
	if b.Device == "simt" {
		r.Notes = append(r.Notes, "registers are estimated: PTX has as many as it likes")
	}
	r.Picture = r.chart("registers, %", 0, 2).Bars()
	return nil
}
