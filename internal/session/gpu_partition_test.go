package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// partitionTables have keys of every form, NULLs among them, one that most rows have, and more groups than a block keeps.
func partitionTables(t *testing.T, s *Session) {
	t.Helper()
	mustRun(t, s, `create table p as select i as id, (i * 7919) % 12007 as k, case when i % 5 > 0 then (i * 31) % 200 - 100 end as n, case when i % 10 > 0 then 3 else i end as heavy,
		case when i % 4 > 0 then 'text no. ' || (i * 17) % 300 || ' żółw' end as t, 'code ' || i % 7 as c, case when i % 6 > 0 then ((i * 13) % 91 - 45) / 4::double end as f,
		(i * 1000000007::bigint) % 1000003 * 4000000000 as big, ((i * 7 - 5000)::numeric(30, 2) * 1e20)::numeric(30, 2) as wide, date '2020-01-01' + (i * 11) % 400 as d from generate_series(1, 1500) g(i)`)
	mustRun(t, s, "create table none as select * from p where id < 0")
	mustRun(t, s, "create table j as select i % 40 - 20 as n, i as v, 'of ' || i % 3 as z from generate_series(1, 100) g(i)")
}

// partitionQueries group them, and ask for all aggregates. What an aggregate of floats is may depend on their order, but not where all sums are exact.
var partitionQueries = []string{
	"select k, count(*) from p group by k",
	"select k, count(*), sum(id), min(n), max(n), count(n), avg(n), bool_and(n > 0), bool_or(n > 50) from p group by k",
	"select n, count(*), sum(wide), min(wide), max(wide), sum(f), min(f), max(f), min(t), max(c) from p group by n",
	"select heavy, count(*), sum(id), sum(big), max(t) from p group by heavy",
	"select t, count(*), sum(n), min(d) from p group by t",
	"select c, t, n, count(*), sum(id) from p group by c, t, n",
	"select f, count(*), sum(n) from p group by f",
	"select wide, count(*), max(id) from p group by wide",
	"select big, f, count(*), sum(wide) from p group by big, f",
	"select d, n, count(distinct c), count(distinct k), sum(distinct n) from p group by d, n",
	"select k % 1000 + n, count(*), sum(id) filter (where n > 0) from p group by 1",
	"select upper(t), count(*) from p group by 1",
	"select distinct k, n from p where id % 3 = 0",
	"select k, sum(id) from p where n > 90 and c <> 'code 3' group by k",
	"select k, sum(id) from p where n > 1000 group by k",
	"select k, sum(id), min(t) from none group by k",
	"select p.k, j.z, count(*), sum(j.v), sum(p.wide) from p join j on p.n = j.n group by p.k, j.z",
	"select p.n, count(j.v), sum(j.v) from p left join j on p.n = j.n and j.v > p.id group by p.n",
	"select x, count(*) from (select k x from p union all select v from j union all select n from p where id < 50) u group by x",
	"select any_value(c), c, sum(100 / n) from p where n > 0 group by c",
	"select c, sum(100 / (id - 300)) from p group by c",
	"select 100 / (id - 300), count(*) from p group by 1",
	"select s, count(*) from (select k, sum(id) s from p group by k) q group by s",
	"select k, string_agg(c, ',' order by id), count(*) from p where id < 400 group by k",
	"select 7, count(*) from p group by 1",
	"select k, sum(try(100 / (id - 300))), count(distinct try(1 / n)) from p group by k", // which Go computes
	"select grouping(c, n), c, n, count(*), sum(id) from p group by rollup (c, n)",
}

