package opt

import (
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// apart takes conditions out of outer and semi joins for which Go must compute something from columns of both sides: that can only be done
// behind a join that gives pairs. The left rows get numbers, an inner join finds the pairs, and the join finds them by the numbers.
func (s *state) apart() {
	s.mapNodes(func(n plan.Node) plan.Node {
		j, ok := n.(*plan.Join)
		if !ok || j.Gate || j.Kind == plan.Inner || !s.crosses(j) || readsRound(j.Left) || j.Kind == plan.Full && readsRound(j.Right) {
			return n
		}
		return s.byPairs(j)
	})
}

// crosses reports a condition with a part that Go computes from columns of both sides, or that has to be computed as a whole because of one.
func (s *state) crosses(j *plan.Join) bool {
	left := plan.Produced(j.Left)
	right := plan.Produced(j.Right)
	both := func(x plan.Expr) bool {
		refs := plan.Refs(x)
		return refs.Intersects(&left) && refs.Intersects(&right)
	}
	found := false
	for _, x := range j.On {
		plan.WalkExpr(x, func(x plan.Expr) bool {
			c, ok := x.(*plan.Call)
			if !ok || found || !both(c) {
				return ok && !found
			}
			switch c.Op {
			case plan.And, plan.Or, plan.Case, plan.Coalesce:
				found = s.inGo(c)
			default:
				found = !s.emits(c)
			}
			return true
		})
	}
	return found
}

// inGo reports an expression that has a part for which there is no code.
func (s *state) inGo(x plan.Expr) bool {
	found := false
	plan.WalkExpr(x, func(x plan.Expr) bool {
		c, ok := x.(*plan.Call)
		found = found || ok && !s.emits(c)
		return !found
	})
	return found
}

// readsRound reports that a plan reads the rows of a recursion's last round, which nobody may compute once for all.
func readsRound(n plan.Node) bool {
	found := false
	plan.WalkNode(n, func(n plan.Node) bool {
		_, ok := n.(*plan.WorkScan)
		found = found || ok
		return !found
	})
	return found
}

// numberedSide is a side of a join whose rows have numbers, and are read twice.
type numberedSide struct {
	rows, again   plan.Node // what stands for the side, and a copy with columns of its own
	number, other plan.ColID
	copies        map[plan.ColID]plan.ColID
}

// numberRows gives the rows of a side numbers.
func (s *state) numberRows(n plan.Node) *numberedSide {
	cols := n.Produces(nil)
	body, fresh := plan.CloneNode(s.cols, n)
	number := func() plan.ColID { return s.cols.New("number", types.TInt64, true) }
	made := number()
	shared := &plan.SharedPlan{Name: "numbered", Cols: []plan.ColID{made}, Plan: &plan.Window{Input: body, Specs: []plan.WindowSpec{{}},
		Funcs: []plan.WindowFunc{{Func: plan.RowNumber, Frame: plan.DefaultFrame(), Col: made}}}}
	d := &numberedSide{number: number(), other: number(), copies: map[plan.ColID]plan.ColID{}}
	rows := &plan.SharedScan{Index: len(s.q.Shared), Cols: []plan.ColID{d.number}, Source: []plan.ColID{made}}
	again := &plan.SharedScan{Index: rows.Index, Cols: []plan.ColID{d.other}, Source: []plan.ColID{made}}
	for _, id := range cols {
		if _, ok := d.copies[id]; ok {
			continue
		}
		d.copies[id] = s.copyCol(id)
		shared.Cols = append(shared.Cols, fresh.Get(id))
		rows.Cols, rows.Source = append(rows.Cols, id), append(rows.Source, fresh.Get(id))
		again.Cols, again.Source = append(again.Cols, d.copies[id]), append(again.Source, fresh.Get(id))
	}
	s.q.Shared = append(s.q.Shared, shared)
	d.rows, d.again = rows, again
	return d
}

// there has expressions look at the copy of the side.
func (d *numberedSide) there(s *state, list []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(list))
	for i, x := range list {
		out[i] = plan.Substitute(x, func(id plan.ColID) plan.Expr {
			if c, ok := d.copies[id]; ok {
				return s.ref(c)
			}
			return nil
		})
	}
	return out
}

// byPairs is the join by numbers.
func (s *state) byPairs(j *plan.Join) plan.Node {
	l := s.numberRows(j.Left)
	pairs := &plan.Join{Kind: plan.Inner, Left: l.again, Right: j.Right, LKeys: l.there(s, j.LKeys), RKeys: j.RKeys, NullSafe: j.NullSafe, On: l.there(s, j.On)}
	out := &plan.Join{Kind: j.Kind, Left: l.rows, Right: pairs, MarkCol: j.MarkCol,
		On: []plan.Expr{plan.Compare(plan.Eq, s.ref(l.number), s.ref(l.other))}}
	if j.Kind != plan.Full {
		s.pad(j.Kind, pairs)
		return out
	}
	// Left rows find the numbers of their pairs, and those the right rows.
	r := s.numberRows(j.Right)
	pairs.Right, pairs.RKeys, pairs.On = r.again, r.there(s, pairs.RKeys), r.there(s, pairs.On)
	out.Kind = plan.Left
	s.pad(plan.Left, pairs)
	all := &plan.Join{Kind: plan.Full, Left: out, Right: r.rows, On: []plan.Expr{plan.Compare(plan.Eq, s.ref(r.other), s.ref(r.number))}}
	s.pad(plan.Full, out)
	s.pad(plan.Full, r.rows)
	return all
}
