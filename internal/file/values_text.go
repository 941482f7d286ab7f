package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// codeValues makes codes of a dictionary that all row groups share.
type codeValues[T uint8 | uint16 | uint32] struct {
	tab  []T
	simd bool
}

func newCodes[T uint8 | uint16 | uint32](codes []uint32, simd bool) *codeValues[T] {
	v := &codeValues[T]{tab: padded[T](len(codes)), simd: simd}
	for i, c := range codes {
		v.tab[i] = T(c)
	}
	return v
}

func (v *codeValues[T]) room() func(int) []byte { return nil }
func (v *codeValues[T]) indexed(dst []T, body []byte, bits uint) error {
	return hybrid(dst, body, bits, v.tab, v.simd)
}

func (v *codeValues[T]) dictionary(_ []byte, n int) error {
	if n != len(v.tab) {
		return fmt.Errorf("a dictionary of %d texts has %d", len(v.tab), n)
	}
	return nil
}

func (v *codeValues[T]) decode(dst []T, encoding int, _ []byte) error {
	if len(dst) == 0 {
		return nil
	}
	return fmt.Errorf("a page of encoding %d where all texts should be in the dictionary", encoding)
}

// Texts that are not coded are descriptors of 16 bytes that refer to a heap. A page is decompressed
// into the heap, and descriptors point at the texts there: nothing is copied.

// textValues makes descriptors.
type textValues struct {
	r    *chunkReader
	heap []byte // all of it; column.TextPad bytes more can be read
	used int
	// grows: the heap is the Go heap's, and is copied in the end. For texts that are not in
	// pages as they are.
	grows bool
	tab   [][2]uint64
}

// texts reads a chunk of texts.
func (b *chunkMaker) texts() error {
	v := &textValues{r: b.r}
	uuid := b.r.f.cols[b.r.col].form == uuidText
	if b.r.info.shared || uuid || b.r.f.leaf(b.r.col).PhysicalType() == parquet.Types.FixedLenByteArray {
		return b.copiedTexts(v)
	}
	size := 0
	for i := range b.list {
		if b.list[i].encoding == encDeltaTexts {
			return b.copiedTexts(v)
		}
		if b.r.needed(&b.list[i]) {
			size += b.list[i].pageHeader.unpacked
		}
	}
	if b.dict != nil {
		size += b.dict.pageHeader.unpacked
	}
	if err := b.alloc(size + column.TextPad); err != nil {
		return err
	}
	v.heap = column.SliceAt[byte](b.c.Heap, size+column.TextPad)[:size]
	err := fill(b, v)
	b.c.Zone.Bytes = int64(size)
	return err
}

// copiedTexts reads texts that must be put together.
func (b *chunkMaker) copiedTexts(v *textValues) error {
	v.grows = true
	if err := b.r.count(17 * b.c.Rows); err != nil {
		return err
	}
	desc := make([][2]uint64, b.c.Rows)
	var nulls []uint8
	if b.t.Nulls {
		nulls = make([]uint8, b.c.Rows)
	}
	if err := readInto(b.r, b.dict, b.list, desc, nulls, v); err != nil {
		return err
	}
	if err := b.alloc(len(v.heap) + column.TextPad); err != nil {
		return err
	}
	copy(column.SliceAt[[2]uint64](b.c.Data, len(desc)), desc)
	copy(b.nulls(), nulls)
	copy(column.SliceAt[byte](b.c.Heap, len(v.heap)), v.heap)
	b.c.Zone.Bytes = int64(len(v.heap))
	return nil
}

// room decompresses pages into the heap.
func (v *textValues) room() func(n int) []byte {
	if v.grows {
		return nil
	}
	return func(n int) []byte {
		if n > len(v.heap)-v.used {
			panic("the pages are larger than their headers say")
		}
		v.used += n
		return v.heap[v.used-n : v.used : cap(v.heap)]
	}
}

func (v *textValues) dictionary(body []byte, n int) error {
	v.tab = make([][2]uint64, n)
	return v.decode(v.tab, encPlain, body)
}

func (v *textValues) indexed(dst [][2]uint64, body []byte, bits uint) error {
	return hybrid(dst, body, bits, v.tab, v.r.simd)
}

func (v *textValues) decode(dst [][2]uint64, encoding int, body []byte) error {
	if v.grows {
		return v.copied(dst, encoding, body)
	}
	if len(dst) == 0 {
		return nil
	}
	// The body ends where the heap is used.
	base := v.used - len(body)
	switch encoding {
	case encPlain:
		if !ascii(body) {
			if err := v.checkPlain(body, len(dst)); err != nil {
				return err
			}
		}
		return describe(dst, body[:len(body):cap(body)], base)
	case encDeltaLengths:
		lengths := sized(v.r.ints, len(dst))
		v.r.ints = lengths
		rest, err := deltaInts(lengths, body, 32)
		if err != nil {
			return err
		}
		base += len(body) - len(rest)
		plain := ascii(rest)
		at := 0
		for i, n := range lengths {
			if n < 0 || n > int64(len(rest)-at) {
				return errDelta
			}
			text := rest[at : at+int(n)]
			if !plain && !v.valid(text) {
				return v.invalid()
			}
			dst[i] = descriptor(text, base+at)
			at += int(n)
		}
		return nil
	}
	return fmt.Errorf("encoding %d of texts", encoding)
}

