package gpu

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestPack: codes of every number of bits come back, whatever the rows are cut at; what is too large becomes 0.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for bits := 1; bits <= 28; bits++ {
		width := 1
		for 8*width < bits {
			width *= 2
		}
		p := packing{bits: bits, most: 1<<bits - 1}
		if bits%3 == 0 {
			p.most -= p.most / 3
		}
		for _, rows := range []int{1, 31, 32, 33, 255, 256, 257, packStep, packStep + 1, 2*packStep + 77} {
			src, want := make([]byte, rows*width), make([]uint64, rows)
			for i := range rows {
				x := r.Uint64N(p.most + 1)
				switch r.IntN(6) {
				case 0:
					x = p.most
				case 1:
					x = 0
				}
				want[i] = x
				if r.IntN(9) == 0 && p.most < 1<<(8*width)-1 {
					x, want[i] = p.most+1+r.Uint64N(1<<(8*width)-1-p.most), 0
				}
				put(src, i, uint8(width), x)
			}
			dst := make([]byte, p.bytesOf(rows, width))
			for at := 0; at < rows; at += packStep {
				p.pack(dst, src[at*width:min(at+packStep, rows)*width], at, width)
			}
			for i, x := range want {
				at := i * bits
				got := binary.LittleEndian.Uint64(dst[at/32*4:]) >> (at % 32) & (1<<bits - 1)
				if got != x {
					t.Fatalf("%d bits, row %d of %d: %d, want %d", bits, i, rows, got, x)
				}
			}
		}
	}
}
