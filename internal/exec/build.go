package exec

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// buildSink collects a join's build side and organizes it for probing. Which way is decided
// from the tuples themselves: are the keys dense integers, are they unique?
type buildSink struct {
	r       *run
	s       *pipe.Build
	tuple   *layout.Tuple
	workers []*buffer
	sawNull bool
	all     Rows
	table   *layout.Table
	filters map[int]*keyFilter
}

func (s *buildSink) attach(w *worker) error {
	b := s.workers[w.id]
	if b == nil {
		b = &buffer{mem: s.r.mem, stride: s.tuple.Size}
		s.workers[w.id] = b
	}
	store64(w.ctx+emit.CtxCur, uint64(b.cur))
	store64(w.ctx+emit.CtxEnd, uint64(b.end))
	return nil
}

func (s *buildSink) grow(w *worker) error {
	b := s.workers[w.id]
	if err := b.grow(uintptr(load64(w.ctx + emit.CtxCur))); err != nil {
		return err
	}
	store64(w.ctx+emit.CtxCur, uint64(b.cur))
	store64(w.ctx+emit.CtxEnd, uint64(b.end))
	return nil
}

func (s *buildSink) morsel(*worker) {}

func (s *buildSink) detach(w *worker) {
	s.workers[w.id].cut(uintptr(load64(w.ctx + emit.CtxCur)))
	if load64(w.ctx+emit.CtxNullKey) != 0 {
		s.r.mu.Lock()
		s.sawNull = true
		s.r.mu.Unlock()
	}
}

func (s *buildSink) note() string {
	return s.table.Kind.String() + " table, " + plural(s.table.Rows, "row")
}

// finish makes the table.
func (s *buildSink) finish() error {
	s.filters = map[int]*keyFilter{}
	s.all = Rows{Tuple: s.tuple}
	for _, b := range s.workers {
		if b != nil {
			s.all.Pieces = append(s.all.Pieces, b.pieces...)
		}
	}
	t := &layout.Table{Tuple: s.tuple, Rows: s.all.Len(), SawNull: s.sawNull}
	s.table = t
	s.r.tables[s.s] = t
	if len(s.s.Keys) == 0 {
		t.Kind = layout.List
		return s.contiguous()
	}
	f := &s.tuple.Fields[0]
	if len(s.s.Keys) == 1 && f.Desc.Form == layout.I64 && f.Null < 0 {
		if done, err := s.dense(f); done || err != nil {
			return err
		}
	}
	if done, err := s.open(); done || err != nil {
		return err
	}
	return s.buckets()
}

// contiguous moves all tuples into one array.
func (s *buildSink) contiguous() error {
	if len(s.all.Pieces) == 1 {
		s.table.Tuples = s.all.Pieces[0].Addr
		return nil
	}
	n := int(s.all.Len())
	a, err := s.r.mem.alloc(n*s.tuple.Size + 64)
	if err != nil {
		return err
	}
	at := a
	for _, p := range s.all.Pieces {
		k := p.N * s.tuple.Size
		copy(bytesAt(at, k), bytesAt(p.Addr, k))
		at += uintptr(k)
	}
	s.replace(a, n)
	return nil
}

// replace makes the array at a the home of all tuples.
func (s *buildSink) replace(a uintptr, n int) {
	s.table.Tuples = a
	s.all.Pieces = nil
	if n > 0 {
		s.all.Pieces = []Piece{{a, n}}
	}

	s.workers = make([]*buffer, len(s.workers))
}

