package file

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// inTurns runs a without and with vector instructions, by turns, and reports the least times per value.
func inTurns(b *testing.B, values int, run func(simd bool)) {
	least := [2]time.Duration{1 << 62, 1 << 62}
	for b.Loop() {
		for k, simd := range []bool{false, true} {
			start := time.Now()
			run(simd)
			least[k] = min(least[k], time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(least[0])/float64(values), "go-ns/value")
	b.ReportMetric(float64(least[1])/float64(values), "simd-ns/value")
	b.ReportMetric(float64(least[0])/float64(least[1]), "times")
}

func benchUnpack[T uint8 | uint16 | uint32](b *testing.B, width uint) {
	src := make([]byte, 122880/8*int(width)+slack)
	for i := range src {
		src[i] = byte(rand.Uint32())
	}
	table := padded[T](1 << width)
	dst := make([]T, 122880)
	b.Run(fmt.Sprintf("%T/%d", dst[0], width), func(b *testing.B) {
		inTurns(b, len(dst), func(simd bool) {
			if err := newUnpacker(width, table, len(dst), simd).unpack(dst, src[:len(src)-slack]); err != nil {
				b.Fatal(err)
			}
		})
	})
}

func BenchmarkUnpack(b *testing.B) {
	for _, width := range []uint{1, 2, 3, 4, 6, 8} {
		benchUnpack[uint8](b, width)
	}
	for _, width := range []uint{3, 6, 7, 9, 12, 14} {
		benchUnpack[uint16](b, width)
	}
	for _, width := range []uint{6, 12, 17, 20} {
		benchUnpack[uint32](b, width)
	}
}

func BenchmarkNarrow(b *testing.B) {
	src := make([]int64, 122880)
	for i := range src {
		src[i] = rand.Int64N(1 << 24)
	}
	dst := make([]uint32, len(src))
	v := &intValues[uint32]{hi: 1 << 24, r: &chunkReader{}}
	inTurns(b, len(src), func(simd bool) {
		v.r.simd = simd
		if err := v.store(dst, src); err != nil {
			b.Fatal(err)
		}
	})
}
