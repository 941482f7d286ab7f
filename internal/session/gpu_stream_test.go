package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestGPUStream: tables that are larger than the memory that columns may take go to the device in chunks, and all queries are
// answered as ever. Chunks whose rows find too little room run again.
func TestGPUStream(t *testing.T) {
	for i, limit := range []int64{160 << 10, 700 << 10} {
		for _, suite := range []string{"tpch", "ssb"} {
			s := load(t, suite, "0.01")
			dev, store := limited(t, uint64(i), limit)
			if i == 0 {
				store.Room = 50
			}
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
			for k, q := range thin(suiteQueries(suite)) {
				if testing.Short() && k > 0 && (k+i)%4 != 0 { // the first always: it needs more than the limit
					continue
				}
				before := dev.Counts()
				checkAnswer(t, s, suite, "0.01", q)
				onDevice(t, s, suite, q)
				c := dev.Counts()
				t.Logf("%-5s %4d launches, %4d uploads of %d bytes", q, c.Launches-before.Launches, c.Uploads-before.Uploads, c.UploadBytes-before.UploadBytes)
			}
			if p := store.Peak(); p > limit || p < limit/4 {
				t.Errorf("columns took %d bytes, may take %d", p, limit)
			}
		}
	}
}

// chunkQueries bring chunks of rows of every form to sinks of every kind.
var chunkQueries = []string{
	"select small, count(*), sum(big), min(d), max(f), count(wide), sum(small) from r group by small",
	"select dict, small, count(*), sum(id) from r group by dict, small",
	"select txt, count(*), sum(id), min(id) from r group by txt",
	"select id, count(*), sum(small) from r group by id",
	"select id % 3000, f, count(*), sum(id) from r where f <> 0 or f is null group by 1, 2", // which zero stands for a group is open
	"select x, sum(n) from (select small x, 1 n from r union all select id % 500, 2 from r union all select id, 3 from r where flag) y group by x",
	"select x, y, sum(n) from (select small x, d y, 1 n from r union all select id, d, 2 from r) y group by x, y",
	"select count(*), sum(id), min(f), max(big), sum(wide), count(txt), count(distinct dict) from r",
	"select distinct wide, flag from r",
	"select a.id, a.txt, b.dict, b.wide from r a join r b on a.id = b.id + 7 where a.flag",
	"select a.small, count(*), sum(b.id) from r a join r b on a.small = b.small where a.id % 97 = 1 group by a.small",
	"select a.id, b.id from r a left join r b on a.big = b.big and b.id % 3 = 0 where a.id % 11 = 0",
	"select id from r where txt not in (select txt from r where id % 2 = 0 and txt is not null)",
	"select id, txt, dict, f from r order by txt desc nulls last, id limit 300",
	"select * from r where f is null or txt like '%9'",
}

// TestGPUChunks: rows come to every sink in many chunks, some of which run more than once.
func TestGPUChunks(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, strings.Replace(sortRows, "1200", "6000", 1))
	for i, c := range []struct{ limit, room int64 }{{48 << 10, 1}, {64 << 10, 0}, {150 << 10, 200}} {
		if testing.Short() && i > 0 {
			break
		}
		_, store := limited(t, uint64(i), c.limit)
		store.Room = c.room
		s.DB.Accelerate(store)
		for _, sql := range thin(chunkQueries) {
			s.Configure(func(x *Settings) { x.Device = "cpu" })
			want := sortedLines(rowsOf(t, s, sql))
			s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true })
			onCPU := map[string]int{}
			if _, err := askNoting(s, sql, onCPU); err != nil || len(onCPU) > 0 {
				t.Errorf("%s: %v %v", sql, err, onCPU)
			}
			if got := sortedLines(rowsOf(t, s, sql)); got != want {
				t.Errorf("%s:\n%.400s\nwant\n%.400s", sql, got, want)
			}
		}
		// An error in some row ends the kernel, whatever the other lanes of its warp do.
		if _, err := s.Query(context.Background(), "select id % 3000, f, sum(1 / (id - 5000)) from r group by 1, 2"); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("division by zero: %v", err)
		}
		if p := store.Peak(); p > c.limit || p < c.limit/4 {
			t.Errorf("columns took %d bytes, may take %d", p, c.limit)
		}
	}
}

