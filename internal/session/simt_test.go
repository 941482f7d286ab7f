package session

import (
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/types"
)

// onSimt runs f with the session's queries on the simulated GPU.
func onSimt(s *Session, f func()) {
	s.Configure(func(x *Settings) { x.Device = "simt" })
	defer s.Configure(func(x *Settings) { x.Device = "cpu" })
	f()
}

// sorted are rows as text in an order of their own: without ORDER BY, devices may differ in it.
func sorted(rows [][]types.Value) []string {
	var out []string
	for _, r := range rows {
		var b strings.Builder
		for _, v := range r {
			switch {
			case v.Null:
				b.WriteString("NULL|")
			case v.Type.IsFloat():
				fmt.Fprintf(&b, "%.12g|", v.F)
			default:
				b.WriteString(v.String() + "|")
			}
		}
		out = append(out, b.String())
	}
	sort.Strings(out)
	return out
}

// devicesAgree runs a query on the CPU and on the simulated GPU: the same rows, or the same error.
func devicesAgree(t *testing.T, s *Session, text string) {
	t.Helper()
	want, wantErr := ask(s, text)
	var got [][]types.Value
	var err error
	onSimt(s, func() { got, err = ask(s, text) })
	if (err == nil) != (wantErr == nil) || err != nil && diag.CodeOf(err) != diag.CodeOf(wantErr) && !someRowFails(s, text, diag.CodeOf(err)) {
		t.Errorf("%s\nsimt: %v\ncpu: %v", text, err, wantErr)
		return
	}
	if a, b := sorted(got), sorted(want); strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("%s\nsimt:\n%s\ncpu:\n%s", text, strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
}

// someRowFails reports that one of the first rows of v, alone, fails with a code on the CPU: where several rows fail, which of them
// ends a query is not said.
func someRowFails(s *Session, text, code string) bool {
	for id := range 100 {
		one := strings.Replace(text, " from v", fmt.Sprintf(" from (select * from v where id = %d) v", id), 1)
		if _, err := ask(s, one); one != text && diag.CodeOf(err) == code {
			return true
		}
	}
	return false
}

// TestSimtAnswers holds both benchmarks to the reference answers on the simulated GPU.
func TestSimtAnswers(t *testing.T) {
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		s.Configure(func(x *Settings) { x.Device, x.Check = "simt", true })
		for _, q := range thin(suiteQueries(suite)) {
			checkAnswer(t, s, suite, "0.01", q)
		}
	}
}

// simtFive are the queries that are run in many ways: aggregation without groups, with few and
// with many, and joins of both kinds.
var simtFive = map[string][]string{"tpch": {"q1", "q3", "q6"}, "ssb": {"q1.1", "q2.1"}}

// TestSimtMatrix: the shape of launches, their number and the encoding of columns change nothing.
func TestSimtMatrix(t *testing.T) {
	for suite, queries := range simtFive {
		for _, enc := range []bool{true, false} {
			s := New(NewDB())
			s.Configure(func(x *Settings) { x.Narrow, x.Dict = enc, enc })
			loadInto(t, s, suite, "0.01")
			for _, c := range thin([]struct{ grid, block, rows int }{{1, 32, 0}, {4, 32, 0}, {1, 128, 0}, {4, 128, 0}, {3, 96, 10000}, {0, 1024, 999}}) {
				if testing.Short() && (c.rows > 0) != enc {
					continue
				}
				s.Configure(func(x *Settings) { x.Device, x.Grid, x.Block, x.MorselRows = "simt", c.grid, c.block, c.rows })
				t.Run(fmt.Sprintf("%s narrow=%v grid=%d block=%d rows=%d", suite, enc, c.grid, c.block, c.rows), func(t *testing.T) {
					for _, q := range queries {
						checkAnswer(t, s, suite, "0.01", q)
					}
				})
			}
		}
	}
}

