package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
)

// mapsTexts reports that the code of a query looks made texts up by their codes.
func mapsTexts(t *testing.T, s *Session, sql string) bool {
	t.Helper()
	return strings.Contains(rowsOf(t, s, "explain (ir) "+sql), "map#")
}

// TestTextMapsPay: functions of texts are worked out per entry where there are few entries or many rows, and where
// that cannot be told from computing them row by row.
func TestTextMapsPay(t *testing.T) {
	if !device.HasCPU() {
		t.Skip("no CPU")
	}
	s := New(NewDB())
	mustRun(t, s, `create table t as select i, 'w' || i%7 few, 'w' || i%300 more, 'w' || i%5000 many, 'text '|| i own, case when i%9 > 0 then 'w' || i%5 end nul from range(100000) r(i)`)
	for _, c := range []struct {
		query string
		want  bool
	}{
		{"select upper(few) from t", true},
		{"select upper(trim(few)) || '!' from t", true},
		{"select upper(nul) from t", true},
		{"select upper(more) from t", true},
		{"select upper(many) from t", false}, // a filter could leave fewer rows than there are entries
		{"select upper(own) from t", false},  // has no dictionary
		{"select few::varchar from t", false},
		{"select few::varchar(1) from t", true},
		{"select few || i from t", false},
		{"select few || more from t", false},
		{"select coalesce(nul, 'none') from t", false},   // NULL is not NULL any more
		{"select nullif(few, 'w1') || '' from t", false}, // an entry becomes NULL
		{"select left(few, 1/(length(few)-2)) from t", false},
		{"select case when few = 'w1' then 'one' else 'other' end from t", false},
		{"select case when few = 'w1' then 'one' else few || 's' end from t", true},
		{"select replace(few, 'w', '" + strings.Repeat("long", 50000) + "') from t", false},
		{"select upper(few), count(*) from t group by upper(few)", true},
		{"select i from t where upper(few) = 'W1'", true},
	} {
		if got := mapsTexts(t, s, c.query); got != c.want {
			t.Errorf("%.100s: %v", c.query, got)
		}
		s.Configure(func(x *Settings) { x.Off.TextMaps = true })
		if mapsTexts(t, s, c.query) {
			t.Errorf("%.100s: a map, though they are off", c.query)
		}
		s.Configure(func(x *Settings) { x.Off.TextMaps = false })
	}
	// A dictionary that has more entries than there are rows left.
	mustRun(t, s, "delete from t where i >= 20")
	if mapsTexts(t, s, "select upper(more) from t") {
		t.Error("300 entries are computed for 20 rows")
	}
}

// TestTextMapsAgree: many rows get what they get one by one, also from files and with codes of two bytes, and a table that is
// made of them.
func TestTextMapsAgree(t *testing.T) {
	s := New(NewDB())
	rows := 100_000
	if testing.Short() {
		rows = 80_000
	}
	mustRun(t, s, fmt.Sprintf(`create table t as select i, 'W' || i%%7 few, 'wört ' || i%%300 more, case when i%%11 > 0 then 'a text of more than twelve bytes ' || i%%50 end nul
		from range(%d) r(i)`, rows))
	file := "'" + filepath.Join(t.TempDir(), "t.parquet") + "'"
	mustRun(t, s, "COPY t TO "+file)
	for _, from := range []string{"t", file, "(select * from t where i % 3 = 1)", "(select t.* from t left join (select i, few w from t where i < 9) o on o.w = t.few and o.i = t.i)"} {
		for _, q := range []string{
			"select lower(few) a, upper(more) b, upper(nul) c, count(*), sum(i) from FROM q group by 1, 2, 3 order by 1, 2, 3",
			"select i, lower(few), upper(more), replace(nul, 'text', '語'), left(more, 3), right(nul, 2) || '.' from FROM q order by i limit 2000",
			"select count(*), sum(a.i) from FROM a join (select upper(more) u, min(i) i from FROM q group by 1) b on upper(a.more) = b.u",
			"select max(upper(more)), min(lower(nul)), count(distinct left(more, 6)) from FROM q",
			"select i, upper(nul) from FROM q order by upper(nul) desc nulls first, i limit 50",
		} {
			q = strings.ReplaceAll(q, "FROM", from)
			s.Configure(func(x *Settings) { x.Off.TextMaps = true })
			want := rowsOf(t, s, q)
			s.Configure(func(x *Settings) { x.Off.TextMaps = false })
			for _, threads := range []int{1, 3} {
				s.Configure(func(x *Settings) { x.Threads, x.MorselRows, x.Off.ThreadTrial = threads, 1000, threads > 1 })
				if got := rowsOf(t, s, q); got != want {
					t.Errorf("%s\nwith %d threads: %.300s\nwithout maps: %.300s", q, threads, got, want)
				}
			}
		}
	}
	mustRun(t, s, "create table made as select i, lower(few) a, upper(more) b, upper(nul) c from t")
	s.Configure(func(x *Settings) { x.Off.TextMaps = true })
	got := rowsOf(t, s, `select count(*), count(c), sum(case when a = lower(few) and b = upper(more) and c is not distinct from upper(nul) then 1 else 0 end)
		from made join t using (i)`)
	if want := fmt.Sprintf("%d|%d|%d\n", rows, rows-(rows+10)/11, rows); got != want {
		t.Errorf("in the table: %s, not %s", got, want)
	}
}

// TestTextMapsSpace: texts that are made for rows of groups which are there already take no space, also if another key is
// looked up by its code, which is the same for all of these rows.
func TestTextMapsSpace(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, `create table t as select 'w' || i%7 few, 'a text of some bytes that is made for every row ' || i%9973 own from range(700000) r(i)`)
	if r := rowsOf(t, s, "explain (ir) select upper(few), upper(own), count(*) from t group by 1, 2"); !strings.Contains(r, "map#") || !strings.Contains(r, "texts#") {
		t.Fatal("one key is to be looked up, and one to be made")
	}
	mustRun(t, s, "SET memory_limit = '32MB'; SET threads = 1")
	for _, q := range []string{"upper(few) f, upper(own) o", "upper(own) o, upper(few) f", "left(few, 1) f, few || '', upper(own) o"} {
		got := rowsOf(t, s, "select count(*), count(distinct o), count(distinct f), sum(n) from (select "+q+", count(*) n from t group by all) x")
		if want := []string{"69811|9973|7|700000\n", "69811|9973|1|700000\n"}; got != want[0] && got != want[1] {
			t.Errorf("%s: %s", q, got)
		}
	}
}
