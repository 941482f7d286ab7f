package funcs

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// maxFilled is how many elements PostgreSQL lets an array have.
const maxFilled = 134217727

// ListFill is array_fill: a list, or a list of lists, as deep as its type says, of one value; the second argument is how long each is.
var ListFill = internalFn("array_fill", func(a []types.Value, t types.Type) (types.Value, error) {
	if a[1].Null {
		return fail(diag.NullNotAllowed, "dimension array or low bound array cannot be null")
	}
	dims := a[1].Elems()
	for _, d := range dims {
		if d.Null {
			return fail(diag.NullNotAllowed, "dimension values cannot be null")
		}
	}
	n := filled(dims)
	if n > maxFilled {
		return fail(diag.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", int64(maxFilled))
	}
	if n == 0 {
		return types.Value{Type: t, S: types.ListValue(t.Elem(), nil).S}, nil
	}
	depth := 0
	for e := t; e != a[0].Type; e = e.Elem() {
		depth++
	}
	if len(dims) != depth {
		return fail(diag.FeatureNotSupported, "array_fill with %d dimensions that are not constants is not supported", len(dims))
	}
	out := a[0]
	for i := len(dims) - 1; i >= 0; i-- {
		elem := out.Type
		elems := make([]types.Value, dims[i].I)
		for k := range elems {
			elems[k] = out
		}
		out = types.ListValue(elem, elems)
	}
	return out, nil
}, seesNull, size(func(a []types.Value) int64 {
	if a[1].Null {
		return 0
	}
	return filled(a[1].Elems()) * int64(len(a[0].S)+17)
}))

// filled is how many elements lists of these lengths have: more than there can be where a length is below zero, none where it is NULL.
func filled(dims []types.Value) int64 {
	n := float64(min(len(dims), 1))
	for _, d := range dims {
		if d.I < 0 {
			return math.MaxInt32
		}
		n *= float64(d.I)
	}
	return int64(min(n, math.MaxInt32))
}

// subscripts is generate_subscripts: the numbers of the elements in one of a list's dimensions, in their order or the other one.
func subscripts(a []types.Value, t types.Type) (types.Value, error) {
	n, err := arrayLength(a, types.TInt64)
	elems := make([]types.Value, n.I)
	for i := range elems {
		elems[i] = types.IntValue(types.TInt32, int64(i+1))
		if at(a, 2, 0) != 0 {
			elems[i].I = n.I - int64(i)
		}
	}
	return types.ListValue(t.Elem(), elems), err
}
