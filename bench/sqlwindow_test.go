package main

import (
	"fmt"
	"slices"
	"strings"
)

// windowed writes a query with window functions. What depends on the order of rows that are alike in the window's order is only
// asked where that order has all columns. Rows that are alike in these are still told apart by two windows, so that a query has only
// one order of that sort.
func (g *sqlGen) windowed(outer scope, depth int, ks []kind) string {
	defer g.part("windowed")()
	from, sc := g.from(outer, depth)
	items := make([]string, len(ks))
	names := []string{g.window(sc, true), g.window(sc, false)} // two windows that functions share; the first has no frame
	base := ""                                                 // of a third, which is only a partition, others take their partition
	if g.chance(30) {
		base = ", wb as (partition by " + g.windowKey(sc) + ")"
	}
	for i, k := range ks {
		total := g.chance(50)
		over := "w" + g.pick("t", "p")
		if total = over == "wt"; g.chance(40) {
			over = "(" + g.window(sc, false) + ")"
			if total = g.chance(50); total {
				over = "(wt " + g.windowFrame(g.pick("range", "groups", "rows", "rows", "rows"), false) + ")"
			}
			if base != "" && !total && !strings.Contains(over, "partition by") {
				over = "(wb " + over[1:]
			}
		}
		switch f := g.windowFunc(k, sc, total); {
		case g.nested && k == aText && total && g.chance(15):
			items[i] = fmt.Sprintf("(%s((%s)) over %s)::text", g.pick("json_agg", "jsonb_agg"), g.windowKeyOf(kind("isb"[g.r.IntN(3)]), sc), over)
		case g.chance(15):
			items[i] = g.expr(k, sc, outer, depth-1)
		case g.chance(15):
			items[i] = fmt.Sprintf("coalesce(%s over %s, %s)", f, over, g.literal(k))
		default:
			items[i] = f + " over " + over
		}
		items[i] += fmt.Sprintf(" as c%d", i)
	}
	q := fmt.Sprintf("select %s%s from %s", g.pick("", "", "", "", "distinct "), strings.Join(items, ", "), from)
	if g.chance(35) {
		q += " where " + g.cond(sc, outer, depth)
	}
	return fmt.Sprintf("%s window wt as (%s), wp as (%s)%s", q, names[0], names[1], base)
}

// window writes a window: by all columns, and without a frame, if it must tell rows apart.
func (g *sqlGen) window(sc scope, total bool) string {
	var text []string
	if n := g.few(3); n > 0 {
		var by []string
		for range n {
			by = append(by, g.windowKey(sc))
		}
		text = append(text, "partition by "+strings.Join(by, ", "))
	}
	dir := func() string { return g.pick("", "", " desc", " nulls first", " desc nulls last") }
	ints := g.column(anInt, sc, nil)
	times := g.column(kind("mtz"[g.r.IntN(3)]), sc, nil)
	exact := kind("dwe"[g.r.IntN(3)])
	numbers := g.column(exact, sc, nil)
	switch {
	case total:
		var by []string
		for _, c := range sc {
			if c.kind != aJSON { // which has no order
				by = append(by, c.name+dir())
			}
		}
		g.r.Shuffle(len(by), func(i, k int) { by[i], by[k] = by[k], by[i] })
		text = append(text, "order by "+strings.Join(by, ", "))
		return strings.Join(text, " ")
	case times != "" && g.chance(15): // distances of time
		text = append(text, "order by "+times+dir())
		near := g.pick("interval '1 day'", "interval '1 month'", "interval '10 years'", "interval '0'", "interval '36:00'")
		text = append(text, g.pick("range between "+near+" preceding and current row", "range between unbounded preceding and "+near+" following", "range between "+near+" preceding and "+near+" following exclude ties"))
		return strings.Join(text, " ")
	case numbers != "" && g.chance(15): // distances with digits after the point
		near := func() string {
			d := g.pick("0", "0.25", "1.5", "100", "99999999.75")
			if exact == aDouble {
				d += "::double precision"
			}
			return d
		}
		text = append(text, "order by "+numbers+dir(), g.pick("range between "+near()+" preceding and current row", "range between unbounded preceding and "+near()+" following",
			"range between "+near()+" following and unbounded following", "range between "+near()+" preceding and "+near()+" following exclude "+g.pick("ties", "group", "current row")))
		return strings.Join(text, " ")
	case ints != "" && g.chance(30):
		text = append(text, "order by "+ints+dir())
		if g.chance(70) {
			text = append(text, g.windowFrame("range", true))
		}
		return strings.Join(text, " ")
	case g.chance(80):
		text = append(text, "order by "+g.windowKey(sc)+dir())
	default:
		return strings.Join(text, " ")
	}
	if g.chance(60) {
		text = append(text, g.windowFrame(g.pick("range", "groups"), false))
	}
	return strings.Join(text, " ")
}

// windowKeyOf is an expression of a kind over the columns, of a column of another kind if there is none.
func (g *sqlGen) windowKeyOf(k kind, sc scope) string {
	if e := g.expr(k, sc, nil, 0); column.MatchString(e) {
		return e
	}
	return "case when " + sc[0].name + " is null then " + g.literal(k) + " end"
}

