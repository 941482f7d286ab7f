package emit

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// value is a SQL value while code for it is being written: what is known of it and the
// registers or immediates that hold it.
//
//	I64, Code:  a
//	I128:       a low, b high
//	F64:        a (always a register)
//	Str:        a address, b length
//	Ivl:        a months<<32|days, b microseconds
//
// A text with bytes can be read even where it is NULL: b of them from a on, and column.TextPad more. Of one
// without bytes nothing is read, and a may be anything: the row of an outer join without match has 0 there. Only a
// value that is always NULL may have an immediate for its address. SET check = on holds texts to that (checkText).
//
// null is the immediate 0 (never NULL), 1 (always), or a register of 0 or 1. A boolean
// that is NULL has a = 0, so that a alone says "is true".
//
// Registers marked own are the holder's to clear; the others belong to a column binding.
type value struct {
	d       layout.Desc
	a, b    ir.Val
	null    ir.Val
	ownA    bool
	ownB    bool
	ownNull bool
}

// free clears the registers that values own.
func (e *coder) free(vs ...value) {
	for _, v := range vs {
		if v.ownA {
			e.b.Clear(v.a.R)
		}
		if v.ownB {
			e.b.Clear(v.b.R)
		}
		if v.ownNull {
			e.b.Clear(v.null.R)
		}
	}
}

// freeNull clears a NULL flag that is owned.
func (e *coder) freeNull(n ir.Val, own bool) {
	if own {
		e.b.Clear(n.R)
	}
}

// borrowed is v without ownership: somebody else clears it.
func (v value) borrowed() value {
	v.ownA, v.ownB, v.ownNull = false, false, false
	return v
}

func (e *coder) int(name string) ir.Reg   { return e.b.Vreg(name, ir.I64) }
func (e *coder) float(name string) ir.Reg { return e.b.Vreg(name, ir.F64) }

// two reports forms that need b.
func (v value) two() bool { return v.d.Form.Words() == 2 }

// intVal is an owned integer result in r.
func intVal(t types.Type, r ir.Reg, rng layout.Range) value {
	return value{d: layout.Desc{Type: t, Form: layout.I64, Range: rng}, a: r.V(), ownA: true, null: ir.K(0)}
}

// boolVal is an owned boolean result in r.
func boolVal(r ir.Reg) value { return intVal(types.TBool, r, layout.Between(0, 1)) }

// withNull gives v the NULL flag n, which v owns if own.
func (v value) withNull(n ir.Val, own bool) value {
	v.null, v.ownNull = n, own
	v.d.Nullable = n != ir.K(0)
	return v
}

// nullValue is NULL of a type.
func (e *coder) nullValue(t types.Type) value {
	v := value{d: layout.Desc{Type: t, Nullable: true}, null: ir.K(1)}
	v.d.Form = layout.FormOf(t, layout.Between(0, 0))
	v.a, v.b = ir.K(0), ir.K(0)
	if v.d.Form == layout.I64 {
		v.d.Range = layout.Between(0, 0)
	}
	if v.d.Form == layout.F64 {
		r := e.float("null")
		e.b.FConst(r, 0)
		v.a, v.ownA = r.V(), true
	}
	return v
}

// constant is a literal.
func (e *coder) constant(c types.Value) value {
	if c.Null {
		return e.nullValue(c.Type)
	}
	v := value{d: layout.Desc{Type: c.Type}, null: ir.K(0)}
	switch c.Type.Phys() {
	case types.PhysF64:
		r := e.float("const")
		e.b.FConst(r, int64(math.Float64bits(c.F)))
		v.d.Form, v.a, v.ownA = layout.F64, r.V(), true
	case types.PhysStr:
		v.d.Form = layout.Str
		r := e.loadWord("text", Word{Kind: WordPool})
		if off := e.pool(c.S); off > 0 {
			e.b.Op2(ir.Add, r, r.V(), ir.K(int64(off)))
		}
		v.a, v.ownA, v.b = r.V(), true, ir.K(int64(len(c.S)))
	case types.PhysIvl:
		v.d.Form, v.a, v.b = layout.Ivl, ir.K(c.I), ir.K(c.Hi)
	default:
		x := c.Int128()
		v.d.Range = layout.Range{Known: true, Lo: x, Hi: x}
		v.d.Form = layout.FormOf(c.Type, v.d.Range)
		v.a, v.b = ir.K(int64(x.Lo)), ir.K(x.Hi)
	}
	return v
}

// pool puts a literal's bytes into the pool, padded so that they can be read by words.
func (e *coder) pool(s string) int {
	off := len(e.Pool)
	e.Pool = append(e.Pool, s...)
	e.Pool = append(e.Pool, make([]byte, 8+(8-len(e.Pool)%8)%8)...)
	return off
}