// TestSimtPassesOff: other plans, the same rows.
func TestSimtPassesOff(t *testing.T) {
	s := load(t, "tpch", "0.01")
	for _, list := range []string{"groupkeys", "joinorder", "share", "prune", "reduce"} {
		if testing.Short() && list != "joinorder" {
			continue
		}
		t.Run(list, func(t *testing.T) {
			s.Configure(func(x *Settings) {
				x.Device, x.Check = "simt", true
				if err := x.setDisabled(list); err != nil {
					t.Fatal(err)
				}
			})
			for _, q := range thin(suiteQueries("tpch")) {
				if list != "joinorder" || bearable[q] {
					checkAnswer(t, s, "tpch", "0.01", q)
				}
			}
		})
	}
}

// TestSimtFunctions: every function gives the same on both devices, also where it fails.
func TestSimtFunctions(t *testing.T) {
	for _, dict := range []bool{true, false} {
		s := New(NewDB())
		s.Configure(func(x *Settings) { x.Dict, x.Narrow, x.Check = dict, dict, true })
		functionTable(t, s, 7)
		for _, f := range thin(functions) {
			devicesAgree(t, s, "select id, "+functionText(f, -1)+" from v where id % 10 <> 3")
			if !testing.Short() {
				devicesAgree(t, s, "select id, "+functionText(f, -1)+" from v")
				devicesAgree(t, s, "select id, "+functionText(f, -1)+" from v where id % 10 <> 6 and id < 20")
			}
		}
	}
}

