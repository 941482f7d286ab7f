package file

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// checkDeltas compares the fast way with the other; it may decline, but not be wrong.
func checkDeltas(t *testing.T, body []byte, n int, bits int, base, lo, hi int64) (done bool) {
	t.Helper()
	body = append(slices.Clone(body), make([]byte, slack)...)[:len(body)]
	got := make([]uint32, n)
	if !deltaCodes(got, body, bits, base, lo, hi) {
		return false
	}
	want := make([]int64, n)
	if _, err := deltaInts(want, body, bits); err != nil {
		t.Fatalf("%d values: no error instead of %v", n, err)
	}
	for i, x := range want {
		if x < lo || x > hi || got[i] != uint32(x-base) {
			t.Fatalf("value %d of %d is %d+%d instead of %d, which is from %d to %d", i, n, base, got[i], x, lo, hi)
		}
	}
	return true
}

// TestDeltas decodes differences of all widths, with and without one number that is too large or too small.
func TestDeltas(t *testing.T) {
	if !haveDeltas {
		t.Skip("no vector instructions")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for width := range 29 {
		for _, n := range []int{1, 2, 32, 33, 64, 129, 300, 1000} {
			base := rng.Int64N(1<<40) - 1<<39
			if width%2 == 0 {
				base = rng.Int64N(1 << 20)
			}
			xs := make([]int64, n)
			for i := range xs {
				xs[i] = base + rng.Int64N(1<<width)
			}
			lo, hi := slices.Min(xs), slices.Max(xs)
			done := checkDeltas(t, encodeDelta(xs), n, 64, base, lo, hi)
			if !done && width < mostDeltaBits {
				t.Errorf("%d values of %d bits are not decoded", n, width)
			}
			if width%2 == 0 && width < 28 {
				checkDeltas(t, encodeDelta(xs), n, 32, base, lo, hi)
			}
			k := rng.IntN(n)
			for _, wrong := range []int64{lo - 1, hi + 1, xs[k] + 1<<32, xs[k] - 1<<32, xs[k] + 1<<31, rng.Int64()} {
				right := xs[k]
				xs[k] = wrong
				if checkDeltas(t, encodeDelta(xs), n, 64, base, lo, hi) {
					t.Errorf("%d is taken for one from %d to %d", wrong, lo, hi)
				}
				xs[k] = right
			}
		}
	}
}

func BenchmarkDeltaCodes(b *testing.B) {
	src := make([]int64, 20480)
	for i := range src {
		src[i] = rand.Int64N(1 << 24)
	}
	dst := make([]uint32, len(src))
	body := append(encodeDelta(src), make([]byte, slack)...)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if !deltaCodes(dst, body[:len(body)-slack], 64, 0, 0, 1<<24) {
			b.Fatal("not decoded")
		}
	}
}
