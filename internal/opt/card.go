package opt

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Defaults where there are no statistics.
const (
	defaultRows     = 1000
	defaultDistinct = 200
	repeats         = 2  // copies of a row
	rounds          = 10 // of a recursion, that bring as many rows as it starts from
)

// colStat is what the optimizer believes about a column. It is kept once per column, not per
// operator: predicates on the column itself narrow it, other predicates and joins only
// reduce the number of rows. So dom stays the size of the domain from which a join key is taken,
// which is what the containment assumption wants.
type colStat struct {
	dom      float64 // distinct values
	lo, hi   float64 // range, when hasRange
	hasRange bool
	whole    bool // values are integers or dates: lo … hi are hi-lo+1 values
	nulls    float64
	base     float64 // rows of the relation where the column comes from, before filters
	unique   bool    // no value twice in that relation
	st       *catalog.ColumnStats
}

// estimator holds the statistics of a query's columns.
type estimator struct {
	cols []colStat
	// shares are the parts of a dictionary for which predicates hold, -1 where they fail. Several passes ask.
	shares map[*plan.Call]float64
}

// stat is the statistics of a column, to read and to change.
func (s *state) stat(id plan.ColID) *colStat {
	if int(id) >= len(s.est.cols) {
		grown := make([]colStat, s.cols.Len()+8)
		copy(grown, s.est.cols)
		s.est.cols = grown
	}
	return &s.est.cols[id]
}

// estimate sets the estimated rows of n and of all operators below that have none yet.
func (s *state) estimate(n plan.Node) float64 {
	p := n.Props()
	if p.Rows > 0 {
		return p.Rows
	}
	rows := s.rows(n)
	if math.IsNaN(rows) || rows < 1 {
		rows = 1
	}
	p.Rows = math.Min(rows, 1e18)
	return p.Rows
}

func (s *state) rows(n plan.Node) float64 {
	switch x := n.(type) {
	case *plan.Scan:
		return s.scanRows(x)
	case *plan.Values:
		for _, id := range x.Cols {
			n := float64(len(x.Rows))
			*s.stat(id) = colStat{dom: math.Max(n, 1), base: n}
		}
		return float64(len(x.Rows))
	case *plan.Series:
		n, first, last := float64(x.N), float64(x.From), float64(x.Last())
		*s.stat(x.Col) = colStat{dom: n, base: n, hasRange: true, lo: min(first, last), hi: max(first, last), unique: true,
			whole: x.Step == 1 || x.Step == -1}
		return n
	case *plan.SharedScan:
		sh := s.q.Shared[x.Index]
		rows := s.estimate(sh.Plan)
		for i, id := range x.Cols {
			*s.stat(id) = *s.stat(x.Source[i])
		}
		return rows
	case *plan.Filter:
		rows := s.estimate(x.Input)
		return rows * s.conjunctionSel(x.Preds)
	case *plan.Project:
		rows := s.estimate(x.Input)
		for i, e := range x.Exprs {
			*s.stat(x.Cols[i]) = s.exprStat(e, rows)
		}
		return rows
	case *plan.Group:
		return s.groupRows(x)
	case *plan.Join:
		l, r := s.estimate(x.Left), s.estimate(x.Right)
		return s.joinRows(x, l, r)
	case *plan.SetOp:
		return s.setRows(x)
	case *plan.Recursive:
		rows := s.estimate(x.Init) * rounds
		s.estimate(x.Step)
		for _, id := range x.Cols {
			*s.stat(id) = colStat{dom: rows, base: rows}
		}
		return rows
	case *plan.WorkScan:
		for _, id := range x.Cols {
			*s.stat(id) = colStat{dom: defaultRows, base: defaultRows}
		}
		return defaultRows
	case *plan.Repeat:
		rows := s.estimate(x.Input) * repeats
		*s.stat(x.Col) = colStat{dom: repeats, base: rows}
		return rows
	case *plan.Window:
		rows := s.estimate(x.Input)
		for i := range x.Funcs {
			*s.stat(x.Funcs[i].Col) = colStat{dom: math.Max(rows, 1), base: rows}
		}
		return rows
	case *plan.Sort:
		rows := math.Max(s.estimate(x.Input)-float64(x.Offset), 0)
		if x.Limit >= 0 {
			rows = math.Min(rows, float64(x.Limit))
		}
		return rows
	}
	return defaultRows
}

