package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// kind is a family of types; the generator only combines what both engines combine alike.
type kind byte

const (
	anInt   kind = 'i'
	aDec    kind = 'd'
	aText   kind = 's'
	aDate   kind = 't'
	aBool   kind = 'b'
	aBig    kind = 'n' // BIGINT
	aWide   kind = 'w' // DECIMAL of more than 18 digits
	aDouble kind = 'e'
	aTime   kind = 'm' // TIMESTAMP
	aList   kind = 'l' // INTEGER[]
	aZone   kind = 'z' // TIMESTAMPTZ
	aJSON   kind = 'j' // JSONB, which is only a column: it has no order
	anEnum  kind = 'o'
	texts   kind = 'S' // lists
	dates   kind = 'D'
	decs    kind = 'N'
	doubles kind = 'F'
	aSpan   kind = 'v' // INTERVAL
	anEnd   kind = 'x' // DOUBLE PRECISION with NaN, infinities, −0 and others of which there are no exact sums
	aDay    kind = 'y' // DATE with infinities and the first and last days
)

// allKinds are the kinds of expressions, the usual ones more often; nestedKinds are those of nested values.
const (
	allKinds    = "iiiiidddsssttbbnwem"
	nestedKinds = "lzoSDNFvxy"
)

// col is a column in scope, qualified by the alias of its table.
type col struct {
	name string
	kind kind
}

type scope []col

// column finds a reference to a column in an expression.
var column = regexp.MustCompile(`[xw][0-9]+[pq]?\.`)

var plainColumn = regexp.MustCompile(`^[xw][0-9]+[pq]?\.[a-z0-9]+$`)

// sqlGen writes SQL at random over the shared tables. It leaves out what the dialects give different
// meanings, what may fail (overflow, division, a subquery with two rows), and results that depend
// on the order of rows.
type sqlGen struct {
	r interface {
		IntN(n int) int
		Shuffle(n int, swap func(i, j int))
	}
	n    int
	ctes []cte // those that are visible
	// budget is how many more expressions may have operands; then only columns are written.
	budget int
	nested bool // see nestedValues
}

// cte is a common table expression with columns c0, c1, …
type cte struct {
	name  string
	kinds []kind
}

// genTables are the tables that it reads, the plainest last. Larger ones are cut down so that joins stay small.
var genTables = []struct {
	from string
	cols string // name:kind
}{
	{"(select g, h % 5 as h, s, x from big where i between 1000 and 1020)", "g:i h:i s:s x:d"},
	{"(select id, y, w from wide where id > 2)", "id:i y:w w:w"},
	{"(select * from big where i < 60)", "i:i g:i h:i s:s x:d y:e dt:t"},
	{"(select * from days where id not in (8, 9))", "id:i d:t ts:m"},
	{"(select * from words where id < 12)", "id:i s:s"},
	{"pairs", "a:i b:i v:i d:d"},
	{"keyed", "id:i ref:i n:i s:s"},
	{"keyed", "id:i ref:i n:i s:s"},
	{"dim", "g:i name:s"},
	{"nulls", "a:i s:s d:d"},
	{"nothing", "a:i b:i s:s d:d dt:t"},
	{"v", "a:i b:i c:s"},
	{"u", "a:i k:i s:s v:d"},
	{"u", "a:i k:i s:s v:d"},
	{"t", "a:i b:i c:n d:d s:s dt:t f:b"},
	{"t", "a:i b:i c:n d:d s:s dt:t f:b"},
}

// part begins a part of the statement, for reduce; the function that it gives ends it.
func (g *sqlGen) part(label string) func() {
	if c, ok := g.r.(*choices); ok {
		return c.part(label)
	}
	return func() {}
}

func (g *sqlGen) pick(of ...string) string { return of[g.r.IntN(len(of))] }
func (g *sqlGen) chance(percent int) bool  { return g.r.IntN(100) < percent }
func (g *sqlGen) few(n int) int            { return n - 1 - g.r.IntN(n) } // plainly none
func (g *sqlGen) next() int                { g.n++; return g.n }
func (g *sqlGen) kind() kind {
	kinds := allKinds
	if g.nested {
		kinds += nestedKinds
	}
	return kind(kinds[g.r.IntN(len(kinds))])
}

