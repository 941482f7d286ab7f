package groups

import (
	"cmp"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// A worker that has found many groups keeps them by parts of the hash from then on, each part in a buffer of its own.
// When all rows are seen, a part of one worker's groups can only meet the same part of another's.

// partGroups is how many groups a part should have: with those of other workers they fit in the second-level cache.
const partGroups = 1 << 13

// parts is how many parts there are, the same for all workers.
func (s *Grouping) parts() int {
	return 1 << min(max(bits.Len64(uint64(s.Plan.Expect/partGroups)), 4), 8)
}

// worthParts reports that the groups should be split: they are many, and there may be more of them elsewhere.
func (s *Grouping) worthParts(g *Table) bool {
	return s.Team.Threads > 1 && len(g.bufs) == 1 && g.mask+1 >= trialDirectory && !s.NoParts
}

// split begins n parts and moves the groups there; the directory must be made anew.
func (s *Grouping) split(g *Table, n int) error {
	old := g.bufs[0]
	g.bufs = make([]tuples.Buffer, n)
	g.shared = tuples.NewChunks(s.Mem)
	for i := range g.bufs {
		g.bufs[i] = tuples.NewPart(g.shared, s.Plan.Tuple.Size)
	}
	var err error
	if g.cursors, err = s.Mem.Alloc(n * 16); err != nil {
		return err
	}
	stopped := old.Poll(s.Team, func(a uintptr) {
		if err == nil {
			err = g.bufs[mem.Load64(a)>>layout.PartShift&uint64(n-1)].Push(a)
		}
	})
	old.Release()
	return cmp.Or(err, stopped)
}