// describe makes descriptors of texts that each follow their length. The heap has the page at base.
func describe(dst [][2]uint64, body []byte, base int) error {
	at, end := 0, len(body)
	padded := body
	if cap(body) >= end+slack {
		padded = body[:end+slack]
	}
	for i := range dst {
		if end-at < 4 {
			return errShort
		}
		n := int(binary.LittleEndian.Uint32(padded[at:]))
		at += 4
		if n < 0 || n > end-at {
			return errShort
		}
		if at+12 > len(padded) {
			dst[i] = descriptor(body[at:at+n], base+at)
			at += n
			continue
		}
		first := uint64(binary.LittleEndian.Uint32(padded[at:])) << 32
		rest := binary.LittleEndian.Uint64(padded[at+4:])
		if n > column.StrInline {
			rest = uint64(base + at)
		} else { // what lies behind the text must be zero
			first &= math.MaxUint64 >> (32 - 8*uint(min(n, 4)))
			rest &= math.MaxUint64 >> (64 - 8*uint(max(n, 4)-4))
		}
		dst[i] = [2]uint64{uint64(n) | first, rest}
		at += n
	}
	return nil
}

// descriptor is the descriptor of a text at a place of the heap.
func descriptor(s []byte, at int) [2]uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint32(b[:], uint32(len(s)))
	if len(s) <= column.StrInline {
		copy(b[4:], s)
	} else {
		copy(b[4:8], s)
		binary.LittleEndian.PutUint64(b[8:], uint64(at))
	}
	return [2]uint64{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}

// ascii reports that no byte has its top bit set.
func ascii(b []byte) bool {
	const top = 0x8080808080808080
	for len(b) >= 32 {
		if (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|
			binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]))&top != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// checkPlain reports texts that are none.
func (v *textValues) checkPlain(body []byte, n int) error {
	for range n {
		s, rest, err := nextText(body)
		if err != nil {
			return err
		}
		if !v.valid(s) {
			return v.invalid()
		}
		body = rest
	}
	return nil
}

// valid reports bytes that may be a value of the column.
func (v *textValues) valid(s []byte) bool {
	return v.r.f.cols[v.r.col].form == rawBytes || utf8.Valid(s)
}

func (v *textValues) invalid() error {
	def := &v.r.f.cols[v.r.col]
	if def.form == binaryText {
		return located(diag.Unsupported(diag.NoPos, "column %q: binary data that is not text", def.Name),
			"file %s, row group %d, column %q", v.r.f.in.path, v.r.group, def.Name)
	}
	return &types.Error{Code: diag.CharacterNotInRepertoire, Msg: `invalid byte sequence for encoding "UTF8"`}
}

// copied makes descriptors of texts that are put into a growing heap.
func (v *textValues) copied(dst [][2]uint64, encoding int, body []byte) (err error) {
	var list [][]byte
	s := v.r.f.leaf(v.r.col)
	fixed := s.PhysicalType() == parquet.Types.FixedLenByteArray
	if encoding == encByteStreamSplit && fixed {
		whole := make([]byte, len(dst)*s.TypeLength())
		if err := splitBytes(whole, body, s.TypeLength()); err != nil {
			return err
		}
		body, encoding = whole, encPlain
	}
	switch encoding {
	case encDeltaTexts, encDeltaLengths:
		v.r.charge(len(dst) * 40)
		if list, err = deltaTexts(len(dst), encoding, body, v.r.charge); err != nil {
			return err
		}
	case encPlain:
	default:
		return fmt.Errorf("encoding %d of texts", encoding)
	}
	uuid := v.r.f.cols[v.r.col].form == uuidText
	for i := range dst {
		var text []byte
		switch {
		case list != nil:
			text = list[i]
		case fixed:
			n := s.TypeLength()
			if len(body) < n {
				return errShort
			}
			text, body = body[:n], body[n:]
		default:
			if text, body, err = nextText(body); err != nil {
				return err
			}
		}
		if uuid {
			if len(text) != 16 {
				return errShort
			}
			text = appendUUID(nil, text)
		} else if !v.valid(text) {
			return v.invalid()
		}
		dst[i] = descriptor(text, len(v.heap))
		if len(text) > column.StrInline {
			v.heap = v.r.appendText(v.heap, text)
		}
	}
	return nil
}
