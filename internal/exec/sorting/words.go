package sorting

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Word is one of the words that a tuple's keys become, for those who compute them elsewhere. Words order
// as unsigned numbers, the first counts most.
type Word struct {
	Parts []Part        // the most significant first
	Text  *layout.Field // behind them its first bytes, nil: none
	Bytes uint          // how many
	Desc  bool          // the bytes are inverted
}

// Part is a number below 1<<Bits in a word. What is not NULL is the field's Kind less Base; where Flip is set, it is
// taken from Max; where First is set and the part tells NULL apart, it is one more.
type Part struct {
	Kind        PartKind
	Bits        uint
	Off, Width  int
	Signed      bool
	Null        int // of the NULL byte; -1: never NULL
	OfNull      uint64
	Flip, First bool
	Base, Max   uint64
	Dict        *column.Dict
}

// PartKind is what of a field becomes a number.
type PartKind uint8

const (
	IntPart   PartKind = iota // an integer
	RankPart                  // the rank of a dictionary's code
	FloatPart                 // a float: NaN above all, zeros equal
	NullPart                  // 1 for what comes behind the other: NULL, or what is not
)

// Words are what the keys of tuples become; false: the keys have forms that only Go knows.
func Words(t *layout.Tuple, keys []plan.SortKey) ([]Word, bool) {
	ks := make([]key, len(keys))
	for i, k := range keys {
		ks[i] = key{f: t.Find(int32(k.Col)), desc: k.Desc, nullsFirst: k.NullsFirst}
	}
	var out []Word
	for _, w := range keyWords(ks) {
		word := Word{}
		for i := range w.parts {
			p := &w.parts[i]
			if p.kind == spanHi || p.kind == spanLo || p.kind == hashPart {
				return nil, false
			}
			part := Part{Kind: PartKind(p.kind), Bits: p.bits, Off: int(p.at.Off), Width: int(p.at.Width), Signed: p.at.Signed(), Null: -1,
				Flip: p.flip, Base: p.base, Max: p.max, Dict: p.dict}
			if p.null != 0 {
				part.Null, part.OfNull = int(p.null), p.ofNull()
				part.First = p.first && (p.bits < 64 || p.kind == nullPart)
			}
			word.Parts = append(word.Parts, part)
		}
		if w.text >= 0 {
			word.Text, word.Bytes, word.Desc = ks[w.text].f, w.bytes, ks[w.text].desc
		}
		out = append(out, word)
	}
	return out, true
}

// Bits is how many bits of the word are in use.
func (w *Word) Bits() int {
	n := 8 * int(w.Bytes)
	for i := range w.Parts {
		n += int(w.Parts[i].Bits)
	}
	return n
}
