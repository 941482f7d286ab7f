package gpu

import (
	"bytes"
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
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
	fresh  bool        // nothing but the chunk at hand is in it
	first  int64       // tuples that the first chunk may take, at the most
	dir    device.Addr // directory or array; the one group
	mask   uint64
	tuples space // of a directory
	saved  *savedGroups
	lanes  int64 // of the chunk
	result deviceRows
	gaps   device.Addr // runs: where warps note what they took of the tuples and did not use
	noted  uint64      // what they noted, as layout.CtxGapCount
	starts device.Addr // array in parts: where the rows of each begin, and end
}

// space is room for tuples, of which some are in use.
type space struct {
	start     device.Addr
	cap, used int64
}

func (s *groupSink) begin(most int64) error {
	lanes := s.unused(most)
	if s.fresh = !s.begun; s.begun {
		return s.further(most, lanes)
	}
	s.begun = true
	var err error
	switch s.plan.Mode {
	case phys.Ungrouped:
		s.dir, err = s.neutral(1)
	case phys.ArrayGroups:
		s.dir, err = s.neutral(s.plan.Slots)
	case phys.DenseGroups:
		if s.dir, err = s.r.allocZero(8 * s.plan.Slots); err == nil {
			err = s.room(min(most, s.plan.Slots, s.r.store.roomFor(s.plan.Expect)) + lanes)
		}
		s.first = s.plan.Slots + lanes
	case phys.RunGroups:
		s.lanes = lanes
		err = s.runTable(min(most, s.r.store.roomFor(s.plan.Expect)) + lanes)
	case phys.PartGroups:
		err = s.room(min(most, s.plan.Slots, s.r.store.roomFor(s.plan.Expect)))
	default:
		s.first = most + lanes
		err = s.hashTable(min(most, s.r.store.roomFor(s.plan.Expect)) + lanes)
	}
	return err
}

// unused is how many tuples a launch over so many rows may take without using them: each lane may have one in the end, and each warp room for some.
func (s *groupSink) unused(rows int64) int64 {
	lanes := phys.MostLanes(s.r.grid(rows))
	return lanes + lanes/32*s.r.room(s.s).Takes(s.plan.Expect)
}

// further prepares for rows of another chunk or pipeline. A directory of all groups gets enough room for them; a hash table is saved
// where there may be too little: groups that are in it already would get rows twice if the chunk ran again.
func (s *groupSink) further(most, lanes int64) error {
	left := s.tuples.cap - s.tuples.used
	switch {
	case s.plan.Mode == phys.RunGroups || s.plan.Mode == phys.PartGroups:
		return diag.Internalf("gpu", "%s of more than one launch", s.plan.Mode)
	case s.plan.Mode == phys.DenseGroups && left < min(most, s.plan.Slots)+lanes:
		return s.compact(s.plan.Slots, func(groups int64) int64 { return min(2*(groups+most), 2*s.plan.Slots) + 4*lanes })
	case s.plan.Mode == phys.HashGroups && left < most+lanes:
		s.lanes = lanes
		return s.save()
	}
	return nil
}

// neutralTuple is a tuple with what aggregates start from.
func (s *groupSink) neutralTuple() []byte {
	b := make([]byte, s.plan.Tuple.Size)
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
	return b
}

// isZero reports bytes that are all 0.
func isZero(b []byte) bool { return bytes.Count(b, []byte{0}) == len(b) }

// neutral is n such tuples.
func (s *groupSink) neutral(n int64) (device.Addr, error) {
	size, b := s.plan.Tuple.Size, s.neutralTuple()
	if all := n * int64(size); all <= carryNeutral {
		return s.r.upload(bytes.Repeat(b, int(n)))
	}
	if isZero(b) {
		return s.r.allocZero(n * int64(size))
	}
	one, err := s.r.upload(b)
	if err != nil {
		return one, err
	}
	defer s.r.free(one)
	all, err := s.r.alloc(n * int64(size))
	if err == nil {
		err = s.r.do(func() *ir.Func { return repeatTuple(size) }, n, uint64(one), uint64(all))
	}
	return all, err
}

// carryNeutral is how many bytes of such tuples come over the bus, which takes less time than a launch.
const carryNeutral = 4 << 10

// room is for n tuples that a directory names. Those that are found by their keys begin as groups without rows.
func (s *groupSink) room(n int64) (err error) {
	s.tuples = space{cap: n}
	if s.plan.Mode == phys.DenseGroups {
		s.tuples.start, err = s.neutral(n)
	} else {
		s.tuples.start, err = s.r.alloc(n*int64(s.plan.Tuple.Size) + 64)
	}
	return err
}

// hashTable makes an empty table with room for n groups.
func (s *groupSink) hashTable(n int64) (err error) {
	slots := slotsFor(n)
	s.mask = uint64(slots - 1)
	if s.dir, err = s.r.allocZero(8 * slots); err != nil {
		return err
	}
	return s.room(n)
}