// windowKey is an expression over the columns, which is no bare constant.
func (g *sqlGen) windowKey(sc scope) string {
	if g.chance(25) {
		if e := g.expr(g.kind(), sc, nil, 0); column.MatchString(e) {
			return e
		}
	}
	if c := sc[g.r.IntN(len(sc))]; c.kind != aJSON {
		return c.name
	}
	return sc[0].name // of the table with JSON, a number
}

// windowFrame writes a frame; a range may have distances where there is one key, a number.
func (g *sqlGen) windowFrame(unit string, distances bool) string {
	bounds := []string{"unbounded preceding", "", "current row", "", "unbounded following"}
	if unit != "range" || distances {
		bounds[1], bounds[3] = g.pick("0", "1", "2", "5", "100")+" preceding", g.pick("0", "1", "2", "5", "100")+" following"
	}
	start, end := g.r.IntN(4), 1+g.r.IntN(4)
	for tries := 0; bounds[start] == "" || bounds[end] == "" || start > end; tries++ {
		if start, end = g.r.IntN(4), 1+g.r.IntN(4); tries > 20 { // the plain choices of reduce never fit
			start, end = 0, 2
		}
	}
	last := bounds[end]
	if start == end && start != 2 {
		last = strings.Replace(last, strings.Fields(last)[0], g.pick("0", "1", "3"), 1)
	}
	return fmt.Sprintf("%s between %s and %s %s", unit, bounds[start], last, g.pick("", "", "", "exclude current row", "exclude group", "exclude ties", "exclude no others"))
}

// windowFunc is a function of kind k, before OVER. total: the window's order tells all rows apart.
func (g *sqlGen) windowFunc(k kind, sc scope, total bool) string {
	e := func() string { return g.expr(k, sc, nil, 0) }
	if total && g.chance(50) {
		typed := "(" + e() + ")"
		if k == aText { // a literal alone has no type
			typed += "::text"
		}
		switch g.r.IntN(6) {
		case 0:
			return "first_value(" + typed + ")"
		case 1:
			return "last_value(" + typed + ")"
		case 2:
			return fmt.Sprintf("nth_value(%s, %d)", typed, 1+g.r.IntN(4))
		case 3:
			if g.chance(30) {
				return fmt.Sprintf("%s(%s, %s, %s)", g.pick("lag", "lead"), typed, g.pick("1", "2", "-1"), typed)
			}
			return fmt.Sprintf("%s(%s, %s)", g.pick("lag", "lead"), typed, g.pick("0", "1", "2", "-1", "100"))
		}
		return g.pick("lag", "lead") + "(" + typed + ")"
	}
	switch {
	case k == anInt && total && g.chance(40):
		return g.pick("row_number()", "row_number()", "ntile(3)", "ntile(7)")
	case k == anInt && g.chance(50):
		return g.pick("rank()", "dense_rank()", "count(*)", "count("+sc[g.r.IntN(len(sc))].name+")")
	case k == aDouble && g.chance(60):
		return g.pick("percent_rank()", "cume_dist()")
	}
	filter := ""
	if g.chance(15) {
		filter = " filter (where " + g.cond(sc, nil, 0) + ")"
	}
	if (k == anInt || k == aBig) && g.chance(15) {
		return fmt.Sprintf("%s((%s)::bigint)%s", g.pick("bit_and", "bit_or", "bit_xor"), g.windowKeyOf(k, sc), filter)
	}
	switch { // PostgreSQL has no DISTINCT and no order inside of these, and no ordered sets
	case total && k == aText && g.chance(40):
		return fmt.Sprintf("string_agg((%s)::text, '%s')%s", e(), g.pick(",", "", "é-"), filter)
	case total && elements[k] != 0 && g.chance(60):
		return fmt.Sprintf("array_agg((%s)::%s)%s", g.windowKeyOf(elements[k], sc), sqlTypes[elements[k]], filter)
	case k == aDouble && g.chance(50):
		if f := g.statistic(e(), sc); !strings.HasPrefix(f, "percentile") {
			return f + filter
		}
	}
	return g.unordered(k, sc, "") + filter
}

// overGroups is a window function over groups, of which e is a key or an aggregate of kind k.
func (g *sqlGen) overGroups(k kind, e string, keys scope) string {
	window := g.pick("", "order by "+e)
	// PostgreSQL 15 takes a key that is constant for constant above the groups, too, where grouping sets make it NULL.
	if i := slices.IndexFunc(keys, func(c col) bool { return plainColumn.MatchString(c.name) }); i >= 0 && g.chance(60) {
		window = "partition by " + keys[i].name + g.pick("", " order by "+e+g.pick("", " desc", " nulls first"))
	}
	switch {
	case k == anInt && g.chance(50):
		return fmt.Sprintf("%s over (%s)", g.pick("rank()", "dense_rank()", "count(*)", "sum(count(*))"), window)
	case k == aBool:
		return fmt.Sprintf("bool_or(%s) over (%s)", e, window)
	}
	return fmt.Sprintf("%s(%s) over (%s)", g.pick("min", "max"), e, window)
}
