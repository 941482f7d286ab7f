//go:build unix

package file

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
)

// checkSnappy decodes the elements of a block in all ways, into buffers that end, or begin, where memory does.
func checkSnappy(t *testing.T, elems []byte, n int) {
	t.Helper()
	want := make([]byte, n)
	ok := unsnapped(want, elems, false)
	block := append(binary.AppendUvarint(nil, uint64(n)), elems...)
	lib, err := snappy.Decode(nil, block)
	if ok && (err != nil || !bytes.Equal(lib, want)) {
		t.Fatalf("the library differs (%v): %x", err, block)
	}
	if !ok && err == nil && !repeats(elems) {
		t.Fatalf("the library decodes %x", block)
	}
	if !haveSnappyFast {
		return
	}
	for _, atEnd := range []bool{true, false} {
		src := guarded(t, 0, len(elems), atEnd)
		copy(src, elems)
		dst := guarded(t, 1, n, atEnd)
		if got := unsnapped(dst, src, true); got != ok || ok && !bytes.Equal(dst, want) {
			t.Fatalf("%v instead of %v, or %x instead of %x, of %x", got, ok, dst, want, block)
		}
	}
	if err := unsnappy(make([]byte, n), block, true); (err == nil) != (ok || repeats(elems) && err == nil) {
		t.Fatal(err)
	}
}

// repeats reports elements that only the library's own format has: copies whose offset of 0 stands for the last one.
func repeats(elems []byte) bool {
	for i := range elems[:max(len(elems)-1, 0)] {
		if elems[i]&0xe3 == 1 && elems[i+1] == 0 {
			return true
		}
	}
	return false
}

// randomBlock makes elements that make sense, mostly short ones.
func randomBlock(r *rand.Rand) (elems []byte, n int) {
	for range r.IntN(200) {
		size := 1 + r.IntN(12)
		if r.IntN(8) == 0 {
			size = 1 + r.IntN(64)
		}
		kind := r.IntN(7) / 2
		if n == 0 || kind == 0 {
			if r.IntN(30) == 0 {
				size = r.IntN(600) + 1
			}
			switch {
			case r.IntN(20) == 0:
				elems = append(elems, 61<<2, byte(size-1), byte((size-1)>>8))
			case size > 256:
				elems = append(elems, 62<<2, byte(size-1), byte((size-1)>>8), 0)
			case size > 60:
				elems = append(elems, 60<<2, byte(size-1))
			default:
				elems = append(elems, byte(size-1)<<2)
			}
			for range size {
				elems = append(elems, byte(r.Uint32()))
			}
			n += size
			continue
		}
		off := 1 + r.IntN(n)
		if r.IntN(2) == 0 {
			off = 1 + r.IntN(min(n, 24))
		}
		switch {
		case kind == 1 && off < 2048:
			size = 4 + size%8
			elems = append(elems, byte(off>>8)<<5|byte(size-4)<<2|1, byte(off))
		case kind == 2 && off < 1<<16:
			elems = append(elems, byte(size-1)<<2|2, byte(off), byte(off>>8))
		default:
			elems = binary.LittleEndian.AppendUint32(append(elems, byte(size-1)<<2|3), uint32(off))
		}
		n += size
	}
	return elems, n
}

func TestSnappyBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 20000
	if testing.Short() {
		rounds = 2000
	}
	for range rounds {
		elems, n := randomBlock(r)
		checkSnappy(t, elems, n)
		bad := slices.Clone(elems)
		for range r.IntN(3) {
			if len(bad) > 0 {
				bad[r.IntN(len(bad))] = byte(r.Uint32())
			}
		}
		checkSnappy(t, bad[:r.IntN(len(bad)+1)], n)
		checkSnappy(t, bad, max(0, n+r.IntN(9)-4))
	}
}

func FuzzSnappy(f *testing.F) {
	f.Add([]byte("\x0cabcd\x01\x04\x0a\x04\x00"), uint16(15))
	f.Add([]byte("\x00a\xfe\x01\x00"), uint16(65))
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		checkSnappy(t, b, int(n))
		for _, block := range [][]byte{snappy.Encode(nil, b), s2.EncodeSnappyBest(nil, b)} {
			_, k := binary.Uvarint(block)
			checkSnappy(t, block[k:], len(b))
		}
	})
}
