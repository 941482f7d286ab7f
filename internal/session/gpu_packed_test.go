package session

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/phys"
)

// packedTable makes a table with columns c1 to c33 that need as many bits, with NULLs, negative numbers, extremes and other bases among them, texts and booleans, in
// several segments.
func packedTable(t *testing.T, s *Session, rows int) {
	t.Helper()
	var cols []string
	for bits := 1; bits <= 33; bits++ {
		most := int64(1)<<bits - 1
		x := fmt.Sprintf("case when i %% 997 = 5 then %d else (i::bigint * 2654435761) %% %d end", most, most+1) // i = 0 has the least
		switch bits % 4 {
		case 1:
			x = fmt.Sprintf("case when i %% 7 = 3 or i between 700 and 1500 then null else %s - %d end", x, most+1)
		case 2:
			x += " + 1000000007"
		}
		cols = append(cols, fmt.Sprintf("%s as c%d", x, bits))
	}
	mustRun(t, s, fmt.Sprintf(`create table p as select i, 'text '||i %% 3 as t, i %% 2 = 0 as b, case when i %% 5 > 0 then i %% 3 = 0 end as n,
		'number '||i||' of many, all of them long: '||repeat('ä', i %% 30) as l, repeat('xyz', i %% 11) || i as m, case when i %% 9 > 0 then 'a long text, or none '||i end as o,
		%s from generate_series(0, %d) g(i)`, strings.Join(cols, ", "), rows))
	mustRun(t, s, fmt.Sprintf("insert into p select * from p where i > %d", rows-10)) // a segment of its own
}

// TestGPUPackedColumns: columns of every number of bits that stay on the device packed have the CPU's rows, whether lanes take one row of them or several, and
// take less room.
func TestGPUPackedColumns(t *testing.T) {
	s := New(NewDB())
	packedTable(t, s, 3000)
	var sums, all []string
	for bits := 1; bits <= 33; bits++ {
		sums = append(sums, fmt.Sprintf("sum(c%d), min(c%d), max(c%d), count(c%d)", bits, bits, bits, bits))
		all = append(all, fmt.Sprintf("c%d", bits))
	}
	queries := []string{
		"select " + strings.Join(sums[:16], ", ") + " from p", "select " + strings.Join(sums[16:], ", ") + " from p where i >= 5",
		"select t, b, n, sum(c3), sum(c12), max(c20), min(c5) from p where c12 > 700 or c5 is null group by t, b, n",
		"select i, " + strings.Join(all, ", ") + " from p where c25 is null or c14 % 5 = 1",
		"select sum(c4 + c12), max(c28), count(*) from p where c12 between 300 and 900 and c4 < 7 and c2 >= 1000000008",                // a front of 8 rows
		"select sum(c20), min(c11), count(*) from p where c24 < 3000000 and c12 >= 100 and c4 <= 12 and c3 > 1 and c8 < 200",           // of 4
		"select sum(c28 - c27), count(*) from p where c28 between 5000 and 90000000 and c27 > 17 and c19 >= 40 and c20 < 400000",       // in 7 words
		"select count(*), sum(c16) from p where c12 < c11 and c4 >= c3",                                                                // columns compared
		"select p.c12, q.c20, count(*), min(p.c24) from p join p q on p.c20 = q.c20 and q.c4 = 3 where p.c3 < 5 group by p.c12, q.c20", // a semi-join filter
		"select l, m, o, c12 from p where l like '%1 of%' and c12 > 1000", "select min(l), max(l), count(distinct l), max(m), min(o), count(o) from p where c4 > 3",
		"select l || m, length(o), upper(l) from p where c24 < 900000", "select p.l, q.m from p join p q on p.l = q.l where p.c4 = 2", "select l, count(*) from p group by l order by l desc limit 5",
		"select t, sum(c1), sum(c4), sum(c8) from p group by t", "select sum(c4), sum(c12), sum(c23), sum(c32), sum(c33) from p where c12 <> 7", "select c20, c4 from p order by c20, i limit 7",
	}
	want := map[string]string{}
	for _, sql := range queries {
		rows, _, err := asked(s, sql)
		if err != nil || rows == "" {
			t.Fatal(sql, err)
		}
		want[sql] = sortedLines(rows)
	}
	modes := []func(*Settings){
		func(x *Settings) {},
		func(x *Settings) { x.Off.RowFront = true },
		func(x *Settings) { x.Off.WideRows, x.Off.RowFront = true, true },
		func(x *Settings) { x.Feed, x.FeedBlock = phys.FeedBatch, 64<<10 },
		func(x *Settings) { x.Feed = phys.FeedRunToFinish },
		func(x *Settings) { x.GPUMemory = 120 << 10 }, // some stay, some stream
		func(x *Settings) { x.Off.PackedColumns = true },
	}
	var bytes [2]int64
	for i, mode := range modes {
		if testing.Short() && i > 0 && i < 5 {
			continue
		}
		_, store := limited(t, uint64(i), 0)
		store.PackLeast = 1
		s.DB.Accelerate(store)
		set := s.settings
		s.Configure(func(x *Settings) { x.Device, x.Check = "gpu", true; mode(x) })
		for _, sql := range queries {
			rows, notices, err := asked(s, sql)
			if got := sortedLines(rows); err != nil || notices != "" || got != want[sql] {
				t.Errorf("mode %d, %s:\n%.300s\nwant\n%.300s\n%s %v", i, sql, got, want[sql], notices, err)
			}
		}
		switch i {
		case 0:
			bytes[0] = store.Bytes()
		case len(modes) - 1:
			bytes[1] = store.Bytes()
		}
		s.Configure(func(x *Settings) { *x = set })
	}
	if saved := bytes[1] - bytes[0]; saved < 3000*12 {
		t.Errorf("packed columns take %d bytes, others %d", bytes[0], bytes[1])
	}
}

// TestGPUPackedSwitch: the switch holds for columns that are there already, too, unless somebody uses them, and EXPLAIN tells which are packed.
func TestGPUPackedSwitch(t *testing.T) {
	s := New(NewDB())
	packedTable(t, s, 1000)
	_, store := limited(t, 1, 0)
	s.DB.Accelerate(store)
	s.Configure(func(x *Settings) { x.Device = "gpu" })
	const sql = "select sum(c4), sum(c12), sum(c13), sum(c20) from p"
	want := rowsOf(t, s, sql)
	packed := func(how string) {
		t.Helper()
		for _, analyze := range []string{"", "analyze "} {
			text := rowsOf(t, s, "explain "+analyze+sql)
			if analyze == "" {
				text = rowsOf(t, s, "explain (pipelines) "+sql)
			}
			if got := regexp.MustCompile(`\d columns? packed`).FindString(text); got != how {
				t.Errorf("explain %s: %q, want %q\n%s", analyze, got, how, text)
			}
		}
		if got := rowsOf(t, s, sql); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	packed("") // few rows
	plain := store.Bytes()
	store.PackLeast = 1
	packed("3 columns packed")
	if n := store.Bytes(); n >= plain {
		t.Errorf("packed columns take %d bytes, others %d", n, plain)
	}
	mustRun(t, s, "set packed_columns = off")
	packed("")
	if n := store.Bytes(); n != plain {
		t.Errorf("columns take %d bytes, took %d before", n, plain)
	}
	mustRun(t, s, "reset packed_columns")
	packed("3 columns packed")
}
