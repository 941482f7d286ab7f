package text

import (
	"github.com/kelpiedb/kelpie/internal/automaton"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Regular expressions by automata: their tables lie in the pool of literals, and each byte of a text is one step in them.

// walker takes steps in a table.
type walker struct {
	*code.Emitter
	u     *automaton.Use
	table ir.Reg // where it is
	state ir.Reg
}

func newWalker(e *code.Emitter, u *automaton.Use) *walker {
	return &walker{e, u, e.PoolAt("automaton", u.Table.Bytes()), e.Int("state")}
}

func (w *walker) done() { w.B.Clear(w.table, w.state) }

// begin sets the state for a walk that begins at p, of a text that begins at first.
func (w *walker) begin(p ir.Reg, first ir.Val) {
	t := w.u.Table
	if t.Start == t.Middle {
		w.B.Mov(w.state, w.Fact(int64(t.Start)))
		return
	}
	w.B.Sel(w.state, ir.EQ, p.V(), first, w.Fact(int64(t.Start)), w.Fact(int64(t.Middle)))
}

// step goes on with the byte at p, and moves that behind it.
func (w *walker) step(p ir.Reg) {
	c := w.Int("byte")
	w.B.Load(c, ir.At(p, 0), 1, false)
	w.B.Load(c, ir.AtIndex(w.table, c, 1, 0), 1, false)
	w.B.Op2(ir.Add, c, c.V(), w.state.V())
	w.B.Load(w.state, ir.AtIndex(w.table, c, 2, automaton.RowsAt), 2, false)
	w.B.Clear(c)
	w.B.Op2(ir.Add, p, p.V(), ir.K(1))
}

// skip moves p to where the next match can begin at the earliest, or breaks out of once where there can be none any more.
func (w *walker) skip(once int32, p, stop ir.Reg) {
	if w.u.Needle == "" {
		return
	}
	q := w.Int("needle")
	w.B.Mov(q, p.V())
	search(w.Emitter, once, q, stop, likePart{lit: w.u.Needle}, false)
	if w.u.Before >= 0 {
		w.B.Op2(ir.Sub, q, q.V(), w.Fact(int64(len(w.u.Needle)+w.u.Before)))
		w.B.Sel(p, ir.UGT, q.V(), p.V(), q.V(), p.V())
	}
	w.B.Clear(q)
}

// find moves p to where the next match begins, and q to where it ends, or breaks out of once.
func (w *walker) find(once int32, p, q, stop ir.Reg, first ir.Val) {
	w.skip(once, p, stop)
	t := w.u.Table
	accepts, ends := w.Fact(int64(t.Accepts)), w.Fact(int64(t.Ends))
	w.Loop(func(l int32) {
		found := w.Int("found")
		w.B.Mov(found, ir.K(0))
		w.B.Mov(q, p.V())
		w.begin(p, first)
		w.Loop(func(walk int32) {
			w.B.Sel(found, ir.UGE, w.state.V(), accepts, q.V(), found.V())
			w.When(ir.EQ, q.V(), stop.V(), func() {
				w.B.Sel(found, ir.UGE, w.state.V(), ends, q.V(), found.V())
				w.B.Break(walk, ir.Always, ir.K(0), ir.K(0))
			}, nil)
			w.step(q)
			w.B.Break(walk, ir.EQ, w.state.V(), ir.K(0))
		})
		w.When(ir.NE, found.V(), ir.K(0), func() {
			w.B.Mov(q, found.V())
			w.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		w.B.Clear(found)
		w.B.Break(once, ir.UGE, p.V(), stop.V())
		w.B.Op2(ir.Add, p, p.V(), ir.K(1))
	})
}

// Matches is whether some part of a text is accepted; v is used up.
func Matches(e *code.Emitter, v code.Value, u *automaton.Use) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(types.TBool)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	ok, t := e.Int("matches"), u.Table
	e.B.Mov(ok, ir.K(0))
	p, stop := ends(e, v)
	w := newWalker(e, u)
	once := e.B.Loop()
	e.Block(func() {
		w.skip(once, p, stop)
		w.begin(p, v.A)
		e.Loop(func(l int32) {
			e.B.Break(l, ir.UGE, p.V(), stop.V())
			w.step(p)
			// From the first state on nothing is accepted, from those at the end on everything is.
			x := e.Int("x")
			e.B.Op2(ir.Sub, x, w.state.V(), ir.K(1))
			e.B.Break(l, ir.UGE, x.V(), e.Fact(int64(t.Accepts)-1))
			e.B.Clear(x)
		})
		e.B.Set(ok, ir.UGE, w.state.V(), e.Fact(int64(t.Ends)))
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	w.done()
	e.B.Clear(p, stop)
	e.Free(v)
	if u.Not {
		e.B.Op2(ir.Xor, ok, ok.V(), ir.K(1))
	}
	if !n.IsImm() {
		e.B.Sel(ok, ir.NE, n, ir.K(0), ir.K(0), ok.V())
	}
	return code.BoolValue(ok).WithNull(n, own)
}

// TakeMatch is the first match, or a part of it that is always at the same distance from its ends; v is used up.
func TakeMatch(e *code.Emitter, v code.Value, u *automaton.Use) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(types.TText)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	p, stop := ends(e, v)
	from, to, none := e.Int("from"), e.Int("to"), e.Int("none")
	e.B.Mov(from, v.A)
	e.B.Mov(to, v.A)
	e.B.Mov(none, ir.K(1))
	w := newWalker(e, u)
	once := e.B.Loop()
	e.Block(func() {
		q := e.Int("q")
		w.find(once, p, q, stop, v.A)
		e.B.Op2(ir.Add, from, p.V(), e.Fact(int64(u.From)))
		e.B.Op2(ir.Sub, to, q.V(), e.Fact(int64(u.To)))
		e.B.Mov(none, ir.K(0))
		e.B.Clear(q)
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	w.done()
	e.B.Clear(p, stop)
	e.Free(v)
	if !u.OrNull {
		e.B.Clear(none)
		return part(e, from, to, n, own)
	}
	e.B.Op2(ir.Or, none, none.V(), n)
	e.FreeNull(n, own)
	return part(e, from, to, none.V(), true)
}

// CountMatches is how many matches there are, of which none is empty; v is used up.
func CountMatches(e *code.Emitter, v code.Value, u *automaton.Use, t types.Type) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(t)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	count := e.Int("count")
	e.B.Mov(count, ir.K(0))
	p, stop := ends(e, v)
	var w *walker
	if u.Table != nil {
		w = newWalker(e, u)
	}
	once := e.B.Loop() // left where nothing matches any more
	e.Block(func() {
		if w == nil {
			search(e, once, p, stop, likePart{lit: u.Needle}, false)
		} else {
			q := e.Int("q")
			w.find(once, p, q, stop, v.A)
			e.B.Mov(p, q.V())
			e.B.Clear(q)
		}
		e.B.Op2(ir.Add, count, count.V(), ir.K(1))
	})
	e.B.EndLoop(once, ir.Always, ir.K(0), ir.K(0))
	if w != nil {
		w.done()
	}
	e.B.Clear(p, stop)
	e.Free(v)
	return code.IntValue(t, count, layout.Between(0, 1<<31-1)).WithNull(n, own)
}

// ReplaceMatches puts a text in the place of the first match, or of all; none is empty. v is used up.
func ReplaceMatches(e *code.Emitter, v code.Value, u *automaton.Use) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(types.TText)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	size := lengthOf(e, v)
	room := e.Int("room")
	by := e.Fact(int64(len(u.By)))
	if u.All { // a match at each byte
		e.B.Op2(ir.Mul, room, size.V(), by)
		e.B.Op2(ir.Add, room, room.V(), size.V())
	} else {
		e.B.Op2(ir.Add, room, size.V(), by)
	}
	out := newWriter(e, room.V())
	e.B.Clear(room)
	src, stop, p, q := e.Int("src"), e.Int("stop"), e.Int("p"), e.Int("q")
	e.B.Mov(src, v.A)
	e.B.Op2(ir.Add, stop, src.V(), size.V())
	upTo := func(at ir.Reg) { // copies from src up to it
		t := e.Int("n")
		e.B.Op2(ir.Sub, t, at.V(), src.V())
		out.bytes(src, t.V())
		e.B.Clear(t)
	}
	w := newWalker(e, u)
	once := e.B.Loop() // left where nothing matches any more
	e.Block(func() {
		e.B.Mov(p, src.V())
		w.find(once, p, q, stop, v.A)
		upTo(p)
		e.B.Mov(src, q.V())
		if !e.Can.Parameters {
			out.literal(u.By)
			return
		}
		k := e.PoolAt("by", u.By)
		out.bytes(k, by)
		e.B.Clear(k)
	})
	again := ir.NE
	if u.All {
		again = ir.Always
	}
	e.B.EndLoop(once, again, ir.K(0), ir.K(0))
	w.done()
	upTo(stop)
	e.B.Clear(src, stop, p, q, size)
	e.Free(v)
	return out.text(n, own)
}