func (g *sqlGen) kinds(n int) []kind {
	ks := make([]kind, n)
	for i := range ks {
		ks[i] = g.kind()
	}
	return ks
}

// top is a whole statement: its rows are sorted by all columns now and then.
func (g *sqlGen) top() string {
	ks := g.kinds(1 + g.few(4))
	q := g.query(nil, 3, ks)
	if g.chance(40) {
		var by []string
		for i := range ks {
			by = append(by, fmt.Sprintf("%d%s", i+1, g.pick("", " desc", " nulls first", " desc nulls last")))
		}
		g.r.Shuffle(len(by), func(i, k int) { by[i], by[k] = by[k], by[i] })
		q = fmt.Sprintf("select * from (%s) top order by %s", q, strings.Join(by, ", "))
		if g.chance(40) {
			q += fmt.Sprintf(" limit %d", g.r.IntN(12))
			if g.chance(40) {
				q += fmt.Sprintf(" offset %d", g.r.IntN(5))
			}
		}
	}
	return q
}

// query writes a query with columns c0, c1, … of the given kinds, which may refer to outer.
func (g *sqlGen) query(outer scope, depth int, ks []kind) string {
	defer g.part("query")()
	switch {
	case depth > 0 && g.chance(9):
		q := "(" + g.query(outer, depth-1, ks) + ")"
		for range g.pick("x", "x", "xx") {
			q += fmt.Sprintf(" %s (%s)", g.pick("except", "except all", "intersect", "intersect all", "union", "union all", "union all"), g.query(outer, depth-1, ks))
		}
		return q
	case depth > 0 && g.chance(4):
		return g.distinctOn(outer, depth, ks)
	case depth > 1 && g.chance(14):
		return g.with(outer, depth, ks)
	case g.chance(35):
		return g.grouped(outer, depth, ks)
	case g.chance(20):
		return g.windowed(outer, depth, ks)
	}
	from, sc := g.from(outer, depth)
	q := fmt.Sprintf("select %s%s from %s", g.pick("", "", "", "distinct "), g.items(sc, outer, depth, ks), from)
	if g.chance(45) {
		q += " where " + g.cond(sc, outer, depth)
	}
	return q
}

// with writes a query below one or two CTEs, of which the later one may read the first. What follows, subqueries
// included, reads them never, once or often (see table).
func (g *sqlGen) with(outer scope, depth int, ks []kind) string {
	before := len(g.ctes)
	defer func() { g.ctes = g.ctes[:before] }()
	var parts []string
	word := "with "
	for range g.pick("xx", "x", "x") {
		c := cte{fmt.Sprintf("w%d", g.next()), g.kinds(1 + g.few(3))}
		if g.chance(20) {
			word = "with recursive "
			parts = append(parts, g.recursive(&c, depth))
			g.ctes = append(g.ctes, c)
			continue
		}
		hint := g.pick("materialized ", "not materialized ", "")
		parts = append(parts, fmt.Sprintf("%s as %s(%s)", c.name, hint, g.query(nil, depth-1, c.kinds)))
		g.ctes = append(g.ctes, c)
	}
	list := word + strings.Join(parts, ", ")
	if g.chance(60) {
		q := g.query(outer, depth-1, ks)
		if strings.HasPrefix(q, "with ") { // a query has only one
			q = fmt.Sprintf("select * from (%s) x%d", q, g.next())
		}
		return list + " " + q
	}
	c := g.ctes[len(g.ctes)-1]
	w, half := c.name, len(c.kinds)
	var sc scope
	for _, a := range []string{"p", "q"} {
		for i, k := range c.kinds {
			sc = append(sc, col{fmt.Sprintf("%s%s.c%d", w, a, i), k})
		}
	}
	join := fmt.Sprintf("%[1]s %[1]sp %[2]s join %[1]s %[1]sq on %[3]s", w, g.pick("full", "left", ""), g.equal(sc[:half], sc[half:]))
	q := fmt.Sprintf("%s select %s from %s", list, g.items(sc, outer, 0, ks), join)
	if g.chance(50) {
		q += " where " + g.cond(sc, outer, depth-1)
	}
	return q
}

