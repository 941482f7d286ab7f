package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Room for tuples. All warps take it from one counter of the sink: as much as their lanes want at the moment, or, where many tuples come, for several
// tuples at a time, since the counter is what holds them up then.

// position opens a register with this lane's place in the sink's space for tuples: local
// resolution by counting the lanes below, global propagation by one atomic of the first lane.
// all is the mask of lanes that want one; the others get an address that they must not use.
func (e *warp) position(all ir.Reg, size int) ir.Reg {
	out, first, n := e.Int("out"), e.Int("first"), e.Int("n")
	e.B.Op1(ir.Ctz, first, all.V())
	e.B.Mov(out, ir.K(0))
	e.When(ir.EQ, e.lane.V(), first.V(), func() {
		e.B.Op1(ir.Popcnt, n, all.V())
		e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
		e.B.Atom(ir.AtomAdd, out, ir.At(ir.Ctx, layout.CtxCur), n.V(), ir.Val{})
	}, nil)
	e.B.Op2(ir.Shfl, out, out.V(), first.V())
	e.B.Op2(ir.And, n, all.V(), e.below.V())
	e.B.Op1(ir.Popcnt, n, n.V())
	e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(size)))
	e.B.Op2(ir.Add, out, out.V(), n.V())
	e.B.Clear(first, n)
	return out
}

// room is what a warp has taken at a time; registers are the same in all lanes.
type room struct {
	next, end ir.Reg // addresses
	size      int
	takes     int64 // tuples
}

// room is what is known of the room that warps take.
func (e *warp) room() phys.Room {
	return phys.Room{Off: e.Off.WarpRoom || e.Resolve != phys.ResolveAuto, Own: e.Takes}
}

// newRoom opens the registers of room for so many tuples.
func (e *warp) newRoom(size int, takes int64) *room {
	return &room{e.perKernel("next", ir.I64, 0), e.perKernel("room", ir.I64, 0), size, takes}
}

// ownRoom is the warp's room for tuples of which so many are expected; nil: it has none.
func (e *warp) ownRoom(size int, rows int64) (own *room) {
	if n := e.room().Takes(rows); n > 0 {
		own = e.newRoom(size, n)
		before := e.finally
		e.finally = func() {
			if before != nil {
				before()
			}
			e.noteGap(own)
		}
	}
	return own
}

// positionOf is position in room r, if there is one.
func (e *warp) positionOf(r *room, all ir.Reg, size int) ir.Reg {
	if r != nil {
		return e.positionIn(r, all)
	}
	return e.position(all, size)
}

// positionIn is position in room: first in what is left of it, then in more.
func (e *warp) positionIn(r *room, all ir.Reg) ir.Reg {
	out, left, n, bytes := e.Int("out"), e.Int("left"), e.Int("n"), ir.K(r.takes*int64(r.size))
	e.B.Op2(ir.And, out, all.V(), e.below.V())
	e.B.Op1(ir.Popcnt, out, out.V())
	e.B.Op2(ir.Mul, out, out.V(), ir.K(int64(r.size))) // from next on
	e.B.Op1(ir.Popcnt, n, all.V())
	e.B.Op2(ir.Mul, n, n.V(), ir.K(int64(r.size)))
	e.B.Op2(ir.Sub, left, r.end.V(), r.next.V())
	e.When(ir.LE, n.V(), left.V(), func() {
		e.B.Op2(ir.Add, out, out.V(), r.next.V())
		e.B.Op2(ir.Add, r.next, r.next.V(), n.V())
	}, func() {
		more := e.Int("more")
		e.B.Mov(more, ir.K(0))
		e.When(ir.EQ, e.lane.V(), ir.K(0), func() { e.B.Atom(ir.AtomAdd, more, ir.At(ir.Ctx, layout.CtxCur), bytes, ir.Val{}) }, nil)
		e.B.Op2(ir.Shfl, more, more.V(), ir.K(0))
		e.B.Op2(ir.Add, r.end, more.V(), bytes)
		// Who does not find room in what is left goes on in the new.
		e.B.Op2(ir.Sub, more, more.V(), left.V())
		e.B.Sel(r.next, ir.LT, out.V(), left.V(), r.next.V(), more.V())
		e.B.Op2(ir.Add, out, out.V(), r.next.V())
		e.B.Op2(ir.Add, r.next, more.V(), n.V())
		e.B.Clear(more)
	})
	e.B.Clear(left, n)
	return out
}

// tuplePlaces are where some tuples of a warp go: the first are what is left of its room, if it has some.
type tuplePlaces struct {
	first, then ir.Reg // addresses to which those before and behind left add how far they lie behind the first of all
	left        ir.Reg // bytes; NoReg: all lie behind
}

