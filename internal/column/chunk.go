package column

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/types"
)

// SegmentRows is the most rows a segment holds: small enough that a zone map
// skips something, large enough that per-segment work vanishes.
const SegmentRows = 1 << 16

// PadRows is how many rows past the end of a chunk may be read (never used):
// generated code looks ahead of itself to prefetch.
const PadRows = 64

// Enc is the storage form of a chunk. What generated code does to read row i of
// it stands beside each.
type Enc uint8

const (
	EncInt  Enc = iota // Base + the unsigned code of Width bytes (1, 2, 4); Width 8: the signed value itself, Base 0
	EncI128            // 16 bytes, low half first
	EncF64             // Width 8: the double; Width 4: a single
	EncDict            // unsigned code of Width bytes (1, 2, 4): index of a 16-byte descriptor in the dictionary
	EncStr             // 16-byte descriptor: see StrDesc
	EncIvl             // 16 bytes: months<<32|days, microseconds
)

// StrInline is the length up to which a string's bytes live in its descriptor.
const StrInline = 12

// StrDesc is a stored string: length, then either all bytes (up to StrInline,
// zero-padded) or the first four and the offset of the whole string in the heap.
// Offsets rather than addresses, so that a chunk can be moved, mapped or copied to a GPU.
type StrDesc struct {
	Len    uint32
	Prefix [4]byte
	Rest   [8]byte // the next bytes, or the little-endian offset in the heap
}

// PackedOffset is how many bits of a packed descriptor are the offset in the heap; the others are the length.
const PackedOffset = 40

// Packed is the descriptor of a long text in 8 bytes; false: it has no such form.
func (d *StrDesc) Packed() (uint64, bool) {
	at := binary.LittleEndian.Uint64(d.Rest[:])
	return at | uint64(d.Len)<<PackedOffset, d.Len > StrInline && d.Len < 1<<(64-PackedOffset) && at < 1<<PackedOffset
}

// Shape is what generated code must know of a chunk at compile time; chunks of
// equal shape are read by the same code.
type Shape struct {
	Enc   Enc
	Width uint8
	Nulls bool
}

// Chunk is one column of one segment. It is immutable.
type Chunk struct {
	Shape
	Type types.Type
	Rows int
	Base int64   // EncInt
	Data uintptr // Rows+PadRows elements, 64-byte aligned
	Null uintptr // Rows+PadRows bytes, 1 = NULL; 0 when there is none
	Heap uintptr // EncStr: the heap
	Dict *Dict   // EncDict
	Zone Zone

	mem    *Mem       // keeps the memory alive; a cleanup unmaps it
	dict   DictView   // EncDict: the dictionary as it was when the chunk was sealed, enough for its codes
	sketch *registers // until AddTo has taken it
}

// Discard gives the memory back at once, that of the other chunks of the segment, too. Nobody may use them again.
func (c *Chunk) Discard() {
	if c.mem != nil {
		c.mem.Free()
	}
}

// Memory is where the chunk's arrays lie, with those of the other chunks of its segment.
func (c *Chunk) Memory() (addr uintptr, size int) { return c.mem.span() }
