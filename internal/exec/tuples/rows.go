package tuples

import (
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
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

// Poll calls f like Each and gives up when the query is canceled.
func (rs *Rows) Poll(t *work.Team, f func(addr uintptr) bool) error {
	n := 0
	var err error
	rs.Each(func(a uintptr) bool {
		if n++; n&(1<<16-1) == 0 {
			if err = t.Canceled(); err != nil {
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
			for _, a := range mem.Words(p.Addr, p.N) {
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

// Addresses are where the tuples of a piece are from the one at i on, as many as dst has room for.
func (rs *Rows) Addresses(p Piece, i int, dst []uintptr) {
	if rs.Indirect {
		for k, a := range mem.Words(p.Addr, p.N)[i : i+len(dst)] {
			dst[k] = uintptr(a)
		}
		return
	}
	a := p.Addr + uintptr(i*rs.Tuple.Size)
	for k := range dst {
		dst[k] = a
		a += uintptr(rs.Tuple.Size)
	}
}

// Cut keeps limit rows after offset; limit < 0 keeps all.
func (rs *Rows) Cut(offset, limit int64) {
	if offset <= 0 && limit < 0 {
		return
	}
	var out []Piece
	step := uintptr(8)
	if !rs.Indirect {
		step = uintptr(rs.Tuple.Size)
	}
	for _, p := range rs.Pieces {
		if offset > 0 {
			k := min(offset, int64(p.N))
			offset -= k
			p.Addr += uintptr(k) * step
			p.N -= int(k)
		}
		if limit >= 0 {
			p.N = int(min(int64(p.N), limit))
			limit -= int64(p.N)
		}
		if p.N > 0 {
			out = append(out, p)
		}
	}
	rs.Pieces = out
}

// A thread takes so many tuples at a time: enough to be worth it, and few enough for all to end together.
const (
	minTask  = 4 << 10
	maxTask  = 32 << 10
	taskRows = 512 // a task has a multiple of them, where there are enough
)

// Tasks cuts tuples into stretches that threads share out among themselves.
func (rs *Rows) Tasks() []Piece {
	step := min(max(int(rs.Len()/32)&^(taskRows-1), minTask), maxTask)
	var out []Piece
	for _, p := range rs.Pieces {
		for lo := 0; lo < p.N; lo += step {
			out = append(out, Piece{p.Addr + uintptr(lo*rs.Tuple.Size), min(step, p.N-lo)})
		}
	}
	return out
}

// Copy copies size bytes, a multiple of 8.
func Copy(to, from uintptr, size int) {
	p, q := mem.Pointer(to), mem.Pointer(from)
	switch size {
	case 8:
		*(*[1]uint64)(p) = *(*[1]uint64)(q)
	case 16:
		*(*[2]uint64)(p) = *(*[2]uint64)(q)
	case 24:
		*(*[3]uint64)(p) = *(*[3]uint64)(q)
	case 32:
		*(*[4]uint64)(p) = *(*[4]uint64)(q)
	case 40:
		*(*[5]uint64)(p) = *(*[5]uint64)(q)
	case 48:
		*(*[6]uint64)(p) = *(*[6]uint64)(q)
	default:
		copy(unsafe.Slice((*byte)(p), size), unsafe.Slice((*byte)(q), size))
	}
}
