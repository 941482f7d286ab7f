package main

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/funcs/trial"
	"github.com/kelpiedb/kelpie/internal/types"
)

// nestedValues: statements have lists, JSON, enums, rows, TIMESTAMPTZ and functions of the registry as well. DuckDB has other types and other
// functions, so that PostgreSQL must be there to be asked.
var nestedValues = os.Getenv("KELPIE_PG") != ""

// nestedTables are the tables of these types; kelpieOnly are not given to DuckDB.
var nestedTables = []string{
	`create type mood as enum ('sad', 'ok', 'a long label', '日本', 'happy')`,
	`create table nest (id int, l int[], x text[], j jsonb, z timestamptz, m mood)`,
	`insert into nest values
		(1, array[1, 2, 3], array['a', 'b'], '{"a": 1, "n": "x", "l": [1, 2]}', timestamptz '2024-02-29 12:00:00+00', 'happy'),
		(2, array[]::int[], array[]::text[], '{}', timestamptz '1969-12-31 23:59:59.999999+00', 'sad'),
		(3, null, null, null, null, null),
		(4, array[null, 7]::int[], array['日本', null, ''], '{"a": null, "n": "é", "l": []}', timestamptz '2024-03-31 01:30:00+00', '日本'),
		(5, array[2147483647, -2147483648], array['x'], '[1, "日", null, {"a": 2}]', timestamptz '0044-03-15 12:00:00+00 BC', 'ok'),
		(2, array[1, 2], array['a', null], '"text"', timestamptz '2024-02-29 12:00:00+00', 'a long label'),
		(7, array[3, 1, 2, 3], array['Grüße', 'one'], '{"a": 10, "n": "one", "l": [3]}', timestamptz '1999-12-31 23:59:59+00', 'ok')`,
}

// totalCalls are the rows of the registry that PostgreSQL has and that fail for none of the values of the table of functions, by the
// kind of their result.
var totalCalls = sync.OnceValue(func() map[kind][]*funcs.Row {
	table, err := trial.Read("../internal/session/testdata/function_table.txt")
	if err != nil {
		panic(err)
	}
	usable := map[string]bool{}
	for _, s := range table.Sections {
		confirmed, fails := false, false
		for _, l := range s.Lines {
			confirmed = confirmed || l.Source == "pg"
			fails = fails || strings.HasPrefix(l.Answer, "error") && l.Source != "nopg" || l.Source == "own"
		}
		usable[s.Signature] = confirmed && !fails
	}
	kinds := map[types.Kind]kind{types.Text: aText, types.Bool: aBool, types.Int32: anInt, types.Int64: aBig, types.Float64: aDouble,
		types.Timestamp: aTime, types.Date: aDate, types.TimestampTZ: aZone}
	out := map[kind][]*funcs.Row{}
	for i := range funcs.Rows {
		r := &funcs.Rows[i]
		letters, _ := trial.Letters(r)
		if k, ok := kinds[r.Result.Kind]; ok && usable[r.Signature()] && letters != "" && trial.Untried(r) == "" && r.Name != "chr" && r.Name != "repeat" && r.Name != "lpad" && r.Name != "rpad" {
			out[k] = append(out[k], r)
		}
	}
	return out
})

// call is a call of a function of the registry with a result of a kind, "" if there is none.
func (g *sqlGen) call(k kind, sc, outer scope) string {
	defer g.part("call")()
	rows := totalCalls()[k]
	if len(rows) == 0 {
		return ""
	}
	r := rows[g.r.IntN(len(rows))]
	letters, least := trial.Letters(r)
	args := make([]string, least+g.few(len(letters)-least+1))
	for p := range args {
		args[p] = g.argument(r, letters[p], p, sc, outer)
	}
	return "(" + trial.Text(r, args) + ")"
}

// argument is a value for a parameter: one that it is meant for, a column or an expression of its type, or one of those that
// functions are tried with.
func (g *sqlGen) argument(r *funcs.Row, letter byte, p int, sc, outer scope) string {
	if m := trial.Meant(r, p); m != nil {
		return m[g.r.IntN(len(m))]
	}
	of := map[byte]struct {
		kind kind
		cast string
	}{'t': {aText, "text"}, 'i': {anInt, "int"}, 'e': {anInt, "int"}, 'E': {anInt, "int"}, 'f': {aDouble, "double precision"}, 'b': {aBool, "boolean"},
		'T': {aTime, "timestamp"}, 'd': {aTime, "timestamp"}, 'Z': {aZone, "timestamptz"}, 'L': {aList, "int[]"}, '*': {aText, "text"}}[letter]
	if of.cast != "" && g.chance(80) {
		return fmt.Sprintf("(%s)::%s", g.expr(of.kind, sc, outer, 0), of.cast)
	}
	if letter == 'J' && g.chance(70) {
		if c := g.column(aJSON, sc, outer); c != "" {
			return trial.Fitting(r, c+"::jsonb")
		}
	}
	var pool []string
	for _, class := range trial.Values[letter] {
		pool = append(pool, class...)
	}
	return trial.Fitting(r, pool[g.r.IntN(len(pool))])
}