// recursive writes a WITH query that refers to itself. Its first column counts rounds, so that it ends.
func (g *sqlGen) recursive(c *cte, depth int) string {
	c.kinds[0] = anInt
	var cols, next []string
	r := scope{}
	for i, k := range c.kinds[1:] {
		cols = append(cols, fmt.Sprintf("c%d", i+1))
		next = append(next, fmt.Sprintf("r.c%d", i+1))
		r = append(r, col{next[i], k})
	}
	head := func(first string, rest []string) string { return strings.Join(append([]string{first}, rest...), ", ") }
	all, from, where := g.pick("", " all"), c.name+" r", ""
	if len(r) > 0 && g.chance(50) {
		text, sc := g.table(nil, nil, 0)
		all = "" // else there would be too many rows
		from = fmt.Sprintf(g.pick("%s join %s on %s", "%s left join %s on %s"), from, text, g.equal(r, sc))
		for i, k := range c.kinds[1:] {
			for _, x := range sc {
				if x.kind == k && k != aText && k != aDec && k != aWide && k != decs && k != anInt && g.chance(50) { // texts and decimals have lengths, integers widths
					next[i] = x.name
				}
			}
		}
		if g.chance(30) {
			where = " and " + g.cond(append(r, sc...), nil, 0)
		}
	}
	return fmt.Sprintf("%s(%s) as (select %s from (%s) b union%s select %s from %s where r.c0 < %d%s)", c.name, head("c0", cols),
		head("coalesce(c0::bigint % 3, 0)::int", cols), g.query(nil, depth-1, c.kinds), all, head("r.c0 + 1", next), from, 2+g.r.IntN(4), where)
}

// distinctOn writes a query that keeps the first rows of some keys, by an order of all columns.
func (g *sqlGen) distinctOn(outer scope, depth int, ks []kind) string {
	var cols []string
	for i := range ks {
		cols = append(cols, fmt.Sprintf("c%d", i))
	}
	n := 1 + g.r.IntN(len(ks))
	var order []string
	for _, c := range cols {
		order = append(order, c+g.pick("", "", " desc", " nulls first"))
	}
	x := g.next()
	return fmt.Sprintf("select * from (select distinct on (%s) * from (%s) x%d order by %s) y%d",
		strings.Join(cols[:n], ", "), g.query(outer, depth-1, ks), x, strings.Join(order, ", "), x)
}

// grouped writes a query with GROUP BY, or aggregates over all rows.
func (g *sqlGen) grouped(outer scope, depth int, ks []kind) string {
	from, sc := g.from(outer, depth)
	where := ""
	if g.chance(40) {
		where = " where " + g.cond(sc, outer, depth)
	}
	if g.chance(20) {
		items := make([]string, len(ks))
		for i, k := range ks {
			items[i] = fmt.Sprintf("%s as c%d", g.agg(k, sc), i)
		}
		q := fmt.Sprintf("select %s from %s%s", strings.Join(items, ", "), from, where)
		if g.chance(30) {
			q += " having count(*) > " + g.pick("0", "1", "5")
		}
		return q
	}
	var keys scope
	for range 1 + g.few(3) {
		c := sc[g.r.IntN(len(sc))]
		if g.chance(30) {
			k := g.kind()
			if e := g.expr(k, sc, nil, 0); column.MatchString(e) {
				c = col{e, k}
			}
		}
		if g.chance(12) {
			c = g.constantKey(sc)
		}
		keys = append(keys, c)
	}
	items := make([]string, len(ks))
	for i, k := range ks {
		items[i] = g.agg(k, sc)
		for _, key := range keys {
			if key.kind == k && g.chance(60) {
				items[i] = key.name
			}
		}
		if g.chance(8) {
			items[i] = g.overGroups(k, items[i], keys)
		}
		items[i] += fmt.Sprintf(" as c%d", i)
	}
	by := make([]string, len(keys))
	for i, k := range keys {
		by[i] = k.name
	}
	list := strings.Join(by, ", ")
	sets := true
	switch g.r.IntN(10) {
	case 0:
		list = "rollup (" + list + ")"
	case 1:
		list = "cube (" + list + ")"
	case 2:
		list = fmt.Sprintf("grouping sets ((%s), (%s), ())", list, by[0])
	case 3:
		list = fmt.Sprintf("%s, rollup (%s)", by[0], list)
	default:
		sets = false
	}
	if i := slices.Index(ks, anInt); sets && i >= 0 && g.chance(30) {
		items[i] = fmt.Sprintf("grouping(%s) as c%d", g.pick(strings.Join(by, ", "), by[0], by[g.r.IntN(len(by))]), i)
	}
	q := fmt.Sprintf("select %s from %s%s group by %s", strings.Join(items, ", "), from, where, list)
	var plain scope // keys that a subquery may refer to
	for _, k := range keys {
		if plainColumn.MatchString(k.name) {
			plain = append(plain, k)
		}
	}
	switch {
	case depth > 0 && len(plain) > 0 && g.chance(12):
		q += fmt.Sprintf(" having %s (%s)", g.pick("not exists", "exists"), g.one(anInt, append(plain, outer...), depth-1))
	case depth > 0 && len(plain) > 0 && g.chance(12):
		q += fmt.Sprintf(" having %s %s (%s)", g.agg(anInt, sc), g.pick("<", ">", "="), g.scalar(anInt, plain, outer, depth-1))
	case g.chance(30):
		q += fmt.Sprintf(" having %s %s %s", g.agg(anInt, sc), g.pick("<", ">", "<>"), g.expr(anInt, nil, outer, 0))
	}
	return q
}

