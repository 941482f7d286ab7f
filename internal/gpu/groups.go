package gpu

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// groupSink is one table of groups for all lanes.
type groupSink struct {
	r      *run
	s      *pipe.Aggregate
	plan   *emit.GroupPlan
	begun  bool
	most   int64       // hash tables: how many groups the first pipeline can bring
	groups int64       // tuples of pipelines before, at most
	dir    device.Addr // directory or array; the one group
	mask   uint64
	start  device.Addr // tuples of a directory
	cap    int64
	cur    uint64
	result deviceRows
}

func (s *groupSink) known(req *emit.Request) { req.Group = s.plan }

func (s *groupSink) begin(most int64) error {
	sh := s.r.shape(most)
	lanes := int64(sh.Blocks * sh.Threads) // each may have a tuple that it does not use in the end
	if s.begun {
		if s.plan.Mode == emit.HashGroups {
			return s.further(most + lanes)
		}
		return nil
	}
	s.begun = true
	var err error
	switch s.plan.Mode {
	case emit.Ungrouped:
		s.dir, err = s.neutral(1)
	case emit.ArrayGroups:
		s.dir, err = s.neutral(s.plan.Slots)
	case emit.DenseGroups:
		if s.dir, err = s.r.allocZero(8 * s.plan.Slots); err == nil {
			full := s.r.shape(1 << 62)
			err = s.room(s.plan.Slots + int64(s.r.makers[s.s]*full.Blocks*full.Threads))
		}
	default:
		s.most = most + lanes
		err = s.hashTable(min(s.most, s.r.store.roomFor(s.plan.Expect)+lanes))
	}
	return err
}

// neutral is n tuples with what aggregates start from.
func (s *groupSink) neutral(n int64) (device.Addr, error) {
	size := s.plan.Tuple.Size
	b := make([]byte, size)
	for i, a := range s.s.Group.Aggs {
		f := &s.plan.Tuple.Fields[len(s.s.Group.Keys)+i]
		lo, hi := emit.Neutral(a.Func, f.Desc.Form)
		binary.LittleEndian.PutUint64(b[f.Off:], uint64(lo))
		if f.Desc.Form.Words() == 2 {
			binary.LittleEndian.PutUint64(b[f.Off+8:], uint64(hi))
		}
		if f.Null >= 0 {
			b[f.Null] = 1
		}
	}
	one, err := s.r.upload(b)
	if err != nil || n == 1 {
		return one, err
	}
	defer s.r.free(one)
	all, err := s.r.alloc(n * int64(size))
	if err == nil {
		err = s.r.do(func() *ir.Func { return repeatTuple(size) }, n, uint64(one), uint64(all))
	}
	return all, err
}

// room is for n tuples that a directory names.
func (s *groupSink) room(n int64) (err error) {
	s.start, err = s.r.alloc(n*int64(s.plan.Tuple.Size) + 64)
	s.cap, s.cur = n, uint64(s.start)
	return err
}

// hashTable makes an empty table with room for n groups.
func (s *groupSink) hashTable(n int64) (err error) {
	slots := int64(1024)
	for slots < 2*n {
		slots *= 2
	}
	s.mask = uint64(slots - 1)
	if s.dir, err = s.r.allocZero(8 * slots); err != nil {
		return err
	}
	return s.room(n)
}

// further makes room for n groups more, which another pipeline may bring. That cannot be tried with less: the groups
// that are there already would get rows twice.
func (s *groupSink) further(n int64) (err error) {
	had := s.groups + s.cap
	slots := int64(s.mask + 1)
	for slots < 2*(had+n) {
		slots *= 2
	}
	old, size := s.dir, int64(s.mask+1)
	if s.dir, err = s.r.allocZero(8 * slots); err != nil {
		return err
	}
	s.mask = uint64(slots - 1)
	if err := s.r.do(enterAgain, size, uint64(old), uint64(s.dir), s.mask); err != nil {
		return err
	}
	s.r.free(old)
	s.groups = had
	return s.room(n)
}

func (s *groupSink) toContext(c *block) {
	c.set(layout.CtxDir, uint64(s.dir))
	c.set(layout.CtxState, uint64(s.dir))
	c.set(layout.CtxMask, s.mask)
	c.set(layout.CtxCur, s.cur)
	c.set(layout.CtxEnd, uint64(s.start)+uint64(s.cap)*uint64(s.plan.Tuple.Size))
}

