package emit

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Sums of products of distances from means (plan.Spread), by the method of Youngs and Cramer: each row corrects them by its distance from the
// mean so far, so that nothing cancels out. Go's folds round likewise (funcs.pairSums), to the last bit where rows come in the same order.

// spread is a count, sums of columns and sums of products of their distances, of the same rows. They are kept up to date together.
type spread struct {
	filter   plan.Expr
	count    int // these are places among the aggregates
	sums     []int
	columns  []plan.Expr // what sums are of
	products []spreadProduct
}

// spreadProduct is of two columns, or of one with itself; alone: nothing else is known of the rows, and it is rounded as PostgreSQL does then.
type spreadProduct struct {
	agg, x, y int
	alone     bool
}

// spreadsOf are those of a group, and which aggregates are in one.
func spreadsOf(g *plan.Group) (out []*spread, done []bool) {
	done = make([]bool, len(g.Aggs))
	for i := range g.Aggs {
		a := &g.Aggs[i]
		if a.Func != plan.Spread {
			continue
		}
		parts, ok := g.SpreadParts(a)
		if !ok {
			panic("a spread without its sums")
		}
		k := slices.IndexFunc(out, func(s *spread) bool { return s.count == parts[0] })
		if k < 0 {
			k = len(out)
			out = append(out, &spread{filter: a.Filter, count: parts[0]})
		}
		s := out[k]
		for j, agg := range parts[1:] {
			if !slices.Contains(s.sums, agg) {
				s.sums, s.columns = append(s.sums, agg), append(s.columns, a.Args()[j])
			}
		}
		x, y := slices.Index(s.sums, parts[1]), slices.Index(s.sums, parts[len(parts)-1])
		s.products = append(s.products, spreadProduct{agg: i, x: x, y: y, alone: len(parts) == 2})
		done[i], done[parts[0]] = true, true
		for _, agg := range parts[1:] {
			done[agg] = true
		}
	}
	return out, done
}

// addToSpread adds the row to the sums in fields of the group at p.
func (e *rowLoop) addToSpread(p ir.Reg, fields []layout.Field, s *spread) {
	if s.filter == nil {
		e.addToSpreadAlways(p, fields, s)
		return
	}
	c := e.Eval(s.filter)
	e.When(ir.NE, c.A, ir.K(0), func() { e.addToSpreadAlways(p, fields, s) }, nil)
	e.Free(c)
}

func (e *rowLoop) addToSpreadAlways(p ir.Reg, fields []layout.Field, s *spread) {
	rows, before, n := e.Int("rows"), e.Int("before"), e.Float("n")
	count := ir.At(p, fields[s.count].Off)
	e.B.Load8(rows, count)
	e.B.Sel(before, ir.EQ, rows.V(), ir.K(0), ir.K(1), rows.V()) // the first row has no distance from itself
	e.B.Op2(ir.Add, rows, rows.V(), ir.K(1))
	e.B.Store(count, rows.V(), 8)
	e.B.Op1(ir.I2F, n, rows.V())
	area, scale := e.Float("area"), e.Float("scale")
	e.B.Op1(ir.I2F, area, before.V())
	e.B.Op2(ir.FMul, area, n.V(), area.V())
	e.B.Clear(rows, before)
	added := make([]spreadSum, len(s.sums))
	values := make([]code.Value, len(s.sums))
	for i, agg := range s.sums {
		values[i] = e.Eval(s.columns[i])
		x, d := values[i].A.R, e.Float("distance")
		sum := e.Float(fields[agg].Name)
		e.B.FLoad(sum, ir.At(p, fields[agg].Off), 8)
		e.B.Op2(ir.FAdd, sum, sum.V(), x.V())
		e.B.Op2(ir.FMul, d, x.V(), n.V())
		e.B.Op2(ir.FSub, d, d.V(), sum.V())
		added[i] = spreadSum{sum: sum, x: x, distance: d}
	}
	e.B.Clear(n)
	if slices.ContainsFunc(s.products, func(m spreadProduct) bool { return !m.alone }) {
		e.B.FConst(scale, int64(math.Float64bits(1)))
		e.B.Op2(ir.FDiv, scale, scale.V(), area.V())
	}
	e.addProducts(p, fields, s, added, func(m spreadProduct, sum, part ir.Reg) {
		if m.alone {
			e.B.Op2(ir.FDiv, part, part.V(), area.V())
		} else {
			e.B.Op2(ir.FMul, part, part.V(), scale.V())
		}
		e.B.Op2(ir.FAdd, sum, sum.V(), part.V())
	})
	e.B.Clear(area, scale)
	e.Free(values...)
}

// spreadSum is the new sum of a column, of which the old one is still in the group; x is what was added to that, and how far it is from the mean.
type spreadSum struct{ sum, x, distance ir.Reg }

