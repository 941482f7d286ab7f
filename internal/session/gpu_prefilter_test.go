package session

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// prefiltered is EXPLAIN's word for it.
var prefiltered = regexp.MustCompile(`the CPU tests [^;\n]*`)

// prefilterTable has filters' columns of every form, NULLs among them, and segments of other shapes behind the first.
func prefilterTable(t *testing.T, s *Session) {
	t.Helper()
	mustRun(t, s, `create table p as select i as id, case when i % 5 > 0 then i % 200 end as n, (i * 7919) % 1000 as a, i % 3 = 0 as flag,
		case when i % 4 > 0 then 'text no. ' || i % 300 || ' of three hundred żółw' end as t, 'code ' || i % 7 as c, (i % 91)::double as f,
		i * 1000000007::bigint as big, (i::numeric(30, 2) * 1e20)::numeric(30, 2) as wide from generate_series(1, 2500) g(i)`)
	mustRun(t, s, "insert into p select id + 1000000, n, a, flag, t, c, f, big, wide from p where id % 50 = 7")
	mustRun(t, s, "create table none as select * from p where id < 0")
	mustRun(t, s, "create table d as select i as k, i * 10 as v from generate_series(1, 40) g(i)")
}

// prefilterQueries have filters of all kinds over it.
var prefilterQueries = []string{
	"select count(*) from p where a < 500",
	"select count(*), sum(id) from p where n > 50",
	"select count(*), sum(id) from p where n is null",
	"select sum(big), count(*) from p where n between 10 and 30 or n is null and a > 900",
	"select id, f from p where t like '%17%' and c <> 'code 3'",
	"select c, count(*), sum(id) from p where flag and f < 20.5 group by c",
	"select id, t, c from p where wide > 1250 * 1e20 and a % 7 = 3",
	"select id from p where a < 0",
	"select count(*), sum(id) from p where a >= 0",
	"select count(*), max(id) from p where id > 1000000",
	"select sum(p.id), count(d.v) from p left join d on p.n = d.k where p.a < 300 and p.t is not null",
	"select p.id, d.v from p join d on p.n = d.k where p.c = 'code 2' and d.v < 200",
	"select id from p where a < 30 and exists (select 1 from d where d.k = p.n and d.v < p.id)",
	"select id, upper(t) from p where a between 100 and 120 and c ~ '(e [2-4])$'",
	"select id, big, f, c, n from p where a = 17 order by id desc limit 5",
	"select sum(x) from (select id x from p where a < 100 union all select big from p where n = 3) u",
	"select count(*), sum(id) from none where a < 5",
	"select 100 / (n - 7) from p where n > 7 and a < 50",
}

// TestPrefilter: the CPU's bits drop the rows that filters on the device would, whatever the forms of columns, and wherever chunks begin.
func TestPrefilter(t *testing.T) {
	s := New(NewDB())
	prefilterTable(t, s)
	for i, sql := range thin(prefilterQueries) {
		s.Configure(func(x *Settings) { *x = DefaultSettings(); x.Device = "cpu" })
		want := sortedLines(rowsOf(t, s, sql))
		for k, set := range []func(*Settings){
			func(x *Settings) { x.Feed, x.FeedBlock, x.Threads = phys.FeedBatch, 4<<10, 3 },
			func(x *Settings) { x.Feed, x.Fuse = phys.FeedKernelAtATime, phys.FuseMultipass },
			func(x *Settings) { x.Feed, x.Off.RowFront, x.Off.WideRows = phys.FeedBatch, true, true },
			func(x *Settings) { x.Feed, x.Off.RangeChecks, x.Off.PostProjection = phys.FeedBatch, true, true },
			func(x *Settings) { x.GPUMemory = 48 << 10 },
			func(x *Settings) { x.Feed, x.Share = phys.FeedBatch, phys.Share{Mode: phys.ShareFixed, Part: 60} },
		} {
			if (i+k)%3 != 0 || testing.Short() && (i+k)%6 != 0 {
				continue
			}
			_, store := limited(t, uint64(i+k), 0)
			store.Piece = 1024
			s.DB.Accelerate(store)
			s.Configure(func(x *Settings) {
				*x = DefaultSettings()
				x.Device, x.Check, x.Prefilter, x.Share.Mode = "gpu", true, phys.PrefilterOn, phys.ShareOff
				set(x)
			})
			if _, notices, err := asked(s, sql); err != nil || notices != "" {
				t.Errorf("way %d, %s: %s %v", k, sql, notices, err)
			}
			store.Settle() // from then on columns come from the host's copies
			if got := sortedLines(rowsOf(t, s, sql)); got != want {
				t.Errorf("way %d, %s:\n%.300s\nwant\n%.300s", k, sql, got, want)
			}
		}
	}
}

