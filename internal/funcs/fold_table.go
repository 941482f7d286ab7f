package funcs

import (
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// FoldRow is an aggregate that Go computes from all rows of a group: see plan.Fold.
type FoldRow struct {
	Name string
	// Params has a letter for each argument: t text, d number as a double, i integer, c what values can lie between, * any
	// type. WITHIN GROUP (ORDER BY …) stands for the first.
	Params string
	// Direct: so many of the last arguments are constants.
	Direct int
	// Within: the first argument is written WITHIN GROUP (ORDER BY …).
	Within bool
	// Sorted: rows are looked at in the order of the first argument.
	Sorted bool
	// Default is what a last argument that is left out means; nil: it must not be.
	Default *types.Value
	Result  types.Type // tSame: that of the first argument
	Doc     string
	Fold    *plan.Fold
	// Several is what a list as the last argument means: a list of the values at all its places. nil: there is no such thing.
	Several *plan.Fold
}

func fold(name, params string, result types.Type, skips plan.Skips, eval func(plan.FoldRows, []types.Value, types.Type) (types.Value, error), doc string) FoldRow {
	return FoldRow{Name: name, Params: params, Result: result, Doc: doc, Fold: &plan.Fold{Name: name, Skips: skips, Eval: eval}}
}

// withinGroup is an ordered-set aggregate; all its arguments but what it is ordered by are constants.
func withinGroup(r FoldRow) FoldRow {
	r.Within, r.Sorted, r.Direct = true, true, len(r.Params)-1
	return r
}

// sorted is an aggregate that orders by its first argument; the others are constants.
func sorted(r FoldRow) FoldRow {
	r.Sorted, r.Direct = true, len(r.Params)-1
	return r
}

// withDefault lets the last argument be left out.
func withDefault(r FoldRow, v types.Value) FoldRow {
	r.Default = &v
	return r
}

// withParts lets frames of windows share the aggregates of stretches.
func withParts(r FoldRow, p *plan.FoldParts) FoldRow {
	r.Fold.Parts = p
	if p.OfSums != nil {
		p.OfSums.Name = r.Name
	}
	return r
}

// extreme is an aggregate that finds the row where the second argument is extreme.
func extreme(r FoldRow, sign int) FoldRow {
	r.Fold.Extreme = sign
	return r
}

// lists is an aggregate that is the list of its argument's values.
func lists(r FoldRow) FoldRow {
	r.Fold.Lists = true
	return r
}

// foldRows are all of them.
var foldRows = func() []FoldRow {
	comma := types.TextValue(",")
	rows := []FoldRow{
		withDefault(fold("string_agg", "tt", tText, plan.SkipNull, stringAgg, "the texts, with the second between them"), comma),
		withinGroup(several(rankFold("percentile_cont", "cd", continuous, "the value at a fraction of the order, between two values if need be"), severalContinuous)),
		withinGroup(several(rankFold("percentile_disc", "*d", discrete, "the first value whose place in the order is at the fraction or behind it"), severalDiscrete)),
		withinGroup(fold("mode", "*", tSame, plan.SkipNull, modeSorted, "the most frequent value; the first of them by the order")),
		fold("mode", "*", tSame, plan.SkipNull, modeFirst, "the most frequent value; the first of them that came"),
		sorted(rankFold("median", "c", middle, "the value in the middle, or between the two there")),
		sorted(several(rankFold("quantile_cont", "cd", continuous, "percentile_cont, written as a function"), severalContinuous)),
		sorted(several(rankFold("quantile_disc", "*d", discrete, "percentile_disc, written as a function"), severalDiscrete)),
		sorted(several(rankFold("quantile", "*d", discrete, "percentile_disc, written as a function"), severalDiscrete)),
		sorted(fold("histogram", "*", CountsResult, plan.SkipNull, countsFold, "a map from each value to how many there are")),
		sorted(fold("mad", "d", tDouble, plan.SkipNull, medianDeviation, "the median of the distances from the median")),
		extreme(fold("arg_min", "**", tSame, plan.SkipAnyNull, extremeArg(-1), "the first value where the second is least"), -1),
		extreme(fold("arg_max", "**", tSame, plan.SkipAnyNull, extremeArg(1), "the first value where the second is greatest"), 1),
		fold("first", "*", tSame, plan.SkipNone, firstRow, "the value of the first row, NULL or not"),
		fold("last", "*", tSame, plan.SkipNone, lastRow, "the value of the last row, NULL or not"),
		lists(fold("array_agg", "*", ListResult, plan.SkipNone, listFold, "a list of the values, NULL or not")),
		lists(fold("list", "*", ListResult, plan.SkipNone, listFold, "a list of the values, NULL or not")),
		fold("json_agg", "*", types.TJSON, plan.SkipNone, jsonFold, "an array of JSON"),
		fold("jsonb_agg", "*", types.TJSONB, plan.SkipNone, jsonFold, "an array of JSON"),
		fold("json_object_agg", "**", types.TJSON, plan.SkipNone, jsonObjectFold, "an object of JSON, of keys and values"),
		fold("jsonb_object_agg", "**", types.TJSONB, plan.SkipNone, jsonObjectFold, "an object of JSON, of keys and values"),
		fold("json_group_array", "*", types.TJSON, plan.SkipNone, jsonGroupArray, "an array of JSON, as DuckDB writes it"),
		fold("json_group_object", "**", types.TJSON, plan.SkipNone, jsonGroupObject, "an object of JSON, as DuckDB writes it"),
		bitFold("bit_and", func(a, b int64) int64 { return a & b }, "the bits that all have"),
		bitFold("bit_or", func(a, b int64) int64 { return a | b }, "the bits that any has"),
		bitFold("bit_xor", func(a, b int64) int64 { return a ^ b }, "the bits that an odd number has"),
		withParts(fold("product", "d", tDouble, plan.SkipNull, product, "the product"), productParts),
		fold("fsum", "d", tDouble, plan.SkipNull, compensated(false), "the sum of doubles, with what rounding loses added again"),
		fold("favg", "d", tDouble, plan.SkipNull, compensated(true), "the mean of doubles, likewise"),
		fold("geomean", "d", tDouble, plan.SkipNull, geometricMean, "the geometric mean"),
		withParts(fold("sem", "d", tDouble, plan.SkipNull, ofNumbers(standardError), "the standard error of the mean"), numberParts(standardError, plan.Formula{Steps: "2 0 / sqrt 0 sqrt /"})),
		fold("entropy", "*", tDouble, plan.SkipNull, entropy, "the bits that tell the values apart"),
		fold("skewness", "d", tDouble, plan.SkipNull, skewness, "how far the values lean to one side"),
		fold("kurtosis", "d", tDouble, plan.SkipNull, kurtosis(true), "how heavy the tails are, of a sample"),
		fold("kurtosis_pop", "d", tDouble, plan.SkipNull, kurtosis(false), "how heavy the tails are"),
	}
	for _, p := range pairFolds {
		rows = append(rows, withParts(fold(p.name, "dd", tDouble, plan.SkipAnyNull, ofPairs(p.of), p.doc), pairParts(p.of, p.code)))
	}
	for _, a := range []struct{ name, of string }{
		{"group_concat", "string_agg"}, {"listagg", "string_agg"}, {"min_by", "arg_min"}, {"argmin", "arg_min"},
		{"max_by", "arg_max"}, {"argmax", "arg_max"}, {"arbitrary", "first"}, {"approx_quantile", "quantile_disc"},
		{"geometric_mean", "geomean"}, {"kahan_sum", "fsum"}, {"sumkahan", "fsum"},
	} {
		i := slices.IndexFunc(rows, func(r FoldRow) bool { return r.Name == a.of })
		r := rows[i]
		r.Name = a.name
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b FoldRow) int { return strings.Compare(a.Name, b.Name) })
	return rows
}()

