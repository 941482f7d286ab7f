package funcs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions of lists. In Row.Args L is a list and E an element: all of a call have one type of elements, and ListResult and
// ElemResult are made of it.
var (
	ListResult = types.Type{Kind: types.List}
	// CountsResult is a map from values of the first argument to numbers.
	CountsResult = types.Type{Kind: types.Map}
	ElemResult   = types.Type{Kind: types.Unknown, Len: 1}
)

// Polymorphic reports a function of lists.
func (r *Row) Polymorphic() bool { return strings.ContainsAny(r.Args, "LE") }

var tTexts = types.TList(types.TText)

// listRows are functions of lists; a function of DuckDB and one of PostgreSQL that do the same are two names.
var listRows = slices.Concat(
	[]Row{
		fn("array_length", "Li", tInt, "array_length(array[1, 2, 3], 1) → 3", arrayLength, nullOut),
		fn("array_upper", "Li", tInt, "array_upper(array[1, 2, 3], 1) → 3", arrayLength, nullOut),
		fn("array_lower", "Li", tInt, "array_lower(array[5, 6], 1) → 1", arrayLower, nullOut),
		fn("array_dims", "L", tText, "array_dims(array[[1, 2], [3, 4]]) → [1:2][1:2]", arrayDims, nullOut),
		fn("width_bucket", "EL", tInt, "width_bucket(5, array[1, 3, 5, 10]) → 3", listBucket, fails),
		made("array_fill", "**", "array_fill(7, array[3]) → {7,7,7}"),
		made("generate_subscripts", "*i?b", ""),
		fn("array_ndims", "L", tInt, "array_ndims(array[[1, 2], [3, 4]]) → 2", arrayDepth, nullOut),
		fn("cardinality", "L", tInt, "cardinality(array[[1, 2], [3, 4]]) → 4", cardinality),
		fn("trim_array", "Li", ListResult, "trim_array(array[1, 2, 3], 2) → {1}", trimArray, fails),
		fn("array_position", "LE?i", tInt, "array_position(array['x', 'y'], 'y') → 2", listPosition, seesNull, nullOut),
		fn("array_positions", "LE", types.TList(types.TInt32), "array_positions(array[1, 2, 1], 1) → {1,3}", listPositions, seesNull, nullOut),
		fn("array_prepend", "EL", ListResult, "array_prepend(1, array[2, 3]) → {1,2,3}", listPrepend, seesNull),
		fn("array_remove", "LE", ListResult, "array_remove(array[1, 2, 1], 1) → {2}", listRemove, seesNull, nullOut),
		fn("array_replace", "LEE", ListResult, "array_replace(array[1, 2, 1], 1, 9) → {9,2,9}", listReplace, seesNull, nullOut),
		fn("array_to_string", "Lt?t", tText, "array_to_string(array[1, null, 3], ',', '*') → 1,*,3", arrayToString, seesNull, nullOut),
		fn("string_to_array", "tt?t", tTexts, "string_to_array('a,b,,c', ',', '') → {a,b,NULL,c}", stringToArray, seesNull, nullOut),
		fn("list_value", "E…", ListResult, "list_value(1, 2, 3) → {1,2,3}", listValue, seesNull),
		fn("array_slice", "Lii", ListResult, "array_slice([1, 2, 3, 4], 2, 3) → {2,3}", listSlice, seesNull, nullOut),
		fn("list_slice", "Lii", ListResult, "list_slice([1, 2, 3, 4], 2, 3) → {2,3}", listSlice, seesNull, nullOut),
		fn("@>", "LL", tBool, "array[1, 4, 3] @> array[3, 1] → true", func(a []types.Value, _ types.Type) (types.Value, error) { return boolean(containsAll(a[0], a[1])) }),
		fn("<@", "LL", tBool, "array[2] <@ array[1, 2] → true", func(a []types.Value, _ types.Type) (types.Value, error) { return boolean(containsAll(a[1], a[0])) }),
		fn("&&", "LL", tBool, "array[1, 2] && array[2, 3] → true", func(a []types.Value, _ types.Type) (types.Value, error) { return boolean(overlap(a[0], a[1])) }),
		fn("range", "TTV", types.TList(types.TTimestamp), "", rangeOfTimes, fails),
		fn("range", "i?ii", types.TList(types.TInt64), "range(2, 8, 3) → {2,5}", rangeList, fails),
		made("unnest", "*", ""),
		made("generate_series", "ee?e", ""),
		made("generate_series", "ZZV", ""), // of dates, too
		made("generate_series", "TTV", ""),
		made("generate_series", "mm?m", ""),
	},
	named1("array_append", "list_append array_push_back", "LE", ListResult, "array_append(array[1, 2], 3) → {1,2,3}", listAppend, seesNull),
	named1("array_cat", "list_concat list_cat array_concat", "LL", ListResult, "array_cat(array[1, 2], array[3]) → {1,2,3}", listConcat, seesNull, nullOut),
	named1("len", "array_length", "L", tBigint, "len([1, 2, 3]) → 3", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(a[0].ListLen()))
	}),
	named1("list_contains", "array_contains list_has array_has", "LE", tBool, "list_contains([1, 2], 2) → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		return boolean(indexOf(a[0].Elems(), a[1], 0) >= 0)
	}),
	named1("list_position", "list_indexof array_indexof", "LE", tInt, "list_position(['a', 'b'], 'b') → 2", listPosition, seesNull, nullOut),
	named1("list_extract", "list_element array_extract", "Li", ElemResult, "list_extract([4, 5, 6], -1) → 6", listExtract, nullOut),
	named1("list_reverse", "array_reverse", "L", ListResult, "list_reverse([1, 2, 3]) → {3,2,1}", func(a []types.Value, _ types.Type) (types.Value, error) {
		es := a[0].Elems()
		slices.Reverse(es)
		return sameList(a[0], es)
	}),
	named1("list_distinct", "array_distinct", "L", ListResult, "list_distinct([2, 1, 2, null]) → {2,1}", func(a []types.Value, _ types.Type) (types.Value, error) {
		return sameList(a[0], distinctElems(a[0]))
	}),
	named1("list_unique", "array_unique", "L", tBigint, "list_unique([2, 1, 2, null]) → 2", func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(len(distinctElems(a[0]))))
	}),
	named1("list_min", "array_min", "L", ElemResult, "list_min([3, 1, null]) → 1", listExtreme(-1), nullOut),
	named1("list_max", "array_max", "L", ElemResult, "list_max([3, 1, null]) → 3", listExtreme(1), nullOut),
	named1("list_has_all", "array_has_all", "LL", tBool, "list_has_all([1, 2, 3], [3, 1]) → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		return boolean(!slices.ContainsFunc(a[1].Elems(), func(x types.Value) bool { return !x.Null && indexOf(a[0].Elems(), x, 0) < 0 }))
	}),
	named1("list_has_any", "array_has_any", "LL", tBool, "list_has_any([1, 2], [2, 3]) → true", func(a []types.Value, _ types.Type) (types.Value, error) {
		return boolean(overlap(a[0], a[1]))
	}),
	named1("list_intersect", "array_intersect", "LL", ListResult, "list_intersect([1, 2, 2, 3], [3, 2]) → {2,3}", func(a []types.Value, _ types.Type) (types.Value, error) {
		other := a[1].Elems()
		return sameList(a[0], slices.DeleteFunc(distinctElems(a[0]), func(x types.Value) bool { return indexOf(other, x, 0) < 0 }))
	}),
	named1("list_prepend", "array_push_front", "EL", ListResult, "list_prepend(1, [2, 3]) → {1,2,3}", listPrepend, seesNull),
	named1("array_pop_back", "", "L", ListResult, "array_pop_back([1, 2, 3]) → {1,2}", func(a []types.Value, _ types.Type) (types.Value, error) {
		es := a[0].Elems()
		return sameList(a[0], es[:max(len(es)-1, 0)])
	}),
	named1("array_pop_front", "", "L", ListResult, "array_pop_front([1, 2, 3]) → {2,3}", func(a []types.Value, _ types.Type) (types.Value, error) {
		es := a[0].Elems()
		return sameList(a[0], es[min(1, len(es)):])
	}),
	named1(SplitNames[0], strings.Join(SplitNames[1:], " "), "tt", tTexts, "string_split('a b', ' ') → {a,b}", func(a []types.Value, t types.Type) (types.Value, error) {
		return textList(strings.Split(a[0].S, a[1].S))
	}),
)

