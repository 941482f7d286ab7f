package bind

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
)

// TestRandomQueries binds queries made at random from a grammar that knows which names are in
// scope, so that most of them are right. Every plan must pass plan.Check.
func TestRandomQueries(t *testing.T) {
	env := smallEnv(t)
	bound, codes := 0, map[string]int{}
	for seed := range 4000 {
		g := &sqlGen{r: rand.New(rand.NewPCG(uint64(seed), 7))}
		sql := g.query(nil, 3, 1+g.r.IntN(3))
		script, err := parse.Parse(sql)
		if err != nil {
			t.Fatalf("%s\n%s", sql, diag.Format(err, sql))
		}
		q, err := Select(env, script[0].Stmt.(*ast.Query), nil)
		if err != nil {
			var user *diag.Error
			if !errors.As(err, &user) || user.Pos < 0 || user.Pos >= len(sql) {
				t.Fatalf("%s\n%s", sql, diag.Format(err, sql))
			}
			codes[user.Code]++
			continue
		}
		bound++
		if err := plan.Check(q); err != nil {
			t.Fatalf("%s\n%v\n%s", sql, err, plan.Format(q))
		}
	}
	t.Log(bound, "bound; refused:", codes)
	if bound < 2000 {
		t.Errorf("only %d of 4000 queries were bound; refused: %v", bound, codes)
	}
}

// sqlGen writes SQL. All columns that it makes are integers, so that types seldom disagree.
type sqlGen struct {
	r *rand.Rand
	n int
}

// names are the integer columns of one scope, qualified.
type names []string

func (g *sqlGen) pick(of ...string) string { return of[g.r.IntN(len(of))] }
func (g *sqlGen) chance(percent int) bool  { return g.r.IntN(100) < percent }

// query writes a query of width columns named c0, c1, … that may refer to outer.
func (g *sqlGen) query(outer names, depth, width int) string {
	if depth > 0 && g.chance(12) {
		op := g.pick("union", "union all", "intersect", "except", "intersect all", "except all")
		return fmt.Sprintf("(%s) %s (%s)", g.query(outer, depth-1, width), op, g.query(outer, depth-1, width))
	}
	if depth > 0 && g.chance(10) {
		w := fmt.Sprintf("w%d", g.next())
		body := g.query(outer, depth-1, 2)
		var out names
		for _, a := range []string{"p", "q"} {
			out = append(out, a+".c0", a+".c1")
		}
		return fmt.Sprintf("with %s as (%s) select %s from %s p, %s q", w, body, g.items(out, outer, depth-1, width, false), w, w)
	}
	from, scope := g.from(outer, depth)
	var s strings.Builder
	grouped := g.chance(35)
	if !grouped {
		distinct := g.pick("", "", "", "distinct ")
		fmt.Fprintf(&s, "select %s%s from %s", distinct, g.items(scope, outer, depth, width, false), from)
		if g.chance(60) {
			s.WriteString(" where " + g.cond(scope, outer, depth))
		}
		if distinct == "" && g.chance(25) {
			s.WriteString(" order by " + g.expr(scope, nil, 0) + " desc")
		} else if g.chance(30) {
			s.WriteString(" order by 1")
		}
	} else {
		k1, k2 := g.expr(scope, nil, 0), g.column(scope, nil)
		items := make([]string, width)
		for i := range items {
			items[i] = fmt.Sprintf("%s as c%d", g.pick(k1, k2, k2+" + 1", g.agg(scope, outer, depth), g.agg(scope, outer, depth)+" + "+k2,
				"("+g.query(append(names{k2}, outer...), depth-2, 1)+")"), i)
		}
		fmt.Fprintf(&s, "select %s from %s", strings.Join(items, ", "), from)
		if g.chance(40) {
			s.WriteString(" where " + g.cond(scope, outer, depth))
		}
		s.WriteString(" group by " + g.pick("%s, %s", "rollup (%s, %s)", "grouping sets ((%s, %[2]s), (%[2]s), ())", "%s, %s"))
		text := fmt.Sprintf(s.String(), k1, k2)
		s.Reset()
		s.WriteString(text)
		if g.chance(40) {
			s.WriteString(" having " + g.agg(scope, outer, depth) + " > " + g.expr(names{k2}, outer, 0))
		}
		if g.chance(40) {
			s.WriteString(" order by " + g.pick("1", k2, g.agg(scope, outer, 0)))
		}
	}
	if g.chance(20) {
		s.WriteString(" limit 3")
	}
	return s.String()
}

