package gpu

import "testing"

// TestEvenly: chunks fill pieces, none is larger than it may be, and each begins at a multiple of streamRows.
func TestEvenly(t *testing.T) {
	for _, piece := range []int64{256, 4096, 4 << 20, 3 << 20} {
		for _, chunk := range []int64{256, 512, 768, 4096, 131328, 1 << 20, 3<<20 - 256, 4 << 20, 64 << 20} {
			got := evenly(chunk, piece)
			n := (piece + got - 1) / got
			if got > chunk || got%streamRows != 0 || got <= 0 || n != (piece+chunk-1)/chunk {
				t.Errorf("chunks of %d in pieces of %d: %d, %d of them", chunk, piece, got, n)
			}
		}
	}
}
