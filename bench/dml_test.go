package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// TestChanges makes the same changes to a table in both engines and compares it after each.
func TestChanges(t *testing.T) {
	b := openBoth(t)
	both := func(sql string) {
		t.Helper()
		for _, e := range []engine{b.k, b.plain, b.d} {
			if err := e.drain(sql); err != nil {
				t.Fatalf("%s: %s\n%s", e.name(), sql, diag.Format(err, sql))
			}
		}
	}
	both("create table mine (id int, a int, d decimal(12,2), s varchar, dt date, f boolean)")
	next := 0
	for seed := range uint64(60) {
		g := &sqlGen{r: rand.New(rand.NewPCG(seed, 5)), budget: 12}
		m := scope{{"mine.id", anInt}, {"mine.a", anInt}, {"mine.d", aDec}, {"mine.s", aText}, {"mine.dt", aDate}, {"mine.f", aBool}}
		inserted := "values "
		if g.chance(50) {
			rows := make([]string, 1+g.r.IntN(20))
			for i := range rows {
				next++
				cells := []string{fmt.Sprint(next)}
				for _, k := range []kind{anInt, aDec, aText, aDate, aBool} {
					cells = append(cells, g.pick(g.literal(k), g.literal(k), g.literal(k), "null"))
				}
				rows[i] = "(" + strings.Join(cells, ", ") + ")"
			}
			inserted += strings.Join(rows, ", ")
		} else {
			next += 1000
			inserted = fmt.Sprintf("select i + %d, g, x, s, dt, h > 0 from big where i between %d and %[2]d + 40", next, g.r.IntN(2900))
		}
		set := func() string {
			c := m[1+g.r.IntN(5)]
			return strings.TrimPrefix(c.name, "mine.") + " = " + g.expr(c.kind, m, nil, 1)
		}
		where := " where " + g.cond(m, nil, 2)
		sql := ""
		switch g.r.IntN(10) {
		case 0, 1, 2, 3:
			sql = "insert into mine " + inserted
		case 4:
			sql = "insert into mine (id, s) select id, s from keyed where " + g.cond(scope{{"keyed.id", anInt}, {"keyed.s", aText}}, nil, 1)
		case 5, 6, 7:
			sql = "update mine set " + set()
			if g.chance(90) {
				sql += where
			}
		case 8:
			sql = "delete from mine" + where + " and mine.id % 3 = 1"
		default:
			sql = "insert into mine select * from mine" + where + " and mine.id % 5 = 2"
		}
		want, wantErr := b.d.rows(sql)
		_ = want
		var errs []error
		for _, e := range []engine{b.k, b.plain} {
			errs = append(errs, e.drain(sql))
		}
		if wantErr != nil || errs[0] != nil || errs[1] != nil {
			t.Fatalf("%s\nduckdb: %v\nkelpie: %v\nplain: %v", sql, wantErr, errs[0], errs[1])
		}
		for _, q := range []string{"select * from mine order by id, a, d, s, dt, f", "select s, count(*), sum(a), min(dt), sum(d) from mine group by s",
			"select mine.id, u.k from mine join u on mine.a = u.a", "select count(*) from mine where f and s like '%o%'"} {
			if wrong := b.check(statement{kelpie: q}); wrong != "" {
				t.Fatalf("seed %d: after %s\n%s\n%.2000s", seed, sql, q, wrong)
			}
		}
	}
	for _, sql := range []string{
		"create table copied as select id, a * 2 as a2, s || '!' as s, d from mine where id < 5000",
		"delete from copied",
		"insert into copied select id, a, s, d from mine",
		"create table typed (i smallint, j bigint default 7, s varchar(5) not null default 'x', d decimal(6,3), e double precision)",
		"insert into typed (i) values (1), (2)",
		"insert into typed (s, d, i) values ('abc', 1.2345, 3), (default, -1.0005, null)",
		"insert into typed values (4, default, 'ä', 0.0005, 1e-300), (5, 9223372036854775807, '', null, 1e300)",
		"update typed set j = j - 1, s = s || i where i < 4",
		"update typed set d = e where false",
		"delete from typed where i = (select max(i) from typed)",
		"delete from typed where exists (select 1 from t where t.a = typed.i)",
	} {
		both(sql)
		for _, q := range []string{"select * from copied", "select * from typed"} {
			if wrong := b.check(statement{kelpie: q}); wrong != "" && !strings.Contains(wrong, "does not exist") {
				t.Fatalf("after %s\n%s\n%.2000s", sql, q, wrong)
			}
		}
	}
}
