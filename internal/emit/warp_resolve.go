package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Other ways for lanes to come together (phys.Resolve), for comparisons: those of HorseQC.

// writeAlone gives every active lane a tuple by an atomic of its own.
func (e *warp) writeAlone(size int, store func(out ir.Reg)) {
	e.B.Comment("write positions of lanes")
	e.When(ir.NE, e.guard.active.V(), ir.K(0), func() {
		out := e.Int("out")
		e.B.Atom(ir.AtomAdd, out, ir.At(ir.Ctx, layout.CtxCur), ir.K(int64(size)), ir.Val{})
		fits := e.fits(out, size)
		e.When(ir.NE, fits.V(), ir.K(0), func() { store(out) }, nil)
		e.B.Clear(fits, out)
	}, nil)
}

// reduceEachRow is the aggregation without groups where nothing is kept in registers between rows.
func (e *warp) reduceEachRow(g *plan.Group, gp *GroupPlan) {
	var shares []*share
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[i]
		shares = append(shares, e.newShare(a, f, gp.Versions[i], false, e.perRow))
		e.aggregate(ir.NoReg, f, a)
	}
	e.arrive(func() {
		tell := func() {
			p := e.Int("result")
			e.B.Load8(p, ir.At(ir.Ctx, layout.CtxState))
			for _, s := range shares {
				e.propagate(p, s)
			}
			e.B.Clear(p)
		}
		active := e.guard.active
		if e.Resolve == phys.ResolveTuple {
			e.When(ir.NE, active.V(), ir.K(0), tell, nil)
			e.dropTexts()
			return
		}
		if e.meets(shares) {
			c := e.crewOfBlock()
			for _, s := range shares {
				e.addUpBlock(c, s)
			}
			e.When(ir.EQ, c.id.V(), ir.K(0), tell, nil)
			e.dropTexts()
			return
		}
		any := e.ballot("rows", active.V())
		e.When(ir.NE, any.V(), ir.K(0), func() {
			for _, s := range shares {
				e.addUpWarp(s)
			}
			e.When(ir.EQ, e.lane.V(), ir.K(0), tell, nil)
		}, nil)
		e.B.Clear(any)
		e.dropTexts()
	})
}

// addToGroupAlone lets every lane add its row to the group by atomics of its own.
func (e *warp) addToGroupAlone(group ir.Reg, shares []*share) {
	e.arrive(func() {
		e.When(ir.NE, e.guard.active.V(), ir.K(0), func() {
			for _, s := range shares {
				if s.all {
					s.v.A = ir.K(1)
				}
				e.propagate(group, s)
			}
		}, nil)
		e.dropTexts()
	})
}
