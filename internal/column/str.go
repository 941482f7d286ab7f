package column

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// descBytesSize is the size of a StrDesc.
const descBytesSize = 16

// TextPad is how many bytes behind a text may be read: generated code reads 64 at a time.
const TextPad = 64

// makeDesc describes a string whose bytes, if they do not fit in the descriptor,
// lie at offset off of the heap.
func makeDesc(s []byte, off int) (d StrDesc) {
	d.Len = uint32(len(s))
	if len(s) <= StrInline {
		copy((*[StrInline]byte)(unsafe.Pointer(&d.Prefix))[:], s)
		return d
	}
	copy(d.Prefix[:], s)
	binary.LittleEndian.PutUint64(d.Rest[:], uint64(off))
	return d
}

// descBytes is the string of the descriptor at an address, in place.
func descBytes(addr, heap uintptr) []byte {
	d := (*StrDesc)(pointer(addr))
	n := int(d.Len)
	if n <= StrInline {
		return slice[byte](addr+4, n)
	}
	return slice[byte](heap+uintptr(binary.LittleEndian.Uint64(d.Rest[:])), n)
}

// words is the first 24 bytes of a string, behind its end zeros. Most strings that repeat
// are not longer; then words and length are all of it. (Not an array: the compiler keeps
// structs in registers.)
type words struct{ a, b, c uint64 }

const wordBytes = 24

// wordMasks[n] keeps the first n bytes.
var wordMasks = func() (m [wordBytes + 1]words) {
	for n := range m {
		m[n] = words{mask(n), mask(n - 8), mask(n - 16)}
	}
	return m
}()

// mask keeps the first n bytes of a word.
func mask(n int) uint64 { return math.MaxUint64 >> (64 - 8*uint(max(0, min(n, 8)))) }

// wordsAt loads the string of n bytes at arena[at:], behind which 24 more bytes can be read.
// It has no branches: lengths are hard to predict.
func wordsAt(arena []byte, at, n int) words {
	m := &wordMasks[min(n, wordBytes)]
	p := arena[at : at+wordBytes]
	return words{
		binary.LittleEndian.Uint64(p) & m.a,
		binary.LittleEndian.Uint64(p[8:]) & m.b,
		binary.LittleEndian.Uint64(p[16:]) & m.c,
	}
}

// wordsOf loads a string behind which nothing may be read.
func wordsOf(s []byte) words {
	var buf [wordBytes]byte
	copy(buf[:], s)
	return wordsAt(buf[:], 0, len(s))
}

// prefix is the first eight bytes as a number that orders as they do.
func (w words) prefix() uint64 { return bits.ReverseBytes64(w.a) }

// The hashes are our own and fixed, so that statistics, and the plans they lead to, are
// the same in every run.
const (
	hashK0 = 0x9e3779b97f4a7c15
	hashK1 = 0xd6e8feb86659fd93
	hashK2 = 0xa0761d6478bd642f
	hashK3 = 0xe7037ed1a0b428db
)

// hashInt mixes the bits of x (Stafford's variant 13 of MurmurHash3's finalizer).
func hashInt(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// hashBytes hashes a string.
func hashBytes(s []byte) uint64 { return hashWords(wordsOf(s), s) }

// hashWords hashes a string whose first bytes are loaded already.
func hashWords(w words, s []byte) uint64 {
	h := fold(w.a^hashK0, w.b^hashK1) ^ fold(w.c^hashK2, uint64(len(s))^hashK3)
	if len(s) > wordBytes {
		h = hashRest(h, s)
	}
	return hashInt(h)
}

// hashRest takes in what follows the first bytes of a long string, 16 bytes a step; the
// last step takes the last 16, some of them a second time.
func hashRest(h uint64, s []byte) uint64 {
	for i := wordBytes; i+16 < len(s); i += 16 {
		h = fold(binary.LittleEndian.Uint64(s[i:])^h, binary.LittleEndian.Uint64(s[i+8:])^hashK1)
	}
	s = s[len(s)-16:]
	return fold(binary.LittleEndian.Uint64(s)^h, binary.LittleEndian.Uint64(s[8:])^hashK1)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
