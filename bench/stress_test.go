package main

import (
	"fmt"
	"strings"
	"testing"
)

// repeat joins n texts made by f.
func repeat(n int, sep string, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, sep)
}

// TestLargeStatements runs statements whose size is the point.
func TestLargeStatements(t *testing.T) {
	b := openBoth(t)
	num := func(i int) string { return fmt.Sprint(i * 7) }
	long := strings.Repeat("long text, ", 3000)
	for name, sql := range map[string]string{
		"integers in IN":   "select i from big where i in (" + repeat(2000, ", ", num) + ") order by i",
		"texts in IN":      "select count(*) from big where s in (" + repeat(500, ", ", func(i int) string { return fmt.Sprintf("'red-%d'", i) }) + ")",
		"texts not in IN":  "select count(*) from big where s not in (" + repeat(500, ", ", func(i int) string { return fmt.Sprintf("'red-%d'", i) }) + ")",
		"decimals in IN":   "select count(*) from big where x in (" + repeat(500, ", ", func(i int) string { return fmt.Sprintf("%d.%02d", i, i%100) }) + ")",
		"ORs":              "select count(*) from big where " + repeat(300, " or ", func(i int) string { return fmt.Sprintf("i = %d and g > %d", i*3, i%5) }),
		"ANDs":             "select count(*) from big where " + repeat(300, " and ", func(i int) string { return fmt.Sprintf("i <> %d", i*3) }),
		"rows in VALUES":   "select count(*), sum(x), max(y) from (values " + repeat(3000, ", ", func(i int) string { return fmt.Sprintf("(%d, 'v%d')", i, i%97) }) + ") q(x, y)",
		"columns":          "select " + repeat(300, ", ", func(i int) string { return fmt.Sprintf("a + %d as c%d", i, i) }) + " from t where a < 1000",
		"aggregates":       "select g, " + repeat(120, ", ", func(i int) string { return fmt.Sprintf("sum(h + %d) as c%d", i, i) }) + " from big group by g",
		"text aggregates":  "select g, " + repeat(20, ", ", func(i int) string { return fmt.Sprintf("max(substring(s from %d)), min(s || '%d')", i+1, i) }) + " from big group by g",
		"group keys":       "select " + repeat(25, ", ", func(i int) string { return fmt.Sprintf("i %% %d as c%d", i+2, i) }) + ", count(*) from big group by " + repeat(25, ", ", func(i int) string { return fmt.Sprintf("%d", i+1) }),
		"sort keys":        "select i from big order by " + repeat(20, ", ", func(i int) string { return fmt.Sprintf("(i * 31) %% %d", i+2) }) + ", i",
		"union":            repeat(60, " union all ", func(i int) string { return fmt.Sprintf("select a + %d as x from t where a < 1000", i) }),
		"union distinct":   repeat(30, " union ", func(i int) string { return fmt.Sprintf("select g + %d from big", i) }),
		"CASE":             "select case " + repeat(200, " ", func(i int) string { return fmt.Sprintf("when i = %d then %d", i*5, i) }) + " else -1 end as k, count(*) from big group by k",
		"nested CASE":      "select " + strings.Repeat("case when a > 1 then a else ", 40) + "0" + strings.Repeat(" end", 40) + " from t",
		"nested calls":     "select " + strings.Repeat("coalesce(nullif(", 8) + "a" + strings.Repeat(", 2), 5)", 8) + " from t",
		"nested queries":   strings.Repeat("select * from (", 40) + "select a, b from t" + strings.Repeat(") q where a is not null", 40),
		"additions":        "select " + repeat(300, " + ", func(int) string { return "a" }) + " from t where a < 1000",
		"decimal products": "select " + repeat(12, " * ", func(int) string { return "1.5" }) + ", d * 1.1 * 1.1 * 1.1 * 1.1 from t where abs(d) < 1000",
		"joins":            "select count(*) from " + repeat(14, ", ", func(i int) string { return fmt.Sprintf("keyed k%d", i) }) + " where " + repeat(13, " and ", func(i int) string { return fmt.Sprintf("k%d.id = k%d.id", i, i+1) }),
		"star join":        "select count(*) from big b0 " + repeat(10, " ", func(i int) string { return fmt.Sprintf("join dim d%d on b0.g = d%[1]d.g", i) }),
		"left joins":       "select count(*), count(k9.id) from keyed k0 " + repeat(9, " ", func(i int) string { return fmt.Sprintf("left join keyed k%d on k%d.ref = k%[1]d.id", i+1, i) }),
		"subqueries":       "select " + repeat(15, ", ", func(i int) string { return fmt.Sprintf("(select count(*) from u where u.a = t.a + %d) as c%d", i, i) }) + " from t where a < 1000",
		"EXISTS":           "select a from t where " + repeat(10, " or ", func(i int) string { return fmt.Sprintf("exists (select 1 from u where u.a = t.a and u.k > %d)", i*10) }),
		"CTEs": "with " + repeat(20, ", ", func(i int) string {
			return fmt.Sprintf("w%d as (select a from %s where a > %d)", i+1, map[bool]string{true: "t", false: fmt.Sprintf("w%d", i)}[i == 0], i-10)
		}) + " select * from w20",
		"LIKE":               "select count(*) from big where " + repeat(30, " or ", func(i int) string { return fmt.Sprintf("s like '%%%d%%e_'", i) }),
		"long literal":       "select count(*), max(length(s || '" + long + "')) from words",
		"long texts":         "select s, count(*) from (select case when i % 3 = 0 then '" + long + "' else s end as s from big) q group by s",
		"long texts in join": "select count(*) from (select '" + long + "' || (i % 50) as s from big) x join (select '" + long + "' || id as s from words) y on x.s = y.s",
		"long texts sorted":  "select length(s), i from (select '" + long + "' || s as s, i from big where i < 200) q order by s, i",
		"many groups":        "select count(*), sum(n), max(k) from (select i * 7919 % 3001 as k, count(*) as n from big group by 1) q",
		"many text groups":   "select count(*), sum(n), min(k), max(k) from (select s || '/' || i as k, count(*) as n from big group by 1) q",
		"large groups":       "select x.g, count(*), count(distinct y.h), sum(x.h * y.h) from big x join big y on x.g = y.g group by x.g",
		"large distinct":     "select count(*) from (select distinct x.h, y.i from big x join big y on x.g = y.g where x.i < 1000) q",
		"large sort":         "select x.i, y.i from big x join big y on x.h = y.h order by x.i * 31 % 1000, y.i, x.i limit 100",
		"large series":       "select g % 1000 as k, count(*), sum(g) from generate_series(1, 300000) s(g) group by k order by k limit 10",
		"large offset":       "select g from generate_series(1, 200000) s(g) order by g desc limit 3 offset 150000",
	} {
		t.Run(name, func(t *testing.T) {
			if wrong := b.check(statement{kelpie: sql}); wrong != "" {
				t.Errorf("%.300s\n%.3000s", sql, wrong)
			}
		})
	}
}
