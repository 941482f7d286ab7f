package opt

import (
	"cmp"
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Selectivities of predicates about which nothing is known, and the least that is believed:
// an estimate of nothing would make everything above it free.
const (
	unknownSel    = 1.0 / 3
	unknownEqSel  = 0.01
	unknownLtSel  = 0.4
	leastSel      = 1e-4
	maxDictionary = 64 // entries on which a predicate is evaluated; more are sampled
)

// conjunctionSel is the selectivity of predicates together, and narrows the statistics of the
// columns that they restrict. Predicates on one column are combined exactly as ranges; columns
// are taken for nearly independent: each further one counts a little less.
func (s *state) conjunctionSel(preds []plan.Expr) float64 {
	if len(preds) == 0 {
		return 1
	}
	type factor struct {
		col plan.ColID
		sel float64
	}
	var buf [8]factor
	factors := buf[:0]
	single := 0 // factors of one column, which come first: there are never many
	for _, p := range preds {
		f := factor{singleColumn(p), s.selectivity(p)}
		s.narrow(p, f.sel)
		if f.col == 0 {
			factors = append(factors, f)
			continue
		}
		if i := slices.IndexFunc(factors[:single], func(o factor) bool { return o.col == f.col }); i >= 0 {
			factors[i].sel *= f.sel
			continue
		}
		factors = slices.Insert(factors, single, f)
		single++
	}
	// The most selective first.
	slices.SortStableFunc(factors, func(a, b factor) int { return cmp.Compare(a.sel, b.sel) })
	sel := 1.0
	for i, f := range factors {
		sel *= math.Pow(f.sel, math.Max(1-0.1*float64(i), 0.5))
	}
	return math.Max(sel, leastSel*leastSel)
}

// selectivity is the share of rows for which p is true.
func (s *state) selectivity(p plan.Expr) float64 {
	return math.Min(1, math.Max(s.sel(p), leastSel))
}

func (s *state) sel(p plan.Expr) float64 {
	s.patience.Tick()
	switch x := p.(type) {
	case *plan.Const:
		if x.V.Null || x.V.I == 0 {
			return 0
		}
		return 1
	case *plan.Ref:
		return 0.5
	case *plan.Call:
		if f, ok := s.dictionarySel(x); ok {
			return f
		}
		return s.callSel(x)
	}
	return unknownSel
}

func (s *state) callSel(x *plan.Call) float64 {
	switch x.Op {
	case plan.And:
		sel := 1.0
		for _, a := range x.Args {
			sel *= s.selectivity(a)
		}
		return sel
	case plan.Or:
		miss := 1.0
		for _, a := range x.Args {
			miss *= 1 - s.selectivity(a)
		}
		return 1 - miss
	case plan.Not:
		if in, ok := x.Args[0].(*plan.Call); ok && in.Op == plan.IsNull {
			return 1 - s.exprStat(in.Args[0], math.Inf(1)).nulls
		}
		return 1 - s.selectivity(x.Args[0])
	case plan.IsTrue:
		return s.selectivity(x.Args[0])
	case plan.IsNull:
		return s.exprStat(x.Args[0], math.Inf(1)).nulls
	case plan.Eq, plan.NotDistinct:
		return s.equalSel(x)
	case plan.Ne:
		return 1 - s.equalSel(x)
	case plan.Lt, plan.Le, plan.Gt, plan.Ge:
		return s.rangeSel(x)
	case plan.InList:
		c := s.exprStat(x.Args[0], math.Inf(1))
		n := float64(len(x.Args) - 1)
		if c.dom <= 0 {
			return n * unknownEqSel
		}
		return n / c.dom * (1 - c.nulls)
	case plan.Like:
		return likeSel(x)
	case plan.StartsWith:
		return 0.05
	}
	return unknownSel
}

func (s *state) equalSel(x *plan.Call) float64 {
	a, b := s.exprStat(x.Args[0], math.Inf(1)), s.exprStat(x.Args[1], math.Inf(1))
	if c, ok := x.Args[1].(*plan.Const); ok && !c.V.Null {
		if v := position(c.V); a.hasRange && (v < a.lo || v > a.hi) {
			return 0
		}
		if a.dom <= 0 || math.IsInf(a.dom, 1) {
			return unknownEqSel
		}
		return (1 - a.nulls) / a.dom
	}
	d := math.Max(a.dom, b.dom)
	if d <= 0 || math.IsInf(d, 1) {
		return unknownEqSel
	}
	return 1 / d
}

// rangeSel interpolates a comparison with a constant.
func (s *state) rangeSel(x *plan.Call) float64 {
	c, ok := x.Args[1].(*plan.Const)
	if !ok {
		return unknownLtSel
	}
	if c.V.Null {
		return 0
	}
	st := s.exprStat(x.Args[0], math.Inf(1))
	if !st.hasRange {
		return unknownSel
	}
	v := position(c.V)
	width := st.hi - st.lo
	step := 0.0 // what <= has over <
	if st.whole {
		width++
		step = 1
	}
	if width <= 0 {
		if eval.Holds(x.Op, cmpFloat(st.lo, v)) {
			return 1 - st.nulls
		}
		return 0
	}
	below := v - st.lo // values less than v
	var f float64
	switch x.Op {
	case plan.Lt:
		f = below / width
	case plan.Le:
		f = (below + step) / width
	case plan.Gt:
		f = 1 - (below+step)/width
	case plan.Ge:
		f = 1 - below/width
	}
	return math.Min(1, math.Max(f, 0)) * (1 - st.nulls)
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// likeSel guesses from the pattern: the more it spells out, the fewer match.
func likeSel(x *plan.Call) float64 {
	c, ok := x.Args[1].(*plan.Const)
	if !ok {
		return unknownSel
	}
	_, _, n := likeLiteral(c.V.S)
	pieces := 0
	inside := false
	for i := range len(c.V.S) {
		if c.V.S[i] == '%' {
			inside = false
		} else if !inside {
			inside = true
			pieces++
		}
	}
	sel := 0.02
	switch {
	case n <= 2:
		sel = 0.2
	case n <= 4:
		sel = 0.1
	case n <= 8:
		sel = 0.05
	}
	return sel * math.Pow(0.3, math.Max(float64(pieces-1), 0))
}

// dictionarySel evaluates a predicate on the entries of a dictionary: whatever the predicate is, the
// share of distinct values that pass is then known.
func (s *state) dictionarySel(p *plan.Call) (float64, bool) {
	id := singleColumn(p)
	if id == 0 {
		return 0, false
	}
	c := s.stat(id)
	if c.st == nil || c.st.Dict == nil || c.st.DictLen == 0 {
		return 0, false
	}
	n := c.st.DictLen
	if found, ok := dictionaryHits(p, c.st); ok {
		sel := float64(found) / float64(n)
		if p.Op == plan.Ne {
			sel = 1 - sel
		}
		return (1 - c.nulls) * sel, true
	}
	share, known := s.est.shares[p]
	if !known {
		step := max(1, n/maxDictionary)
		passed, tried := evalDictionary(p, c.st, n, step, s.cols.Get(id).Type)
		if share = -1; tried > 0 {
			share = passed / tried
		}
		if s.est.shares == nil {
			s.est.shares = map[*plan.Call]float64{}
		}
		s.est.shares[p] = share
	}
	return (1 - c.nulls) * share, share >= 0
}

// dictionaryHits counts the entries that a comparison of a column with constants names.
func dictionaryHits(p *plan.Call, st *catalog.ColumnStats) (found int, ok bool) {
	if p.Op != plan.Eq && p.Op != plan.Ne && p.Op != plan.InList {
		return 0, false
	}
	if _, isRef := p.Args[0].(*plan.Ref); !isRef {
		return 0, false
	}
	for _, a := range p.Args[1:] {
		c, isConst := a.(*plan.Const)
		if !isConst {
			return 0, false
		}
		if code, hit := st.Dict.Lookup(c.V.S); hit && code < st.DictLen && !c.V.Null {
			found++
		}
	}
	return found, true
}

func evalDictionary(p plan.Expr, st *catalog.ColumnStats, n, step int, t types.Type) (passed, tried float64) {
	v := types.Value{Type: t}
	bind := func(plan.ColID) (types.Value, bool) { return v, true }
	for code := 0; code < n; code += step {
		v.S = st.Dict.String(code)
		r, ok := evaluate(p, bind)
		if !ok {
			return 0, 0
		}
		tried++
		if !r.Null && r.I != 0 {
			passed++
		}
	}
	return passed, tried
}

// narrow notes what a predicate that is true says about its column.
func (s *state) narrow(p plan.Expr, sel float64) {
	x, ok := p.(*plan.Call)
	if !ok {
		return
	}
	id := singleColumn(p)
	if id == 0 {
		return
	}
	c := s.stat(id)
	if x.Op == plan.IsNull {
		return
	}
	c.nulls = 0
	if _, plain := x.Args[0].(*plan.Ref); !plain {
		return
	}
	c.dom = math.Max(1, c.dom*sel)
	k, isConst := x.Args[len(x.Args)-1].(*plan.Const)
	if !isConst || k.V.Null {
		return
	}
	switch v := position(k.V); x.Op {
	case plan.Eq:
		c.dom, c.lo, c.hi, c.hasRange = 1, v, v, true
	case plan.InList:
		c.dom = float64(len(x.Args) - 1)
	case plan.Lt, plan.Le:
		if c.hasRange && v < c.hi {
			if c.hi = v; x.Op == plan.Lt && c.whole {
				c.hi--
			}
		}
	case plan.Gt, plan.Ge:
		if c.hasRange && v > c.lo {
			if c.lo = v; x.Op == plan.Gt && c.whole {
				c.lo++
			}
		}
	}
}
