package gpu

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
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

// maxReach is how many bytes of tuples slots of 4 bytes can tell apart: they count words.
const maxReach = (1<<32 - 2) * 8

// finish makes the table.
func (s *buildSink) finish() error {
	t := &layout.Table{Tuple: s.tuple, Rows: s.n, SawNull: s.sawNull, Tuples: uintptr(s.start)}
	s.table = t
	s.r.walk.Tables[s.s] = t
	side := phys.BuildSide{Tuple: s.tuple, Keys: len(s.s.Keys), Rows: s.n, NoDirect: s.r.Off.DirectTables, MaxSlots: maxListed - 1, MaxBytes: maxReach}
	d, err := phys.ChooseTable(side, keyFacts{s})
	if err != nil {
		return err
	}
	t.Kind, t.Bits = d.Kind, d.Bits
	switch d.Kind {
	case layout.DenseBuckets:
		return s.sortByKey()
	case layout.Buckets:
		return s.buckets()
	}
	return nil // made to see whether keys are unique, or none at all
}

// keyFacts finds out about the keys of a build side.
type keyFacts struct{ s *buildSink }

func (f keyFacts) Range() (lo, hi int64, known bool, err error) {
	x, err := f.s.keyRange(&f.s.tuple.Fields[0])
	if err != nil {
		return 0, 0, false, err
	}
	return int64(x[0]), int64(x[1]), true, nil
}

// Unique makes the table, and looks whether all tuples are in it.
func (f keyFacts) Unique(t phys.Table) (bool, error) {
	if t.Kind == layout.Direct {
		return f.s.direct(t)
	}
	return f.s.open(t)
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

// direct makes a table addressed by the key itself, unless a key is there twice: then there are slots, but nothing in them that
// counts.
func (s *buildSink) direct(d phys.Table) (unique bool, err error) {
	t, r := s.table, s.r
	t.Min, t.Span = d.Min, d.Span
	slots, err := r.allocZero(4 * (t.Span + 2))
	if err != nil {
		return false, err
	}
	t.Slots = uintptr(slots)
	bad, err := r.counter()
	if err != nil {
		return false, err
	}
	if err := r.do(s.of(fillDirect), s.n, uint64(slots), uint64(s.start), uint64(t.Min)); err != nil {
		return false, err
	}
	if err := r.do(s.of(checkDirect), s.n, uint64(slots), uint64(s.start), uint64(t.Min), uint64(bad)); err != nil {
		return false, err
	}
	x, err := r.read(bad, 1)
	if err != nil || x[0] != 0 {
		return false, err
	}
	t.Tuples = uintptr(s.start) - 8
	return true, nil
}

// sortByKey sorts the tuples by the key that addresses the table's slots: count, sum up, move.
func (s *buildSink) sortByKey() error {
	t, r := s.table, s.r
	slots := device.Addr(t.Slots)
	if err := r.st.Fill(slots, 0, int(4*(t.Span+2))); err != nil {
		return err
	}
	if err := r.do(s.of(countKeys), s.n, uint64(slots), uint64(s.start), uint64(t.Min)); err != nil {
		return err
	}
	if err := r.prefixSums(slots, 4, t.Span+1); err != nil {
		return err
	}
	next, err := r.alloc(4 * (t.Span + 1))
	if err != nil {
		return err
	}
	defer r.free(next)
	if err := r.st.Copy(next, slots, int(4*(t.Span+1))); err != nil {
		return err
	}
	to, err := r.alloc(s.n*int64(s.tuple.Size) + 64)
	if err != nil {
		return err
	}
	err = r.do(s.of(scatterKeys), s.n, uint64(next), uint64(s.start), uint64(t.Min), uint64(to))
	s.replace(to)
	return err
}

// replace makes another array the home of the tuples.
func (s *buildSink) replace(to device.Addr) {
	s.r.free(s.start)
	s.start, s.table.Tuples = to, uintptr(to)
}

// open makes an open-addressing table if all hashes differ: then keys are unique.
func (s *buildSink) open(d phys.Table) (unique bool, err error) {
	t, r := s.table, s.r
	t.Bits = d.Bits
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
	t.Slots = uintptr(slots)
	return true, nil
}

// buckets sorts the tuples by the top bits of their hashes behind a directory.
func (s *buildSink) buckets() error {
	t, r := s.table, s.r
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
