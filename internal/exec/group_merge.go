package exec

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Workers' groups stay where they are: most are in one worker's table only, and then nothing has to be done.
// Those that several workers have are combined into one of them, and the others' tuples are filled
// with tuples from the end.

// finishTables makes the result of tables with a directory.
func (s *groupSink) finishTables(gs []*groups) error {
	for _, g := range gs {
		for i := range g.bufs {
			g.bufs[i].Cut(g.bufs[i].Cur)
		}
	}
	if len(gs) > 1 {
		var err error
		if s.plan.Mode == emit.DenseGroups {
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
			s.result.Pieces = append(s.result.Pieces, g.bufs[i].Pieces...)
		}
	}
	for _, g := range gs {
		if err := s.giveDirectory(g, &s.result); err != nil {
			return err
		}
	}
	return nil
}

// emptyFactor is how many slots a directory by key must have for each group to be emptied group by group: clearing it
// when it is used again would take longer.
const emptyFactor = 16

// giveDirectory gives a worker's directory back, of which rows are the groups.
func (s *groupSink) giveDirectory(g *groups, rows *tuples.Rows) error {
	dir := g.dir
	g.dir = 0
	if dir == 0 || s.plan.Mode != emit.DenseGroups || emptyFactor*rows.Len() > s.plan.Slots {
		s.r.mem.Free(dir)
		return nil
	}
	tasks, slots := rows.Tasks(), mem.Words(dir, int(s.plan.Slots))
	_, err := s.r.team.Each(rows.Len() < 1<<14, len(tasks), func(i int) bool {
		a := tasks[i].Addr
		for range tasks[i].N {
			slots[mem.Load64(a)] = 0
			a += uintptr(s.plan.Tuple.Size)
		}
		return true
	})
	if err == nil {
		s.r.mem.FreeZeros(dir)
	}
	return err
}

