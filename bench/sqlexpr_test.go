package main

import (
	"fmt"
	"slices"
	"strings"
)

// column is a column of a kind, preferably of the inner scope; "" if there is none.
func (g *sqlGen) column(k kind, sc, outer scope) string {
	of := func(s scope) []string {
		var names []string
		for _, c := range s {
			if c.kind == k {
				names = append(names, c.name)
			}
		}
		return names
	}
	in, out := of(sc), of(outer)
	switch {
	case len(out) > 0 && (len(in) == 0 || g.chance(30)):
		return g.pick(out...)
	case len(in) > 0:
		return g.pick(in...)
	}
	return ""
}

func (g *sqlGen) literal(k kind) string {
	switch k {
	case anInt:
		return g.pick("0", "1", "2", "3", "7", "10", "20", "-6", "30", "100")
	case aDec:
		return g.pick("0.00", "1.50", "-2.25", "100.00", "0.01")
	case aText:
		return g.pick("'one'", "'two'", "''", "'x'", "'red-1'", "'Grüße'", "'zzz'")
	case aDate:
		return g.pick("date '2020-01-01'", "date '2020-02-29'", "date '1970-01-01'", "date '1995-06-15'")
	}
	switch k {
	case aBig:
		return g.pick("300::bigint", "9000000000", "-200::bigint", "0::bigint")
	case aWide:
		return g.pick("1.5::decimal(30,10)", "18446744073709551616.5::decimal(38,10)", "0::decimal(30,10)")
	case aDouble:
		return g.pick("0.5::double precision", "1e3::double precision", "-12.25::double precision")
	case aList:
		return g.pick("array[1, 2]", "array[]::int[]", "array[null, 7]::int[]", "array[3, 1, 3]")
	case aZone:
		return g.pick("timestamptz '2024-02-29 12:00:00+00'", "timestamptz '1969-12-31 23:59:59.999999+00'", "timestamptz '2024-03-31 01:30:00+00'")
	case anEnum:
		return g.pick("'sad'::mood", "'ok'::mood", "'日本'::mood", "'happy'::mood")
	case aTime:
		return g.pick("timestamp '2020-02-29 12:34:56.789012'", "timestamp '1970-01-01 00:00:00'", "timestamp '2000-02-29 01:00:00.5'")
	case texts, dates, decs, doubles, aSpan, anEnd, aDay:
		return g.nestedLiteral(k)
	}
	return g.pick("true", "false")
}

