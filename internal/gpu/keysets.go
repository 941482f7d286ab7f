package gpu

import (
	"fmt"
	"math"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Semi-join filters: the values of a build side's key as a bitmap or a Bloom filter, by which scans drop rows before they
// read other columns. A bitmap is a small part of a table that is addressed by the key, and stays in the cache where that does not.

// keySet is the values of one build key.
type keySet struct {
	filter scanned.Filter // without the column
	addr   device.Addr
}

// set is the set of key number i, made when it is first wanted; nil: the keys are all NULL.
func (s *buildSink) set(i int) (*keySet, error) {
	if k, ok := s.sets[i]; ok {
		return k, nil
	}
	if s.sets == nil {
		s.sets = map[int]*keySet{}
	}
	t, f := s.table, &s.tuple.Fields[i]
	if i == 0 && (t.Kind == layout.Direct || t.Kind == layout.DenseBuckets) {
		k, err := s.slotSet()
		s.sets[i] = k
		return k, err
	}
	lo, hi, err := s.keyRange(i)
	if err != nil {
		return nil, err
	}
	if lo > hi {
		s.sets[i] = nil
		return nil, nil
	}
	d := phys.ChooseKeySet(t.Rows, lo, hi, s.r.walk.Can)
	k := &keySet{filter: scanned.Filter{Range: layout.Between(lo, hi), Kind: d.Kind, Bits: d.Bits}}
	words := int64(1) << d.Bits
	if d.Kind == layout.Bitmap {
		words = int64((uint64(hi)-uint64(lo))/64) + 1
	}
	if k.addr, err = s.r.allocZero(8 * words); err != nil {
		return nil, err
	}
	if d.Kind == layout.Bitmap {
		err = s.r.do(func() *ir.Func { return keyBits(s.tuple.Size, f) }, s.n, uint64(k.addr), uint64(s.start), uint64(lo))
	} else {
		err = s.r.do(func() *ir.Func { return keyBloom(s.tuple.Size, f) }, s.n, uint64(k.addr), uint64(s.start), uint64(64-d.Bits))
	}
	s.sets[i] = k
	return k, err
}

// slotSet takes the set from a table that is addressed by the key, without an atomic operation.
func (s *buildSink) slotSet() (k *keySet, err error) {
	t := s.table
	k = &keySet{filter: scanned.Filter{Range: layout.Between(t.Min, t.Min+t.Span-1), Kind: layout.Bitmap}}
	if k.addr, err = s.r.alloc((t.Span + 31) / 32 * 4); err != nil {
		return nil, err
	}
	return k, s.r.do(func() *ir.Func { return slotBits(t.Kind == layout.DenseBuckets) }, t.Span, uint64(t.Slots), uint64(k.addr))
}

// slotBits makes a bitmap of slots of 4 bytes that have a tuple: slots, bitmap. Slots of buckets have one if the next differs.
func slotBits(buckets bool) *ir.Func {
	return bitmapKernel(fmt.Sprintf("slot_bits_%t", buckets), []string{"slots", "bitmap"}, func(k *kernel, s []ir.Reg, bit ir.Reg) {
		k.Load(bit, ir.AtIndex(s[0], k.item, 4, 0), 4, false)
		if buckets {
			next := k.Vreg("next", ir.I64)
			k.Load(next, ir.AtIndex(s[0], k.item, 4, 4), 4, false)
			k.Op2(ir.Sub, bit, next.V(), bit.V())
			k.Clear(next)
		}
	})
}

// keyRange is the smallest and the largest value of key number i, the wrong way round if there is none. Of the first key the pipeline's kernels have
// found that, where it is an integer.
func (s *buildSink) keyRange(i int) (lo, hi int64, err error) {
	f := &s.tuple.Fields[i]
	if i == 0 && f.Desc.Form == layout.I64 {
		return s.lo, s.hi, nil
	}
	at, err := s.r.word(math.MaxInt64, 1<<63)
	if err != nil {
		return 0, 0, err
	}
	if err := s.r.do(func() *ir.Func { return keyRange(s.tuple.Size, f) }, s.n, uint64(at), uint64(s.start)); err != nil {
		return 0, 0, err
	}
	x, err := s.r.read(at, 2)
	if err != nil {
		return 0, 0, err
	}
	return int64(x[0]), int64(x[1]), nil
}

// fieldName tells kernels for different fields apart.
func fieldName(size int, f *layout.Field) string {
	return fmt.Sprintf("%d_%d_%d_%t_%d", size, f.Off, f.Width, f.Signed(), f.Null+1)
}

// unlessNull emits what is done for tuples whose field is not NULL.
func (k *kernel) unlessNull(tuple ir.Reg, f *layout.Field, then func()) {
	if f.Null < 0 {
		then()
		return
	}
	null := k.Vreg("null", ir.I64)
	k.Load(null, ir.At(tuple, f.Null), 1, false)
	k.when(ir.EQ, null.V(), ir.K(0), then)
	k.Clear(null)
}

// overKeys is a kernel over the keys of tuples that are not NULL; the tuples are its second parameter.
func overKeys(name string, size int, f *layout.Field, params []string, body func(k *kernel, s []ir.Reg, key ir.Reg)) *ir.Func {
	return newKernel(name+"_"+fieldName(size, f), func(k *kernel) []ir.Reg { return k.load(params...) },
		func(k *kernel, s []ir.Reg) {
			a := k.tupleOf(s[1], size)
			k.unlessNull(a, f, func() {
				key := k.keyOf(a, f)
				body(k, s, key)
				k.Clear(key)
			})
			k.Clear(a)
		})
}

// keyRange finds the smallest and the largest key: range (two words), tuples.
func keyRange(size int, f *layout.Field) *ir.Func {
	return overKeys("range", size, f, []string{"range", "tuples"}, func(k *kernel, s []ir.Reg, x ir.Reg) {
		old := k.Vreg("old", ir.I64)
		// Most keys are neither: looking is cheaper than an atomic operation.
		k.Load8(old, ir.At(s[0], 0))
		k.when(ir.LT, x.V(), old.V(), func() { k.Atom(ir.AtomMin, old, ir.At(s[0], 0), x.V(), ir.Val{}) })
		k.Load8(old, ir.At(s[0], 8))
		k.when(ir.GT, x.V(), old.V(), func() { k.Atom(ir.AtomMax, old, ir.At(s[0], 8), x.V(), ir.Val{}) })
		k.Clear(old)
	})
}

// keyBits sets the bits of keys: bitmap, tuples, smallest key.
func keyBits(size int, f *layout.Field) *ir.Func {
	return overKeys("bits", size, f, []string{"bitmap", "tuples", "min"}, func(k *kernel, s []ir.Reg, x ir.Reg) {
		bit := k.Vreg("bit", ir.I64)
		k.Op2(ir.Sub, x, x.V(), s[2].V())
		k.Op2(ir.And, bit, x.V(), ir.K(63))
		k.Op2(ir.Shl, bit, ir.K(1), bit.V())
		k.Op2(ir.Shr, x, x.V(), ir.K(6))
		k.orInto(s[0], x, bit)
		k.Clear(bit)
	})
}

// keyBloom sets two bits of a word for each key's hash: words, tuples, shift that makes a word's number of a hash.
func keyBloom(size int, f *layout.Field) *ir.Func {
	return overKeys("bloom", size, f, []string{"words", "tuples", "shift"}, func(k *kernel, s []ir.Reg, h ir.Reg) {
		bits, bit := k.Vreg("bits", ir.I64), k.Vreg("bit", ir.I64)
		k.hashInt(h)
		k.Op2(ir.And, bits, h.V(), ir.K(63))
		k.Op2(ir.Shl, bits, ir.K(1), bits.V())
		k.Op2(ir.Shr, bit, h.V(), ir.K(6))
		k.Op2(ir.And, bit, bit.V(), ir.K(63))
		k.Op2(ir.Shl, bit, ir.K(1), bit.V())
		k.Op2(ir.Or, bits, bits.V(), bit.V())
		k.Op2(ir.Shr, h, h.V(), s[2].V())
		k.orInto(s[0], h, bits)
		k.Clear(bits, bit)
	})
}

// orInto sets bits of a word. Those of keys that come again are set already: looking is cheaper than an atomic operation.
func (k *kernel) orInto(words, i, bits ir.Reg) {
	old := k.Vreg("old", ir.I64)
	k.Load8(old, ir.AtIndex(words, i, 8, 0))
	k.Op2(ir.And, old, old.V(), bits.V())
	k.when(ir.NE, old.V(), bits.V(), func() { k.Atom(ir.AtomOr, old, ir.AtIndex(words, i, 8, 0), bits.V(), ir.Val{}) })
	k.Clear(old)
}