// named1 are rows of one function under several names.
func named1(name, others, args string, result types.Type, example string, eval Eval, options ...option) []Row {
	rows := []Row{fn(name, args, result, example, eval, options...)}
	for _, n := range strings.Fields(others) {
		rows = append(rows, fn(n, args, result, "", eval, options...))
	}
	return rows
}

// SplitNames are the names of string_split.
var SplitNames = []string{"string_split", "str_split", "split"}

// The functions behind operators and clauses.
var (
	// Occurrences is how often one text, which is not empty, is in another; none of them overlap.
	Occurrences = &plan.Function{Name: "occurrences", Strict: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		return number(t, int64(strings.Count(a[0].S, a[1].S)))
	}, Matching: func(rest []types.Value) *automaton.Use {
		return &automaton.Use{Does: automaton.Counts, Needle: rest[0].S}
	}}
	ListConcat = &plan.Function{Name: "list_concat", Eval: listConcat, NullOut: true}
	ListAppend = &plan.Function{Name: "list_append", Eval: listAppend}
	ListFirst  = &plan.Function{Name: "list_prepend", Eval: listPrepend}
	ListMake   = &plan.Function{Name: "list_value", Eval: listValue}
	ListSlice  = &plan.Function{Name: "list_slice", Eval: listSlice, NullOut: true}
	// ListAt is list[i]: NULL where there is no such element.
	ListAt = &plan.Function{Name: "list_at", Strict: true, NullOut: true, Eval: listAt}
	// ListNext is ListAt in rows that unnest makes.
	ListNext = &plan.Function{Name: "list_next", Strict: true, NullOut: true, InTurn: true, Eval: listAt}
	// ListRows is how many rows unnest makes of a list: none of NULL.
	ListRows = &plan.Function{Name: "list_rows", Eval: func(a []types.Value, t types.Type) (types.Value, error) {
		most := 0
		for _, v := range a {
			if !v.Null {
				most = max(most, v.ListLen())
			}
		}
		return number(t, int64(most))
	}}
	// Unnest stands for an element of a list, one row each; the binder puts ListNext in its place.
	Unnest = &plan.Function{Name: "unnest", Strict: true, NullOut: true, Eval: func([]types.Value, types.Type) (types.Value, error) {
		return fail(diag.FeatureNotSupported, "unnest is not supported here")
	}}
	// Quantified is x op ANY (list), or ALL: the operator, which of them, x and the list.
	Quantified = &plan.Function{Name: "quantified", NullOut: true, Eval: quantified}
)

