package session

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/gpu"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// shareQueries group rows of a table with keys and aggregates of every form, into groups of every kind.
var shareQueries = []string{
	"select count(*), sum(id), min(f), max(big), sum(wide), count(txt), min(txt), max(dict), bool_and(flag), avg(small) from r",
	"select count(*), sum(id), min(txt), sum(wide) from r where id % 7 = 9",
	"select small, count(*), sum(big), min(d), max(f), count(wide), sum(small) from r group by small",
	"select dict, flag, count(*), sum(id), any_value(dict) from r where id > 900 group by dict, flag order by dict, flag",
	"select txt, count(*), sum(id), min(id) from r group by txt",
	"select id, count(*), sum(small), max(txt) from r group by id",
	"select id % 3000, f, count(*), sum(id) from r where f <> 0 or f is null group by 1, 2",
	"select wide, flag, min(txt), count(*) from r group by wide, flag having count(*) > 1 order by wide desc nulls last, flag limit 7",
	"select x, sum(n) from (select small x, 1 n from r union all select id % 500, 2 from r union all select id, 3 from r where flag) y group by x",
	"select upper(dict) || 'x', count(*) from r group by 1",
	"select max(c) from (select small, count(*) c from r where d > date '1991-01-01' group by small) y",
	"select distinct small, flag from r",
	"select b.dict, count(*), sum(a.id), min(a.txt) from r a join (select * from e where id < 40) b on a.small = b.small group by b.dict",
	"select count(*), sum(a.id) from r a where small in (select small from e where id < 9) and not exists (select 1 from e c where c.id = a.id - 2000 and c.flag)",
	"select b.txt, count(*), max(a.f) from r a left join (select small, min(txt) txt from e group by small) b on a.small = b.small group by b.txt",
}

// sharedRows are the rows that each processor did, and what EXPLAIN ANALYZE says of it.
func sharedRows(t *testing.T, s *Session, sql string) (cpu, gpus int, text string) {
	t.Helper()
	text = rowsOf(t, s, "explain analyze "+sql)
	for _, m := range regexp.MustCompile(`shared: cpu (\d+) rows, gpu (\d+) rows`).FindAllStringSubmatch(text, -1) {
		a, _ := strconv.Atoi(m[1])
		b, _ := strconv.Atoi(m[2])
		cpu, gpus = cpu+a, gpus+b
	}
	return cpu, gpus, text
}

// TestShare: wherever CPU and GPU meet, in chunks and morsels of any size, each row counts once.
func TestShare(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, strings.Replace(sortRows, "1200", "2500", 1))
	mustRun(t, s, "create table e as select * from r where id <= 300")
	for i, sql := range thin(shareQueries) {
		s.Configure(func(x *Settings) { x.Device, x.MorselRows = "cpu", 0 })
		want := sortedLines(rowsOf(t, s, sql))
		for k, part := range []string{"0", "1", "37", "50", "99", "100", "on"} {
			if (i+k)%3 != 0 || testing.Short() && (i+k)%9 != 0 {
				continue
			}
			_, store := limited(t, uint64(i+k), 0)
			store.Piece = []int64{256, 1024, 1 << 20}[i%3]
			store.Room = []int64{0, 1, 200}[k%3]
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) {
				x.Device, x.Check, x.Threads, x.MorselRows, x.FeedBlock = "gpu", true, 1+k%3, []int{0, 1, 7, 256, 1000}[(i+k)%5], int64(4<<10)<<(k%2)
				x.Feed = phys.Feed((i + k) % 4)
			})
			if _, _, err := asked(s, "set share = "+part); err != nil {
				t.Fatal(err)
			}
			for run := range 1 + k/4 {
				if got := sortedLines(rowsOf(t, s, sql)); got != want {
					t.Errorf("share %s, run %d, %s:\n%.500s\nwant\n%.500s", part, run, sql, got, want)
				}
				store.Settle()
			}
			cpu, gpus, text := sharedRows(t, s, sql)
			if cpu+gpus == 0 || (cpu+gpus)%2500 != 0 && !strings.Contains(sql, " e ") {
				t.Errorf("share %s, %s: %d rows of the CPU, %d of the GPU", part, sql, cpu, gpus)
			}
			if n, err := strconv.Atoi(part); err == nil && !strings.Contains(text, "gave up") && (gpus > (cpu+gpus)*n/100 || gpus < (cpu+gpus)*n/100-3*256) {
				t.Errorf("share %s, %s: %d rows of the CPU, %d of the GPU", part, sql, cpu, gpus)
			}
			if strings.Contains(text, "gave up") && !strings.Contains(sql, "upper") {
				t.Errorf("share %s, %s: %s", part, sql, text)
			}
		}
	}
}