// sharedRuns is how many runs a warp may share with others, and how often it may leave tuples unused.
const sharedRuns, runGaps = 2, 3

// runTable makes room for the tuples of n runs, and a hash table for those that warps share.
func (s *groupSink) runTable(n int64) (err error) {
	warps := max(s.lanes/layout.WarpLanes, 1)
	slots := slotsFor(sharedRuns * warps)
	s.mask = uint64(slots - 1)
	if s.dir, err = s.r.allocZero(8 * slots); err != nil {
		return err
	}
	if s.gaps, err = s.r.alloc(16 * runGaps * warps); err != nil {
		return err
	}
	return s.room(n)
}

// slotsFor is how many entries a directory of n groups has.
func slotsFor(n int64) int64 {
	slots := int64(1024)
	for slots < 2*n {
		slots *= 2
	}
	return slots
}

// compact moves all groups of a directory to new room, of a size that depends on how many they are. A launch leaves tuples behind that
// it has not used, up to one per lane.
func (s *groupSink) compact(slots int64, room func(groups int64) int64) error {
	r, old := s.r, s.tuples
	numbers, n, err := r.listed(usedEntries, s.dir, slots, old.used)
	if err != nil {
		return err
	}
	defer r.free(numbers)
	if err := s.room(room(n)); err != nil {
		return err
	}
	s.tuples.used = n
	if err := r.do(func() *ir.Func { return moveEntries(s.plan.Tuple.Size) }, n, uint64(numbers), uint64(s.dir), uint64(s.tuples.start)); err != nil {
		return err
	}
	r.free(old.start)
	return nil
}

// grow makes more room in a hash table, in which there was too little before.
func (s *groupSink) grow() (err error) {
	left, size := s.tuples.cap-s.tuples.used, int64(s.mask+1)
	if err := s.compact(size, func(groups int64) int64 { return groups + max(groups, 2*left, 2*s.lanes) }); err != nil {
		return err
	}
	slots := slotsFor(s.tuples.cap)
	if slots <= size {
		return nil
	}
	old := s.dir
	if s.dir, err = s.r.allocZero(8 * slots); err != nil {
		return err
	}
	s.mask = uint64(slots - 1)
	if err := s.r.do(enterAgain, size, uint64(old), uint64(s.dir), s.mask); err != nil {
		return err
	}
	s.r.free(old)
	return nil
}

// savedGroups are groups as they were before a chunk.
type savedGroups struct{ dir, tuples device.Addr }

// dirBytes is the size of the directory or array.
func (s *groupSink) dirBytes() int64 {
	switch s.plan.Mode {
	case phys.Ungrouped:
		return int64(s.plan.Tuple.Size)
	case phys.ArrayGroups:
		return s.plan.Slots * int64(s.plan.Tuple.Size)
	case phys.DenseGroups:
		return 8 * s.plan.Slots
	}
	return 8 * int64(s.mask+1)
}

// secure saves the groups, if there are some.
func (s *groupSink) secure() error {
	if s.fresh || s.saved != nil {
		return nil
	}
	return s.save()
}

// undo makes the groups what they were before the chunk, which begins again.
func (s *groupSink) undo() error {
	r, used := s.r, s.tuples.used
	if s.plan.Mode == phys.DenseGroups { // tuples that are not in use must be as they were, too
		r.free(s.tuples.start)
		if err := s.room(s.tuples.cap); err != nil {
			return err
		}
		s.tuples.used = used
	}
	if !s.fresh {
		return s.copyBack()
	}
	switch s.plan.Mode {
	case phys.Ungrouped, phys.ArrayGroups:
		r.free(s.dir)
		var err error
		s.dir, err = s.neutral(s.dirBytes() / int64(s.plan.Tuple.Size))
		return err
	}
	return r.failed(r.st.Fill(s.dir, 0, int(s.dirBytes())))
}

func (s *groupSink) expected() int64 { return s.plan.Expect }

// save keeps a copy of the groups until the chunk is in them.
func (s *groupSink) save() (err error) {
	kept := &savedGroups{}
	if kept.dir, err = s.r.alloc(s.dirBytes()); err != nil {
		return err
	}
	if kept.tuples, err = s.r.alloc(s.tuples.used * int64(s.plan.Tuple.Size)); err != nil {
		return err
	}
	s.saved = kept
	if err := s.r.st.Copy(kept.dir, s.dir, int(s.dirBytes())); err != nil || s.tuples.used == 0 {
		return err
	}
	return s.r.st.Copy(kept.tuples, s.tuples.start, int(s.tuples.used)*s.plan.Tuple.Size)
}

// restore makes the table what it was.
func (s *groupSink) restore() error {
	if err := s.copyBack(); err != nil {
		return err
	}
	s.forget()
	return nil
}

