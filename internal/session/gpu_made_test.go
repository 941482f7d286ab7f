package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/corpus"
	"github.com/kelpiedb/kelpie/internal/gpu"
)

// madeTexts are queries whose texts kernels make: kept in results, tables and groups, compared, sorted by and searched.
var madeTexts = []string{
	"select id, upper(s), lower(s), s || '-' || k || '-' || id, replace(s, 'x', 'yy'), replace(s, 'xx', ''), id::text || 'm' from w",
	"select upper(k) || '/' || lower(m), count(*), min(s || m), max(upper(s)) from w group by 1",
	"select id % 3, min(replace(m, 'é', 'eee')), max(s || id), count(distinct lower(s)), count(*) filter (where upper(m) like '%ÀÉ%') from w group by 1",
	"select min(upper(s) || id), max(lower(m) || '!'), min(s || '' ) filter (where id % 2 = 1) from w",
	"select min(upper(s)), count(*) from w where id < 0",
	"select count(*) from w where lower(s) like '%xab%' or upper(m) = 'ÀÉÎÕÜ7' or s || k < 'b'",
	"select count(*) from w where replace(s, 'x', '') = '' or s || 'é' like '_%é'",
	"select upper(a.k) || a.id, b.id from w a join w b on lower(a.k) || a.id % 50 = b.k || b.id % 50 and a.id < 40 and b.id < 300",
	"select x.u, count(*) from (select upper(m) || id % 5 u from w) x join (select 'ÀÉÎÕÜ7' || n u from generate_series(0, 3) g(n)) y on x.u = y.u group by 1",
	"select id, lower(k) || m from w where id % 3 = 0 order by upper(k) || m, id desc",
	"select upper(s) || id u from w order by 1 desc limit 7",
	"select s, m, k, upper(k) from w order by s desc, m, id",
	"select distinct lower(k) || id % 4 from w",
	"select distinct on (lower(k)) lower(k) || '!', upper(m) from w where id % 10 = 4 order by lower(k), id",
	"select u, count(*) from (select upper(k) u from w union all select s || '' from w where id < 30) x group by 1",
	"select upper(k) || id, row_number() over (partition by lower(k) || 'x' order by id) from w where id < 60",
	"select lag(upper(k) || id) over (order by id) from w where id < 60",
	"select string_agg(upper(k) || id, ',' order by id) from w where id < 60",
	"select case when id % 2 = 0 then upper(s) when id % 5 = 0 then null else 'n' || id end, coalesce(lower(s), k || '?'), nullif(upper(k), 'B') from w",
	"select id, (select max(upper(b.k) || b.id) from w b where b.id % 7 = a.id % 7) from w a where id < 20",
	"select a.id, b.u from w a left join (select id, upper(s) || '+' u from w where id % 2 = 0) b on a.id = b.id where a.id < 50",
	"select initcap(lower(k) || ' ' || id) from w where id < 40",
	"select length(upper(s) || lower(m)), substring(upper(m) from 2 for 3), strpos(lower(s), 'ab'), left(k || id, 2), trim(' ' || k || ' ') from w",
	"select rpad(upper(k), 5, '-') || 'z' from w where id < 50",
	"select any_value(upper(k) || 'q') from w where k = 'b'",
}

