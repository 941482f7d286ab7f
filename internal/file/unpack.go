package file

import "encoding/binary"

// Unpacking bit-packed numbers is most of the work of reading columns with dictionaries, so there is a
// loop for each width up to 16: shifts by constants, and tables of exactly as many entries as
// there are numbers, in which no index can be out of bounds. Whether the dictionary has all of them is found out
// for a word at a time: each second number, plus what lacks to the limit, must not overflow into the
// place of its neighbour.

// unpacker unpacks numbers of one width by a table.
type unpacker[T elem] struct {
	width uint
	table []T
	full  []T // table with 1 << width entries; nil: it does not pay
	// Every second number of a word, what to add to each, and where those overflow that
	// the table does not have.
	pick, add, over uint64
	vectors
}

// padded is memory for a table of n entries, after which some more can be read.
func padded[T any](n int) []T { return make([]T, n, n+tablePad) }

// newUnpacker prepares for so many numbers.
func newUnpacker[T elem](width uint, table []T, numbers int, simd bool) *unpacker[T] {
	u := &unpacker[T]{width: width, table: table}
	if simd {
		u.vectors = newVectors(width, table, numbers)
	}
	if u.small != nil || u.sparse != nil || width == 0 || width > 16 || numbers < 64 || numbers < 1<<width/4 {
		return u
	}
	u.full = table[:min(len(table), 1<<width)]
	limit := uint64(len(u.full))
	if len(u.full) < 1<<width {
		u.full = append(make([]T, 0, 1<<width), u.full...)[:1<<width]
	}
	inWord := uint(8)
	if width > 8 {
		inWord = 4
	}
	for at := uint(0); at < inWord*width; at += 2 * width {
		u.pick |= (1<<width - 1) << at
		u.add |= (1<<width - limit) << at
		u.over |= 1 << (at + width)
	}
	return u
}

// words unpacks groups of eight while 16 bytes can be read, and returns how many numbers that were.
func (u *unpacker[T]) words(dst []T, src []byte) (n int, bad bool) {
	pick, add := u.pick, u.add
	var wrong uint64
	switch u.width {
	case 1:
		n, wrong = unpack1(dst, src, (*[1 << 1]T)(u.full), pick, add)
	case 2:
		n, wrong = unpack2(dst, src, (*[1 << 2]T)(u.full), pick, add)
	case 3:
		n, wrong = unpack3(dst, src, (*[1 << 3]T)(u.full), pick, add)
	case 4:
		n, wrong = unpack4(dst, src, (*[1 << 4]T)(u.full), pick, add)
	case 5:
		n, wrong = unpack5(dst, src, (*[1 << 5]T)(u.full), pick, add)
	case 6:
		n, wrong = unpack6(dst, src, (*[1 << 6]T)(u.full), pick, add)
	case 7:
		n, wrong = unpack7(dst, src, (*[1 << 7]T)(u.full), pick, add)
	case 8:
		n, wrong = unpack8(dst, src, (*[1 << 8]T)(u.full), pick, add)
	case 9:
		n, wrong = unpack9(dst, src, (*[1 << 9]T)(u.full), pick, add)
	case 10:
		n, wrong = unpack10(dst, src, (*[1 << 10]T)(u.full), pick, add)
	case 11:
		n, wrong = unpack11(dst, src, (*[1 << 11]T)(u.full), pick, add)
	case 12:
		n, wrong = unpack12(dst, src, (*[1 << 12]T)(u.full), pick, add)
	case 13:
		n, wrong = unpack13(dst, src, (*[1 << 13]T)(u.full), pick, add)
	case 14:
		n, wrong = unpack14(dst, src, (*[1 << 14]T)(u.full), pick, add)
	case 15:
		n, wrong = unpack15(dst, src, (*[1 << 15]T)(u.full), pick, add)
	case 16:
		n, wrong = unpack16(dst, src, (*[1 << 16]T)(u.full), pick, add)
	}
	return n, wrong&u.over != 0
}

func unpack1[T elem](dst []T, src []byte, t *[1 << 1]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[1:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<1-1)]
		d[1] = t[x>>1&(1<<1-1)]
		d[2] = t[x>>2&(1<<1-1)]
		d[3] = t[x>>3&(1<<1-1)]
		d[4] = t[x>>4&(1<<1-1)]
		d[5] = t[x>>5&(1<<1-1)]
		d[6] = t[x>>6&(1<<1-1)]
		d[7] = t[x>>7&(1<<1-1)]
		wrong |= (x&pick + add) | (x>>1&pick + add)
	}
	return n, wrong
}

func unpack2[T elem](dst []T, src []byte, t *[1 << 2]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[2:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<2-1)]
		d[1] = t[x>>2&(1<<2-1)]
		d[2] = t[x>>4&(1<<2-1)]
		d[3] = t[x>>6&(1<<2-1)]
		d[4] = t[x>>8&(1<<2-1)]
		d[5] = t[x>>10&(1<<2-1)]
		d[6] = t[x>>12&(1<<2-1)]
		d[7] = t[x>>14&(1<<2-1)]
		wrong |= (x&pick + add) | (x>>2&pick + add)
	}
	return n, wrong
}