// expr is an expression of a kind. Subqueries in it may refer to both scopes.
func (g *sqlGen) expr(k kind, sc, outer scope, depth int) string {
	defer g.part("expr")()
	c := g.column(k, sc, outer)
	if c == "" || g.chance(5) {
		c = g.literal(k)
	}
	other := func() string {
		if o := g.column(k, sc, outer); o != "" && g.chance(60) {
			return o
		}
		return g.literal(k)
	}
	if g.budget--; g.budget < 0 {
		return c
	}
	if depth > 0 && k != aBool && g.chance(12) {
		return "(" + g.scalar(k, sc, outer, depth-1) + ")"
	}
	switch g.r.IntN(21) {
	case 6:
		if e := g.mixed(k, c, sc, outer); e != "" {
			return e
		}
	case 4:
		return fmt.Sprintf("coalesce(nullif(%s, %s), %s)", c, g.literal(k), other())
	case 5:
		return fmt.Sprintf("nullif(coalesce(%s, %s), %s)", c, other(), other())
	case 0:
		return fmt.Sprintf("case when %s then %s else %s end", g.cond(sc, outer, depth-1), c, other())
	case 1:
		return fmt.Sprintf("case when %s then %s end", g.cond(sc, outer, depth-1), c)
	case 2:
		return fmt.Sprintf("coalesce(%s, %s)", c, other())
	case 3:
		return fmt.Sprintf("nullif(%s, %s)", c, other())
	}
	if g.nested && g.chance(14) {
		if e := g.call(k, sc, outer); e != "" && g.chance(70) {
			return e
		}
		if e := g.nestedExpr(k, sc, outer); e != "" {
			return e
		}
	}
	switch k {
	case anInt:
		switch g.r.IntN(16) {
		case 0:
			return fmt.Sprintf("%s + %s", c, other())
		case 1:
			return fmt.Sprintf("%s - %s", c, other())
		case 2:
			return c + " * 2"
		case 3:
			return c + " % 7"
		case 4:
			return "abs(" + c + ")"
		case 5:
			return "-" + strings.TrimPrefix(c, "-")
		case 6:
			return g.pick("greatest", "least") + "(" + c + ", " + other() + ")"
		case 7:
			if s := g.column(aText, sc, outer); s != "" {
				return "length(" + s + ")"
			}
		case 8:
			if d := g.column(aDate, sc, outer); d != "" {
				return "extract(" + g.pick("year", "month", "day", "dow") + " from " + d + ")"
			}
		}
	case aDec:
		switch g.r.IntN(8) {
		case 0:
			return fmt.Sprintf("%s + %s", c, other())
		case 1:
			return c + " * 2"
		case 2:
			if i := g.column(anInt, sc, outer); i != "" {
				return c + " - " + i
			}
		}
	case aText:
		switch g.r.IntN(6) {
		case 0:
			return fmt.Sprintf("substring(%s from %d for %d)", c, 1+g.r.IntN(3), 1+g.r.IntN(3))
		case 1:
			return fmt.Sprintf("%s || '-' || %s", c, other())
		}
	case aDate:
		if g.chance(20) {
			return c + g.pick(" + 1", " - 30", " + 365")
		}
	case aBool:
		return "(" + g.cond(sc, outer, depth-1) + ")"
	case aBig:
		switch g.r.IntN(8) {
		case 0:
			return c + " + 1"
		case 1:
			return c + " % 1000"
		case 2:
			if i := g.column(anInt, sc, outer); i != "" {
				return g.pick(i+"::bigint", c+" - "+i, c+" + "+i)
			}
		}
	case aWide:
		switch g.r.IntN(8) {
		case 0:
			return "-" + strings.TrimPrefix(c, "-")
		case 1:
			return "abs(" + c + ")"
		case 2:
			if d := g.column(aDec, sc, outer); d != "" {
				return d + "::decimal(30,10)"
			}
		}
	case aDouble:
		switch g.r.IntN(8) {
		case 0:
			return c + " * 2"
		case 1:
			if i := g.column(anInt, sc, outer); i != "" {
				return g.pick(i+"::double precision", c+" + "+i)
			}
		case 2:
			if d := g.column(aDec, sc, outer); d != "" {
				return d + "::double precision"
			}
		case 3:
			if w := g.column(aWide, sc, outer); w != "" {
				return w + "::double precision"
			}
		}
	case aTime:
		if d := g.column(aDate, sc, outer); d != "" && g.chance(20) {
			return d + "::timestamp"
		}
	}
	return c
}

// scalar is a subquery of one row and one column: an aggregate, or the first value of some order.
func (g *sqlGen) scalar(k kind, sc, outer scope, depth int) string {
	all := append(slices.Clone(sc), outer...)
	if g.chance(20) {
		return fmt.Sprintf("select * from (%s) x%d order by 1", g.one(k, all, depth-1), g.next()) + g.pick("", " desc", " nulls first", " desc nulls last") + " limit 1" + g.pick("", "", " offset 1", " offset 2")
	}
	from, in := g.from(all, depth-1)
	q := fmt.Sprintf("select %s from %s", g.agg(k, in), from)
	if g.chance(75) {
		q += " where " + g.correlation(in, all, depth)
	}
	return q
}

// correlation is a condition that likely compares inner with outer columns.
func (g *sqlGen) correlation(in, out scope, depth int) string {
	if len(out) == 0 || g.chance(15) {
		return g.cond(in, out, depth)
	}
	on := g.equal(in, out)
	if g.chance(20) {
		k := g.kind()
		on = g.expr(k, in, nil, 0) + g.pick(" < ", " > ", " <> ", " <= ") + g.expr(k, out, nil, 0)
	}
	if g.chance(40) {
		on += " and " + g.cond(in, out, depth-1)
	}
	return on
}

