package groups

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Workers' groups stay where they are: most are in one worker's table only, and then nothing has to be done.
// Those that several workers have are combined into one of them, and the others' tuples are filled
// with tuples from the end.

// finishTables makes the result of tables with a directory.
func (s *Grouping) finishTables(gs []*Table) error {
	for _, g := range gs {
		for i := range g.bufs {
			g.bufs[i].Cut(g.bufs[i].Cur)
		}
	}
	if len(gs) > 1 {
		var err error
		if s.Plan.Mode == phys.DenseGroups {
			err = s.adoptDense(gs)
		} else {
			err = s.adoptHashed(gs)
		}
		if err != nil {
			return err
		}
	}
	for _, g := range gs {
		for i := range g.bufs {
			s.Rows.Pieces = append(s.Rows.Pieces, g.bufs[i].Pieces...)
		}
	}
	for _, g := range gs {
		if err := s.giveDirectory(g, &s.Rows); err != nil {
			return err
		}
	}
	return nil
}

// emptyFactor is how many slots a directory by key must have for each group to be emptied group by group: clearing it
// when it is used again would take longer.
const emptyFactor = 16

// giveDirectory gives a worker's directory back, of which rows are the groups.
func (s *Grouping) giveDirectory(g *Table, rows *tuples.Rows) error {
	dir := g.dir
	g.dir = 0
	if dir == 0 || s.Plan.Mode != phys.DenseGroups || emptyFactor*rows.Len() > s.Plan.Slots {
		s.Mem.Free(dir)
		return nil
	}
	tasks, slots := rows.Tasks(), mem.Words(dir, int(s.Plan.Slots))
	_, err := s.Team.Each(rows.Len() < 1<<14, len(tasks), func(i int) bool {
		a := tasks[i].Addr
		for range tasks[i].N {
			slots[mem.Load64(a)] = 0
			a += uintptr(s.Plan.Tuple.Size)
		}
		return true
	})
	if err == nil {
		s.Mem.FreeZeros(dir)
	}
	return err
}

// adoptDense enters the groups of all workers into the first one's directory. Keys are often
// clustered, so that few are there twice. Within one worker's groups all keys differ: no two threads meet in a slot or a group.
func (s *Grouping) adoptDense(gs []*Table) error {
	size := uintptr(s.Plan.Tuple.Size)
	m, err := s.Merger() // before threads start
	if err != nil {
		return err
	}
	for _, g := range gs[1:] {
		rows := tuples.Rows{Tuple: s.Plan.Tuple, Pieces: g.bufs[0].Pieces}
		if err := s.giveDirectory(g, &rows); err != nil {
			return err
		}
		tasks := rows.Tasks()
		left := make([][]tuples.Piece, len(tasks))
		err := s.Team.ParallelUnless(rows.Len() < 1<<14, len(tasks), func(i int) (err error) {
			left[i], err = s.adopt(m, gs[0], tasks[i], size)
			return err
		})
		if err != nil {
			return err
		}
		g.bufs[0].Pieces = slices.Concat(left...)
	}
	return nil
}

// adopt enters some groups into g's directory, and combines those that g has; the others are left.
func (s *Grouping) adopt(m Merger, g *Table, some tuples.Piece, size uintptr) (left []tuples.Piece, err error) {
	list, err := s.Mem.Take(some.N * 8)
	if err != nil {
		return nil, err
	}
	defer s.Mem.Free(list)
	dir, p, a := mem.Pointer(g.dir), mem.Pointer(some.Addr), some.Addr
	twice, n := mem.Words(list, some.N), 0
	for range twice {
		if e := (*uint64)(unsafe.Add(dir, *(*uint64)(p)*8)); *e == 0 {
			*e = uint64(a)
		} else {
			twice[n] = uint64(a)
			n++
		}
		p, a = unsafe.Add(p, size), a+size
	}
	left = []tuples.Piece{some}
	if n == 0 {
		return left, nil
	}
	into := *g // nothing is added to it
	into.bufs = slices.Clone(g.bufs)
	if err := m.Merge(&into, list, n); err != nil {
		return nil, err
	}
	holes := tail{&left, size}
	for i := n - 1; i >= 0; i-- {
		if a := uintptr(twice[i]); holes.fill(a) {
			*(*uint64)(unsafe.Add(dir, mem.Load64(a)*8)) = uint64(a)
		}
	}
	return left, nil
}

// tail takes tuples from the end of pieces to fill holes in them, which come from the last to the first.
type tail struct {
	pieces *[]tuples.Piece
	size   uintptr
}

