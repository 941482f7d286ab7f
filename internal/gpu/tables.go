package gpu

import (
	"encoding/binary"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// buildSink collects a join's build side and organizes it for probing, by the same rules and in the same
// layouts as the CPU does.
type buildSink struct {
	tupleSink
	s       *pipe.Build
	sawNull bool
	table   *layout.Table
	sets    map[int]*keySet // of keys, by their numbers
}

func (s *buildSink) fromContext(c *block) (bool, error) {
	again, err := s.tupleSink.fromContext(c)
	s.sawNull = s.sawNull || c.get(layout.CtxNullKey) != 0
	return again, err
}

// denseFactor is how many slots a key may cost at most in a table that is addressed by the key.
const denseFactor = 8

// finish makes the table.
func (s *buildSink) finish() error {
	t := &layout.Table{Tuple: s.tuple, Rows: s.n, SawNull: s.sawNull, Tuples: uintptr(s.start)}
	s.table = t
	s.r.tables[s.s] = t
	if len(s.s.Keys) == 0 {
		t.Kind = layout.List
		return nil
	}
	f := &s.tuple.Fields[0]
	if len(s.s.Keys) == 1 && f.Desc.Form == layout.I64 && f.Null < 0 && !s.r.Off.DirectTables {
		if done, err := s.dense(); done || err != nil {
			return err
		}
	}
	if done, err := s.open(); done || err != nil {
		return err
	}
	return s.buckets()
}

// of is a kernel for the tuples of this table.
func (s *buildSink) of(make func(*layout.Tuple) *ir.Func) func() *ir.Func {
	return func() *ir.Func { return make(s.tuple) }
}

// counter is a word of the device, 0 at first, that kernels leave something in. Many are cleared at a time.
func (r *run) counter() (device.Addr, error) {
	const many = 64
	if len(r.counters) == 0 {
		a, err := r.allocZero(8 * many)
		if err != nil {
			return 0, err
		}
		for i := range many {
			r.counters = append(r.counters, a+device.Addr(8*i))
		}
	}
	a := r.counters[0]
	r.counters = r.counters[1:]
	return a, nil
}

// word is words of the device that begin with what is given.
func (r *run) word(first ...uint64) (device.Addr, error) {
	b := make([]byte, 8*len(first))
	for i, x := range first {
		binary.LittleEndian.PutUint64(b[8*i:], x)
	}
	return r.upload(b)
}

// read fetches words.
func (r *run) read(a device.Addr, n int) ([]uint64, error) {
	b := make([]byte, 8*n)
	if err := r.st.Download(b, a); err != nil {
		return nil, err
	}
	if err := r.sync(); err != nil {
		return nil, err
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return out, nil
}

// prefixSums replaces n words of so many bytes by the sums of those before each.
func (r *run) prefixSums(words device.Addr, width int, n int64) error {
	if n > maxListed {
		return r.lacks("a table of %d rows", n)
	}
	lib, err := r.store.library()
	if err != nil {
		return err
	}
	return r.failed(lib.Scan(r.st, words, words, width, int(n), 0))
}

// dense makes a table addressed by the key itself if the keys lie close together.
func (s *buildSink) dense() (done bool, err error) {
	t, r := s.table, s.r
	if s.n == 0 {
		t.Kind = layout.Direct
		return true, nil
	}
	lh, err := s.keyRange(&s.tuple.Fields[0])
	if err != nil {
		return false, err
	}
	span := lh[1] - lh[0] + 1
	if span == 0 || span > uint64(denseFactor*s.n+4096) || span >= maxListed || s.n*int64(s.tuple.Size/8) >= 1<<32-1 {
		return false, nil
	}
	t.Min, t.Span = int64(lh[0]), int64(span)
	slots, err := r.allocZero(4 * (t.Span + 2))
	if err != nil {
		return false, err
	}
	t.Slots = uintptr(slots)
	bad, err := r.counter()
	if err != nil {
		return false, err
	}
	if err := r.do(s.of(fillDirect), s.n, uint64(slots), uint64(s.start), lh[0]); err != nil {
		return false, err
	}
	if err := r.do(s.of(checkDirect), s.n, uint64(slots), uint64(s.start), lh[0], uint64(bad)); err != nil {
		return false, err
	}
	x, err := r.read(bad, 1)
	if err != nil {
		return false, err
	}
	if x[0] == 0 {
		t.Kind, t.Tuples = layout.Direct, uintptr(s.start)-8
		return true, nil
	}
	t.Kind = layout.DenseBuckets
	if err := r.st.Fill(slots, 0, int(4*(t.Span+2))); err != nil {
		return false, err
	}
	if err := r.do(s.of(countKeys), s.n, uint64(slots), uint64(s.start), lh[0]); err != nil {
		return false, err
	}
	if err := r.prefixSums(slots, 4, t.Span+1); err != nil {
		return false, err
	}
	next, err := r.alloc(4 * (t.Span + 1))
	if err != nil {
		return false, err
	}
	defer r.free(next)
	if err := r.st.Copy(next, slots, int(4*(t.Span+1))); err != nil {
		return false, err
	}
	to, err := r.alloc(s.n*int64(s.tuple.Size) + 64)
	if err != nil {
		return false, err
	}
	err = r.do(s.of(scatterKeys), s.n, uint64(next), uint64(s.start), lh[0], uint64(to))
	s.replace(to)
	return true, err
}

// replace makes another array the home of the tuples.
func (s *buildSink) replace(to device.Addr) {
	s.r.free(s.start)
	s.start, s.table.Tuples = to, uintptr(to)
}

// open makes an open-addressing table if all hashes differ: then keys are unique.
func (s *buildSink) open() (done bool, err error) {
	t, r := s.table, s.r
	t.Bits = uint8(max(bits.Len64(uint64(2*s.n)), 3))
	slots, err := r.allocZero(8 << t.Bits)
	if err != nil {
		return false, err
	}
	bad, err := r.counter()
	if err != nil {
		return false, err
	}
	if err := r.do(s.of(fillOpen), s.n, uint64(slots), uint64(s.start), 1<<t.Bits-1, uint64(bad)); err != nil {
		return false, err
	}
	x, err := r.read(bad, 1)
	if err != nil {
		return false, err
	}
	if x[0] != 0 {
		r.free(slots)
		return false, nil
	}
	t.Kind, t.Slots = layout.Open, uintptr(slots)
	return true, nil
}

// buckets sorts the tuples by the top bits of their hashes behind a directory.
func (s *buildSink) buckets() error {
	t, r := s.table, s.r
	t.Kind = layout.Buckets
	t.Bits = uint8(max(bits.Len64(uint64(s.n)), 2))
	count := int64(1) << t.Bits
	shift := uint64(64 - t.Bits)
	dir, err := r.allocZero(8 * (count + 1))
	if err != nil {
		return err
	}
	begins, err := r.alloc(8 * count)
	if err != nil {
		return err
	}
	defer r.free(begins)
	to, err := r.alloc(s.n*int64(s.tuple.Size) + 64)
	if err != nil {
		return err
	}
	if err := r.do(s.of(countBuckets), s.n, uint64(dir), uint64(s.start), shift); err != nil {
		return err
	}
	if err := r.do(splitBuckets, count, uint64(dir), uint64(begins)); err != nil {
		return err
	}
	if err := r.prefixSums(begins, 8, count); err != nil {
		return err
	}
	if err := r.do(s.of(beginBuckets), count, uint64(dir), uint64(begins), uint64(to)); err != nil {
		return err
	}
	if err := r.do(s.of(scatterBuckets), s.n, uint64(dir), uint64(s.start), shift); err != nil {
		return err
	}
	var first [8]byte
	binary.LittleEndian.PutUint64(first[:], uint64(to)<<16)
	if err := r.st.Upload(dir, first[:]); err != nil {
		return err
	}
	t.Slots = uintptr(dir)
	s.replace(to)
	return r.sync()
}
