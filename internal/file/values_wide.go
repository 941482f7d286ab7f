package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/kelpiedb/kelpie/internal/types"
)

// floatValues are floats as they are.
type floatValues[T uint32 | uint64] struct{ tab []T }

func (v *floatValues[T]) room() func(int) []byte { return nil }
func (v *floatValues[T]) indexed(dst []T, body []byte, bits uint) error {
	return hybrid(dst, body, bits, v.tab, false)
}

func (v *floatValues[T]) dictionary(body []byte, n int) error {
	v.tab = make([]T, n)
	return v.decode(v.tab, encPlain, body)
}

func (v *floatValues[T]) decode(dst []T, encoding int, body []byte) error {
	var x T
	size := int(unsafe.Sizeof(x))
	if len(dst) == 0 {
		return nil
	}
	switch encoding {
	case encPlain:
		if len(body) < size*len(dst) {
			return errShort
		}
		copy(dst, view[T](body))
		return nil
	case encByteStreamSplit:
		return splitBytes(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), size*len(dst)), body, size)
	}
	return fmt.Errorf("encoding %d of floats", encoding)
}

func (b *chunkMaker) floats() error {
	if err := b.alloc(0); err != nil {
		return err
	}
	if b.t.Width == 4 {
		return fill(b, &floatValues[uint32]{})
	}
	return fill(b, &floatValues[uint64]{})
}

// wideValues are decimals of 128 bits, and intervals: two words.
type wideValues struct {
	r      *chunkReader
	phys   parquet.Type
	form   form
	length int
	lo, hi types.Int128
	tab    [][2]uint64
}

func (b *chunkMaker) wide() error {
	if err := b.alloc(0); err != nil {
		return err
	}
	s := b.r.f.leaf(b.r.col)
	v := &wideValues{r: b.r, phys: s.PhysicalType(), form: b.r.f.cols[b.r.col].form, length: s.TypeLength()}
	v.lo, v.hi = b.r.promised(b.t)
	return fill(b, v)
}

func (v *wideValues) room() func(int) []byte { return nil }
func (v *wideValues) indexed(dst [][2]uint64, body []byte, bits uint) error {
	return hybrid(dst, body, bits, v.tab, false)
}

func (v *wideValues) dictionary(body []byte, n int) error {
	v.tab = make([][2]uint64, n)
	return v.decode(v.tab, encPlain, body)
}

func (v *wideValues) decode(dst [][2]uint64, encoding int, body []byte) error {
	size := v.length
	switch v.phys {
	case parquet.Types.Int64:
		size = 8
	case parquet.Types.Int32:
		size = 4
	case parquet.Types.ByteArray:
		size = 0
	}
	switch {
	case encoding == encDeltaInts && v.phys == parquet.Types.Int64:
		xs := sized(v.r.ints, len(dst))
		v.r.ints = xs
		if _, err := deltaInts(xs, body, 64); err != nil {
			return err
		}
		body = asBytes(xs)
	case encoding == encByteStreamSplit && size > 0:
		whole := make([]byte, len(dst)*size)
		if err := splitBytes(whole, body, size); err != nil {
			return err
		}
		body = whole
	case encoding == encDeltaTexts || encoding == encDeltaLengths:
		list, err := deltaTexts(len(dst), encoding, body, v.r.charge)
		for i := 0; err == nil && i < len(dst); i++ {
			dst[i], err = v.one(list[i])
		}
		return err
	case encoding != encPlain:
		return fmt.Errorf("encoding %d of %s", encoding, v.phys)
	}
	for i := range dst {
		var b []byte
		var err error
		if size == 0 {
			b, body, err = nextText(body)
		} else if len(body) < size {
			err = errShort
		} else {
			b, body = body[:size], body[size:]
		}
		if err == nil {
			dst[i], err = v.one(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// one decodes a value.
func (v *wideValues) one(b []byte) ([2]uint64, error) {
	t := v.r.f.cols[v.r.col].Type
	switch v.form {
	case intervals:
		if len(b) != 12 {
			return [2]uint64{}, errShort
		}
		months, days, ms := le32(b), le32(b[4:]), le32(b[8:])
		if months > math.MaxInt32 || days > math.MaxInt32 {
			return [2]uint64{}, types.ErrOutOfRange(t)
		}
		return [2]uint64{uint64(months)<<32 | uint64(days), uint64(ms) * 1000}, nil
	}
	var x types.Int128
	ok := true
	switch {
	case v.form == unsigned && len(b) == 8:
		x.Lo = binary.LittleEndian.Uint64(b)
	case v.phys == parquet.Types.Int64 && len(b) == 8:
		x = types.FromInt64(int64(binary.LittleEndian.Uint64(b)))
	case v.phys == parquet.Types.Int32 && len(b) == 4:
		x = types.FromInt64(int64(int32(le32(b))))
	default:
		x, ok = int128Bytes(b)
	}
	if !ok || !types.FitsPrecision(x, int(t.Prec)) {
		return [2]uint64{}, types.ErrOutOfRange(t)
	}
	if x.Cmp(v.lo) < 0 || x.Cmp(v.hi) > 0 {
		return [2]uint64{}, v.r.broken("there is " + numberOf(t, x).String())
	}
	return [2]uint64{x.Lo, uint64(x.Hi)}, nil
}
