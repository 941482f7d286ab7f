package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// foldComparison puts constants on the right, and compares narrow columns with narrow constants
// rather than casting every row: zone maps, statistics and dictionaries work on plain columns.
func (s *state) foldComparison(x *plan.Call) plan.Expr {
	if _, ok := x.Args[0].(*plan.Const); ok {
		x = &plan.Call{Op: x.Op.Mirror(), T: x.T, Args: []plan.Expr{x.Args[1], x.Args[0]}, Pos: x.Pos}
	}
	l, isCall := x.Args[0].(*plan.Call)
	if !isCall || l.Op != plan.Cast || !widening(l) {
		return x
	}
	t := l.Args[0].Type()
	switch r := x.Args[1].(type) {
	case *plan.Const:
		if v, ok := narrowed(r.V, t); ok {
			return s.foldComparison(&plan.Call{Op: x.Op, T: x.T, Args: []plan.Expr{l.Args[0], plan.NewConst(v)}, Pos: x.Pos})
		}
	case *plan.Call:
		// Both sides cast from one type: compare below the casts.
		if r.Op == plan.Cast && r.Args[0].Type() == t {
			return s.foldComparison(&plan.Call{Op: x.Op, T: x.T, Args: []plan.Expr{l.Args[0], r.Args[0]}, Pos: x.Pos})
		}
	}
	return x
}

// widening reports a cast that keeps order and distinctness: integers and decimals to larger
// ones, dates to timestamps, texts to longer texts.
func widening(x *plan.Call) bool {
	from, to := x.Args[0].Type(), x.T
	switch {
	case from.IsInteger() && to.IsInteger():
		return to.Covers(from)
	case from.Kind == types.Text && to.Kind == types.Text:
		return to.Len == 0 || from.Len > 0 && to.Len >= from.Len
	case from.IsCalendar() && to.IsCalendar() && to.Kind != types.Date:
		return true
	case to.Kind == types.Decimal:
		d, ok := types.AsDecimal(from)
		return ok && to != types.TUInt64 && to.Scale >= d.Scale && to.Prec-to.Scale >= d.Prec-d.Scale
	}
	return false
}

// narrowed is the value of type t that equals v, if there is one.
func narrowed(v types.Value, t types.Type) (types.Value, bool) {
	if v.Null {
		return types.NullOf(t), true
	}
	w, err := types.Cast(v, t)
	if err != nil || types.Compare(w, v) != 0 {
		return w, false
	}
	return w, true
}