// constantKey is a key that is the same in every row, though it may look as if it were not.
func (g *sqlGen) constantKey(sc scope) col {
	k := kind("isitb"[g.r.IntN(5)])
	seem := func(constant string) string { // a bare constant would be a place in the list of columns, or an error
		if c := g.column(k, sc, nil); c != "" {
			return "coalesce(" + constant + ", " + c + ")"
		}
		return "coalesce(" + constant + ", null)"
	}
	switch k {
	case aText:
		return col{g.pick(seem("'k'"), "('a' || 'b')", "nullif('a', 'a')"), k}
	case aDate:
		return col{g.pick(seem("date '2020-02-29'"), "(date '2020-01-01' + 1)"), k}
	case aBool:
		return col{"(1 = 1)", k}
	}
	return col{g.pick(seem("5"), "nullif(3, 3)", "(1 + 1)"), k}
}

// agg is an aggregate of kind k over the columns of sc alone: one over outer columns belongs
// to the outer query.
func (g *sqlGen) agg(k kind, sc scope) string {
	filter := ""
	if g.chance(15) {
		filter = " filter (where " + g.cond(sc, nil, 0) + ")"
	}
	distinct := g.pick("", "", "", "distinct ")
	if g.chance(12) {
		e, cast := g.ordered(k, sc, distinct), ""
		if f, ok := strings.CutSuffix(e, "::text"); ok {
			e, cast = f, "::text"
		}
		return e + filter + cast
	}
	return g.unordered(k, sc, distinct) + filter
}

// unordered is an aggregate that no order of rows changes.
func (g *sqlGen) unordered(k kind, sc scope, distinct string) string {
	arg := func(k kind) string {
		if e := g.expr(k, sc, nil, 0); column.MatchString(e) {
			return e
		}
		return sc[0].name + " is null"
	}
	switch k {
	case anInt:
		if g.chance(30) {
			return "count(*)"
		}
		if g.chance(40) {
			return "count(" + distinct + sc[g.r.IntN(len(sc))].name + ")"
		}
	case aBool:
		f := g.pick("every", "bool_and", "bool_or")
		if !g.nested && f == "every" { // DuckDB has it not
			f = "bool_and"
		}
		return f + "(" + arg(aBool) + ")"
	}
	e := g.expr(k, sc, nil, 0)
	if k == aSpan {
		return g.pick("sum", "avg", "min", "max") + "(" + distinct + e + ")"
	}
	if k == anInt && g.chance(50) || k == aDec || k == aBig && g.chance(50) || k == aWide && g.chance(30) || k == aDouble && g.chance(30) {
		return g.pick("sum", "sum", "max") + "(" + distinct + e + ")"
	}
	return g.pick("min", "max") + "(" + e + ")"
}

