// Package compute fills the fields of tuples that only Go can compute: at a cut of a pipeline, its code has left room for
// them behind the columns that the expressions read.
//
// Tuples are on the host, with texts at addresses of the host. What is computed lives as long as the query's memory.
package compute

import (
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Options say where things are.
type Options struct {
	Mem  *mem.Memory
	View func(*column.Dict) column.DictView
	Zero uintptr // where texts without bytes are; there is something to be read
	// Copy: texts that are part of one that was read are copied, too, so that all are among Texts.
	Copy bool
}

// Filler computes the fields of one tuple after the other, on one thread.
type Filler struct {
	o     Options
	ins   []Reader
	outs  []output
	row   []types.Value // the inputs' values for one tuple
	cols  eval.Columns
	turns eval.Turns
	room  func(int64) error
	taken int64 // counted for texts on their way
	texts mem.Arena
}

// output is a field that Go fills.
type output struct {
	x    plan.Expr
	f    *layout.Field
	code *layout.Field // the only column that x reads, if it is a dictionary's code …
	memo []cell        // … and what x is for each code, once it is known
}

// maxMemo bounds the entries of a dictionary for which results are remembered.
const maxMemo = 1 << 16

// New is for tuples with the columns that c reads and makes.
func New(t *layout.Tuple, c *pipe.Compute, o Options) *Filler {
	s := &Filler{o: o, texts: mem.Arena{Mem: o.Mem}}
	var read plan.ColSet
	for i, x := range c.Exprs {
		plan.AddRefs(&read, x)
		o := output{x: x, f: t.Find(int32(c.Cols[i]))}
		if refs := plan.Refs(x); refs.Len() == 1 && !plan.Volatile(x) {
			f := t.Find(int32(refs.Slice()[0]))
			if n := f.Desc.Range.Span(maxMemo); f.Desc.Form == layout.Code && n > 0 {
				o.code, o.memo = f, make([]cell, n)
			}
		}
		s.outs = append(s.outs, o)
	}
	var slots []int // place in row by ColID
	for id := range read.All {
		slots = append(slots, make([]int, max(int(id)+1-len(slots), 0))...)
		slots[id] = len(s.ins)
		s.ins = append(s.ins, NewReader(t.Find(int32(id)), o.View))
	}
	s.row = make([]types.Value, len(s.ins))
	s.cols = func(id plan.ColID) (types.Value, bool) { return s.row[slots[id]], true }
	s.room = s.take
	return s
}

// smallText is what a text may take without being counted before it is made.
const smallText = 1 << 16

// take counts the memory of a text that is about to be made, until it is where it will stay.
func (s *Filler) take(bytes int64) error {
	if bytes <= smallText {
		return nil
	}
	if err := s.o.Mem.Account().Take(bytes); err != nil {
		return err
	}
	s.taken += bytes
	return nil
}

// give is called when the texts of a tuple are where they stay.
func (s *Filler) give() {
	if s.taken > 0 {
		s.o.Mem.Account().Give(s.taken)
		s.taken = 0
	}
}

// Texts are the pieces of memory that computed texts are in.
func (s *Filler) Texts() []mem.Piece { return s.texts.Pieces() }

// Forget gives the memory of texts back that were computed, if it is much. Nobody may need them any more.
func (s *Filler) Forget() {
	if len(s.texts.Pieces()) < 2 {
		return
	}
	s.texts.Rewind()
	for i := range s.outs {
		clear(s.outs[i].memo)
	}
}

// Tuple fills the fields of the tuple at a.
func (s *Filler) Tuple(a uintptr) error {
	defer s.give()
	loaded := false
	for i := range s.outs {
		o := &s.outs[i]
		var memo *cell
		if o.memo != nil && (o.code.Null < 0 || mem.Load8(a+uintptr(o.code.Null)) == 0) {
			if memo = &o.memo[mem.Load64(a+uintptr(o.code.Off))]; memo.have {
				memo.store(a, o.f)
				continue
			}
		}
		if !loaded {
			for k := range s.ins {
				s.row[k] = s.ins[k].Value(a)
			}
			loaded = true
		}
		v, err := s.turns.Row(o.x, s.cols, s.room)
		if err != nil {
			return err
		}
		c := cellOf(v, o.f.Desc.Form, s.o.Zero)
		if o.f.Desc.Form == layout.Str && !v.Null {
			p, err := s.text(v.S)
			if err != nil {
				return err
			}
			c.a = uint64(p)
		}
		c.store(a, o.f)
		if memo != nil {
			*memo = c
		}
	}
	return nil
}

// text is the address of a text that lives as long as the query: part of an input already
// does, others are copied.
func (s *Filler) text(t string) (uintptr, error) {
	if len(t) == 0 {
		return s.o.Zero, nil
	}
	p := uintptr(unsafe.Pointer(unsafe.StringData(t)))
	for k := range s.row {
		in := s.row[k].S
		if q := uintptr(unsafe.Pointer(unsafe.StringData(in))); !s.o.Copy && p >= q && p+uintptr(len(t)) <= q+uintptr(len(in)) {
			return p, nil
		}
	}
	return s.texts.Put(t)
}
