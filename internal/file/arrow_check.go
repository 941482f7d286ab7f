package file

import (
	"encoding/binary"
	"errors"
	"io"
)

// The library that reads Arrow files believes how many fields a schema says that it has, and takes memory for them. Footers are flatbuffers:
// tables whose fields lie where a table of offsets says. Here the lists of a schema are held against the bytes that there are.

var errArrowFooter = errors.New("the footer makes no sense")

// checkArrowFooter looks at the end of a file.
func checkArrowFooter(r io.ReaderAt, size int64) error {
	tail := make([]byte, 4+len(arrowMagic))
	if size < int64(len(tail)) {
		return errArrowFooter
	}
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != string(arrowMagic) || n < 8 || n > size-int64(len(tail)) {
		return errArrowFooter
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-int64(len(tail))-n); err != nil {
		return err
	}
	b := flatbuffer(footer)
	root, ok := b.follow(0)
	if !ok {
		return errArrowFooter
	}
	schema, ok := b.field(root, 1)
	if !ok {
		return errArrowFooter
	}
	if schema, ok = b.follow(schema); !ok || !b.fields(schema, 1, maxArrowDepth) {
		return errArrowFooter
	}
	for _, slot := range []int{2, 3} { // dictionaries and batches
		if at, ok := b.field(root, slot); ok && !b.blocks(at, size) {
			return errArrowFooter
		}
	}
	return nil
}

// blocks checks a list of messages: where they begin, how many bytes say what they have, and how many they have. All must be in the file, since
// memory is taken for them before they are read.
func (b flatbuffer) blocks(at int, size int64) bool {
	const block = 24
	at, ok := b.follow(at)
	if !ok {
		return false
	}
	n, ok := b.u32(at)
	if !ok || n > (len(b)-at-4)/block {
		return false
	}
	for i := range n {
		x, left := b[at+4+block*i:], uint64(size)
		for _, part := range []uint64{binary.LittleEndian.Uint64(x), uint64(binary.LittleEndian.Uint32(x[8:])), binary.LittleEndian.Uint64(x[16:])} {
			if part > left {
				return false
			}
			left -= part
		}
	}
	return true
}

// maxArrowDepth bounds fields of fields.
const maxArrowDepth = 64

// flatbuffer is bytes that refer to each other.
type flatbuffer []byte

func (b flatbuffer) u32(at int) (int, bool) {
	if at < 0 || at+4 > len(b) {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(b[at:])), true
}

func (b flatbuffer) u16(at int) (int, bool) {
	if at < 0 || at+2 > len(b) {
		return 0, false
	}
	return int(binary.LittleEndian.Uint16(b[at:])), true
}

// follow is where the offset at a place leads.
func (b flatbuffer) follow(at int) (int, bool) {
	n, ok := b.u32(at)
	return at + n, ok && at+n < len(b)
}

// field is where a field of a table is; false if it has none, or is none.
func (b flatbuffer) field(table, slot int) (int, bool) {
	back, ok := b.u32(table)
	if !ok {
		return 0, false
	}
	offsets := table - int(int32(uint32(back)))
	size, ok := b.u16(offsets)
	if !ok || 4+2*slot+2 > size {
		return 0, false
	}
	off, ok := b.u16(offsets + 4 + 2*slot)
	return table + off, ok && off > 0 && table+off+4 <= len(b)
}

// fields checks the list of fields in a slot of a schema, or of a field, and theirs. Further slots with lists of pairs (metadata) have room for what they say,
// too.
func (b flatbuffer) fields(table, slot, depth int) bool {
	if depth == 0 {
		return false
	}
	for _, list := range []int{slot, slot + 1} { // children, and metadata
		at, ok := b.field(table, list)
		if !ok {
			continue
		}
		at, ok = b.follow(at)
		if !ok {
			return false
		}
		n, ok := b.u32(at)
		if !ok || n > (len(b)-at-4)/4 {
			return false
		}
		if list != slot {
			continue
		}
		for i := range n {
			child, ok := b.follow(at + 4 + 4*i)
			if !ok || !b.fields(child, childrenSlot, depth-1) {
				return false
			}
		}
	}
	return true
}

// childrenSlot is where a field has those of its type; behind them is its metadata.
const childrenSlot = 5
