package code

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// env finds the current row's columns. A column is read or computed when it is first
// asked for, at that place in the control flow, and forgotten where that place's block
// ends: rows that are dropped earlier never pay for it (post-projection).
type env struct {
	cols   []*binding // by ColID
	spare  []binding  // the next ones
	blocks [][]*binding
	Bound  int // how many columns have been given a meaning
}

// binding is a column of the current row.
type binding struct {
	id   plan.ColID
	v    Value
	have bool         // v is in registers
	load func() Value // makes v; nil: v was given
	expr plan.Expr    // what load computes from other columns; nil: nothing
}

func (e *Emitter) binding(id plan.ColID) *binding {
	if int(id) >= len(e.cols) {
		e.cols = append(e.cols, make([]*binding, e.Cols.Len()-len(e.cols))...)
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

// Bind gives a column its value; the binding owns it and clears it at the end of the block.
func (e *Emitter) Bind(id plan.ColID, v Value) {
	b := e.binding(id)
	*b = binding{id: id, v: v, have: true}
	e.Bound++
	e.note(b)
}

// BindLazy says how to make a column when it is needed.
func (e *Emitter) BindLazy(id plan.ColID, load func() Value) {
	e.Bound++
	*e.binding(id) = binding{id: id, load: load}
}

// BindAs is BindLazy for a column that an expression over others defines.
func (e *Emitter) BindAs(id plan.ColID, x plan.Expr, load func() Value) {
	e.Bound++
	*e.binding(id) = binding{id: id, expr: x, load: load}
}

// Rebind gives a column a value that somebody else clears.
func (e *Emitter) Rebind(id plan.ColID, v Value) {
	e.Bound++
	*e.binding(id) = binding{id: id, v: v, have: true}
}

// Visible reports a column that the row has.
func (e *Emitter) Visible(id plan.ColID) bool { return int(id) < len(e.cols) && e.cols[id] != nil }

// Definition is the expression over other columns that makes a column; nil: there is none.
func (e *Emitter) Definition(id plan.ColID) plan.Expr {
	if !e.Visible(id) {
		return nil
	}
	return e.cols[id].expr
}

// Pending is the expression that a column will be computed by when it is asked for; nil: there is none, or it was.
func (e *Emitter) Pending(id plan.ColID) plan.Expr {
	if !e.Visible(id) || e.cols[id].have {
		return nil
	}
	return e.cols[id].expr
}

// Ref is a column as an expression.
func (e *Emitter) Ref(id plan.ColID) *plan.Ref { return &plan.Ref{ID: id, T: e.Cols.Get(id).Type} }

func (e *Emitter) note(b *binding) {
	if len(e.blocks) == 0 {
		e.blocks = append(e.blocks, nil)
	}
	top := len(e.blocks) - 1
	e.blocks[top] = append(e.blocks[top], b)
}

// Column is the value of a column, borrowed from its binding.
func (e *Emitter) Column(id plan.ColID) Value {
	if !e.Visible(id) {
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
	return b.v.Borrowed()
}

// Block runs f inside a block of control flow: what it loads is cleared at its end.
func (e *Emitter) Block(f func()) {
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
			e.Free(b.v)
			b.have = false
		}
	}
	e.blocks = e.blocks[:top]
}

// When emits then (and otherwise, if given) under a condition.
func (e *Emitter) When(c ir.Cond, x, y ir.Val, then, otherwise func()) {
	e.B.If(c, x, y)
	e.Block(then)
	if otherwise != nil {
		e.B.Else()
		e.Block(otherwise)
	}
	e.B.EndIf()
}

// Loop emits a loop for ever; body leaves it with Break.
func (e *Emitter) Loop(body func(l int32)) {
	l := e.B.Loop()
	e.Block(func() { body(l) })
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
}

// KeepOnly ends registers of the innermost block's columns that are not needed.
func (e *Emitter) KeepOnly(need *plan.ColSet) {
	if len(e.blocks) == 0 {
		return
	}
	top := len(e.blocks) - 1
	kept := e.blocks[top][:0]
	for _, b := range e.blocks[top] {
		switch {
		case !b.have:
		case need.Has(b.id) || e.aliased(b, need):
			kept = append(kept, b)
		default:
			e.Free(b.v)
			b.have = false
		}
	}
	e.blocks[top] = kept
}

// aliased reports that a needed column borrowed b's registers.
func (e *Emitter) aliased(b *binding, need *plan.ColSet) bool {
	for _, o := range e.cols {
		if o == nil || o == b || !o.have || !need.Has(o.id) {
			continue
		}
		for _, r := range [3]ir.Val{b.v.A, b.v.B, b.v.Null} {
			if !r.IsImm() && r.R != ir.Ctx && (r == o.v.A || r == o.v.B || r == o.v.Null) {
				return true
			}
		}
	}
	return false
}
