package funcs

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// enumRows are about the labels of enums.
var enumRows = []Row{
	made("enum_code", "*", "enum_code('b'::ENUM('a', 'b')) → 1"),
	made("enum_first", "*", "enum_first(NULL::ENUM('a', 'b')) → a"),
	made("enum_last", "*", "enum_last(NULL::ENUM('a', 'b')) → b"),
	made("enum_range", "*?*", "enum_range(NULL::ENUM('a', 'b')) → {a,b}"),
}

// EnumCode is the place of a label, from 0 on.
var EnumCode = &plan.Function{Name: "enum_code", Strict: true, Eval: func(a []types.Value, t types.Type) (types.Value, error) {
	return number(t, a[0].I)
}}

// EnumRange is the labels from one to another; NULL is an end of the type.
var EnumRange = &plan.Function{Name: "enum_range", Eval: func(a []types.Value, t types.Type) (types.Value, error) {
	elem := t.Elem()
	lo, hi := int64(0), int64(len(elem.Labels())-1)
	if !a[0].Null {
		lo = a[0].I
	}
	if !a[1].Null {
		hi = a[1].I
	}
	var out []types.Value
	for i := lo; i <= hi; i++ {
		out = append(out, types.EnumValue(elem, int(i)))
	}
	return types.ListValue(elem, out), nil
}}
