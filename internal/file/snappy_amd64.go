package file

import "golang.org/x/sys/cpu"

var haveSnappyFast = cpu.X86.HasBMI2 && cpu.X86.HasSSSE3

// snappyTags is what the first bytes of elements say, as snappyFast reads it.
var snappyTags = func() (t struct {
	mask    [256]uint32 // of the offset in the bytes behind the tag
	high    [256]uint32 // what the tag adds to the offset
	least   [256]uint32 // offset from which on it is a short element; literals have 0
	length  [256]uint32
	pattern [16][16]uint8 // bytes of which a short pattern's repetition consists
	step    [16]uint8     // the multiple of its length that is next to 16
}) {
	for i := range uint32(256) {
		long := i >> 2
		t.length[i] = long + 1
		switch i & 3 {
		case 0:
			if long >= 6 {
				t.least[i] = 1<<32 - 1
			}
		case 1:
			t.mask[i] = 1<<8 - 1
			t.high[i] = i >> 5 << 8
			t.length[i] = long&7 + 4
			t.least[i] = t.length[i]
		case 2:
			t.mask[i] = 1<<16 - 1
			t.least[i] = t.length[i]
			if long >= 16 {
				t.least[i] = 1<<32 - 1
			}
		case 3:
			t.mask[i] = 1<<32 - 1
			t.least[i] = 1<<32 - 1
		}
	}
	for n := 1; n < 16; n++ {
		for i := range t.pattern[n] {
			t.pattern[n][i] = uint8(i % n)
		}
		t.step[n] = uint8(16 / n * n)
	}
	return t
}()

// snappyFast decodes elements from src[s:] to dst[d:] until one comes that is rare or wrong, or
// one of the ends is near, and returns where that is.
//
//go:noescape
func snappyFast(dst, src []byte, d, s int) (d2, s2 int)
