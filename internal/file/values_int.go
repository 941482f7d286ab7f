package file

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/kelpiedb/kelpie/internal/types"
)

// narrow is the elements of integer chunks.
type narrow interface {
	uint8 | uint16 | uint32 | uint64
}

// intValues makes numbers of up to 64 bits: those of the promised range less a base.
type intValues[T narrow] struct {
	r      *chunkReader
	phys   parquet.Type
	form   form
	length int // of FIXED_LEN_BYTE_ARRAY
	base   int64
	least  T // code that the column may have
	lo, hi int64
	gaps   bool // not all numbers between them are values: of dates and timestamps, where infinite ones may be
	tab    []T
	dict   []uint64 // instead of tab, if an entry is outside of the range: perhaps nobody uses it
}

func newInts[T narrow](b *chunkMaker, lo, hi types.Int128) *intValues[T] {
	s := b.r.f.leaf(b.r.col)
	v := &intValues[T]{r: b.r, phys: s.PhysicalType(), form: b.r.f.cols[b.r.col].form, length: s.TypeLength(), base: b.t.base}
	v.lo, v.hi = clamp(lo), clamp(hi)
	if first, last, ok := finiteBounds(b.r.f.cols[b.r.col].Type); ok {
		v.gaps = v.lo < first || v.hi > last
	}
	return v
}