func (s *groupSink) copyBack() error {
	if err := s.r.st.Copy(s.dir, s.saved.dir, int(s.dirBytes())); err != nil || s.tuples.used == 0 {
		return err
	}
	return s.r.st.Copy(s.tuples.start, s.saved.tuples, int(s.tuples.used)*s.plan.Tuple.Size)
}

func (s *groupSink) forget() {
	if s.saved != nil {
		s.r.free(s.saved.dir)
		s.r.free(s.saved.tuples)
		s.saved = nil
	}
}

func (s *groupSink) toContext(c *block) {
	size := uint64(s.plan.Tuple.Size)
	c.set(layout.CtxDir, uint64(s.dir))
	c.set(layout.CtxState, uint64(s.dir))
	if s.plan.Mode == phys.PartGroups {
		c.set(layout.CtxPlaces, uint64(s.starts))
	}
	if s.plan.Mode == phys.RunGroups {
		c.set(layout.CtxGaps, uint64(s.gaps))
		c.set(layout.CtxGapCount, 0)
	}
	c.set(layout.CtxMask, s.mask)
	c.set(layout.CtxCur, uint64(s.tuples.start)+uint64(s.tuples.used)*size)
	c.set(layout.CtxEnd, uint64(s.tuples.start)+uint64(s.tuples.cap)*size)
}

func (s *groupSink) fromContext(c *block) (again bool, err error) {
	used := int64(c.get(layout.CtxCur)-uint64(s.tuples.start)) / int64(s.plan.Tuple.Size)
	switch {
	case used <= s.tuples.cap:
		s.tuples.used = used
		s.noted = c.get(layout.CtxGapCount)
		s.forget()
		return false, nil
	case s.plan.Mode == phys.PartGroups: // what did not fit was counted
		s.r.free(s.tuples.start)
		return true, s.room(used)
	case s.plan.Mode == phys.RunGroups: // likewise
		for _, a := range []device.Addr{s.dir, s.gaps, s.tuples.start} {
			s.r.free(a)
		}
		return true, s.runTable(used + s.lanes)
	case s.plan.Mode == phys.DenseGroups && s.tuples.used == 0 && s.tuples.cap < s.first: // more than expected
		s.r.free(s.dir)
		s.r.free(s.tuples.start)
		if s.dir, err = s.r.allocZero(8 * s.plan.Slots); err == nil {
			err = s.room(s.first)
		}
		return true, err
	case s.plan.Mode != phys.HashGroups:
		return false, diag.Internalf("gpu", "a chunk made more than %d groups", s.tuples.cap)
	case s.saved == nil: // it was empty
		s.r.free(s.dir)
		s.r.free(s.tuples.start)
		return true, s.hashTable(min(s.first, 4*s.tuples.cap))
	}
	if err := s.restore(); err != nil {
		return false, err
	}
	if err := s.grow(); err != nil {
		return false, err
	}
	return true, s.save()
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
	case phys.Ungrouped:
		s.result.n = 1
		s.result.addr, err = r.word(uint64(s.dir))
	case phys.RunGroups:
		runs := tupleSink{r: r, tuple: t, start: s.tuples.start, gaps: s.gaps}
		err = runs.closeGaps(int64(s.noted/layout.GapUnit), s.tuples.used, int64(s.noted%layout.GapUnit)/int64(t.Size))
		s.result = runs.rows()
	case phys.PartGroups:
		s.result = deviceRows{tuple: t, addr: s.tuples.start, n: s.tuples.used}
	case phys.ArrayGroups:
		err = s.list(s.plan.Slots, s.plan.Slots, func() *ir.Func { return flaggedTuples(t) })
	case phys.DenseGroups:
		err = s.list(s.plan.Slots, min(s.plan.Slots, s.tuples.used), enteredTuples)
	default:
		err = s.list(int64(s.mask+1), s.tuples.used, enteredTuples)
	}
	if err != nil {
		return err
	}
	return s.checkSums()
}

// list makes a list of the addresses of groups among n slots. There are most at the very most.
func (s *groupSink) list(n, most int64, make func() *ir.Func) (err error) {
	s.result.addr, s.result.n, err = s.r.listed(make, s.dir, n, most)
	return err
}

// mustCheck reports an aggregate that may be a sum of more digits than its type has.
func (s *groupSink) mustCheck(i int) bool {
	f := &s.plan.Tuple.Fields[len(s.s.Group.Keys)+i]
	return s.s.Group.Aggs[i].Func == plan.Sum && f.Desc.Form == layout.I128 && f.Desc.Type.Kind == types.Decimal && !f.Desc.Range.Within(layout.TypeRange(f.Desc.Type))
}

// checkSums fails when a sum has more digits than a decimal may have.
func (s *groupSink) checkSums() error {
	for i := range s.s.Group.Aggs {
		if !s.mustCheck(i) {
			continue
		}
		f := &s.plan.Tuple.Fields[len(s.s.Group.Keys)+i]
		limit := layout.TypeRange(f.Desc.Type)
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
