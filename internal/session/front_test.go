package session

import (
	"fmt"
	"strings"
	"testing"
)

// TestFront: tests of 64 rows at a time let the same rows pass as tests of one row, whatever the columns'
// widths, bases, NULLs and the place of morsels.
func TestFront(t *testing.T) {
	s := New(NewDB())
	ask := func(sql string) string { t.Helper(); return rowsOf(t, s, sql) }
	ask("set check = on")
	// Columns of 1, 2, 4 and 8 bytes, with bases that differ from segment to segment and change sign.
	ask(`create table r as select i,
		cast(i % 7 as int) as b1, cast(i % 200 - 100 as int) as b1n,
		cast(i / 65536 * 1000 - 1500 + i % 300 as int) as w2, cast(i % 40000 as int) as w2n,
		cast(i * 37 % 1000003 - 500000 as int) as w4, i / 65536 * 10000000000 + i * 3 as w4b,
		(i * 67004 - 50000) * 214748364 as w8,
		case when i % 5 = 0 then null else cast(i % 90 as int) end as nb,
		case when i % 3 = 0 then null else cast(i % 50000 + 70000 as int) end as nw,
		case when i % 65536 > 60000 then null else i % 11 end as tail,
		i % 4 = 1 as flag, case when i % 6 = 0 then null else i % 4 < 2 end as nflag,
		cast('1995-01-01' as date) + cast(i % 900 as int) as d1, cast('1995-06-01' as date) + cast(i * 7 % 800 as int) as d2,
		cast(i % 10000 as decimal(12,2)) * 0.25 as m,
		'name' || cast(i % 30 as varchar) as s30, 'x' || cast(i % 100 as varchar) as s100, 'y' || cast(i * 31 % 700 as varchar) as s700,
		case when i % 4 = 0 then null else 'z' || cast(i % 20 as varchar) end as ns,
		cast(i % 1000 as double precision) / 8 as f,
		case i % 40 when 0 then 'NaN' when 1 then 'Infinity' when 2 then '-Infinity' when 3 then '-0' when 4 then null else cast(i % 100 - 50 as varchar) end::double precision as g,
		cast(cast(i % 300 as double precision) / 7 - 20 as real) as h
		from (select cast(i as bigint) as i from generate_series(0, 199999) as g(i)) q`)
	ask("create table keys as select cast(k * 13 as int) as k from generate_series(1, 900) as g(k)")
	preds := []string{
		"b1 = 3", "b1 <> 3", "b1 in (1, 4, 6)", "b1 not in (1, 4, 6)", "b1 < 2 or b1 > 5", "not (b1 < 2 or b1 > 5)",
		"b1n between -20 and 20", "b1n < -90", "b1n >= 99", "b1n = 1000", "b1n <> 1000 and b1 = 1",
		"w2 between -100 and 100", "w2 < -1490", "w2 > 1600", "w2 = -1500", "w2 in (-1500, -1499, 0, 700, 1790)", "w2n between 100 and 39000",
		"w4 between -1000 and 1000", "w4 > 0", "w4 <> 0 and w4 < 100", "w4b between 10000000000 and 10000300000", "w4b > 20000000100",
		"w8 > 1000000000000000", "w8 between -5 and 5000000000000", "w8 < 0",
		"nb = 40", "nb <> 40", "nb is null", "nb is not null", "nb is null or nb < 3", "not (nb < 85)", "nb in (1, 2, 80)", "nb not in (1, 2, 80)",
		"nw between 80000 and 90000", "nw is null and b1 = 2", "tail = 5", "tail is null",
		"flag", "not flag", "nflag", "not nflag", "nflag is null", "flag and nflag", "flag or nflag", "not (flag and nflag)",
		"d1 < d2", "d1 >= d2", "d1 = d2", "not (d1 <> d2)", "d1 between '1995-02-01' and '1995-03-01' and d2 < '1996-01-01'",
		"b1 = b1n", "b1n > nb", "w2 < w2n", "w2n > w4", "w4 = b1", "nb < nw",
		"m = 100.25", "m < 7.5", "m > 2490.1 and m <> 2500",
		"s30 = 'name7'", "s30 <> 'name7'", "s30 in ('name1', 'name29', 'none')", "s30 like '%2%'", "s30 not like '%2%'", "s30 > 'name3'", "s30 = 'none'",
		"s100 like 'x1%'", "s100 = 'x99'", "s700 = 'y699'", "s700 in ('y1', 'y2', 'y3')", "s700 like '%77%' or s30 = 'name3'",
		"ns = 'z3'", "ns <> 'z3'", "ns like '%1%'", "not (ns like '%1%')", "ns is null", "ns in ('z1', 'z2') or ns is null",
		"f < 3.5", "f < 3.5 and b1 = 1", "f > 100 and f <= 101.5", "f = 0", "f <> 5", "f >= 124.875", "f > 1e300",
		"g < 0", "g <= 0", "g > 0", "g >= 0", "g = 0", "g > -3 and g < 2", "g < -30.5", "g > 45", "g >= 'Infinity'", "g > 'Infinity'", "g = 'NaN'", "g < '-Infinity'",
		"g <= '-Infinity'", "g < 'Infinity'", "g = -7", "g between -2 and -1", "g < 1 or g is null", "not (g < 10)", "g <> 0", "h < 0.1", "h > 22.7", "h >= 22.71428680419922",
		"h between -1 and 1", "h = -20", "h < -19.95", "h <= 0 and h >= 0", "b1 = 1 and i % 10 = 3", "b1 = 1 and w2 > 0 and d1 < d2 and s30 like 'name1%'",
		"b1 > 9", "b1 < 9", "false", "i < 100", "i >= 199990", "i in (0, 63, 64, 65, 1023, 1024, 65535, 65536, 199999)",
		"w2n in (select k from keys)", "w4 in (select k from keys)", "nw in (select k + 70000 from keys) and b1 < 3", "w2n not in (select k from keys)",
	}
	preds = thin(preds)
	levels := []string{"auto", "avx2"}
	want := make([]string, len(preds))
	query := func(p string) string {
		return "select count(*), sum(i), min(w4), max(nb), count(ns), sum(f) from r where " + p
	}
	ask("set simd = off")
	for i, p := range preds {
		want[i] = ask(query(p))
	}
	if strings.Count(strings.Join(want, ""), "[0 ") > 12 {
		t.Errorf("too many predicates let nothing pass")
	}
	for _, level := range levels {
		for _, morsel := range []int{0, 1, 7, 64, 1000} {
			if testing.Short() && morsel != 0 && morsel != 1000 || morsel == 1 && level == "avx2" {
				continue
			}
			ask(fmt.Sprintf("set simd = %s; set morsel_rows = %d", level, morsel))
			for i, p := range preds {
				if got := ask(query(p)); got != want[i] {
					t.Errorf("simd %s, morsels of %d: %s\ngot  %swant %s", level, morsel, p, got, want[i])
				}
			}
		}
	}
}
