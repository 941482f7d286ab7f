package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// The least and the greatest of values of two words: texts, intervals and wide decimals. No atomic operation replaces two words
// together, so a version stands beside them in the group: 0 says that there is no value yet, an odd number that somebody is
// writing one, and it never comes back to what it was. Who has found the same even version before and after reading has read the
// words of one value. Who replaces that value makes the version odd first, which only one can do, and only if nobody else has
// replaced it since. So most rows, which bring nothing better, write nothing.
//
// Fences hold the order of it: a version is read before the words and after them, and becomes odd before they change
// and even after that. A fence also empties the cache of a multiprocessor, so reading texts of columns does without: the address of each load depends on what the
// load before it has brought. Waiting for another is only waiting for its two stores: lanes that hold a version are in
// different groups if they are of one warp, and warps of a device that have begun go on.

// foldWide takes a value into a lane's share if it is better, or the first. v stays the caller's.
func (e *warp) foldWide(s *share, v code.Value) {
	run := func() {
		take := e.Int("take")
		e.B.Mov(take, ir.K(1))
		e.When(ir.EQ, s.v.Null, ir.K(0), func() {
			better := e.Compare(s.better(), v.Borrowed().WithNull(ir.K(0), false), s.v.Borrowed().WithNull(ir.K(0), false))
			e.B.Mov(take, better.V())
			e.B.Clear(better)
		}, nil)
		e.When(ir.NE, take.V(), ir.K(0), func() {
			e.B.Mov(s.v.A.R, v.A)
			e.B.Mov(s.v.B.R, v.B)
			e.B.Mov(s.v.Null.R, ir.K(0))
		}, nil)
		e.B.Clear(take)
	}
	if v.Never() {
		run()
	} else {
		e.When(ir.EQ, v.Null, ir.K(0), run, nil)
	}
}

// readWide opens a value with the words of the group at p, read after its version was seen, and sets now to the version after that.
func (e *warp) readWide(p ir.Reg, s *share, seen, now ir.Reg) code.Value {
	f := *s.f
	f.Null = -1
	if f.Desc.Form != layout.Str || e.made != nil { // see seeTexts
		e.B.Fence()
		cur := e.loadField(p, &f, ir.K(0))
		e.B.Fence()
		e.B.LoadAs(ir.Relaxed, now, ir.At(p, s.version), 8, false)
		return cur
	}
	// The top bit of a version, of an address and of a length is 0, which nobody else knows.
	at := e.Int("at")
	e.B.Op2(ir.Shr, at, seen.V(), ir.K(63))
	e.B.Op2(ir.Add, at, at.V(), p.V())
	from := len(e.B.F.Code)
	cur := e.loadField(at, &f, ir.K(0))
	e.relax(from, at)
	e.B.Op2(ir.Or, now, cur.A, cur.B)
	e.B.Op2(ir.Shr, now, now.V(), ir.K(63))
	e.B.Op2(ir.Add, at, now.V(), p.V())
	e.B.LoadAs(ir.Relaxed, now, ir.At(at, s.version), 8, false)
	e.B.Clear(at)
	return cur
}

// putWide replaces the value in the group at p by a lane's share while that is better.
func (e *warp) putWide(p ir.Reg, s *share) {
	version := ir.At(p, s.version)
	seen, now := e.Int("version"), e.Int("now")
	l := e.B.Loop()
	e.Block(func() {
		e.B.LoadAs(ir.Relaxed, seen, version, 8, false)
		e.B.Op2(ir.And, now, seen.V(), ir.K(1))
		e.B.Continue(l, ir.NE, now.V(), ir.K(0))
		e.When(ir.NE, seen.V(), ir.K(0), func() {
			cur := e.readWide(p, s, seen, now)
			e.B.Continue(l, ir.NE, now.V(), seen.V())
			better := e.Compare(s.better(), s.v.Borrowed().WithNull(ir.K(0), false), cur)
			e.Free(cur)
			e.B.Break(l, ir.EQ, better.V(), ir.K(0))
			e.B.Clear(better)
		}, nil)
		e.B.Op2(ir.Add, now, seen.V(), ir.K(1))
		old := e.Int("old")
		e.B.Atom(ir.AtomCAS, old, version, seen.V(), now.V())
		e.B.Continue(l, ir.NE, old.V(), seen.V())
		e.keepTexts()
		e.B.Fence()
		e.B.Store(ir.At(p, s.f.Off), s.v.A, 8)
		e.B.Store(ir.At(p, s.f.Off+8), s.v.B, 8)
		e.B.Store(ir.At(p, s.f.Null), ir.K(0), 1)
		e.B.Fence()
		e.B.Op2(ir.Add, now, seen.V(), ir.K(2))
		e.B.Atom(ir.AtomExch, old, version, now.V(), ir.Val{})
		e.B.Clear(old)
		e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.B.Next(l)
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(seen, now)
}