func (g *sqlGen) next() int { g.n++; return g.n }

// from writes a FROM clause and gives the columns that it brings.
func (g *sqlGen) from(outer names, depth int) (string, names) {
	text, scope := g.table(outer, nil, depth)
	for range g.r.IntN(3) {
		right, cols := g.table(outer, scope, depth)
		lateral := strings.HasPrefix(right, "lateral")
		both := append(append(names{}, scope...), cols...)
		switch k := g.r.IntN(8); {
		case k == 0:
			text += " cross join " + right
		case k == 1 && !lateral:
			text += fmt.Sprintf(" %s join %s on %s", g.pick("right", "full"), right, g.cond(both, outer, 0))
		case k == 2 && !lateral:
			text += fmt.Sprintf(" %s join %s on %s", g.pick("semi", "anti"), right, g.cond(both, outer, 0))
			continue
		default:
			text += fmt.Sprintf(" %s join %s on %s", g.pick("", "left"), right, g.cond(both, outer, depth-1))
		}
		scope = both
	}
	return text, scope
}

func (g *sqlGen) table(outer, left names, depth int) (string, names) {
	alias := fmt.Sprintf("x%d", g.next())
	if depth > 0 && g.chance(35) {
		if len(left) > 0 && g.chance(40) {
			q := g.query(append(append(names{}, left...), outer...), depth-1, 2)
			return fmt.Sprintf("lateral (%s) %s", q, alias), names{alias + ".c0", alias + ".c1"}
		}
		return fmt.Sprintf("(%s) %s", g.query(outer, depth-1, 2), alias), names{alias + ".c0", alias + ".c1"}
	}
	if g.chance(20) {
		return fmt.Sprintf("(values (1, 2), (3, null)) %s(c0, c1)", alias), names{alias + ".c0", alias + ".c1"}
	}
	return "t " + alias, names{alias + ".a", alias + ".b", alias + ".g"}
}

func (g *sqlGen) items(scope, outer names, depth, width int, _ bool) string {
	items := make([]string, width)
	for i := range items {
		items[i] = fmt.Sprintf("%s as c%d", g.expr(scope, outer, depth-1), i)
	}
	return strings.Join(items, ", ")
}

func (g *sqlGen) column(scope, outer names) string {
	if len(outer) > 0 && g.chance(25) {
		return g.pick(outer...)
	}
	return g.pick(scope...)
}

func (g *sqlGen) expr(scope, outer names, depth int) string {
	c := g.column(scope, outer)
	switch g.r.IntN(10) {
	case 0:
		return c + " + 1"
	case 1:
		return fmt.Sprintf("case when %s then %s else 0 end", g.cond(scope, outer, depth-1), c)
	case 2:
		if depth > 0 {
			return "(" + g.query(append(append(names{}, scope...), outer...), depth-1, 1) + ")"
		}
	case 3:
		return "coalesce(" + c + ", " + g.column(scope, outer) + ")"
	case 4:
		return "(7 + 0)"
	}
	return c
}

func (g *sqlGen) cond(scope, outer names, depth int) string {
	c := g.column(scope, outer)
	if depth > 0 {
		all := append(append(names{}, scope...), outer...)
		switch g.r.IntN(6) {
		case 0:
			return c + " in (" + g.query(all, depth-1, 1) + ")"
		case 1:
			return "not exists (" + g.query(all, depth-1, 1) + ")"
		case 2:
			return c + " > all (" + g.query(all, depth-1, 1) + ")"
		}
	}
	switch g.r.IntN(5) {
	case 0:
		return c + " in (1, 2, null)"
	case 1:
		return c + " between " + g.column(scope, outer) + " and 9"
	case 2:
		return "(" + g.cond(scope, outer, 0) + " or " + c + " is null)"
	}
	return c + " " + g.pick("=", "<", "<>") + " " + g.column(scope, outer)
}

func (g *sqlGen) agg(scope, outer names, depth int) string {
	return g.pick("count(*)", "sum("+g.expr(scope, outer, depth-2)+")", "max("+g.column(scope, nil)+")",
		"count(distinct "+g.column(scope, nil)+") filter (where "+g.cond(scope, outer, 0)+")")
}
