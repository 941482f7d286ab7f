package emit

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// The least and the greatest of values of two words: texts, intervals and wide decimals. No atomic operation replaces two words
// together, so a version stands beside them in the group: 0 says that there is no value yet, an odd number that somebody is
// writing one, and it never comes back to what it was. Who has found the same even version before and after reading has read the
// words of one value. Who replaces that value makes the version odd first, which only one can do, and only if nobody else has
// replaced it since. So most rows, which bring nothing better, write nothing.
//
// Fences hold the order of it: a version is read before the words and after them, and becomes odd before they change
// and even after that. Waiting for another is only waiting for its two stores: lanes that hold a version are in
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

// putWide replaces the value in the group at p by a lane's share while that is better.
func (e *warp) putWide(p ir.Reg, s *share) {
	version := ir.At(p, s.version)
	seen, now := e.Int("version"), e.Int("now")
	l := e.B.Loop()
	e.Block(func() {
		e.B.Atom(ir.AtomOr, seen, version, ir.K(0), ir.Val{})
		e.B.Op2(ir.And, now, seen.V(), ir.K(1))
		e.B.Continue(l, ir.NE, now.V(), ir.K(0))
		e.When(ir.NE, seen.V(), ir.K(0), func() {
			e.B.Fence()
			f := *s.f
			f.Null = -1
			cur := e.loadField(p, &f, ir.K(0))
			e.B.Fence()
			e.B.Atom(ir.AtomOr, now, version, ir.K(0), ir.Val{})
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