// takePlaces takes room for tuples of n bytes in all, which all lanes know: from the warp's own, if there is one, first what is left of it, then more. If rest is not nil it
// opens a register with the bytes that the warp is expected to want after that, in which case it takes no more.
func (e *warp) takePlaces(own *room, n ir.Reg, rest func() ir.Reg) tuplePlaces {
	take := func(bytes ir.Val) ir.Reg {
		more := e.Int("more")
		e.B.Mov(more, ir.K(0))
		e.When(ir.EQ, e.lane.V(), ir.K(0), func() { e.B.Atom(ir.AtomAdd, more, ir.At(ir.Ctx, layout.CtxCur), bytes, ir.Val{}) }, nil)
		e.B.Op2(ir.Shfl, more, more.V(), ir.K(0))
		return more
	}
	if own == nil {
		return tuplePlaces{first: ir.NoReg, then: take(n.V()), left: ir.NoReg}
	}
	p := tuplePlaces{e.Int("first"), e.Int("then"), e.Int("left")}
	e.B.Mov(p.first, own.next.V())
	e.B.Mov(p.then, own.next.V())
	e.B.Op2(ir.Sub, p.left, own.end.V(), own.next.V())
	e.B.Op2(ir.Add, own.next, own.next.V(), n.V())
	e.When(ir.GT, n.V(), p.left.V(), func() {
		bytes, least := e.Int("bytes"), ir.K(own.takes*int64(own.size))
		e.B.Op2(ir.Sub, bytes, n.V(), p.left.V())
		if rest == nil {
			e.B.Sel(bytes, ir.LT, bytes.V(), least, least, bytes.V())
		} else {
			later := rest()
			e.B.Op2(ir.Add, later, later.V(), bytes.V())
			e.B.Sel(later, ir.LT, later.V(), least, later.V(), least)
			e.B.Sel(bytes, ir.LT, bytes.V(), later.V(), later.V(), bytes.V())
			e.B.Clear(later)
		}
		more := take(bytes.V())
		e.B.Op2(ir.Add, own.end, more.V(), bytes.V())
		e.B.Op2(ir.Sub, p.then, more.V(), p.left.V())
		e.B.Op2(ir.Add, own.next, p.then.V(), n.V())
		e.B.Clear(bytes, more)
	}, nil)
	return p
}

// place opens a register with the place of a tuple that lies so far behind the first.
func (p tuplePlaces) place(e *warp, at ir.Reg) ir.Reg {
	out := e.Int("out")
	if p.left == ir.NoReg {
		e.B.Op2(ir.Add, out, at.V(), p.then.V())
		return out
	}
	e.B.Sel(out, ir.LT, at.V(), p.left.V(), p.first.V(), p.then.V())
	e.B.Op2(ir.Add, out, out.V(), at.V())
	return out
}

// close ends the use of registers.
func (p tuplePlaces) close(e *warp) {
	e.B.Clear(p.then)
	if p.left != ir.NoReg {
		e.B.Clear(p.first, p.left)
	}
}

// noteGap tells the sink what is left of room in the end.
func (e *warp) noteGap(r *room) {
	e.When(ir.EQ, e.lane.V(), ir.K(0), func() {
		e.When(ir.NE, r.next.V(), r.end.V(), func() { e.noteUnused(r.next, r.end) }, nil)
	}, nil)
}

// noteUnused lets the lane tell the sink that nobody uses the tuples between two addresses.
func (e *warp) noteUnused(from, to ir.Reg) {
	bytes, at, gaps := e.Int("bytes"), e.Int("at"), e.Int("gaps")
	e.B.Op2(ir.Sub, bytes, to.V(), from.V())
	e.B.Op2(ir.Add, bytes, bytes.V(), ir.K(layout.GapUnit))
	e.B.Atom(ir.AtomAdd, at, ir.At(ir.Ctx, layout.CtxGapCount), bytes.V(), ir.Val{})
	e.B.Op2(ir.Shr, at, at.V(), ir.K(40))
	e.B.Op2(ir.Shl, at, at.V(), ir.K(4))
	e.B.Load8(gaps, ir.At(ir.Ctx, layout.CtxGaps))
	e.B.Op2(ir.Add, at, at.V(), gaps.V())
	e.B.Store(ir.At(at, 0), from.V(), 8)
	e.B.Store(ir.At(at, 8), to.V(), 8)
	e.B.Clear(bytes, at, gaps)
}

// writeTogether gives every active lane a tuple of the sink's and lets store fill it. r is the warp's room; nil: it has none.
func (e *warp) writeTogether(size int, r *room, store func(out ir.Reg)) {
	if e.Resolve == phys.ResolveTuple {
		e.writeAlone(size, store)
		return
	}
	if e.meets(nil) {
		e.writeByBlock(size, store)
		return
	}
	e.B.Comment("write positions of the warp")
	active := e.guard.active
	all := e.ballot("writers", active.V())
	e.When(ir.NE, all.V(), ir.K(0), func() {
		e.fill(active, e.positionOf(r, all, size), size, store)
	}, nil)
	e.B.Clear(all)
}

// fill lets an active lane store its tuple at its place, if that lies within the sink's space. out is used up.
func (e *warp) fill(active, out ir.Reg, size int, store func(out ir.Reg)) {
	e.When(ir.NE, active.V(), ir.K(0), func() {
		fits := e.fits(out, size)
		e.When(ir.NE, fits.V(), ir.K(0), func() {
			from := e.here()
			store(out)
			if e.guard == nil { // after the last row
				return
			}
			if t := e.guard.tuples; t != nil {
				t.out, t.from, t.to = out, from, e.here()
			}
		}, nil)
		e.B.Clear(fits)
	}, nil)
	e.B.Clear(out)
}
