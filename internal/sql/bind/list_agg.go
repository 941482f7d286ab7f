package bind

import (
	"strings"

	"github.com/kelpiedb/kelpie/internal/funcs"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
)

// listAggregates are the aggregates that DuckDB has for the elements of a list, as list_sum(l) or list_aggregate(l, 'sum').
var listAggregates = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`sum avg min max count median mode stddev stddev_pop stddev_samp variance var_pop var_samp product any_value first last bit_and bit_or
		bit_xor bool_and bool_or string_agg entropy kurtosis kurtosis_pop skewness mad sem approx_count_distinct histogram quantile quantile_cont quantile_disc`) {
		m[n] = true
	}
	return m
}()

// listAggregate is the subquery that such a call stands for, nil for other calls: the aggregate of the rows of unnest, in their order. Of NULL
// it is NULL.
func listAggregate(e *ast.Func) ast.Expr {
	name := e.Name.Last()
	var more []ast.Arg
	switch name {
	case "list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate":
		if len(e.Args) < 2 {
			return nil
		}
		lit, ok := e.Args[1].X.(*ast.Literal)
		if !ok || lit.Kind != ast.LitString {
			unsupported(e.Args[1].X.Position(), "%s by a name that is not a constant", name)
		}
		name, more = strings.ToLower(lit.Text), e.Args[2:]
	default:
		rest, ok := strings.CutPrefix(name, "list_")
		if !ok || len(e.Args) == 0 {
			return nil
		}
		name, more = rest, e.Args[1:]
	}
	if !listAggregates[name] || funcs.Find(e.Name.Last()) != nil || e.Over != nil || e.Filter != nil || e.Distinct || e.Star {
		return nil
	}
	ident := func(s string) ast.Name { return ast.Name{{Name: s, Pos: e.Pos, Quoted: true}} }
	element := &ast.ColumnRef{Pos: e.Pos, Name: ident("element of the list")}
	agg := &ast.Func{Pos: e.Pos, Name: ast.Name{{Name: name, Pos: e.Pos}}, Args: append([]ast.Arg{{X: element}}, more...)}
	rows := &ast.FuncTable{Pos: e.Pos, Call: &ast.Func{Pos: e.Pos, Name: ast.Name{{Name: "unnest", Pos: e.Pos}}, Args: e.Args[:1]},
		Alias: &ast.Alias{Name: ident("list")[0], Columns: ident("element of the list")}}
	sub := &ast.Subquery{Pos: e.Pos, Query: &ast.Query{Body: &ast.Select{Items: []ast.SelectItem{{X: agg}}, From: []ast.TableExpr{rows}}}}
	if name != "count" && name != "approx_count_distinct" {
		return sub
	}
	return &ast.Case{Pos: e.Pos, Whens: []ast.When{{Cond: &ast.IsNull{Pos: e.Pos, X: e.Args[0].X, Not: true}, Then: sub}}}
}
