package file

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkUnpack(b *testing.B) {
	for _, width := range []uint{1, 3, 6, 12, 14, 18} {
		src := make([]byte, 122880/8*int(width)+slack)
		for i := range src {
			src[i] = byte(rand.Uint32())
		}
		table := make([]uint16, 1<<width)
		dst := make([]uint16, 122880)
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			u := newUnpacker(width, table, len(dst))
			for b.Loop() {
				if err := u.unpack(dst, src[:len(src)-slack]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNarrow(b *testing.B) {
	src := make([]int64, 122880)
	for i := range src {
		src[i] = rand.Int64N(1 << 24)
	}
	dst := make([]uint32, len(src))
	v := &intValues[uint32]{hi: 1 << 24}
	b.SetBytes(int64(8 * len(src)))
	for b.Loop() {
		if err := v.store(dst, src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	src := make([]int64, 40960)
	for i := range src {
		src[i] = rand.Int64N(1 << 24)
	}
	dst := make([]int64, len(src))
	body := encodeDelta(src)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := deltaInts(dst, body, 64); err != nil {
			b.Fatal(err)
		}
	}
}
