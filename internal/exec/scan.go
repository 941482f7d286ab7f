package exec

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

func (j *job) scan() *plan.Scan { return j.p.Source.(*pipe.Table).Scan }

// emptyShape is a stand-in for the shape of a column without any segment.
func emptyShape(scan *plan.Scan, k int) emit.Shape {
	s := column.Shape{Width: 8}
	switch scan.Table.Columns[scan.Ordinal[k]].Type.Phys() {
	case types.PhysI128:
		s.Enc = column.EncI128
	case types.PhysF64:
		s.Enc = column.EncF64
	case types.PhysStr:
		s.Enc = column.EncStr
	case types.PhysIvl:
		s.Enc = column.EncIvl
	}
	return emit.Shape{Shape: s}
}

// skipSegment reports that no row of the segment can pass the scan's filter, by its zone maps.
func skipSegment(scan *plan.Scan, seg *catalog.Segment, filters []emit.ScanFilter) bool {
	chunk := func(id plan.ColID) *column.Chunk {
		for k, c := range scan.Cols {
			if c == id {
				return seg.Chunks[scan.Ordinal[k]]
			}
		}
		return nil
	}
	for _, x := range scan.Filter {
		c, ok := x.(*plan.Call)
		if !ok || !c.Op.IsComparison() {
			continue
		}
		ref, k := operands(c)
		if ref == nil || k.V.Null {
			continue
		}
		ch := chunk(ref.ID)
		if ch == nil || ref.T.Kind != k.V.Type.Kind {
			continue
		}
		if ch.Zone.NullCount == seg.Rows {
			return true
		}
		if ref.T.Kind == types.Interval || ref.T.IsFloat() {
			continue
		}
		op := c.Op
		if _, flipped := c.Args[1].(*plan.Ref); flipped {
			op = op.Mirror()
		}
		lo, hi := types.Compare(ch.Zone.Min, k.V), types.Compare(ch.Zone.Max, k.V)
		switch op {
		case plan.Eq:
			if lo > 0 || hi < 0 {
				return true
			}
		case plan.Lt:
			if lo >= 0 {
				return true
			}
		case plan.Le:
			if lo > 0 {
				return true
			}
		case plan.Gt:
			if hi <= 0 {
				return true
			}
		case plan.Ge:
			if hi < 0 {
				return true
			}
		}
	}
	for _, f := range filters {
		ch := chunk(f.Col)
		if ch == nil || ch.Enc != column.EncInt {
			continue
		}
		if ch.Zone.NullCount == seg.Rows ||
			ch.Zone.Min.Int128().Cmp(f.Range.Hi) > 0 || ch.Zone.Max.Int128().Cmp(f.Range.Lo) < 0 {
			return true
		}
	}
	return false
}

// operands takes a comparison of a column with a literal apart.
func operands(c *plan.Call) (*plan.Ref, *plan.Const) {
	for i := range 2 {
		if r, ok := c.Args[i].(*plan.Ref); ok {
			if k, ok := c.Args[1-i].(*plan.Const); ok {
				return r, k
			}
		}
	}
	return nil, nil
}

// filterBits is a semi-join filter's set in memory.
type filterBits struct {
	addr uintptr
}

// maxBitmap bounds the bytes of an exact semi-join filter.
const maxBitmap = 8 << 20

// scanFilters makes the semi-join filters that are ready and promise to drop rows.
func (j *job) scanFilters(t *pipe.Table, req *emit.Request) error {
	if j.r.NoReduce {
		return nil
	}
	for _, rd := range t.Reduce {
		b, ok := j.r.sinks[rd.Build].(*buildSink)
		if !ok || b.table == nil || len(b.s.NullSafe) > 0 && b.s.NullSafe[rd.Key] {
			continue
		}
		f := b.tuple.Fields[rd.Key]
		if f.Desc.Form != layout.I64 || !isIntColumn(t.Scan, rd.Col) {
			continue
		}
		kf, err := b.keyFilter(rd.Key)
		if err != nil {
			return err
		}
		sf := emit.ScanFilter{Col: rd.Col, Range: kf.rng, Kind: kf.kind, Bits: kf.bits, Index: len(j.filters)}
		if sf.Share = kf.share(t.Scan, rd.Col); sf.Share > 0.8 {
			continue
		}
		j.filters = append(j.filters, filterBits{kf.addr})
		req.Filters = append(req.Filters, sf)
	}
	return nil
}

func isIntColumn(scan *plan.Scan, id plan.ColID) bool {
	for k, c := range scan.Cols {
		if c == id {
			return scan.Table.Columns[scan.Ordinal[k]].Type.Phys() == types.PhysI64
		}
	}
	return false
}

// keyFilter is the set of values of one build key.
type keyFilter struct {
	rng   layout.Range
	kind  emit.FilterKind
	bits  uint8
	addr  uintptr
	count int64 // values in the set, duplicates counted once in bitmaps
}

// share guesses which part of a scan's rows the filter lets pass.
func (k *keyFilter) share(scan *plan.Scan, id plan.ColID) float64 {
	for i, c := range scan.Cols {
		if c != id {
			continue
		}
		if st := &scan.Snap.Stats[scan.Ordinal[i]]; st.Distinct > 0 {
			return float64(k.count) / st.Distinct
		}
	}
	return 0
}

// keyFilter builds the filter of key number i of the finished table.
func (b *buildSink) keyFilter(i int) (*keyFilter, error) {
	if f := b.filters[i]; f != nil {
		return f, nil
	}
	off := uintptr(b.tuple.Fields[i].Off)
	null := b.tuple.Fields[i].Null
	k := &keyFilter{rng: layout.Between(0, 0)}
	lo, hi, first := int64(0), int64(-1), true
	each := func(f func(x int64)) {
		b.all.Each(func(a uintptr) bool {
			if null < 0 || load8(a+uintptr(null)) == 0 {
				f(int64(load64(a + off)))
			}
			return true
		})
	}
	each(func(x int64) {
		if first {
			lo, hi, first = x, x, false
		}
		lo, hi = min(lo, x), max(hi, x)
	})
	if first { // an empty build side: nothing passes
		k.rng = layout.Between(1, 0)
	} else {
		k.rng = layout.Between(lo, hi)
	}
	b.filters[i] = k
	span := uint64(hi) - uint64(lo) + 1
	rows := b.all.Len()
	switch {
	case first:
		k.kind = emit.RangeOnly
	case span <= maxBitmap*8:
		k.kind = emit.Bitmap
		a, err := b.r.mem.alloc(int(span/8) + 16)
		if err != nil {
			return nil, err
		}
		bm := bytesAt(a, int(span/8)+1)
		each(func(x int64) { bm[uint64(x-lo)>>3] |= 1 << (uint64(x-lo) & 7) })
		k.addr = a
		for _, w := range words(a, int(span/64)+1) {
			k.count += int64(bits.OnesCount64(w))
		}
	default:
		k.kind = emit.Bloom
		k.bits = uint8(max(bits.Len64(uint64(rows)/4), 6))
		n := 1 << k.bits
		a, err := b.r.mem.alloc(n * 8)
		if err != nil {
			return nil, err
		}
		ws := words(a, n)
		each(func(x int64) {
			h := hashInt(x)
			ws[h>>(64-k.bits)] |= 1<<(h&63) | 1<<(h>>6&63)
		})
		k.addr, k.count = a, rows
	}
	return k, nil
}

// hashInt is the hash that generated code computes for one integer.
func hashInt(x int64) uint64 {
	mul := int64(emit.HashMul)
	hi, lo := bits.Mul64(emit.HashSeed^uint64(x), uint64(mul))
	return hi ^ lo
}
