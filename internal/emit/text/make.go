package text

import (
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Functions that make texts write them to a space that lasts as long as the query (code.TextSpace). Texts that only a
// comparison or a search has looked at, and keys of groups that were there already, are overwritten by the next.

// made is the text from p up to end, which stays.
func made(e *code.Emitter, p, end ir.Reg, n ir.Val, own bool) code.Value {
	e.Texts.Take(end.V())
	return part(e, p, end, n, own)
}

// lengthOf opens a register with a text's length, 0 for NULL.
func lengthOf(e *code.Emitter, v code.Value) ir.Reg {
	n := e.Int("len")
	if v.Null.IsImm() {
		e.B.Mov(n, v.B)
	} else {
		e.B.Sel(n, ir.NE, v.Null, ir.K(0), ir.K(0), v.B)
	}
	return n
}

// MaxLiteral is the longest literal that is written by immediate words.
const MaxLiteral = 64

// Part is a part of a text to be made: a literal of up to MaxLiteral bytes or, where that is empty, a value.
type Part struct {
	Lit   string
	Value code.Value
}

// Concat puts texts together; the values are used up.
func Concat(e *code.Emitter, parts []Part) code.Value {
	vs := make([]code.Value, 0, len(parts))
	lens := make([]ir.Reg, len(parts))
	fixed := 0
	total := e.Int("total")
	e.B.Mov(total, ir.K(0))
	for i := range parts {
		p := &parts[i]
		if p.Lit != "" && e.Can.Parameters { // one of any length
			*p = Part{Value: e.Constant(types.TextValue(p.Lit))}
		}
		if fixed += len(p.Lit); p.Lit != "" {
			continue
		}
		p.Value = e.Text(p.Value)
		vs = append(vs, p.Value)
		lens[i] = lengthOf(e, p.Value)
		e.B.Op2(ir.Add, total, total.V(), lens[i].V())
	}
	if fixed > 0 {
		e.B.Op2(ir.Add, total, total.V(), ir.K(int64(fixed)))
	}
	n, own := e.AnyNull(vs...)
	w := newWriter(e, total.V())
	e.B.Clear(total)
	for i, part := range parts {
		if part.Lit != "" {
			w.literal(part.Lit)
			continue
		}
		src, ownSrc := e.Reg(part.Value.A, "src")
		w.bytes(src, lens[i].V())
		if ownSrc {
			e.B.Clear(src)
		}
		e.B.Clear(lens[i])
		e.Free(part.Value)
	}
	return w.text(n, own)
}

// Replace puts one literal in place of another; v is used up.
func Replace(e *code.Emitter, v code.Value, from, to string) code.Value {
	v = e.Text(v)
	n, own := e.AnyNull(v)
	if n == ir.K(1) {
		e.Free(v)
		return e.NullValue(types.TText)
	}
	size := lengthOf(e, v)
	room, old := e.Int("room"), e.Fact(int64(len(from)))
	e.B.Mov(room, size.V())
	if more := len(to) - len(from); more > 0 {
		e.B.Op2(ir.Div, room, room.V(), old)
		e.B.Op2(ir.Mul, room, room.V(), e.Fact(int64(more)))
		e.B.Op2(ir.Add, room, room.V(), size.V())
	}
	w := newWriter(e, room.V())
	e.B.Clear(room)
	src, stop, at := e.Int("src"), e.Int("stop"), e.Int("at")
	e.B.Mov(src, v.A)
	e.B.Op2(ir.Add, stop, src.V(), size.V())
	upTo := func() { // copies from src up to at
		t := e.Int("n")
		e.B.Op2(ir.Sub, t, at.V(), src.V())
		w.bytes(src, t.V())
		e.B.Clear(t)
	}
	once := e.B.Loop() // left where the literal does not occur any more
	e.Block(func() {
		e.B.Mov(at, src.V())
		searchLiteral(e, once, at, stop, from)
		e.B.Op2(ir.Sub, at, at.V(), old)
		upTo()
		e.B.Op2(ir.Add, src, at.V(), old)
		if len(to) <= MaxLiteral && !e.Can.Parameters {
			w.literal(to)
			return
		}
		k := e.PoolAt("to", to)
		w.bytes(k, e.Fact(int64(len(to))))
		e.B.Clear(k)
	})
	e.B.EndLoop(once, ir.Always, ir.K(0), ir.K(0))
	e.B.Mov(at, stop.V())
	upTo()
	e.B.Clear(src, stop, at, size)
	e.Free(v)
	return w.text(n, own)
}

// twoDigits are 00 to 99.
var twoDigits = func() string {
	var b []byte
	for i := range 100 {
		b = append(b, byte('0'+i/10), byte('0'+i%10))
	}
	return string(b)
}()

// FromInteger writes an integer in decimal, from its end, two digits at a time.
func FromInteger(e *code.Emitter, v code.Value) code.Value {
	const room = 24
	n, own := e.AnyNull(v)
	p := e.Texts.Room(ir.K(room))
	end, rest, sign := e.Int("end"), e.Int("rest"), e.Int("sign")
	e.B.Op2(ir.Add, end, p.V(), ir.K(room))
	e.B.Mov(p, end.V())
	e.B.Mov(rest, v.A)
	e.B.Op2(ir.Sar, sign, rest.V(), ir.K(63))
	digits, d, q := e.PoolAt("digits", twoDigits), e.Int("d"), e.Int("q")
	e.Loop(func(l int32) {
		e.B.Op2(ir.Div, q, rest.V(), ir.K(100))
		e.B.Op2(ir.Mul, d, q.V(), ir.K(100))
		e.B.Op2(ir.Sub, d, rest.V(), d.V())
		e.B.Op2(ir.Xor, d, d.V(), sign.V()) // its size: the least integer has no opposite, its digits do
		e.B.Op2(ir.Sub, d, d.V(), sign.V())
		e.B.Load(rest, ir.AtIndex(digits, d, 2, 0), 2, false)
		e.B.Op2(ir.Sub, p, p.V(), ir.K(2))
		e.B.Store(ir.At(p, 0), rest.V(), 2)
		e.B.Mov(rest, q.V())
		e.B.Break(l, ir.EQ, rest.V(), ir.K(0))
	})
	e.B.Set(q, ir.LT, d.V(), ir.K(10))
	e.B.Op2(ir.Add, p, p.V(), q.V())
	e.When(ir.NE, sign.V(), ir.K(0), func() {
		e.B.Op2(ir.Sub, p, p.V(), ir.K(1))
		e.B.Store(ir.At(p, 0), ir.K('-'), 1)
	}, nil)
	e.B.Clear(rest, sign, digits, d, q)
	e.Free(v)
	return made(e, p, end, n, own)
}
