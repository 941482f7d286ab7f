package plan

import "slices"

// SpreadParts are the places, among the aggregates of a group, of what a Spread corrects its rows by: the count of the rows, and the sums of
// its columns. ok is false where some is not there.
func (n *Group) SpreadParts(a *Agg) (parts []int, ok bool) {
	find := func(f AggFunc, arg Expr) {
		want := Agg{Func: f, Arg: arg, Filter: a.Filter}
		parts = append(parts, slices.IndexFunc(n.Aggs, func(x Agg) bool { return x.Same(&want) }))
	}
	find(CountStar, nil)
	for _, x := range a.Args() {
		find(Sum, x)
	}
	return parts, !slices.Contains(parts, -1)
}
