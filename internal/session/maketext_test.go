package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestMakeText: texts made by generated code are what Go makes, however many there are, and stay what they
// are while the space of others is used again.
func TestMakeText(t *testing.T) {
	s := New(NewDB())
	rowsOf(t, s, "SET check = on; create table x (i int, s text, n text)")
	var texts []string
	for i := range 700 {
		v := strings.Repeat(fmt.Sprintf("aB%dz", i%37), i%60)
		if i%5 == 3 {
			v += "Äß☃" + strings.Repeat("Éx", i%9)
		}
		texts = append(texts, v)
		n := "'" + strings.ToUpper(v) + "'"
		if i%4 == 1 {
			n = "null"
		}
		rowsOf(t, s, fmt.Sprintf("insert into x values (%d, '%s', %s)", (i-350)*(i-350)*(i-350)*13, v, n))
	}
	rowsOf(t, s, "create table y as select x.i, x.s, x.n, k from x, generate_series(1, 40) as g(k)")
	read := func(sql string, check func(row []string)) int {
		t.Helper()
		n := 0
		for _, set := range []string{"SET threads = 1; SET morsel_rows = 0", "SET threads = 3; SET morsel_rows = 50"} {
			rowsOf(t, s, set)
			res, err := s.Query(context.Background(), sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			n = 0
			for _, row := range res.Values() {
				var cells []string
				for _, v := range row {
					cells = append(cells, v.String())
				}
				check(cells)
				n++
			}
			res.Close()
		}
		return n
	}
	read(`select i, s, n, lower(s), upper(s), replace(s, 'aB', ''), replace(s, 'z', '<long>'), lower(s) || '-' || i || '-' || upper(s), s || n, cast(i as text)
		from y`, func(r []string) {
		want := []string{r[0], r[1], r[2], strings.ToLower(r[1]), strings.ToUpper(r[1]), strings.ReplaceAll(r[1], "aB", ""),
			strings.ReplaceAll(r[1], "z", "<long>"), strings.ToLower(r[1]) + "-" + r[0] + "-" + strings.ToUpper(r[1]), r[1] + r[2], r[0]}
		if r[2] == "NULL" {
			want[8] = "NULL"
		}
		if fmt.Sprint(r) != fmt.Sprint(want) {
			t.Fatalf("got\n%q\nwant\n%q", r, want)
		}
	})
	// A filter's texts are overwritten, those of columns are not.
	read(`select u, v, s from (select lower(s) || 'x' as u, upper(s) as v, s from y) q where u like '%1zab1%' and upper(s) <> '' and length(v || u) > 3 and lower(v) <> u`, func(r []string) {
		if r[0] != strings.ToLower(r[2])+"x" || r[1] != strings.ToUpper(r[2]) {
			t.Fatalf("got %q", r)
		}
	})
	groups := map[string]int{}
	for _, v := range texts {
		groups[strings.ToLower(v)] += 40
	}
	n := read("select lower(s) as k, count(*), min(upper(s) || '!'), max(lower(s)), max(s || k) from y group by lower(s), 'k' || k % 1", func(r []string) {
		if fmt.Sprint(groups[r[0]]) != r[1] || r[2] != strings.ToUpper(r[0])+"!" || r[3] != r[0] || strings.ToLower(r[4]) != r[0]+"9" {
			t.Fatalf("got %q, want %d", r, groups[r[0]])
		}
	})
	if n != len(groups) {
		t.Errorf("%d groups, want %d", n, len(groups))
	}
	last := ""
	read("select distinct upper(s) as u from y order by u", func(r []string) {
		if r[0] < last && r[0] != "" {
			t.Fatalf("%q after %q", r[0], last)
		}
		last = r[0]
	})
	got := rowsOf(t, s, "select count(*) from x as a join x as b on lower(a.s) || 'q' = lower(b.s) || 'q' and a.i = b.i")
	if strings.TrimSpace(got) != "700" {
		t.Errorf("a join on made texts: %s", got)
	}
}
