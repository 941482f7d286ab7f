package gpu

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Kernels that make sort keys of tuples, and choose among keys.

// keyWord writes a word of the sort keys of tuples: numbers of tuples (0: all, in order), tuples, keys, depth in the text, and base,
// maximum, what NULL is, ranks and bits of each part.
func keyWord(size int, w *sorting.Word) *ir.Func {
	names := []string{"numbers", "tuples", "keys", "depth"}
	for range w.Parts {
		names = append(names, "base", "max", "ofnull", "ranks", "bits")
	}
	return newKernel("sort_word", func(k *kernel) []ir.Reg { return k.load(names...) },
		func(k *kernel, s []ir.Reg) {
			row, key := k.Vreg("row", ir.I64), k.Vreg("key", ir.I64)
			k.Mov(row, k.item.V())
			k.when(ir.NE, s[0].V(), ir.K(0), func() { k.Load(row, ir.AtIndex(s[0], k.item, 4, 0), 4, false) })
			k.Op2(ir.Mul, row, row.V(), ir.K(int64(size)))
			k.Op2(ir.Add, row, row.V(), s[1].V())
			k.Mov(key, ir.K(0))
			for i := range w.Parts {
				p := &w.Parts[i]
				s := s[4+5*i : 9+5*i]
				x := k.keyPart(p, row, s)
				if p.Bits == 64 {
					k.Mov(key, x.V())
				} else {
					k.Op2(ir.Shl, key, key.V(), s[4].V())
					k.Op2(ir.Or, key, key.V(), x.V())
				}
				k.Clear(x)
			}
			if w.Text != nil {
				k.keyBytes(w, row, key, s[3])
			}
			k.Store(ir.AtIndex(s[2], k.item, 8, 0), key.V(), 8)
			k.Clear(row, key)
		})
}

// keyPart opens a register with a part's number; s are its parameters.
func (k *kernel) keyPart(p *sorting.Part, row ir.Reg, s []ir.Reg) ir.Reg {
	x := k.Vreg("x", ir.I64)
	if p.Kind == sorting.NullPart {
		k.Load(x, ir.At(row, p.Null), 1, false)
		c := ir.NE
		if p.First {
			c = ir.EQ
		}
		k.Set(x, c, x.V(), ir.K(0))
		return x
	}
	if p.Null >= 0 {
		k.Load(x, ir.At(row, p.Null), 1, false)
		k.If(ir.NE, x.V(), ir.K(0))
		k.Mov(x, s[2].V())
		k.Else()
	}
	k.Load(x, ir.At(row, p.Off), p.Width, p.Width < 8 && p.Signed)
	switch p.Kind {
	case sorting.IntPart:
		k.Op2(ir.Sub, x, x.V(), s[0].V())
	case sorting.RankPart:
		k.Load(x, ir.AtIndex(s[3], x, 4, 0), 4, false)
	case sorting.FloatPart:
		k.orderedFloat(x)
	}
	if p.Flip {
		k.Op2(ir.Sub, x, s[1].V(), x.V())
	}
	if p.First {
		k.Op2(ir.Add, x, x.V(), ir.K(1))
	}
	if p.Null >= 0 {
		k.EndIf()
	}
	return x
}

// orderedFloat makes the bits of a float a number in PostgreSQL's order: NaN above all, zeros equal.
func (k *kernel) orderedFloat(x ir.Reg) {
	size, mask := k.Vreg("size", ir.I64), k.Vreg("mask", ir.I64)
	k.Op2(ir.And, size, x.V(), ir.K(1<<63-1))
	k.Sel(x, ir.EQ, size.V(), ir.K(0), ir.K(0), x.V())
	k.Op2(ir.Sar, mask, x.V(), ir.K(63))
	k.Op2(ir.Or, mask, mask.V(), ir.K(-1<<63))
	k.Op2(ir.Xor, x, x.V(), mask.V())
	k.Sel(x, ir.GT, size.V(), ir.K(0x7ff<<52), ir.K(-2), x.V())
	k.Clear(size, mask)
}