// ordered is an aggregate of kind k that depends on the order of rows, or looks at all of them. Rows that the order does not tell
// apart are equal.
func (g *sqlGen) ordered(k kind, sc scope, distinct string) string {
	e := g.expr(k, sc, nil, 0)
	if !column.MatchString(e) { // of nothing but constants there is no order
		return map[bool]string{true: "bool_or(", false: "max("}[k == aBool] + e + ")"
	}
	order := e + g.pick("", " desc", " nulls first")
	switch {
	case k == aText && g.chance(70):
		return fmt.Sprintf("string_agg(%s%s, '%s' order by %s)", distinct, e, g.pick(",", "", "é-"), order)
	case elements[k] != 0:
		of := fmt.Sprintf("(%s)::%s", g.windowKeyOf(elements[k], sc), sqlTypes[elements[k]])
		return fmt.Sprintf("array_agg(%s%s order by %[2]s%s)", distinct, of, g.pick("", " desc", " nulls first"))
	case g.nested && k == aText && g.chance(50):
		of := g.windowKeyOf(kind("isbt"[g.r.IntN(4)]), sc)
		if g.chance(30) {
			return fmt.Sprintf("jsonb_object_agg(left(coalesce((%s)::text, ''), 9), %s)::text", of, g.pick("1", "null::int", "'é'::text"))
		}
		return fmt.Sprintf("%s(%s(%s) order by (%[3]s)%s)::text", g.pick("json_agg", "jsonb_agg"), distinct, of, g.pick("", " desc", " nulls first"))
	case k == aDouble && g.chance(60):
		return g.statistic(e, sc)
	case (k == anInt || k == aBig) && g.chance(30):
		return g.pick("bit_and", "bit_or", "bit_xor") + "((" + e + ")::bigint)"
	case g.chance(50):
		return fmt.Sprintf("percentile_disc(%s) within group (order by %s)", g.pick("0", "0.25", "0.5", "1"), order)
	}
	return fmt.Sprintf("mode() within group (order by %s)", order)
}

// statistic is an aggregate of doubles, which no order changes but by rounding; e is one of them. Where variances may be 0, as of equal numbers, rounding is all
// that is left of them: those are asked of quarters, whose sums are exact.
func (g *sqlGen) statistic(e string, sc scope) string {
	x := "(" + e + ")::double precision"
	switch g.r.IntN(8) {
	case 0:
		return fmt.Sprintf("percentile_cont(%s) within group (order by %s)", g.pick("0", "0.25", "0.5", "1"), x)
	case 1:
		return "avg(" + x + ")"
	}
	quarter := func() string { return "((" + g.windowKeyOf(anInt, sc) + ") / 4.0::double precision)" }
	two := g.pick("corr", "covar_samp", "covar_pop", "regr_slope", "regr_count", "regr_avgx", "regr_avgy", "regr_sxx", "regr_syy", "regr_sxy", "regr_r2", "regr_intercept")
	return g.pick("stddev(", "stddev_samp(", "variance(", "var_samp(", "stddev_pop(", "var_pop(", two+"("+quarter()+", ") + quarter() + ")"
}

// from writes a FROM clause and gives the columns that it brings.
func (g *sqlGen) from(outer scope, depth int) (string, scope) {
	defer g.part("from")()
	text, sc := g.table(outer, nil, depth)
	crossed := depth < 2 // at most one join without an equality, and none in inner queries
	for range g.few(3) {
		lateral := scope(nil)
		if depth > 1 && g.chance(10) {
			lateral = sc
		}
		right, cols := g.table(outer, lateral, depth)
		both := append(slices.Clone(sc), cols...)
		on := g.equal(sc, cols)
		if g.chance(20) {
			on += " and " + g.cond(both, nil, 0)
		} else if !crossed && g.chance(15) {
			on, crossed = g.cond(both, nil, 0), true
		}
		switch k := g.r.IntN(10); {
		case lateral != nil && g.chance(40):
			text, crossed = text+" left join "+right+" on "+g.pick(on, "true"), true
		case lateral != nil:
			text, crossed = text+" cross join "+right, true
		case k == 0 && !crossed:
			text, crossed = text+" cross join "+right, true
		case k == 1:
			text += " right join " + right + " on " + on
		case k == 2:
			// PostgreSQL joins these by nothing but equality.
			text += " full join " + right + " on " + strings.ReplaceAll(g.equal(sc, cols), " is not distinct from ", " = ")
		case k <= 5:
			if depth > 0 && g.chance(15) {
				on += " and " + g.cond(both, outer, depth)
			}
			text += " left join " + right + " on " + on
		default:
			if g.chance(20) {
				on += " and " + g.cond(both, outer, depth-1)
			}
			text += " join " + right + " on " + on
		}
		sc = both
	}
	return text, sc
}

