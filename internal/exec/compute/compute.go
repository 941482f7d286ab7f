// Package compute fills the fields of tuples that only Go can compute: at a cut of a pipeline, its code has left room for
// them behind the columns that the expressions read.
//
// Tuples are on the host, with texts at addresses of the host. What is computed lives as long as the query's memory.
package compute

import (
	"math"
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
	ins   []input
	outs  []output
	row   []types.Value // the inputs' values for one tuple
	cols  eval.Columns
	room  func(int64) error
	taken int64 // counted for texts on their way
	texts mem.Arena
}

// input is a field that some expression reads.
type input struct {
	f    *layout.Field
	text func(code int) []byte // dictionary fields
}

// output is a field that Go fills.
type output struct {
	x    plan.Expr
	f    *layout.Field
	code *layout.Field // the only column that x reads, if it is a dictionary's code …
	memo []cell        // … and what x is for each code, once it is known
}

// cell is a field's content.
type cell struct {
	a, b uint64
	null byte
	have bool
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
		in := input{f: t.Find(int32(id))}
		if in.f.Desc.Form == layout.Code {
			view := o.View(in.f.Desc.Dict)
			in.text = view.Bytes
		}
		slots[id] = len(s.ins)
		s.ins = append(s.ins, in)
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
				s.row[k] = s.ins[k].load(a)
			}
			loaded = true
		}
		v, err := eval.Row(o.x, s.cols, s.room)
		if err != nil {
			return err
		}
		c, err := s.cell(v, o.f.Desc.Form)
		if err != nil {
			return err
		}
		c.store(a, o.f)
		if memo != nil {
			*memo = c
		}
	}
	return nil
}

// load is the field's value in the tuple at a. Texts are not copied.
func (in *input) load(a uintptr) types.Value {
	f := in.f
	v := types.Value{Type: f.Desc.Type}
	if f.Null >= 0 && mem.Load8(a+uintptr(f.Null)) != 0 {
		v.Null = true
		return v
	}
	at := a + uintptr(f.Off)
	w := mem.Load64(at)
	switch f.Desc.Form {
	case layout.F64:
		v.F = math.Float64frombits(w)
	case layout.Str:
		v.S = mem.Text(uintptr(w), int(mem.Load64(at+8)))
	case layout.Code:
		if b := in.text(int(w)); len(b) > 0 {
			v.S = unsafe.String(&b[0], len(b))
		}
	case layout.I128, layout.Ivl:
		v.I, v.Hi = int64(w), int64(mem.Load64(at+8))
	default:
		v.I = int64(w)
		if v.Type.Kind == types.Decimal {
			v.Hi = v.I >> 63
		}
	}
	return v
}

// cell is a value as a field of the given form holds it. NULL has zeros.
func (s *Filler) cell(v types.Value, form layout.Form) (cell, error) {
	c := cell{have: true}
	if v.Null {
		c.null = 1
		if form == layout.Str {
			c.a = uint64(s.o.Zero)
		}
		return c, nil
	}
	switch form {
	case layout.F64:
		c.a = math.Float64bits(v.F)
	case layout.Str:
		p, err := s.text(v.S)
		c.a, c.b = uint64(p), uint64(len(v.S))
		return c, err
	case layout.Ivl:
		c.a, c.b = uint64(v.I), uint64(v.Hi)
	default:
		x := v.Int128()
		c.a, c.b = x.Lo, uint64(x.Hi)
	}
	return c, nil
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

func (c *cell) store(a uintptr, f *layout.Field) {
	at := a + uintptr(f.Off)
	mem.Store64(at, c.a)
	if f.Desc.Form.Words() == 2 {
		mem.Store64(at+8, c.b)
	}
	mem.Store8(a+uintptr(f.Null), c.null)
}
