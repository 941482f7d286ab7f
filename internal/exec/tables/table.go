package tables

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// Options are what a table is made with.
type Options struct {
	Team     *work.Team
	Mem      *mem.Memory
	Tuple    *layout.Tuple // its first fields are the keys
	Keys     int           // how many; 0: every tuple is a candidate for every row
	SawNull  bool          // a row whose key is NULL was left out
	NoDirect bool          // the technique of tables that are addressed by the key is switched off
}

// Builder organizes a join's build side for probing, and knows what was found out on the way. Which way it is
// organized is decided from the tuples themselves: are the keys dense integers, are they unique?
type Builder struct {
	Options
	buffers []*tuples.Buffer // in which the tuples are, until they move
	Rows    tuples.Rows
	Table   *layout.Table
	ranges  map[int][2]int64 // of keys, as far as they were looked at
	sets    map[int]*Set
}

// Build makes a table of the tuples in buffers, some of which may be nil.
func Build(o Options, buffers []*tuples.Buffer) (*Builder, error) {
	b := newBuilder(o, buffers)
	return b, b.organize()
}

func newBuilder(o Options, buffers []*tuples.Buffer) *Builder {
	b := &Builder{Options: o, buffers: buffers, Rows: tuples.Rows{Tuple: o.Tuple}, ranges: map[int][2]int64{}, sets: map[int]*Set{}}
	for _, buf := range buffers {
		if buf != nil {
			b.Rows.Pieces = append(b.Rows.Pieces, buf.Pieces...)
		}
	}
	b.Table = &layout.Table{Tuple: o.Tuple, Rows: b.Rows.Len(), SawNull: o.SawNull}
	return b
}

// organize makes the table.
func (b *Builder) organize() error {
	side := phys.BuildSide{Tuple: b.Tuple, Keys: b.Keys, Rows: b.Table.Rows, NoDirect: b.NoDirect}
	d, err := phys.ChooseTable(side, keyFacts{b})
	if err != nil {
		return err
	}
	b.Table.Kind, b.Table.Bits = d.Kind, d.Bits
	switch d.Kind {
	case layout.List:
		return b.contiguous()
	case layout.DenseBuckets:
		return b.sortByKey()
	case layout.Buckets:
		return b.buckets()
	}
	return nil // made to see whether keys are unique
}

// keyFacts finds out about the keys of a build side.
type keyFacts struct{ b *Builder }

func (f keyFacts) Range() (lo, hi int64, known bool, err error) {
	lo, hi, err = f.b.keyRange(0)
	return lo, hi, true, err
}

// Unique makes the table, and gives up at a key that is there twice.
func (f keyFacts) Unique(t phys.Table) (bool, error) {
	if t.Kind == layout.Direct {
		return f.b.direct(t)
	}
	return f.b.open(t)
}

// Release gives the memory of the tuples, the table and the sets back.
func (b *Builder) Release() {
	for _, buf := range b.buffers {
		if buf != nil {
			buf.Release()
		}
	}
	b.Mem.Free(b.Table.Tuples) // where it is a block of its own
	b.Mem.Free(b.Table.Slots)
	for _, s := range b.sets {
		b.Mem.Free(s.Addr)
	}
}

// alone reports that one thread does the work: it is not worth to be shared.
func (b *Builder) alone() bool { return b.Team.Threads == 1 || b.Table.Rows < 1<<15 }

// contiguous moves all tuples into one array.
func (b *Builder) contiguous() error {
	if len(b.Rows.Pieces) == 1 {
		b.Table.Tuples = b.Rows.Pieces[0].Addr
		return nil
	}
	n, size := int(b.Rows.Len()), b.Tuple.Size
	a, err := b.Mem.Take(n*size + 64)
	if err != nil {
		return err
	}
	at := make([]uintptr, len(b.Rows.Pieces))
	to := a
	for i, p := range b.Rows.Pieces {
		at[i] = to
		to += uintptr(p.N * size)
	}
	err = b.Team.Parallel(len(at), func(i int) error {
		p := b.Rows.Pieces[i]
		copy(mem.Bytes(at[i], p.N*size), mem.Bytes(p.Addr, p.N*size))
		return nil
	})
	b.replace(a, n)
	return err
}

// replace makes the array at a the home of all tuples; where they were is given back.
func (b *Builder) replace(a uintptr, n int) {
	b.Table.Tuples = a
	b.Rows.Pieces = nil
	if n > 0 {
		b.Rows.Pieces = []tuples.Piece{{Addr: a, N: n}}
	}
	for _, buf := range b.buffers {
		if buf != nil {
			buf.Release()
		}
	}
	b.buffers = nil
}