// adoptDense enters the groups of all workers into the first one's directory. Keys are often
// clustered, so that few are there twice. Within one worker's groups all keys differ: no two threads meet in a slot or a group.
func (s *groupSink) adoptDense(gs []*groups) error {
	r, size := s.r, uintptr(s.plan.Tuple.Size)
	m, err := s.newMerger() // before threads start
	if err != nil {
		return err
	}
	for _, g := range gs[1:] {
		rows := tuples.Rows{Tuple: s.plan.Tuple, Pieces: g.bufs[0].Pieces}
		if err := s.giveDirectory(g, &rows); err != nil {
			return err
		}
		tasks := rows.Tasks()
		left := make([][]tuples.Piece, len(tasks))
		err := r.team.ParallelUnless(rows.Len() < 1<<14, len(tasks), func(i int) (err error) {
			left[i], err = m.adopt(gs[0], tasks[i], size)
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
func (m *merger) adopt(g *groups, some tuples.Piece, size uintptr) (left []tuples.Piece, err error) {
	r := m.s.r
	list, err := r.mem.Take(some.N * 8)
	if err != nil {
		return nil, err
	}
	defer r.mem.Free(list)
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
	if err := m.list(&into, list, n); err != nil {
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
func (s *groupSink) adoptHashed(gs []*groups) error {
	parts := 1
	for _, g := range gs {
		parts = max(parts, len(g.bufs))
	}
	if n := s.count(gs); parts == 1 && n >= 1<<14 {
		parts = s.parts()
	}
	alone := parts == 1
	err := s.r.team.ParallelUnless(alone, len(gs), func(i int) error {
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
	m, err := s.newMerger() // before threads start
	if err != nil {
		return err
	}
	extra := make([][]tuples.Piece, parts)
	err = s.r.team.ParallelUnless(alone, parts, func(p int) (err error) {
		extra[p], err = s.adoptPart(m, gs, p)
		if err != nil {
			return err
		}
		return s.r.team.Canceled()
	})
	for p := range extra {
		s.result.Pieces = append(s.result.Pieces, extra[p]...)
	}
	return err
}

// count is how many tuples workers have together.
func (s *groupSink) count(gs []*groups) (n int) {
	for _, g := range gs {
		for i := range g.bufs {
			n += g.bufs[i].Count()
		}
	}
	return n
}

// adoptPart combines a part of all workers' groups. Groups that seemed to be one with another, by their hash, but are
// not, are returned.
func (s *groupSink) adoptPart(m *merger, gs []*groups, p int) ([]tuples.Piece, error) {
	r, total, most := s.r, 0, 0
	for _, g := range gs {
		n := g.bufs[p].Count()
		total += n
		most = max(most, n)
	}
	if total == most { // only one has any
		return nil, nil
	}
	slots := 1 << max(bits.Len(uint(2*total)), 4)
	g := &groups{bufs: []tuples.Buffer{tuples.NewBuffer(r.mem, s.plan.Tuple.Size)}, mask: uint64(slots - 1)}
	var err error
	if g.dir, err = r.mem.Alloc(8 * slots); err != nil {
		return nil, err
	}
	defer r.mem.Free(g.dir) // it has room for all
	at, err := r.mem.Take(8 * total)
	if err != nil {
		return nil, err
	}
	defer r.mem.Free(at)
	dir, list := mem.Words(g.dir, slots), mem.Words(at, total)
	n := 0
	from := make([]int, len(gs)+1) // where each worker's part of the list begins
	for w := range gs {
		from[w] = n
		err := gs[w].bufs[p].Poll(r.team, func(a uintptr) {
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
	if err := m.list(g, at, n); err != nil {
		return nil, err
	}
	for w := range gs {
		holes := tail{&gs[w].bufs[p].Pieces, uintptr(s.plan.Tuple.Size)}
		for i := from[w+1] - 1; i >= from[w]; i-- {
			holes.fill(uintptr(list[i]))
		}
	}
	b := &g.bufs[0]
	b.Cut(b.Cur)
	return b.Pieces, nil
}

// merger runs the code that combines partial groups.
type merger struct {
	s *groupSink
	v *variant
}

func (s *groupSink) newMerger() (*merger, error) {
	f, k, err := s.r.compile(emit.Request{
		Name: fmt.Sprintf("merge%d", s.s.ID), Pipeline: mergePipeline(s.s), Merge: true,
		Tuple: s.plan.Tuple, Indirect: true, Group: s.plan, Rows: 1,
	})
	if err != nil {
		return nil, err
	}
	return &merger{s, &variant{frag: f, code: k}}, nil
}

// into combines the groups at addrs into g.
func (m *merger) into(g *groups, addrs []uint64) error {
	list, err := m.s.r.mem.Take(len(addrs) * 8)
	if err != nil {
		return err
	}
	defer m.s.r.mem.Free(list)
	copy(mem.Words(list, len(addrs)), addrs)
	return m.list(g, list, len(addrs))
}

// list combines the groups whose n addresses lie at list into g.
func (m *merger) list(g *groups, list uintptr, n int) error {
	s := m.s
	j := &job{r: s.r, sink: &mergeTarget{groupSink: s, g: g}, st: &PipelineStats{OpRows: map[int]int64{}}}
	w := &worker{r: s.r, j: j}
	defer w.close()
	if err := w.enterVariant(j, m.v); err != nil {
		return err
	}
	g.toContext(w)
	mem.Store64(w.ctx+layout.CtxSource, uint64(list))
	const step = 16 << 10
	for lo := 0; lo < n; lo += step {
		if err := w.run(lo, min(lo+step, n)); err != nil {
			return err
		}
		if err := s.r.team.Canceled(); err != nil {
			return err
		}
	}
	g.fromContext(w)
	return nil
}

// mergeTarget grows the table being merged into instead of a worker's. Its directory is large enough.
type mergeTarget struct {
	*groupSink
	g *groups
}

func (m *mergeTarget) grow(w *worker) error {
	m.g.fromContext(w)
	if err := m.g.growBuffers(); err != nil {
		return err
	}
	m.g.toContext(w)
	return nil
}
