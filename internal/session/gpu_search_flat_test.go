package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/phys"
)

// searchTables have texts that are not coded: long ones alone, of which one takes several steps of a warp, and long ones among short ones, empty ones and NULLs. A
// word stands at every distance from where lanes begin to read, at both ends of texts, and half of it at the end of one and half at the beginning of the next.
func searchTables(t *testing.T, s *Session) {
	t.Helper()
	s.Configure(func(x *Settings) { x.Dict = false })
	for _, sql := range []string{
		`create table long as select i as id, i % 5 as k, case i % 6
			when 0 then repeat('x', i) || 'needle' || repeat('y', 40 - i % 40) || 'needl'
			when 1 then 'e and what follows, ababa ' || i || repeat(' żółw', i % 9)
			when 2 then 'needle at the beginning of ' || i || ', 100% of a_b and aba aba'
			when 3 then 'nedle, neeedle and nneedle: row ' || i || ' has a needle'
			when 4 then 'of row ' || i || repeat(' nothing much', i % 30) || ' needleneedle'
			else 'row ' || i || ' has neither one nor the other, but a\b' end as x from generate_series(1, 420) g(i)`,
		"insert into long select 1000, 1, repeat('0123456789', 600) || 'needle' || repeat('y', 700) || 'xneedle' union all select 1001, 2, repeat('ne', 900)",
		"insert into long select id + 2000, k, x || ' again' from long where id % 4 = 1",
		`create table mixed as select i as id, case i % 8
			when 0 then null when 1 then '' when 2 then 'needle' when 3 then 'x needle y z' when 4 then 'x needle y zz'
			when 5 then 'a text with a needle in it, ' || i when 6 then 'żaba aba' else 'ends in nee' || repeat('-', i % 20) || 'needl' end as x from generate_series(1, 530) g(i)`,
		"insert into mixed select id + 1000, x from mixed where id % 3 = 0",
		"insert into mixed select i, null from generate_series(5000, 5200) g(i)",
		"insert into mixed select i, 'needle ' || i from generate_series(6000, 6150) g(i)",
		"create table nobody as select * from mixed where id < 0",
	} {
		mustRun(t, s, sql)
	}
}

// searchPatterns are patterns, and whether a flat search knows them.
var searchPatterns = []struct {
	pattern string
	flat    bool
}{
	{"%needle%", true}, {"%needle", true}, {"%needle%needle%", true}, {"%aba%aba%", true}, {"%aba%aba", true}, {"%needle%y_n%", true},
	{"%ó%w%", true}, {"%żół%", true}, {"%e%", true}, {"%%needle%%again%%", true}, {`%100\%%a\_b%`, true}, {`%a\\b`, true}, {"%needle_%", false},
	{"needle%", false}, {"%_needle", false}, {"%", false}, {"%no such word%needle%", true}, {"%nene%nene", true}, {"%row%has%a%needle", true}, {"%x needle y z", true},
}

// flatSearches counts EXPLAIN's words for it.
func flatSearches(text string) int { return strings.Count(text, "flat search of ") }

// TestFlatSearch: a search over all texts finds the rows that a search in each finds, and no word that begins in one text and ends in the next.
func TestFlatSearch(t *testing.T) {
	s := New(NewDB())
	searchTables(t, s)
	for k, set := range []func(*Settings){
		func(x *Settings) {},
		func(x *Settings) { x.Grid, x.Block = 1, 32 },
		func(x *Settings) { x.Grid, x.Block, x.Off.PackedColumns = 2, 96, true },
	} {
		_, store := limited(t, uint64(k), 0)
		store.PackLeast = 1
		s.DB.Accelerate(store)
		for i, p := range searchPatterns {
			if k > 0 && (i+k)%3 != 0 || testing.Short() && (i+k)%4 != 0 {
				continue
			}
			for _, table := range []string{"long", "mixed"} {
				for _, not := range []string{"", "not "} {
					sql := fmt.Sprintf("select count(*), sum(id) from %s where x %slike '%s'", table, not, p.pattern)
					s.Configure(func(x *Settings) { *x = DefaultSettings(); x.Device = "cpu" })
					want, _, _ := asked(s, sql)
					s.Configure(func(x *Settings) { x.Device, x.Check, x.Search = "gpu", true, phys.SearchFlat; set(x) })
					got, notices, err := asked(s, sql)
					if err != nil || notices != "" || got != want {
						t.Errorf("way %d, %s: %s, not %s; %s %v", k, sql, got, want, notices, err)
					}
					if n := flatSearches(rowsOf(t, s, "explain (pipelines) "+sql)); (n == 1) != p.flat {
						t.Errorf("%s: %d searches", sql, n)
					}
				}
			}
		}
	}
}

