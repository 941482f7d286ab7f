//go:build unix

package file

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// guardedTable puts a copy of a table, and what may be read behind it, where memory ends.
func guardedTable[T uint8 | uint16 | uint32](t *testing.T, table []T) []T {
	size := int(unsafe.Sizeof(table[0]))
	b := guarded(t, 2, (len(table)+tablePad)*size, true)
	out := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(table)+tablePad)[:len(table)]
	copy(out, table)
	return out
}

func checkUnpack[T uint8 | uint16 | uint32](t *testing.T, r *rand.Rand, width uint) {
	entries := 1 << min(width, 16)
	if r.IntN(2) == 0 {
		entries = 1 + r.IntN(entries)
	}
	table := make([]T, entries)
	for i := range table {
		table[i] = T(r.Uint32())
	}
	n := r.IntN(700)
	packed := make([]byte, (n*int(width)+7)/8)
	fits := width <= 16 && entries == 1<<width
	for i := range n {
		x := uint64(r.IntN(entries))
		if !fits && i == r.IntN(4*n) {
			x = uint64(entries) + uint64(r.IntN(1<<width-entries)) // one that is not there
		}
		for k := range width {
			at := uint(i)*width + k
			packed[at/8] |= byte(x>>k&1) << (at % 8)
		}
	}
	src := guarded(t, 0, len(packed), true)
	copy(src, packed)
	want := make([]T, n)
	size := int(unsafe.Sizeof(table[0]))
	wrong := newUnpacker(width, table, n, false).unpack(want, packed)
	b := guarded(t, 1, max(n*size, 1), true)
	got := unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
	err := newUnpacker(width, guardedTable(t, table), 1000, true).unpack(got, src)
	if (err == nil) != (wrong == nil) || err == nil && !slices.Equal(got, want) {
		t.Fatalf("%d numbers of %d bits, %d entries, %T: %v instead of %v, or %v instead of %v", n, width, entries, want, err, wrong, got, want)
	}
}

func TestUnpackVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for width := uint(1); width <= 32; width++ {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			for range 60 {
				checkUnpack[uint8](t, r, width)
				checkUnpack[uint16](t, r, width)
				checkUnpack[uint32](t, r, width)
			}
		})
	}
}
