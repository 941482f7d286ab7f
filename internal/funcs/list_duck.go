package funcs

import (
	"math"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions of lists that DuckDB has and PostgreSQL has not: orders that are told, parts, lengths, and lists as vectors.

var listDuckRows = slices.Concat(
	named1("list_sort", "array_sort", "L?tt", ListResult, "list_sort([3, null, 1], 'DESC', 'NULLS FIRST') → {NULL,3,1}", listSorted("ASC"), fails),
	named1("list_reverse_sort", "array_reverse_sort", "L?t", ListResult, "list_reverse_sort([3, null, 1]) → {3,1,NULL}", listSorted("DESC"), fails),
	named1("list_grade_up", "array_grade_up grade_up", "L?tt", types.TList(tBigint), "list_grade_up([30, 10, 20]) → {2,3,1}", listGradeUp, fails),
	named1("list_where", "array_where", "L*", ListResult, "list_where([1, 2, 3], [true, false, true]) → {1,3}", listWhere, fails),
	named1("list_select", "array_select", "L*", ListResult, "list_select([4, 5, 6], [3, 1]) → {6,4}", listSelect, fails),
	named1("flatten", "", "L", ElemResult, "flatten([[1, 2], [], [3]]) → {1,2,3}", listFlatten, fails),
	named1("list_resize", "array_resize", "Li?E", ListResult, "list_resize([1, 2], 4, 0) → {1,2,0,0}", listResize, seesNull, nullOut, fails),
	named1("list_distance", "array_distance", "LL", tDouble, "list_distance([1, 2], [4, 6]) → 5", listVector(func(x, y []float64) float64 {
		d := 0.0
		for i := range x {
			d += (x[i] - y[i]) * (x[i] - y[i])
		}
		return math.Sqrt(d)
	}), fails),
	named1("list_inner_product", "array_inner_product list_dot_product array_dot_product", "LL", tDouble, "list_inner_product([1, 2], [3, 4]) → 11", listVector(innerProduct), fails),
	named1("list_negative_inner_product", "array_negative_inner_product list_negative_dot_product array_negative_dot_product", "LL", tDouble, "list_negative_inner_product([1, 2], [3, 4]) → -11",
		listVector(func(x, y []float64) float64 { return -innerProduct(x, y) }), fails),
	named1("list_cosine_similarity", "array_cosine_similarity", "LL", tDouble, "list_cosine_similarity([1, 0], [1, 0]) → 1", listVector(cosine), fails),
	named1("list_cosine_distance", "array_cosine_distance", "LL", tDouble, "list_cosine_distance([1, 0], [0, 1]) → 1",
		listVector(func(x, y []float64) float64 { return 1 - cosine(x, y) }), fails),
)

// listOrder is how words such as DESC and NULLS FIRST, in any case, sort elements.
func listOrder(a []types.Value, order string, i int) (func(x, y types.Value) int, error) {
	nulls := "NULLS LAST"
	if order == "" {
		if order = "ASC"; len(a) > i {
			order = strings.ToUpper(a[i].S)
		}
		i++
	}
	if len(a) > i {
		nulls = strings.ToUpper(a[i].S)
	}
	sign, first := 1, false
	switch order {
	case "ASC", "ASCENDING":
	case "DESC", "DESCENDING":
		sign = -1
	default:
		return nil, errorf(diag.InvalidParameter, "%q is no order: ASC or DESC", order)
	}
	switch nulls {
	case "NULLS LAST":
	case "NULLS FIRST":
		first = true
	default:
		return nil, errorf(diag.InvalidParameter, "%q is no order of NULLs: NULLS FIRST or NULLS LAST", nulls)
	}
	return func(x, y types.Value) int {
		switch {
		case x.Null && y.Null:
			return 0
		case x.Null || y.Null:
			if x.Null == first {
				return -1
			}
			return 1
		}
		return sign * types.Compare(x, y)
	}, nil
}

// listSorted sorts a list; by takes the words behind it if it is ASC, else those for NULLs.
func listSorted(by string) Eval {
	if by == "ASC" {
		by = "" // which an argument may say otherwise
	}
	return func(a []types.Value, _ types.Type) (types.Value, error) {
		order, err := listOrder(a, by, 1)
		if err != nil {
			return types.Value{}, err
		}
		return sameList(a[0], slices.SortedStableFunc(slices.Values(a[0].Elems()), order))
	}
}

// listGradeUp is where the elements of the sorted list are, from 1.
func listGradeUp(a []types.Value, t types.Type) (types.Value, error) {
	order, err := listOrder(a, "", 1)
	if err != nil {
		return types.Value{}, err
	}
	es := a[0].Elems()
	places := make([]types.Value, len(es))
	for i := range places {
		places[i] = types.IntValue(t.Elem(), int64(i+1))
	}
	slices.SortStableFunc(places, func(x, y types.Value) int { return order(es[x.I-1], es[y.I-1]) })
	return types.ListValue(t.Elem(), places), nil
}

// listWhere is the elements where a list of truth values says so.
func listWhere(a []types.Value, _ types.Type) (types.Value, error) {
	if a[1].Type.Kind != types.List || a[1].Type.Elem().Kind != types.Bool {
		return fail(diag.DatatypeMismatch, "a list of truth values is wanted, not %s", a[1].Type.SQLName())
	}
	es := a[0].Elems()
	var out []types.Value
	for i, m := range a[1].Elems() {
		switch {
		case m.Null:
			return fail(diag.NullNotAllowed, "a list of truth values must not have NULLs")
		case m.I != 0 && i >= len(es):
			return fail(diag.InvalidParameter, "the list of truth values is longer than the list")
		case m.I != 0:
			out = append(out, es[i])
		}
	}
	return sameList(a[0], out)
}

// listSelect is the elements at some places, from 1; NULL where there is none.
func listSelect(a []types.Value, t types.Type) (types.Value, error) {
	if a[1].Type.Kind != types.List || !a[1].Type.Elem().IsInteger() {
		return fail(diag.DatatypeMismatch, "a list of whole numbers is wanted, not %s", a[1].Type.SQLName())
	}
	es := a[0].Elems()
	var out []types.Value
	for _, p := range a[1].Elems() {
		v := types.NullOf(t.Elem())
		if !p.Null && p.I >= 1 && p.I <= int64(len(es)) {
			v = es[p.I-1]
		}
		out = append(out, v)
	}
	return sameList(a[0], out)
}

// listFlatten is the elements of all lists in a list, one after the other.
func listFlatten(a []types.Value, t types.Type) (types.Value, error) {
	if t.Kind != types.List {
		return fail(diag.DatatypeMismatch, "a list of lists is wanted, not %s", a[0].Type.SQLName())
	}
	var out []types.Value
	for _, l := range a[0].Elems() {
		if !l.Null {
			out = append(out, l.Elems()...)
		}
	}
	return types.ListValue(t.Elem(), out), nil
}

// listResize cuts a list, or adds elements to its end.
func listResize(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null || a[1].Null {
		return null(t)
	}
	es, n := a[0].Elems(), a[1].I
	switch {
	case n < 0:
		return fail(diag.InvalidParameter, "a list cannot have %d elements", n)
	case n > longestRange:
		return fail(diag.ProgramLimitExceeded, "a list of more than %d elements", int64(longestRange))
	case n <= int64(len(es)):
		return sameList(a[0], es[:n])
	}
	with := types.NullOf(t.Elem())
	if len(a) > 2 {
		with = a[2]
	}
	for int64(len(es)) < n {
		es = append(es, with)
	}
	return sameList(a[0], es)
}

// listVector computes something of two lists of numbers that have the same length and no NULLs.
func listVector(of func(x, y []float64) float64) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		var v [2][]float64
		for i := range v {
			for _, e := range a[i].Elems() {
				if e.Null {
					return fail(diag.NullNotAllowed, "a list of numbers must not have NULLs here")
				}
				if !e.Type.IsNumeric() {
					return fail(diag.DatatypeMismatch, "a list of numbers is wanted, not of %s", e.Type.SQLName())
				}
				v[i] = append(v[i], e.Float())
			}
		}
		if len(v[0]) != len(v[1]) {
			return fail(diag.InvalidParameter, "lists of %d and of %d numbers cannot be compared", len(v[0]), len(v[1]))
		}
		return double(of(v[0], v[1]))
	}
}

func innerProduct(x, y []float64) float64 {
	d := 0.0
	for i := range x {
		d += x[i] * y[i]
	}
	return d
}

// cosine is that of the angle between two vectors, from -1 to 1.
func cosine(x, y []float64) float64 {
	return max(-1, min(1, innerProduct(x, y)/math.Sqrt(innerProduct(x, x)*innerProduct(y, y))))
}
