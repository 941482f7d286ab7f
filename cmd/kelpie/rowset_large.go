package main

import (
	"hash/maphash"
	"math"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/kelpiedb/kelpie"
)

// addLarge reads a result of which only hashes are kept, batch by batch on all processors: a comparison of 60 million rows takes seconds.
func (s *rowSet) addLarge(res *kelpie.Result) error {
	type part struct{ n, sum, chain uint64 }
	var parts []*part
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var failed error
	for b, err := range res.Batches() {
		if err != nil {
			failed = err
			break
		}
		p := &part{n: uint64(b.NumRows())}
		parts = append(parts, p)
		b.Retain()
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { b.Release(); <-slots }()
			for _, x := range rowHashes(b) {
				p.sum += x
				p.chain = p.chain*chainFactor + x
			}
		})
	}
	wg.Wait()
	for _, p := range parts {
		s.n += int64(p.n)
		s.sum += p.sum
		s.chain = s.chain*power(chainFactor, p.n) + p.chain
	}
	return failed
}

// chainFactor is what the hashes before a row are multiplied with, so that their order counts.
const chainFactor = 0x9e3779b97f4a7c15

func power(x, n uint64) uint64 {
	y := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}

// rowHashes are hashes of a batch's rows.
func rowHashes(b arrow.RecordBatch) []uint64 {
	hashes := make([]uint64, b.NumRows())
	for _, c := range b.Columns() {
		cell := cellHash(c)
		for i := range hashes {
			x := uint64(0x5bd1e995) // NULL's
			if c.IsValid(i) {
				x = cell(i)
			}
			hashes[i] = mix(hashes[i]*chainFactor + x)
		}
	}
	return hashes
}

// mix spreads a number over 64 bits: values that are near each other do not cancel out in sums.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

// cellHash is the hash of a column's values.
func cellHash(c arrow.Array) func(i int) uint64 {
	switch c := c.(type) {
	case *array.Int8:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Uint8:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Uint16:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Uint32:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Uint64:
		return func(i int) uint64 { return mix(c.Value(i)) }
	case *array.Int16:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Int32:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Int64:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Date32:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Timestamp:
		return func(i int) uint64 { return mix(uint64(c.Value(i))) }
	case *array.Float32:
		return func(i int) uint64 { return floatHash(float64(c.Value(i))) }
	case *array.Float64:
		return func(i int) uint64 { return floatHash(c.Value(i)) }
	case *array.Decimal128:
		return func(i int) uint64 { return decimalHash(c.Value(i)) }
	case *array.String:
		return func(i int) uint64 { return maphash.String(rowSeed, c.Value(i)) }
	}
	return func(i int) uint64 { return maphash.String(rowSeed, c.ValueStr(i)) }
}

func decimalHash(d decimal128.Num) uint64 {
	return mix(mix(uint64(d.HighBits())) + d.LowBits())
}

// floatHash is the same for nearly all numbers that are within the tolerance: of 52 bits of the fraction 20 are left.
func floatHash(f float64) uint64 {
	if math.IsNaN(f) {
		return mix(1)
	}
	return mix((math.Float64bits(f+0) + 1<<31) >> 32)
}
