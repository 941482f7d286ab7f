package dbgen

import "github.com/kelpiedb/kelpie/gen"

// Ints draws one number from lo to hi for each row into dst.
func (s Stream) Ints(dst []int64, lo, hi int64) {
	n := float64(hi - lo + 1)
	for i := range dst {
		dst[i] = lo + s.Row().Step().scale(n)
	}
}

// LineInts draws one number from lo to hi for each line of each order into dst. The order is the
// stream's row; lines holds the number of lines of each order.
func (s Stream) LineInts(dst []int64, lines []uint8, lo, hi int64) {
	n := float64(hi - lo + 1)
	i := 0
	for _, count := range lines {
		r := s.Row()
		for range count {
			r = r.Step()
			dst[i] = lo + r.scale(n)
			i++
		}
	}
}

// Words draws one word for each of n rows into v.
func (s Stream) Words(v *gen.Vector, n int, d *Dist) {
	v.MakeStrings(n, n*d.longest+wordSize)
	buf, at := v.Bytes[:cap(v.Bytes)], 0
	for i := range n {
		r := s.Row()
		at = d.put(buf, at, r.Pick(d))
		v.Offsets[i+1] = int32(at)
	}
	v.Bytes = buf[:at]
}

// LineWords draws one word for each line of each order into v; n is the sum of lines.
func (s Stream) LineWords(v *gen.Vector, n int, lines []uint8, d *Dist) {
	v.MakeStrings(n, n*d.longest+wordSize)
	buf, at := v.Bytes[:cap(v.Bytes)], 0
	i := 0
	for _, count := range lines {
		r := s.Row()
		for range count {
			at = d.put(buf, at, r.Pick(d))
			i++
			v.Offsets[i] = int32(at)
		}
	}
	v.Bytes = buf[:at]
}

// Limits of the random numbers that addresses are made of. Both references ask for numbers from 0 to
// 2^31-1; in TPC-H's, but not in SSB's, the count of these overflows and becomes negative.
const (
	AddressLimitTPCH = -1 << 31
	AddressLimitSSB  = 1 << 31
)

// Addresses draws for each of n rows a string of random characters into v, its length around average.
// The stream must give nine numbers to each row.
func (s Stream) Addresses(v *gen.Vector, n int, average, limit float64) {
	lo, hi := TextLength(average)
	v.MakeStrings(n, n*int(hi+5))
	for i := range n {
		r := s.Row()
		v.Bytes = appendNoise(v.Bytes, &r, int(r.Int(lo, hi)), limit)
		v.End(i)
	}
}

// Phones draws for each row a telephone number into v, whose country code follows from the nation. The
// stream must give three numbers to each row.
func (s Stream) Phones(v *gen.Vector, nations []int64) {
	v.MakeStrings(len(nations), 15*len(nations))
	for i, nation := range nations {
		r := s.Row()
		buf := AppendPadded(v.Bytes, 10+nation, 2)
		buf = AppendPadded(append(buf, '-'), r.Int(100, 999), 3)
		buf = AppendPadded(append(buf, '-'), r.Int(100, 999), 3)
		v.Bytes = AppendPadded(append(buf, '-'), r.Int(1000, 9999), 4)
		v.End(i)
	}
}

// Keys numbers the rows from first on.
func Keys(dst []int64, first int64) {
	for i := range dst {
		dst[i] = first + int64(i)
	}
}

// Labels writes tag and a nine-digit number for each row into v.
func Labels(v *gen.Vector, tag string, numbers []int64) {
	v.MakeStrings(len(numbers), len(numbers)*(len(tag)+9))
	for i, x := range numbers {
		v.Bytes = AppendPadded(append(v.Bytes, tag...), x, 9)
		v.End(i)
	}
}
