package lab

import "fmt"

// asWritten measures a query under a model that does not fuse, with the selections that it has: the optimizer would make one of those that follow each other.
func (b *bench) asWritten(m model, sql string) (s sample, err error) {
	if err := b.do("set disabled_optimizers = 'pushdown'"); err != nil {
		return s, err
	}
	if s, err = b.under(m, sql); err == nil {
		err = b.do("reset disabled_optimizers")
	}
	return s, err
}

// inModels measures a query in one kernel, in passes, and operator by operator as it is written.
func (b *bench) inModels(sql string) (fused, passes, apart sample, err error) {
	if fused, err = b.under(models[0], sql); err == nil {
		if passes, err = b.under(models[1], sql); err == nil {
			apart, err = b.asWritten(models[2], sql)
		}
	}
	return fused, passes, apart, err
}

// pattern is a sequence of operators that Kernel Weaver found to be frequent in TPC-H.
type pattern struct{ name, sql string }

// fivePatterns are those of its Figure 24, over tables of four columns with so many different values.
func fivePatterns(keys int) []pattern {
	half, most := keys/2, keys*9/10
	return []pattern{
		{"(a) selections, projection", fmt.Sprintf("select w from (select * from (select * from (select * from weave where k < %d) where v < %d) where u < %d) t where w >= 0", most, most, most)},
		{"(b) joins", "select t.w, a.x, b.x from weave t join weave_a a on t.k = a.k join weave_b b on t.v = b.k"},
		{"(c) selections and joins", fmt.Sprintf("select t.w, a.x, b.x from (select * from weave where k < %d) t join (select * from weave_a where x < %d) a on t.k = a.k join (select * from weave_b where x < %d) b on t.v = b.k", half, half, half)},
		{"(d) selections of one input", fmt.Sprintf("select w from weave where k < %d union all select w from weave where v < %d", half, half)},
		{"(e) arithmetic", "select p * (1 - d) * (1 + t) from (select u * 1.5::double as p, v * 0.0000001::double as d, w * 0.0000001::double as t from weave) x"},
	}
}

// weave makes their tables; of the columns each has a million values at most, which are the keys of two tables.
func (b *bench) weave(rows int) (keys int, err error) {
	keys = min(rows/60*10, 1_000_000)
	return keys, b.here(fmt.Sprintf("create table weave as select (i * 7919 %% %d)::int as k, (i * 104729 %% %d)::int as v, (i * 1299709 %% %d)::int as u, (i %% %d)::int as w from generate_series(1::bigint, %d) g(i)", keys, keys, keys, keys, rows),
		fmt.Sprintf("create table weave_a as select i::int as k, (i::bigint * 31 %% %d)::int as x from generate_series(0, %d) g(i)", keys, keys-1),
		fmt.Sprintf("create table weave_b as select i::int as k, (i::bigint * 37 %% %d)::int as x from generate_series(0, %d) g(i)", keys, keys-1))
}

// woven says what the patterns are asked of.
func woven(rows, keys int) string {
	return fmt.Sprintf("the patterns of Figure 24 over %d rows of four integers; joins with two tables of %d keys", rows, keys)
}

// patterns runs each fused and operator by operator.
func patterns(b *bench, r *Result) error {
	rows := b.rows(60_000_000)
	r.Table.Columns = []string{"pattern", "fused", "operator at a time", "speedup, ×", "multi-pass", "MB through memory, fused", "operator at a time", "of which fusion saves, ×", "cut within 36 registers"}
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
		cut, err := b.under(model{"within 36 registers", "fuse_budget = 36"}, p.sql)
		if err != nil {
			return err
		}
		mb := func(s sample) float64 { return float64(s.Moved.Memory) / 1e6 }
		r.Table.add(p.name, fused.Cost, apart.Cost, apart.Cost/fused.Cost, passes.Cost, mb(fused), mb(apart), mb(apart)/mb(fused), cut.Cost)
	}
	r.Claim = "2.89× on average, most where only threads depend on each other (a, e); 59% of the memory's cycles are saved"
	r.Ours = fmt.Sprintf("%s on average; %s of the bytes through memory are saved", times(geomean(r.Table.column(2))),
		fmt.Sprintf("%.0f%%", 100*(1-1/geomean(r.Table.column(6)))))
	r.Notes = []string{"(d) is two pipelines, each of which reads the table: fusion joins operators that follow each other, not those that read the same",
		"36 registers are fewer than the kernels of (b) and (c) are estimated to need, which are cut after the first join; what the others need, their parts would need as well, and they stay whole"}
	r.Picture = r.chart("×", 2, 6).Bars()
	return nil
}

// ratiosOfSelects sweeps how much two selections let pass, one after the other.
func ratiosOfSelects(b *bench, r *Result) error {
	rows := b.rows(60_000_000)
	r.Workload = fmt.Sprintf("two selections of %d rows, each of which lets a share pass", rows)
	r.Table.Columns = []string{"ratio", "fused", "operator at a time", "speedup, ×"}
	keys, err := b.weave(rows)
	if err != nil {
		return err
	}
	for _, share := range []int{10, 50, 90} {
		sql := fmt.Sprintf("select w from (select * from (select * from weave where k < %d) where v < %d) t", keys*share/100, keys*share/100)
		fused, err := b.under(models[0], sql)
		if err != nil {
			return err
		}
		apart, err := b.asWritten(models[2], sql)
		if err != nil {
			return err
		}
		r.Table.add(fmt.Sprintf("%d%%", share), fused.Cost, apart.Cost, apart.Cost/fused.Cost)
	}
	gain := r.Table.column(2)
	r.Claim = "1.28× at 10%, 2.01× at 90%: lanes without a row cost something, but do not eat up what fusion gains"
	r.Ours = fmt.Sprintf("%s at 10%%, %s at 90%%", times(gain[0]), times(gain[2]))
	r.Picture = r.chart(r.Cost, 0, 1).Lines()
	return nil
}