func (s *state) scanRows(x *plan.Scan) float64 {
	rows := s.tableRows(x)
	for i, id := range x.Cols {
		*s.stat(id) = scanStat(x, x.Ordinal[i], rows)
	}
	return rows * s.conjunctionSel(x.Filter)
}

func scanStat(x *plan.Scan, ordinal int, rows float64) colStat {
	c := colStat{base: rows, dom: math.Min(math.Max(rows/10, 1), defaultDistinct)}
	if x.Table != nil {
		list, _ := keysOf(x)
		for _, k := range list {
			if len(k) == 1 && k[0] == ordinal {
				c.unique, c.dom = true, math.Max(rows, 1)
			}
		}
		if ordinal < len(x.Table.Columns) {
			t := x.Table.Columns[ordinal].Type
			c.whole = t.IsInteger() || t.Kind == types.Date
		}
	}
	if x.Snap == nil || ordinal >= len(x.Snap.Stats) {
		return c
	}
	st := &x.Snap.Stats[ordinal]
	c.st = st
	if rows > 0 {
		c.nulls = float64(st.NullCount) / rows
	}
	if st.Distinct > 0 && !c.unique {
		c.dom = math.Min(st.Distinct, math.Max(rows, 1))
	}
	if st.HasRange {
		c.lo, c.hi, c.hasRange = position(st.Min), position(st.Max), true
		if c.whole {
			c.dom = math.Min(c.dom, c.hi-c.lo+1)
		}
	}
	return c
}

// position maps a value to the line on which ranges are interpolated.
func position(v types.Value) float64 {
	switch v.Type.Kind {
	case types.Text, types.Bytes, types.UUID, types.List, types.JSON, types.Struct, types.Map:
		f := 0.0
		for i := range 7 { // 56 bits: what a double holds, nearly
			f *= 256
			if i < len(v.S) {
				f += float64(v.S[i])
			}
		}
		return f
	case types.Bool, types.Date, types.Timestamp, types.TimestampTZ, types.Time, types.TimeTZ, types.Enum:
		return float64(v.I)
	case types.Interval:
		m, d, us := v.IntervalParts()
		return float64(m)*30*86400e6 + float64(d)*86400e6 + float64(us)
	}
	return v.Float()
}

// distinctIn is how many of dom values occur among rows that are drawn at random.
func distinctIn(dom, rows float64) float64 {
	if dom <= 1 || rows <= 0 {
		return math.Min(math.Max(dom, 1), math.Max(rows, 1))
	}
	return math.Max(dom*-math.Expm1(-rows/dom), 1)
}

// exprStat guesses the statistics of a computed column.
func (s *state) exprStat(e plan.Expr, rows float64) colStat {
	switch x := e.(type) {
	case *plan.Ref:
		return *s.stat(x.ID)
	case *plan.Const:
		c := colStat{dom: 1, base: rows}
		if x.V.Null {
			c.nulls = 1
		} else if x.V.Type.Kind != types.Unknown {
			c.lo, c.hasRange = position(x.V), true
			c.hi = c.lo
		}
		return c
	case *plan.Call:
		switch {
		case x.Op == plan.Cast && (x.T.IsNumeric() == x.Args[0].Type().IsNumeric()):
			c := s.exprStat(x.Args[0], rows)
			c.st = nil
			return c
		case x.Op == plan.Extract:
			return s.extractStat(x, rows)
		case x.T.Kind == types.Bool:
			return colStat{dom: 2, base: rows}
		case x.Op == plan.Mod:
			if d := s.exprStat(x.Args[1], rows); d.hasRange && d.lo == d.hi && d.lo != 0 { // as many remainders as the divisor says, of one sign mostly
				c := s.exprStat(x.Args[0], rows)
				return colStat{dom: math.Max(math.Min(c.dom, math.Abs(d.lo)), 1), base: rows, nulls: c.nulls}
			}
		case x.Op == plan.Substring, x.Op == plan.LeftStr:
			c := s.exprStat(x.Args[0], rows)
			return colStat{dom: math.Min(c.dom, 40), base: rows, nulls: c.nulls}
		}
		// At most one value per combination of inputs.
		dom := 1.0
		for id := range plan.Refs(e).All {
			dom *= math.Max(s.stat(id).dom, 1)
		}
		return colStat{dom: math.Min(dom, math.Max(rows, 1)), base: rows}
	}
	return colStat{dom: math.Max(rows, 1), base: rows}
}

