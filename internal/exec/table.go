package exec

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// buildOptions are what a table is made with.
type buildOptions struct {
	team     *work.Team
	mem      *mem.Memory
	tuple    *layout.Tuple // its first fields are the keys
	keys     int           // how many; 0: every tuple is a candidate for every row
	sawNull  bool          // a row whose key is NULL was left out
	noDirect bool          // the technique of tables that are addressed by the key is switched off
}

// builder organizes a join's build side for probing, and knows what was found out on the way. Which way it is
// organized is decided from the tuples themselves: are the keys dense integers, are they unique?
type builder struct {
	buildOptions
	buffers []*tuples.Buffer // in which the tuples are, until they move
	all     tuples.Rows
	table   *layout.Table
	ranges  map[int][2]int64 // of keys, as far as they were looked at
	sets    map[int]*keySet
}

// buildTable makes a table of the tuples in buffers, some of which may be nil.
func buildTable(o buildOptions, buffers []*tuples.Buffer) (*builder, error) {
	b := newBuilder(o, buffers)
	return b, b.organize()
}

func newBuilder(o buildOptions, buffers []*tuples.Buffer) *builder {
	b := &builder{buildOptions: o, buffers: buffers, all: tuples.Rows{Tuple: o.tuple}, ranges: map[int][2]int64{}, sets: map[int]*keySet{}}
	for _, buf := range buffers {
		if buf != nil {
			b.all.Pieces = append(b.all.Pieces, buf.Pieces...)
		}
	}
	b.table = &layout.Table{Tuple: o.tuple, Rows: b.all.Len(), SawNull: o.sawNull}
	return b
}

// organize makes the table.
func (b *builder) organize() error {
	if b.keys == 0 {
		b.table.Kind = layout.List
		return b.contiguous()
	}
	f := &b.tuple.Fields[0]
	if b.keys == 1 && f.Desc.Form == layout.I64 && f.Null < 0 && !b.noDirect {
		if done, err := b.dense(); done || err != nil {
			return err
		}
	}
	if done, err := b.open(); done || err != nil {
		return err
	}
	return b.buckets()
}

// release gives the memory of the tuples, the table and the sets back.
func (b *builder) release() {
	for _, buf := range b.buffers {
		if buf != nil {
			buf.Release()
		}
	}
	b.mem.Free(b.table.Tuples) // where it is a block of its own
	b.mem.Free(b.table.Slots)
	for _, s := range b.sets {
		b.mem.Free(s.addr)
	}
}

// alone reports that one thread does the work: it is not worth to be shared.
func (b *builder) alone() bool { return b.team.Threads == 1 || b.table.Rows < 1<<15 }

// contiguous moves all tuples into one array.
func (b *builder) contiguous() error {
	if len(b.all.Pieces) == 1 {
		b.table.Tuples = b.all.Pieces[0].Addr
		return nil
	}
	n, size := int(b.all.Len()), b.tuple.Size
	a, err := b.mem.Take(n*size + 64)
	if err != nil {
		return err
	}
	at := make([]uintptr, len(b.all.Pieces))
	to := a
	for i, p := range b.all.Pieces {
		at[i] = to
		to += uintptr(p.N * size)
	}
	err = b.team.Parallel(len(at), func(i int) error {
		p := b.all.Pieces[i]
		copy(mem.Bytes(at[i], p.N*size), mem.Bytes(p.Addr, p.N*size))
		return nil
	})
	b.replace(a, n)
	return err
}

// replace makes the array at a the home of all tuples; where they were is given back.
func (b *builder) replace(a uintptr, n int) {
	b.table.Tuples = a
	b.all.Pieces = nil
	if n > 0 {
		b.all.Pieces = []tuples.Piece{{Addr: a, N: n}}
	}
	for _, buf := range b.buffers {
		if buf != nil {
			buf.Release()
		}
	}
	b.buffers = nil
}