// cond is a condition.
func (g *sqlGen) cond(sc, outer scope, depth int) string {
	defer g.part("cond")()
	all := append(slices.Clone(sc), outer...)
	g.budget--
	if depth > 0 && g.budget > 0 {
		k := g.kind()
		switch g.r.IntN(9) {
		case 4:
			other := g.kind()
			if !g.nested { // DuckDB has no such comparisons
				break
			}
			return fmt.Sprintf("((%s), (%s)) %s (%s)", g.typed(k, sc, outer), g.typed(other, sc, outer),
				g.pick("in", "not in", "= any", "<> all", "< any", ">= all", "> any"), g.query(all, depth-1, []kind{k, other}))
		case 0:
			return fmt.Sprintf("%s %s (%s)", g.expr(k, sc, outer, 0), g.pick("in", "in", "not in"), g.one(k, all, depth-1))
		case 1:
			return fmt.Sprintf("%s (%s)", g.pick("exists", "not exists"), g.one(k, all, depth-1))
		case 2:
			k = kind("idstnwm"[g.r.IntN(7)])
			return fmt.Sprintf("%s %s (%s)", g.expr(k, sc, outer, 0),
				g.pick("> all", "< any", "<> all", "= any", ">= any"), g.one(k, all, depth-1))
		case 3:
			k = anInt
			return fmt.Sprintf("%s %s (%s)", g.expr(k, sc, outer, 0), g.pick("=", "<", ">="), g.scalar(k, sc, outer, depth-1))
		}
	}
	form := g.r.IntN(10)
	if g.budget < 0 {
		form = 9
	}
	switch form {
	case 0:
		return fmt.Sprintf("(%s and %s)", g.cond(sc, outer, depth-1), g.cond(sc, outer, depth-1))
	case 1:
		return fmt.Sprintf("(%s or %s)", g.cond(sc, outer, depth-1), g.cond(sc, outer, depth-1))
	case 2:
		return fmt.Sprintf("not (%s)", g.cond(sc, outer, depth-1))
	case 3:
		return "(" + g.expr(g.kind(), sc, outer, 0) + ")" + g.pick(" is null", " is not null")
	case 4:
		if s := g.column(aText, sc, outer); s != "" {
			if g.nested && g.chance(40) {
				return s + g.pick(" ~ ", " !~ ", " ~* ", " !~* ") + g.pattern()
			}
			like := g.pick(" like ", " not like ")
			if g.nested {
				like = g.pick(" like ", " not like ", " ilike ", " similar to ")
			}
			return s + like + g.pick("'%o%'", "'t%'", "'%e'", "'_'", "'%'", "'r_d%1'")
		}
	case 5:
		if b := g.column(aBool, sc, outer); b != "" {
			return b + g.pick("", " is true", " is not false", " is null")
		}
	}
	if g.nested && g.chance(15) {
		if c := g.mixedCond(sc, outer); c != "" {
			return c
		}
	}
	kinds := "iiidsstnwem"
	if g.nested {
		kinds += nestedKinds
	}
	k := kind(kinds[g.r.IntN(len(kinds))])
	x := g.expr(k, sc, outer, 0)
	switch g.r.IntN(8) {
	case 0:
		return fmt.Sprintf("%s %s (%s, %s, %s)", x, g.pick("in", "not in"), g.literal(k), g.literal(k), g.pick(g.literal(k), "null"))
	case 1:
		return fmt.Sprintf("%s between %s and %s", x, g.expr(k, sc, outer, 0), g.literal(k))
	case 2:
		return fmt.Sprintf("(%s is %sdistinct from %s)", x, g.pick("", "not "), g.expr(k, sc, outer, 0))
	}
	y := g.expr(k, sc, outer, 0)
	if g.chance(50) {
		y = g.literal(k)
	}
	return fmt.Sprintf("%s %s %s", x, g.pick("=", "<", ">", "<>", "<=", ">="), y)
}

// one is a subquery with one column.
func (g *sqlGen) one(k kind, outer scope, depth int) string {
	if g.chance(10) {
		return g.first(g.query(outer, depth, []kind{k}), 1)
	}
	if g.chance(30) {
		return g.query(outer, depth, []kind{k})
	}
	from, in := g.from(outer, depth-1)
	return fmt.Sprintf("select %s as c0 from %s where %s", g.expr(k, in, outer, 0), from, g.correlation(in, outer, depth))
}

// first is a query of n columns cut to its first rows in an order of all columns.
func (g *sqlGen) first(q string, n int) string {
	order := make([]string, n)
	for i := range order {
		order[i] = fmt.Sprintf("%d%s", i+1, g.pick("", " desc", " nulls first"))
	}
	return fmt.Sprintf("select * from (%s) x%d order by %s limit %d", q, g.next(), strings.Join(order, ", "), 1+g.r.IntN(4))
}