// nestedExpr is an expression over lists, JSON, rows, enums or instants, of kind k; "" if there is none.
func (g *sqlGen) nestedExpr(k kind, sc, outer scope) string {
	l, j, z, m := g.column(aList, sc, outer), g.column(aJSON, sc, outer), g.column(aZone, sc, outer), g.column(anEnum, sc, outer)
	i := func() string { return "(" + g.expr(anInt, sc, outer, 0) + ")::int" }
	switch k {
	case anInt:
		switch {
		case l != "" && g.chance(60):
			return g.pick(fmt.Sprintf("(%s)[%d]", l, g.r.IntN(5)), "array_length("+l+", 1)", "cardinality("+l+")", fmt.Sprintf("array_position(%s, %s)", l, i()),
				fmt.Sprintf("(select sum(e) from unnest(%s) e)::int", l), fmt.Sprintf("(%s)[%s]", l, i()))
		case m != "" && g.chance(60):
			return g.pick("array_position(enum_range(null::mood), "+m+")", "length("+m+"::text)", "("+m+" < enum_last(null::mood))::int")
		case j != "":
			return "(" + g.pick(j+" ->> 'a'", j+" -> 'l' ->> 0", j+" #>> '{l,1}'") + " is null)::int"
		}
	case aText:
		if m != "" && g.chance(40) {
			return g.pick(m+"::text", "enum_range("+m+", null)::text")
		}
		if g.chance(30) { // rows and documents of any columns
			s := "(" + g.expr(aText, sc, outer, 0) + ")::text"
			return g.pick("row("+i()+", "+s+")::text", "json_build_object('k', "+i()+", 'é', "+s+")::text", "jsonb_build_array("+s+", "+i()+", null)::text",
				"to_json("+s+")::text", "row_to_json(row("+s+", "+i()+"))::text", "concat_ws('-', "+i()+", "+s+")")
		}
		if j != "" {
			return g.pick(j+" ->> 'n'", j+" ->> 'a'", "("+j+" -> 'l')::text", j+" #>> '{l,0}'", j+"::text", "jsonb_typeof("+j+")", j+" -> 'l' ->> -1")
		}
	case aBool:
		switch {
		case l != "" && g.chance(60):
			return fmt.Sprintf("(%s)", g.pick(i()+" = any ("+l+")", i()+" > all ("+l+")", l+" @> array["+i()+"]", l+" && array[1, 7]", l+" <@ array[1, 2, 3]", l+" = array[1, 2]", l+" < array[2]"))
		case m != "" && g.chance(60):
			return fmt.Sprintf("(%s %s %s)", m, g.pick("<", ">=", "=", "<>"), g.pick(g.literal(anEnum), "'ok'"))
		case g.chance(40): // rows
			s := func() string { return "(" + g.expr(aText, sc, outer, 0) + ")::text" }
			return fmt.Sprintf(g.pick("((%s, %s) %s (%s, %s))", "(row(%s, %s) %s row(%s, %s))"), i(), s(), g.pick("<", ">=", "=", "<>", "is distinct from"), i(), s())
		case z != "":
			return fmt.Sprintf("(%s %s %s)", z, g.pick("<", ">=", "="), g.literal(aZone))
		}
	case aList:
		e := g.expr(anInt, sc, outer, 0)
		return g.pick(fmt.Sprintf("array[%s, (%s)::int]", i(), e), fmt.Sprintf("(%s)[1:2]", orElse(l, "array[4, 5, 6]")), fmt.Sprintf("%s || %s", orElse(l, "array[9]"), i()),
			fmt.Sprintf("array_remove(%s, %s)", orElse(l, "array[1, 1]"), i()), fmt.Sprintf("%s || array[1]", orElse(l, "array[]::int[]")))
	case aZone:
		return g.pick(orElse(z, g.literal(aZone))+" + interval '1 day'", "date_trunc('day', "+orElse(z, g.literal(aZone))+")", g.literal(aZone))
	case aTime:
		if z != "" {
			return "(" + z + " at time zone " + g.pick("'UTC'", "'Europe/Berlin'", "'America/New_York'") + ")"
		}
	}
	return ""
}

func orElse(c, literal string) string {
	if c == "" {
		return literal
	}
	return c
}
