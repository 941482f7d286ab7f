package file

import (
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// budget is the memory that loading may take: texts of blocks, values on their way, and the segments that are
// done. It is room for texts on Go's heap.
type budget struct {
	limit int64 // 0: none
	used  atomic.Int64
}

// add takes memory into account, or what is given back.
func (b *budget) add(n int64) error {
	if used := b.used.Add(n); b.limit > 0 && n > 0 && used > b.limit {
		b.used.Add(-n)
		return diag.Errorf(diag.OutOfMemory, diag.NoPos, "out of memory: loading needs more than the memory limit of %d MiB", b.limit>>20).
			WithHint("raise it with SET memory_limit = '…' or --memory")
	}
	return nil
}

func (b *budget) grow(text []byte, more int) ([]byte, error) {
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
func (b *budget) drop(text []byte) { b.used.Add(-int64(cap(text))) }

// blockSize is the bytes of a block, so that those of all threads take a small part of the limit.
func (b *budget) blockSize(threads int) int {
	if b.limit == 0 {
		return blockBytes
	}
	return int(min(max(b.limit/int64(8*threads), readBytes), blockBytes))
}

// sealed counts a segment.
func (b *budget) sealed(seg *catalog.Segment) error {
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