// addProducts adds what add makes of the product of two distances to the sums of products in the group at p, and stores the sums of columns, which are used
// up.
func (e *rowLoop) addProducts(p ir.Reg, fields []layout.Field, s *spread, added []spreadSum, add func(m spreadProduct, sum, part ir.Reg)) {
	all := e.Float("all")
	e.B.FMov(all, added[0].sum)
	for _, x := range added[1:] {
		e.B.Op2(ir.FAdd, all, all.V(), x.sum.V())
	}
	for _, m := range s.products {
		f := &fields[m.agg]
		sum, part := e.Float(f.Name), e.Float("part")
		e.B.FLoad(sum, ir.At(p, f.Off), 8)
		e.B.Op2(ir.FMul, part, added[m.x].distance.V(), added[m.y].distance.V())
		add(m, sum, part)
		e.B.FStore(ir.At(p, f.Off), sum, 8)
		e.B.Op2(ir.FAdd, all, all.V(), sum.V())
		e.B.Clear(sum, part)
	}
	// One comparison tells nearly all rows that nothing is wrong with them.
	e.NotFinite(all, func() {
		for i, x := range added {
			old := e.Float("old")
			e.B.FLoad(old, ir.At(p, fields[s.sums[i]].Off), 8)
			e.FailIfInfinite(e.exit, x.sum, old, x.x)
			e.B.Clear(old)
		}
		for _, m := range s.products { // of numbers: there is no distance from infinity, and where one was these are NaN
			sum := e.Float("sum")
			e.B.FLoad(sum, ir.At(p, fields[m.agg].Off), 8)
			e.FailIfInfinite(e.exit, sum)
			e.B.Clear(sum)
		}
	})
	e.B.Clear(all)
	for i, x := range added {
		f := &fields[s.sums[i]]
		e.B.FStore(ir.At(p, f.Off), x.sum, 8)
		if f.Null >= 0 {
			e.B.Store(ir.At(p, f.Null), ir.K(0), 1)
		}
		e.B.Clear(x.sum, x.distance)
	}
}

// joinSpreads adds the sums of other rows, which are at src, to those of the group at p, by the distance of the two means (T. Chan, G. Golub and
// R. LeVeque), so that nothing cancels out here either.
func (e *rowLoop) joinSpreads(p, src ir.Reg, fields, from []layout.Field, s *spread) {
	here, there := e.Int("rows"), e.Int("more")
	e.loadWordOf(there, src, &from[s.count])
	e.B.Load8(here, ir.At(p, fields[s.count].Off))
	e.When(ir.NE, there.V(), ir.K(0), func() {
		e.When(ir.EQ, here.V(), ir.K(0), func() { e.copySpread(p, src, fields, from, s) }, func() { e.joinBoth(p, src, here, there, fields, from, s) })
		e.B.Op2(ir.Add, here, here.V(), there.V())
		e.B.Store(ir.At(p, fields[s.count].Off), here.V(), 8)
	}, nil)
	e.B.Clear(here, there)
}

// copySpread takes the sums of a group that has no rows from src.
func (e *rowLoop) copySpread(p, src ir.Reg, fields, from []layout.Field, s *spread) {
	aggs := slices.Clone(s.sums)
	for _, m := range s.products {
		aggs = append(aggs, m.agg)
	}
	for _, agg := range aggs {
		x, f := e.Float("sum"), &fields[agg]
		e.B.FLoad(x, ir.At(src, from[agg].Off), 8)
		e.B.FStore(ir.At(p, f.Off), x, 8)
		if f.Null >= 0 {
			e.B.Store(ir.At(p, f.Null), ir.K(0), 1)
		}
		e.B.Clear(x)
	}
}

func (e *rowLoop) joinBoth(p, src, here, there ir.Reg, fields, from []layout.Field, s *spread) {
	n, m, area, scale := e.Float("n"), e.Float("m"), e.Float("area"), e.Float("scale")
	e.B.Op1(ir.I2F, n, here.V())
	e.B.Op1(ir.I2F, m, there.V())
	e.B.Op2(ir.FMul, area, n.V(), m.V())
	e.B.Op2(ir.FAdd, scale, n.V(), m.V())
	e.B.Op2(ir.FDiv, scale, area.V(), scale.V())
	added := make([]spreadSum, len(s.sums))
	for i, agg := range s.sums {
		x, sum, d, other := e.Float("x"), e.Float("sum"), e.Float("distance"), e.Float("other")
		e.B.FLoad(sum, ir.At(p, fields[agg].Off), 8)
		e.B.FLoad(x, ir.At(src, from[agg].Off), 8)
		// Means have been rounded, and of large ones that lie close together little more than that is left. Products of sums and numbers of rows are mostly exact.
		e.B.Op2(ir.FMul, d, sum.V(), m.V())
		e.B.Op2(ir.FMul, other, x.V(), n.V())
		e.B.Op2(ir.FSub, d, d.V(), other.V())
		e.B.Op2(ir.FDiv, d, d.V(), area.V())
		e.NotFinite(d, func() { // or too large
			e.B.Op2(ir.FDiv, d, sum.V(), n.V())
			e.B.Op2(ir.FDiv, other, x.V(), m.V())
			e.B.Op2(ir.FSub, d, d.V(), other.V())
		})
		e.B.Op2(ir.FAdd, sum, sum.V(), x.V())
		e.B.Clear(other)
		added[i] = spreadSum{sum: sum, x: x, distance: d}
	}
	e.B.Clear(n, m, area)
	e.addProducts(p, fields, s, added, func(m spreadProduct, sum, part ir.Reg) {
		more := e.Float("more")
		e.B.FLoad(more, ir.At(src, from[m.agg].Off), 8)
		e.B.Op2(ir.FAdd, sum, sum.V(), more.V())
		e.B.Op2(ir.FMul, part, part.V(), scale.V())
		e.B.Op2(ir.FAdd, sum, sum.V(), part.V())
		e.B.Clear(more)
	})
	e.B.Clear(scale)
	for _, x := range added {
		e.B.Clear(x.x)
	}
}
