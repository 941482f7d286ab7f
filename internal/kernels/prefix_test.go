package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPrefix: sums of what is before each word, of small and of large words, of which the sum of all may need more than a word.
func TestPrefix(t *testing.T) {
	each(t, func(b *bench) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range b.sizes() {
			for _, most := range []uint32{1, 2, math.MaxUint32} {
				words := make([]uint32, PrefixBytes(int64(n))/4+4)
				want := make([]uint32, n)
				sum := uint64(0)
				for i := range n {
					words[i] = rng.Uint32N(most) + 1&most
					want[i] = uint32(sum)
					sum += uint64(words[i])
				}
				copy(words[len(words)-4:], []uint32{7, 7, 7, 7}) // belongs to somebody else
				a, total := upload(b, words), b.alloc(16)
				ok(t, b.s.Fill(total, 9, 16), b.lib.Prefix(b.s, a, total, int64(n)))
				got := download[uint32](b, a, len(words))
				wantEqual(b, fmt.Sprintf("%d words up to %d", n, most), got[:n], want)
				wantEqual(b, "behind", got[len(words)-4:], []uint32{7, 7, 7, 7})
				wantEqual(b, fmt.Sprintf("sum of %d words up to %d", n, most), download[uint64](b, total, 2), []uint64{sum, 0x0909090909090909})
				b.free(a, total)
			}
		}
		if b.lib.Prefix(b.s, 8, 16, 1) == nil || b.lib.Prefix(b.s, 16, 16, -1) == nil {
			t.Error("what cannot be added up is")
		}
	})
}
