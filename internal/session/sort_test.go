package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSortKinds: packed keys order rows as comparing them does, whatever the types, directions and
// places of NULLs; and a limit takes the first of them.
func TestSortKinds(t *testing.T) {
	s := New(NewDB())
	mustRun(t, s, "create table t (id int, b boolean, i int, n bigint, d decimal(38,2), m decimal(15,2), f double, x text, y text, v interval, day date)")
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		w := []string{"", "a", "ab", "abcdefgh", "abcdefghi", "abcdefgh common prefix, then ", "abcdefgh common prefix, then more of it and more "}[rnd.IntN(7)]
		for range rnd.IntN(3) {
			w += string(rune('a' + rnd.IntN(3)))
		}
		return w
	}
	some := func(x string) string {
		if rnd.IntN(8) == 0 {
			return "null"
		}
		return x
	}
	var rows []string
	for id := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d, %s, %s, %s, %s, %d.5, %s, %s, '%s', %s, date '2020-01-01' + %d)", id,
			some([]string{"true", "false"}[rnd.IntN(2)]),
			some(fmt.Sprint(rnd.IntN(50)-25)),
			some(fmt.Sprint([]int64{-1 << 63, -5, 0, 7, 1<<63 - 1, rnd.Int64N(1000)}[rnd.IntN(6)])),
			some([]string{"0", "-1", "12345678901234567890123456789012345.25", "-99999999999999999999999999999.5", "17.25"}[rnd.IntN(5)]),
			rnd.IntN(20),
			some([]string{"0.0", "-0.0", "1.5", "-1e300", "'NaN'::double precision", "'Infinity'::double precision", "2.25"}[rnd.IntN(7)]),
			some("'"+word()+"'"), word(),
			some(fmt.Sprintf("interval '%d months %d days'", rnd.IntN(3), rnd.IntN(60))),
			rnd.IntN(30)))
	}
	mustRun(t, s, "insert into t values "+strings.Join(rows, ", "))
	cols := []string{"b", "i", "n", "d", "m", "f", "x", "y", "v", "day"}
	for range len(thin(make([]int, 100))) {
		rnd.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
		var keys []string
		for _, c := range cols[:1+rnd.IntN(4)] {
			keys = append(keys, c+[]string{"", " desc"}[rnd.IntN(2)]+[]string{"", " nulls first", " nulls last"}[rnd.IntN(3)])
		}
		q := "select id from t order by " + strings.Join(keys, ", ")
		s.Configure(func(x *Settings) { x.Off.RadixSort, x.Off.TopN, x.Threads = true, true, 1 })
		want := splitLines(rowsOf(t, s, q))
		s.Configure(func(x *Settings) { x.Off.RadixSort, x.Off.TopN, x.Threads = false, false, 1+rnd.IntN(3) })
		if got := rowsOf(t, s, q); got != joinLines(want) {
			t.Errorf("%s: packed keys order otherwise", q)
		}
		names := strings.NewReplacer(" desc", "", " nulls first", "", " nulls last", "").Replace(strings.Join(keys, ", "))
		bare := "select " + names + " from t order by " + strings.Join(keys, ", ")
		s.Configure(func(x *Settings) { x.Off.BareSort = true })
		tuples := rowsOf(t, s, bare)
		s.Configure(func(x *Settings) { x.Off.BareSort = false })
		if got := rowsOf(t, s, bare); got != tuples {
			t.Errorf("%s: words order otherwise than tuples", bare)
		}
		if got := rowsOf(t, s, bare+" limit 2000 offset 100"); got != joinLines(splitLines(tuples)[100:2100]) {
			t.Errorf("%s limit: other rows", bare)
		}
		for _, limit := range []int{0, 1, 10, 600, 2999} {
			s.Configure(func(x *Settings) { x.MorselRows = []int{0, 1, 100}[rnd.IntN(3)] })
			if got := rowsOf(t, s, fmt.Sprintf("%s limit %d", q, limit)); got != joinLines(want[:limit]) {
				t.Errorf("%s limit %d: other rows", q, limit)
			}
		}
	}
}

// TestSortLarge: sorts that all threads take part in.
func TestSortLarge(t *testing.T) {
	s := load(t, "tpch", "0.02")
	for _, keys := range thin([]string{"l_extendedprice", "l_shipmode, l_tax desc", "l_comment", "l_orderkey desc", "l_orderkey desc, l_comment", "upper(l_comment) desc, l_tax", "l_tax, l_shipmode || l_comment", "l_returnflag", "l_linenumber desc, l_orderkey", "l_shipinstruct, l_comment desc, l_partkey"}) {
		q := "select l_orderkey, l_linenumber from lineitem order by " + keys
		s.Configure(func(x *Settings) { x.Off.RadixSort, x.Threads = true, 1 })
		want := rowsOf(t, s, q)
		for _, threads := range []int{1, 2, 7} {
			s.Configure(func(x *Settings) { x.Off.RadixSort, x.Threads = false, threads })
			if rowsOf(t, s, q) != want {
				t.Errorf("%s, %d threads: another order", keys, threads)
			}
			if got := rowsOf(t, s, q+" limit 50 offset 7"); got != joinLines(splitLines(want)[7:57]) {
				t.Errorf("%s limit, %d threads: other rows", keys, threads)
			}
		}
	}
}
