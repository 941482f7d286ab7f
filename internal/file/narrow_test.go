//go:build unix

package file

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

func checkNarrow[T narrow, X int32 | int64](t *testing.T, r *rand.Rand) {
	var el T
	var x X
	span := uint64(math.MaxUint64) >> (64 - 8*unsafe.Sizeof(el))
	if r.IntN(2) == 0 {
		span = r.Uint64N(max(span, 1))
	}
	lo := int64(X(r.Uint64()) / 2)
	if unsafe.Sizeof(x) == 4 {
		span = min(span, 1<<30)
	} else if lo > math.MaxInt64-int64(min(span, math.MaxInt64)) || span > math.MaxInt64 {
		lo, span = math.MinInt64, math.MaxUint64
	}
	n := r.IntN(70)
	b := guarded(t, 0, max(n*int(unsafe.Sizeof(x)), 1), true)
	src := unsafe.Slice((*X)(unsafe.Pointer(&b[0])), n)
	for i := range src {
		src[i] = X(lo + int64(r.Uint64()%max(span, 1)))
	}
	if n > 0 && r.IntN(3) == 0 {
		src[r.IntN(n)] = X(r.Uint64())
	}
	base := lo - int64(r.IntN(2))
	want := make([]T, n)
	right := true
	for i, x := range src {
		right = right && uint64(int64(x)-lo) <= span
		want[i] = T(int64(x) - base)
	}
	b = guarded(t, 1, max(n*int(unsafe.Sizeof(el)), 1), true)
	got := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
	k := narrowVectors(got, src, uint64(lo), span, uint64(base))
	if right && !slices.Equal(got[:k], want[:k]) || right && haveNarrow && k != n/8*8 {
		t.Fatalf("%d of %d: %v instead of %v", k, n, got, want)
	}
	if !right && k > 0 {
		for _, x := range src[:k] {
			if uint64(int64(x)-lo) > span {
				t.Fatalf("%d is not between %d and %d more", x, lo, span)
			}
		}
	}
}

func TestNarrowVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		checkNarrow[uint8, int32](t, r)
		checkNarrow[uint16, int32](t, r)
		checkNarrow[uint32, int32](t, r)
		checkNarrow[uint64, int32](t, r)
		checkNarrow[uint8, int64](t, r)
		checkNarrow[uint16, int64](t, r)
		checkNarrow[uint32, int64](t, r)
		checkNarrow[uint64, int64](t, r)
	}
}
