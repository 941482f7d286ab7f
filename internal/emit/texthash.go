package emit

import (
	"encoding/binary"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// mix folds a word into a hash: a 64×64→128 multiplication, halves xored.
func (e *coder) mix(h ir.Reg, w ir.Val) {
	hi := e.int("hi")
	e.b.Op2(ir.Xor, h, h.V(), w)
	e.b.Op128(ir.MulWideU, h, hi, h.V(), ir.Val{}, ir.K(layout.HashMul), ir.Val{}, 0)
	e.b.Op2(ir.Xor, h, h.V(), hi.V())
	e.b.Clear(hi)
}

// hashText folds a string in word by word; the last word is masked, the length comes last.
func (e *coder) hashText(h ir.Reg, v value) {
	if v.isNull() { // there is no address
		e.mix(h, ir.K(0))
		return
	}
	n, i := e.int("n"), e.int("i")
	if v.null.IsImm() {
		e.b.Mov(n, v.b)
	} else {
		e.b.Sel(n, ir.NE, v.null, ir.K(0), ir.K(0), v.b)
	}
	e.b.Mov(i, ir.K(0))
	e.loop(func(l int32) {
		left := e.int("left")
		e.b.Op2(ir.Sub, left, n.V(), i.V())
		e.b.Break(l, ir.LE, left.V(), ir.K(0))
		w := e.wordAt(v.a, i)
		e.when(ir.LT, left.V(), ir.K(8), func() {
			e.b.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.b.Op2(ir.Sub, left, ir.K(64), left.V())
			e.b.Op2(ir.Shl, w, w.V(), left.V())
		}, nil)
		e.mix(h, w.V())
		e.b.Op2(ir.Add, i, i.V(), ir.K(8))
		e.b.Clear(left, w)
	})
	e.mix(h, n.V())
	e.b.Clear(n, i)
}

// hashTextGo is what hashText computes of a text, from HashSeed on.
func hashTextGo(s string) uint64 {
	h := uint64(layout.HashSeed)
	mix := func(w uint64) {
		mul := int64(layout.HashMul)
		hi, lo := bits.Mul64(h^w, uint64(mul))
		h = hi ^ lo
	}
	for i := 0; i < len(s); i += 8 {
		var w [8]byte
		n := copy(w[:], s[i:])
		mix(binary.LittleEndian.Uint64(w[:]) << (64 - 8*n))
	}
	mix(uint64(len(s)))
	return h
}
