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
	if elements[k] != 0 {
		return g.listExpr(k, orElse(g.column(k, sc, outer), g.literal(k)), sc, outer)
	}
	if g.chance(50) {
		if e := g.listItem(k, sc, outer); e != "" {
			return e
		}
	}
	switch k {
	case aSpan:
		return g.spanExpr(orElse(g.column(k, sc, outer), g.literal(k)), sc, outer)
	case anEnd:
		c := orElse(g.column(k, sc, outer), g.literal(k))
		return g.pick("-("+c+")", "abs("+c+")", "floor("+c+")", "sign("+c+")")
	case anInt:
		switch {
		case l != "" && g.chance(30):
			return fmt.Sprintf("(select sum(e) from unnest(%s) e)::int", l)
		case m != "" && g.chance(60):
			return g.pick("array_position(enum_range(null::mood), "+m+")", "length("+m+"::text)", "("+m+" < enum_last(null::mood))::int")
		case j != "":
			return "(" + g.pick(j+" ->> 'a'", j+" -> 'l' ->> 0", j+" #>> '{l,1}'") + " is null)::int"
		}
	case aText:
		if s := g.column(aText, sc, outer); s != "" && g.chance(30) {
			return g.pick("regexp_replace("+s+", "+g.pattern()+", '<\\&>'"+g.pick("", ", 'g'", ", 'i'")+")", "substring("+s+" from "+g.pattern()+")", "split_part("+s+", 'e', "+g.pick("1", "2", "-1")+")",
				"(regexp_match("+s+", "+g.pattern()+"))[1]", "regexp_substr("+s+", "+g.pattern()+")", "translate("+s+", 'eéß日', 'xy')", "initcap("+s+")", "overlay("+s+" placing 'é' from 2)")
		}
		if m != "" && g.chance(40) {
			return g.pick(m+"::text", "enum_range("+m+", null)::text")
		}
		if g.chance(30) { // rows and documents of any columns
			s := "(" + g.expr(aText, sc, outer, 0) + ")::text"
			return g.pick("row("+i()+", "+s+")::text", "json_build_object('k', "+i()+", 'é', "+s+")::text", "jsonb_build_array("+s+", "+i()+", null)::text",
				"to_json("+s+")::text", "row_to_json(row("+s+", "+i()+"))::text", "concat_ws('-', "+i()+", "+s+")")
		}
		if v := g.column(aSpan, sc, outer); v != "" && g.chance(40) {
			return g.pick(v+"::text", "to_char("+v+", 'DD HH24:MI')")
		}
		if j != "" {
			object := "case jsonb_typeof(" + j + ") when 'object' then " + j + " end"
			if g.chance(40) {
				return g.pick(`((`+object+`) || '{"a": [1], "é": null}')::text`, "(("+object+") || jsonb_build_object('n', "+i()+"))::text", "(("+object+") - 'a')::text", "(("+object+") - '{a,l}'::text[])::text",
					"(("+object+") -> 'l' - 0)::text", "(("+object+") #- '{l,-1}')::text", "jsonb_path_query_array("+j+", '$.l[*] ? (@ > 1)')::text", "jsonb_path_query_first("+j+", '$.*')::text", "jsonb_strip_nulls("+j+")::text")
			}
			return g.pick("jsonb_set("+object+", '{a}', to_jsonb("+i()+"), true)::text", "jsonb_pretty("+j+")", j+" ->> 'n'", j+" ->> 'a'", "("+j+" -> 'l')::text", j+" #>> '{l,0}'", j+"::text", "jsonb_typeof("+j+")", j+" -> 'l' ->> -1")
		}
	case aBool:
		switch {
		case j != "" && g.chance(50):
			return "(" + j + g.pick(` @> '{"a": 1}'`, " <@ '[1, 2]'", " = '{}'", " < '[1]'", " -> 'a' = '1'", " ? 'a'", " ?| array['n', 'é']", " ?& '{a,l}'", " @? '$.l[*] ? (@ > 1)'", " @@ '$.a == 1'") + ")"
		case m != "" && g.chance(60):
			return fmt.Sprintf("(%s %s %s)", m, g.pick("<", ">=", "=", "<>"), g.pick(g.literal(anEnum), "'ok'"))
		case g.chance(40): // rows
			s := func() string { return "(" + g.expr(aText, sc, outer, 0) + ")::text" }
			return fmt.Sprintf(g.pick("((%s, %s) %s (%s, %s))", "(row(%s, %s) %s row(%s, %s))"), i(), s(), g.pick("<", ">=", "=", "<>", "is distinct from"), i(), s())
		case z != "":
			return fmt.Sprintf("(%s %s %s)", z, g.pick("<", ">=", "="), g.literal(aZone))
		}
	case aZone:
		return g.pick(orElse(z, g.literal(aZone))+" + interval '1 day'", "date_trunc('day', "+orElse(z, g.literal(aZone))+")", g.literal(aZone))
	case aTime:
		if d, v := g.column(aDate, sc, outer), g.column(aSpan, sc, outer); d != "" && v != "" && g.chance(50) {
			return "(" + d + " + " + v + ")"
		}
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