// FindFold is the aggregate of a name, with or without WITHIN GROUP; nil: there is none. Where only the other
// form exists, it is that.
func FindFold(name string, within bool) *FoldRow {
	var other *FoldRow
	for i := range foldRows {
		if r := &foldRows[i]; r.Name == name {
			if r.Within == within {
				return r
			}
			other = r
		}
	}
	return other
}

// FoldNames are the names of all folds.
func FoldNames() []string {
	var out []string
	for _, r := range foldRows {
		out = append(out, r.Name)
	}
	return slices.Compact(out)
}

// Folds are the rows of the reference.
func Folds() []Aggregate {
	var out []Aggregate
	words := map[rune]string{'t': "text", 'd': "number", 'i': "integer", 'c': "number or date or interval", '*': "any"}
	for _, r := range foldRows {
		var args []string
		for i, p := range r.Params {
			args = append(args, words[p])
			if r.Several != nil && i == len(r.Params)-1 {
				args[i] += " or list of them"
			}
		}
		a := Aggregate{Name: r.Name, Args: strings.Join(args, ", "), Doc: r.Doc}
		if r.Within {
			a.Args = strings.Join(args[1:], ", ") + ") WITHIN GROUP (ORDER BY " + args[0]
		}
		out = append(out, a)
	}
	return out
}

