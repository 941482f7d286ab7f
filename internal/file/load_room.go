package file

import (
	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
)

// loadRoom is the memory that loading a text file takes: texts of blocks, values on their way, and the
// segments that are done. It is room for texts on Go's heap. They count for the statement alone, which ends
// with them: blocks are not given back one by one when loading fails.
type loadRoom struct{ acct *budget.Account }

// add takes memory into account, or what is given back.
func (b *loadRoom) add(n int64) error {
	if n < 0 {
		b.acct.Drop(-n)
		return nil
	}
	return b.acct.Hold(n)
}

func (b *loadRoom) grow(text []byte, more int) ([]byte, error) {
	if cap(text)-len(text) >= more {
		return text, nil
	}
	size := max(len(text)+more, cap(text)*3/2)
	if err := b.add(int64(size)); err != nil { // both are there while one is copied
		return nil, err
	}
	out := append(make([]byte, 0, size), text...)
	b.drop(text)
	return out, b.add(int64(cap(out) - size))
}

// drop forgets a text.
func (b *loadRoom) drop(text []byte) { b.acct.Drop(int64(cap(text))) }

// blockSize is the bytes of a block, so that those of all threads take a small part of the limit.
func (b *loadRoom) blockSize(threads int) int {
	limit := b.acct.Limit()
	if limit == 0 {
		return blockBytes
	}
	return int(min(max(limit/int64(8*threads), readBytes), blockBytes))
}

// sealed counts a segment.
func (b *loadRoom) sealed(seg *catalog.Segment) error {
	var n int64
	for _, c := range seg.Chunks {
		n += int64(c.MemBytes())
	}
	return b.add(n)
}

// buildersSize is the size of values that are not in a segment yet.
func buildersSize(cols []*column.Builder) (n int64) {
	for _, c := range cols {
		n += int64(c.Size())
	}
	return n
}