func sameList(l types.Value, es []types.Value) (types.Value, error) {
	return types.ListValue(l.Type.Elem(), es), nil
}

func textList(parts []string) (types.Value, error) {
	es := make([]types.Value, len(parts))
	for i, p := range parts {
		es[i] = types.TextValue(p)
	}
	return types.ListValue(types.TText, es), nil
}

// indexOf is where x is first, from an index on; -1 if nowhere. NULL is found by NULL.
func indexOf(es []types.Value, x types.Value, from int) int {
	for i := from; i < len(es); i++ {
		if es[i].Null == x.Null && (x.Null || types.Compare(es[i], x) == 0) {
			return i
		}
	}
	return -1
}

func arrayLength(a []types.Value, t types.Type) (types.Value, error) {
	l := a[0]
	for d := a[1].I; ; d-- {
		es := l.Elems()
		switch {
		case d < 1 || len(es) == 0:
			return null(t)
		case d == 1:
			return number(t, int64(len(es)))
		case l.Type.Elem().Kind != types.List:
			return null(t)
		}
		l = es[0]
	}
}

func arrayLower(a []types.Value, t types.Type) (types.Value, error) {
	v, err := arrayLength(a, t)
	if !v.Null {
		v.I = 1
	}
	return v, err
}

// arrayDims is the bounds of a list, of whose elements the first says how many each has.
func arrayDims(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].ListLen() == 0 {
		return null(t)
	}
	dims := ""
	for l := a[0]; l.Type.Kind == types.List; l = l.Elems()[0] {
		dims += fmt.Sprintf("[1:%d]", l.ListLen())
	}
	return text(dims)
}

func arrayDepth(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].ListLen() == 0 {
		return null(t)
	}
	n := int64(0)
	for e := a[0].Type; e.Kind == types.List; e = e.Elem() {
		n++
	}
	return number(t, n)
}

