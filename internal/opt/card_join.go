package opt

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/plan"
)

// joinRows estimates a join from the sizes of its sides.
func (s *state) joinRows(x *plan.Join, l, r float64) float64 {
	sel := s.keySel(x)
	res := s.residualSel(x.On)
	switch x.Kind {
	case plan.Semi:
		return l * s.matchFraction(x, r, res)
	case plan.Anti:
		return l * math.Max(1-s.matchFraction(x, r, res), 0.05)
	case plan.Mark:
		*s.stat(x.MarkCol) = colStat{dom: 2, base: l}
		return l
	case plan.Single:
		return l
	}
	pairs := l * r * sel * res
	if s.oneMatch(x) {
		pairs = math.Min(pairs, l)
	}
	switch x.Kind {
	case plan.Left:
		return math.Max(l, pairs)
	case plan.Full:
		return math.Max(pairs, math.Max(l, r))
	}
	return pairs
}

// oneMatch reports that a left row has at most one partner, as far as can be told at once.
func (s *state) oneMatch(x *plan.Join) bool {
	if x.AtMostOne {
		return true
	}
	for _, k := range x.RKeys {
		if r, ok := k.(*plan.Ref); ok && s.stat(r.ID).unique {
			return true
		}
	}
	return false
}

// keySel is the selectivity of a join's keys: with containment, one row of the side with fewer
// values meets its share of the other. Several keys together have no more values than their relation
// has rows.
func (s *state) keySel(x *plan.Join) float64 {
	if len(x.LKeys) == 0 {
		return 1
	}
	dl, dr := 1.0, 1.0
	bl, br := math.Inf(1), math.Inf(1)
	each := 1.0
	for i := range x.LKeys {
		a, b := s.exprStat(x.LKeys[i], math.Inf(1)), s.exprStat(x.RKeys[i], math.Inf(1))
		dl *= a.dom
		dr *= b.dom
		bl, br = math.Min(bl, positive(a.base)), math.Min(br, positive(b.base))
		each *= math.Max(a.dom, b.dom)
	}
	if len(x.LKeys) > 1 {
		each = math.Min(each, composite(dl, dr, bl, br))
	}
	return 1 / math.Max(each, 1)
}

func positive(x float64) float64 {
	if x > 0 {
		return x
	}
	return math.Inf(1)
}

// composite is the number of values of several columns together: at most the rows of either
// relation; the smaller relation is the one that the other refers to.
func composite(dl, dr, bl, br float64) float64 {
	return math.Max(1, math.Min(math.Min(dl, bl), math.Min(dr, br)))
}

// matchFraction is the share of left rows that find a partner among r right rows.
func (s *state) matchFraction(x *plan.Join, r, residual float64) float64 {
	if len(x.LKeys) == 0 {
		return math.Min(1, math.Max(residual*r, 0.1))
	}
	frac := 1.0
	for i := range x.LKeys {
		a, b := s.exprStat(x.LKeys[i], math.Inf(1)), s.exprStat(x.RKeys[i], math.Inf(1))
		have := distinctIn(b.dom, r)
		frac = math.Min(frac, math.Min(1, have/math.Max(a.dom, 1)))
	}
	if residual < 1 {
		frac *= math.Max(residual, 0.5)
	}
	return frac
}

// residualSel is the selectivity of conditions on both sides. A disjunction mostly repeats conditions
// that were pushed to the sides already.
func (s *state) residualSel(on []plan.Expr) float64 {
	sel := 1.0
	for _, e := range on {
		if x, ok := e.(*plan.Call); ok && x.Op == plan.Or {
			sel *= 0.5
			continue
		}
		sel *= s.selectivity(e)
	}
	return sel
}
