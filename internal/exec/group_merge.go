package exec

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// Workers' groups stay where they are: most are in one worker's table only, and then nothing has to be done.
// Those that several workers have are combined into one of them, and the others' tuples are filled
// with tuples from the end.

// finishTables makes the result of tables with a directory.
func (s *groupSink) finishTables(gs []*groups) error {
	for _, g := range gs {
		g.buf.cut(g.buf.cur)
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
		s.result.Pieces = append(s.result.Pieces, g.buf.pieces...)
		s.r.mem.free(g.dir)
		g.dir = 0
	}
	return nil
}

// adoptDense enters the groups of all workers into the first one's directory. Keys are often
// clustered, so that few are there twice.
func (s *groupSink) adoptDense(gs []*groups) error {
	r, size := s.r, uintptr(s.plan.Tuple.Size)
	dir := pointer(gs[0].dir)
	var m *merger
	for _, g := range gs[1:] {
		rows := Rows{Tuple: s.plan.Tuple, Pieces: g.buf.pieces}
		tasks := rows.tasks()
		list, err := r.mem.room(int(rows.Len()) * 8)
		if err != nil {
			return err
		}
		twice := make([][]uint64, len(tasks)) // by task, in order, the addresses
		at := list
		for i, t := range tasks {
			twice[i] = words(at, t.N)
			at += uintptr(t.N) * 8
		}
		alone := rows.Len() < 1<<14
		_, err = r.each(alone, len(tasks), func(i int) bool {
			n, a := 0, tasks[i].Addr
			out, p := twice[i], pointer(a)
			for range out { // within one worker's groups all keys differ: no two threads meet in a slot
				if e := (*uint64)(unsafe.Add(dir, *(*uint64)(p)*8)); *e == 0 {
					*e = uint64(a)
				} else {
					out[n] = uint64(a)
					n++
				}
				p, a = unsafe.Add(p, size), a+size
			}
			twice[i] = out[:n]
			return true
		})
		if err != nil {
			return err
		}
		any := false
		for _, l := range twice {
			any = any || len(l) > 0
		}
		if any {
			if m == nil {
				if m, err = s.newMerger(); err != nil {
					return err
				}
			}
			err = r.parallelUnless(alone, len(tasks), func(i int) error {
				if len(twice[i]) == 0 {
					return nil
				}
				into := *gs[0] // nothing is added to it
				return m.list(&into, uintptr(unsafe.Pointer(&twice[i][0])), len(twice[i]))
			})
			if err != nil {
				return err
			}
			holes := tail{&g.buf.pieces, size}
			for i := len(twice) - 1; i >= 0; i-- {
				for j := len(twice[i]) - 1; j >= 0; j-- {
					if a := uintptr(twice[i][j]); holes.fill(a) {
						*(*uint64)(unsafe.Add(dir, load64(a)*8)) = uint64(a)
					}
				}
			}
		}
		r.mem.free(list)
	}
	return nil
}

// tail takes tuples from the end of pieces to fill holes in them, which come from the last to the first.
type tail struct {
	pieces *[]Piece
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
	copyTuple(a, last, int(t.size))
	return true
}