// keyBytes appends w.Bytes of a text from depth on to a key. NULL and what is behind the end are zeros.
func (k *kernel) keyBytes(w *sorting.Word, row, key, depth ir.Reg) {
	text, left, b, n := k.Vreg("text", ir.I64), k.Vreg("left", ir.I64), k.Vreg("byte", ir.I64), k.Vreg("n", ir.I64)
	k.Load8(text, ir.At(row, w.Text.Off))
	k.Load8(left, ir.At(row, w.Text.Off+8))
	if w.Text.Null >= 0 {
		k.Load(b, ir.At(row, w.Text.Null), 1, false)
		k.Sel(left, ir.EQ, b.V(), ir.K(0), left.V(), ir.K(0))
	}
	k.Op2(ir.Add, text, text.V(), depth.V())
	k.Op2(ir.Sub, left, left.V(), depth.V())
	k.Mov(n, ir.K(0))
	l := k.Loop()
	k.Mov(b, ir.K(0))
	k.when(ir.LT, n.V(), left.V(), func() { k.Load(b, ir.AtIndex(text, n, 1, 0), 1, false) })
	if w.Desc {
		k.Op2(ir.Xor, b, b.V(), ir.K(255))
	}
	k.Op2(ir.Shl, key, key.V(), ir.K(8))
	k.Op2(ir.Or, key, key.V(), b.V())
	k.Op2(ir.Add, n, n.V(), ir.K(1))
	k.EndLoop(l, ir.LT, n.V(), ir.K(int64(w.Bytes)))
	k.Clear(text, left, b, n)
}

// longestText finds the length of the longest text of a field: longest (0 at first), tuples.
func longestText(size int, f *layout.Field) *ir.Func {
	return newKernel(fmt.Sprintf("longest_%d_%d_%d", size, f.Off, f.Null+1), func(k *kernel) []ir.Reg { return k.load("longest", "tuples") },
		func(k *kernel, s []ir.Reg) {
			a, n, old := k.tupleOf(s[1], size), k.Vreg("n", ir.I64), k.Vreg("old", ir.I64)
			k.Load8(n, ir.At(a, f.Off+8))
			if f.Null >= 0 {
				k.Load(old, ir.At(a, f.Null), 1, false)
				k.Sel(n, ir.EQ, old.V(), ir.K(0), n.V(), ir.K(0))
			}
			k.Load8(old, ir.At(s[0], 0)) // most are not longer: looking is cheaper than an atomic operation
			k.when(ir.GT, n.V(), old.V(), func() { k.Atom(ir.AtomMax, old, ir.At(s[0], 0), n.V(), ir.Val{}) })
			k.Clear(a, n, old)
		})
}

// countUp writes the numbers from 0 on, of 4 bytes: out.
func countUp() *ir.Func {
	return newKernel("count_up", func(k *kernel) []ir.Reg { return k.load("out") },
		func(k *kernel, s []ir.Reg) { k.Store(ir.AtIndex(s[0], k.item, 4, 0), k.item.V(), 4) })
}

// digitBins is how many numbers a digit of digitBits has; digitNumbers writes one more for keys that are out of the question.
const (
	digitBits = 8
	digitBins = 1 << digitBits
)

// digitNumbers writes the digit, of 4 bytes, of keys that begin with a prefix: keys, shift, prefix, out.
func digitNumbers() *ir.Func {
	return newKernel("digit_numbers", func(k *kernel) []ir.Reg { return k.load("keys", "shift", "prefix", "out") },
		func(k *kernel, s []ir.Reg) {
			x, d := k.Vreg("x", ir.I64), k.Vreg("digit", ir.I64)
			k.Load8(x, ir.AtIndex(s[0], k.item, 8, 0))
			k.Op2(ir.Shr, x, x.V(), s[1].V())
			k.Op2(ir.And, d, x.V(), ir.K(digitBins-1))
			k.Op2(ir.Shr, x, x.V(), ir.K(digitBits))
			k.Sel(d, ir.EQ, x.V(), s[2].V(), d.V(), ir.K(digitBins))
			k.Store(ir.AtIndex(s[3], k.item, 4, 0), d.V(), 4)
			k.Clear(x, d)
		})
}

// upToBits makes a bitmap of keys whose bits from a shift on are a prefix at most: keys, bitmap, shift, prefix.
func upToBits() *ir.Func {
	return bitmapKernel("up_to_bits", []string{"keys", "bitmap", "shift", "prefix"}, func(k *kernel, s []ir.Reg, bit ir.Reg) {
		k.Load8(bit, ir.AtIndex(s[0], k.item, 8, 0))
		k.Op2(ir.Shr, bit, bit.V(), s[2].V())
		k.Set(bit, ir.ULE, bit.V(), s[3].V())
	})
}
