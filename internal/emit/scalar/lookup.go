package scalar

import (
	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// lookupTable evaluates a predicate on one dictionary column through a table of its
// outcomes, where that is possible and pays.
func (e *Evaluator) lookupTable(x *plan.Call) (code.Value, bool) {
	if x.T.Kind != types.Bool || e.Tabulate == nil {
		return code.Value{}, false
	}
	refs := plan.Refs(x)
	if refs.Len() != 1 || !StrictInText(x) {
		return code.Value{}, false
	}
	id := refs.Slice()[0]
	if e.Cols.Get(id).Type.Phys() != types.PhysStr {
		return code.Value{}, false
	}
	v := e.Column(id)
	if v.Desc.Form != layout.Code {
		return code.Value{}, false
	}
	r := e.Int("test")
	n, own := e.AnyNull(v)
	if lit, ok := EqualsLiteral(x); ok { // one code to compare with
		c, is := ir.EQ, int64(0)
		if x.Op == plan.Ne {
			c, is = ir.NE, 1
		}
		switch code, found := v.Desc.Dict.Lookup(lit); {
		case found:
			e.B.Set(r, c, v.A, e.Fact(int64(code)))
		case e.Can.Parameters:
			e.B.Set(r, c, v.A, e.Fact(-1)) // no row has that
		default:
			e.B.Mov(r, ir.K(is))
		}
	} else {
		tab := e.LoadWord("lut", code.Word{Kind: code.WordLut, Index: e.Tabulate(x, id, v.Desc)})
		e.B.Load(r, ir.AtIndex(tab, v.A.R, 1, 0), 1, false)
		e.B.Clear(tab)
	}
	if !n.IsImm() {
		e.B.Sel(r, ir.NE, n, ir.K(0), ir.K(0), r.V())
	}
	return code.BoolValue(r).WithNull(n, own), true
}

// StrictInText reports that x is NULL exactly when its column is: then a table by code,
// without an entry for NULL, says all.
func StrictInText(x plan.Expr) bool {
	switch x := x.(type) {
	case *plan.Ref:
		return true
	case *plan.Const:
		return !x.V.Null
	case *plan.Call:
		switch x.Op {
		case plan.And, plan.Or: // every branch looks at the column
			for _, a := range x.Args {
				refs := plan.Refs(a)
				if refs.Empty() || !StrictInText(a) {
					return false
				}
			}
			return true
		case plan.Apply:
			u := x.Matching()
			return u != nil && u.Does == automaton.Tests && StrictInText(x.Args[0])
		case plan.Eq, plan.Ne, plan.Lt, plan.Le, plan.Gt, plan.Ge, plan.Not, plan.InList, plan.Like,
			plan.StartsWith, plan.Substring, plan.Length, plan.OctetLength, plan.Cast:
			if mayFail(x) {
				return false
			}
			for _, a := range x.Args {
				if !StrictInText(a) {
					return false
				}
			}
			return true
		}
	}
	return false
}

// mayFail reports operations that a table is not made of: entries of the dictionary need not be in any row,
// and must not end the query.
func mayFail(x *plan.Call) bool {
	switch x.Op {
	case plan.Substring:
		if len(x.Args) > 2 {
			n := constantOf(x.Args[2])
			return n == nil || n.I < 0
		}
	case plan.Cast:
		return x.T.Kind != types.Text
	}
	return false
}

func EqualsLiteral(x *plan.Call) (string, bool) {
	if x.Op != plan.Eq && x.Op != plan.Ne {
		return "", false
	}
	for i, a := range x.Args {
		if c, ok := a.(*plan.Const); ok {
			if _, ok := x.Args[1-i].(*plan.Ref); ok {
				return c.V.S, true
			}
		}
	}
	return "", false
}