func (s *groupSink) fromContext(c *block) (bool, error) {
	cur := c.get(layout.CtxCur)
	if s.plan.Mode == emit.HashGroups && cur > c.get(layout.CtxEnd) {
		if s.groups > 0 {
			return false, diag.Internalf("gpu", "a pipeline made more than %d groups", s.cap)
		}
		s.r.free(s.dir)
		s.r.free(s.start)
		return true, s.hashTable(min(s.most, 4*s.cap))
	}
	s.cur = cur
	return false, nil
}

func (s *groupSink) rows() deviceRows { return s.result }
func (s *groupSink) empty() bool      { return s.result.n == 0 }

// finish lists the groups.
func (s *groupSink) finish() error {
	r, t := s.r, s.plan.Tuple
	s.result = deviceRows{tuple: t, indirect: true}
	if !s.begun {
		if err := s.begin(0); err != nil {
			return err
		}
	}
	var err error
	switch s.plan.Mode {
	case emit.Ungrouped:
		s.result.n = 1
		s.result.addr, err = r.word(uint64(s.dir))
	case emit.ArrayGroups:
		err = s.list(s.plan.Slots, s.plan.Slots, func() *ir.Func { return flagBits(t) }, func() *ir.Func { return tupleAddrs(t.Size) })
	case emit.DenseGroups:
		err = s.list(s.plan.Slots, s.plan.Slots, entryBits, entryAddrs)
	default:
		err = s.list(int64(s.mask+1), s.groups+s.cap, entryBits, entryAddrs)
	}
	if err != nil {
		return err
	}
	return s.checkSums()
}

// list makes a list of the addresses of groups, in the order of their slots: bits marks those of n slots that have one, addrs makes
// addresses of their numbers. There are most at the very most.
func (s *groupSink) list(n, most int64, bits, addrs func() *ir.Func) error {
	r := s.r
	if n > maxListed {
		return r.lacks("a table of %d groups", n)
	}
	lib, err := r.store.library()
	if err != nil {
		return err
	}
	bitmap, err := r.alloc((n + 31) / 32 * 4)
	if err != nil {
		return err
	}
	defer r.free(bitmap)
	numbers, err := r.alloc(4 * most)
	if err != nil {
		return err
	}
	defer r.free(numbers)
	count, err := r.counter()
	if err != nil {
		return err
	}
	if err := r.do(bits, n, uint64(s.dir), uint64(bitmap)); err != nil {
		return err
	}
	if err := lib.Compact(r.st, numbers, bitmap, int(n), count); err != nil {
		return r.failed(err)
	}
	x, err := r.read(count, 1)
	if err != nil {
		return err
	}
	s.result.n = int64(x[0])
	if s.result.addr, err = r.alloc(8 * s.result.n); err != nil {
		return err
	}
	return r.do(addrs, s.result.n, uint64(numbers), uint64(s.dir), uint64(s.result.addr))
}

// maxListed bounds slots: their numbers are words, and there are numbers behind the last.
const maxListed = 1<<31 - 64

// checkSums fails when a sum has more digits than a decimal may have.
func (s *groupSink) checkSums() error {
	for i, a := range s.s.Group.Aggs {
		f := &s.plan.Tuple.Fields[len(s.s.Group.Keys)+i]
		limit := layout.TypeRange(f.Desc.Type)
		if a.Func != plan.Sum || f.Desc.Form != layout.I128 || f.Desc.Type.Kind != types.Decimal || f.Desc.Range.Within(limit) {
			continue
		}
		bad, err := s.r.counter()
		if err != nil {
			return err
		}
		if err := s.r.do(func() *ir.Func { return checkField(f) }, s.result.n, uint64(bad), uint64(s.result.addr),
			limit.Lo.Lo, uint64(limit.Lo.Hi), limit.Hi.Lo, uint64(limit.Hi.Hi)); err != nil {
			return err
		}
		x, err := s.r.read(bad, 1)
		if err != nil {
			return err
		}
		if x[0] != 0 {
			return diag.Errorf(diag.NumericOutOfRange, -1, "numeric field overflow").
				WithDetail("a sum has more than %d digits", types.MaxPrecision)
		}
	}
	return nil
}
