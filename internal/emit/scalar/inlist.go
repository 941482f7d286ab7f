package scalar

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Lists of up to fewItems literals are compared one by one. Longer ones are looked up in a table that
// lies with the literals: a bitmap where integers are close together, else a hash table.
const (
	fewItems     = 6
	MaxListBits  = 1 << 19 // 64 KiB
	listSlotBits = 2       // slots per item, as a power of two
)

// inList is x IN (literals).
func (e *Evaluator) inList(x *plan.Call) code.Value {
	needle := e.Eval(x.Args[0])
	if needle.IsNull() {
		e.Free(needle)
		return e.NullValue(types.TBool)
	}
	sawNull := false
	var items []types.Value
	for _, a := range x.Args[1:] {
		c := a.(*plan.Const).V
		if c.Null {
			sawNull = true
			continue
		}
		items = append(items, c)
	}
	d := e.Int("in")
	switch {
	case needle.Desc.Form == layout.I64:
		e.inIntegers(d, needle, items)
	case needle.Desc.Type.Phys() == types.PhysStr:
		needle = e.Text(needle)
		if keys, ok := text.ShortKeys(items); ok && !e.Brief {
			w := text.ShortWord(&e.Emitter, needle)
			e.inIntegers(d, w, keys)
			e.Free(w)
		} else if len(items) > fewItems && !e.Off.LookupTables {
			e.inTexts(d, needle, items)
		} else {
			e.inTurn(d, needle, items)
		}
	default:
		e.inTurn(d, needle, items)
	}
	v := code.BoolValue(d)
	n, own := e.AnyNull(needle)
	if sawNull { // not found among the rest: unknown
		t := e.Int("null")
		e.B.Set(t, ir.EQ, d.V(), ir.K(0))
		if !n.IsImm() {
			e.B.Op2(ir.Or, t, t.V(), n)
		}
		e.FreeNull(n, own)
		n, own = t.V(), true
	}
	if !needle.Never() {
		e.B.Sel(d, ir.NE, needle.Null, ir.K(0), ir.K(0), d.V())
	}
	e.Free(needle)
	return v.WithNull(n, own)
}

// inTurn compares with each literal until one is equal.
func (e *Evaluator) inTurn(d ir.Reg, needle code.Value, items []types.Value) {
	e.B.Mov(d, ir.K(0))
	for _, c := range items {
		e.When(ir.EQ, d.V(), ir.K(0), func() {
			if needle.Desc.Form == layout.Str {
				t := text.EqualLiteral(&e.Emitter, needle, c.S)
				e.B.Mov(d, t.V())
				e.B.Clear(t)
				return
			}
			k := e.FactValue(e.Constant(c))
			t := e.Compare(ir.EQ, needle, k)
			e.B.Mov(d, t.V())
			e.B.Clear(t)
			e.Free(k)
		}, nil)
	}
}

// inIntegers finds an integer among literals, of which those outside of its range do not count.
func (e *Evaluator) inIntegers(d ir.Reg, v code.Value, items []types.Value) {
	rng := v.Desc.Range
	if e.Can.Parameters { // how many lie in it must not matter
		rng = layout.Range{}
	}
	ks := Listed(rng, items)
	if len(ks) == 0 {
		e.B.Mov(d, ir.K(0))
		return
	}
	lo := ks[0]
	span := uint64(ks[len(ks)-1]) - uint64(lo) // the largest distance; up to 2^64-1
	switch {
	case len(ks) > 2 && span < 64 && !e.Can.Parameters:
		e.inWord(d, v, ks)
	case len(ks) <= fewItems || e.Off.LookupTables:
		e.B.Mov(d, ir.K(0))
		t := e.Int("is")
		for i, k := range ks {
			if i == 0 {
				e.B.Set(d, ir.EQ, v.A, e.Fact(k))
				continue
			}
			e.B.Set(t, ir.EQ, v.A, e.Fact(k))
			e.B.Op2(ir.Or, d, d.V(), t.V())
		}
		e.B.Clear(t)
	case span < MaxListBits:
		e.inListBitmap(d, v, ks, span)
	default:
		e.inHashed(d, v, ks)
	}
}

// Listed is the integers of a list that lie in a range, each once, in order.
func Listed(r layout.Range, items []types.Value) []int64 {
	var ks []int64
	for _, c := range items {
		x := c.Int128()
		if x.FitsInt64() && !(r.Known && (x.Cmp(r.Lo) < 0 || x.Cmp(r.Hi) > 0)) {
			ks = append(ks, int64(x.Lo))
		}
	}
	slices.Sort(ks)
	return slices.Compact(ks)
}

// inWord tests integers that lie within 64 of each other in one shift.
func (e *Evaluator) inWord(d ir.Reg, v code.Value, ks []int64) {
	var mask uint64
	for _, k := range ks {
		mask |= 1 << uint(k-ks[0])
	}
	t := e.Int("bit")
	e.B.Op2(ir.Sub, t, v.A, ir.K(ks[0]))
	e.B.Op2(ir.Shr, d, ir.K(int64(mask)), t.V())
	e.B.Op2(ir.And, d, d.V(), ir.K(1))
	e.B.Sel(d, ir.ULT, t.V(), ir.K(64), d.V(), ir.K(0))
	e.B.Clear(t)
}