// extractStat knows how many values a date's field can have.
func (s *state) extractStat(x *plan.Call, rows float64) colStat {
	in := s.exprStat(x.Args[1], rows)
	c := colStat{dom: 60, base: rows, nulls: in.nulls}
	f, ok := x.Args[0].(*plan.Const)
	if !ok {
		return c
	}
	switch f.V.S {
	case "month":
		c.dom, c.lo, c.hi, c.hasRange, c.whole = 12, 1, 12, true, true
	case "day":
		c.dom, c.lo, c.hi, c.hasRange, c.whole = 31, 1, 31, true, true
	case "quarter":
		c.dom, c.lo, c.hi, c.hasRange, c.whole = 4, 1, 4, true, true
	case "year":
		if !in.hasRange {
			break
		}
		unit := 365.25
		if x.Args[1].Type().Kind == types.Timestamp {
			unit *= 86400e6
		}
		c.lo, c.hi = 1970+math.Floor(in.lo/unit), 1970+math.Floor(in.hi/unit)
		c.hasRange, c.whole = true, true
		c.dom = c.hi - c.lo + 1
	}
	return c
}

func (s *state) setRows(x *plan.SetOp) float64 {
	total := 0.0
	for _, a := range x.Args {
		total += s.estimate(a)
	}
	for k, id := range x.Cols {
		c := colStat{}
		for i := range x.Args {
			in := s.stat(x.InCols[i][k])
			c.dom = math.Max(c.dom, in.dom)
		}
		c.base = total
		*s.stat(id) = c
	}
	return total
}

// groupRows is the number of groups, and what is known of the aggregates.
func (s *state) groupRows(x *plan.Group) float64 {
	rows := s.estimate(x.Input)
	groups := 1.0
	// Keys are rarely independent: each further one counts less.
	n := 0
	for i, k := range x.Keys {
		c := s.exprStat(k, rows)
		d := distinctIn(c.dom, rows)
		if c.nulls > 0 {
			d++
		}
		if n++; n > 2 {
			d = math.Pow(d, 0.8)
		}
		groups *= d
		*s.stat(x.KeyCols[i]) = c
	}
	groups = math.Max(1, math.Min(groups, rows))
	size := rows / groups
	for _, id := range x.KeyCols {
		c := s.stat(id)
		c.base = groups
		c.unique = len(x.KeyCols) == 1
	}
	for _, a := range x.Aggs {
		*s.stat(a.Col) = s.aggStat(a, groups, size)
	}
	return groups
}

// aggStat guesses ranges of aggregates, so that HAVING can be estimated: sums of size values
// rarely exceed twice their mean.
func (s *state) aggStat(a plan.Agg, groups, size float64) colStat {
	c := colStat{dom: groups, base: groups}
	switch a.Func {
	case plan.CountStar, plan.Count:
		c.lo, c.hi, c.hasRange = 0, math.Max(2*size, 2), true
		c.dom = math.Min(groups, c.hi)
		c.whole = true
	case plan.Sum:
		if in := s.exprStat(a.Arg, groups*size); in.hasRange {
			mean := (in.lo + in.hi) / 2
			c.lo, c.hi, c.hasRange = math.Min(0, 2*size*mean), math.Max(2*size*mean, 0), true
		}
	case plan.Min, plan.Max, plan.AnyValue, plan.Avg:
		in := s.exprStat(a.Arg, groups*size)
		c.lo, c.hi, c.hasRange = in.lo, in.hi, in.hasRange
		if a.Func != plan.Avg {
			c.dom = math.Min(in.dom, groups)
			c.whole = in.whole
		}
	}
	return c
}
