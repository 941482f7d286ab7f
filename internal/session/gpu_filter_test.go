package session

import "testing"

// TestGPUKeySets: sets of keys of every kind drop rows in scans, and only those that would be dropped later: dense unique keys,
// dense ones that come again, the second of two keys, keys far apart (a Bloom filter), keys with NULLs, negative ones.
func TestGPUKeySets(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table f as select g id, g % 2000 - 1000 k, case when g % 5 = 0 then null else (g::bigint * 7919) % 3000 end n,
		(g % 3000)::bigint * 1000000007 - 5000000000 far, g % 7 small from generate_series(1, 12000) x(g)`)
	mustRun(t, s, "create table dense as select g - 1000 k, 'name '||g name from generate_series(1, 2000, 9) x(g)")
	mustRun(t, s, "create table twice as select g - 1000 k, g v from generate_series(1, 2000, 9) x(g) union all select g - 1000, -g from generate_series(1, 2000, 18) y(g)")
	mustRun(t, s, "create table two as select g % 7 a, case when g % 4 = 0 then null else (g::bigint * 7919) % 3000 end b from generate_series(1, 300) x(g)")
	mustRun(t, s, "create table wide as select g::bigint * 1000000007 - 5000000000 far, g v from generate_series(0, 3000, 11) x(g)")
	var total [2]uint64
	for _, sql := range []string{
		"select count(*), sum(f.id), max(dense.name) from f, dense where f.k = dense.k",
		"select count(*), sum(f.id) from f where k in (select k from dense)",
		"select count(*), sum(f.id), sum(v) from f, twice where f.k = twice.k",
		"select count(*), sum(f.id) from f, two where f.small = two.a and f.n = two.b",
		"select count(*), sum(f.id), sum(wide.v) from f, wide where f.far = wide.far",
		"select count(*), sum(f.id) from f, wide, dense where f.far = wide.far and f.k = dense.k",
		"select count(*) from f, (select k from dense where k > 5000) d where f.k = d.k",
	} {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want := rowsOf(t, s, sql)
		var instrs [2]uint64 // without sets, with them
		for i, on := range []string{"off", "on"} {
			dev, store := limited(t, 5, 0)
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) { x.Device, x.Check, x.Off.WideRows = "gpu", true, true }) // those save more where nothing is dropped
			mustRun(t, s, "set semijoin_filters = "+on)
			onCPU := map[string]int{}
			if _, err := askNoting(s, sql, onCPU); err != nil || len(onCPU) > 0 {
				t.Errorf("%s: %v %v", sql, err, onCPU)
			}
			instrs[i] = uint64(dev.Counts().Lanes.WarpInstrs)
			total[i] += instrs[i]
			if got := rowsOf(t, s, sql); got != want {
				t.Errorf("%s: %s, want %s", sql, got, want)
			}
		}
		t.Logf("%d instructions without sets, %d with them: %s", instrs[0], instrs[1], sql)
	}
	if total[1] > total[0]*4/5 {
		t.Errorf("%d instructions without sets, %d with them", total[0], total[1])
	}
}
