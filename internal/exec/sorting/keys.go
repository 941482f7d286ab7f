package sorting

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Sort keys become numbers that order as they do, packed into words of 64 bits: a date takes 12 bits,
// a dictionary's text the bits of its rank. Often one word holds all keys, and then tuples are never
// compared. Texts without dictionary have a word that holds their first bytes only.

// key is one key of a sort.
type key struct {
	f          *layout.Field
	desc       bool
	nullsFirst bool
	text       func(code uint64) []byte // dictionary fields
	grouped    bool                     // equal values come together, in whatever order
	keyed      bool                     // bytes do not compare it: see types.OrderKey
}

func keysOf(t *layout.Tuple, ks []plan.SortKey, view func(*column.Dict) column.DictView) []key {
	out := make([]key, len(ks))
	for i, k := range ks {
		f := t.Find(int32(k.Col))
		out[i] = key{f: f, desc: k.Desc, nullsFirst: k.NullsFirst, keyed: f.Desc.Type.Keyed()}
		if f.Desc.Form == layout.Code {
			texts := view(f.Desc.Dict)
			out[i].text = func(code uint64) []byte { return texts.Bytes(int(code)) }
		}
	}
	return out
}

// keyWord is what is packed into one word of the sort: parts, the most significant first, and
// where text is set the first bytes of that key behind them.
type keyWord struct {
	parts []keyPart
	text  int  // number of a key; -1: the word is all parts
	bytes uint // of text that the word holds
}

// keyPart is a key, or a piece of one, as a number below 1<<bits.
type keyPart struct {
	kind  partKind
	bits  uint
	at    tuples.Word
	null  uintptr // of the NULL byte; 0: none
	flip  bool    // descending: max - number
	base  uint64  // the smallest value
	max   uint64  // the largest number of what is not NULL, after base is taken away
	first bool    // NULL is 0 and others begin at 1; else NULL is max+1
	ranks []uint32
	dict  *column.Dict // of the ranks
	key   int          // the number of the key
}

type partKind uint8

const (
	intPart      partKind = iota // a word less base
	rankPart                     // the rank of a dictionary's code
	floatPart                    // a float
	nullPart                     // whether it is NULL
	hashPart                     // the hash of a text
	spanHi                       // an interval's length, high word
	spanLo                       // … and low word
	smallestBits = 24            // bits left in a word that are worth filling with a text's first bytes
)

// keyWords packs keys.
func keyWords(keys []key) []keyWord {
	b := &packer{}
	for i := range keys {
		b.at = i
		b.key(i, &keys[i])
	}
	return b.words
}

type packer struct {
	words []keyWord
	free  uint // bits of the last word
	at    int  // the key that is being packed
}

func (b *packer) add(p keyPart) {
	if p.bits == 0 {
		return
	}
	if p.bits > b.free {
		b.words = append(b.words, keyWord{text: -1})
		b.free = 64
	}
	p.key = b.at
	w := &b.words[len(b.words)-1]
	w.parts = append(w.parts, p)
	b.free -= p.bits
}

func (b *packer) key(i int, k *key) {
	f := k.f
	p := keyPart{at: tuples.WordOf(f), flip: k.desc, first: k.nullsFirst}
	if f.Null >= 0 {
		p.null = uintptr(f.Null)
	}
	nullBit := func() {
		if f.Null >= 0 {
			b.add(keyPart{kind: nullPart, bits: 1, null: p.null, first: k.nullsFirst})
		}
	}
	whole := func(kind partKind, off int, base uint64) { // a word of its own
		b.add(keyPart{kind: kind, bits: 64, at: tuples.Word{Off: uintptr(f.Off + off), Width: 8}, null: p.null, flip: k.desc, base: base, max: math.MaxUint64, first: k.nullsFirst})
	}
	switch f.Desc.Form {
	case layout.I64, layout.I128:
		if span, ok := narrow(f.Desc.Range); ok {
			p.base, p.max = f.Desc.Range.Lo.Lo, span
			b.bounded(p)
			return
		}
		nullBit()
		const sign = 1 << 63
		if f.Desc.Form == layout.I64 {
			whole(intPart, 0, sign)
		} else {
			whole(intPart, 8, sign)
			whole(intPart, 0, 0)
		}
	case layout.F64: // NULL has numbers that no float has
		whole(floatPart, 0, 0)
	case layout.Ivl:
		nullBit()
		whole(spanHi, 0, 0)
		whole(spanLo, 0, 0)
	case layout.Code:
		p.kind, p.ranks, p.dict = rankPart, f.Desc.Dict.Ranks(), f.Desc.Dict
		p.max = uint64(max(len(p.ranks)-1, 0))
		b.bounded(p)
	default:
		nullBit()
		if k.grouped {
			whole(hashPart, 0, 0)
			return
		}
		if b.free < smallestBits {
			b.words = append(b.words, keyWord{})
			b.free = 64
		}
		w := &b.words[len(b.words)-1]
		w.text, w.bytes = i, b.free/8
		b.free = 0 // what follows decides only between texts that are equal
	}
}