func unpack3[T elem](dst []T, src []byte, t *[1 << 3]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[3:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<3-1)]
		d[1] = t[x>>3&(1<<3-1)]
		d[2] = t[x>>6&(1<<3-1)]
		d[3] = t[x>>9&(1<<3-1)]
		d[4] = t[x>>12&(1<<3-1)]
		d[5] = t[x>>15&(1<<3-1)]
		d[6] = t[x>>18&(1<<3-1)]
		d[7] = t[x>>21&(1<<3-1)]
		wrong |= (x&pick + add) | (x>>3&pick + add)
	}
	return n, wrong
}

func unpack4[T elem](dst []T, src []byte, t *[1 << 4]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[4:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<4-1)]
		d[1] = t[x>>4&(1<<4-1)]
		d[2] = t[x>>8&(1<<4-1)]
		d[3] = t[x>>12&(1<<4-1)]
		d[4] = t[x>>16&(1<<4-1)]
		d[5] = t[x>>20&(1<<4-1)]
		d[6] = t[x>>24&(1<<4-1)]
		d[7] = t[x>>28&(1<<4-1)]
		wrong |= (x&pick + add) | (x>>4&pick + add)
	}
	return n, wrong
}

func unpack5[T elem](dst []T, src []byte, t *[1 << 5]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[5:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<5-1)]
		d[1] = t[x>>5&(1<<5-1)]
		d[2] = t[x>>10&(1<<5-1)]
		d[3] = t[x>>15&(1<<5-1)]
		d[4] = t[x>>20&(1<<5-1)]
		d[5] = t[x>>25&(1<<5-1)]
		d[6] = t[x>>30&(1<<5-1)]
		d[7] = t[x>>35&(1<<5-1)]
		wrong |= (x&pick + add) | (x>>5&pick + add)
	}
	return n, wrong
}

func unpack6[T elem](dst []T, src []byte, t *[1 << 6]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[6:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<6-1)]
		d[1] = t[x>>6&(1<<6-1)]
		d[2] = t[x>>12&(1<<6-1)]
		d[3] = t[x>>18&(1<<6-1)]
		d[4] = t[x>>24&(1<<6-1)]
		d[5] = t[x>>30&(1<<6-1)]
		d[6] = t[x>>36&(1<<6-1)]
		d[7] = t[x>>42&(1<<6-1)]
		wrong |= (x&pick + add) | (x>>6&pick + add)
	}
	return n, wrong
}

func unpack7[T elem](dst []T, src []byte, t *[1 << 7]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[7:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<7-1)]
		d[1] = t[x>>7&(1<<7-1)]
		d[2] = t[x>>14&(1<<7-1)]
		d[3] = t[x>>21&(1<<7-1)]
		d[4] = t[x>>28&(1<<7-1)]
		d[5] = t[x>>35&(1<<7-1)]
		d[6] = t[x>>42&(1<<7-1)]
		d[7] = t[x>>49&(1<<7-1)]
		wrong |= (x&pick + add) | (x>>7&pick + add)
	}
	return n, wrong
}

func unpack8[T elem](dst []T, src []byte, t *[1 << 8]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[8:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		d[0] = t[x&(1<<8-1)]
		d[1] = t[x>>8&(1<<8-1)]
		d[2] = t[x>>16&(1<<8-1)]
		d[3] = t[x>>24&(1<<8-1)]
		d[4] = t[x>>32&(1<<8-1)]
		d[5] = t[x>>40&(1<<8-1)]
		d[6] = t[x>>48&(1<<8-1)]
		d[7] = t[x>>56&(1<<8-1)]
		wrong |= (x&pick + add) | (x>>8&pick + add)
	}
	return n, wrong
}

func unpack9[T elem](dst []T, src []byte, t *[1 << 9]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[9:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[4:]) >> 4
		d[0] = t[x&(1<<9-1)]
		d[1] = t[x>>9&(1<<9-1)]
		d[2] = t[x>>18&(1<<9-1)]
		d[3] = t[x>>27&(1<<9-1)]
		d[4] = t[y&(1<<9-1)]
		d[5] = t[y>>9&(1<<9-1)]
		d[6] = t[y>>18&(1<<9-1)]
		d[7] = t[y>>27&(1<<9-1)]
		wrong |= (x&pick + add) | (x>>9&pick + add) | (y&pick + add) | (y>>9&pick + add)
	}
	return n, wrong
}