func cardinality(a []types.Value, t types.Type) (types.Value, error) {
	var count func(v types.Value) int64
	count = func(v types.Value) (n int64) {
		if v.Type.Elem().Kind != types.List {
			return int64(v.ListLen())
		}
		for _, e := range v.Elems() {
			if !e.Null {
				n += count(e)
			}
		}
		return n
	}
	return number(t, count(a[0]))
}

func trimArray(a []types.Value, _ types.Type) (types.Value, error) {
	es := a[0].Elems()
	if a[1].I < 0 || a[1].I > int64(len(es)) {
		return fail("2202E", "number of elements to trim must be between 0 and %d", len(es))
	}
	return sameList(a[0], es[:len(es)-int(a[1].I)])
}

func listPosition(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	from := 0
	if len(a) > 2 {
		if a[2].Null {
			if es := a[0].Elems(); len(es) == 0 || a[1].Null && indexOf(es, a[1], 0) < 0 {
				return null(t)
			}
			return fail("22004", "initial position must not be null")
		}
		from = int(max(a[2].I-1, 0))
	}
	if i := indexOf(a[0].Elems(), a[1], from); i >= 0 {
		return number(t, int64(i+1))
	}
	return null(t)
}

func listPositions(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	var at []types.Value
	es := a[0].Elems()
	for i := indexOf(es, a[1], 0); i >= 0; i = indexOf(es, a[1], i+1) {
		at = append(at, types.IntValue(types.TInt32, int64(i+1)))
	}
	return types.ListValue(types.TInt32, at), nil
}

// elemsOf is the elements of a list, none of NULL.
func elemsOf(v types.Value) []types.Value {
	if v.Null {
		return nil
	}
	return v.Elems()
}

func listAppend(a []types.Value, t types.Type) (types.Value, error) {
	return types.ListValue(t.Elem(), append(elemsOf(a[0]), a[1])), nil
}

func listPrepend(a []types.Value, t types.Type) (types.Value, error) {
	return types.ListValue(t.Elem(), append([]types.Value{a[0]}, elemsOf(a[1])...)), nil
}

func listConcat(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null && a[1].Null {
		return null(t)
	}
	return types.ListValue(t.Elem(), append(elemsOf(a[0]), elemsOf(a[1])...)), nil
}

func listValue(a []types.Value, t types.Type) (types.Value, error) {
	return types.ListValue(t.Elem(), a), nil
}

func listRemove(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	return sameList(a[0], slices.DeleteFunc(a[0].Elems(), func(e types.Value) bool { return indexOf([]types.Value{e}, a[1], 0) == 0 }))
}

func listReplace(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	es := a[0].Elems()
	for i := indexOf(es, a[1], 0); i >= 0; i = indexOf(es, a[1], i+1) {
		es[i] = a[2]
	}
	return types.ListValue(t.Elem(), es), nil
}

// arrayToString joins the elements; NULLs are left out, or written as the last argument says.
func arrayToString(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null || a[1].Null {
		return null(t)
	}
	var parts []string
	var walk func(v types.Value)
	walk = func(v types.Value) {
		for _, e := range v.Elems() {
			switch {
			case e.Null && len(a) > 2 && !a[2].Null:
				parts = append(parts, a[2].S)
			case e.Null:
			case e.Type.Kind == types.List:
				walk(e)
			case e.Type.Kind == types.Bool:
				parts = append(parts, e.String()[:1])
			default:
				parts = append(parts, e.String())
			}
		}
	}
	walk(a[0])
	return text(strings.Join(parts, a[1].S))
}

func stringToArray(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null {
		return null(t)
	}
	var parts []string
	switch {
	case a[0].S == "":
	case a[1].Null:
		for _, r := range a[0].S {
			parts = append(parts, string(r))
		}
	case a[1].S == "":
		parts = []string{a[0].S}
	default:
		parts = strings.Split(a[0].S, a[1].S)
	}
	l, err := textList(parts)
	if len(a) > 2 && !a[2].Null {
		es := l.Elems()
		for i := range es {
			if es[i].S == a[2].S {
				es[i] = types.NullOf(types.TText)
			}
		}
		l = types.ListValue(types.TText, es)
	}
	return l, err
}

