package exec

import (
	"github.com/kelpiedb/kelpie/internal/layout"
)

// buffer is where a worker's sink writes tuples: chunks that double in size.
type buffer struct {
	mem    *memory
	shared *chunks // where chunks come from, if not straight from mem
	stride int
	chunks []uintptr
	pieces []Piece
	start  uintptr // of the piece being written
	cur    uintptr
	end    uintptr
	size   int // of the last chunk
}

const (
	firstChunk = 8 << 10
	lastChunk  = 2 << 20
)

// partChunk is the size of the chunks that buffers share.
const partChunk = 32 << 10

// newBuffer is an empty buffer of tuples that are stride bytes apart.
func newBuffer(m *memory, stride int) buffer { return buffer{mem: m, stride: stride} }

// newPart is one of several buffers that cut small chunks from the same blocks.
func newPart(shared *chunks, stride int) buffer {
	return buffer{shared: shared, stride: stride, size: partChunk}
}

// toContext tells generated code where to write.
func (b *buffer) toContext(ctx uintptr) {
	store64(ctx+layout.CtxCur, uint64(b.cur))
	store64(ctx+layout.CtxEnd, uint64(b.end))
}

// grow ends the piece at cur and starts a new chunk.
func (b *buffer) grow(cur uintptr) error {
	b.cut(cur)
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
	b.start, b.cur, b.end = a, a, a+uintptr(n*b.stride)
	return nil
}

// most is the size of the largest chunks.
func (b *buffer) most() int {
	if b.shared != nil {
		return partChunk
	}
	return lastChunk
}

// growFrom is grow from where generated code has come to, which it then tells.
func (b *buffer) growFrom(ctx uintptr) error {
	if err := b.grow(uintptr(load64(ctx + layout.CtxCur))); err != nil {
		return err
	}
	b.toContext(ctx)
	return nil
}

// reserve makes sure that n tuples fit behind cur.
func (b *buffer) reserve(cur uintptr, n int) error {
	need := n * b.stride
	if cur != 0 && int(b.end-cur) >= need {
		b.cur = cur
		return nil
	}
	b.cut(cur)
	// Most launches write less than they may, so a chunk serves several.
	a, err := b.mem.alloc(max(need, min(4*need, lastChunk)))
	if err != nil {
		return err
	}
	b.start, b.cur, b.end = a, a, a+uintptr(max(need, min(4*need, lastChunk)))
	return nil
}

// reserveFrom is reserve from where generated code has come to, which it then tells.
func (b *buffer) reserveFrom(ctx uintptr, tuples int) error {
	if err := b.reserve(uintptr(load64(ctx+layout.CtxCur)), tuples); err != nil {
		return err
	}
	b.toContext(ctx)
	return nil
}

// cut ends the piece being written at cur; the next begins there.
func (b *buffer) cut(cur uintptr) {
	if n := int(cur-b.start) / b.stride; n > 0 {
		b.pieces = append(b.pieces, Piece{b.start, n})
	}
	b.start, b.cur = cur, cur
}

// push adds a copy of the tuple at from.
func (b *buffer) push(from uintptr) error {
	if b.cur == b.end {
		if err := b.grow(b.cur); err != nil {
			return err
		}
	}
	copyTuple(b.cur, from, b.stride)
	b.cur += uintptr(b.stride)
	return nil
}

// each calls f with the address of every tuple.
func (b *buffer) each(f func(a uintptr)) {
	for _, p := range b.pieces {
		for i := range p.N {
			f(p.Addr + uintptr(i*b.stride))
		}
	}
	for a := b.start; a < b.cur; a += uintptr(b.stride) {
		f(a)
	}
}

// poll calls f like each and gives up when the query is canceled.
func (b *buffer) poll(t *team, f func(a uintptr)) error {
	for _, p := range append(b.pieces[:len(b.pieces):len(b.pieces)], Piece{b.start, int(b.cur-b.start) / b.stride}) {
		if err := t.canceled(); err != nil {
			return err
		}
		for i := range p.N {
			f(p.Addr + uintptr(i*b.stride))
		}
	}
	return nil
}

// count is how many tuples there are.
func (b *buffer) count() int {
	n := int(b.cur-b.start) / b.stride
	for _, p := range b.pieces {
		n += p.N
	}
	return n
}

// release gives the memory back, unless others share it.
func (b *buffer) release() {
	for _, a := range b.chunks {
		b.mem.Free(a)
	}
	b.chunks = nil
}

// chunks cuts those of several buffers from large blocks, which lie in huge pages.
type chunks struct {
	mem      *memory
	blocks   []uintptr
	cur, end uintptr
}

// newChunks is where buffers may take chunks from.
func newChunks(m *memory) *chunks { return &chunks{mem: m} }

// room is n bytes that nobody else has.
func (a *chunks) room(n int) (uintptr, error) {
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

// release gives the memory back.
func (a *chunks) release() {
	for _, at := range a.blocks {
		a.mem.Free(at)
	}
	a.blocks = nil
}
