package code

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Value is a SQL value while code for it is being written: what is known of it and the
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
// value that is always NULL may have an immediate for its address. SET check = on holds texts to that.
//
// null is the immediate 0 (never NULL), 1 (always), or a register of 0 or 1. A boolean
// that is NULL has a = 0, so that a alone says "is true".
//
// Registers marked own are the holder's to clear; the others belong to a column binding.
type Value struct {
	Desc    layout.Desc
	A, B    ir.Val
	Null    ir.Val
	OwnA    bool
	OwnB    bool
	OwnNull bool
}

// Free clears the registers that values own.
func (e *Emitter) Free(vs ...Value) {
	for _, v := range vs {
		if v.OwnA {
			e.B.Clear(v.A.R)
		}
		if v.OwnB {
			e.B.Clear(v.B.R)
		}
		if v.OwnNull {
			e.B.Clear(v.Null.R)
		}
	}
}

// FreeNull clears a NULL flag that is owned.
func (e *Emitter) FreeNull(n ir.Val, own bool) {
	if own {
		e.B.Clear(n.R)
	}
}

// Borrowed is v without ownership: somebody else clears it.
func (v Value) Borrowed() Value {
	v.OwnA, v.OwnB, v.OwnNull = false, false, false
	return v
}

func (e *Emitter) Int(name string) ir.Reg   { return e.B.Vreg(name, ir.I64) }
func (e *Emitter) Float(name string) ir.Reg { return e.B.Vreg(name, ir.F64) }

// Two reports forms that need b.
func (v Value) Two() bool { return v.Desc.Form.Words() == 2 }

// IntValue is an owned integer result in r.
func IntValue(t types.Type, r ir.Reg, rng layout.Range) Value {
	return Value{Desc: layout.Desc{Type: t, Form: layout.I64, Range: rng}, A: r.V(), OwnA: true, Null: ir.K(0)}
}

// BoolValue is an owned boolean result in r.
func BoolValue(r ir.Reg) Value { return IntValue(types.TBool, r, layout.Between(0, 1)) }

// WithNull gives v the NULL flag n, which v owns if own.
func (v Value) WithNull(n ir.Val, own bool) Value {
	v.Null, v.OwnNull = n, own
	v.Desc.Nullable = n != ir.K(0)
	return v
}

// NullValue is NULL of a type.
func (e *Emitter) NullValue(t types.Type) Value {
	v := Value{Desc: layout.Desc{Type: t, Nullable: true}, Null: ir.K(1)}
	v.Desc.Form = layout.FormOf(t, layout.Between(0, 0))
	v.A, v.B = ir.K(0), ir.K(0)
	if v.Desc.Form == layout.I64 {
		v.Desc.Range = layout.Between(0, 0)
	}
	if v.Desc.Form == layout.F64 {
		r := e.Float("null")
		e.B.FConst(r, 0)
		v.A, v.OwnA = r.V(), true
	}
	return v
}

// Constant is a literal.
func (e *Emitter) Constant(c types.Value) Value {
	if c.Null {
		return e.NullValue(c.Type)
	}
	v := Value{Desc: layout.Desc{Type: c.Type}, Null: ir.K(0)}
	switch c.Type.Phys() {
	case types.PhysF64:
		r := e.Float("const")
		if k := e.Fact(int64(math.Float64bits(c.F))); k.IsImm() {
			e.B.FConst(r, k.Imm)
		} else {
			e.B.Op1(ir.BitsF, r, k)
		}
		v.Desc.Form, v.A, v.OwnA = layout.F64, r.V(), true
	case types.PhysStr:
		v.Desc.Form = layout.Str
		r := e.PoolAt("text", c.S)
		v.A, v.OwnA, v.B = r.V(), true, e.Fact(int64(len(c.S)))
	case types.PhysIvl:
		v.Desc.Form, v.A, v.B = layout.Ivl, ir.K(c.I), ir.K(c.Hi)
	default:
		x := c.Int128()
		v.Desc.Range = layout.Range{Known: true, Lo: x, Hi: x}
		v.Desc.Form = layout.FormOf(c.Type, v.Desc.Range)
		v.A, v.B = ir.K(int64(x.Lo)), ir.K(x.Hi)
	}
	return v
}

// PoolOffset puts a literal's bytes into the pool, padded so that they can be read by words.
func (e *Emitter) PoolOffset(s string) int {
	off := len(e.Pool)
	e.Pool = append(e.Pool, s...)
	e.Pool = append(e.Pool, make([]byte, 8+(8-len(e.Pool)%8)%8)...)
	return off
}

// PoolAt opens a register with the address of bytes in the pool of literals.
func (e *Emitter) PoolAt(name, s string) ir.Reg {
	if e.Can.Parameters {
		return e.LoadWord(name, Word{Kind: WordPool, Index: e.PoolOffset(s)})
	}
	r := e.LoadWord(name, Word{Kind: WordPool})
	if off := e.PoolOffset(s); off > 0 {
		e.B.Op2(ir.Add, r, r.V(), ir.K(int64(off)))
	}
	return r
}

