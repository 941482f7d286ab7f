package tuples

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Buffer is where a worker's sink writes tuples: chunks that double in size.
type Buffer struct {
	mem    *mem.Memory
	shared *Chunks // where chunks come from, if not straight from mem
	stride int
	chunks []uintptr
	Pieces []Piece // that are complete
	start  uintptr // of the piece being written
	Cur    uintptr // where the next tuple goes
	End    uintptr // of the chunk
	size   int     // of the last chunk
}

const (
	firstChunk = 8 << 10
	lastChunk  = 2 << 20
)

// partChunk is the size of the chunks that buffers share.
const partChunk = 32 << 10

// NewBuffer is an empty buffer of tuples that are stride bytes apart.
func NewBuffer(m *mem.Memory, stride int) Buffer { return Buffer{mem: m, stride: stride} }

// NewPart is one of several buffers that cut small chunks from the same blocks.
func NewPart(shared *Chunks, stride int) Buffer {
	return Buffer{shared: shared, stride: stride, size: partChunk}
}

// ToContext tells generated code where to write.
func (b *Buffer) ToContext(ctx uintptr) {
	mem.Store64(ctx+layout.CtxCur, uint64(b.Cur))
	mem.Store64(ctx+layout.CtxEnd, uint64(b.End))
}

// Grow ends the piece at cur and starts a new chunk.
func (b *Buffer) Grow(cur uintptr) error {
	b.Cut(cur)
	if b.size == 0 {
		b.size = firstChunk
	} else {
		b.size = min(b.size*2, b.most())
	}
	n := max(b.size/b.stride, 1)
	var a uintptr
	var err error
	if b.shared != nil {
		a, err = b.shared.room(n * b.stride)
	} else if a, err = b.mem.Take(n * b.stride); err == nil {
		b.chunks = append(b.chunks, a)
	}
	if err != nil {
		return err
	}
	b.start, b.Cur, b.End = a, a, a+uintptr(n*b.stride)
	return nil
}

// most is the size of the largest chunks.
func (b *Buffer) most() int {
	if b.shared != nil {
		return partChunk
	}
	return lastChunk
}

// Large reports that the next chunk would not be larger than the last.
func (b *Buffer) Large() bool { return b.size == b.most() }

// GrowFrom is Grow from where generated code has come to, which it then tells.
func (b *Buffer) GrowFrom(ctx uintptr) error {
	if err := b.Grow(uintptr(mem.Load64(ctx + layout.CtxCur))); err != nil {
		return err
	}
	b.ToContext(ctx)
	return nil
}

// Cut ends the piece being written at cur; the next begins there.
func (b *Buffer) Cut(cur uintptr) {
	if n := int(cur-b.start) / b.stride; n > 0 {
		b.Pieces = append(b.Pieces, Piece{b.start, n})
	}
	b.start, b.Cur = cur, cur
}

// Push adds a copy of the tuple at from.
func (b *Buffer) Push(from uintptr) error {
	if b.Cur == b.End {
		if err := b.Grow(b.Cur); err != nil {
			return err
		}
	}
	Copy(b.Cur, from, b.stride)
	b.Cur += uintptr(b.stride)
	return nil
}

// Each calls f with the address of every tuple.
func (b *Buffer) Each(f func(a uintptr)) {
	for _, p := range b.Pieces {
		for i := range p.N {
			f(p.Addr + uintptr(i*b.stride))
		}
	}
	for a := b.start; a < b.Cur; a += uintptr(b.stride) {
		f(a)
	}
}

// Poll calls f like Each and gives up when the query is canceled.
func (b *Buffer) Poll(t *work.Team, f func(a uintptr)) error {
	for _, p := range append(b.Pieces[:len(b.Pieces):len(b.Pieces)], Piece{b.start, int(b.Cur-b.start) / b.stride}) {
		if err := t.Canceled(); err != nil {
			return err
		}
		for i := range p.N {
			f(p.Addr + uintptr(i*b.stride))
		}
	}
	return nil
}

// Count is how many tuples there are.
func (b *Buffer) Count() int {
	n := int(b.Cur-b.start) / b.stride
	for _, p := range b.Pieces {
		n += p.N
	}
	return n
}

// Rewind forgets all tuples. The largest chunk is written again from its start, others are given back.
func (b *Buffer) Rewind() {
	b.Pieces = nil
	if len(b.chunks) == 0 {
		return
	}
	last := len(b.chunks) - 1
	for _, a := range b.chunks[:last] {
		b.mem.Free(a)
	}
	b.chunks = append(b.chunks[:0], b.chunks[last])
	b.start, b.Cur = b.chunks[0], b.chunks[0]
}

// Release gives the memory back, unless others share it.
func (b *Buffer) Release() {
	for _, a := range b.chunks {
		b.mem.Free(a)
	}
	b.chunks = nil
}

// Chunks cuts those of several buffers from large blocks, which lie in huge pages.
type Chunks struct {
	mem      *mem.Memory
	blocks   []uintptr
	cur, end uintptr
}

// NewChunks is where buffers may take chunks from.
func NewChunks(m *mem.Memory) *Chunks { return &Chunks{mem: m} }

// room is n bytes that nobody else has.
func (a *Chunks) room(n int) (uintptr, error) {
	n = (n + 63) &^ 63
	if a.end-a.cur < uintptr(n) {
		size := max(n, lastChunk)
		at, err := a.mem.Take(size)
		if err != nil {
			return 0, err
		}
		a.blocks = append(a.blocks, at)
		a.cur, a.end = at, at+uintptr(size)
	}
	at := a.cur
	a.cur += uintptr(n)
	return at, nil
}

// Release gives the memory back.
func (a *Chunks) Release() {
	for _, at := range a.blocks {
		a.mem.Free(at)
	}
	a.blocks = nil
}
