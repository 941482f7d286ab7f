package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Groups of a small array may live near those who change them (phys.Home): in tables of threads or of lanes, which need no atomics. When there are no
// rows left, warps add up what their lanes have, and tell the array of all.

// ownGroups are such groups. Where they live takes values of the row's slot.
type ownGroups struct {
	gp   *GroupPlan
	aggs []ownAgg
	rows int    // which of them counts the rows of a group: a group without rows is none
	slot ir.Reg // the number of the row's
	take func(k int, v code.Value)
	// find comes when the row's slot is known, done when all values were taken, and together for all lanes of the warp; nil: nothing does.
	find, done, together func()
}

// ownAgg is an aggregate. untold: it is kept, but nobody asked for it.
type ownAgg struct {
	a      plan.Agg
	f      *layout.Field
	untold bool
}

// settleGroups decides where groups live, and adds the row where that is not device memory alone. It is nil, or how blocks keep them: all of them, or a cache
// of some, to which the row has not come yet.
func (e *warp) settleGroups(g *plan.Group, gp *GroupPlan, keys []code.Value) *blockGroups {
	own := ownGroupsOf(g, gp)
	b := e.blockArray(g, gp)
	if b == nil {
		b = e.blockCache(g, gp)
	}
	facts := phys.Grouped{Block: b != nil, Apart: e.Off.BlockGroups || e.Resolve != phys.ResolveAuto}
	if gp.Mode == phys.ArrayGroups {
		facts.Slots = gp.Slots
	}
	if own != nil {
		facts.Words = own.words()
	}
	e.f.How.Home = phys.ChooseHome(e.Home, facts)
	switch e.f.How.Home.Home {
	case phys.HomeGlobal:
		return nil
	case phys.HomeBlock:
		if b.cached {
			e.openCache(b)
		} else {
			e.addToBlock(b, keys)
		}
		return b
	}
	e.addToOwn(own, keys)
	return nil
}

// ownGroupsOf is what a table of a thread or a lane has of groups; nil: some aggregate is more than numbers.
func ownGroupsOf(g *plan.Group, gp *GroupPlan) *ownGroups {
	o := &ownGroups{gp: gp, rows: -1, slot: ir.NoReg}
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		if firstOnly(a, f) || a.Func == plan.AnyValue || gp.Versions[i] > 0 {
			return nil
		}
		if a.Func == plan.CountStar && a.Filter == nil {
			o.rows = i
		}
		o.aggs = append(o.aggs, ownAgg{a: a, f: f})
	}
	if o.rows < 0 {
		o.rows = len(o.aggs)
		f := &layout.Field{Name: "rows", Null: -1, Desc: layout.Desc{Type: types.TInt64, Form: layout.I64, Range: layout.Between(0, 1<<62)}}
		o.aggs = append(o.aggs, ownAgg{plan.Agg{Func: plan.CountStar}, f, true})
	}
	return o
}

// words are how many of 8 bytes a group needs.
func (o *ownGroups) words() (n int64) {
	for _, x := range o.aggs {
		n += int64(x.words())
	}
	return n
}

func (x *ownAgg) words() int {
	n := x.f.Desc.Form.Words()
	if x.f.Null >= 0 {
		n++
	}
	return n
}

// shares opens the registers of all aggregates of a group.
func (e *warp) ownShares(o *ownGroups, open func(name string, t ir.Type, init int64) ir.Reg) (out []*share) {
	for _, x := range o.aggs {
		out = append(out, e.newShare(x.a, x.f, 0, false, open))
	}
	return out
}

// addToOwn adds the row to its group where that lives.
func (e *warp) addToOwn(o *ownGroups, keys []code.Value) {
	e.own = o
	switch e.f.How.Home.Home {
	case phys.HomeRegisters:
		e.ownInRegisters(o)
	case phys.HomeLanes:
		e.ownInLanes(o)
	default:
		e.ownInTables(o)
	}
	if o.slot == ir.NoReg {
		o.slot = e.Int("slot")
		defer e.B.Clear(o.slot)
	}
	e.arrayIndex(o.slot, o.gp, keys)
	if o.find != nil {
		o.find()
	}
	for k, x := range o.aggs {
		if x.untold {
			o.take(k, e.Constant(types.IntValue(types.TInt64, 1)))
		} else {
			e.aggregate(ir.NoReg, x.f, x.a)
		}
	}
	if o.done != nil {
		o.done()
	}
	e.arrive(o.together)
}

// takeOwn takes a value of the row into the aggregate of a field.
func (o *ownGroups) takeOwn(f *layout.Field, v code.Value) {
	o.take(slices.IndexFunc(o.aggs, func(x ownAgg) bool { return x.f == f }), v)
}

// tellOwn adds what lanes have of a slot's group to that of all.
func (e *warp) tellOwn(o *ownGroups, slot, base ir.Reg, shares []*share) {
	p := e.Int("group")
	e.slotGroup(p, o.gp, slot, base)
	e.makeSlot(p, o.gp, slot)
	for k, s := range shares {
		if !o.aggs[k].untold {
			e.propagate(p, s)
		}
	}
	e.B.Clear(p)
}

// addUpOwn adds up what the lanes of the warp have of a slot's group, if one of them has rows, and lets the first tell it.
func (e *warp) addUpOwn(o *ownGroups, slot, base ir.Reg, shares []*share) {
	any := e.ballot("any", shares[o.rows].v.A)
	e.When(ir.NE, any.V(), ir.K(0), func() {
		for _, s := range shares {
			e.addUpWarp(s)
		}
		e.When(ir.EQ, e.lane.V(), ir.K(0), func() { e.tellOwn(o, slot, base, shares) }, nil)
	}, nil)
	e.B.Clear(any)
}
