package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Kernels that make sort keys of tuples, and choose among keys.

// sortCode is what kernels that sort tuples have of these and of their keys.
type sortCode struct {
	order kernels.Ordering
	words []int           // the order's, of each word of keys; that of a text's further bytes comes behind it
	texts []*layout.Field // that are keys
	whole bool            // tuples are sorted, not their addresses
}

// ownParams is how many parameters come before those of parts: tuples, and where those that are sorted go. partParams is how many a part of a
// word has: base, maximum, what NULL is, ranks and bits.
const (
	ownParams  = 2
	partParams = 5
)

func newSortCode(t *layout.Tuple, words []sorting.Word, few, whole bool) *sortCode {
	c := &sortCode{whole: whole}
	c.order.Name, c.order.Params, c.order.Few = "sort_rows", ownParams, few
	for i := range words {
		w := &words[i]
		c.words = append(c.words, len(c.order.Words))
		c.order.Words = append(c.order.Words, keyWord(t.Size, w, c.order.Params))
		c.order.Params += partParams * len(w.Parts)
		if w.Text == nil {
			continue
		}
		c.order.Words = append(c.order.Words, keyWord(t.Size, &sorting.Word{Text: w.Text, Bytes: 8, Desc: w.Desc}, c.order.Params))
		if !slices.Contains(c.texts, w.Text) {
			c.texts = append(c.texts, w.Text)
		}
	}
	c.order.Put = func(b *ir.Builder, param func(string, int) ir.Reg, place, item ir.Reg) {
		k := &kernel{b, item}
		tuples, to := param("tuples", 0), param("out", 1)
		from := k.tupleOf(tuples, t.Size)
		if whole {
			k.Op2(ir.Mul, place, place.V(), ir.K(int64(t.Size)))
			k.Op2(ir.Add, to, to.V(), place.V())
			k.copyTuple(to, from, t.Size)
		} else {
			k.Store(ir.AtIndex(to, place, 8, 0), from.V(), 8)
		}
		k.Clear(from, to, tuples)
	}
	return c
}

// choice lists the first rows by one of the order's words.
func (c *sortCode) choice(word int) *kernels.Choice {
	return &kernels.Choice{Name: "first_rows", Params: c.order.Params, Word: c.order.Words[word]}
}

// keyWord writes a word of the sort keys of tuples: tuples is the first parameter, those of parts begin with number first. What it is told is the depth in the text.
func keyWord(size int, w *sorting.Word, first int) func(b *ir.Builder, param func(string, int) ir.Reg, item, depth, key ir.Reg) {
	return func(b *ir.Builder, param func(string, int) ir.Reg, item, depth, key ir.Reg) {
		k := &kernel{b, item}
		tuples := param("tuples", 0)
		row := k.tupleOf(tuples, size)
		k.Clear(tuples)
		k.Mov(key, ir.K(0))
		for i := range w.Parts {
			p := &w.Parts[i]
			var s []ir.Reg
			for j, name := range []string{"base", "max", "ofnull", "ranks", "bits"} {
				s = append(s, param(name, first+partParams*i+j))
			}
			x := k.keyPart(p, row, s)
			if p.Bits == 64 {
				k.Mov(key, x.V())
			} else {
				k.Op2(ir.Shl, key, key.V(), s[4].V())
				k.Op2(ir.Or, key, key.V(), x.V())
			}
			k.Clear(x)
			k.Clear(s...)
		}
		if w.Text != nil {
			k.keyBytes(w, row, key, depth)
		}
		k.Clear(row)
	}
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

// longestTexts finds the lengths of the longest texts of fields: longest (of each, 0 at first), tuples.
func longestTexts(size int, fields []*layout.Field) *ir.Func {
	return newKernel("longest_texts", func(k *kernel) []ir.Reg { return k.load("longest", "tuples") },
		func(k *kernel, s []ir.Reg) {
			a, n, old := k.tupleOf(s[1], size), k.Vreg("n", ir.I64), k.Vreg("old", ir.I64)
			for i, f := range fields {
				k.Load8(n, ir.At(a, f.Off+8))
				if f.Null >= 0 {
					k.Load(old, ir.At(a, f.Null), 1, false)
					k.Sel(n, ir.EQ, old.V(), ir.K(0), n.V(), ir.K(0))
				}
				k.LoadAs(ir.Relaxed, old, ir.At(s[0], 8*i), 8, false) // most are not longer: looking is cheaper than an atomic operation
				k.when(ir.GT, n.V(), old.V(), func() { k.Atom(ir.AtomMax, old, ir.At(s[0], 8*i), n.V(), ir.Val{}) })
			}
			k.Clear(a, n, old)
		})
}