// simtSQL are queries over v (see functionTable), w (few rows, many duplicates) and e (empty).
var simtSQL = strings.Split(strings.TrimSpace(`
select count(*), count(i), count(s), sum(i2), sum(i), sum(d), sum(w), min(i), max(i), min(dt), max(ts), bool_and(b), bool_or(b) from v
select sum(f), sum(r), avg(i), avg(d), avg(w), avg(f) from v
select min(f), max(f), min(r), max(r) from v
select min(f), max(f), b from v group by b
select count(*), sum(i), min(i), max(f), avg(d) from v where id < 0
select count(*), sum(i), min(i) from e
select k, count(*), sum(x) from e group by k
select count(*) filter (where i > 0), sum(i) filter (where b), min(i) filter (where i < 0), count(s) filter (where b) from v
select b, count(*) filter (where i > 0), sum(d) filter (where i < 0), max(i) filter (where i2 = 99) from v group by b
select b, count(*), count(i), sum(i), sum(w), min(l), max(l) from v group by b
select i2, count(*), sum(d) from v group by i2
select s, count(*), sum(d), min(i) from v group by s
select t, s, count(*) from v group by t, s
select d, w, z, count(*) from v group by d, w, z
select f, r, count(*) from v group by f, r
select dt, ts, iv, count(*) from v group by dt, ts, iv
select iv, count(*) from v group by iv
select id, count(*), sum(i), min(i), max(f) from v group by id
select id % 7, b, s, count(*), sum(w), sum(f), avg(i2) from v group by 1, 2, 3
select id / 3, sum(w), min(d), max(d) from v group by 1
select any_value(s), any_value(i), any_value(f) from v where i2 = 1
select any_value(s) from v where s is null
select k % 3, any_value(k % 3) from w group by 1
select count(*) from (select k, any_value(y) as y, any_value(x) as x from w group by k) a join w on w.y = a.y and w.x = a.x
select count(*) from (select x % 4 as k, any_value(y) as y, any_value(x) as x from w group by 1) a join w on w.y = a.y and w.x = a.x
select any_value(b), i2 from v group by i2
select i2, any_value(s), any_value(t), any_value(f) from v group by i2
select distinct s, b from v
select distinct k from w
select count(distinct s), count(distinct i), sum(distinct i2) from v
select s, count(distinct i), count(distinct id) from v group by s
select s, count(*) from v group by s having count(*) > 7 and sum(i) > 0
select i, s from v where i > 0 and s like '%a%'
select id from v where i is null or s is null
select id from v where not (i > 0)
select id from v where b
select id from v where s > 'b' and s < 'x'
select id, i from v where i in (1, 7, 100) or s in ('abc', '', ' x ')
select id from v where s = t
select id, d * w from v where d < 1
select id from v where dt between date '1969-01-01' and date '2001-01-01'
select id, extract(year from dt), extract(month from ts) from v where dt >= date '1970-01-01'
select * from v where id < 12
select id, case when i > 0 then s when i < 0 then t else 'zero' end from v
select a.id, b.id from v a join v b on a.id = b.id where a.i > 0
select a.id, b.id from v a join v b on a.id = b.id + 1
select a.id, b.id from v a join v b on a.i2 = b.i2 where a.id < 20
select a.id, b.id from v a join v b on a.s = b.s where a.id < 20
select a.id, b.id from v a join v b on a.s = b.t where a.id < 20
select a.id, b.id from v a join v b on a.i2 = b.i2 and a.id < b.id where a.id < 20
select count(*), sum(a.i) from v a join v b on a.i2 = b.i2
select count(*), sum(a.i), max(b.f) from v a join v b on a.s = b.s join v c on c.i2 = a.i2 where c.id < 30
select a.i2, c.s, count(*), sum(b.d) from v a join v b on a.i2 = b.i2 join v c on c.i = b.i group by a.i2, c.s
select v.id, w.k, w.y from v left join w on v.id = w.k
select v.id, w.k, w.y, w.x from v left join w on v.i2 = w.k
select v.id, w.k, w.y, w.x from v left join w on v.i2 = w.k and w.x > 3
select v.id, w.k from v left join w on v.i2 = w.k where w.k is null
select v.id, w.k, w.x from w left join v on v.i2 = w.k
select v.id, w.k, w.x from v full join w on v.id = w.k and v.id < 5
select v.id, w.k, w.x from v right join w on v.i2 = w.k
select w.k, count(v.id), sum(v.d) from w left join v on v.i2 = w.k group by w.k
select id from v where i2 in (select k from w)
select id from v where i2 not in (select k from w where k is not null)
select id from v where i2 not in (select k from w)
select id from v where exists (select 1 from w where w.k = v.i2 and w.x > v.id)
select id from v where not exists (select 1 from w where w.k = v.i2 and w.x > v.id)
select id, i2 in (select k from w) from v
select id, (select max(x) from w where w.k = v.i2) from v
select id, (select count(*) from w where w.k = v.i2) from v
select id, (select sum(x) from w) + id from v where id < 9
select count(*) from v, w
select count(*), sum(v.id * w.x) from v, w where v.id > w.x
select v.id, w.x from v, w where v.id < 5
select v.id, w.x from v, w where v.id < w.x and w.k is null
select count(*) from v join e on v.id = e.k
select v.id, e.x from v left join e on v.id = e.k where v.id < 5
select id from v where id not in (select k from e)
select * from (values (1, 'a'), (2, null), (null, 'c')) x (p, q)
select 1, 'x', null, 2.5, date '2020-02-29'
select id from v where i > 0 union all select k from w
select id from v where i > 0 union select k from w
select i2 from v intersect select k from w
select i2 from v except select k from w
select s, sum(i) from v group by s union all select y, sum(x) from w group by y
select id, s from v order by s, id limit 7
select id, d from v order by d desc nulls last, id limit 5 offset 3
select id from v order by id desc
select a.s, sum(b.i) from v a join (select i2, sum(i) as i from v group by i2) b on a.i2 = b.i2 group by a.s
with x as (select i2, count(*) as n from v group by i2) select a.i2, a.n, b.n from x a join x b on a.i2 = b.i2
select id, upper(s), length(s) from v where length(s) > 2
select upper(s), count(*) from v group by upper(s)
select a.id, b.id from v a join v b on upper(a.s) = upper(b.t)
select sum(l) from v where i2 = 1
select 10 / i from v
select 10 / i from v where i <> 0
select sum(10 / i) from v
select i + 1 from v
select i2 * i2 * i2 from v
select l + l from v
select sum(d * d * d * d) from v
select sqrt(f) from v
select substring(s, 1, i2) from v
select (select id from v where i2 = 99)
select (select id from v b where b.i2 = a.i2) from v a
select cast(d as integer), cast(f as integer) from v
select round(w, 1), round(d), cast(w as decimal(20,1)) from v where id % 10 <> 2 and id % 10 <> 3
select trunc(w / 3, 1) from v where id % 10 = 1
`), "\n")

