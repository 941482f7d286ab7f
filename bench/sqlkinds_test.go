package main

import (
	"fmt"
	"strings"
)

// nestedTables are the tables of types that DuckDB has not, or has otherwise: lists, JSON, instants, enums, intervals, and numbers and
// dates at the ends of what there is.
var nestedTables = []string{
	`create type mood as enum ('sad', 'ok', 'a long label', '日本', 'happy')`,
	`create table nest (id int, l int[], x text[], j jsonb, z timestamptz, m mood, ds date[], ns decimal(12,2)[], fs double precision[], v interval)`,
	`insert into nest values
		(1, array[1, 2, 3], array['a', 'b'], '{"a": 1, "n": "x", "l": [1, 2]}', timestamptz '2024-02-29 12:00:00+00', 'happy',
			array[date '2020-02-29', null], array[1.5, -2.25], '{0.5,NaN}', interval '1 month 2 days'),
		(2, array[]::int[], array[]::text[], '{}', timestamptz '1969-12-31 23:59:59.999999+00', 'sad',
			array[]::date[], array[]::decimal(12,2)[], array[]::double precision[], interval '0'),
		(3, null, null, null, null, null, null, null, null, null),
		(4, array[null, 7]::int[], array['日本', null, ''], '{"a": null, "n": "é", "l": []}', timestamptz '2024-03-31 01:30:00+00', '日本',
			array[date '0001-01-01', date '9999-12-31'], array[null, 0.01], array[null, 1e300, -1e-300], interval '-3 days 04:05:06.789'),
		(5, array[2147483647, -2147483648], array['x'], '[1, "日", null, {"a": 2}]', timestamptz '0044-03-15 12:00:00+00 BC', 'ok',
			array[date 'infinity', date '-infinity'], array[9999999999.99, -9999999999.99], '{infinity,-infinity,0}', interval '178000 years'),
		(2, array[1, 2], array['a', null], '"text"', timestamptz '2024-02-29 12:00:00+00', 'a long label',
			array[date '2020-02-29'], array[1.5], array[0.5], interval '30 days'),
		(7, array[3, 1, 2, 3], array['Grüße', 'one'], '{"a": 10, "n": "one", "l": [3]}', timestamptz '1999-12-31 23:59:59+00', 'ok',
			array[date '2020-01-01', date '2020-01-01', date '1999-12-31'], array[2.25, 2.25, 1], array[2.5, 2.5], interval '1 year -00:00:01')`,
	`create table ends (id int, x double precision, y date, s text)`,
	`insert into ends values (1, 'NaN', 'infinity', '日本語'), (2, 'infinity', '-infinity', ''), (3, '-infinity', '4713-01-01 BC', null), (4, '-0', '5874897-12-31', 'e'),
		(5, 0, '2000-02-29', 'é'), (6, 1.7976931348623157e308, null, 'e` + "\u0301" + `'), (7, -1.7976931348623157e308, '0001-12-31 BC', '😀'), (8, 5e-324, '0001-01-01', ' '),
		(9, null, '1970-01-01', 'ẞß'), (1, 'NaN', 'infinity', '日本語'), (10, 9007199254740993, '1582-10-10', 'İı')`,
	`create table m (id int primary key, a int, d decimal(10,2), s text default 'né', dt date, f boolean, l int[])`,
	`insert into m values (1, 10, 1.5, 'one', '2020-02-29', true, array[1, 2]), (2, null, null, null, null, null, null), (3, 7, -2.25, '', '1970-01-01', false, array[]::int[]),
		(4, 7, 0, 'Grüße', '9999-12-31', null, array[null, 7]::int[]), (5, -6, 100, 'one', '2020-02-29', true, array[3, 1, 3]), (7, 1000000, 0.01, 'x', '0001-01-01', false, array[1, 2])`,
}

// genNested are nestedTables for FROM, as genTables are; limits is there seldom, since most of what is computed from it is too large.
var genNested = []struct{ from, cols string }{
	{"limits", "i:i j:i k:n d:d"},
	{"ends", "id:i x:x y:y s:s"},
	{"ends", "id:i x:x y:y s:s"},
	{"m", "id:i a:i d:d s:s dt:t f:b l:l"},
	{"nest", nestColumns},
	{"nest", nestColumns},
	{"nest", nestColumns},
	{"nest", nestColumns},
}

const nestColumns = "id:i l:l x:S j:j z:z m:o ds:D ns:N fs:F v:v"