// clamp is x, or what is nearest to it in 64 bits.
func clamp(x types.Int128) int64 {
	switch {
	case x.FitsInt64():
		return int64(x.Lo)
	case x.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func (v *intValues[T]) room() func(int) []byte { return nil }

func (v *intValues[T]) indexed(dst []T, body []byte, bits uint) error {
	if v.dict == nil {
		return hybrid(dst, body, bits, v.tab, v.r.simd)
	}
	v.r.words = sized(v.r.words, len(dst))
	if err := hybrid(v.r.words, body, bits, v.dict, v.r.simd); err != nil {
		return err
	}
	return v.store(dst, view[int64](asBytes(v.r.words)))
}

func (v *intValues[T]) dictionary(body []byte, n int) error {
	xs, err := v.raw(encPlain, body, n)
	if err == nil {
		err = v.convert(xs)
	}
	if err != nil {
		return err
	}
	v.tab = padded[T](n)
	if v.store(v.tab, xs) == nil {
		return nil
	}
	v.tab, v.dict = nil, make([]uint64, n)
	for i, x := range xs {
		v.dict[i] = uint64(x)
	}
	return nil
}

func (v *intValues[T]) decode(dst []T, encoding int, body []byte) error {
	if encoding == encPlain && (v.form == asIs || v.form == bigEndian) {
		switch v.phys {
		case parquet.Types.Int32:
			if len(body) < 4*len(dst) {
				return errShort
			}
			return v.plain32(dst, view[int32](body))
		case parquet.Types.Int64:
			if len(body) < 8*len(dst) {
				return errShort
			}
			return v.plain64(dst, view[int64](body))
		}
	}
	if encoding == encDeltaInts && v.deltas(dst, body) {
		return nil
	}
	xs, err := v.raw(encoding, body, len(dst))
	if err == nil {
		err = v.convert(xs)
	}
	if err != nil {
		return err
	}
	return v.store(dst, xs)
}

// deltas decodes differences the fast way; it returns false if it cannot.
func (v *intValues[T]) deltas(dst []T, body []byte) bool {
	bits := 32
	if v.phys == parquet.Types.Int64 {
		bits = 64
	}
	if !haveDeltas || !v.r.simd || v.gaps || v.form != asIs && v.form != bigEndian || v.phys != parquet.Types.Int32 && v.phys != parquet.Types.Int64 {
		return false
	}
	switch d := any(dst).(type) {
	case []uint32:
		return deltaCodes(d, body, bits, v.base, v.lo, v.hi)
	case []uint64:
		return false
	}
	v.r.codes = sized(v.r.codes, len(dst))
	if !deltaCodes(v.r.codes, body, bits, v.base, v.lo, v.hi) {
		return false
	}
	for i, x := range v.r.codes {
		dst[i] = T(x)
	}
	return true
}

// view is bytes as numbers of the machine, which has the file's byte order.
func view[T any](b []byte) []T {
	var x T
	n := len(b) / int(unsafe.Sizeof(x))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// plain64 stores numbers as they are in the file.
func (v *intValues[T]) plain64(dst []T, src []int64) error {
	return narrowed(v, dst, src)
}

func (v *intValues[T]) plain32(dst []T, src []int32) error {
	return narrowed(v, dst, src)
}

func (v *intValues[T]) store(dst []T, xs []int64) error { return narrowed(v, dst, xs) }

// narrowed stores numbers and checks their range.
func narrowed[T narrow, X int32 | int64](v *intValues[T], dst []T, src []X) error {
	src = src[:len(dst)]
	lo, span, base := v.lo, uint64(v.hi)-uint64(v.lo), v.base
	if v.lo > v.hi {
		if len(dst) > 0 {
			return v.outside(int64(src[0]))
		}
		return nil
	}
	if v.gaps {
		t := v.r.f.cols[v.r.col].Type
		for _, x := range src {
			if noTime(t, int64(x)) {
				return types.ErrOutOfRange(t)
			}
		}
	}
	n := 0
	if v.r.simd {
		n = narrowVectors(dst, src, uint64(lo), span, uint64(base))
	}
	dst = dst[n:]
	for i, x := range src[n:] {
		if uint64(int64(x)-lo) > span {
			return v.outside(int64(x))
		}
		dst[i] = T(int64(x) - base)
	}
	return nil
}

// outside is the error of a number that was not to be there.
func (v *intValues[T]) outside(x int64) error {
	t := v.r.f.cols[v.r.col].Type
	if lo, hi := typeBounds(t); types.FromInt64(x).Cmp(lo) < 0 || types.FromInt64(x).Cmp(hi) > 0 {
		return types.ErrOutOfRange(t)
	}
	return v.r.broken(fmt.Sprintf("there is %s", numberOf(t, types.FromInt64(x)).String()))
}

// raw decodes n values of the physical type, widened.
func (v *intValues[T]) raw(encoding int, body []byte, n int) ([]int64, error) {
	v.r.ints = sized(v.r.ints, n)
	xs := v.r.ints
	size := map[parquet.Type]int{parquet.Types.Int32: 4, parquet.Types.Int64: 8, parquet.Types.Int96: 12,
		parquet.Types.FixedLenByteArray: v.length}[v.phys]
	switch {
	case v.phys == parquet.Types.Boolean:
		return xs, boolValues(xs, encoding, body)
	case encoding == encDeltaInts && (size == 4 || size == 8) && v.phys != parquet.Types.FixedLenByteArray:
		_, err := deltaInts(xs, body, 8*size)
		return xs, err
	case encoding == encByteStreamSplit && size > 0:
		whole := make([]byte, n*size)
		if err := splitBytes(whole, body, size); err != nil {
			return nil, err
		}
		body = whole
	case encoding == encDeltaTexts || encoding == encDeltaLengths:
		return xs, v.texts(xs, encoding, body)
	case encoding != encPlain:
		return nil, fmt.Errorf("encoding %d of %s", encoding, v.phys)
	}
	switch v.phys {
	case parquet.Types.Int32:
		if len(body) < 4*n {
			return nil, errShort
		}
		for i, x := range view[int32](body)[:n] {
			xs[i] = int64(x)
		}
	case parquet.Types.Int64:
		if len(body) < 8*n {
			return nil, errShort
		}
		copy(xs, view[int64](body))
	case parquet.Types.Int96:
		if len(body) < 12*n {
			return nil, errShort
		}
		for i := range xs {
			xs[i] = int96Micros((*parquet.Int96)(body[12*i:]))
		}
	case parquet.Types.FixedLenByteArray:
		if size <= 0 || len(body) < size*n {
			return nil, errShort
		}
		for i := range xs {
			if err := v.bigEndian(xs, i, body[size*i:][:size]); err != nil {
				return nil, err
			}
		}
	case parquet.Types.ByteArray:
		for i := range xs {
			b, rest, err := nextText(body)
			if err == nil {
				err = v.bigEndian(xs, i, b)
			}
			if err != nil {
				return nil, err
			}
			body = rest
		}
	default:
		return nil, fmt.Errorf("numbers of type %s", v.phys)
	}
	return xs, nil
}

// nextText is a text after its length.
func nextText(b []byte) (text, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errShort
	}
	n := int(le32(b))
	if b = b[4:]; n < 0 || n > len(b) {
		return nil, nil, errShort
	}
	return b[:n], b[n:], nil
}

// texts decodes decimals that are stored as texts of bytes.
func (v *intValues[T]) texts(xs []int64, encoding int, body []byte) error {
	list, err := deltaTexts(len(xs), encoding, body, v.r.charge)
	for i := 0; err == nil && i < len(xs); i++ {
		err = v.bigEndian(xs, i, list[i])
	}
	return err
}

// bigEndian decodes a decimal.
func (v *intValues[T]) bigEndian(xs []int64, i int, b []byte) error {
	t := v.r.f.cols[v.r.col].Type
	x, ok := int128Bytes(b)
	if !ok || !types.FitsPrecision(x, int(t.Prec)) {
		return types.ErrOutOfRange(t)
	}
	if !x.FitsInt64() {
		return v.r.broken("there is " + numberOf(t, x).String())
	}
	xs[i] = int64(x.Lo)
	return nil
}

// convert gives numbers the unit of their type.
func (v *intValues[T]) convert(xs []int64) error {
	switch v.form {
	case millis:
		for i, x := range xs {
			if x > math.MaxInt64/1000 || x < math.MinInt64/1000 {
				return types.ErrOutOfRange(v.r.f.cols[v.r.col].Type)
			}
			xs[i] = x * 1000
		}
	case nanos:
		if v.phys == parquet.Types.Int64 {
			for i, x := range xs {
				xs[i] = floorDiv(x, 1000)
			}
		}
	case unsigned:
		if v.phys == parquet.Types.Int32 {
			for i, x := range xs {
				xs[i] = int64(uint32(x))
			}
			break
		}
		for _, x := range xs { // 64 bits, promised to be small
			if x < 0 {
				return v.r.broken("there is " + numberOf(v.r.f.cols[v.r.col].Type, types.Int128{Lo: uint64(x)}).String())
			}
		}
	}
	return nil
}

// boolValues decodes booleans: bits, or runs of them.
func boolValues(xs []int64, encoding int, body []byte) error {
	switch encoding {
	case encPlain:
		if len(body)*8 < len(xs) {
			return errShort
		}
		for i := range xs {
			xs[i] = int64(body[i/8] >> (i % 8) & 1)
		}
		return nil
	case encRLE:
		if len(body) < 4 || uint64(le32(body)) > uint64(len(body)-4) {
			return errShort
		}
		return hybrid(view[uint64](asBytes(xs)), body[4:][:le32(body)], 1, []uint64{0, 1}, false)
	}
	return fmt.Errorf("encoding %d of BOOLEAN", encoding)
}

func asBytes[T int64 | uint64](xs []T) []byte {
	if len(xs) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&xs[0])), 8*len(xs))
}
