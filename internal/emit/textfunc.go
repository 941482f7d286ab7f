package emit

import (
	"math"
	"unicode/utf8"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions whose result is a part of their text need no memory: they move its ends.

// part is the text from p up to q, which become its address and length.
func (e *emitter) part(p, q ir.Reg, n ir.Val, own bool) value {
	e.b.Op2(ir.Sub, q, q.V(), p.V())
	return value{d: layout.Desc{Type: types.TText, Form: layout.Str}, a: p.V(), b: q.V(), ownA: true, ownB: true}.withNull(n, own)
}

// ends opens registers with a text's first byte and the end.
func (e *emitter) ends(v value) (p, end ir.Reg) {
	p, end = e.int("from"), e.int("end")
	e.b.Mov(p, v.a)
	e.b.Op2(ir.Add, end, v.a, v.b)
	return p, end
}

// countChars opens a register with the number of characters of a text.
func (e *emitter) countChars(v value) ir.Reg {
	p, end := e.ends(v)
	if e.masks() {
		r := e.countByMasks(p, end)
		e.b.Clear(p, end)
		return r
	}
	r := e.int("length")
	e.b.Mov(r, ir.K(0))
	e.loop(func(l int32) {
		e.b.Break(l, ir.UGE, p.V(), end.V())
		e.nextChar(p, end)
		e.b.Op2(ir.Add, r, r.V(), ir.K(1))
	})
	e.b.Clear(p, end)
	return r
}

// firstChars is the first k characters of a text: VARCHAR(k). v is used up.
func (e *emitter) firstChars(v value, k int64) value {
	v = e.text(v)
	n, own := e.anyNull(v)
	p, end := e.ends(v)
	q, count := e.int("to"), e.int("count")
	e.b.Mov(q, p.V())
	e.b.Mov(count, ir.K(k))
	e.skipChars(q, end, count)
	e.b.Clear(count, end)
	e.free(v)
	return e.part(p, q, n, own)
}

// leftRight is left(text, k) and right(text, k); a negative k counts from the other end.
func (e *emitter) leftRight(x *plan.Call) value {
	if c := constantOf(x.Args[1]); c != nil && c.I >= 0 && x.Op == plan.LeftStr {
		return e.firstChars(e.eval(x.Args[0]), c.I)
	}
	v, k := e.text(e.eval(x.Args[0])), e.eval(x.Args[1])
	n, own := e.anyNull(v, k)
	count, t := e.countChars(v), e.int("t")
	p, end := e.ends(v)
	if x.Op == plan.LeftStr {
		e.b.Op2(ir.Add, t, count.V(), k.a)
		e.b.Sel(count, ir.LT, k.a, ir.K(0), t.V(), k.a)
		q := e.int("to")
		e.b.Mov(q, p.V())
		e.skipChars(q, end, count)
		e.b.Clear(end)
		end = q
	} else {
		e.b.Op2(ir.Sub, count, count.V(), k.a)
		e.b.Op2(ir.Sub, t, ir.K(0), k.a)
		e.b.Sel(t, ir.LT, t.V(), ir.K(0), ir.K(math.MaxInt64), t.V()) // the least integer has no negative
		e.b.Sel(count, ir.LT, k.a, ir.K(0), t.V(), count.V())
		e.skipChars(p, end, count)
	}
	e.b.Clear(count, t)
	e.free(v, k)
	return e.part(p, end, n, own)
}

// trim takes characters of a literal set off the ends. They are ASCII, so bytes can be compared.
func (e *emitter) trim(x *plan.Call) value {
	set := constantOf(x.Args[1]).S
	v := e.text(e.eval(x.Args[0]))
	n, own := e.anyNull(v)
	p, end := e.ends(v)
	e.free(v)
	cut := func(at func(c ir.Reg), step func()) {
		e.loop(func(l int32) {
			e.b.Break(l, ir.UGE, p.V(), end.V())
			c := e.int("byte")
			at(c)
			if len(set) == 1 {
				e.b.Break(l, ir.NE, c.V(), ir.K(int64(set[0])))
			} else {
				in, t := e.int("in"), e.int("t")
				e.b.Mov(in, ir.K(0))
				for i := range len(set) {
					e.b.Set(t, ir.EQ, c.V(), ir.K(int64(set[i])))
					e.b.Op2(ir.Or, in, in.V(), t.V())
				}
				e.b.Break(l, ir.EQ, in.V(), ir.K(0))
				e.b.Clear(in, t)
			}
			e.b.Clear(c)
			step()
		})
	}
	if x.Op != plan.Rtrim {
		cut(func(c ir.Reg) { e.b.Load(c, ir.At(p, 0), 1, false) }, func() { e.b.Op2(ir.Add, p, p.V(), ir.K(1)) })
	}
	if x.Op != plan.Ltrim {
		cut(func(c ir.Reg) { e.b.Load(c, ir.At(end, -1), 1, false) }, func() { e.b.Op2(ir.Sub, end, end.V(), ir.K(1)) })
	}
	return e.part(p, end, n, own)
}

// positionOf is where a literal first occurs, in characters from 1; 0 if it does not.
func (e *emitter) positionOf(x *plan.Call) value {
	lit := constantOf(x.Args[1]).S
	v := e.eachText(x.Args[0])
	n, own := e.anyNull(v)
	r := e.int("position")
	if lit == "" {
		e.b.Mov(r, ir.K(1))
		e.free(v)
		return intVal(x.T, r, layout.Between(1, 1)).withNull(n, own)
	}
	e.b.Mov(r, ir.K(0))
	p, stop := e.ends(v)
	once := e.b.Loop()
	e.block(func() {
		e.search(once, p, stop, likePart{lit: lit}, false)
		e.b.Op2(ir.Sub, p, p.V(), ir.K(int64(len(lit))))
		q := e.int("q")
		e.b.Mov(q, v.a)
		if e.masks() {
			before := e.countByMasks(q, p)
			e.b.Op2(ir.Add, r, before.V(), ir.K(1))
			e.b.Clear(before, q)
			return
		}
		e.b.Mov(r, ir.K(1))
		e.loop(func(l int32) {
			e.b.Break(l, ir.UGE, q.V(), p.V())
			e.nextChar(q, p)
			e.b.Op2(ir.Add, r, r.V(), ir.K(1))
		})
		e.b.Clear(q)
	})
	e.b.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	e.b.Clear(p, stop)
	e.free(v)
	return intVal(x.T, r, layout.Between(0, 1<<31-1)).withNull(n, own)
}

// startsWith compares the beginning of a text with another text.
func (e *emitter) startsWith(x *plan.Call) value {
	if c := constantOf(x.Args[1]); c != nil && utf8.ValidString(c.S) {
		var parts []likePart
		if c.S != "" { // a part without letters would be _
			parts = []likePart{{lit: c.S}}
		}
		return e.matchPattern(e.eachText(x.Args[0]), parts, true, false)
	}
	v, w := e.text(e.eval(x.Args[0])), e.text(e.eval(x.Args[1]))
	n, own := e.anyNull(v, w)
	if n == ir.K(1) {
		e.free(v, w)
		return e.nullValue(types.TBool)
	}
	ok := e.int("prefix")
	e.b.Set(ok, ir.UGE, v.b, w.b)
	e.when(ir.NE, ok.V(), ir.K(0), func() {
		head := v.borrowed()
		head.b = w.b
		t := e.textEqual(ir.EQ, head, w.borrowed())
		e.b.Mov(ok, t.V())
		e.b.Clear(t)
	}, nil)
	e.free(v, w)
	if !n.IsImm() {
		e.b.Sel(ok, ir.NE, n, ir.K(0), ir.K(0), ok.V())
	}
	return boolVal(ok).withNull(n, own)
}
