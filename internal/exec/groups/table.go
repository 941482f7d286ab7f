package groups

import (
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Options are what groups are made with.
type Options struct {
	Team    *work.Team
	Mem     *mem.Memory
	Plan    *emit.GroupPlan
	Group   *plan.Group
	NoParts bool                   // the technique of parts is switched off
	Merger  func() (Merger, error) // makes what combines partial groups, when it is needed
}

// Merger combines partial groups by generated code.
type Merger interface {
	// Merge combines the groups whose n addresses lie at list into g. Several threads may merge into different tables.
	Merge(g *Table, list uintptr, n int) error
}

// Grouping makes one result of the groups that workers have found, each in a table of its own.
type Grouping struct {
	Options
	Rows tuples.Rows
}

// New is a grouping without rows.
func New(o Options) *Grouping { return &Grouping{Options: o} }

// Table is the groups that one worker has found.
type Table struct {
	bufs    []tuples.Buffer // the tuples: one buffer, or by parts of the hash when there are many (parts.go)
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

// NewTable makes an empty table with room for about expect groups.
func (s *Grouping) NewTable(expect int64) (*Table, error) {
	g := &Table{bufs: []tuples.Buffer{tuples.NewBuffer(s.Mem, s.Plan.Tuple.Size)}}
	var err error
	switch s.Plan.Mode {
	case phys.Ungrouped:
		if g.one, err = s.Mem.Alloc(s.Plan.Tuple.Size); err != nil {
			return nil, err
		}
		s.neutral(g.one)
	case phys.ArrayGroups:
		g.dir, err = s.Mem.Alloc(int(s.Plan.Slots) * s.Plan.Tuple.Size)
	case phys.DenseGroups:
		g.dir, err = s.Mem.Alloc(int(s.Plan.Slots) * 8)
	default:
		n := directoryFor(expect, trialDirectory)
		g.dir, err = s.Mem.Alloc(int(n) * 8)
		g.mask, g.room = n-1, n/2
	}
	return g, err
}

// neutral writes what aggregates start from to the tuple at addr.
func (s *Grouping) neutral(addr uintptr) {
	for i, a := range s.Group.Aggs {
		f := &s.Plan.Tuple.Fields[len(s.Group.Keys)+i]
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

// ToContext tells generated code where the table is, and how much room it has.
func (g *Table) ToContext(ctx uintptr) {
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

// FromContext takes the cursors and the room left back from the context.
func (g *Table) FromContext(ctx uintptr) {
	at := g.pairs(ctx)
	for i := range g.bufs {
		g.bufs[i].Cur = uintptr(mem.Load64(at + uintptr(i)*16))
	}
	g.room = mem.Load64(ctx + layout.CtxRoom)
}

// pairs is where the cursors of the buffers are.
func (g *Table) pairs(ctx uintptr) uintptr {
	if g.cursors == 0 {
		return ctx + layout.CtxCur
	}
	return g.cursors
}

// Grow makes room for another tuple, and a directory of four times the size when it is half full.
func (s *Grouping) Grow(g *Table, ctx uintptr) error {
	g.FromContext(ctx)
	if g.room == 0 && s.Plan.Mode == phys.HashGroups {
		if s.worthParts(g) {
			if err := s.split(g, s.parts()); err != nil {
				return err
			}
		}
		had := g.mask + 1
		if err := s.widen(g, max(had*4, directoryFor(s.Plan.Expect, maxDirectory))); err != nil {
			return err
		}
		g.room = (g.mask+1)/2 - had/2
	}
	if err := g.GrowBuffers(); err != nil {
		return err
	}
	g.ToContext(ctx)
	return nil
}

// GrowBuffers gives full buffers another chunk.
func (g *Table) GrowBuffers() error {
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
func (s *Grouping) widen(g *Table, n uint64) error {
	size := g.mask + 1
	if size >= n {
		return nil
	}
	for size < n {
		size *= 2
	}
	dir, err := s.Mem.Alloc(int(size) * 8)
	if err != nil {
		return err
	}
	err = s.enter(mem.Words(dir, int(size)), g.bufs)
	s.Mem.Free(g.dir)
	g.dir, g.mask = dir, size-1
	return err
}

// enter puts the tuples of buffers, all of different groups, into an empty directory. They are read in the order
// in which they lie, not in that of the old directory: only what is written is far apart.
func (s *Grouping) enter(dir []uint64, bufs []tuples.Buffer) error {
	mask := uint64(len(dir) - 1)
	for i := range bufs {
		if err := bufs[i].Poll(s.Team, func(a uintptr) {
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

// Finish makes one result of the workers' groups, some of which may be nil; sums must be decimals.
func (s *Grouping) Finish(workers []*Table) error {
	if err := s.merge(workers); err != nil {
		return err
	}
	return s.checkSums()
}

// merge makes one result of the workers' groups.
func (s *Grouping) merge(workers []*Table) error {
	var gs []*Table
	for _, g := range workers {
		if g != nil {
			gs = append(gs, g)
		}
	}
	if len(gs) == 0 {
		g, err := s.NewTable(0)
		if err != nil {
			return err
		}
		gs = append(gs, g)
	}
	s.Rows = tuples.Rows{Tuple: s.Plan.Tuple}
	if s.Plan.Mode == phys.HashGroups || s.Plan.Mode == phys.DenseGroups {
		return s.finishTables(gs)
	}
	if len(gs) > 1 {
		var rest []uint64
		for _, g := range gs[1:] {
			rest = append(rest, s.occupied(g)...)
		}
		m, err := s.Merger()
		if err != nil {
			return err
		}
		if err := s.mergeInto(m, gs[0], rest); err != nil {
			return err
		}
	}
	if s.Plan.Mode == phys.Ungrouped {
		s.Rows.Pieces = []tuples.Piece{{Addr: gs[0].one, N: 1}}
		return nil
	}
	return s.indirect(s.occupied(gs[0]))
}

// indirect makes the result an array of addresses.
func (s *Grouping) indirect(addrs []uint64) error {
	s.Rows.Indirect = true
	if len(addrs) == 0 {
		return nil
	}
	a, err := s.Mem.Take(len(addrs) * 8)
	if err != nil {
		return err
	}
	copy(mem.Words(a, len(addrs)), addrs)
	s.Rows.Pieces = []tuples.Piece{{Addr: a, N: len(addrs)}}
	return nil
}

// occupied lists the tuples of groups that exist.
func (s *Grouping) occupied(g *Table) []uint64 {
	if s.Plan.Mode == phys.Ungrouped {
		return []uint64{uint64(g.one)}
	}
	var out []uint64
	size := uintptr(s.Plan.Tuple.Size)
	for i := range uintptr(s.Plan.Slots) {
		if a := g.dir + i*size; mem.Load8(a+uintptr(s.Plan.Tuple.Flag)) != 0 {
			out = append(out, uint64(a))
		}
	}
	return out
}

// EachTuple calls f with the address of every tuple of a worker's table, also of those that no group
// has taken yet.
func (s *Grouping) EachTuple(g *Table, f func(a uintptr)) {
	switch s.Plan.Mode {
	case phys.Ungrouped:
		f(g.one)
	case phys.ArrayGroups:
		for i := range uintptr(s.Plan.Slots) {
			f(g.dir + i*uintptr(s.Plan.Tuple.Size))
		}
	default:
		for i := range g.bufs {
			g.bufs[i].Each(f)
		}
	}
}

// Release gives the memory of the workers' groups and of the result back.
func (s *Grouping) Release(workers []*Table) {
	for _, g := range workers {
		if g != nil {
			for i := range g.bufs {
				g.bufs[i].Release()
			}
			if g.shared != nil {
				g.shared.Release()
			}
			s.Mem.Free(g.cursors)
			s.Mem.Free(g.dir)
			s.Mem.Free(g.one)
		}
	}
	if s.Rows.Indirect {
		for _, p := range s.Rows.Pieces {
			s.Mem.Free(p.Addr)
		}
	}
}
