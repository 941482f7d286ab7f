package bind

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/ast"
	"github.com/kelpiedb/kelpie/internal/types"
)

// windowClause takes the definitions of WINDOW; what they are made of is bound where they are used.
func (b *binder) windowClause(list []*ast.Window) *windows {
	for i, w := range list {
		for _, v := range list[:i] {
			if v.Name.Name == w.Name.Name {
				fail(diag.WindowingError, w.Name.Pos, "window %q is already defined", w.Name.Name)
			}
		}
	}
	return &windows{named: list, used: make([]bool, len(list))}
}

// unusedWindows binds definitions that no function uses, for their mistakes.
func (b *binder) unusedWindows(s *scope) {
	for i, w := range s.windows.named {
		if !s.windows.used[i] {
			b.window(s, &windowCall{}, &ast.Window{Pos: w.Pos, Ref: w.Name, Bare: true})
		}
	}
}

// definition puts a window together with the one that it refers to, which is among the first n of WINDOW.
func (b *binder) definition(s *scope, w *ast.Window, n int) *ast.Window {
	if w.Ref.Empty() {
		return w
	}
	var base *ast.Window
	for i, v := range s.windows.named[:n] {
		if v.Name.Name == w.Ref.Name {
			s.windows.used[i] = true
			base = b.definition(s, v, i)
		}
	}
	if base == nil {
		var names []string
		for _, v := range s.windows.named[:n] {
			names = append(names, v.Name.Name)
		}
		panic(diag.Errorf(diag.UndefinedObject, w.Ref.Pos, "window %q does not exist", w.Ref.Name).WithHint(diag.DidYouMean(w.Ref.Name, names)))
	}
	if w.Bare {
		return base
	}
	switch {
	case len(w.PartitionBy) > 0:
		fail(diag.WindowingError, w.Ref.Pos, "cannot override PARTITION BY clause of window %q", w.Ref.Name)
	case len(w.OrderBy) > 0 && len(base.OrderBy) > 0:
		fail(diag.WindowingError, w.Ref.Pos, "cannot override ORDER BY clause of window %q", w.Ref.Name)
	case base.Frame != nil:
		err := diag.Errorf(diag.WindowingError, w.Ref.Pos, "cannot copy window %q because it has a frame clause", w.Ref.Name)
		if len(w.OrderBy) == 0 && w.Frame == nil {
			err = err.WithHint("omit the parentheses in this OVER clause")
		}
		panic(err)
	}
	out := *w
	out.PartitionBy = base.PartitionBy
	if len(w.OrderBy) == 0 {
		out.OrderBy = base.OrderBy
	}
	return &out
}

// window binds what follows OVER.
func (b *binder) window(s *scope, c *windowCall, w *ast.Window) {
	w = b.definition(s, w, len(s.windows.named))
	s.windows.in = "window"
	for _, x := range w.PartitionBy {
		c.partition = append(c.partition, groupedBy(b.settle(b.expr(s, x)), x.Position()))
	}
	for i := range w.OrderBy {
		o := &w.OrderBy[i]
		if o.All {
			fail(diag.FeatureNotSupported, w.Pos, "ORDER BY ALL is not supported in a window")
		}
		k := direction(o, orderKey{})
		x := orderedBy(b.settle(b.expr(s, o.X)), o.X.Position())
		c.order = append(c.order, windowKey{x, k.desc, k.nullsFirst})
	}
	s.windows.in = ""
	c.fn.Frame = plan.DefaultFrame()
	if w.Frame != nil {
		b.frame(s, c, w.Frame)
	}
}

// frame binds ROWS, RANGE or GROUPS.
func (b *binder) frame(s *scope, c *windowCall, f *ast.Frame) {
	start, end := f.Start.Kind, f.End.Kind
	switch {
	case start == ast.UnboundedFollowing:
		fail(diag.WindowingError, f.Start.Pos, "frame start cannot be UNBOUNDED FOLLOWING")
	case end == ast.UnboundedPreceding:
		fail(diag.WindowingError, f.End.Pos, "frame end cannot be UNBOUNDED PRECEDING")
	case start == ast.CurrentRow && end == ast.Preceding:
		fail(diag.WindowingError, f.End.Pos, "frame starting from current row cannot have preceding rows")
	case start == ast.Following && end == ast.CurrentRow:
		fail(diag.WindowingError, f.End.Pos, "frame starting from following row cannot have preceding rows")
	case start == ast.Following && end == ast.Preceding:
		fail(diag.WindowingError, f.End.Pos, "frame starting from following row cannot have preceding rows")
	case f.Unit == ast.FrameGroups && len(c.order) == 0:
		fail(diag.WindowingError, f.Pos, "GROUPS mode requires an ORDER BY clause")
	}
	out := &c.fn.Frame
	out.Unit = plan.FrameUnit(f.Unit)
	out.Exclude = plan.FrameExclude(f.Exclude)
	out.Start.Kind, out.End.Kind = plan.BoundKind(start), plan.BoundKind(end)
	x, y := f.Start.Offset, f.End.Offset
	if x == nil && y == nil {
		return
	}
	if f.Unit == ast.FrameRange {
		b.rangeOffsets(s, c, f)
		return
	}
	clause := "ROWS"
	if f.Unit == ast.FrameGroups {
		clause = "GROUPS"
	}
	for _, o := range []struct {
		x  ast.Expr
		to *types.Value
	}{{x, &out.Start.Offset}, {y, &out.End.Offset}} {
		if o.x == nil {
			continue
		}
		e := b.offset(s, o.x, clause)
		if t := e.Type(); !implicit(t, types.TInt64) {
			fail(diag.DatatypeMismatch, o.x.Position(), "argument of %s must be type bigint, not type %s", clause, t.SQLName())
		}
		*o.to = b.distance(b.convert(e, types.TInt64, o.x.Position()), o.x, clause)
	}
}