// bounded adds a part with numbers up to p.max, and one more for NULL.
func (b *packer) bounded(p keyPart) {
	top := p.max
	if p.null != 0 {
		top++
	}
	p.bits = uint(bits.Len64(top))
	b.add(p)
}

// narrow reports a range of less than 63 bits, and its largest value less its smallest.
func narrow(r layout.Range) (span uint64, ok bool) {
	if !r.Known || r.Lo.Cmp(r.Hi) > 0 {
		return 0, false
	}
	d, ok := r.Hi.SubOK(r.Lo)
	return d.Lo, ok && d.Hi == 0 && d.Lo < 1<<62
}

// number is the part's value for the tuple at a.
func (p *keyPart) number(a uintptr) uint64 {
	if p.null != 0 && mem.Load8(a+p.null) != 0 {
		return p.ofNull()
	}
	var x uint64
	switch p.kind {
	case intPart:
		x = p.at.Load(a) - p.base
	case rankPart:
		x = uint64(p.ranks[p.at.Load(a)])
	case floatPart:
		x = orderedFloat(math.Float64frombits(p.at.Load(a)))
	case nullPart:
		if p.first {
			return 1
		}
		return 0
	case hashPart:
		return textHash(mem.Bytes(uintptr(mem.Load64(a+p.at.Off)), int(mem.Load64(a+p.at.Off+8))))
	case spanHi:
		x = uint64(interval(a+p.at.Off).Hi) ^ 1<<63
	case spanLo:
		x = interval(a + p.at.Off).Lo
	}
	if p.flip {
		x = p.max - x
	}
	if p.first && p.null != 0 && p.bits < 64 {
		x++
	}
	return x
}

// ofNull is the number of NULL.
func (p *keyPart) ofNull() uint64 {
	switch {
	case p.first:
		return 0
	case p.kind == nullPart:
		return 1
	case p.kind == floatPart:
		return math.MaxUint64
	case p.bits == 64: // a nullPart came before
		return 0
	}
	return p.max + 1
}

// fillRows is how many entries get their keys at a time: their tuples stay in the cache from part to part.
const fillRows = 1 << 10

// shiftIn appends the part's number to the keys of at most fillRows entries, whose tuples are at addrs.
func shiftIn[E item](p *keyPart, es []E, addrs []uintptr) {
	s := p.bits & 63 // a word of its own has nothing before it
	if p.kind != intPart && p.kind != rankPart && p.kind != floatPart {
		for i := range es {
			setKey(&es[i], keyOf(&es[i])<<s|p.number(addrs[i]))
		}
		return
	}
	var room [fillRows]uint64
	xs := room[:len(es)]
	p.at.LoadMany(addrs, xs)
	switch p.kind {
	case intPart:
		for i := range xs {
			xs[i] -= p.base
		}
	case rankPart:
		for i, x := range xs {
			xs[i] = 0
			if x < uint64(len(p.ranks)) { // NULL may have any code
				xs[i] = uint64(p.ranks[x])
			}
		}
	case floatPart:
		for i, x := range xs {
			xs[i] = orderedFloat(math.Float64frombits(x))
		}
	}
	if p.flip {
		for i, x := range xs {
			xs[i] = p.max - x
		}
	}
	if p.null != 0 {
		up := uint64(0)
		if p.first && p.bits < 64 {
			up = 1
		}
		null := p.ofNull()
		for i, x := range xs {
			x += up
			if mem.Load8(addrs[i]+p.null) != 0 {
				x = null
			}
			xs[i] = x
		}
	}
	for i, x := range xs {
		setKey(&es[i], keyOf(&es[i])<<s|x)
	}
}