// TestPrefilterMoved: of columns that stream the bus carries those that something else reads, and a bit a row, to the byte.
func TestPrefilterMoved(t *testing.T) {
	s := New(NewDB())
	const n = 64_000
	mustRun(t, s, "create table r as select (i * 7919) % 100000 a, case when i % 5 > 0 then i % 200 end b, i * 1000003::bigint c from generate_series(1, 64000) g(i)") // 4, 1 and 1, 8 bytes
	_, store := limited(t, 3, 0)
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) { x.Device, x.Feed, x.Off.HostCopies = "gpu", phys.FeedBatch, true })
	for _, c := range []struct {
		sql     string
		off, on int64  // bits a row
		how     string // what EXPLAIN says
	}{
		{"select sum(c), count(*) from r where a < 50000 and b > 20", 112, 65, "the CPU tests 2 filters: a bit a row instead of 2 columns"},
		{"select sum(a), sum(c) from r where a < 50000 and b > 20", 112, 97, "the CPU tests 2 filters: a bit a row instead of 1 column"},
		{"select count(*) from r where b is null", 16, 1, "the CPU tests 1 filter: a bit a row instead of 1 column"},
		{"select sum(a) from r where a < 50000", 32, 32, ""}, // nothing could be left out
		{"select sum(a), max(b) from r", 40, 40, ""},
	} {
		for _, mode := range []phys.Prefilter{phys.PrefilterOff, phys.PrefilterOn, phys.PrefilterAuto} {
			s.Configure(func(x *Settings) { x.Prefilter = mode })
			want, how := c.off, ""
			if mode == phys.PrefilterOn {
				want, how = c.on, c.how
			}
			if strings.Contains(c.sql, "max(b)") { // with its NULL bytes
				want += 8
			}
			res, err := s.Query(context.Background(), c.sql)
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Stats.Pipelines[0].Device.Columns; got != want*n/8 {
				t.Errorf("%s, %s: %d bytes of columns, not %d", c.sql, mode, got, want*n/8)
			}
			res.Close()
			for _, explain := range []string{"explain (pipelines) ", "explain analyze "} {
				if got := prefiltered.FindString(rowsOf(t, s, explain+c.sql)); got != how {
					t.Errorf("%s%s, %s: %q, not %q", explain, c.sql, mode, got, how)
				}
			}
		}
	}
	// The account says the same, but for the words of launches.
	var bus [2]int64
	for i, mode := range []phys.Prefilter{phys.PrefilterOff, phys.PrefilterOn} {
		s.Configure(func(x *Settings) { x.Prefilter = mode })
		all, _ := moved(t, s, "select sum(c), count(*) from r where a < 50000 and b > 20")
		bus[i] = all.Bus
	}
	if d := bus[0] - bus[1] - (112-65)*n/8; d < -2000 || d > 2000 {
		t.Errorf("%d and %d bytes over the bus", bus[0], bus[1])
	}
	// Columns that are there, or come as a whole, are read where they are.
	for _, feed := range []phys.Feed{phys.FeedResident, phys.FeedRunToFinish} {
		s.Configure(func(x *Settings) { x.Feed = feed })
		if got := prefiltered.FindString(rowsOf(t, s, "explain analyze select sum(c), count(*) from r where a < 50000 and b > 20")); got != "" {
			t.Errorf("%s: %s", feed, got)
		}
	}
}

// TestPrefilterErrors: filters that fail do so, whoever tests them, but not for rows that another filter of the scan drops before; and what a
// semi-join filter may drop is not tested before it.
func TestPrefilterErrors(t *testing.T) {
	s := New(NewDB())
	prefilterTable(t, s)
	_, store := limited(t, 1, 0)
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) {
		x.Device, x.Check, x.Feed, x.FeedBlock, x.Prefilter, x.Threads = "gpu", true, phys.FeedBatch, 8<<10, phys.PrefilterOn, 2
	})
	for _, sql := range []string{"select count(*) from p where 100 / (a - 17) > 1", "select sum(id) from p where big + 9223372036854775807 > n"} {
		_, _, err := asked(s, sql)
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		_, _, want := asked(s, sql)
		s.Configure(func(x *Settings) { x.Device = "gpu" })
		if want == nil || fmt.Sprint(err) != fmt.Sprint(want) || diag.CodeOf(err) != diag.CodeOf(want) {
			t.Errorf("%s: %v, not %v", sql, err, want)
		}
	}
	if rows, _, err := asked(s, "select count(*) from p where a <> 17 and 100 / (a - 17) > 1"); err != nil || rows == "[0]\n" {
		t.Errorf("%s %v", rows, err)
	}
	for sql, scans := range map[string]int{ // that of d among them
		"explain (pipelines) select sum(p.big) from p join d on p.n = d.k where p.a < 900 and d.v = 40":            2,
		"explain (pipelines) select sum(p.big) from p join d on p.n = d.k where 100 / (p.a + 1) >= 0 and d.v = 40": 1,
	} {
		if got := prefiltered.FindAllString(rowsOf(t, s, sql), -1); len(got) != scans {
			t.Errorf("%s: %q", sql, got)
		}
	}
}
