package gpu

import (
	"encoding/binary"
	"math"

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
	lo, hi  int64 // of the first key, where it is an integer
	table   *layout.Table
	sets    map[int]*keySet // of keys, by their numbers
}

// toContext lets a launch find the range of its own keys: it may have to run again, and then they are the same.
func (s *buildSink) toContext(c *block) {
	s.tupleSink.toContext(c)
	c.set(layout.CtxKeyLo, math.MaxInt64)
	c.set(layout.CtxKeyHi, 1<<63)
}

func (s *buildSink) fromContext(c *block) (bool, error) {
	s.lo, s.hi = min(s.lo, int64(c.get(layout.CtxKeyLo))), max(s.hi, int64(c.get(layout.CtxKeyHi)))
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
	d, err := s.choose()
	if err != nil {
		return err
	}
	t.Kind, t.Bits = d.Kind, d.Bits
	switch d.Kind {
	case layout.DenseBuckets:
		if err := s.sortByKey(); err != nil {
			return err
		}
		return s.measure(measureKeys, t.Span)
	case layout.Buckets:
		if err := s.buckets(); err != nil {
			return err
		}
		return s.measure(s.of(measureBuckets), 1<<t.Bits)
	}
	return nil // made to see whether keys are unique, or none at all
}

// measure finds out how the table's tuples are spread over so many slots.
func (s *buildSink) measure(kernel func() *ir.Func, slots int64) error {
	r := s.r
	sums, err := r.allocZero(8 * 3)
	if err != nil {
		return err
	}
	defer r.free(sums)
	if err := r.do(kernel, slots, uint64(s.table.Slots), uint64(sums)); err != nil {
		return err
	}
	x, err := r.read(sums, 3)
	if err == nil {
		s.table.Runs = layout.Runs{Keys: int64(x[0]), Longest: int64(x[1]), Squares: float64(x[2])}
	}
	return err
}

// side is a build side of so many tuples.
func (r *run) side(b *pipe.Build, t *layout.Tuple, rows int64) phys.BuildSide {
	return phys.BuildSide{Tuple: t, Keys: len(b.Keys), Rows: rows, NoDirect: r.Off.DirectTables, FreeSlots: r.walk.Can.FreeSlots, MaxSlots: maxListed - 1, MaxBytes: maxReach}
}

// choose decides of what kind the table is, and makes it, as far as that is needed to decide. What a few tuples are like by chance
// counts less than what was expected: the kernels that probe the table are those of the same query with other literals.
func (s *buildSink) choose() (phys.Table, error) {
	believed := phys.BelievedKeys(s.s, s.tuple)
	if s.n > 0 {
		return phys.ChooseTable(s.r.side(s.s, s.tuple, s.n), keyFacts{s, believed})
	}
	d, err := phys.EmptyTable(s.r.side(s.s, s.tuple, phys.Expected(s.s.Side())), believed)
	switch {
	case err != nil:
	case d.Kind == layout.Open:
		_, err = s.open(d)
	case d.Kind == layout.Direct || d.Kind == layout.DenseBuckets:
		_, err = s.direct(d)
	}
	return d, err
}

// byChance is how many keys may all be different by chance.
const byChance = 1 << 14

// keyFacts finds out about the keys of a build side.
type keyFacts struct {
	s        *buildSink
	believed phys.KeyFacts
}

func (f keyFacts) Range() (lo, hi int64, known bool, err error) {
	lo, hi, err = f.s.keyRange(0)
	return lo, hi, true, err
}

// Unique makes the table, and looks whether all tuples are in it.
func (f keyFacts) Unique(t phys.Table) (bool, error) {
	maybe, err := true, error(nil)
	if f.s.n < byChance {
		maybe, err = f.believed.Unique(t)
	}
	if err != nil {
		return false, err
	}
	switch {
	case t.Kind == layout.Direct && maybe:
		return f.s.direct(t)
	case t.Kind == layout.Direct:
		return false, f.s.slots(t)
	case maybe:
		return f.s.open(t)
	}
	return false, nil
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

// slots makes room for those of a table that is addressed by the key itself.
func (s *buildSink) slots(d phys.Table) error {
	s.table.Min, s.table.Span = d.Min, d.Span
	slots, err := s.r.allocZero(4 * (d.Span + 2))
	s.table.Slots = uintptr(slots)
	return err
}

// direct makes a table addressed by the key itself, unless a key is there twice: then there are slots, but nothing in them that
// counts.
func (s *buildSink) direct(d phys.Table) (unique bool, err error) {
	t, r := s.table, s.r
	if err := s.slots(d); err != nil {
		return false, err
	}
	slots := t.Slots
	bad, err := r.counter()
	if err != nil {
		return false, err
	}
	if err := r.do(s.of(fillDirect), s.n, uint64(slots), uint64(s.start), uint64(t.Min), uint64(bad)); err != nil {
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
	ranks, err := r.alloc(4 * s.n)
	if err != nil {
		return err
	}
	defer r.free(ranks)
	to, err := r.alloc(s.n*int64(s.tuple.Size) + 64)
	if err != nil {
		return err
	}
	err = s.arranged(byKey(s.tuple), slots, t.Span+1, uint64(slots), uint64(s.start), uint64(t.Min), uint64(ranks), uint64(to))
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
	to, err := r.alloc(s.n*int64(s.tuple.Size) + 64)
	if err != nil {
		return err
	}
	if err := s.arranged(byBucket(s.tuple), dir+8, count, uint64(dir)+8, uint64(s.start), shift, uint64(to)); err != nil {
		return err
	}
	first := binary.LittleEndian.AppendUint64(nil, uint64(to)<<16)
	r.reading = append(r.reading, first)
	if err := r.st.Upload(dir, first); err != nil {
		return err
	}
	t.Slots = uintptr(dir)
	s.replace(to)
	return nil
}