// fill computes the word for all entries.
func (w *keyWord) fill(es []entry, keys []key) {
	if len(es) < fillRows/16 {
		w.fillFew(es, keys)
		return
	}
	var room [fillRows]uintptr
	for lo := 0; lo < len(es); lo += fillRows {
		part := es[lo:min(lo+fillRows, len(es))]
		addrs := room[:len(part)]
		for i := range part {
			part[i].key, addrs[i] = 0, part[i].addr
		}
		for i := range w.parts {
			shiftIn(&w.parts[i], part, addrs)
		}
		if w.text >= 0 {
			k, s := &keys[w.text], 8*w.bytes
			for i := range part {
				e := &part[i]
				e.key = e.key<<(s&63) | k.chunk(e.addr, 0)>>(64-s)
			}
		}
	}
}

// fillFew is fill, tuple by tuple.
func (w *keyWord) fillFew(es []entry, keys []key) {
	for i := range es {
		e := &es[i]
		e.key = 0
		for k := range w.parts {
			p := &w.parts[k]
			e.key = e.key<<(p.bits&63) | p.number(e.addr)
		}
		if w.text >= 0 {
			s := 8 * w.bytes
			e.key = e.key<<(s&63) | keys[w.text].chunk(e.addr, 0)>>(64-s)
		}
	}
}

// chunk is the 8 bytes of a text from depth on as a number; NULL and what is behind the end are zeros.
func (k *key) chunk(a uintptr, depth int) uint64 {
	var x uint64
	if !k.isNull(a) {
		if t := k.bytes(a); len(t) > depth {
			x = bits.ReverseBytes64(mem.Load64(mem.AddressOf(t) + uintptr(depth))) // texts can be read by words
			if n := len(t) - depth; n < 8 {
				x &^= math.MaxUint64 >> (8 * n)
			}
		}
	}
	if k.desc {
		x = ^x
	}
	return x
}

func (k *key) isNull(a uintptr) bool {
	return k.f.Null >= 0 && mem.Load8(a+uintptr(k.f.Null)) != 0
}

func (k *key) bytes(a uintptr) []byte {
	if k.text != nil {
		return k.text(tuples.WordOf(k.f).Load(a))
	}
	return mem.Bytes(uintptr(mem.Load64(a+uintptr(k.f.Off))), int(mem.Load64(a+uintptr(k.f.Off)+8)))
}

func (k *key) value(a uintptr) types.Value {
	return types.Value{Type: k.f.Desc.Type, S: string(k.bytes(a))}
}

// orderedFloat maps floats to numbers in PostgreSQL's order: NaN above all, zeros equal. No float
// becomes the smallest or the largest number.
func orderedFloat(f float64) uint64 {
	if f != f {
		return math.MaxUint64 - 1
	}
	b := math.Float64bits(f + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63) // all bits of negative numbers, the sign of others
}

// compare orders two tuples by the key.
func (k *key) compare(a, b uintptr) int {
	na, nb := k.isNull(a), k.isNull(b)
	if na || nb {
		switch {
		case na && nb:
			return 0
		case na == k.nullsFirst:
			return -1
		default:
			return 1
		}
	}
	off := uintptr(k.f.Off)
	var c int
	switch k.f.Desc.Form {
	case layout.I64:
		at := tuples.WordOf(k.f)
		c = cmp.Compare(int64(at.Load(a)), int64(at.Load(b)))
	case layout.I128:
		x := types.Int128{Lo: mem.Load64(a + off), Hi: int64(mem.Load64(a + off + 8))}
		y := types.Int128{Lo: mem.Load64(b + off), Hi: int64(mem.Load64(b + off + 8))}
		c = x.Cmp(y)
	case layout.F64:
		c = cmp.Compare(orderedFloat(math.Float64frombits(mem.Load64(a+off))), orderedFloat(math.Float64frombits(mem.Load64(b+off))))
	case layout.Ivl:
		c = interval(a + off).Cmp(interval(b + off))
	default:
		if k.keyed {
			c = types.Compare(k.value(a), k.value(b))
		} else {
			c = bytes.Compare(k.bytes(a), k.bytes(b))
		}
	}
	if k.desc {
		c = -c
	}
	return c
}

func interval(a uintptr) types.Int128 {
	w := int64(mem.Load64(a))
	return types.IntervalKey(int32(w>>32), int32(uint32(w)), int64(mem.Load64(a+8)))
}