func unpack10[T elem](dst []T, src []byte, t *[1 << 10]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[10:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[5:])
		d[0] = t[x&(1<<10-1)]
		d[1] = t[x>>10&(1<<10-1)]
		d[2] = t[x>>20&(1<<10-1)]
		d[3] = t[x>>30&(1<<10-1)]
		d[4] = t[y&(1<<10-1)]
		d[5] = t[y>>10&(1<<10-1)]
		d[6] = t[y>>20&(1<<10-1)]
		d[7] = t[y>>30&(1<<10-1)]
		wrong |= (x&pick + add) | (x>>10&pick + add) | (y&pick + add) | (y>>10&pick + add)
	}
	return n, wrong
}

func unpack11[T elem](dst []T, src []byte, t *[1 << 11]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[11:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[5:]) >> 4
		d[0] = t[x&(1<<11-1)]
		d[1] = t[x>>11&(1<<11-1)]
		d[2] = t[x>>22&(1<<11-1)]
		d[3] = t[x>>33&(1<<11-1)]
		d[4] = t[y&(1<<11-1)]
		d[5] = t[y>>11&(1<<11-1)]
		d[6] = t[y>>22&(1<<11-1)]
		d[7] = t[y>>33&(1<<11-1)]
		wrong |= (x&pick + add) | (x>>11&pick + add) | (y&pick + add) | (y>>11&pick + add)
	}
	return n, wrong
}

func unpack12[T elem](dst []T, src []byte, t *[1 << 12]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[12:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[6:])
		d[0] = t[x&(1<<12-1)]
		d[1] = t[x>>12&(1<<12-1)]
		d[2] = t[x>>24&(1<<12-1)]
		d[3] = t[x>>36&(1<<12-1)]
		d[4] = t[y&(1<<12-1)]
		d[5] = t[y>>12&(1<<12-1)]
		d[6] = t[y>>24&(1<<12-1)]
		d[7] = t[y>>36&(1<<12-1)]
		wrong |= (x&pick + add) | (x>>12&pick + add) | (y&pick + add) | (y>>12&pick + add)
	}
	return n, wrong
}

func unpack13[T elem](dst []T, src []byte, t *[1 << 13]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[13:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[6:]) >> 4
		d[0] = t[x&(1<<13-1)]
		d[1] = t[x>>13&(1<<13-1)]
		d[2] = t[x>>26&(1<<13-1)]
		d[3] = t[x>>39&(1<<13-1)]
		d[4] = t[y&(1<<13-1)]
		d[5] = t[y>>13&(1<<13-1)]
		d[6] = t[y>>26&(1<<13-1)]
		d[7] = t[y>>39&(1<<13-1)]
		wrong |= (x&pick + add) | (x>>13&pick + add) | (y&pick + add) | (y>>13&pick + add)
	}
	return n, wrong
}

func unpack14[T elem](dst []T, src []byte, t *[1 << 14]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[14:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[7:])
		d[0] = t[x&(1<<14-1)]
		d[1] = t[x>>14&(1<<14-1)]
		d[2] = t[x>>28&(1<<14-1)]
		d[3] = t[x>>42&(1<<14-1)]
		d[4] = t[y&(1<<14-1)]
		d[5] = t[y>>14&(1<<14-1)]
		d[6] = t[y>>28&(1<<14-1)]
		d[7] = t[y>>42&(1<<14-1)]
		wrong |= (x&pick + add) | (x>>14&pick + add) | (y&pick + add) | (y>>14&pick + add)
	}
	return n, wrong
}

func unpack15[T elem](dst []T, src []byte, t *[1 << 15]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[15:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[7:]) >> 4
		d[0] = t[x&(1<<15-1)]
		d[1] = t[x>>15&(1<<15-1)]
		d[2] = t[x>>30&(1<<15-1)]
		d[3] = t[x>>45&(1<<15-1)]
		d[4] = t[y&(1<<15-1)]
		d[5] = t[y>>15&(1<<15-1)]
		d[6] = t[y>>30&(1<<15-1)]
		d[7] = t[y>>45&(1<<15-1)]
		wrong |= (x&pick + add) | (x>>15&pick + add) | (y&pick + add) | (y>>15&pick + add)
	}
	return n, wrong
}

func unpack16[T elem](dst []T, src []byte, t *[1 << 16]T, pick, add uint64) (n int, wrong uint64) {
	for ; len(dst) >= 8 && len(src) >= 16; dst, src, n = dst[8:], src[16:], n+8 {
		d := (*[8]T)(dst)
		x := binary.LittleEndian.Uint64(src)
		y := binary.LittleEndian.Uint64(src[8:])
		d[0] = t[x&(1<<16-1)]
		d[1] = t[x>>16&(1<<16-1)]
		d[2] = t[x>>32&(1<<16-1)]
		d[3] = t[x>>48&(1<<16-1)]
		d[4] = t[y&(1<<16-1)]
		d[5] = t[y>>16&(1<<16-1)]
		d[6] = t[y>>32&(1<<16-1)]
		d[7] = t[y>>48&(1<<16-1)]
		wrong |= (x&pick + add) | (x>>16&pick + add) | (y&pick + add) | (y>>16&pick + add)
	}
	return n, wrong
}