// offset binds the distance of a bound, in which there are no columns.
func (b *binder) offset(s *scope, x ast.Expr, clause string) plan.Expr {
	saved := s.clause
	s.clause = "window " + clause
	e := b.expr(s, x)
	s.clause = saved
	if refs := plan.Refs(e); !refs.Empty() {
		fail(diag.InvalidColumnReference, x.Position(), "argument of %s must not contain variables", clause)
	}
	return e
}

// distance is the value of a distance.
func (b *binder) distance(e plan.Expr, x ast.Expr, clause string) types.Value {
	c, ok := e.(*plan.Const)
	if !ok {
		unsupported(x.Position(), "a distance of %s that is not a constant", clause)
	}
	return c.V
}

// rangeOffsets binds the distances of RANGE, in the type of the sort key.
func (b *binder) rangeOffsets(s *scope, c *windowCall, f *ast.Frame) {
	if len(c.order) != 1 {
		fail(diag.WindowingError, f.Pos, "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column")
	}
	key := c.order[0].x
	kt := key.Type()
	out := &c.fn.Frame
	out.Desc = c.order[0].desc
	scale := 0
	if kt.Kind == types.Decimal {
		scale = int(kt.Scale)
	}
	bounds := []struct {
		at *ast.Bound
		to *types.Value
		x  plan.Expr
	}{{at: &f.Start, to: &out.Start.Offset}, {at: &f.End, to: &out.End.Offset}}
	for i := range bounds {
		o := &bounds[i]
		if o.at.Offset == nil {
			continue
		}
		pos := o.at.Offset.Position()
		o.x = b.offset(s, o.at.Offset, "RANGE")
		ot := o.x.Type()
		unknown := ot.Kind == types.Unknown
		var to types.Type
		ok := false
		switch {
		case kt.IsInteger():
			to, ok = types.TInt64, ot.IsInteger() || unknown
		case kt.Kind == types.Decimal:
			to, ok = types.TDecimal(types.MaxPrecision, scale), ot.IsInteger() || ot.Kind == types.Decimal || unknown
			if ok && unknown {
				o.x = b.convert(o.x, types.TDecimal(types.MaxPrecision, scale), pos)
			} else if ok && ot.Kind == types.Decimal {
				scale = max(scale, int(ot.Scale))
			}
		case kt.IsFloat():
			to, ok = types.TFloat64, ot.IsNumeric() || unknown
		case kt.Kind == types.TimestampTZ && !b.zone().IsUTC():
			unsupported(pos, "RANGE with an offset over timestamps with time zone where the session's is not UTC")
		case kt.IsCalendar(), kt.Kind == types.Interval:
			to, ok = types.TInterval, ot.Kind == types.Interval || unknown
		default:
			fail(diag.FeatureNotSupported, pos, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s", kt.SQLName())
		}
		if !ok {
			panic(diag.Errorf(diag.FeatureNotSupported, pos, "RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s and offset type %s",
				kt.SQLName(), ot.SQLName()).WithHint("cast the offset value to an appropriate type"))
		}
		if kt.Kind != types.Decimal {
			*o.to = b.distance(b.convert(o.x, to, pos), o.at.Offset, "RANGE")
		}
	}
	pos := f.Pos
	switch kt.Kind {
	case types.Decimal: // all of one scale
		t := types.TDecimal(types.MaxPrecision, scale)
		for i := range bounds {
			if o := &bounds[i]; o.x != nil {
				*o.to = b.distance(b.convert(o.x, t, pos), o.at.Offset, "RANGE")
			}
		}
		c.key = b.convert(key, t, pos)
	case types.Date:
		c.key = b.convert(key, types.TTimestamp, pos)
	case types.Float32:
		c.key = b.convert(key, types.TFloat64, pos)
	default:
		c.key = key
	}
}
