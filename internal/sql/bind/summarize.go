package bind

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/sql/parse"
	"github.com/kelpiedb/kelpie/internal/types"
)

// summarize binds SUMMARIZE as one aggregation of all columns, whose only row is then cut into one for each column. All
// is exact, the number of distinct values and the quantiles, too.
func (b *binder) summarize(s *ast.Summarize, around *scope) result {
	described := b.query(s.Query, around) // to learn of which columns
	var cells, rows []string
	aggregate := func(i int, name, sql string) string {
		if sql == "" {
			return "NULL::varchar"
		}
		as := fmt.Sprintf("%s%d", name, i)
		cells = append(cells, sql+" AS "+as)
		return as
	}
	def := ast.CTE{Pos: s.Pos, Name: ast.Ident{Name: "summarized", Pos: s.Pos}, Query: s.Query}
	for i, c := range described.cols {
		col := fmt.Sprintf("c%d", i)
		def.Columns = append(def.Columns, ast.Ident{Name: col, Pos: s.Pos})
		t := b.typeOf(c)
		if t.Kind == types.Unknown {
			t = types.TText
		}
		how := summaryOf(t)
		row := []string{fmt.Sprint(i, " AS place"), ast.QuoteString(c.name) + " AS column_name", ast.QuoteString(t.String()) + " AS column_type"}
		for _, cell := range []struct{ name, sql string }{
			{"min", how.least}, {"max", how.greatest}, {"approx_unique", "count(DISTINCT $)"}, {"avg", how.mean}, {"std", how.spread},
			{"q25", how.quantile("0.25")}, {"q50", how.quantile("0.5")}, {"q75", how.quantile("0.75")},
		} {
			row = append(row, aggregate(i, cell.name, strings.ReplaceAll(cell.sql, "$", col))+" AS "+cell.name)
		}
		nulls := aggregate(i, "n", "count("+col+")")
		row = append(row, "total AS count", fmt.Sprintf("(100.0 * (total - %s) / nullif(total, 0))::decimal(9, 2) AS null_percentage", nulls))
		rows = append(rows, "SELECT "+strings.Join(row, ", ")+" FROM summary")
	}
	sql := "WITH summary AS MATERIALIZED (SELECT count(*) AS total, " + strings.Join(cells, ", ") + " FROM summarized) SELECT * EXCLUDE (place) FROM (" +
		strings.Join(rows, " UNION ALL ") + ") AS s ORDER BY place"
	script, err := parse.Parse(sql)
	if err != nil {
		panic(diag.Internalf("bind", "SUMMARIZE: %v", err))
	}
	q := script[0].Stmt.(*ast.Query)
	q.With.CTEs = append([]ast.CTE{def}, q.With.CTEs...)
	return b.query(q, around)
}

// summary is how the values of a type are summarized, as SQL in which $ is the column; "" is not at all.
type summary struct{ least, greatest, mean, spread, middle string }

func summaryOf(t types.Type) summary {
	s := summary{least: "min($)::varchar", greatest: "max($)::varchar"}
	switch {
	case t.IsNumeric():
		s.mean, s.spread = "avg($)::double::varchar", "stddev($::double)::varchar"
		s.middle = "percentile_cont(@) WITHIN GROUP (ORDER BY $)::varchar"
	case t.Kind == types.Date, t.Kind == types.Timestamp:
		s.mean = "make_timestamp(avg(epoch_us($))::bigint)::varchar"
		s.middle = "percentile_cont(@) WITHIN GROUP (ORDER BY $)::varchar"
	case t.Kind == types.Bool:
		return summary{least: "bool_and($)::varchar", greatest: "bool_or($)::varchar"}
	case t.Kind == types.Text, t.Kind == types.Interval, t.Kind == types.Enum, t.Kind == types.Time, t.Kind == types.TimeTZ:
	default:
		return summary{}
	}
	return s
}

func (s summary) quantile(at string) string { return strings.Replace(s.middle, "@", at, 1) }
