package main

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/types"
)

// changed are the columns of the table m, which statements change.
var changed = scope{{"m.id", anInt}, {"m.a", anInt}, {"m.d", aDec}, {"m.s", aText}, {"m.dt", aDate}, {"m.f", aBool}, {"m.l", aList}}

// script writes some changes of the table m and asks for its rows behind them. Statements are told apart by a semicolon at the end of a line.
func (g *sqlGen) script() string {
	var all []string
	for range 1 + g.few(3) {
		all = append(all, g.change())
	}
	return strings.Join(append(all, "select * from m", "select s, count(*), sum(a), max(d), bool_or(f) from m group by s"), ";\n")
}

// inTransaction runs a statement, or those of a script, of which nothing stays; rows begin with the number of their statement then.
func inTransaction(sql string, run func(sql string) ([][]types.Value, error)) ([][]types.Value, error) {
	if !isScript(sql) {
		return run(sql)
	}
	if _, err := run("begin"); err != nil {
		return nil, err
	}
	defer run("rollback")
	var all [][]types.Value
	for i, s := range strings.Split(sql, ";\n") {
		rows, err := run(s)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			all = append(all, append([]types.Value{types.TextValue(fmt.Sprint(i))}, r...))
		}
	}
	return all, nil
}

func isScript(sql string) bool { return strings.Contains(sql, ";\n") }

func (g *sqlGen) change() string {
	defer g.part("change")()
	sql := ""
	switch g.r.IntN(8) {
	case 0, 1:
		sql = g.insertRows()
	case 2:
		sql = fmt.Sprintf("insert into m (id, a, s) %s on conflict %s", g.source("aas"), g.onConflict())
	case 3:
		sql = fmt.Sprintf("update m set %s from (%s) src where m.id = src.c0", g.assignments(append(scope{{"src.c1", anInt}, {"src.c2", aText}}, changed...)), g.source("ais"))
		if g.chance(40) {
			sql += " and " + g.cond(changed, nil, 1)
		}
	case 4:
		return g.merge()
	case 5:
		sql = fmt.Sprintf("delete from m using (%s) src where m.a = src.c1 and m.id %s src.c0", g.source("ais"), g.pick("<>", "<", ">="))
	case 6:
		sql = "delete from m where " + g.cond(changed, nil, 2)
	default:
		sql = "update m set " + g.assignments(changed)
		if g.chance(80) {
			sql += " where " + g.cond(changed, nil, 2)
		}
	}
	if g.chance(60) && !strings.Contains(sql, " using ") {
		sql += " returning " + g.items(changed, nil, 1, g.kinds(1+g.few(3)))
	} else if g.chance(50) {
		sql += " returning m.*"
	}
	return sql
}

// source is a query of an integer of few values, each once, and of other kinds.
func (g *sqlGen) source(ks string) string {
	from, sc := g.from(nil, 1)
	items := []string{fmt.Sprintf("coalesce((%s)::bigint %% 12, 0)::int as c0", g.expr(anInt, sc, nil, 0))}
	order := []string{"1"}
	for i, k := range ks[1:] {
		if k == 'a' {
			k = rune(anInt)
		}
		items = append(items, fmt.Sprintf("(%s)::%s as c%d", g.expr(kind(k), sc, nil, 0), sqlTypes[kind(k)], i+1))
		order = append(order, fmt.Sprint(i+2))
	}
	return fmt.Sprintf("select distinct on (1) %s from %s order by %s", strings.Join(items, ", "), from, strings.Join(order, ", "))
}

func (g *sqlGen) insertRows() string {
	rows := make([]string, 1+g.r.IntN(4))
	for i := range rows {
		cells := []string{fmt.Sprint(g.r.IntN(12))}
		for _, c := range changed[1:] {
			cells = append(cells, g.pick("null", "default", g.literal(c.kind), g.literal(c.kind), g.literal(c.kind)))
		}
		rows[i] = "(" + strings.Join(cells, ", ") + ")"
	}
	sql := "insert into m values " + strings.Join(rows, ", ")
	if g.chance(85) {
		sql += " on conflict " + g.onConflict()
	}
	return sql
}

// onConflict is what becomes of rows whose key is there.
func (g *sqlGen) onConflict() string {
	if g.chance(40) {
		return g.pick("do nothing", "(id) do nothing")
	}
	sql := "(id) do update set " + g.assignments(append(scope{{"excluded.a", anInt}, {"excluded.s", aText}, {"excluded.d", aDec}}, changed...))
	if g.chance(40) {
		sql += " where " + g.cond(changed, nil, 0)
	}
	return sql
}

// assignments are those of UPDATE to one or two columns.
func (g *sqlGen) assignments(sc scope) string {
	at := 1 + g.r.IntN(len(changed)-1)
	set := func(i int) string {
		c := changed[i]
		return strings.TrimPrefix(c.name, "m.") + " = " + g.pick(g.expr(c.kind, sc, nil, 1), g.expr(c.kind, sc, nil, 0), "default")
	}
	list := set(at)
	if g.chance(40) {
		list += ", " + set(1+at%(len(changed)-1))
	}
	return list
}

func (g *sqlGen) merge() string {
	src := scope{{"src.c0", anInt}, {"src.c1", anInt}, {"src.c2", aText}}
	all := append(append(scope{}, changed...), src...)
	sql := fmt.Sprintf("merge into m using (%s) src on m.id = src.c0", g.source("ais"))
	if g.chance(30) {
		sql += " and " + g.cond(changed, nil, 0)
	}
	clauses := 1 + g.few(2)
	for i := range clauses {
		always := i == clauses-1 && g.chance(40) // what follows would not be reached
		if g.chance(50) {
			sql += " when matched"
			if !always {
				sql += " and " + g.cond(all, nil, 0)
			}
			sql += " then " + g.pick("delete", "do nothing", "update set "+g.assignments(all))
		} else {
			sql += " when not matched"
			if !always {
				sql += " and " + g.cond(src, nil, 0)
			}
			sql += " then " + g.pick("do nothing", "insert (id, a, s) values (src.c0, src.c1, src.c2)", "insert (id, a) values (src.c0 + 20, "+g.expr(anInt, src, nil, 0)+")")
		}
	}
	return sql
}
