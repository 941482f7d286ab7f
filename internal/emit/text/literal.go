package text

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Texts compared with literals: those are constants in the code, a word at a time.

// CompareLiteral is cond(v, lit); v is used up.
func CompareLiteral(e *code.Emitter, cond ir.Cond, v code.Value, lit string) code.Value {
	if v.IsNull() {
		e.Free(v)
		return e.NullValue(types.TBool)
	}
	v = e.Text(v)
	n, own := e.AnyNull(v)
	var d ir.Reg
	switch cond {
	case ir.EQ, ir.NE:
		d = EqualLiteral(e, v, lit)
		if cond == ir.NE {
			e.B.Op2(ir.Xor, d, d.V(), ir.K(1))
		}
	default:
		d = orderLiteral(e, cond, v, lit)
	}
	e.Free(v)
	if !n.IsImm() {
		e.B.Sel(d, ir.NE, n, ir.K(0), ir.K(0), d.V())
	}
	return code.BoolValue(d).WithNull(n, own)
}

// orderLiteral opens a register with cond(v, lit). The first eight bytes decide, or the rest.
func orderLiteral(e *code.Emitter, cond ir.Cond, v code.Value, lit string) ir.Reg {
	if e.Brief {
		k := e.Constant(types.TextValue(lit))
		d := Compare(e, cond, v.Borrowed(), k)
		e.Free(k)
		return d
	}
	d := e.Int("order")
	var first [8]byte
	copy(first[:], lit)
	want := e.Fact(int64(binary.BigEndian.Uint64(first[:])))
	w := firstWord(e, v)
	e.When(ir.NE, w.V(), want, func() {
		e.B.Set(d, unsigned[cond], w.V(), want)
	}, func() {
		if len(lit) <= 8 {
			e.B.Set(d, cond, v.B, e.Fact(int64(len(lit))))
			return
		}
		k := e.Constant(types.TextValue(lit))
		t := Compare(e, cond, v.Borrowed(), k)
		e.B.Mov(d, t.V())
		e.B.Clear(t)
		e.Free(k)
	})
	e.B.Clear(w)
	return d
}

var unsigned = map[ir.Cond]ir.Cond{ir.LT: ir.ULT, ir.LE: ir.ULE, ir.GT: ir.UGT, ir.GE: ir.UGE}

// firstWord opens a register with the first eight bytes of a text as a number that orders as
// they do; behind its end there are zeros.
func firstWord(e *code.Emitter, v code.Value) ir.Reg {
	w := e.Int("first")
	load := func() {
		loadBytes(e, w, ir.At(v.A.R, 0))
		e.B.Op1(ir.Bswap, w, w.V())
	}
	e.When(ir.UGE, v.B, ir.K(8), load, func() {
		e.B.Mov(w, ir.K(0))
		e.When(ir.NE, v.B, ir.K(0), func() {
			load()
			n := e.Int("beyond")
			e.B.Op2(ir.Shl, n, v.B, ir.K(3))
			e.B.Op2(ir.Sub, n, ir.K(64), n.V())
			e.B.Op2(ir.Shr, w, w.V(), n.V())
			e.B.Op2(ir.Shl, w, w.V(), n.V())
			e.B.Clear(n)
		}, nil)
	})
	return w
}

// shortText is how long a text may be that a word holds, with its length.
const shortText = 7

// shortKey is the word of a short text: its bytes, and its length in the top byte. Words of texts
// of the same length are close together.
func shortKey(s string) int64 {
	var w [8]byte
	copy(w[:], s)
	w[shortText] = byte(len(s))
	return int64(binary.LittleEndian.Uint64(w[:]))
}

// ShortKeys is the words of literals, if all of them are short.
func ShortKeys(items []types.Value) (keys []types.Value, ok bool) {
	for _, c := range items {
		if len(c.S) > shortText {
			return nil, false
		}
		keys = append(keys, types.IntValue(types.TInt64, shortKey(c.S)))
	}
	return keys, true
}

// ShortWord is a text as an integer: shortKey of it, or -1 if it is longer.
func ShortWord(e *code.Emitter, v code.Value) code.Value {
	w, n := e.Int("word"), e.Int("n")
	e.B.Op2(ir.Sub, n, v.B, ir.K(1))
	e.When(ir.ULT, n.V(), ir.K(shortText), func() {
		loadBytes(e, w, ir.At(v.A.R, 0))
		e.B.Op2(ir.Sub, n, ir.K(8), v.B)
		e.B.Op2(ir.Shl, n, n.V(), ir.K(3))
		e.B.Op2(ir.Shl, w, w.V(), n.V())
		e.B.Op2(ir.Shr, w, w.V(), n.V())
		e.B.Op2(ir.Shl, n, v.B, ir.K(56))
		e.B.Op2(ir.Or, w, w.V(), n.V())
	}, func() {
		e.B.Sel(w, ir.EQ, v.B, ir.K(0), ir.K(0), ir.K(-1))
	})
	e.B.Clear(n)
	return code.IntValue(types.TInt64, w, layout.Range{})
}
