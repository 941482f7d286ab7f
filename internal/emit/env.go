package emit

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
	bound  int // how many columns have been given a meaning
}

// binding is a column of the current row.
type binding struct {
	id   plan.ColID
	v    value
	have bool         // v is in registers
	load func() value // makes v; nil: v was given
	expr plan.Expr    // what load computes from other columns; nil: nothing
}

func (e *coder) binding(id plan.ColID) *binding {
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
func (e *coder) bind(id plan.ColID, v value) {
	b := e.binding(id)
	*b = binding{id: id, v: v, have: true}
	e.bound++
	e.note(b)
}

// bindLazy says how to make a column when it is needed.
func (e *coder) bindLazy(id plan.ColID, load func() value) {
	e.bound++
	*e.binding(id) = binding{id: id, load: load}
}

// bindAs is bindLazy for a column that an expression over others defines.
func (e *coder) bindAs(id plan.ColID, x plan.Expr, load func() value) {
	e.bound++
	*e.binding(id) = binding{id: id, expr: x, load: load}
}

// rebind gives a column a value that somebody else clears.
func (e *coder) rebind(id plan.ColID, v value) {
	e.bound++
	*e.binding(id) = binding{id: id, v: v, have: true}
}

// visible reports a column that the row has.
func (e *coder) visible(id plan.ColID) bool { return int(id) < len(e.cols) && e.cols[id] != nil }

// definition is the expression over other columns that makes a column; nil: there is none.
func (e *coder) definition(id plan.ColID) plan.Expr {
	if !e.visible(id) {
		return nil
	}
	return e.cols[id].expr
}

// pending is the expression that a column will be computed by when it is asked for; nil: there is none, or it was.
func (e *coder) pending(id plan.ColID) plan.Expr {
	if !e.visible(id) || e.cols[id].have {
		return nil
	}
	return e.cols[id].expr
}

// ref is a column as an expression.
func (e *coder) ref(id plan.ColID) *plan.Ref { return &plan.Ref{ID: id, T: e.Cols.Get(id).Type} }

func (e *coder) note(b *binding) {
	if len(e.blocks) == 0 {
		e.blocks = append(e.blocks, nil)
	}
	top := len(e.blocks) - 1
	e.blocks[top] = append(e.blocks[top], b)
}

// column is the value of a column, borrowed from its binding.
func (e *coder) column(id plan.ColID) value {
	if !e.visible(id) {
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
func (e *coder) block(f func()) {
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
func (e *coder) when(c ir.Cond, x, y ir.Val, then, otherwise func()) {
	e.b.If(c, x, y)
	e.block(then)
	if otherwise != nil {
		e.b.Else()
		e.block(otherwise)
	}
	e.b.EndIf()
}

// loop emits a loop for ever; body leaves it with Break.
func (e *coder) loop(body func(l int32)) {
	l := e.b.Loop()
	e.block(func() { body(l) })
	e.b.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
}

// keepOnly ends registers of the innermost block's columns that are not needed.
func (e *coder) keepOnly(need *plan.ColSet) {
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
			e.free(b.v)
			b.have = false
		}
	}
	e.blocks[top] = kept
}

// aliased reports that a needed column borrowed b's registers.
func (e *coder) aliased(b *binding, need *plan.ColSet) bool {
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