// TestGPUChunksAtOnce: queries that stream share the limit, and none gets another's rows.
func TestGPUChunksAtOnce(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, sortRows)
	s.Configure(func(x *Settings) { x.Device = "cpu" })
	queries := chunkQueries[:9]
	var want []string
	for _, sql := range queries {
		rows, _, err := asked(s, sql)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, sortedLines(rows))
	}
	const limit = 40 << 10
	_, store := limited(t, 9, limit)
	store.Room = 20
	s.DB.Accelerate(store)
	var all sync.WaitGroup
	for k := range 6 {
		one := New(s.DB)
		one.Configure(func(x *Settings) { x.Device = "gpu" })
		all.Go(func() {
			for i := range queries {
				i = (i + k) % len(queries)
				rows, notices, err := asked(one, queries[i])
				if got := sortedLines(rows); err != nil || notices != "" || got != want[i] {
					t.Errorf("%s: %s %v\n%.300s\nwant\n%.300s", queries[i], notices, err, got, want[i])
				}
			}
		})
	}
	all.Wait()
	if p := store.Peak(); p > limit {
		t.Errorf("columns took %d bytes, may take %d", p, limit)
	}
	if n := store.AtOnce(); n < 2 {
		t.Errorf("%d query ran at a time", n)
	}
}

// TestGPUZones: what cannot pass the filters of a scan, by the zones of its segments, does not come over the bus.
func TestGPUZones(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table z as select i as a, i % 7 as b, case when i % 3 > 0 then i end as c from generate_series(1, 200000) g(i)")
	mustRun(t, s, "create table few as select 150000 + i as k from generate_series(1, 30) g(i)")
	const limit = 200 << 10
	dev, store := limited(t, 3, limit)
	s.DB.Accelerate(store)
	carried := func(sql string) int64 {
		t.Helper()
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		on, _, err := asked(s, sql)
		if err != nil {
			t.Fatal(err)
		}
		want := sortedLines(on)
		s.Configure(func(x *Settings) { x.Device = "gpu" })
		before := dev.Counts().UploadBytes
		rows, notices, err := asked(s, sql)
		if got := sortedLines(rows); err != nil || notices != "" || got != want {
			t.Errorf("%s: %s %v\n%.300s\nwant\n%.300s", sql, notices, err, got, want)
		}
		return dev.Counts().UploadBytes - before
	}
	all := carried("select count(*), sum(a), sum(b), sum(c) from z where a > 0")
	for _, c := range []struct {
		sql  string
		part float64 // of the rows
	}{
		{"select count(*), sum(a), sum(b), sum(c) from z where a <= 1000", 1.0 / 3},
		{"select count(*), sum(a), sum(b), sum(c) from z where a > 131072 and a < 131080", 1.0 / 3},
		{"select a, b, c from z where a between 65530 and 65540", 2.0 / 3},
		{"select b, count(*), min(a), max(c) from z where a > 197000 group by b", 0.05},
		{"select count(*), sum(a), sum(b), sum(c) from z where a < 0", 0},
		{"select b, sum(c) from z where a > 200000 group by b", 0},
		{"select sum(b), sum(c) from z join few on a = k", 1.0 / 3},
	} {
		if n := carried(c.sql); float64(n) > (c.part+0.05)*float64(all) {
			t.Errorf("%s: %d bytes over the bus; all rows take %d", c.sql, n, all)
		}
	}
	if p := store.Peak(); p > limit {
		t.Errorf("columns took %d bytes, may take %d", p, limit)
	}
}

func sortedLines(rows string) string {
	lines := strings.Split(rows, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