func simtTables(t *testing.T, s *Session) {
	functionTable(t, s, 13)
	mustRun(t, s, "create table w (k integer, x bigint, y varchar)")
	var rows []string
	for i := range 60 {
		k := fmt.Sprint(i % 5 * i % 13)
		if i%11 == 0 {
			k = "null"
		}
		rows = append(rows, fmt.Sprintf("(%s, %d, '%s')", k, i, strings.Repeat("ab", i%9)))
	}
	mustRun(t, s, "insert into w values "+strings.Join(rows, ", "))
	mustRun(t, s, "create table e (k integer, x bigint)")
}

// TestSimtSQL: small queries of every kind give the same rows, or the same error, on both devices.
func TestSimtSQL(t *testing.T) {
	for _, dict := range []bool{true, false} {
		s := New(NewDB())
		s.Configure(func(x *Settings) { x.Dict, x.Narrow, x.Check = dict, dict, true })
		simtTables(t, s)
		for _, c := range []struct{ grid, block, rows int }{{0, 128, 0}, {1, 32, 0}, {4, 64, 33}} {
			if testing.Short() && (c.rows > 0) == dict {
				continue
			}
			s.Configure(func(x *Settings) { x.Grid, x.Block, x.MorselRows = c.grid, c.block, c.rows })
			for _, text := range thin(simtSQL) {
				devicesAgree(t, s, text)
			}
		}
	}
}

// TestSimtStatements: statements that store rows work like queries.
func TestSimtStatements(t *testing.T) {
	s := New(NewDB())
	simtTables(t, s)
	onSimt(s, func() {
		mustRun(t, s, "create table c as select id, i, s from v where i > 0")
		mustRun(t, s, "insert into c select k, x, y from w")
		mustRun(t, s, "update c set i = i + 1 where s like 'a%'")
		mustRun(t, s, "delete from c where id % 3 = 0")
	})
	devicesAgree(t, s, "select * from c")
	rows, err := ask(s, "select count(*), sum(i) from c")
	if err != nil {
		t.Fatal(err)
	}
	cpu := New(NewDB())
	simtTables(t, cpu)
	mustRun(t, cpu, "create table c as select id, i, s from v where i > 0; insert into c select k, x, y from w")
	mustRun(t, cpu, "update c set i = i + 1 where s like 'a%'; delete from c where id % 3 = 0")
	want, err := ask(cpu, "select count(*), sum(i) from c")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := sorted(rows)[0], sorted(want)[0]; a != b {
		t.Errorf("%s, want %s", a, b)
	}
}

// TestSimtCancel: a launch ends when its query is canceled.
func TestSimtCancel(t *testing.T) {
	s := load(t, "tpch", "0.01")
	s.Configure(func(x *Settings) { x.Device = "simt" })
	for _, q := range long[:2] {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		start := time.Now()
		_, err := s.Query(ctx, q)
		cancel()
		if diag.CodeOf(err) != diag.QueryCanceled || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %v after %v, want a canceled query", q, err, time.Since(start))
		}
	}
}