// TestShareZones: rows are numbered as they lie in the table, also where zones leave some of its segments out.
func TestShareZones(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table z as select i as a, i % 7 as b, case when i % 3 > 0 then i end as c from generate_series(1, 140000) g(i)")
	for i, where := range []string{"a <= 1000", "a > 131072 and a < 131080", "a between 65530 and 65540", "a > 137000", "a < 0", "a > 70000", "b = 3"} {
		sql := "select b, count(*), min(a), max(c), sum(a) from z where " + where + " group by b"
		s.Configure(func(x *Settings) { x.Device, x.Share = "cpu", phys.Share{} })
		want := sortedLines(rowsOf(t, s, sql))
		_, store := limited(t, uint64(i), 0)
		s.DB.Accelerate(store)
		for k, part := range []int{0, 3, 40, 67, 100} {
			if (i+k)%3 != 0 || (testing.Short() || raced) && i != k {
				continue
			}
			s.Configure(func(x *Settings) {
				x.Device, x.Share, x.FeedBlock = "gpu", phys.Share{Mode: phys.ShareFixed, Part: part}, 100<<10
			})
			if got := sortedLines(rowsOf(t, s, sql)); got != want {
				t.Errorf("%d %%, %s:\n%s\nwant\n%s", part, sql, got, want)
			}
		}
	}
}