func listAt(a []types.Value, t types.Type) (types.Value, error) {
	var w types.ListWalk
	w.Reset(a[0])
	if v, ok := w.Elem(a[1].I); ok {
		return v, nil
	}
	return null(t)
}

// listExtract is listAt that counts from the end, too, as DuckDB does.
func listExtract(a []types.Value, t types.Type) (types.Value, error) {
	if a[1].I < 0 {
		a[1].I += int64(a[0].ListLen()) + 1
	}
	return listAt(a, t)
}

// listSlice is list[from:to]; a bound that is the least or greatest integer is none.
func listSlice(a []types.Value, t types.Type) (types.Value, error) {
	if a[0].Null || a[1].Null || a[2].Null {
		return null(t)
	}
	es := a[0].Elems()
	from, to := max(a[1].I, 1), min(a[2].I, int64(len(es)))
	if from > to {
		return sameList(a[0], nil)
	}
	return sameList(a[0], es[from-1:to])
}

// listBucket is how many bounds, which go up, a value has reached.
func listBucket(a []types.Value, t types.Type) (types.Value, error) {
	bounds := a[1].Elems()
	if slices.ContainsFunc(bounds, func(b types.Value) bool { return b.Null }) {
		return fail(diag.NullNotAllowed, "thresholds array must not contain NULLs")
	}
	n, _ := slices.BinarySearchFunc(bounds, a[0], func(b, x types.Value) int {
		if types.Compare(b, x) <= 0 {
			return -1
		}
		return 1
	})
	return number(t, int64(n))
}

// containsAll reports that each element of b is one of a; NULL is none.
func containsAll(a, b types.Value) bool {
	es := a.Elems()
	for _, x := range b.Elems() {
		if x.Null || indexOf(es, x, 0) < 0 {
			return false
		}
	}
	return true
}

func overlap(a, b types.Value) bool {
	es := a.Elems()
	return slices.ContainsFunc(b.Elems(), func(x types.Value) bool { return !x.Null && indexOf(es, x, 0) >= 0 })
}

// distinctElems are the elements without NULLs, each once, in the order in which they come.
func distinctElems(l types.Value) (out []types.Value) {
	seen := map[string]bool{}
	elem := l.Type.Elem()
	for _, e := range l.Elems() {
		if key := string(types.AppendElem(nil, elem, e)); !e.Null && !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out
}

func listExtreme(sign int) Eval {
	return func(a []types.Value, t types.Type) (types.Value, error) {
		best := types.NullOf(t)
		for _, e := range a[0].Elems() {
			if !e.Null && (best.Null || types.Compare(e, best) == sign) {
				best = e
			}
		}
		return best, nil
	}
}

// quantified compares with each element, in three-valued logic.
func quantified(a []types.Value, t types.Type) (types.Value, error) {
	op, all, x, l := a[0].S, a[1].I != 0, a[2], a[3]
	if l.Null {
		return null(t)
	}
	unknown := false
	for _, e := range l.Elems() {
		if x.Null || e.Null {
			unknown = true
			continue
		}
		if compares(op, types.Compare(x, e)) != all {
			return boolean(!all)
		}
	}
	if unknown {
		return null(t)
	}
	return boolean(all)
}

func compares(op string, c int) bool {
	switch op {
	case "=":
		return c == 0
	case "<>":
		return c != 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// listFold is array_agg: all values, NULL or not.
func listFold(rows plan.FoldRows, _ []types.Value, t types.Type) (types.Value, error) {
	if rows.Len() == 0 {
		return types.NullOf(t), nil
	}
	elem := t.Elem()
	if c, ok := rows.(plan.FoldColumns); ok {
		if xs := c.Integers(0); xs != nil && elem.Kind != types.Bool {
			size := types.IntListSize(elem, len(xs))
			if err := rows.Room(int64(size)); err != nil {
				return types.Value{}, err
			}
			return types.IntList(c.Scratch(size), t, elem, xs), nil
		}
	}
	var b []byte
	asked := 0
	for i := range rows.Len() {
		if b = types.AppendElem(b, elem, rows.Value(i, 0)); i%1024 == 0 || i == rows.Len()-1 {
			if err := rows.Room(int64(len(b) - asked)); err != nil {
				return types.Value{}, err
			}
			asked = len(b)
		}
	}
	return types.Value{Type: t, S: string(append(b, 0))}, nil
}
