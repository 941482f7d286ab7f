package exec

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// On a GPU all lanes share one table of groups, so there is nothing to merge.

// reserve makes room for so many new groups.
func (s *groupSink) reserve(w *worker, tuples int) error {
	g := s.workers[w.id]
	switch s.plan.Mode {
	case emit.HashGroups:
		g.fromContext(w)
		n := uint64(tuples)
		for _, p := range g.buf.pieces {
			n += uint64(p.N)
		}
		n += uint64(g.buf.cur-g.buf.start) / uint64(g.buf.stride)
		if err := s.widen(g, 2*n); err != nil {
			return err
		}
		g.toContext(w)
		return g.buf.room(w, tuples)
	case emit.DenseGroups:
		// Every key once, and the tuples that lanes take and do not need.
		grid, block := s.r.shape(launchRows)
		return g.buf.room(w, min(tuples, int(s.plan.Slots)+grid*block))
	}
	return nil
}

// widen makes the directory at least n slots large.
func (s *groupSink) widen(g *groups, n uint64) error {
	size := g.mask + 1
	if size >= n {
		return nil
	}
	for size < n {
		size *= 2
	}
	dir, err := s.r.mem.alloc(int(size) * 8)
	if err != nil {
		return err
	}
	to, mask := words(dir, int(size)), size-1
	for _, e := range words(g.dir, int(g.mask+1)) {
		if e == 0 {
			continue
		}
		i := load64(uintptr(e&layout.AddrMask)) & mask
		for to[i] != 0 {
			i = (i + 1) & mask
		}
		to[i] = e
	}
	s.r.mem.free(g.dir)
	g.dir, g.mask = dir, mask
	return nil
}

// neutralSlots fills the slots of a group array with what aggregates start from.
func (s *groupSink) neutralSlots(g *groups) {
	size := uintptr(s.plan.Tuple.Size)
	for i := range uintptr(s.plan.Slots) {
		at := g.dir + i*size
		for k, a := range s.s.Group.Aggs {
			f := &s.plan.Tuple.Fields[len(s.s.Group.Keys)+k]
			lo, hi := emit.Neutral(a.Func, f.Desc.Form)
			store64(at+uintptr(f.Off), uint64(lo))
			if f.Desc.Form.Words() == 2 {
				store64(at+uintptr(f.Off)+8, uint64(hi))
			}
			if f.Null >= 0 {
				store8(at+uintptr(f.Null), 1)
			}
		}
	}
}

// gather lists the groups of the one table, in the order in which they were made: tuples that
// lost the race for a slot are in the buffer, but not in the directory.
func (s *groupSink) gather(g *groups) error {
	var addrs []uint64
	switch s.plan.Mode {
	case emit.Ungrouped:
		s.result.Pieces = []Piece{{g.one, 1}}
		return nil
	case emit.ArrayGroups:
		return s.indirect(s.occupied(g))
	case emit.DenseGroups:
		for _, e := range words(g.dir, int(s.plan.Slots)) {
			if e != 0 {
				addrs = append(addrs, e)
			}
		}
	default:
		for _, e := range words(g.dir, int(g.mask+1)) {
			if e != 0 {
				addrs = append(addrs, e&layout.AddrMask)
			}
		}
	}
	slices.Sort(addrs)
	return s.indirect(addrs)
}