// TestShareFails: what fails on either side ends the query as it would on the CPU; what only a part of the rows would fail at, or the device
// itself, does not.
func TestShareFails(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table f as select g as id, case when g % 2000 in (5, 6) then (case when g > 2000 then 1 else -1 end) * 60000000000000000000000000000000000000::decimal(38,0) end as w
		from generate_series(1, 4000) x(g)`)
	accelerate := func(opt device.SimulatedOptions) {
		s.DB.Accelerate(gpu.NewStore(device.NewSimulated(opt), 0))
		s.Configure(func(x *Settings) {
			x.Device, x.FeedBlock, x.Share = "gpu", 4<<10, phys.Share{Mode: phys.ShareFixed, Part: 50}
		})
	}
	accelerate(device.SimulatedOptions{})
	for _, id := range []int{1, 1999, 2001, 4000} {
		if _, _, err := asked(s, fmt.Sprintf("select sum(1 / (id - %d)) from f", id)); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("row %d: %v", id, err)
		}
		if _, _, err := asked(s, fmt.Sprintf("select id %% 5, sum(1 / (id - %d)) from f group by 1", id)); diag.CodeOf(err) != diag.DivisionByZero {
			t.Errorf("row %d: %v", id, err)
		}
	}
	// The sum of each half has 39 digits.
	if got := rowsOf(t, s, "select sum(w), count(w) from f"); got != "0|4\n" {
		t.Errorf("a sum whose halves are too large: %s", got)
	}
	for _, sql := range []string{"select sum(w) from f where id > 2000", "select sum(w) from f where id < 2000", "select sum(abs(w)) from f", "select id < 0, sum(abs(w)) from f group by 1"} {
		if _, _, err := asked(s, sql); diag.CodeOf(err) != diag.NumericOutOfRange {
			t.Errorf("%s: %v", sql, err)
		}
	}
	accelerate(device.SimulatedOptions{Memory: 6 << 10})
	cpu, gpus, text := sharedRows(t, s, "select sum(id), count(w), min(w) from f")
	if cpu != 4000 || gpus != 0 || !strings.Contains(text, "gave up") {
		t.Errorf("a device without memory: %d and %d rows\n%s", cpu, gpus, text)
	}
	if got := rowsOf(t, s, "select sum(id), count(w) from f"); got != "8002000|4\n" {
		t.Errorf("a device without memory: %s", got)
	}
}

// TestShareCanceled: a query that nobody wants any more ends on both sides.
func TestShareCanceled(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table c as select g as id from generate_series(1, 50000) x(g)")
	_, store := limited(t, 1, 0)
	s.DB.Accelerate(store)
	for _, part := range []int{5, 95} {
		s.Configure(func(x *Settings) {
			x.Device, x.FeedBlock, x.Share = "gpu", 4<<10, phys.Share{Mode: phys.ShareFixed, Part: part}
		})
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		_, err := s.Query(ctx, "select sum(id % 7), sum(id % 11), sum(id % 13) from c a where id % 3 > 0")
		cancel()
		if err != nil && diag.CodeOf(err) != diag.QueryCanceled {
			t.Errorf("%d %%: %v", part, err)
		}
		if err == nil && part == 95 {
			t.Errorf("a simulated GPU did 47,500 rows in 5 ms")
		}
	}
	if got := rowsOf(t, s, "select count(*) from c"); got != "50000\n" {
		t.Errorf("afterwards: %s", got)
	}
}

// TestShareSettings: ways have names or are percentages, and what cannot be shared runs on the GPU alone.
func TestShareSettings(t *testing.T) {
	s, _, _ := onGPU(t, 1, device.SimulatedOptions{})
	if got := rowsOf(t, s, "show share"); got != "auto\n" {
		t.Errorf("default: %s", got)
	}
	for _, v := range []string{"on", "off", "auto", "40"} {
		mustRun(t, s, "set share = "+v)
		if got := rowsOf(t, s, "show share"); got != v+"\n" {
			t.Errorf("%s: %s", v, got)
		}
	}
	for _, v := range []string{"'half'", "101", "-1"} {
		if _, _, err := asked(s, "set share = "+v); err == nil {
			t.Errorf("%s is no way to share", v)
		}
	}
	for _, sql := range []string{"select a from t0 where b = 3 order by a limit 5", "select count(*) from t0 x join t0 y on x.a = y.a", "select a, row_number() over (order by a) from t0 limit 2"} {
		if cpu, gpus, _ := sharedRows(t, s, sql); cpu+gpus > 0 {
			t.Errorf("%s was shared", sql)
		}
	}
	if cpu, gpus, _ := sharedRows(t, s, "select b, sum(a) from t0 group by b"); cpu != 12032 || gpus != 7968 { // a multiple of 256
		t.Errorf("%d rows of the CPU, %d of the GPU", cpu, gpus)
	}
	mustRun(t, s, "set share = auto")
	mustRun(t, s, "set feed = 'batch'")
	if cpu, gpus, _ := sharedRows(t, s, "select b, sum(a) from t0 group by b"); cpu+gpus > 0 {
		t.Errorf("so few rows were shared")
	}
}

// TestCPUFirst: a query of which a GPU knows nothing runs on the CPU; what it lacked is there then, and the next one is the GPU's. Where columns never stay, the GPU joins in.
func TestCPUFirst(t *testing.T) {
	s, store, dev := onGPU(t, 1, device.SimulatedOptions{})
	if got := rowsOf(t, s, "show cpu_first"); got != "off\n" {
		t.Errorf("default: %s", got)
	}
	mustRun(t, s, "set cpu_first = on")
	const sql = "select b, sum(a), count(*) from t0 group by b order by b"
	s.Configure(func(x *Settings) { x.Device = "cpu" })
	want := rowsOf(t, s, sql)
	s.Configure(func(x *Settings) { x.Device = "gpu" })
	before := dev.Counts().Launches
	if got := rowsOf(t, s, sql); got != want || dev.Counts().Launches != before {
		t.Errorf("cold, by %d launches:\n%s\nwant\n%s", dev.Counts().Launches-before, got, want)
	}
	store.Settle()
	if got := rowsOf(t, s, sql); got != want || dev.Counts().Launches == before {
		t.Errorf("warm, by %d launches:\n%s\nwant\n%s", dev.Counts().Launches-before, got, want)
	}
	if cpu, gpus, _ := sharedRows(t, s, sql); cpu+gpus > 0 {
		t.Errorf("all was there, and %d rows were the CPU's", cpu)
	}
	// Other columns: auto does not mind so few bytes.
	mustRun(t, s, "set cpu_first = auto")
	if cpu, gpus, _ := sharedRows(t, s, "select sum(b) from t0 where d > 'text no. 2'"); cpu != 20000 || gpus != 0 {
		t.Errorf("code that is not there: %d and %d rows", cpu, gpus)
	}
	store.Settle()
	mustRun(t, s, "drop table t0")
	mustRun(t, s, "create table t0 as select g * 1000 a, g % 7 b, 'text no. ' || g % 10 || ' of ten' d from generate_series(1, 20001) x(g)")
	if cpu, gpus, _ := sharedRows(t, s, sql); cpu+gpus > 0 {
		t.Errorf("few columns that are not there: %d and %d rows", cpu, gpus)
	}
	// Morsels of one row take the CPU long enough.
	s.Configure(func(x *Settings) {
		x.CPUFirst, x.Feed, x.MorselRows, x.Threads, x.FeedBlock = phys.CPUFirstOn, phys.FeedBatch, 1, 1, 4<<10
	})
	rowsOf(t, s, sql)
	store.Settle()
	cpu, gpus, text := sharedRows(t, s, sql)
	if cpu+gpus != 20001 || cpu == 0 {
		t.Errorf("%d and %d rows\n%s", cpu, gpus, text)
	}
	t.Logf("%d and %d rows", cpu, gpus)
	doc := rowsOf(t, s, "explain (analyze, pipelines, format json) "+sql)
	if !strings.Contains(doc, `"cpu_rows": `) || !strings.Contains(doc, `"by": "cpu"`) {
		t.Errorf("who did which rows is not told:\n%s", doc)
	}
}
