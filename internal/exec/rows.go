package exec

import (
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Rows are materialized tuples in order: pieces of memory, each an array of tuples or
// of their addresses.
type Rows struct {
	Tuple    *layout.Tuple
	Pieces   []Piece
	Indirect bool
}

// Piece is N tuples (or addresses of tuples) from Addr on.
type Piece struct {
	Addr uintptr
	N    int
}

// Len is the number of tuples.
func (rs *Rows) Len() int64 {
	var n int64
	for _, p := range rs.Pieces {
		n += int64(p.N)
	}
	return n
}

// poll calls f like Each and gives up when the query is canceled.
func (rs *Rows) poll(r *run, f func(addr uintptr) bool) error {
	n := 0
	var err error
	rs.Each(func(a uintptr) bool {
		if n++; n&(1<<16-1) == 0 {
			if err = r.canceled(); err != nil {
				return false
			}
		}
		return f(a)
	})
	return err
}

// Each calls f with the address of every tuple until it returns false.
func (rs *Rows) Each(f func(addr uintptr) bool) {
	for _, p := range rs.Pieces {
		if rs.Indirect {
			for _, a := range words(p.Addr, p.N) {
				if !f(uintptr(a)) {
					return
				}
			}
			continue
		}
		for i := range p.N {
			if !f(p.Addr + uintptr(i*rs.Tuple.Size)) {
				return
			}
		}
	}
}

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
	} else if a, err = b.mem.room(n * b.stride); err == nil {
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

// cut ends the piece being written at cur; the next begins there.
func (b *buffer) cut(cur uintptr) {
	if n := int(cur-b.start) / b.stride; n > 0 {
		b.pieces = append(b.pieces, Piece{b.start, n})
	}
	b.start, b.cur = cur, cur
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
func (b *buffer) poll(r *run, f func(a uintptr)) error {
	for _, p := range append(b.pieces[:len(b.pieces):len(b.pieces)], Piece{b.start, int(b.cur-b.start) / b.stride}) {
		if err := r.canceled(); err != nil {
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

// chunks cuts those of several buffers from large blocks, which lie in huge pages.
type chunks struct {
	mem      *memory
	blocks   []uintptr
	cur, end uintptr
}

func (a *chunks) room(n int) (uintptr, error) {
	n = (n + 63) &^ 63
	if a.end-a.cur < uintptr(n) {
		size := max(n, lastChunk)
		at, err := a.mem.room(size)
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