// TestFlatSearchQueries: what else a query does with the rows, and with their texts, does not change.
func TestFlatSearchQueries(t *testing.T) {
	s := New(NewDB())
	searchTables(t, s)
	_, store := limited(t, 5, 0)
	store.PackLeast = 1
	s.DB.Accelerate(store)
	for i, c := range []struct {
		sql  string
		flat int
	}{
		{"select id, x from long where x like '%needle%again'", 1},
		{"select k, count(*), min(x) from long where x not like '%needle%' and id % 3 > 0 group by k", 1},
		{"select count(*), sum(id) from long where x like '%needle%' and x not like '%beginning%' and x like '%a%'", 1},
		{"select l.id, m.x from long l join mixed m on l.id = m.id where l.x like '%needle%' and m.x not like '%needle%'", 2},
		{"select m.id, count(l.id) from mixed m left join long l on l.id = m.id and l.x like '%needle%' group by m.id", 1},
		{"select count(*), sum(id) from nobody where x like '%needle%'", 1},
		{"select id, upper(x) from mixed where x like '%needle%' and 100 / (id + 1) >= 0 order by id desc limit 7", 1},
		{"select count(*), sum(id) from mixed where x like '%needle%' or id < 10", 0},
		{"select count(*) from mixed where not (x not like '%needle%')", 1},
		{"select count(*) from mixed where lower(x) like '%needle%'", 0},
		{"select x like '%needle%', count(*) from mixed group by 1", 0},
	} {
		for k, set := range []func(*Settings){
			func(x *Settings) {},
			func(x *Settings) { x.Fuse = phys.FuseMultipass },
			func(x *Settings) { x.Refill = phys.RefillFlush },
			func(x *Settings) { x.Feed, x.FeedBlock = phys.FeedBatch, 4<<10 },
			func(x *Settings) { x.Share = phys.Share{Mode: phys.ShareFixed, Part: 60} },
		} {
			if k > 0 && (i+k)%4 != 0 {
				continue
			}
			s.Configure(func(x *Settings) { *x = DefaultSettings(); x.Device = "cpu" })
			want := sortedLines(rowsOf(t, s, c.sql))
			s.Configure(func(x *Settings) { x.Device, x.Check, x.Search = "gpu", true, phys.SearchFlat; set(x) })
			if got := sortedLines(rowsOf(t, s, c.sql)); got != want {
				t.Errorf("way %d, %s:\n%.300s\nwant\n%.300s", k, c.sql, got, want)
			}
			if k > 0 {
				continue
			}
			for _, explain := range []string{"explain (pipelines) ", "explain analyze "} {
				if n := flatSearches(rowsOf(t, s, explain+c.sql)); n != c.flat {
					t.Errorf("%s%s: %d searches", explain, c.sql, n)
				}
			}
		}
	}
	// Few rows are not worth it, and coded texts are looked up.
	s.Configure(func(x *Settings) { x.Search = phys.SearchAuto })
	if n := flatSearches(rowsOf(t, s, "explain analyze select count(*) from long where x like '%needle%'")); n != 0 {
		t.Error("few rows")
	}
	s.Configure(func(x *Settings) { x.Search, x.Dict = phys.SearchFlat, true })
	mustRun(t, s, "create table coded as select i as id, 'a needle in a stack of hay ' || i % 3 as x from generate_series(1, 300) g(i)")
	if n := flatSearches(rowsOf(t, s, "explain analyze select count(*) from coded where x like '%needle%'")); n != 0 {
		t.Error("coded texts")
	}
}