// IsNull reports a value known to be NULL; never one known not to be.
func (v Value) IsNull() bool { return v.Null == ir.K(1) }
func (v Value) Never() bool  { return v.Null == ir.K(0) }

// AnyNull is the NULL flag of an operation that is NULL when one of its operands is.
func (e *Emitter) AnyNull(vs ...Value) (n ir.Val, own bool) {
	n = ir.K(0)
	for _, v := range vs {
		switch {
		case v.Never() || n == v.Null:
		case v.IsNull():
			if own {
				e.B.Clear(n.R)
			}
			return ir.K(1), false
		case n == ir.K(0):
			n = v.Null
		case own:
			e.B.Op2(ir.Or, n.R, n, v.Null)
		default:
			r := e.Int("null")
			e.B.Op2(ir.Or, r, n, v.Null)
			n, own = r.V(), true
		}
	}
	if !own && !n.IsImm() { // the operand that owns it will be freed
		r := e.Int("null")
		e.B.Mov(r, n)
		n, own = r.V(), true
	}
	return n, own
}

// Wide makes a 128-bit pair of an integer value; v is used up.
func (e *Emitter) Wide(v Value) Value {
	if v.Desc.Form == layout.I128 {
		return v
	}
	v.Desc.Form = layout.I128
	if v.A.IsImm() {
		v.B, v.OwnB = ir.K(v.A.Imm>>63), false
		return v
	}
	if v.Desc.Range.Known && v.Desc.Range.Lo.Sign() >= 0 {
		v.B, v.OwnB = ir.K(0), false
		return v
	}
	hi := e.Int("hi")
	e.B.Op2(ir.Sar, hi, v.A, ir.K(63))
	v.B, v.OwnB = hi.V(), true
	return v
}

// Text makes address and length of a dictionary code; v is used up.
func (e *Emitter) Text(v Value) Value {
	if v.Desc.Form != layout.Code {
		return v
	}
	desc := e.LoadWord("desc", Word{Kind: WordDesc, Dict: v.Desc.Dict})
	off := e.Int("off")
	e.B.Op2(ir.Shl, off, v.A, ir.K(4))
	e.B.Op2(ir.Add, desc, desc.V(), off.V())
	e.B.Clear(off)
	s := e.Descriptor(desc, Word{Kind: WordDHeap, Dict: v.Desc.Dict})
	e.B.Clear(desc)
	s.Desc = v.Desc
	s.Desc.Form, s.Desc.Dict, s.Desc.Range = layout.Str, nil, layout.Range{}
	s.Null, s.OwnNull = v.Null, v.OwnNull
	if v.OwnA {
		e.B.Clear(v.A.R)
	}
	return s
}

// Descriptor reads the string whose descriptor is at desc: its bytes are in the
// descriptor itself, or in the heap.
func (e *Emitter) Descriptor(desc ir.Reg, heap Word) Value {
	n := e.Int("len")
	e.B.Load(n, ir.At(desc, 0), 4, false)
	p := e.Int("ptr")
	e.B.Load8(p, ir.At(desc, 8))
	h := e.LoadWord("heap", heap)
	e.B.Op2(ir.Add, p, p.V(), h.V())
	e.B.Lea(h, ir.At(desc, 4))
	e.B.Sel(p, ir.ULE, n.V(), ir.K(12), h.V(), p.V())
	e.B.Clear(h)
	return Value{Desc: layout.Desc{Type: types.TText, Form: layout.Str},
		A: p.V(), B: n.V(), OwnA: true, OwnB: true, Null: ir.K(0)}
}

// Reform converts v to another form of the same type; v is used up. The caller knows that it fits.
func (e *Emitter) Reform(v Value, f layout.Form) Value {
	switch {
	case v.Desc.Form == f:
	case v.IsNull():
		e.Free(v)
		v.A, v.B, v.OwnA, v.OwnB = ir.K(0), ir.K(0), false, false
		v.Desc.Form = f
	case f == layout.I128:
		v = e.Wide(v)
	case f == layout.I64 && v.Desc.Form == layout.I128:
		if v.OwnB {
			e.B.Clear(v.B.R)
		}
		v.Desc.Form, v.B, v.OwnB = layout.I64, ir.Val{}, false
	case f == layout.Str:
		v = e.Text(v)
	default:
		panic("no way from " + v.Desc.Form.String() + " to " + f.String())
	}
	return v
}

// Reg makes sure that an integer operand is in a register (for address arithmetic).
func (e *Emitter) Reg(v ir.Val, name string) (r ir.Reg, own bool) {
	if !v.IsImm() {
		return v.R, false
	}
	r = e.Int(name)
	e.B.Mov(r, v)
	return r, true
}