// equal is an equality of a column of each side, or of two.
func (g *sqlGen) equal(l, r scope) string {
	pair := func() string {
		for i := range 20 {
			a, b := l[g.r.IntN(len(l))], r[g.r.IntN(len(r))]
			if i < 4 && !(a.kind == anInt && b.kind == anInt) {
				continue // integers have more in common than the others
			}
			if a.kind == b.kind {
				return a.name + g.pick(" = ", " = ", " = ", " is not distinct from ") + b.name
			}
		}
		return g.expr(anInt, l, nil, 0) + " = " + g.expr(anInt, r, nil, 0)
	}
	if g.chance(12) {
		return pair() + " and " + pair()
	}
	return pair()
}

func (g *sqlGen) table(outer, lateral scope, depth int) (string, scope) {
	defer g.part("table")()
	alias := fmt.Sprintf("x%d", g.next())
	if text, sc := g.unnested(alias, lateral); text != "" && g.chance(50) {
		return text, sc
	}
	if lateral != nil && g.chance(30) {
		from, to := g.expr(anInt, lateral, nil, 0), g.expr(anInt, lateral, nil, 0)
		return fmt.Sprintf("lateral generate_series((%s)::bigint %% 4, (%s)::bigint %% 5, %s) with ordinality %s(c0, c1)",
			from, to, g.pick("1", "2", "-1"), alias), scope{{alias + ".c0", aBig}, {alias + ".c1", aBig}}
	}
	if lateral != nil || depth > 0 && g.chance(25) {
		ks := g.kinds(2 + g.few(2))
		var sc scope
		for i, k := range ks {
			sc = append(sc, col{fmt.Sprintf("%s.c%d", alias, i), k})
		}
		if lateral != nil {
			q := g.query(lateral, depth-2, ks)
			if g.chance(30) {
				q = g.first(q, len(ks))
			}
			return fmt.Sprintf("lateral (%s) %s", q, alias), sc
		}
		return fmt.Sprintf("(%s) %s", g.query(nil, depth-1, ks), alias), sc
	}
	if len(g.ctes) > 0 && g.chance(40) {
		c := g.ctes[g.r.IntN(len(g.ctes))]
		var sc scope
		for i, k := range c.kinds {
			sc = append(sc, col{fmt.Sprintf("%s.c%d", alias, i), k})
		}
		return c.name + " " + alias, sc
	}
	if g.chance(8) {
		return fmt.Sprintf("(values (1, 'one'), (2, 'two'), (3, null), (%d, 'x')) %s(p, q)", g.r.IntN(50)-10, alias),
			scope{{alias + ".p", anInt}, {alias + ".q", aText}}
	}
	t := genTables[g.r.IntN(len(genTables))]
	if g.nested && g.chance(25) {
		t = genNested[g.r.IntN(len(genNested))]
	}
	if (t.from == "nothing" || t.from == "nulls") && g.chance(70) {
		t = genTables[len(genTables)-1]
	}
	var sc scope
	for _, c := range strings.Fields(t.cols) {
		name, k, _ := strings.Cut(c, ":")
		sc = append(sc, col{alias + "." + name, kind(k[0])})
	}
	return t.from + " " + alias, sc
}

func (g *sqlGen) items(sc, outer scope, depth int, ks []kind) string {
	items := make([]string, len(ks))
	for i, k := range ks {
		items[i] = fmt.Sprintf("%s as c%d", g.expr(k, sc, outer, depth-1), i)
	}
	return strings.Join(items, ", ")
}
