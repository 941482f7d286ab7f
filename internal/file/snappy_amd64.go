package file

import "golang.org/x/sys/cpu"

var haveSnappyFast = cpu.X86.HasAVX && cpu.X86.HasBMI2

// snappyTags is what the first bytes of elements say, and what else snappyFast looks up: it knows the places.
var snappyTags = func() (t struct {
	offset  [256]uint32 // its bits in the tag, moved to the top, and the bytes that follow
	least   [256]uint32 // the least offset of copies that are like most
	length  [256]uint32
	pattern [17][16]uint8 // which of the last 16 bytes the next are, by the offset
	step    [32]uint8     // the most bytes after which they are the same ones again
	old     [96]uint8     // from the length on: which of the last 16 bytes are still among them …
	new     [96]uint8     // … and which of the 16 that were written come in
}) {
	for i := range uint32(256) {
		t.length[i] = i>>2 + 1
		t.least[i] = 17
		switch i & 3 {
		case 1:
			t.offset[i] = 0xe0_00_00_ff
			t.length[i] = i>>2&7 + 4
		case 2:
			t.offset[i] = 0xff_ff
			if t.length[i] > 16 {
				t.least[i] = 1<<32 - 1
			}
		}
	}
	for n := 1; n <= 16; n++ {
		for i := range t.pattern[n] {
			t.pattern[n][i] = uint8(16 - n + i%n)
		}
		t.step[n] = uint8(16 / n * n)
	}
	for i := range t.old {
		if i < 16 {
			t.old[i], t.new[i] = uint8(i), 1<<7
		} else {
			t.old[i], t.new[i] = 1<<7, uint8(i%16)
		}
	}
	return t
}()

// snappyFast decodes elements from src[s:] to dst[d:] until one comes that is rare or wrong, or
// one of the ends is near, and returns where that is.
//
//go:noescape
func snappyFast(dst, src []byte, d, s int) (d2, s2 int)