// FirstRow gives the value of the first row of a group: with several of them, all from one.
var FirstRow = &plan.Fold{Name: "first", Eval: firstRow}

// InOrder are aggregates whose result depends on the order of the rows only if the query gives one: sums of doubles are
// rounded after each.
var InOrder = map[plan.AggFunc]*plan.Fold{
	plan.AnyValue:   {Name: "any_value", Skips: plan.SkipNull, Eval: firstRow},
	plan.Sum:        {Name: "sum", Skips: plan.SkipNull, Eval: sumInOrder},
	plan.Avg:        numberFold("avg", func(s *pairSums) (float64, bool) { return s.X / s.N, true }, plan.Formula{Steps: "1 0 /"}),
	plan.VarPop:     numberFold("var_pop", variance(0, false), plan.Formula{Steps: "2 0 /"}),
	plan.VarSamp:    numberFold("var_samp", variance(1, false), plan.Formula{Over: 1, Steps: "2 0 one - /"}),
	plan.StddevPop:  numberFold("stddev_pop", variance(0, true), plan.Formula{Steps: "2 0 / sqrt"}),
	plan.StddevSamp: numberFold("stddev_samp", variance(1, true), plan.Formula{Over: 1, Steps: "2 0 one - / sqrt"}),
}

func numberFold(name string, of func(*pairSums) (float64, bool), code plan.Formula) *plan.Fold {
	return withParts(fold(name, "d", tDouble, plan.SkipNull, ofNumbers(of), ""), numberParts(of, code)).Fold
}

// Of a window's frame, where values that are equal count once, and of intervals.
var (
	CountRows   = &plan.Fold{Name: "count", Skips: plan.SkipNull, Eval: countRows}
	SumExact    = &plan.Fold{Name: "sum_exact", Skips: plan.SkipNull, Eval: sumExact}
	AvgInterval = &plan.Fold{Name: "avg_interval", Skips: plan.SkipNull, Eval: avgInterval}
)

// distinctPairs are aggregates of pairs that generated code computes, for calls with DISTINCT, where it cannot.
var distinctPairs = []FoldRow{
	fold("regr_count", "dd", types.TInt64, plan.SkipAnyNull, countRows, ""),
	fold("regr_avgx", "dd", tDouble, plan.SkipAnyNull, ofPairs(func(s *pairSums) (float64, bool) { return s.X / s.N, true }), ""),
	fold("regr_avgy", "dd", tDouble, plan.SkipAnyNull, ofPairs(func(s *pairSums) (float64, bool) { return s.Y / s.N, true }), ""),
}

// DistinctPairs is the fold of an aggregate of different pairs, of a name that means another aggregate without DISTINCT; nil: there is none.
func DistinctPairs(name string) *FoldRow {
	for i := range distinctPairs {
		if distinctPairs[i].Name == name {
			return &distinctPairs[i]
		}
	}
	return nil
}

// Unnamed are folds that the binder chooses by more than their name.
var Unnamed = func() []*plan.Fold {
	out := []*plan.Fold{CountRows, SumExact, AvgInterval, severalContinuous, severalDiscrete}
	for _, r := range distinctPairs {
		out = append(out, r.Fold)
	}
	return out
}()