// TestGPUMadeTexts: texts that kernels make are those of the CPU, however little room there was for them at first, and nothing is left to Go or
// to the CPU where it has code.
func TestGPUMadeTexts(t *testing.T) {
	s := New(NewDB())
	var rows []string
	for g := range 400 {
		text := "'" + strings.Repeat("x", g%23) + "aB" + strings.Repeat("Yx", g%5) + "'"
		switch {
		case g%11 == 0:
			text = "null"
		case g%13 == 0:
			text = "''"
		case g == 300:
			text = "'" + strings.Repeat("longX", 15000) + "'"
		}
		rows = append(rows, fmt.Sprintf("(%d, %s, '%s%d', '%c')", g, text, []string{"àéîõü", "Ⱥⱥß", "ıİKſÅ", "𐐀𐐨x", "plain"}[g%5], g%9, "aBcD"[g%4]))
	}
	mustRun(t, s, "create table w (id int, s varchar, m varchar, k varchar)")
	mustRun(t, s, "insert into w values "+strings.Join(rows, ", "))
	for i, q := range madeTexts {
		s.Configure(func(x *Settings) { x.Device = "cpu" })
		want, err := askNoting(s, q, map[string]int{})
		if err != nil {
			t.Fatal(q, err)
		}
		for seed := range uint64(3) {
			if testing.Short() && seed != uint64(i%3) {
				continue
			}
			accelerate(t, s, seed+1, func(g *gpu.Store, x *Settings) {
				switch seed {
				case 0:
					x.Grid, x.Block = 3, 64
				case 1:
					x.Grid, x.Block, g.Room = 1, 256, 5
				case 2:
					x.Grid, x.Block, g.Room, x.MorselRows = 2, 32, 3, 100
				}
			})
			onCPU := map[string]int{}
			got, err := askNoting(s, q, onCPU)
			if err != nil || len(onCPU) > 0 {
				t.Errorf("%s: %v %v", q, err, onCPU)
			}
			if a, b := rowsInOrder(got), rowsInOrder(want); a != b {
				t.Errorf("%s, seed %d: %.600s\nwant %.600s", q, seed, a, b)
			}
		}
	}
}

// TestGPULetters: every letter has the other case that Go gives it, in texts that become longer and shorter by it.
func TestGPULetters(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table letters (id int, s varchar)")
	var rows []string
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if r != '\'' && utf8.ValidRune(r) && (unicode.ToLower(r) != r || unicode.ToUpper(r) != r || unicode.ToLower(r-1) != r-1 || r%9973 == 0) {
			rows = append(rows, fmt.Sprintf("(%d, '%c'), (-%d, 'x%sY')", r, r, r, strings.Repeat(string(r), int(r%13))))
		}
	}
	mustRun(t, s, "insert into letters values "+strings.Join(rows, ", "))
	const q = "select id, lower(s), upper(s) || '.' from letters"
	s.Configure(func(x *Settings) { x.Device = "cpu" })
	want := rowsInOrder(must(askNoting(s, q, map[string]int{})))
	accelerate(t, s, 1, nil)
	onCPU := map[string]int{}
	if got := rowsInOrder(must(askNoting(s, q, onCPU))); got != want || len(onCPU) > 0 {
		a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("%s, want %s", a[i], b[i])
			}
		}
		t.Errorf("%d rows, want %d; %v", len(a), len(b), onCPU)
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// rowsInOrder are rows in an order of their own.
func rowsInOrder(rows [][]corpus.Cell) string {
	var out []string
	for _, r := range rows {
		out = append(out, corpus.RowText(r))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestGPUSeesMadeTexts: before lanes compare the bytes of a text that another lane of this kernel has made, they make sure that their multiprocessor's cache
// has nothing older of them. The simulator has no such cache, so the code is looked at: fences before an entry or a value is written, and
// where one is read that has texts of this kernel.
func TestGPUSeesMadeTexts(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t as select i as id, 'a' || i % 100 as a, 'B' || i as b from generate_series(1, 1000) s(i)")
	mustRun(t, s, "set device = 'simt'")
	for _, c := range []struct {
		query string
		want  int
	}{
		{"select b, count(*) from t group by b", 1},
		{"select lower(b) || a, count(*) from t group by 1", 2},
		{"select id, min(a || b) from t group by id", 4},
		{"select min(a || b) from t", 4},
		{"select lower(b) || a, max(a || b) from t group by 1", 6},
		{"select min(a) from t", 2}, // texts of columns are older than the kernel
	} {
		rows, err := ask(s, "explain (ptx) "+c.query)
		if err != nil {
			t.Fatal(err)
		}
		fences := 0
		for _, r := range rows {
			if strings.Contains(r[0].S, "fence.acq_rel.gpu") {
				fences++
			}
		}
		if fences != c.want {
			t.Errorf("%s: %d fences instead of %d", c.query, fences, c.want)
		}
	}
}
