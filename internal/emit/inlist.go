package emit

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Lists of up to fewItems literals are compared one by one. Longer ones are looked up in a table that
// lies with the literals: a bitmap where integers are close together, else a hash table.
const (
	fewItems     = 6
	maxListBits  = 1 << 19 // 64 KiB
	listSlotBits = 2       // slots per item, as a power of two
)

// inList is x IN (literals).
func (e *evaluator) inList(x *plan.Call) value {
	needle := e.eval(x.Args[0])
	if needle.isNull() {
		e.free(needle)
		return e.nullValue(types.TBool)
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
	d := e.int("in")
	switch {
	case needle.d.Form == layout.I64:
		e.inIntegers(d, needle, items)
	case needle.d.Type.Phys() == types.PhysStr:
		needle = e.text(needle)
		if keys, ok := shortKeys(items); ok {
			w := e.shortWord(needle)
			e.inIntegers(d, w, keys)
			e.free(w)
		} else if len(items) > fewItems && !e.Off.LookupTables {
			e.inTexts(d, needle, items)
		} else {
			e.inTurn(d, needle, items)
		}
	default:
		e.inTurn(d, needle, items)
	}
	v := boolVal(d)
	n, own := e.anyNull(needle)
	if sawNull { // not found among the rest: unknown
		t := e.int("null")
		e.b.Set(t, ir.EQ, d.V(), ir.K(0))
		if !n.IsImm() {
			e.b.Op2(ir.Or, t, t.V(), n)
		}
		e.freeNull(n, own)
		n, own = t.V(), true
	}
	if !needle.never() {
		e.b.Sel(d, ir.NE, needle.null, ir.K(0), ir.K(0), d.V())
	}
	e.free(needle)
	return v.withNull(n, own)
}

// inTurn compares with each literal until one is equal.
func (e *evaluator) inTurn(d ir.Reg, needle value, items []types.Value) {
	e.b.Mov(d, ir.K(0))
	for _, c := range items {
		e.when(ir.EQ, d.V(), ir.K(0), func() {
			if needle.d.Form == layout.Str {
				t := e.equalLiteral(needle, c.S)
				e.b.Mov(d, t.V())
				e.b.Clear(t)
				return
			}
			k := e.constant(c)
			t := e.comparison(ir.EQ, needle, k)
			e.b.Mov(d, t.V())
			e.b.Clear(t)
			e.free(k)
		}, nil)
	}
}

// inIntegers finds an integer among literals, of which those outside of its range do not count.
func (e *evaluator) inIntegers(d ir.Reg, v value, items []types.Value) {
	ks := listed(v.d.Range, items)
	if len(ks) == 0 {
		e.b.Mov(d, ir.K(0))
		return
	}
	lo := ks[0]
	span := uint64(ks[len(ks)-1]) - uint64(lo) // the largest distance; up to 2^64-1
	switch {
	case len(ks) > 2 && span < 64:
		e.inWord(d, v, ks)
	case len(ks) <= fewItems || e.Off.LookupTables:
		e.b.Mov(d, ir.K(0))
		t := e.int("is")
		for i, k := range ks {
			if i == 0 {
				e.b.Set(d, ir.EQ, v.a, ir.K(k))
				continue
			}
			e.b.Set(t, ir.EQ, v.a, ir.K(k))
			e.b.Op2(ir.Or, d, d.V(), t.V())
		}
		e.b.Clear(t)
	case span < maxListBits:
		e.inListBitmap(d, v, ks, span)
	default:
		e.inHashed(d, v, ks)
	}
}

// listed is the integers of a list that lie in a range, each once, in order.
func listed(r layout.Range, items []types.Value) []int64 {
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
func (e *evaluator) inWord(d ir.Reg, v value, ks []int64) {
	var mask uint64
	for _, k := range ks {
		mask |= 1 << uint(k-ks[0])
	}
	t := e.int("bit")
	e.b.Op2(ir.Sub, t, v.a, ir.K(ks[0]))
	e.b.Op2(ir.Shr, d, ir.K(int64(mask)), t.V())
	e.b.Op2(ir.And, d, d.V(), ir.K(1))
	e.b.Sel(d, ir.ULT, t.V(), ir.K(64), d.V(), ir.K(0))
	e.b.Clear(t)
}

// inListBitmap looks a bit up; what lies outside takes the bit before the first, which is 0.
func (e *evaluator) inListBitmap(d ir.Reg, v value, ks []int64, span uint64) {
	table := make([]byte, (span+1)/8+1)
	for _, k := range ks {
		at := uint64(k) - uint64(ks[0]) + 1
		table[at/8] |= 1 << (at % 8)
	}
	tab, at, t := e.poolAt("list", string(table)), e.int("at"), e.int("byte")
	e.b.Op2(ir.Sub, at, v.a, ir.K(ks[0]-1))
	e.b.Sel(at, ir.UGT, at.V(), ir.K(int64(span+1)), ir.K(0), at.V())
	e.b.Op2(ir.Shr, t, at.V(), ir.K(3))
	e.b.Load(d, ir.AtIndex(tab, t, 1, 0), 1, false)
	e.b.Op2(ir.And, at, at.V(), ir.K(7))
	e.b.Op2(ir.Shr, d, d.V(), at.V())
	e.b.Op2(ir.And, d, d.V(), ir.K(1))
	e.b.Clear(t, at, tab)
}

// inHashed looks an integer up in a table of open addressing.
func (e *evaluator) inHashed(d ir.Reg, v value, ks []int64) {
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
	tab, h, w := e.poolAt("list", string(table)), e.int("hash"), e.int("item")
	e.b.Op2(ir.Mul, h, v.a, ir.K(layout.HashMul))
	e.b.Op2(ir.Shr, h, h.V(), ir.K(int64(64-logSlots)))
	e.loop(func(l int32) {
		e.b.Load8(w, ir.AtIndex(tab, h, 8, 0))
		e.b.Break(l, ir.EQ, w.V(), v.a)
		e.b.Break(l, ir.EQ, w.V(), ir.K(empty))
		e.b.Op2(ir.Add, h, h.V(), ir.K(1))
		e.b.Op2(ir.And, h, h.V(), ir.K(int64(mask)))
	})
	e.b.Set(d, ir.NE, w.V(), ir.K(empty)) // the needle itself may be empty's value, which is not in the list
	e.b.Clear(w, h, tab)
}

// inTexts looks a text up by its hash. A slot has the hash, and where the text is in the pool; a
// slot without text has length -1.
func (e *evaluator) inTexts(d ir.Reg, v value, items []types.Value) {
	const slot = 16
	logSlots := bits.Len(uint(len(items))) + listSlotBits
	mask := uint64(1)<<logSlots - 1
	texts := []byte{}
	table := make([]byte, slot*(mask+1))
	for i := range mask + 1 {
		binary.LittleEndian.PutUint32(table[i*slot+12:], 1<<32-1)
	}
	for _, c := range items {
		h := hashTextGo(c.S)
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
	h := e.int("hash")
	e.b.Mov(h, ir.K(layout.HashSeed))
	e.hashText(h, v)
	tab, at, p, n := e.poolAt("list", string(table)+string(texts)), e.int("slot"), e.int("item"), e.int("len")
	e.b.Op2(ir.And, at, h.V(), ir.K(int64(mask)))
	e.b.Op2(ir.Shl, at, at.V(), ir.K(4))
	e.b.Mov(d, ir.K(0))
	e.loop(func(l int32) {
		e.b.Load(n, ir.AtIndex(tab, at, 1, 12), 4, false)
		e.b.Break(l, ir.EQ, n.V(), ir.K(1<<32-1))
		e.b.Load8(p, ir.AtIndex(tab, at, 1, 0))
		e.when(ir.EQ, p.V(), h.V(), func() {
			e.b.Load(p, ir.AtIndex(tab, at, 1, 8), 4, false)
			e.b.Op2(ir.Add, p, p.V(), tab.V())
			e.b.Op2(ir.Add, p, p.V(), ir.K(int64(len(table))))
			same := e.textEqual(ir.EQ, v.borrowed(), value{d: v.d, a: p.V(), b: n.V(), null: ir.K(0)})
			e.b.Mov(d, same.V())
			e.b.Clear(same)
			e.b.Break(l, ir.NE, d.V(), ir.K(0))
		}, nil)
		e.b.Op2(ir.Add, at, at.V(), ir.K(slot))
		e.b.Op2(ir.And, at, at.V(), ir.K(int64(mask*slot)))
	})
	e.b.Clear(n, p, at, tab, h)
}
