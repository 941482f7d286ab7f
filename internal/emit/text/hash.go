package text

import (
	"encoding/binary"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Hash folds a string in word by word; the last word is masked, the length comes last.
func Hash(e *code.Emitter, h ir.Reg, v code.Value) {
	if v.IsNull() { // there is no address
		e.Mix(h, ir.K(0))
		return
	}
	n, i := e.Int("n"), e.Int("i")
	if v.Null.IsImm() {
		e.B.Mov(n, v.B)
	} else {
		e.B.Sel(n, ir.NE, v.Null, ir.K(0), ir.K(0), v.B)
	}
	e.B.Mov(i, ir.K(0))
	e.Loop(func(l int32) {
		left := e.Int("left")
		e.B.Op2(ir.Sub, left, n.V(), i.V())
		e.B.Break(l, ir.LE, left.V(), ir.K(0))
		w := wordAt(e, v.A, i)
		e.When(ir.LT, left.V(), ir.K(8), func() {
			e.B.Op2(ir.Shl, left, left.V(), ir.K(3))
			e.B.Op2(ir.Sub, left, ir.K(64), left.V())
			e.B.Op2(ir.Shl, w, w.V(), left.V())
		}, nil)
		e.Mix(h, w.V())
		e.B.Op2(ir.Add, i, i.V(), ir.K(8))
		e.B.Clear(left, w)
	})
	e.Mix(h, n.V())
	e.B.Clear(n, i)
}

// HashOf is what Hash computes of a text, from HashSeed on.
func HashOf(s string) uint64 {
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
