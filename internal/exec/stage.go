package exec

import (
	"math"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/eval"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// A pipeline with expressions that only Go can compute runs in stages. The code of a stage writes
// tuples into its worker's buffer; when that is full, or the morsel ends, Go computes the missing
// fields and the next stage runs over the buffer, on the same worker. So morsels, their order and the
// sinks are what they are in any other pipeline.

// stageTuples is how many tuples are buffered between two stages.
const stageTuples = 1024

// staged makes the jobs of a pipeline's stages and joins them; the first is the one to run.
func (r *run) staged(p *pipe.Pipeline, st *PipelineStats) (*job, error) {
	var first, last *job
	for _, part := range p.Stages {
		j, err := r.newJob(part, st)
		if err != nil {
			return nil, err
		}
		if last == nil {
			first = j
		} else {
			last.sink.(*stageSink).next = j
			j.feed = first.feed
		}
		last = j
	}
	first.limit = last.limit
	st.Variants = len(first.variants)
	return first, nil
}

// fromStage compiles the code that reads a stage's tuples.
func (j *job) fromStage(s *pipe.Stage, req emit.Request) error {
	before := j.r.sinks[s].(*stageSink)
	req.Tuple, req.Rows = before.tuple, before.maxRows
	_, err := j.addVariant(req)
	return err
}

// stageSink is the seam between two stages.
type stageSink struct {
	r       *run
	s       *pipe.Stage
	tuple   *layout.Tuple
	maxRows int64
	next    *job
	workers []*seam
}

// seam is one worker's part: its buffer, and the worker of the next stage.
type seam struct {
	s     *stageSink
	start uintptr
	room  int // tuples that the buffer holds
	next  *worker
	ins   []stageInput
	outs  []stageOutput
	row   []types.Value // the inputs' values for one tuple
	slots []int         // place in row by ColID
	cols  eval.Columns
	texts mem.Arena
}

// stageInput is a field that some expression reads.
type stageInput struct {
	f    *layout.Field
	text func(code int) []byte // dictionary fields
}

// stageOutput is a field that Go fills.
type stageOutput struct {
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

func (s *stageSink) attach(w *worker) error {
	sm := s.workers[w.id]
	if sm == nil {
		var err error
		if sm, err = s.newSeam(w); err != nil {
			return err
		}
		s.workers[w.id] = sm
	}
	sm.empty(w)
	return nil
}

func (s *stageSink) newSeam(w *worker) (*seam, error) {
	r := s.r
	sm := &seam{s: s, texts: mem.Arena{Mem: r.mem}, slots: make([]int, r.prog.Query.Cols.Len())}
	var err error
	sm.room = stageTuples
	if sm.start, err = r.mem.Alloc(sm.room * s.tuple.Size); err != nil {
		return nil, err
	}
	var read plan.ColSet
	for i, x := range s.s.Compute.Exprs {
		plan.AddRefs(&read, x)
		o := stageOutput{x: x, f: s.tuple.Find(int32(s.s.Compute.Cols[i]))}
		if refs := plan.Refs(x); refs.Len() == 1 {
			f := s.tuple.Find(int32(refs.Slice()[0]))
			if n := f.Desc.Range.Span(maxMemo); f.Desc.Form == layout.Code && n > 0 {
				o.code, o.memo = f, make([]cell, n)
			}
		}
		sm.outs = append(sm.outs, o)
	}
	for id := range read.All {
		in := stageInput{f: s.tuple.Find(int32(id))}
		if in.f.Desc.Form == layout.Code {
			view := r.view(in.f.Desc.Dict)
			in.text = view.Bytes
		}
		sm.slots[id] = len(sm.ins)
		sm.ins = append(sm.ins, in)
	}
	sm.row = make([]types.Value, len(sm.ins))
	sm.cols = func(id plan.ColID) (types.Value, bool) { return sm.row[sm.slots[id]], true }

	sm.next = &worker{r: r, j: s.next, id: w.id}
	if err := sm.next.enterVariant(s.next, s.next.variants[0]); err != nil {
		return nil, err
	}
	mem.Store64(sm.next.ctx+layout.CtxSource, uint64(sm.start))
	return sm, s.next.sink.attach(sm.next)
}

// empty lets the code write from the buffer's start again.
func (sm *seam) empty(w *worker) {
	mem.Store64(w.ctx+layout.CtxCur, uint64(sm.start))
	mem.Store64(w.ctx+layout.CtxEnd, uint64(sm.start)+uint64(sm.room*sm.s.tuple.Size))
}

// grow is asked for when the buffer is full.
func (s *stageSink) grow(w *worker) error { return s.workers[w.id].flush(w) }

// morsel passes on what is buffered, through all stages.
func (s *stageSink) morsel(w *worker) error {
	sm := s.workers[w.id]
	if err := sm.flush(w); err != nil {
		return err
	}
	sm.next.seq = w.seq
	return s.next.sink.morsel(sm.next)
}

func (s *stageSink) detach(w *worker) {
	next := s.workers[w.id].next
	s.next.sink.detach(next)
	next.counters()
	next.close()
}

func (s *stageSink) finish() error { return nil }
func (s *stageSink) note() string  { return "" }

// flush computes the fields of all buffered tuples and runs the next stage over them.
func (sm *seam) flush(w *worker) error {
	size := uintptr(sm.s.tuple.Size)
	n := int((uintptr(mem.Load64(w.ctx+layout.CtxCur)) - sm.start) / size)
	if n == 0 {
		return nil
	}
	for a := sm.start; a < sm.start+uintptr(n)*size; a += size {
		if err := sm.compute(a); err != nil {
			return err
		}
	}
	sm.next.seq = w.seq
	if err := sm.next.run(0, n); err != nil {
		return err
	}
	sm.empty(w)
	return nil
}

// compute fills the fields of the tuple at a.
func (sm *seam) compute(a uintptr) error {
	loaded := false
	for i := range sm.outs {
		o := &sm.outs[i]
		var memo *cell
		if o.memo != nil && (o.code.Null < 0 || mem.Load8(a+uintptr(o.code.Null)) == 0) {
			if memo = &o.memo[mem.Load64(a+uintptr(o.code.Off))]; memo.have {
				memo.store(a, o.f)
				continue
			}
		}
		if !loaded {
			for k := range sm.ins {
				sm.row[k] = sm.ins[k].load(a)
			}
			loaded = true
		}
		v, err := eval.Expr(o.x, sm.cols)
		if err != nil {
			return err
		}
		c, err := sm.cell(v, o.f.Desc.Form)
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
func (in *stageInput) load(a uintptr) types.Value {
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
func (sm *seam) cell(v types.Value, form layout.Form) (cell, error) {
	c := cell{have: true}
	if v.Null {
		c.null = 1
		if form == layout.Str {
			c.a = uint64(sm.s.r.zero)
		}
		return c, nil
	}
	switch form {
	case layout.F64:
		c.a = math.Float64bits(v.F)
	case layout.Str:
		p, err := sm.text(v.S)
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
func (sm *seam) text(s string) (uintptr, error) {
	if len(s) == 0 {
		return sm.s.r.zero, nil
	}
	p := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	for k := range sm.row {
		in := sm.row[k].S
		if q := uintptr(unsafe.Pointer(unsafe.StringData(in))); p >= q && p+uintptr(len(s)) <= q+uintptr(len(in)) {
			return p, nil
		}
	}
	return sm.texts.Put(s)
}

func (c *cell) store(a uintptr, f *layout.Field) {
	at := a + uintptr(f.Off)
	mem.Store64(at, c.a)
	if f.Desc.Form.Words() == 2 {
		mem.Store64(at+8, c.b)
	}
	mem.Store8(a+uintptr(f.Null), c.null)
}
