package file

// Differences of up to 25 bits between numbers that are known to fit into 30 are added up by vector instructions, modulo
// 2^32, straight to what the chunk has: the number less its base.

// deltaLanes is how eight numbers of one width are found in their bytes.
type deltaLanes struct {
	bytes  [32]uint8 // of each word, counted from the first and from the fifth number
	shifts [8]uint32 // of the first bit in its word
	mask   uint32    // of the number
	width  uint32    // bytes of eight
	fifth  uint32    // its first byte
	_      [20]uint8
}

// deltaSum is where the sum has come to.
type deltaSum struct {
	last, least uint32 // the last number less the base; the least difference
	lo, far     uint32 // the least number less the base; how far above it numbers were
}

const (
	mostDeltaBits = 25 // with a shift of up to 7 they are in a word
	mostDeltaSpan = 1 << 30
)

var lanesOf = func() (t [mostDeltaBits + 1]deltaLanes) {
	for w := range uint32(len(t)) {
		l := &t[w]
		l.mask, l.width, l.fifth = 1<<w-1, w, 4*w/8
		for k := range uint32(8) {
			from := k * w / 8
			if k >= 4 {
				from -= l.fifth
			}
			for b := range uint32(4) {
				l.bytes[4*k+b] = uint8(from + b)
			}
			l.shifts[k] = k * w % 8
		}
	}
	return t
}()

// deltaCodes decodes differences to numbers less base, which must be from lo to hi. It returns false if it cannot, or if
// something is wrong; deltaInts finds out what.
func deltaCodes(dst []uint32, page []byte, bits int, base, lo, hi int64) bool {
	if lo > hi || uint64(hi)-uint64(lo) >= mostDeltaSpan || len(dst) == 0 {
		return false
	}
	d, err := openDeltas(page)
	if err != nil || d.total != uint64(len(dst)) || d.first < lo || d.first > hi {
		return false
	}
	s := deltaSum{last: uint32(d.first - base), lo: uint32(lo - base)}
	dst[0] = s.last
	dst = dst[1:]
	for len(dst) > 0 {
		least, widths, err := d.block()
		if err != nil {
			return false
		}
		// Differences that are this small lead from a number in range to none that is in range modulo 2^32 only.
		if bits == 64 && (least < -mostDeltaSpan || least > mostDeltaSpan-1<<mostDeltaBits) {
			return false
		}
		s.least = uint32(least)
		src := d.src
		for _, w := range widths {
			if len(dst) == 0 {
				break
			}
			width, n := uint(w), min(d.per, len(dst))
			size := d.per / 8 * int(width)
			if width > mostDeltaBits {
				return false
			}
			if n == d.per && cap(src) >= size+slack && len(src) >= size {
				sumDeltas(&dst[0], &src[:1][0], &lanesOf[width], d.per/8, &s)
				src, dst = src[size:], dst[n:]
				continue
			}
			if len(src) < (n*int(width)+7)/8 {
				return false
			}
			for i := range dst[:n] {
				s.last += s.least + uint32(bitsAt(src, uint(i)*width, width))
				s.far = max(s.far, s.last-s.lo)
				dst[i] = s.last
			}
			src, dst = src[min(size, len(src)):], dst[n:]
		}
		d.src = src
	}
	return uint64(s.far) <= uint64(hi)-uint64(lo)
}
