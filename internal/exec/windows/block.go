package windows

import (
	"math"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// computation is the windows that one order serves.
type computation struct {
	Options
	w     *plan.Window
	tuple *layout.Tuple
	order *sorting.Order
}

// block is rows of whole partitions. Rows are numbered from its first.
type block struct {
	c       *computation
	room    *scratch
	threads bool // all threads work on it
	n       int
	addrs   []uintptr
	starts  []int32 // of partitions, and where the last ends
	peer    []bool  // a row with another sort key than the one before begins here; nil: not asked for yet
	at      placed
	lo      int // of the block among all rows
	cols    map[plan.ColID]*values
	frames  []framed
	lows    []int32 // first peers, see peers
	highs   []int32
}

// values are those of a column, as words.
type values struct {
	f      *layout.Field
	lo, hi []uint64 // hi: of two words
	null   []byte   // 1 is NULL; nil: never
}

func (v *values) isNull(i int) bool { return v.null != nil && v.null[i] != 0 }

func (c *computation) newBlock(at placed, lo, hi int, room *scratch, threads bool) *block {
	b := &block{c: c, at: at, lo: lo, n: hi - lo, room: room, threads: threads, cols: map[plan.ColID]*values{}}
	b.addrs = take[uintptr](room, b.n)
	b.each(func(from, to int) { c.order.Addrs(lo+from, b.addrs[from:to]) })
	if at.partition == 0 {
		b.starts = []int32{0, int32(b.n)}
		return b
	}
	changes := take[bool](room, b.n)
	b.each(func(from, to int) { c.order.Changes(at.partition, lo+from, changes[from:to]) })
	changes[0] = true
	count := 1
	for _, x := range changes {
		if x {
			count++
		}
	}
	b.starts = take[int32](room, count)[:0]
	for i, x := range changes {
		if x {
			b.starts = append(b.starts, int32(i))
		}
	}
	b.starts = append(b.starts, int32(b.n))
	return b
}

// each calls f on stretches that make up the block, on all threads if it is large.
func (b *block) each(f func(lo, hi int)) {
	if !b.threads {
		f(0, b.n)
		return
	}
	err := b.c.Team.Parallel((b.n+eachRows-1)/eachRows, func(i int) error {
		f(i*eachRows, min((i+1)*eachRows, b.n))
		return nil
	})
	if err != nil {
		panic(err)
	}
}

// partitions calls f with each of them.
func (b *block) partitions(f func(lo, hi int)) {
	for i := 0; i+1 < len(b.starts); i++ {
		f(int(b.starts[i]), int(b.starts[i+1]))
	}
}

// peers marks the first of rows that the order does not tell apart.
func (b *block) peers() []bool {
	if b.peer == nil {
		b.peer = take[bool](b.room, b.n)
		if b.at.peers == 0 {
			clear(b.peer)
			b.peer[0] = true
			return b.peer
		}
		b.each(func(lo, hi int) { b.c.order.Changes(b.at.peers, b.lo+lo, b.peer[lo:hi]) })
		b.peer[0] = true
	}
	return b.peer
}

// peerBounds are, for each row, the first of its peers and the row behind the last.
func (b *block) peerBounds() (lows, highs []int32) {
	if b.lows == nil {
		peer := b.peers()
		b.lows, b.highs = take[int32](b.room, b.n), take[int32](b.room, b.n)
		low := int32(0)
		for i := range b.lows {
			if peer[i] {
				low = int32(i)
			}
			b.lows[i] = low
		}
		high := int32(b.n)
		for i := b.n - 1; i >= 0; i-- {
			b.highs[i] = high
			if peer[i] {
				high = int32(i)
			}
		}
	}
	return b.lows, b.highs
}

// ordered reports a window with sort keys: without, all rows of a partition are peers.
func (b *block) ordered() bool { return b.at.peers > b.at.partition }

// column reads the values of a column.
func (b *block) column(id plan.ColID) *values {
	if v := b.cols[id]; v != nil {
		return v
	}
	f := b.c.tuple.Find(int32(id))
	v := &values{f: f, lo: take[uint64](b.room, b.n)}
	if f.Desc.Form.Words() == 2 {
		v.hi = take[uint64](b.room, b.n)
	}
	if f.Null >= 0 {
		v.null = take[byte](b.room, b.n)
	}
	at := tuples.WordOf(f)
	b.each(func(lo, hi int) {
		at.LoadMany(b.addrs[lo:hi], v.lo[lo:hi])
		if v.hi != nil {
			second := tuples.Word{Off: uintptr(f.Off) + 8, Width: 8}
			second.LoadMany(b.addrs[lo:hi], v.hi[lo:hi])
		}
		if v.null != nil {
			off := uintptr(f.Null)
			for i, a := range b.addrs[lo:hi] {
				v.null[lo+i] = mem.Load8(a + off)
			}
		}
	})
	b.cols[id] = v
	return v
}

// as is the column's values in the form of a field.
func (b *block) as(v *values, f *layout.Field) *values {
	if v.f.Desc.Form == f.Desc.Form && v.f.Desc.Dict == f.Desc.Dict {
		return v
	}
	out := &values{f: f, lo: v.lo, hi: v.hi, null: v.null}
	switch {
	case v.f.Desc.Form == layout.I64 && f.Desc.Form == layout.I128:
		out.hi = take[uint64](b.room, b.n)
		for i, x := range v.lo {
			out.hi[i] = uint64(int64(x) >> 63)
		}
	case v.f.Desc.Form == layout.Code && f.Desc.Form == layout.Str:
		out.lo, out.hi = take[uint64](b.room, b.n), take[uint64](b.room, b.n)
		view := b.c.View(v.f.Desc.Dict)
		for i, x := range v.lo {
			if !v.isNull(i) {
				out.lo[i], out.hi[i] = b.text(view, x)
			}
		}
	default:
		panic("windows: " + v.f.Desc.Form.String() + " as " + f.Desc.Form.String())
	}
	return out
}

// text is where the text of a code is.
func (b *block) text(view column.DictView, code uint64) (addr, n uint64) {
	t := view.Bytes(int(code))
	if len(t) == 0 {
		return uint64(b.c.Zero), 0
	}
	return uint64(mem.AddressOf(t)), uint64(len(t))
}

// results is room for the values of a function's column.
func (b *block) results(f *plan.WindowFunc) *values {
	field := b.c.tuple.Find(int32(f.Col))
	v := &values{f: field, lo: take[uint64](b.room, b.n)}
	if field.Desc.Form.Words() == 2 {
		v.hi = take[uint64](b.room, b.n)
	}
	if field.Null >= 0 {
		v.null = take[byte](b.room, b.n)
	}
	return v
}

// write puts values into the tuples.
func (b *block) write(v *values) {
	f := v.f
	at := tuples.WordOf(f)
	b.each(func(lo, hi int) {
		addrs := b.addrs[lo:hi]
		at.StoreMany(addrs, v.lo[lo:hi])
		if v.hi != nil {
			second := tuples.Word{Off: uintptr(f.Off) + 8, Width: 8}
			second.StoreMany(addrs, v.hi[lo:hi])
		}
		if f.Null >= 0 {
			off := uintptr(f.Null)
			for i, a := range addrs {
				mem.Store8(a+off, v.null[lo+i])
			}
		}
	})
}

func (v *values) setFloat(i int, x float64) { v.lo[i] = math.Float64bits(x) }

// scratch is memory for the arrays of one block after the other.
type scratch struct {
	mem    *mem.Memory
	chunks []mem.Piece
	cur    int // the chunk from which something is taken
	used   int // bytes of it
}

const (
	scratchChunk = 1 << 20
	scratchKeep  = 16 << 20 // a larger chunk is for one block alone
)

type word interface {
	uint64 | int64 | int32 | byte | bool | uintptr | float64 | limbs | part | plan.FoldState
}

// take is room for n values, which may be anything.
func take[T word](s *scratch, n int) []T {
	var x T
	size := (n*int(unsafe.Sizeof(x)) + 63) &^ 63
	for s.cur < len(s.chunks) && s.chunks[s.cur].Size-s.used < size {
		s.cur++
		s.used = 0
	}
	if s.cur == len(s.chunks) {
		want := max(size, scratchChunk)
		a, err := s.mem.Take(want)
		if err != nil {
			panic(err)
		}
		s.chunks = append(s.chunks, mem.Piece{Addr: a, Size: want})
		s.used = 0
	}
	a := s.chunks[s.cur].Addr + uintptr(s.used)
	s.used += size
	return unsafe.Slice((*T)(mem.Pointer(a)), n)
}

// reset takes all back.
func (s *scratch) reset() {
	kept := s.chunks[:0]
	for _, c := range s.chunks {
		if c.Size > scratchKeep {
			s.mem.Free(c.Addr)
		} else {
			kept = append(kept, c)
		}
	}
	s.chunks, s.cur, s.used = kept, 0, 0
}

func (s *scratch) release() {
	for _, c := range s.chunks {
		s.mem.Free(c.Addr)
	}
	s.chunks = nil
}
