package file

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// The encodings of Parquet's version 2: integers as bit-packed differences, texts by their
// lengths or by what they share with the text before, numbers as streams of their bytes.

var errDelta = errors.New("a page of differences makes no sense")

// deltas is a page of differences (DELTA_BINARY_PACKED): the first number, then blocks of miniblocks of one width each.
type deltas struct {
	src   []byte // what follows
	total uint64 // numbers
	first int64
	minis int // of a block
	per   int // numbers of a miniblock
}

// openDeltas reads the head.
func openDeltas(src []byte) (d deltas, err error) {
	d.src = src
	var head [4]uint64
	for i := range head {
		if head[i], err = d.next(); err != nil {
			return d, err
		}
	}
	block, minis := head[0], head[1]
	if block == 0 || block > 1<<20 || block%128 != 0 || minis == 0 || minis > block || block%minis != 0 || block/minis%32 != 0 {
		return d, errDelta
	}
	d.total, d.first, d.minis, d.per = head[2], zigzag(head[3]), int(minis), int(block/minis)
	return d, nil
}

func (d *deltas) next() (uint64, error) {
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		return 0, errShort
	}
	d.src = d.src[n:]
	return v, nil
}

// block reads the head of the next block: the least difference, and the widths of what is above it.
func (d *deltas) block() (least int64, widths []byte, err error) {
	u, err := d.next()
	if err != nil {
		return 0, nil, err
	}
	if len(d.src) < d.minis {
		return 0, nil, errShort
	}
	widths, d.src = d.src[:d.minis], d.src[d.minis:]
	return zigzag(u), widths, nil
}

// deltaInts decodes differences into dst, whose length is the number of
// values expected, and returns what follows them. Sums wrap around, as the format says; 32 is
// for INT32 columns.
func deltaInts(dst []int64, page []byte, bits int) (rest []byte, err error) {
	d, err := openDeltas(page)
	if err != nil {
		return nil, err
	}
	if d.total < uint64(len(dst)) {
		return nil, errShort
	}
	if d.total > uint64(len(dst)) {
		return nil, errDelta
	}
	if len(dst) == 0 {
		return d.src, nil
	}
	wrap := func(x int64) int64 {
		if bits == 32 {
			return int64(int32(x))
		}
		return x
	}
	last := wrap(d.first)
	dst[0] = last
	dst = dst[1:]
	for len(dst) > 0 {
		least, widths, err := d.block()
		if err != nil {
			return nil, err
		}
		src := d.src
		for _, w := range widths {
			if len(dst) == 0 {
				break // the widths of miniblocks that are not there are anything
			}
			width := uint(w)
			if width > 64 {
				return nil, errBits
			}
			n := min(d.per, len(dst))
			bytes := d.per / 8 * int(width)
			if len(src) < bytes {
				if n == d.per || len(src) < (n*int(width)+7)/8 { // the last may be cut short
					return nil, errShort
				}
				bytes = len(src)
			}
			mini := src[:bytes]
			switch {
			case width > 56 || len(src) < bytes+8: // words would not do, or reach beyond the end
				for i := range dst[:n] {
					last = wrap(last + least + int64(bitsAt(mini, uint(i)*width, width)))
					dst[i] = last
				}
			case bits == 32:
				last = sums(dst[:n], src[:bytes+8], width, int32(last), int32(least))
			default:
				last = sums(dst[:n], src[:bytes+8], width, last, least)
			}
			src = src[bytes:]
			dst = dst[n:]
		}
		d.src = src
	}
	return d.src, nil
}

// sums adds bit-packed differences up, numbers of 64 or 32 bits. A word can be read from wherever one begins:
// len(dst) of them and eight bytes more are in src.
func sums[T int32 | int64](dst []int64, src []byte, width uint, last, least T) int64 {
	if (uint(len(dst))*width+7)/8+8 > uint(len(src)) {
		panic(errShort)
	}
	at, mask, bit := unsafe.Pointer(&src[0]), T(1)<<width-1, uint(0)
	if width >= 32 && unsafe.Sizeof(mask) == 4 {
		mask = -1
	}
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		d := dst[i : i+4 : i+4]
		x0 := T(*(*uint64)(unsafe.Add(at, bit>>3))>>(bit&7))&mask + least
		bit += width
		x1 := T(*(*uint64)(unsafe.Add(at, bit>>3))>>(bit&7))&mask + least
		bit += width
		x2 := T(*(*uint64)(unsafe.Add(at, bit>>3))>>(bit&7))&mask + least
		bit += width
		x3 := T(*(*uint64)(unsafe.Add(at, bit>>3))>>(bit&7))&mask + least
		bit += width
		d[0], d[1] = int64(last+x0), int64(last+x0+x1)
		last += x0 + x1
		d[2], d[3] = int64(last+x2), int64(last+x2+x3)
		last += x2 + x3
	}
	for ; i < len(dst); i++ {
		last += T(*(*uint64)(unsafe.Add(at, bit>>3))>>(bit&7))&mask + least
		dst[i] = int64(last)
		bit += width
	}
	return int64(last)
}

func zigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// bitsAt is a number of up to 64 bits.
func bitsAt(b []byte, bit, width uint) uint64 {
	if width == 0 {
		return 0
	}
	x := wordAt(b, bit)
	if over := bit&7 + width; over > 64 {
		if at := int(bit>>3) + 8; at < len(b) {
			x |= uint64(b[at]) << (64 - bit&7)
		}
	}
	if width < 64 {
		x &= 1<<width - 1
	}
	return x
}

// splitBytes puts the streams of a page (BYTE_STREAM_SPLIT) together: the first bytes of all
// values, then the second ones, and so on.
func splitBytes(dst, src []byte, size int) error {
	n := len(dst) / size
	if len(src) < n*size {
		return errShort
	}
	for k := range size {
		stream := src[k*n : (k+1)*n]
		for i, b := range stream {
			dst[i*size+k] = b
		}
	}
	return nil
}

// deltaTexts decodes n texts whose lengths, or whose common beginnings too, are stored apart.
// Texts that share much are far larger than what the file has of them: charge is told before memory for
// them is taken.
func deltaTexts(n, encoding int, body []byte, charge func(bytes int)) ([][]byte, error) {
	shared := make([]int64, n)
	lengths := make([]int64, n)
	var err error
	if encoding == encDeltaTexts {
		if body, err = deltaInts(shared, body, 32); err != nil {
			return nil, err
		}
	}
	if body, err = deltaInts(lengths, body, 32); err != nil {
		return nil, err
	}
	out := make([][]byte, n)
	var last []byte
	var arena []byte // small pieces of memory cost more than some of it unused
	for i := range out {
		k, l := shared[i], lengths[i]
		if k < 0 || k > int64(len(last)) || l < 0 || l > int64(len(body)) {
			return nil, errDelta
		}
		if k == 0 {
			last = body[:l:l]
		} else {
			size := int(k + l)
			if cap(arena)-len(arena) < size {
				// Larger pieces for more texts: a piece that is little is not charged.
				room := max(size, min(2*cap(arena), 16*little), 64<<10)
				charge(room)
				arena = make([]byte, 0, room)
			}
			at := len(arena)
			arena = append(append(arena, last[:k]...), body[:l]...)
			last = arena[at:len(arena):len(arena)]
		}
		body = body[l:]
		out[i] = last
	}
	return out, nil
}
