package exec

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

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

func (s *buildSink) morsel(*worker) error { return nil }

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

// tasks cuts the tuples into stretches that threads share out among themselves.
func (s *buildSink) tasks() []Piece {
	const most = 1 << 15
	var out []Piece
	for _, p := range s.all.Pieces {
		for lo := 0; lo < p.N; lo += most {
			out = append(out, Piece{p.Addr + uintptr(lo*s.tuple.Size), min(most, p.N-lo)})
		}
	}
	return out
}

// each runs f on every tuple, on all threads unless the sink is alone: then f need not be
// safe for that.
func (s *buildSink) each(f func(a uintptr)) error {
	size := uintptr(s.tuple.Size)
	tasks := s.tasks()
	run := func(i int) error {
		t := tasks[i]
		for a, end := t.Addr, t.Addr+uintptr(t.N)*size; a < end; a += size {
			f(a)
		}
		return s.r.canceled()
	}
	if !s.alone() {
		return s.r.parallel(len(tasks), run)
	}
	for i := range tasks {
		if err := run(i); err != nil {
			return err
		}
	}
	return nil
}

// alone reports that one thread does the work: then nothing needs to be atomic.
func (s *buildSink) alone() bool { return s.r.Threads == 1 || s.table.Rows < 1<<14 }

// contiguous moves all tuples into one array.
func (s *buildSink) contiguous() error {
	if len(s.all.Pieces) == 1 {
		s.table.Tuples = s.all.Pieces[0].Addr
		return nil
	}
	n, size := int(s.all.Len()), s.tuple.Size
	a, err := s.r.mem.room(n*size + 64)
	if err != nil {
		return err
	}
	at := make([]uintptr, len(s.all.Pieces))
	to := a
	for i, p := range s.all.Pieces {
		at[i] = to
		to += uintptr(p.N * size)
	}
	err = s.r.parallel(len(at), func(i int) error {
		p := s.all.Pieces[i]
		copy(bytesAt(at[i], p.N*size), bytesAt(p.Addr, p.N*size))
		return nil
	})
	s.replace(a, n)
	return err
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

// keyRange is the smallest and the largest value of the field at off.
func (s *buildSink) keyRange(off uintptr) (lo, hi int64, err error) {
	tasks := s.tasks()
	los, his := make([]int64, len(tasks)), make([]int64, len(tasks))
	size := uintptr(s.tuple.Size)
	err = s.r.parallel(len(tasks), func(i int) error {
		t := tasks[i]
		l, h := int64(math.MaxInt64), int64(math.MinInt64)
		for a, end := t.Addr+off, t.Addr+uintptr(t.N)*size; a < end; a += size {
			x := int64(load64(a))
			l, h = min(l, x), max(h, x)
		}
		los[i], his[i] = l, h
		return nil
	})
	return slices.Min(los), slices.Max(his), err
}

// dense makes a table addressed by the key itself if the keys lie close together.
func (s *buildSink) dense(f *layout.Field) (done bool, err error) {
	t, n := s.table, int(s.table.Rows)
	off := uintptr(f.Off)
	if n == 0 {
		t.Kind = layout.Direct
		return true, nil
	}
	lo, hi, err := s.keyRange(off)
	if err != nil {
		return false, err
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
	unique, err := s.fillDirect(idx, off)
	if err != nil {
		return false, err
	}
	if unique {
		t.Kind = layout.Direct
		return true, nil
	}
	clear(idx)
	t.Kind = layout.DenseBuckets
	return true, s.scatterDense(idx, off)
}

// fillDirect enters every tuple's number at its key's place; it gives up at a duplicate.
func (s *buildSink) fillDirect(idx []uint32, off uintptr) (unique bool, err error) {
	t, size := s.table, uintptr(s.tuple.Size)
	if s.alone() {
		a := t.Tuples + off
		for i := range uint32(t.Rows) {
			k := int64(load64(a)) - t.Min
			if idx[k] != 0 {
				return false, nil
			}
			idx[k] = i + 1
			a += size
		}
		return true, s.r.canceled()
	}
	var twice atomic.Bool
	err = s.each(func(a uintptr) {
		k := int64(load64(a+off)) - t.Min
		if !atomic.CompareAndSwapUint32(&idx[k], 0, uint32((a-t.Tuples)/size)+1) {
			twice.Store(true)
		}
	})
	return !twice.Load(), err
}

// scatterDense sorts the tuples by key: count, prefix sum, scatter. While scattering, the begin of
// each key's tuples moves up to its end, which is the begin of the next; hence the shift by one.
func (s *buildSink) scatterDense(idx []uint32, off uintptr) error {
	t, size := s.table, s.tuple.Size
	count := func(a uintptr) { idx[int64(load64(a+off))-t.Min+2]++ }
	next := func(k int64) uint32 { idx[k]++; return idx[k] - 1 }
	if !s.alone() {
		count = func(a uintptr) { atomic.AddUint32(&idx[int64(load64(a+off))-t.Min+2], 1) }
		next = func(k int64) uint32 { return atomic.AddUint32(&idx[k], 1) - 1 }
	}
	if err := s.each(count); err != nil {
		return err
	}
	for k := 2; k < len(idx); k++ {
		idx[k] += idx[k-1]
	}
	to, err := s.r.mem.room(int(t.Rows)*size + 64)
	if err != nil {
		return err
	}
	err = s.each(func(a uintptr) {
		k := next(int64(load64(a+off)) - t.Min + 1)
		copyTuple(to+uintptr(k)*uintptr(size), a, size)
	})
	s.r.mem.free(t.Tuples)
	s.replace(to, int(t.Rows))
	return err
}

// copyTuple copies size bytes, a multiple of 8.
func copyTuple(to, from uintptr, size int) {
	for i := uintptr(0); i < uintptr(size); i += 8 {
		store64(to+i, load64(from+i))
	}
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
	var twice atomic.Bool
	alone := s.alone()
	err = s.each(func(a uintptr) {
		h := load64(a)
		tag := h >> layout.TagShift
		mine := tag<<layout.TagShift | uint64(a)
		for i := h & mask; ; i = (i + 1) & mask {
			e := dir[i]
			if e == 0 {
				if alone {
					dir[i] = mine
					return
				}
				if atomic.CompareAndSwapUint64(&dir[i], 0, mine) {
					return
				}
				e = atomic.LoadUint64(&dir[i])
			}
			if e>>layout.TagShift == tag && load64(uintptr(e&layout.AddrMask)) == h {
				twice.Store(true)
				return
			}
			if i&0xff == 0 && twice.Load() {
				return // no use going on
			}
		}
	})
	if err != nil {
		return false, err
	}
	if twice.Load() {
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
	to, err := s.r.mem.room(n*size + 64)
	if err != nil {
		return err
	}
	dir := words(slots, count+1)
	shift := 64 - t.Bits
	alone := s.alone()
	err = s.each(func(a uintptr) {
		h := load64(a)
		e, bit := &dir[1+h>>shift], uint64(1)<<(h>>layout.FilterShift&15)
		if alone {
			*e = (*e + 1<<16) | bit
			return
		}
		if atomic.AddUint64(e, 1<<16)&bit == 0 {
			atomic.OrUint64(e, bit)
		}
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
	step := uint64(size) << 16
	err = s.each(func(a uintptr) {
		e := &dir[1+load64(a)>>shift]
		var end uint64
		if alone {
			*e += step
			end = *e
		} else {
			end = atomic.AddUint64(e, step)
		}
		copyTuple(uintptr(end>>16)-uintptr(size), a, size)
	})
	t.Slots = slots
	s.replace(to, n)
	return err
}
