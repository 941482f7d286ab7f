package column

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

// lineitemLike fills the 16 columns of TPC-H's lineitem with values of its distributions.
func lineitemLike(n int) ([]*Builder, []*Dict) {
	r := rand.New(rand.NewPCG(5, 6))
	money := types.TDecimal(15, 2)
	pick := func(ss ...string) func() string { return func() string { return ss[r.IntN(len(ss))] } }
	ints := func(lo, hi int64) func() int64 { return func() int64 { return lo + r.Int64N(hi-lo) } }
	key := int64(1000000)
	comment := func() string {
		return fmt.Sprintf("%x carefully final deposits %d sleep", r.Uint32(), r.IntN(100))[:10+r.IntN(24)]
	}
	cols := []struct {
		t types.Type
		i func() int64
		s func() string
	}{
		{types.TInt64, func() int64 {
			if r.IntN(4) == 0 {
				if key++; key%8 == 0 {
					key += 24
				}
			}
			return key
		}, nil},
		{types.TInt64, ints(1, 200000), nil}, {types.TInt64, ints(1, 10000), nil}, {types.TInt32, ints(1, 8), nil},
		{money, func() int64 { return 100 * (1 + r.Int64N(50)) }, nil}, {money, ints(90000, 10494950), nil}, {money, ints(0, 11), nil}, {money, ints(0, 9), nil},
		{types.TText, nil, pick("A", "N", "R")}, {types.TText, nil, pick("O", "F")},
		{types.TDate, ints(8036, 10561), nil}, {types.TDate, ints(8065, 10530), nil}, {types.TDate, ints(8037, 10591), nil},
		{types.TText, nil, pick("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")},
		{types.TText, nil, pick("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")}, {types.TText, nil, comment},
	}
	var bs []*Builder
	var ds []*Dict
	for _, c := range cols {
		b := NewBuilder(c.t)
		for range n {
			if c.i != nil {
				b.AppendInt(c.i())
			} else {
				b.AppendString(c.s())
			}
		}
		bs, ds = append(bs, b), append(ds, NewDict())
	}
	return bs, ds
}

// BenchmarkSeal seals a segment of lineitem. All of scale factor 1 is 92 segments.
func BenchmarkSeal(b *testing.B) {
	bs, ds := lineitemLike(SegmentRows)
	b.Run("lineitem", func(b *testing.B) {
		var bytes int
		for b.Loop() {
			cs, err := SealAll(bs, DefaultOptions(), ds, nil, Unstopped)
			if err != nil {
				b.Fatal(err)
			}
			bytes = cs[0].mem.Size()
			cs[0].mem.Free()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/SegmentRows, "ns/row")
		b.ReportMetric(float64(bytes)/SegmentRows, "B/row")
	})
	for i := range bs {
		b.Run(fmt.Sprint("column", i), func(b *testing.B) {
			for b.Loop() {
				cs, err := SealAll(bs[i:i+1], DefaultOptions(), ds[i:i+1], nil, Unstopped)
				if err != nil {
					b.Fatal(err)
				}
				cs[0].mem.Free()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/SegmentRows, "ns/row")
		})
	}
}

// BenchmarkAppend is the copying into builders that a bulk load does before it seals.
func BenchmarkAppend(b *testing.B) {
	xs := make([]int64, SegmentRows)
	ib := NewBuilder(types.TInt64)
	for b.Loop() {
		ib.Reset()
		ib.AppendInts(xs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/SegmentRows, "ns/row")
}
