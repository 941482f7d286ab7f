package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// partGroupQueries are groupings whose groups blocks of a GPU make part after part in their shared memory, and others for which they cannot.
var partGroupQueries = []struct {
	sql  string
	here bool
}{
	{"select k, count(*), sum(id) from q group by k", true},
	{"select k, sum(n), min(n), max(n), count(n), avg(n) from q group by k", true},
	{"select k, sum(f), min(f), max(f), bool_and(n > 0), bool_or(n > 50) from q group by k", true},
	{"select k - 20000, min(big), max(big) from q group by 1", true},
	{"select distinct k from q", true},
	{"select k, sum(id) filter (where n > 0), count(*) filter (where n is null) from q group by k", true},
	{"select nk, count(*), sum(n) from q group by nk", true},
	{"select a, b, count(*), sum(id) from q group by a, b", true},
	{"select a, nb, count(*), sum(id), max(n) from q group by a, nb", true},
	{"select heavy, count(*), sum(id), sum(n) from q group by heavy", true},
	{"select k, sum(id) from q where n > -80 group by k", true},
	{"select k, sum(id) from q where n * n > 1e9 group by k", true},
	{"select k, sum(id) from q where n > 1000 group by k", false},
	{"select k, sum(big) from q group by k", false},
	{"select k, sum(100 / (id - 300)) from q group by k", true},
	{"select q.k, count(*), sum(w.v) from q join w on q.n = w.n group by q.k", true},
	{"select k, max(t) from q group by k", false},
	{"select k, sum(wide) from q group by k", false},
	{"select k, min(wide) from q group by k", false},
	{"select k, any_value(n) from q group by k", false},
	{"select f, count(*) from q group by f", false},
	{"select t, count(*) from q group by t", false},
	{"select x, count(*) from (select k x from q union all select id from q) u group by x", false},
}

// TestPartGroups: such groups have the CPU's values, with launches of any shape, sinks that are far too small at first, columns that stream and any order of blocks and warps.
func TestPartGroups(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table q as select i as id, (i * 7919) % 20011 as k, case when i % 5 > 0 then (i * 31) % 200 - 100 end as n, case when i % 10 > 0 then 3 else i end as heavy,
		case when i % 3 > 0 then (i * 7919) % 20011 - 9000 end as nk, i % 150 as a, (i * 7) % 211 - 50 as b, case when i % 7 > 0 then (i * 7) % 211 - 50 end as nb,
		'text ' || i % 300 as t, case when i % 6 > 0 then ((i * 13) % 91 - 45) / 4::double end as f, (i * 1000000007::bigint) % 1000003 * 4000000000 as big,
		((i * 7 - 5000)::numeric(30, 2) * 1e20)::numeric(30, 2) as wide from generate_series(1, 15000) g(i)`)
	mustRun(t, s, "create table w as select i % 40 - 20 as n, i as v from generate_series(1, 50) g(i)")
	want := make([]string, len(partGroupQueries))
	for i, q := range partGroupQueries {
		want[i] = sortedLines(answerText(s, q.sql, nil))
	}
	for k, set := range []func(*gpu.Store, *Settings){
		func(*gpu.Store, *Settings) {},
		func(g *gpu.Store, x *Settings) { g.Room, x.Grid, x.Block = 3, 2, 32 },
		func(_ *gpu.Store, x *Settings) { x.Grid, x.Block, x.Partition = 3, 96, 512 },
		func(_ *gpu.Store, x *Settings) { x.Block, x.Partition, x.Off.NarrowTuples = 1024, 2, true },
		func(_ *gpu.Store, x *Settings) { x.Off.WideRows, x.Off.RowFront = true, true },
		func(_ *gpu.Store, x *Settings) { x.Feed, x.FeedBlock = phys.FeedBatch, 2<<10 }, // whose parts are of each chunk alone
		func(_ *gpu.Store, x *Settings) { x.Off.BlockGroups = true },
	} {
		accelerate(t, s, uint64(k), func(g *gpu.Store, x *Settings) {
			*x = DefaultSettings()
			x.Device, x.Check, x.Partition, x.Share.Mode = "gpu", true, phys.PartitionOn, phys.ShareOff
			set(g, x)
		})
		for i, q := range partGroupQueries {
			if (i+k)%3 != 0 || (testing.Short() || raced) && (i+k)%9 != 0 {
				continue
			}
			onCPU := map[string]int{}
			if got := sortedLines(answerText(s, q.sql, onCPU)); got != want[i] || len(onCPU) > 0 {
				t.Errorf("way %d, %s\ngot  %.300s\nwant %.300s\n%v", k, q.sql, got, want[i], onCPU)
			}
		}
	}
	accelerate(t, s, 0, func(_ *gpu.Store, x *Settings) {
		*x = DefaultSettings()
		x.Device, x.Partition = "gpu", phys.PartitionOn
	})
	for _, q := range partGroupQueries {
		if text := explainText(t, s, "explain (pipelines) "+q.sql); strings.Contains(text, "at a time in shared memory") != q.here {
			t.Errorf("%s: in shared memory should be %v\n%s", q.sql, q.here, text)
		}
	}
}

// TestPartGroupsAtomics: no row changes anything in device memory. Room for tuples is taken once for those of a warp.
func TestPartGroupsAtomics(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	const n, keys = 60_000, 20_011
	mustRun(t, s, fmt.Sprintf("create table r as select (i * 7919::bigint) %% %d k, i %% 7 v from generate_series(1, %d) g(i)", keys, n))
	mustRun(t, s, "set partition = on")
	res, err := s.Query(t.Context(), "select k, sum(v) from r group by k")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	groups := &res.Stats.Pipelines[1].Lanes
	if groups.Atomics > keys/32+1000 || groups.SharedAtomics < n {
		t.Errorf("%d atomics, %d of them in shared memory", groups.Atomics, groups.SharedAtomics)
	}
}
