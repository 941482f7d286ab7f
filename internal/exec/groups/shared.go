package groups

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// On a GPU all lanes share one table of groups, so there is nothing to merge.

// Reserve makes room for so many new groups, where so many lanes may take tuples that they do not need.
func (s *Grouping) Reserve(g *Table, ctx uintptr, tuples, lanes int) error {
	switch s.Plan.Mode {
	case emit.HashGroups:
		g.FromContext(ctx)
		if err := s.widen(g, 2*uint64(tuples+g.bufs[0].Count())); err != nil {
			return err
		}
		g.ToContext(ctx)
		return g.bufs[0].ReserveFrom(ctx, tuples)
	case emit.DenseGroups:
		// Every key once, and the tuples that lanes take and do not need.
		return g.bufs[0].ReserveFrom(ctx, min(tuples, int(s.Plan.Slots)+lanes))
	}
	return nil
}

// reenter puts what an old directory names into a new, empty one: not all tuples of the buffer are groups.
func reenter(dir, old []uint64) {
	mask := uint64(len(dir) - 1)
	for _, e := range old {
		if e == 0 {
			continue
		}
		i := mem.Load64(uintptr(e&layout.AddrMask)) & mask
		for dir[i] != 0 {
			i = (i + 1) & mask
		}
		dir[i] = e
	}
}

// gather lists the groups of the one table, in the order in which they were made: tuples that
// lost the race for a slot are in the buffer, but not in the directory.
func (s *Grouping) gather(g *Table) error {
	var addrs []uint64
	switch s.Plan.Mode {
	case emit.Ungrouped:
		s.Rows.Pieces = []tuples.Piece{{Addr: g.one, N: 1}}
		return nil
	case emit.ArrayGroups:
		return s.indirect(s.occupied(g))
	case emit.DenseGroups:
		for _, e := range mem.Words(g.dir, int(s.Plan.Slots)) {
			if e != 0 {
				addrs = append(addrs, e)
			}
		}
	default:
		for _, e := range mem.Words(g.dir, int(g.mask+1)) {
			if e != 0 {
				addrs = append(addrs, e&layout.AddrMask)
			}
		}
	}
	slices.Sort(addrs)
	return s.indirect(addrs)
}
