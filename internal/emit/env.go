package emit

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// env finds the current row's columns. A column is read or computed when it is first
// asked for, at that place in the control flow, and forgotten where that place's block
// ends: rows that are dropped earlier never pay for it (post-projection).
type env struct {
	cols   []*binding // by ColID
	spare  []binding  // the next ones
	blocks [][]*binding
	descs  map[plan.Expr]layout.Desc // what describe found out, until a column is bound
}

// binding is a column of the current row.
type binding struct {
	id   plan.ColID
	v    value
	have bool         // v is in registers
	load func() value // makes v; nil: v was given
	expr plan.Expr    // what load computes from other columns; nil: nothing
}

func (e *emitter) binding(id plan.ColID) *binding {
	if int(id) >= len(e.cols) {
		e.cols = append(e.cols, make([]*binding, max(e.Cols.Len()+1, int(id)+1)-len(e.cols))...)
	}
	if e.cols[id] == nil {
		if len(e.spare) == 0 {
			e.spare = make([]binding, 8)
		}
		e.cols[id] = &e.spare[0]
		e.spare = e.spare[1:]
	}
	return e.cols[id]
}

// bind gives a column its value; the binding owns it and clears it at the end of the block.
func (e *emitter) bind(id plan.ColID, v value) {
	b := e.binding(id)
	*b = binding{id: id, v: v, have: true}
	clear(e.descs)
	e.note(b)
}

// bindLazy says how to make a column when it is needed.
func (e *emitter) bindLazy(id plan.ColID, load func() value) {
	clear(e.descs)
	*e.binding(id) = binding{id: id, load: load}
}

// bindExpr defines a column by an expression over others.
func (e *emitter) bindExpr(id plan.ColID, x plan.Expr) {
	clear(e.descs)
	*e.binding(id) = binding{id: id, expr: x, load: func() value {
		if _, plain := x.(*plan.Ref); !plain {
			e.detail("compute", func(n plan.Names) string { return n.Define(id, x) })
		}
		return e.called(e.eval(x), e.Cols.Get(id).Name)
	}}
}

func (e *emitter) alias(to, from plan.ColID) { e.bindExpr(to, e.ref(from)) }

// ref is a column as an expression.
func (e *emitter) ref(id plan.ColID) *plan.Ref { return &plan.Ref{ID: id, T: e.Cols.Get(id).Type} }

func (e *emitter) note(b *binding) {
	if len(e.blocks) == 0 {
		e.blocks = append(e.blocks, nil)
	}
	top := len(e.blocks) - 1
	e.blocks[top] = append(e.blocks[top], b)
}

// column is the value of a column, borrowed from its binding.
func (e *emitter) column(id plan.ColID) value {
	if int(id) >= len(e.cols) || e.cols[id] == nil {
		panic(fmt.Sprintf("column %q (#%d) is not visible", e.Cols.Get(id).Name, id))
	}
	b := e.cols[id]
	if !b.have {
		if b.load == nil {
			panic(fmt.Sprintf("column %q (#%d) is gone", e.Cols.Get(id).Name, id))
		}
		b.v = b.load()
		b.have = true
		e.note(b)
	}
	return b.v.borrowed()
}

// block runs f inside a block of control flow: what it loads is cleared at its end.
func (e *emitter) block(f func()) {
	if len(e.blocks) == 0 {
		e.blocks = append(e.blocks, nil)
	}
	top := len(e.blocks)
	if top < cap(e.blocks) { // the list of an earlier block serves again
		e.blocks = e.blocks[:top+1]
		e.blocks[top] = e.blocks[top][:0]
	} else {
		e.blocks = append(e.blocks, nil)
	}
	f()
	for _, b := range e.blocks[top] {
		if b.have {
			e.free(b.v)
			b.have = false
		}
	}
	e.blocks = e.blocks[:top]
}

// when emits then (and otherwise, if given) under a condition.
func (e *emitter) when(c ir.Cond, x, y ir.Val, then, otherwise func()) {
	e.b.If(c, x, y)
	e.block(then)
	if otherwise != nil {
		e.b.Else()
		e.block(otherwise)
	}
	e.b.EndIf()
}

// loop emits a loop for ever; body leaves it with Break.
func (e *emitter) loop(body func(l int32)) {
	l := e.b.Loop()
	e.block(func() { body(l) })
	e.b.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
}

// liveness computes for each operator which columns it and all after it read; the last
// entry is the sink's.
func (e *emitter) liveness() []plan.ColSet {
	ops := e.Pipeline.Ops
	live := make([]plan.ColSet, len(ops)+1)
	s := &live[len(ops)]
	switch k := e.Pipeline.Sink.(type) {
	case *pipe.Build:
		for _, x := range k.Keys {
			plan.AddRefs(s, x)
		}
		s.AddAll(k.Payload)
	case *pipe.Aggregate:
		for _, x := range k.Group.Keys {
			plan.AddRefs(s, x)
		}
		for _, a := range k.Group.Aggs {
			plan.AddRefs(s, a.Arg)
			plan.AddRefs(s, a.Filter)
		}
		if e.Merge { // partial groups are read field by field
			*s = plan.MakeColSet()
		}
	case *pipe.Collect:
		s.AddAll(k.Cols)
		s.Minus(e.Late)
	case *pipe.Stage:
		s.AddAll(k.Cols)
	}
	for i := len(ops) - 1; i >= 0; i-- {
		s := &live[i]
		s.Union(live[i+1])
		switch op := ops[i].(type) {
		case *pipe.Filter:
			for _, x := range op.Preds {
				plan.AddRefs(s, x)
			}
		case *pipe.Map:
			for k, x := range op.Exprs {
				if live[i+1].Has(op.Cols[k]) {
					plan.AddRefs(s, x)
				}
			}
		case *pipe.Probe:
			for _, x := range op.Keys {
				plan.AddRefs(s, x)
			}
			for _, x := range op.On {
				plan.AddRefs(s, x)
			}
		case *pipe.Rename:
			s.AddAll(op.From)
		}
	}
	return live
}

// clearDead ends registers of columns that operator i and those after it do not read.
func (e *emitter) clearDead(i int) {
	need := plan.MakeColSet()
	var add func(id plan.ColID)
	add = func(id plan.ColID) {
		if need.Has(id) {
			return
		}
		need.Add(id)
		if int(id) < len(e.cols) && e.cols[id] != nil && !e.cols[id].have && e.cols[id].expr != nil {
			refs := plan.Refs(e.cols[id].expr)
			for r := range refs.All {
				add(r)
			}
		}
	}
	for id := range e.live[i].All {
		add(id)
	}
	if len(e.blocks) == 0 {
		return
	}
	top := len(e.blocks) - 1
	kept := e.blocks[top][:0]
	for _, b := range e.blocks[top] {
		switch {
		case !b.have:
		case need.Has(b.id) || e.aliased(b, &need):
			kept = append(kept, b)
		default:
			e.free(b.v)
			b.have = false
		}
	}
	e.blocks[top] = kept
}

// aliased reports that a needed column borrowed b's registers.
func (e *emitter) aliased(b *binding, need *plan.ColSet) bool {
	for _, o := range e.cols {
		if o == nil || o == b || !o.have || !need.Has(o.id) {
			continue
		}
		for _, r := range [3]ir.Val{b.v.a, b.v.b, b.v.null} {
			if !r.IsImm() && r.R != ir.Ctx && (r == o.v.a || r == o.v.b || r == o.v.null) {
				return true
			}
		}
	}
	return false
}
