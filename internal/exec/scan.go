package exec

import (
	"math/bits"
	"time"

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
		if ref.T.Kind == types.Interval || ref.T.IsFloat() || ch.Zone.Min.Type.Kind != ref.T.Kind { // unknown: files may not tell
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
	if j.r.Off.SemiJoins {
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
		sf := emit.ScanFilter{Col: rd.Col, Range: kf.rng, Kind: kf.kind, Bits: kf.bits, Index: len(j.filters),
			Build: rd.Build, Key: rd.Key}
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

// keyFilter builds the filter of key number i of the finished table, once.
func (b *buildSink) keyFilter(i int) (*keyFilter, error) {
	if f := b.filters[i]; f != nil {
		return f, nil
	}
	start := time.Now()
	defer func() { b.r.filtering += time.Since(start) }()
	k := &keyFilter{}
	b.filters[i] = k
	if i == 0 && b.table.Kind == layout.Direct && b.table.Rows > 0 {
		return k, k.fromSlots(b)
	}
	xs := b.keyValues(i)
	if len(xs) == 0 { // nothing passes
		k.rng = layout.Between(1, 0)
		return k, nil
	}
	lo, hi := xs[0], xs[0]
	for _, x := range xs {
		lo, hi = min(lo, x), max(hi, x)
	}
	k.rng = layout.Between(lo, hi)
	span := uint64(hi) - uint64(lo) + 1
	if span-1 < maxBitmap*8 {
		bm, err := k.bitmap(b, span)
		if err != nil {
			return nil, err
		}
		for _, x := range xs {
			d := uint64(x - lo)
			bm[d>>6] |= 1 << (d & 63)
		}
		k.countBits(bm)
		return k, nil
	}
	k.kind = emit.Bloom
	k.bits = uint8(max(bits.Len64(uint64(len(xs))/4), 6))
	a, err := b.r.mem.alloc(8 << k.bits)
	if err != nil {
		return nil, err
	}
	ws := words(a, 1<<k.bits)
	for _, x := range xs {
		h := hashInt(x)
		ws[h>>(64-k.bits)] |= 1<<(h&63) | 1<<(h>>6&63)
	}
	k.addr, k.count = a, int64(len(xs))
	return k, nil
}

// keyValues lists the values of key number i, NULLs left out.
func (b *buildSink) keyValues(i int) []int64 {
	off, null, size := uintptr(b.tuple.Fields[i].Off), b.tuple.Fields[i].Null, uintptr(b.tuple.Size)
	xs := make([]int64, 0, b.all.Len())
	for _, p := range b.all.Pieces {
		for a, end := p.Addr, p.Addr+uintptr(p.N)*size; a < end; a += size {
			if null < 0 || load8(a+uintptr(null)) == 0 {
				xs = append(xs, int64(load64(a+off)))
			}
		}
	}
	return xs
}

// fromSlots takes the set from a table that is addressed by the key.
func (k *keyFilter) fromSlots(b *buildSink) error {
	t := b.table
	k.rng = layout.Between(t.Min, t.Min+t.Span-1)
	bm, err := k.bitmap(b, uint64(t.Span))
	if err != nil {
		return err
	}
	for i, s := range halves(t.Slots, int(t.Span)) {
		if s != 0 {
			bm[i>>6] |= 1 << (i & 63)
		}
	}
	k.count = t.Rows
	return nil
}

// bitmap makes the filter an empty bitmap.
func (k *keyFilter) bitmap(b *buildSink, span uint64) ([]uint64, error) {
	n := int(span/64) + 1
	a, err := b.r.mem.alloc(n * 8)
	if err != nil {
		return nil, err
	}
	k.kind, k.addr = emit.Bitmap, a
	return words(a, n), nil
}

func (k *keyFilter) countBits(bm []uint64) {
	for _, w := range bm {
		k.count += int64(bits.OnesCount64(w))
	}
}

// hashInt is the hash that generated code computes for one integer.
func hashInt(x int64) uint64 {
	mul := int64(emit.HashMul)
	hi, lo := bits.Mul64(emit.HashSeed^uint64(x), uint64(mul))
	return hi ^ lo
}