// dense makes a table addressed by the key itself if the keys lie close together.
func (s *buildSink) dense(f *layout.Field) (done bool, err error) {
	t, n, size := s.table, int(s.table.Rows), s.tuple.Size
	off := uintptr(f.Off)
	if n == 0 {
		t.Kind = layout.Direct
		return true, nil
	}
	lo, hi := int64(0), int64(0)
	first := true
	for _, p := range s.all.Pieces {
		for a, end := p.Addr+off, p.Addr+uintptr(p.N*size); a < end; a += uintptr(size) {
			x := int64(load64(a))
			if first {
				lo, hi, first = x, x, false
			}
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	span := uint64(hi) - uint64(lo) + 1
	if span == 0 || span > uint64(8*n+4096) || n >= 1<<31 {
		return false, nil
	}
	if err := s.contiguous(); err != nil {
		return false, err
	}
	slots, err := s.r.mem.alloc(int(span+2) * 4)
	if err != nil {
		return false, err
	}
	t.Min, t.Span, t.Slots = lo, int64(span), slots
	idx := halves(slots, int(span)+2)
	a := t.Tuples + off
	unique := true
	for i := range n {
		k := int64(load64(a)) - lo
		if idx[k] != 0 {
			unique = false
			break
		}
		idx[k] = uint32(i + 1)
		a += uintptr(size)
	}
	if unique {
		t.Kind = layout.Direct
		return true, nil
	}
	// Duplicates: count, prefix sum, scatter.
	clear(idx)
	a = t.Tuples + off
	for range n {
		idx[int64(load64(a))-lo+2]++
		a += uintptr(size)
	}
	for k := 2; k < len(idx); k++ {
		idx[k] += idx[k-1]
	}
	to, err := s.r.mem.alloc(n*size + 64)
	if err != nil {
		return false, err
	}
	from := t.Tuples
	for i := range n {
		src := from + uintptr(i*size)
		k := int64(load64(src+off)) - lo + 1
		copyTuple(to+uintptr(idx[k])*uintptr(size), src, size)
		idx[k]++
	}
	s.r.mem.free(from)
	s.replace(to, n)
	t.Kind = layout.DenseBuckets
	return true, nil
}

// copyTuple copies size bytes, a multiple of 8.
func copyTuple(to, from uintptr, size int) {
	copy(words(to, size/8), words(from, size/8))
}

// open makes an open-addressing table if all hashes differ: then keys are unique.
func (s *buildSink) open() (done bool, err error) {
	t, n := s.table, int(s.table.Rows)
	t.Bits = uint8(max(bits.Len(uint(2*n)), 3))
	slots, err := s.r.mem.alloc(8 << t.Bits)
	if err != nil {
		return false, err
	}
	dir := words(slots, 1<<t.Bits)
	mask := uint64(len(dir) - 1)
	unique := true
	err = s.all.poll(s.r, func(a uintptr) bool {
		h := load64(a)
		tag := h >> layout.TagShift
		for i := h & mask; ; i = (i + 1) & mask {
			e := dir[i]
			if e == 0 {
				dir[i] = tag<<layout.TagShift | uint64(a)
				return true
			}
			if e>>layout.TagShift == tag && load64(uintptr(e&layout.AddrMask)) == h {
				unique = false
				return false
			}
		}
	})
	if err != nil {
		return false, err
	}
	if !unique {
		s.r.mem.free(slots)
		return false, nil
	}
	t.Kind, t.Slots = layout.Open, slots
	return true, nil
}

// buckets sorts the tuples by the top bits of their hashes behind a directory.
func (s *buildSink) buckets() error {
	t, n, size := s.table, int(s.table.Rows), s.tuple.Size
	t.Kind = layout.Buckets
	t.Bits = uint8(max(bits.Len(uint(n)), 2))
	count := 1 << t.Bits
	slots, err := s.r.mem.alloc(8 * (count + 1))
	if err != nil {
		return err
	}
	to, err := s.r.mem.alloc(n*size + 64)
	if err != nil {
		return err
	}
	dir := words(slots, count+1)
	shift := 64 - t.Bits
	err = s.all.poll(s.r, func(a uintptr) bool {
		h := load64(a)
		dir[1+h>>shift] += 1 << 16
		dir[1+h>>shift] |= 1 << (h >> layout.FilterShift & 15)
		return true
	})
	if err != nil {
		return err
	}
	// Counts become begins; while scattering, a begin moves up to the bucket's end.
	at := uint64(to)
	dir[0] = at << 16
	for b := 1; b <= count; b++ {
		k := dir[b] >> 16
		dir[b] = at<<16 | dir[b]&0xffff
		at += k * uint64(size)
	}
	err = s.all.poll(s.r, func(a uintptr) bool {
		e := &dir[1+load64(a)>>shift]
		copyTuple(uintptr(*e>>16), a, size)
		*e += uint64(size) << 16
		return true
	})
	if err != nil {
		return err
	}
	t.Slots = slots
	s.replace(to, n)
	return nil
}
