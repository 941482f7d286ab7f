package lab

import (
	"fmt"
	"strings"
)

// The figures of the Flounder paper, in chapter 2 of the thesis. Its four families of queries are in Figure 2.12.
var flounder = []Figure{
	{Name: "flounder-2.13", Paper: "Flounder, Figure 2.13", Title: "compile time against complexity", Devices: []string{"cpu"}, run: compileTimes},
	{Name: "flounder-2.14", Paper: "Flounder, Figure 2.14", Title: "register allocation", Devices: []string{"cpu"}, run: registerAllocation},
	{Name: "flounder-2.15", Paper: "Flounder, Figure 2.15", Title: "post-projection", Devices: []string{"cpu", "gpu", "simt"}, run: postProjection},
	{Name: "flounder-2.16", Paper: "Flounder, Figure 2.16", Title: "compiling and executing", Devices: []string{"cpu"}, run: overall},
	{Name: "flounder-2.17", Paper: "Flounder, Figure 2.17", Title: "TPC-H, 100 MB", Devices: []string{"cpu"}, run: tpchCompiled(1)},
	{Name: "flounder-2.18", Paper: "Flounder, Figure 2.18", Title: "TPC-H, 1 GB", Devices: []string{"cpu"}, run: tpchCompiled(10)},
}

// list writes the numbers from 1 to n by a function.
func list(n int, sep string, f func(i int) string) string {
	var parts []string
	for i := 1; i <= n; i++ {
		parts = append(parts, f(i))
	}
	return strings.Join(parts, sep)
}

// series makes a table of n rows by expressions of i.
func series(name string, n int, cols string) string {
	return fmt.Sprintf("create table %s as select %s from generate_series(0, %d) t(i)", name, cols, n-1)
}

// scrambled is an expression of numbers below mod that have no order.
func scrambled(k, mod int) string {
	return fmt.Sprintf("(i::bigint * %d + %d) %% %d", 7919+2*k, 31*k, mod)
}

// wide is Qπ's table, of n rows and p columns.
func wide(n, p int) string {
	return series("wide", n, list(p, ", ", func(i int) string { return fmt.Sprintf("%s as a%d", scrambled(i, 1000), i) }))
}

// projection is Qπ: p columns of the rows of which one in a hundred passes.
func projection(p int) string {
	return "select " + list(p, ", ", func(i int) string { return fmt.Sprintf("a%d", i) }) + " from wide where a1 < 10"
}

// chainTables are those of Q⋈, chain joins j of them.
func chainTables(j, n int) []string {
	var out []string
	for i := 1; i <= j; i++ {
		out = append(out, series(fmt.Sprintf("r%d", i), n, "i as a"))
	}
	return out
}

func chain(j int) string {
	return "select " + list(j, ", ", func(i int) string { return fmt.Sprintf("r%d.a", i) }) + " from " + list(j, ", ", func(i int) string { return fmt.Sprintf("r%d", i) }) +
		" where " + list(j-1, " and ", func(i int) string { return fmt.Sprintf("r%d.a = r%d.a", i, i+1) })
}

// selection is Qσ: a column compared with s literals.
func selection(s int) string {
	return "select a1 from wide where " + list(s, " and ", func(i int) string { return fmt.Sprintf("a1 <> %d", i*7) })
}

// paperQuery is one of the eight of Figures 2.14 and 2.16.
type paperQuery struct{ name, sql string }

// paperQueries makes the tables of two of each family and returns the queries.
func (b *bench) paperQueries() ([]paperQuery, error) {
	n, small := b.rows(10_000_000), b.rows(1_000_000)
	tables := append(chainTables(25, b.rows(100_000)), wide(n, 100),
		series("small_r", small, scrambled(1, small)+" as b, "+scrambled(2, 100)+" as c, "+scrambled(3, 1000)+" as e"), series("small_s", small, "i as d"),
		series("large_r", n, scrambled(1, n)+" as b, "+scrambled(2, 100)+" as c, "+scrambled(3, 1000)+" as e"), series("large_s", n, "i as d"))
	join := func(size string) string {
		return fmt.Sprintf("select avg(r.e) from %s_r r, %s_s s where r.b = s.d and r.c between 40 and 50", size, size)
	}
	return []paperQuery{{"Q small", join("small")}, {"Q large", join("large")}, {"Qπ 10", projection(10)}, {"Qπ 100", projection(100)},
		{"Q⋈ 2", chain(2)}, {"Q⋈ 25", chain(25)}, {"Qσ 10", selection(10)}, {"Qσ 100", selection(100)}}, b.here(tables...)
}
