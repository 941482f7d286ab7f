package exec

import (
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// groupOptions are what groups are made with.
type groupOptions struct {
	team  *work.Team
	mem   *mem.Memory
	plan  *emit.GroupPlan
	group *plan.Group
	// shared: all lanes of a device work in one table at the same time. They find slots ready, and not all tuples
	// that they write become groups: the directory alone tells.
	shared  bool
	noParts bool                   // the technique of parts is switched off
	merger  func() (merger, error) // makes what combines partial groups, when it is needed
}

// merger combines partial groups by generated code.
type merger interface {
	// merge combines the groups whose n addresses lie at list into g. Several threads may merge into different tables.
	merge(g *groups, list uintptr, n int) error
}

// grouping makes one result of the groups that workers have found, each in a table of its own.
type grouping struct {
	groupOptions
	result tuples.Rows
}

// newGrouping is a grouping without rows.
func newGrouping(o groupOptions) *grouping { return &grouping{groupOptions: o} }

// groups is one worker's table.
type groups struct {
	bufs    []tuples.Buffer // the tuples: one buffer, or by parts of the hash when there are many (group_parts.go)
	shared  *tuples.Chunks  // parts: where their chunks come from
	cursors uintptr         // parts: where generated code finds and moves the cur and end of each
	dir     uintptr         // directory or array
	mask    uint64
	room    uint64
	one     uintptr
}

// A directory starts small, for estimates are often far too high, and clearing costs time and memory. When it is
// half full, which speaks for the estimate, it grows to what that says at once.
const (
	firstDirectory = 1 << 10
	trialDirectory = 1 << 14
	maxDirectory   = 1 << 22
)

// directoryFor is the number of slots for about expect groups, at most max.
func directoryFor(expect int64, max uint64) uint64 {
	n := uint64(firstDirectory)
	for n < 2*uint64(expect) && n < max {
		n *= 2
	}
	return n
}

// newGroups makes an empty table with room for about expect groups.
func (s *grouping) newGroups(expect int64) (*groups, error) {
	g := &groups{bufs: []tuples.Buffer{tuples.NewBuffer(s.mem, s.plan.Tuple.Size)}}
	var err error
	switch s.plan.Mode {
	case emit.Ungrouped:
		if g.one, err = s.mem.Alloc(s.plan.Tuple.Size); err != nil {
			return nil, err
		}
		s.neutral(g.one)
	case emit.ArrayGroups:
		g.dir, err = s.mem.Alloc(int(s.plan.Slots) * s.plan.Tuple.Size)
		if err == nil && s.shared { // generated code finds the slots ready
			for i := range uintptr(s.plan.Slots) {
				s.neutral(g.dir + i*uintptr(s.plan.Tuple.Size))
			}
		}
	case emit.DenseGroups:
		g.dir, err = s.mem.Alloc(int(s.plan.Slots) * 8)
	default:
		n := directoryFor(expect, trialDirectory)
		g.dir, err = s.mem.Alloc(int(n) * 8)
		g.mask, g.room = n-1, n/2
	}
	return g, err
}

// neutral writes what aggregates start from to the tuple at addr.
func (s *grouping) neutral(addr uintptr) {
	for i, a := range s.group.Aggs {
		f := &s.plan.Tuple.Fields[len(s.group.Keys)+i]
		lo, hi := emit.Neutral(a.Func, f.Desc.Form)
		mem.Store64(addr+uintptr(f.Off), uint64(lo))
		if f.Desc.Form.Words() == 2 {
			mem.Store64(addr+uintptr(f.Off)+8, uint64(hi))
		}
		if f.Null >= 0 {
			mem.Store8(addr+uintptr(f.Null), 1)
		}
	}
}

func (g *groups) toContext(ctx uintptr) {
	at := g.pairs(ctx)
	for i := range g.bufs {
		mem.Store64(at+uintptr(i)*16, uint64(g.bufs[i].Cur))
		mem.Store64(at+uintptr(i)*16+8, uint64(g.bufs[i].End))
	}
	mem.Store64(ctx+layout.CtxParts, uint64(at))
	mem.Store64(ctx+layout.CtxPartMask, uint64(len(g.bufs)-1)*16)
	mem.Store64(ctx+layout.CtxDir, uint64(g.dir))
	mem.Store64(ctx+layout.CtxMask, g.mask)
	mem.Store64(ctx+layout.CtxRoom, g.room)
	mem.Store64(ctx+layout.CtxState, uint64(g.one))
}

// fromContext takes the cursors and the room left back from the context.
func (g *groups) fromContext(ctx uintptr) {
	at := g.pairs(ctx)
	for i := range g.bufs {
		g.bufs[i].Cur = uintptr(mem.Load64(at + uintptr(i)*16))
	}
	g.room = mem.Load64(ctx + layout.CtxRoom)
}

// pairs is where the cursors of the buffers are.
func (g *groups) pairs(ctx uintptr) uintptr {
	if g.cursors == 0 {
		return ctx + layout.CtxCur
	}
	return g.cursors
}

// grow makes room for another tuple, and a directory of four times the size when it is half full.
func (s *grouping) grow(g *groups, ctx uintptr) error {
	g.fromContext(ctx)
	if g.room == 0 && s.plan.Mode == emit.HashGroups {
		if s.worthParts(g) {
			if err := s.split(g, s.parts()); err != nil {
				return err
			}
		}
		had := g.mask + 1
		if err := s.widen(g, max(had*4, directoryFor(s.plan.Expect, maxDirectory))); err != nil {
			return err
		}
		g.room = (g.mask+1)/2 - had/2
	}
	if err := g.growBuffers(); err != nil {
		return err
	}
	g.toContext(ctx)
	return nil
}

// growBuffers gives full buffers another chunk.
func (g *groups) growBuffers() error {
	for i := range g.bufs {
		if b := &g.bufs[i]; b.Cur >= b.End {
			if err := b.Grow(b.Cur); err != nil {
				return err
			}
		}
	}
	return nil
}

// widen makes the directory at least n slots large.
func (s *grouping) widen(g *groups, n uint64) error {
	size := g.mask + 1
	if size >= n {
		return nil
	}
	for size < n {
		size *= 2
	}
	dir, err := s.mem.Alloc(int(size) * 8)
	if err != nil {
		return err
	}
	if s.shared {
		reenter(mem.Words(dir, int(size)), mem.Words(g.dir, int(g.mask+1)))
	} else {
		err = s.enter(mem.Words(dir, int(size)), g.bufs)
	}
	s.mem.Free(g.dir)
	g.dir, g.mask = dir, size-1
	return err
}

// enter puts the tuples of buffers, all of different groups, into an empty directory. They are read in the order
// in which they lie, not in that of the old directory: only what is written is far apart.
func (s *grouping) enter(dir []uint64, bufs []tuples.Buffer) error {
	mask := uint64(len(dir) - 1)
	for i := range bufs {
		if err := bufs[i].Poll(s.team, func(a uintptr) {
			h := mem.Load64(a)
			k := h & mask
			for dir[k] != 0 {
				k = (k + 1) & mask
			}
			dir[k] = h&layout.TagMask | uint64(a)
		}); err != nil {
			return err
		}
	}
	return nil
}

// finish makes one result of the workers' groups, some of which may be nil; sums must be decimals.
func (s *grouping) finish(workers []*groups) error {
	if err := s.merge(workers); err != nil {
		return err
	}
	return s.checkSums()
}

// merge makes one result of the workers' groups.
func (s *grouping) merge(workers []*groups) error {
	var gs []*groups
	for _, g := range workers {
		if g != nil {
			gs = append(gs, g)
		}
	}
	if len(gs) == 0 {
		g, err := s.newGroups(0)
		if err != nil {
			return err
		}
		gs = append(gs, g)
	}
	s.result = tuples.Rows{Tuple: s.plan.Tuple}
	if s.shared {
		return s.gather(gs[0])
	}
	if s.plan.Mode == emit.HashGroups || s.plan.Mode == emit.DenseGroups {
		return s.finishTables(gs)
	}
	if len(gs) > 1 {
		var rest []uint64
		for _, g := range gs[1:] {
			rest = append(rest, s.occupied(g)...)
		}
		m, err := s.merger()
		if err != nil {
			return err
		}
		if err := s.mergeInto(m, gs[0], rest); err != nil {
			return err
		}
	}
	if s.plan.Mode == emit.Ungrouped {
		s.result.Pieces = []tuples.Piece{{Addr: gs[0].one, N: 1}}
		return nil
	}
	return s.indirect(s.occupied(gs[0]))
}

// indirect makes the result an array of addresses.
func (s *grouping) indirect(addrs []uint64) error {
	s.result.Indirect = true
	if len(addrs) == 0 {
		return nil
	}
	a, err := s.mem.Take(len(addrs) * 8)
	if err != nil {
		return err
	}
	copy(mem.Words(a, len(addrs)), addrs)
	s.result.Pieces = []tuples.Piece{{Addr: a, N: len(addrs)}}
	return nil
}

// occupied lists the tuples of groups that exist.
func (s *grouping) occupied(g *groups) []uint64 {
	if s.plan.Mode == emit.Ungrouped {
		return []uint64{uint64(g.one)}
	}
	var out []uint64
	size := uintptr(s.plan.Tuple.Size)
	for i := range uintptr(s.plan.Slots) {
		if a := g.dir + i*size; mem.Load8(a+uintptr(s.plan.Tuple.Flag)) != 0 {
			out = append(out, uint64(a))
		}
	}
	return out
}

// eachTuple calls f with the address of every tuple of a worker's table, also of those that no group
// has taken yet.
func (s *grouping) eachTuple(g *groups, f func(a uintptr)) {
	switch s.plan.Mode {
	case emit.Ungrouped:
		f(g.one)
	case emit.ArrayGroups:
		for i := range uintptr(s.plan.Slots) {
			f(g.dir + i*uintptr(s.plan.Tuple.Size))
		}
	default:
		for i := range g.bufs {
			g.bufs[i].Each(f)
		}
	}
}

// release gives the memory of the workers' groups and of the result back.
func (s *grouping) release(workers []*groups) {
	for _, g := range workers {
		if g != nil {
			for i := range g.bufs {
				g.bufs[i].Release()
			}
			if g.shared != nil {
				g.shared.Release()
			}
			s.mem.Free(g.cursors)
			s.mem.Free(g.dir)
			s.mem.Free(g.one)
		}
	}
	if s.result.Indirect {
		for _, p := range s.result.Pieces {
			s.mem.Free(p.Addr)
		}
	}
}