// fill puts the last tuple into the hole at a; it reports false if that was the last itself.
func (t tail) fill(a uintptr) bool {
	ps := *t.pieces
	p := &ps[len(ps)-1]
	p.N--
	last := p.Addr + uintptr(p.N)*t.size
	if p.N == 0 {
		*t.pieces = ps[:len(ps)-1]
	}
	if last == a {
		return false
	}
	tuples.Copy(a, last, int(t.size))
	return true
}

// adoptHashed finds the groups that several workers have, part by part: a part is all that threads need to keep
// in their caches, and no other thread has to do with it.
func (s *Grouping) adoptHashed(gs []*Table) error {
	parts := 1
	for _, g := range gs {
		parts = max(parts, len(g.bufs))
	}
	if n := s.count(gs); parts == 1 && n >= 1<<14 {
		parts = s.parts()
	}
	alone := parts == 1
	err := s.Team.ParallelUnless(alone, len(gs), func(i int) error {
		if len(gs[i].bufs) < parts {
			if err := s.split(gs[i], parts); err != nil {
				return err
			}
		}
		for k := range gs[i].bufs {
			gs[i].bufs[k].Cut(gs[i].bufs[k].Cur)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m, err := s.Merger() // before threads start
	if err != nil {
		return err
	}
	extra := make([][]tuples.Piece, parts)
	err = s.Team.ParallelUnless(alone, parts, func(p int) (err error) {
		extra[p], err = s.adoptPart(m, gs, p)
		if err != nil {
			return err
		}
		return s.Team.Canceled()
	})
	for p := range extra {
		s.Rows.Pieces = append(s.Rows.Pieces, extra[p]...)
	}
	return err
}

// count is how many tuples workers have together.
func (s *Grouping) count(gs []*Table) (n int) {
	for _, g := range gs {
		for i := range g.bufs {
			n += g.bufs[i].Count()
		}
	}
	return n
}

// adoptPart combines a part of all workers' groups. Groups that seemed to be one with another, by their hash, but are
// not, are returned.
func (s *Grouping) adoptPart(m Merger, gs []*Table, p int) ([]tuples.Piece, error) {
	total, most := 0, 0
	for _, g := range gs {
		n := g.bufs[p].Count()
		total += n
		most = max(most, n)
	}
	if total == most { // only one has any
		return nil, nil
	}
	slots := 1 << max(bits.Len(uint(2*total)), 4)
	g := &Table{bufs: []tuples.Buffer{tuples.NewBuffer(s.Mem, s.Plan.Tuple.Size)}, mask: uint64(slots - 1)}
	var err error
	if g.dir, err = s.Mem.Alloc(8 * slots); err != nil {
		return nil, err
	}
	defer s.Mem.Free(g.dir) // it has room for all
	at, err := s.Mem.Take(8 * total)
	if err != nil {
		return nil, err
	}
	defer s.Mem.Free(at)
	dir, list := mem.Words(g.dir, slots), mem.Words(at, total)
	n := 0
	from := make([]int, len(gs)+1) // where each worker's part of the list begins
	for w := range gs {
		from[w] = n
		err := gs[w].bufs[p].Poll(s.Team, func(a uintptr) {
			h := mem.Load64(a)
			for i := h & g.mask; ; i = (i + 1) & g.mask {
				d := dir[i]
				if d == 0 {
					dir[i] = h&layout.TagMask | uint64(a)
					return
				}
				if (d^h)&layout.TagMask == 0 && mem.Load64(uintptr(d&layout.AddrMask)) == h {
					list[n] = uint64(a) // whether the keys are the same, generated code sees
					n++
					return
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	from[len(gs)] = n
	if n == 0 {
		return nil, nil
	}
	g.room = uint64(slots/2 - (total - n))
	if err := m.Merge(g, at, n); err != nil {
		return nil, err
	}
	for w := range gs {
		holes := tail{&gs[w].bufs[p].Pieces, uintptr(s.Plan.Tuple.Size)}
		for i := from[w+1] - 1; i >= from[w]; i-- {
			holes.fill(uintptr(list[i]))
		}
	}
	b := &g.bufs[0]
	b.Cut(b.Cur)
	return b.Pieces, nil
}

// mergeInto combines the groups at addrs into g.
func (s *Grouping) mergeInto(m Merger, g *Table, addrs []uint64) error {
	list, err := s.Mem.Take(len(addrs) * 8)
	if err != nil {
		return err
	}
	defer s.Mem.Free(list)
	copy(mem.Words(list, len(addrs)), addrs)
	return m.Merge(g, list, len(addrs))
}
