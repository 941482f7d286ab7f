package emit

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Texts compared with literals: those are constants in the code, a word at a time.

// compareLiteral is cond(v, lit); v is used up.
func (e *coder) compareLiteral(cond ir.Cond, v value, lit string) value {
	if v.isNull() {
		e.free(v)
		return e.nullValue(types.TBool)
	}
	v = e.text(v)
	n, own := e.anyNull(v)
	var d ir.Reg
	switch cond {
	case ir.EQ, ir.NE:
		d = e.equalLiteral(v, lit)
		if cond == ir.NE {
			e.b.Op2(ir.Xor, d, d.V(), ir.K(1))
		}
	default:
		d = e.orderLiteral(cond, v, lit)
	}
	e.free(v)
	if !n.IsImm() {
		e.b.Sel(d, ir.NE, n, ir.K(0), ir.K(0), d.V())
	}
	return boolVal(d).withNull(n, own)
}

// orderLiteral opens a register with cond(v, lit). The first eight bytes decide, or the rest.
func (e *coder) orderLiteral(cond ir.Cond, v value, lit string) ir.Reg {
	d := e.int("order")
	var first [8]byte
	copy(first[:], lit)
	want := ir.K(int64(binary.BigEndian.Uint64(first[:])))
	w := e.firstWord(v)
	e.when(ir.NE, w.V(), want, func() {
		e.b.Set(d, unsigned[cond], w.V(), want)
	}, func() {
		if len(lit) <= 8 {
			e.b.Set(d, cond, v.b, ir.K(int64(len(lit))))
			return
		}
		k := e.constant(types.TextValue(lit))
		t := e.textCompare(cond, v.borrowed(), k)
		e.b.Mov(d, t.V())
		e.b.Clear(t)
		e.free(k)
	})
	e.b.Clear(w)
	return d
}

var unsigned = map[ir.Cond]ir.Cond{ir.LT: ir.ULT, ir.LE: ir.ULE, ir.GT: ir.UGT, ir.GE: ir.UGE}

// firstWord opens a register with the first eight bytes of a text as a number that orders as
// they do; behind its end there are zeros.
func (e *coder) firstWord(v value) ir.Reg {
	w := e.int("first")
	load := func() {
		e.loadBytes(w, ir.At(v.a.R, 0))
		e.b.Op1(ir.Bswap, w, w.V())
	}
	e.when(ir.UGE, v.b, ir.K(8), load, func() {
		e.b.Mov(w, ir.K(0))
		e.when(ir.NE, v.b, ir.K(0), func() {
			load()
			n := e.int("beyond")
			e.b.Op2(ir.Shl, n, v.b, ir.K(3))
			e.b.Op2(ir.Sub, n, ir.K(64), n.V())
			e.b.Op2(ir.Shr, w, w.V(), n.V())
			e.b.Op2(ir.Shl, w, w.V(), n.V())
			e.b.Clear(n)
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

// shortKeys is the words of literals, if all of them are short.
func shortKeys(items []types.Value) (keys []types.Value, ok bool) {
	for _, c := range items {
		if len(c.S) > shortText {
			return nil, false
		}
		keys = append(keys, types.IntValue(types.TInt64, shortKey(c.S)))
	}
	return keys, true
}

// shortWord is a text as an integer: shortKey of it, or -1 if it is longer.
func (e *coder) shortWord(v value) value {
	w, n := e.int("word"), e.int("n")
	e.b.Op2(ir.Sub, n, v.b, ir.K(1))
	e.when(ir.ULT, n.V(), ir.K(shortText), func() {
		e.loadBytes(w, ir.At(v.a.R, 0))
		e.b.Op2(ir.Sub, n, ir.K(8), v.b)
		e.b.Op2(ir.Shl, n, n.V(), ir.K(3))
		e.b.Op2(ir.Shl, w, w.V(), n.V())
		e.b.Op2(ir.Shr, w, w.V(), n.V())
		e.b.Op2(ir.Shl, n, v.b, ir.K(56))
		e.b.Op2(ir.Or, w, w.V(), n.V())
	}, func() {
		e.b.Sel(w, ir.EQ, v.b, ir.K(0), ir.K(0), ir.K(-1))
	})
	e.b.Clear(n)
	return intVal(types.TInt64, w, layout.Range{})
}
