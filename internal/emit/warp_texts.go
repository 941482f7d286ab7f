package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Texts that lanes make. All of them take their room from one counter, each for many texts at a time, and go on by themselves in that. A lane
// that finds nothing left drops its row; what it would have taken is counted, so that whoever launched the kernel can make more room and
// start again.
//
// What only a comparison looked at is taken back where it ends, by the lane alone. A group that takes in a row keeps one of its texts now
// and then: a new key, or what is less than all before. That may be done by another lane than the one that made the text, so room is taken back
// only where no lane of the warp has kept anything of this row.

// textRoom is the state of a lane's room for texts, in registers of the kernel.
type textRoom struct {
	start, cur, end ir.Reg // addresses: of the room, of what is left of it, and 8 bytes before its end
	takes           ir.Reg // how much is taken at least
}

// texts is where lanes make texts.
func (e *warp) texts() code.TextSpace { return warpTexts{e} }

type warpTexts struct{ *warp }

// textRoom opens the registers when the first text is made.
func (e *warp) textRoom() *textRoom {
	if e.made == nil {
		t := &textRoom{start: e.perKernel("texts", ir.I64, 0), cur: e.perKernel("text.next", ir.I64, 0), end: e.perKernel("text.end", ir.I64, 0), takes: e.perKernel("text.takes", ir.I64, 0)}
		e.insert(e.kernel, func() {
			w := e.LoadWord("takes", code.Word{Kind: code.WordSpaceTakes})
			e.B.Mov(t.takes, w.V())
			e.B.Clear(w)
		})
		e.made = t
	}
	return e.made
}

// Ready: the registers are opened outside of what may be taken back.
func (e warpTexts) Ready() { e.textRoom() }

func (e warpTexts) Room(n ir.Val) ir.Reg {
	m := e.textRoom()
	p, t := e.Int("text"), e.Int("t")
	e.B.Mov(p, m.cur.V())
	e.B.Op2(ir.Add, t, p.V(), n)
	e.When(ir.UGE, t.V(), m.end.V(), func() { // also at the very beginning, when all are 0
		want := e.Int("want")
		e.B.Op2(ir.Add, want, n, ir.K(16+7))
		e.B.Op2(ir.And, want, want.V(), ir.K(^7))
		e.B.Sel(want, ir.LT, want.V(), m.takes.V(), m.takes.V(), want.V())
		e.B.Atom(ir.AtomAdd, p, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordSpace})), want.V(), ir.Val{})
		e.B.Op2(ir.Add, t, p.V(), want.V())
		e.B.Clear(want)
		end := e.LoadWord("end", code.Word{Kind: code.WordSpaceEnd})
		e.When(ir.UGT, t.V(), end.V(), func() {
			e.B.Mov(m.cur, ir.K(0))
			e.B.Mov(m.end, ir.K(0))
			e.B.Mov(m.takes, ir.K(0)) // from now on it counts what it needs
			e.skip(ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Clear(end)
		e.B.Mov(m.start, p.V())
		e.B.Mov(m.cur, p.V())
		e.B.Op2(ir.Sub, m.end, t.V(), ir.K(8))
	}, nil)
	e.B.Clear(t)
	return p
}

func (e warpTexts) Take(end ir.Val) {
	m := e.textRoom()
	e.B.Op2(ir.Add, m.cur, end, ir.K(7))
	e.B.Op2(ir.And, m.cur, m.cur.V(), ir.K(^7))
}

func (e warpTexts) Mark() ir.Reg {
	mark := e.Int("mark")
	e.B.Mov(mark, e.textRoom().cur.V())
	return mark
}

// Drop: if the lane has taken new room since, it is all that can be taken back.
func (e warpTexts) Drop(mark ir.Reg) {
	m := e.textRoom()
	t, n := e.Int("t"), e.Int("n")
	e.B.Op2(ir.Sub, t, mark.V(), m.start.V())
	e.B.Op2(ir.Sub, n, m.cur.V(), m.start.V())
	e.B.Sel(m.cur, ir.ULE, t.V(), n.V(), mark.V(), m.start.V())
	e.B.Clear(t, n)
}

// groupTexts are the texts that a row's keys and aggregates make: where they begin, and whether the lane has kept one.
type groupTexts struct{ mark, kept ir.Reg }

// markKeys: an aggregation without groups keeps its texts in registers, and drops them one by one.
func (e *warp) markKeys(g *plan.Group) ir.Reg {
	makes := false
	for _, x := range g.Keys {
		makes = makes || e.Makes(x, false) || e.Makes(x, true)
	}
	for _, a := range g.Aggs {
		makes = makes || a.Arg != nil && (e.Makes(a.Arg, false) || e.Makes(a.Arg, true))
	}
	if makes && !e.inRegisters(g) {
		e.ofGroup = &groupTexts{mark: e.perRow("mark", ir.I64, 0), kept: e.perRow("kept", ir.I64, 0)}
		e.B.Mov(e.ofGroup.mark, e.textRoom().cur.V())
	}
	return ir.NoReg
}

// dropUnless: a lane that keeps an aggregate in registers knows what it holds. Groups are for all lanes: see dropTexts.
func (e *warp) dropUnless(mark, _ ir.Reg, f *layout.Field, v code.Value) {
	if s := e.shares[f]; e.ofGroup == nil && e.block == nil && s != nil && s.v.Desc.Form == layout.Str {
		e.When(ir.NE, s.v.A, v.A, func() { e.Texts.Drop(mark) }, nil)
	}
}

// keepTexts takes note that a group has got texts of a row.
func (e *warp) keepTexts() {
	if e.ofGroup != nil {
		e.B.Mov(e.ofGroup.kept, ir.K(1))
	}
}

// seeTexts lets the lane see the bytes of a group's keys, of which it has seen the entry. Those of columns are older than the kernel, but a text that
// this kernel makes may share a sector with one that the multiprocessor has in its cache since before it was written: a fence empties that.
func (e *warp) seeTexts(gp *GroupPlan, keys int) {
	if e.made == nil {
		return
	}
	for i := range gp.Tuple.Fields[:keys] {
		if gp.Tuple.Fields[i].Desc.Form == layout.Str {
			e.B.Fence()
			return
		}
	}
}

// dropTexts takes the row's texts back unless a lane of the warp has kept some. All lanes of the warp come here; those without a row have no mark.
func (e *warp) dropTexts() {
	g := e.ofGroup
	if g == nil {
		return
	}
	any := e.ballot("kept", g.kept.V())
	e.When(ir.EQ, any.V(), ir.K(0), func() {
		e.When(ir.NE, e.guard.active.V(), ir.K(0), func() { warpTexts{e}.Drop(g.mark) }, nil)
	}, nil)
	e.B.Clear(any)
}

// inRegisters reports an aggregation whose results lanes keep in registers until they have no rows left.
func (e *warp) inRegisters(g *plan.Group) bool {
	return len(g.Keys) == 0 && e.Resolve == phys.ResolveAuto
}