// poolAt opens a register with the address of bytes in the pool of literals.
func (e *coder) poolAt(name, s string) ir.Reg {
	r := e.loadWord(name, Word{Kind: WordPool})
	if off := e.pool(s); off > 0 {
		e.b.Op2(ir.Add, r, r.V(), ir.K(int64(off)))
	}
	return r
}

// isNull reports a value known to be NULL; never one known not to be.
func (v value) isNull() bool { return v.null == ir.K(1) }
func (v value) never() bool  { return v.null == ir.K(0) }

// anyNull is the NULL flag of an operation that is NULL when one of its operands is.
func (e *coder) anyNull(vs ...value) (n ir.Val, own bool) {
	n = ir.K(0)
	for _, v := range vs {
		switch {
		case v.never() || n == v.null:
		case v.isNull():
			if own {
				e.b.Clear(n.R)
			}
			return ir.K(1), false
		case n == ir.K(0):
			n = v.null
		case own:
			e.b.Op2(ir.Or, n.R, n, v.null)
		default:
			r := e.int("null")
			e.b.Op2(ir.Or, r, n, v.null)
			n, own = r.V(), true
		}
	}
	if !own && !n.IsImm() { // the operand that owns it will be freed
		r := e.int("null")
		e.b.Mov(r, n)
		n, own = r.V(), true
	}
	return n, own
}

// wide makes a 128-bit pair of an integer value; v is used up.
func (e *coder) wide(v value) value {
	if v.d.Form == layout.I128 {
		return v
	}
	v.d.Form = layout.I128
	if v.a.IsImm() {
		v.b, v.ownB = ir.K(v.a.Imm>>63), false
		return v
	}
	if v.d.Range.Known && v.d.Range.Lo.Sign() >= 0 {
		v.b, v.ownB = ir.K(0), false
		return v
	}
	hi := e.int("hi")
	e.b.Op2(ir.Sar, hi, v.a, ir.K(63))
	v.b, v.ownB = hi.V(), true
	return v
}

// text makes address and length of a dictionary code; v is used up.
func (e *coder) text(v value) value {
	if v.d.Form != layout.Code {
		return v
	}
	desc := e.loadWord("desc", Word{Kind: WordDesc, Dict: v.d.Dict})
	off := e.int("off")
	e.b.Op2(ir.Shl, off, v.a, ir.K(4))
	e.b.Op2(ir.Add, desc, desc.V(), off.V())
	e.b.Clear(off)
	s := e.descriptor(desc, Word{Kind: WordDHeap, Dict: v.d.Dict})
	e.b.Clear(desc)
	s.d = v.d
	s.d.Form, s.d.Dict, s.d.Range = layout.Str, nil, layout.Range{}
	s.null, s.ownNull = v.null, v.ownNull
	if v.ownA {
		e.b.Clear(v.a.R)
	}
	return s
}

// descriptor reads the string whose descriptor is at desc: its bytes are in the
// descriptor itself, or in the heap.
func (e *coder) descriptor(desc ir.Reg, heap Word) value {
	n := e.int("len")
	e.b.Load(n, ir.At(desc, 0), 4, false)
	p := e.int("ptr")
	e.b.Load8(p, ir.At(desc, 8))
	h := e.loadWord("heap", heap)
	e.b.Op2(ir.Add, p, p.V(), h.V())
	e.b.Lea(h, ir.At(desc, 4))
	e.b.Sel(p, ir.ULE, n.V(), ir.K(12), h.V(), p.V())
	e.b.Clear(h)
	return value{d: layout.Desc{Type: types.TText, Form: layout.Str},
		a: p.V(), b: n.V(), ownA: true, ownB: true, null: ir.K(0)}
}

// reform converts v to another form of the same type; v is used up. The caller knows that it fits.
func (e *coder) reform(v value, f layout.Form) value {
	switch {
	case v.d.Form == f:
	case v.isNull():
		e.free(v)
		v.a, v.b, v.ownA, v.ownB = ir.K(0), ir.K(0), false, false
		v.d.Form = f
	case f == layout.I128:
		v = e.wide(v)
	case f == layout.I64 && v.d.Form == layout.I128:
		if v.ownB {
			e.b.Clear(v.b.R)
		}
		v.d.Form, v.b, v.ownB = layout.I64, ir.Val{}, false
	case f == layout.Str:
		v = e.text(v)
	default:
		panic("no way from " + v.d.Form.String() + " to " + f.String())
	}
	return v
}

// reg makes sure that an integer operand is in a register (for address arithmetic).
func (e *coder) reg(v ir.Val, name string) (r ir.Reg, own bool) {
	if !v.IsImm() {
		return v.R, false
	}
	r = e.int(name)
	e.b.Mov(r, v)
	return r, true
}