// TestSimtConcurrent: queries share parsed kernels.
func TestSimtConcurrent(t *testing.T) {
	s := load(t, "ssb", "0.01")
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			mine := New(s.DB)
			mine.Configure(func(x *Settings) { x.Device = "simt" })
			for _, q := range []string{"q1.1", "q2.1", "q3.1"} {
				checkAnswer(t, mine, "ssb", "0.01", q)
			}
		}()
	}
	wg.Wait()
}

// kernels are the GPU functions of a query, lookup tables included, and what their launches did.
func kernels(t *testing.T, s *Session, text string) ([]*ir.Func, exec.Stats) {
	t.Helper()
	set, timing := s.Settings(), Timing{}
	set.Device = "simt"
	prog, _, err := s.plan(context.Background(), boundQuery(t, s, text), &set, nil, &timing)
	if err != nil {
		t.Fatal(err)
	}
	opts := s.options(&set)
	opts.Listing = true
	res, stats, err := s.runProgram(context.Background(), prog, &set, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	var fs []*ir.Func
	add := func(f *emit.Fragment) {
		g := *f.Func
		g.Name = fmt.Sprintf("k%d_%s", len(fs), g.Name)
		fs = append(fs, &g)
	}
	for _, p := range stats.Pipelines {
		for _, f := range p.Fragments {
			add(f)
			for _, l := range f.Luts {
				add(l.Frag)
			}
		}
	}
	return fs, *stats
}

// TestSimtPtxas assembles the kernels of all benchmark queries for an old and a new GPU.
func TestSimtPtxas(t *testing.T) {
	tool := os.Getenv("KELPIE_PTXAS")
	if tool == "" {
		t.Skip("no ptxas: KELPIE_PTXAS=$(internal/ptx/testdata/get-ptxas.sh DIR) would run this")
	}
	for _, suite := range []string{"tpch", "ssb"} {
		s := load(t, suite, "0.01")
		for _, q := range suiteQueries(suite) {
			if testing.Short() && !strings.Contains(strings.Join(simtFive[suite], " "), q) {
				continue
			}
			t.Run(suite+" "+q, func(t *testing.T) {
				fs, _ := kernels(t, s, queryText(t, suite, q))
				text, err := device.ListGPU(fs...)
				if err != nil {
					t.Fatal(err)
				}
				dir := t.TempDir()
				file := filepath.Join(dir, "q.ptx")
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				for _, arch := range []string{"sm_70", "sm_90"} {
					out, err := osexec.Command(tool, "-arch="+arch, "-o", filepath.Join(dir, "q.cubin"), file).CombinedOutput()
					if err != nil {
						t.Errorf("ptxas for %s: %v\n%s", arch, err, out)
					}
				}
			})
		}
	}
}

// TestSimtStats: launches tell what they did. A warp that works on one group at a time, or on
// none, propagates with one atomic per aggregate, not one per row.
func TestSimtStats(t *testing.T) {
	s := load(t, "tpch", "0.01")
	s.Configure(func(x *Settings) { x.Grid, x.Block = 8, 128 })
	_, st := kernels(t, s, queryText(t, "tpch", "q6"))
	p := st.Pipelines[0]
	if p.Launches != 1 || p.Lanes.WarpInstrs == 0 || p.Lanes.Activity() < 0.5 || p.Lanes.SectorsRead == 0 {
		t.Errorf("q6: %d launches, %d instructions, activity %.2f, %d sectors", p.Launches, p.Lanes.WarpInstrs, p.Lanes.Activity(), p.Lanes.SectorsRead)
	}
	if warps := uint64(8 * 128 / 32); p.Lanes.Atomics != warps {
		t.Errorf("q6: %d atomics, want one per warp, %d", p.Lanes.Atomics, warps)
	}
	_, st = kernels(t, s, "select l_orderkey, l_comment from lineitem")
	p = st.Pipelines[0]
	if rows := uint64(60175); p.Lanes.Atomics < rows/32 || p.Lanes.Atomics > rows/32+33 {
		t.Errorf("writing %d rows: %d atomics, want one per warp's rows", rows, p.Lanes.Atomics)
	}
}