// TestPartition: groups of rows that were partitioned before have the CPU's values, in whatever number of parts, with launches of any shape, sinks that are far too small at first,
// columns that stream and any order of blocks and warps.
func TestPartition(t *testing.T) {
	s := New(NewDB())
	partitionTables(t, s)
	queries := thin(partitionQueries)
	want := make([]string, len(queries))
	for i, sql := range queries {
		want[i] = sortedLines(answerText(s, sql, nil))
	}
	for k, set := range []func(*gpu.Store, *Settings){
		func(_ *gpu.Store, x *Settings) {},
		func(g *gpu.Store, x *Settings) { g.Room, x.Grid, x.Block, x.Partition = 3, 2, 32, 2 },
		func(_ *gpu.Store, x *Settings) {
			x.Grid, x.Block, x.Partition, x.Expand, x.Refill = 3, 96, 512, phys.ExpandBalanced, phys.RefillList
		},
		func(_ *gpu.Store, x *Settings) {
			x.Block, x.Refill, x.Expand, x.Off.NarrowTuples = 1024, phys.RefillFlush, phys.ExpandWarp, true
		},
		func(_ *gpu.Store, x *Settings) { x.Feed, x.FeedBlock, x.Off.WideRows = phys.FeedBatch, 2<<10, true },
		func(_ *gpu.Store, x *Settings) {
			x.Fuse, x.Partition, x.Off.PackedKeys, x.Off.DirectTables = phys.FuseOperator, 64, true, true
		},
		func(_ *gpu.Store, x *Settings) { x.Resolve, x.Off.RowFront = phys.ResolveBlock, true },
	} {
		accelerate(t, s, uint64(k), func(g *gpu.Store, x *Settings) {
			*x = DefaultSettings()
			x.Device, x.Check, x.Partition, x.Share.Mode = "gpu", true, phys.PartitionOn, phys.ShareOff
			set(g, x)
		})
		for i, sql := range queries {
			if (i+k)%3 != 0 || (testing.Short() || raced) && (i+k)%6 != 0 {
				continue
			}
			onCPU := map[string]int{}
			if got := sortedLines(answerText(s, sql, onCPU)); got != want[i] || len(onCPU) > 0 {
				t.Errorf("way %d, %s\ngot  %.300s\nwant %.300s\n%v", k, sql, got, want[i], onCPU)
			}
		}
	}
}

// TestPartitionNear: rows in many parts find their groups nearer to each other, by hash and by key: those that a warp takes at a time touch fewer sectors of the table. To get there costs no
// atomic operation on memory that blocks share, and a row is written once, by one store.
func TestPartitionNear(t *testing.T) {
	s, _, _ := onGPU(t, 0, device.SimulatedOptions{})
	const n = 30_000
	mustRun(t, s, fmt.Sprintf("create table r as select (i * 7919::bigint) %% 10007 k, (i * 7919::bigint) %% 10007 * 1000003 h, i %% 7 v from generate_series(1, %d) g(i)", n))
	s.Configure(func(x *Settings) { x.Grid, x.Block, x.Home = 4, 128, phys.HomeGlobal })
	for _, c := range []struct {
		key, table string
		most       string // parts: those of a directory are as many as it has slots for
		sectors    uint64 // that are written, at the most: tuples of 8 bytes, of which several go to one, and of 16
		fewer      uint64
	}{{"k", "groups in dense directory of 10007 slots", "313", n/2 + n/8, n / 2}, {"h", "groups in hash table", "512", n + n/8, n / 2}} {
		sql := "select " + c.key + ", sum(v) from r group by 1"
		sectors := map[string]uint64{}
		for _, parts := range []string{"2", "512"} {
			mustRun(t, s, "set partition = '"+parts+"'")
			has := parts
			if parts == "512" {
				has = c.most
			}
			if text := explainText(t, s, "explain (pipelines) "+sql); !strings.Contains(text, c.table) || !strings.Contains(text, "rows in "+has+" parts by group: counted, prefix sum, written") {
				t.Errorf("%s parts:\n%s", parts, text)
			}
			res, err := s.Query(context.Background(), sql)
			if err != nil {
				t.Fatal(err)
			}
			writes, groups := &res.Stats.Pipelines[0].Lanes, &res.Stats.Pipelines[1].Lanes
			if writes.Atomics > 0 || writes.SectorsWritten > c.sectors {
				t.Errorf("%s: writing in %s parts takes %d atomics and %d sectors", c.key, parts, writes.Atomics, writes.SectorsWritten)
			}
			sectors[parts] = groups.SectorsRead + groups.SectorsWritten
			res.Close()
		}
		if sectors["512"]+c.fewer > sectors["2"] {
			t.Errorf("by %s: %d sectors for rows in 512 parts, %d in 2", c.key, sectors["512"], sectors["2"])
		}
	}
}
