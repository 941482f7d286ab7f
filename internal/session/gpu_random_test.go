package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestGPURandom: random queries over small tables give the CPU's rows on a device. What the tables have is what goes
// wrong: no rows, one, columns of one value, with a few NULLs or nothing else, the ends of all types; and so do literals, most of
// which are outside of what a column has.
func TestGPURandom(t *testing.T) {
	seeds, queries := 12, 80
	if testing.Short() {
		seeds, queries = 2, 40
	}
	for seed := range thin(make([]int, seeds)) {
		g := &narrowGen{rand.New(rand.NewPCG(uint64(seed), 7))}
		s := New(NewDB())
		for k := range narrowTables {
			mustRun(t, s, g.table(k))
		}
		list := make([]string, queries)
		want := make([]string, queries)
		for i := range list {
			list[i] = g.query()
			want[i] = answerText(s, list[i], nil)
		}
		accelerate(t, s, uint64(seed), nil)
		for i, sql := range list {
			onCPU := map[string]int{}
			if got := answerText(s, sql, onCPU); got != want[i] || len(onCPU) > 0 {
				t.Errorf("seed %d: %s\ngot  %.300s\nwant %.300s\n%v", seed, sql, got, want[i], onCPU)
			}
		}
	}
}

const narrowTables = 6

// narrowColumns are the columns of a table, by name, which is a letter, with their types and some literals.
var narrowColumns = []struct {
	name, typ string
	values    []string
}{
	{"i", "int", []string{"0", "1", "-1", "200", "255", "256", "-128", "127", "32767", "65535", "2147483647", "-2147483648", "7"}},
	{"b", "bigint", []string{"0", "4294967295", "9223372036854775807", "-9223372036854775808", "5000000000", "-1"}},
	{"d", "date", []string{"date '1993-01-01'", "date '2020-02-29'", "date '0001-01-01'", "date '9999-12-31'"}},
	{"n", "decimal(10,2)", []string{"0.00", "-1.50", "99999999.99", "12345.67", "0.01"}},
	{"w", "decimal(38,0)", []string{"0", "12345678901234567890123", "-99999999999999999999999999999", "1"}},
	{"s", "varchar", []string{"''", "'a'", "'ab'", "'abc'", "'x%y'", "'żółw'", "'a long text that has many letters in it'"}},
	{"f", "double", []string{"0.0::double", "'NaN'::double", "1.5::double", "'Infinity'::double", "-1e300::double"}},
	{"o", "boolean", []string{"true", "false"}},
	{"i2", "int", []string{"0", "1", "255", "65535", "-7"}},
}

// narrowGen makes tables and queries.
type narrowGen struct{ *rand.Rand }

func (g *narrowGen) one(list ...string) string { return list[g.IntN(len(list))] }

func (g *narrowGen) table(k int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "create table t%d (id int", k)
	for _, c := range narrowColumns {
		fmt.Fprintf(&b, ", %s %s", c.name, c.typ)
	}
	b.WriteString(")")
	rows := []int{0, 1, 1, 2, 3, 40, 300}[g.IntN(7)]
	nulls, same := []float64{0, 0, 0.3, 1}[g.IntN(4)], g.IntN(3) == 0
	var values [][]string // some of each column's
	for _, c := range narrowColumns {
		first := g.IntN(len(c.values))
		values = append(values, c.values[first:first+1+g.IntN(len(c.values)-first)])
	}
	row := ""
	for r := range rows {
		if row == "" || !same {
			row = ""
			for i := range narrowColumns {
				v := g.one(values[i]...)
				if g.Float64() < nulls {
					v = "null"
				}
				row += ", " + v
			}
		}
		if r == 0 {
			fmt.Fprintf(&b, "; insert into t%d values ", k)
		} else {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "(%d%s)", r, row)
	}
	return b.String()
}

// pred is a condition on columns of a relation, whose name is before them.
func (g *narrowGen) pred(of string) string {
	c := narrowColumns[g.IntN(len(narrowColumns)-1)]
	x := of + c.name
	lit := func() string { return g.one(c.values...) }
	if c.name == "o" {
		return g.one(x, "not "+x, x+" is null")
	}
	switch g.IntN(8) {
	case 4:
		return x + " between " + lit() + " and " + lit()
	case 5:
		list := lit()
		for range g.IntN(8) {
			list += ", " + lit()
		}
		return x + g.one(" in (", " not in (") + list + ")"
	case 6:
		return x + g.one(" is null", " is not null")
	case 7:
		switch c.name {
		case "s":
			return x + g.one(" like ", " not like ") + g.one("'a%'", "'%b%'", "'_'", "'%'", "''", "'%b'", "'a%c'")
		case "i":
			return x + g.one(" < ", " = ", " > ") + of + "i2"
		}
		return "coalesce(" + x + ", " + lit() + ") = " + lit()
	}
	return x + g.one(" < ", " <= ", " = ", " >= ", " > ", " <> ") + lit()
}

func (g *narrowGen) where(of string) string {
	p := g.pred(of)
	for range g.IntN(3) {
		p += g.one(" and ", " and ", " or ") + g.pred(of)
	}
	return p
}

func (g *narrowGen) query() string {
	t, u := g.IntN(narrowTables), g.IntN(narrowTables)
	agg := func() string {
		return g.one("count(*)", "sum(i)", "min(b)", "max(d)", "sum(n)", "min(w)", "max(s)", "count(distinct i)", "count(f)",
			"sum(case when i > 100 then i2 else 0 end)", "avg(n)", "bool_or(o)")
	}
	c := g.one("i", "b", "d", "w", "s")
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("select %s, %s, %s from t%d where %s", agg(), agg(), agg(), t, g.where(""))
	case 1:
		return fmt.Sprintf("select %s k, %s, %s from t%d where %s group by 1 order by 1", g.one("i", "s", "d", "o", "w", "b", "i % 7", "substr(s, 1, 1)"), agg(), agg(), t, g.where(""))
	case 2:
		return fmt.Sprintf("select id, i, s, w, n, case when %s then i2 when %s then 3 end z from t%d where %s order by id", g.pred(""), g.pred(""), t, g.where(""))
	case 3:
		return fmt.Sprintf("select a.id, b.id from t%d a %s t%d b on a.%s = b.%s %s where %s order by 1, 2", t, g.one("join", "left join", "right join", "full join"), u, c, c,
			g.one("", "and a.i < b.i2", "and b.i > 5"), g.one("true", g.where("a.")))
	case 4:
		return fmt.Sprintf("select id from t%d where (%s) and %s %s (select %s from t%d where %s) order by id", t, g.where(""), c, g.one("in", "not in"), c, u, g.where(""))
	}
	return fmt.Sprintf("select distinct i, s from t%d where %s order by 1, 2 limit %s", t, g.where(""), g.one("1", "3", "100"))
}