// elements are the kinds in lists, sqlTypes what kinds are called in casts.
var (
	elements = map[kind]kind{aList: anInt, texts: aText, dates: aDate, decs: aDec, doubles: aDouble}
	sqlTypes = map[kind]string{anInt: "int", aText: "text", aDate: "date", aDec: "decimal(12,2)", aDouble: "double precision", aBig: "bigint", aTime: "timestamp",
		aList: "int[]", texts: "text[]", dates: "date[]", decs: "decimal(12,2)[]", doubles: "double precision[]"}
)

func (g *sqlGen) nestedLiteral(k kind) string {
	switch k {
	case texts:
		return g.pick("array['a', 'b']", "array[]::text[]", "array['日本', null, '']", "array['x', 'x']")
	case dates:
		return g.pick("array[date '2020-02-29']", "array[]::date[]", "array[null, date '1970-01-01']", "array[date 'infinity', date '2020-01-01']")
	case decs:
		return g.pick("array[1.50, -2.25]", "array[]::decimal(12,2)[]", "array[0.00, null, 1.50]::decimal(12,2)[]")
	case doubles:
		return g.pick("array[0.5::double precision, 'NaN']", "array[]::double precision[]", "array[null, 2.5]::double precision[]", "array['-infinity'::double precision]")
	case aSpan:
		return g.pick("interval '1 day'", "interval '-1 month'", "interval '0'", "interval '36:00:00.000001'", "interval '1 year 2 months -3 days'")
	case anEnd:
		return g.pick("'NaN'::double precision", "'infinity'::double precision", "'-infinity'::double precision", "'-0'::double precision", "5e-324::double precision", "1::double precision")
	}
	return g.pick("date 'infinity'", "date '-infinity'", "date '2000-02-29'", "date '5874897-12-31'", "date '4713-01-01 BC'")
}

// typed is an expression with a type, which a text alone has not.
func (g *sqlGen) typed(k kind, sc, outer scope) string {
	e := "(" + g.expr(k, sc, outer, 0) + ")"
	if k == aText {
		e += "::text"
	}
	return e
}

// listExpr is an expression of a kind of lists; l is a list.
func (g *sqlGen) listExpr(k kind, l string, sc, outer scope) string {
	e := func() string {
		return fmt.Sprintf("(%s)::%s", g.expr(elements[k], sc, outer, 0), sqlTypes[elements[k]])
	}
	if k == texts && g.chance(30) {
		if s := g.column(aText, sc, outer); s != "" {
			return g.pick("string_to_array("+s+", 'e')", "string_to_array("+s+", null, 'o')", "regexp_split_to_array("+s+", "+g.pattern()+")", "regexp_match("+s+", "+g.pattern()+")")
		}
	}
	return g.pick("array["+e()+", "+e()+"]", "("+l+")[2:3]", "("+l+")[:1]", l+" || "+e(), e()+" || "+l, "array_remove("+l+", "+e()+")", "array_replace("+l+", "+e()+", "+e()+")",
		"array_cat("+l+", array["+e()+"])", "array_append("+l+", "+e()+")", fmt.Sprintf("array(select e from unnest(%s) e order by 1%s)", l, g.pick("", " desc", " nulls first limit 2")))
}

// listItem is an element of a list, or something else of a list, of kind k; "" if there is none.
func (g *sqlGen) listItem(k kind, sc, outer scope) string {
	var of kind
	for _, c := range append(append(scope{}, sc...), outer...) {
		if e := elements[c.kind]; e != 0 && (e == k || k == anInt || k == aBool) && (of == 0 || g.chance(50)) {
			of = c.kind
		}
	}
	if of == 0 {
		return ""
	}
	l := g.column(of, sc, outer)
	e := func() string {
		return fmt.Sprintf("(%s)::%s", g.expr(elements[of], sc, outer, 0), sqlTypes[elements[of]])
	}
	switch {
	case k == anInt && (of != aList || g.chance(60)):
		return g.pick("cardinality("+l+")", "array_length("+l+", 1)", "array_upper("+l+", 1)", "array_position("+l+", "+e()+")", "array_ndims("+l+")", "cardinality(array_positions("+l+", "+e()+"))")
	case k == aBool:
		return "(" + g.pick(e()+" = any ("+l+")", e()+" > all ("+l+")", e()+" <> all ("+l+")", e()+" <= any ("+l+")", l+" @> array["+e()+"]", l+" && "+g.literal(of), l+" <@ "+g.literal(of),
			l+" = "+g.literal(of), l+" < "+g.literal(of), l+" >= "+g.column(of, sc, outer), l+" is distinct from "+g.literal(of)) + ")"
	case k == aText && g.chance(40):
		return g.pick("array_to_string("+l+", ',')", "array_to_string("+l+", '-', 'é')", l+"::text", "to_json("+l+")::text")
	}
	return fmt.Sprintf("(%s)[%s]", l, g.pick("1", "2", "0", "-1", "cardinality("+l+")", "("+g.expr(anInt, sc, outer, 0)+")::int"))
}