// adoptHashed enters the groups of all workers into new directories, one for each part of the hashes.
func (s *groupSink) adoptHashed(gs []*groups) error {
	r, size := s.r, uintptr(s.plan.Tuple.Size)
	all := Rows{Tuple: s.plan.Tuple}
	for _, g := range gs {
		all.Pieces = append(all.Pieces, g.buf.pieces...)
	}
	n := all.Len()
	alone := n < 1<<14
	partBits := 0
	if !alone {
		partBits = min(max(bits.Len64(uint64(n))-13, 4), 8)
	}
	// The bits from 40 on are used by neither slots nor tags.
	sp, err := r.spread(&all, keyReader{width: 8, null: -1, size: size}, 40, uint8(partBits), alone)
	if err != nil {
		return err
	}
	m, err := s.newMerger() // before threads start
	if err != nil {
		return err
	}
	twice := make([][]uint64, sp.parts())
	extra := make([][]Piece, sp.parts())
	hole := ^uint64(0)
	clash := make([]bool, sp.parts())
	err = r.parallelUnless(alone, sp.parts(), func(p int) error {
		mine := sp.part(p)
		if len(mine) == 0 {
			return nil
		}
		slots := 1 << max(bits.Len(uint(2*len(mine))), 4)
		g := &groups{buf: buffer{mem: r.mem, stride: int(size)}, mask: uint64(slots - 1)}
		var err error
		if g.dir, err = r.mem.alloc(8 * slots); err != nil {
			return err
		}
		dir := words(g.dir, slots)
		// What is there twice is listed over the part's own beginning, which is read by then.
		list := words(uintptr(unsafe.Pointer(&mine[0])), 2*len(mine))
		n := 0
		const tag = 1<<64 - 1<<layout.TagShift
		for _, e := range mine {
			clash[p] = clash[p] || e.x == hole
			for i := e.x & g.mask; ; i = (i + 1) & g.mask {
				d := dir[i]
				if d == 0 {
					dir[i] = e.x&tag | uint64(e.at)
					break
				}
				if (d^e.x)&tag == 0 && load64(uintptr(d&layout.AddrMask)) == e.x {
					list[n] = uint64(e.at) // whether the keys are the same, generated code sees
					n++
					break
				}
			}
		}
		twice[p] = list[:n]
		g.room = uint64(slots/2 - (len(mine) - n))
		if n > 0 {
			if err := m.list(g, uintptr(unsafe.Pointer(&list[0])), n); err != nil {
				return err
			}
		}
		g.buf.cut(g.buf.cur)
		extra[p] = g.buf.pieces
		r.mem.free(g.dir)
		return r.canceled()
	})
	if err != nil {
		return err
	}
	for slices.Contains(clash, true) { // a hash that no group has marks the holes
		hole--
		clear(clash)
		all.Each(func(a uintptr) bool {
			clash[0] = clash[0] || load64(a) == hole
			return true
		})
	}
	any := false
	for p, l := range twice {
		for _, a := range l {
			store64(uintptr(a), hole)
		}
		any = any || len(l) > 0
		gs[0].buf.pieces = append(gs[0].buf.pieces, extra[p]...)
	}
	r.mem.free(sp.mem)
	if !any {
		return nil
	}
	return r.parallelUnless(alone, len(gs), func(i int) error {
		gs[i].buf.pieces = closeHoles(gs[i].buf.pieces, size, hole)
		return nil
	})
}

// closeHoles fills the tuples that are marked by their first word, from the last to the first.
func closeHoles(pieces []Piece, size uintptr, mark uint64) []Piece {
	out := append([]Piece(nil), pieces...)
	holes := tail{&out, size}
	for i := len(pieces) - 1; i >= 0; i-- {
		for k := pieces[i].N - 1; k >= 0; k-- {
			if a := pieces[i].Addr + uintptr(k)*size; load64(a) == mark {
				holes.fill(a)
			}
		}
	}
	return out
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
	return &merger{s, &variant{f, k}}, nil
}

// into combines the groups at addrs into g.
func (m *merger) into(g *groups, addrs []uint64) error {
	list, err := m.s.r.mem.room(len(addrs) * 8)
	if err != nil {
		return err
	}
	defer m.s.r.mem.free(list)
	copy(words(list, len(addrs)), addrs)
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
	store64(w.ctx+emit.CtxSource, uint64(list))
	const step = 16 << 10
	for lo := 0; lo < n; lo += step {
		if err := w.run(lo, min(lo+step, n)); err != nil {
			return err
		}
		if err := s.r.canceled(); err != nil {
			return err
		}
	}
	g.fromContext(w)
	return nil
}

// mergeTarget grows the table being merged into instead of a worker's.
type mergeTarget struct {
	*groupSink
	g *groups
}

func (m *mergeTarget) grow(w *worker) error { return m.growGroups(w, m.g) }