// inListBitmap looks a bit up; what lies outside takes the bit before the first, which is 0.
func (e *Evaluator) inListBitmap(d ir.Reg, v code.Value, ks []int64, span uint64) {
	table := make([]byte, (span+1)/8+1)
	for _, k := range ks {
		at := uint64(k) - uint64(ks[0]) + 1
		table[at/8] |= 1 << (at % 8)
	}
	tab, at, t := e.PoolAt("list", string(table)), e.Int("at"), e.Int("byte")
	e.B.Op2(ir.Sub, at, v.A, e.Fact(ks[0]-1))
	e.B.Sel(at, ir.UGT, at.V(), e.Fact(int64(span+1)), ir.K(0), at.V())
	e.B.Op2(ir.Shr, t, at.V(), ir.K(3))
	e.B.Load(d, ir.AtIndex(tab, t, 1, 0), 1, false)
	e.B.Op2(ir.And, at, at.V(), ir.K(7))
	e.B.Op2(ir.Shr, d, d.V(), at.V())
	e.B.Op2(ir.And, d, d.V(), ir.K(1))
	e.B.Clear(t, at, tab)
}

// inHashed looks an integer up in a table of open addressing.
func (e *Evaluator) inHashed(d ir.Reg, v code.Value, ks []int64) {
	empty := ks[0] - 1 // in no slot for another reason: not in the list
	if ks[0] == -1<<63 {
		for empty = ks[0] + 1; slices.Contains(ks, empty); empty++ {
		}
	}
	logSlots := bits.Len(uint(len(ks))) + listSlotBits
	mask := uint64(1)<<logSlots - 1
	slots := make([]int64, mask+1)
	for i := range slots {
		slots[i] = empty
	}
	mul := int64(layout.HashMul)
	for _, k := range ks {
		h := uint64(k) * uint64(mul) >> (64 - logSlots)
		for slots[h] != empty {
			h = (h + 1) & mask
		}
		slots[h] = k
	}
	table := make([]byte, 0, 8*len(slots))
	for _, k := range slots {
		table = binary.LittleEndian.AppendUint64(table, uint64(k))
	}
	tab, h, w := e.PoolAt("list", string(table)), e.Int("hash"), e.Int("item")
	none, last := e.Fact(empty), e.Fact(int64(mask))
	e.B.Op2(ir.Mul, h, v.A, ir.K(layout.HashMul))
	e.B.Op2(ir.Shr, h, h.V(), e.Fact(int64(64-logSlots)))
	e.Loop(func(l int32) {
		e.B.Load8(w, ir.AtIndex(tab, h, 8, 0))
		e.B.Break(l, ir.EQ, w.V(), v.A)
		e.B.Break(l, ir.EQ, w.V(), none)
		e.B.Op2(ir.Add, h, h.V(), ir.K(1))
		e.B.Op2(ir.And, h, h.V(), last)
	})
	e.B.Set(d, ir.NE, w.V(), none) // the needle itself may be empty's value, which is not in the list
	e.B.Clear(w, h, tab)
}

// inTexts looks a text up by its hash. A slot has the hash, and where the text is in the pool; a
// slot without text has length -1.
func (e *Evaluator) inTexts(d ir.Reg, v code.Value, items []types.Value) {
	const slot = 16
	logSlots := bits.Len(uint(len(items))) + listSlotBits
	mask := uint64(1)<<logSlots - 1
	texts := []byte{}
	table := make([]byte, slot*(mask+1))
	for i := range mask + 1 {
		binary.LittleEndian.PutUint32(table[i*slot+12:], 1<<32-1)
	}
	for _, c := range items {
		h := text.HashOf(c.S)
		for at := h & mask; ; at = (at + 1) & mask {
			s := table[at*slot:][:slot]
			n := binary.LittleEndian.Uint32(s[12:])
			if n == 1<<32-1 {
				binary.LittleEndian.PutUint64(s, h)
				binary.LittleEndian.PutUint32(s[8:], uint32(len(texts)))
				binary.LittleEndian.PutUint32(s[12:], uint32(len(c.S)))
				texts = append(append(texts, c.S...), make([]byte, 8)...)
				break
			}
			off := binary.LittleEndian.Uint32(s[8:])
			if string(texts[off:off+n]) == c.S {
				break
			}
		}
	}
	h := e.Int("hash")
	e.B.Mov(h, ir.K(layout.HashSeed))
	text.Hash(&e.Emitter, h, v)
	tab, at, p, n := e.PoolAt("list", string(table)+string(texts)), e.Int("slot"), e.Int("item"), e.Int("len")
	texts0, last := e.Fact(int64(len(table))), e.Fact(int64(mask*slot))
	e.B.Op2(ir.And, at, h.V(), e.Fact(int64(mask)))
	e.B.Op2(ir.Shl, at, at.V(), ir.K(4))
	e.B.Mov(d, ir.K(0))
	e.Loop(func(l int32) {
		e.B.Load(n, ir.AtIndex(tab, at, 1, 12), 4, false)
		e.B.Break(l, ir.EQ, n.V(), ir.K(1<<32-1))
		e.B.Load8(p, ir.AtIndex(tab, at, 1, 0))
		e.When(ir.EQ, p.V(), h.V(), func() {
			e.B.Load(p, ir.AtIndex(tab, at, 1, 8), 4, false)
			e.B.Op2(ir.Add, p, p.V(), tab.V())
			e.B.Op2(ir.Add, p, p.V(), texts0)
			same := text.Equal(&e.Emitter, ir.EQ, v.Borrowed(), code.Value{Desc: v.Desc, A: p.V(), B: n.V(), Null: ir.K(0)})
			e.B.Mov(d, same.V())
			e.B.Clear(same)
			e.B.Break(l, ir.NE, d.V(), ir.K(0))
		}, nil)
		e.B.Op2(ir.Add, at, at.V(), ir.K(slot))
		e.B.Op2(ir.And, at, at.V(), last)
	})
	e.B.Clear(n, p, at, tab, h)
}