// spanExpr is an expression of intervals; v is one.
func (g *sqlGen) spanExpr(v string, sc, outer scope) string {
	if t := g.column(aTime, sc, outer); t != "" && g.chance(40) {
		return g.pick("("+t+" - "+g.literal(aTime)+")", "age("+t+", "+g.literal(aTime)+")")
	}
	return g.pick("-"+v, v+" * 2", v+" / 4", v+" + interval '1 day'", v+" - "+g.literal(aSpan), "justify_days("+v+")", "justify_hours("+v+")", "date_trunc('month', "+v+")")
}

// pattern is a regular expression.
func (g *sqlGen) pattern() string {
	return g.pick("'^[a-z]+$'", "'o'", "'(a|e)+'", "'[^ -~]'", `'\d'`, "'^.$'", "'^$'", "'e{2}'", "'ß|日'", "'T.*e'", `'\s+'`, "'(.)(.)'", "'[[:upper:]]'", "'(?:x|w)?o'", "'.*?e'", "'e$'")
}

// mixed is an expression of kind k of values of several types, the value c among them; "" if there are none.
func (g *sqlGen) mixed(k kind, c string, sc, outer scope) string {
	others, ok := map[kind]string{aDec: "i", aDouble: "dinw", aBig: "i", aWide: "idn", aTime: "t", aZone: "tm", anEnd: "ei", aDay: "t"}[k]
	if !g.nested || !ok {
		return ""
	}
	o := kind(others[g.r.IntN(len(others))])
	e := g.expr(o, sc, outer, 0)
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("coalesce(%s, %s)", c, e)
	case 1:
		return fmt.Sprintf("greatest(%s, %s)", e, c)
	case 2:
		return fmt.Sprintf("least(%s, null, %s)", c, e)
	case 3:
		return fmt.Sprintf("case when %s then %s when %s then %s end", g.cond(sc, outer, 0), e, g.cond(sc, outer, 0), c)
	case 4:
		return fmt.Sprintf("case %s when %s then %s else %s end", e, g.literal(o), c, e)
	}
	return fmt.Sprintf("nullif(%s, %s)", c, e)
}

// mixedCond compares values of several types.
func (g *sqlGen) mixedCond(sc, outer scope) string {
	family := "idnwe"
	if g.chance(25) {
		family = "tmz"
	}
	k := func() kind { return kind(family[g.r.IntN(len(family))]) }
	e := func() string { return g.expr(k(), sc, outer, 0) }
	switch g.r.IntN(6) {
	case 0:
		return fmt.Sprintf("%s %s (%s, %s)", e(), g.pick("in", "not in"), e(), e())
	case 1:
		return fmt.Sprintf("%s between %s%s and %s", e(), g.pick("", "symmetric "), e(), e())
	case 2:
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", e(), e(), g.pick("=", "<", ">=", "<>", "is distinct from"), e(), e())
	}
	return fmt.Sprintf("%s %s %s", e(), g.pick("=", "<", ">", "<>", "<=", ">=", "is not distinct from"), e())
}

// unnested is a table of what a list or a document of an outer row holds; "" if the row has none.
func (g *sqlGen) unnested(alias string, lateral scope) (string, scope) {
	lists := "lSDNF"
	for range lists {
		k := kind(lists[g.r.IntN(len(lists))])
		if l := g.column(k, lateral, nil); l != "" {
			return fmt.Sprintf("lateral unnest(%s) with ordinality %s(c0, c1)", l, alias), scope{{alias + ".c0", elements[k]}, {alias + ".c1", aBig}}
		}
	}
	j := g.column(aJSON, lateral, nil)
	if j == "" {
		return "", nil
	}
	f, of, _ := strings.Cut(g.pick("jsonb_each_text object", "jsonb_array_elements_text array", "jsonb_object_keys object"), " ")
	cols := scope{{alias + ".c0", aText}, {alias + ".c1", aText}}
	if f != "jsonb_each_text" {
		cols[1].kind = aBig
		f = fmt.Sprintf("lateral %s(case jsonb_typeof(%s) when '%s' then %[2]s end) with ordinality", f, j, of)
	} else {
		f = fmt.Sprintf("lateral %s(case jsonb_typeof(%s) when '%s' then %[2]s end)", f, j, of)
	}
	return fmt.Sprintf("%s %s(c0, c1)", f, alias), cols
}
