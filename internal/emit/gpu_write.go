package emit

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// tupleTogether is the GPU's end of sinks that materialize: the values (first those given,
// then columns) are kept past the guard, where the warp finds places for its tuples.
func (e *emitter) tupleTogether(t *layout.Tuple, hash ir.Reg, vals []value, cols []plan.ColID) {
	var kept []value
	for _, v := range vals {
		kept = append(kept, e.keep(t.Fields[len(kept)].Name, v))
	}
	for _, id := range cols {
		kept = append(kept, e.keep(t.Fields[len(kept)].Name, e.column(id)))
	}
	h := ir.NoReg
	if hash != ir.NoReg {
		h = e.perRow("hash", ir.I64, 0)
		e.b.Mov(h, hash.V())
	}
	e.arrive(func() {
		e.writeTogether(t.Size, func(out ir.Reg) {
			if h != ir.NoReg {
				e.b.Store(ir.At(out, 0), h.V(), 8)
			}
			for i, v := range kept {
				e.storeField(out, &t.Fields[i], v)
			}
			if t.Flag >= 0 {
				e.b.Store(ir.At(out, t.Flag), ir.K(0), 1)
			}
		})
	})
}

// loadBytes reads 8 bytes from any address. A GPU reads at multiples of 8 only: there it takes
// the word with the first byte and the word with the last, which are the same when the address
// is such a multiple, so that nothing is touched that the CPU would not touch.
func (e *emitter) loadBytes(d ir.Reg, m ir.Mem) {
	if e.Target != ir.GPU {
		e.b.Load8(d, m)
		return
	}
	at, sh, hi := e.int("at"), e.int("shift"), e.int("next")
	e.b.Lea(at, m)
	e.b.Op2(ir.And, sh, at.V(), ir.K(7))
	e.b.Op2(ir.Shl, sh, sh.V(), ir.K(3))
	e.b.Op2(ir.Add, hi, at.V(), ir.K(7))
	e.b.Op2(ir.And, hi, hi.V(), ir.K(^7))
	e.b.Op2(ir.And, at, at.V(), ir.K(^7))
	e.b.Load8(d, ir.At(at, 0))
	e.b.Load8(hi, ir.At(hi, 0))
	e.b.Op2(ir.Shr, d, d.V(), sh.V())
	// By 64 - shift, in two steps: shifting by 64 would shift by 0.
	e.b.Op2(ir.Xor, sh, sh.V(), ir.K(63))
	e.b.Op2(ir.Shl, hi, hi.V(), ir.K(1))
	e.b.Op2(ir.Shl, hi, hi.V(), sh.V())
	e.b.Op2(ir.Or, d, d.V(), hi.V())
	e.b.Clear(at, sh, hi)
}

// div128 divides the pair in lo and hi by a positive 64-bit number, truncating. The GPU has no
// such division: one bit of the quotient after the other, unless 64 bits are enough.
func (e *emitter) div128(lo, hi ir.Reg, c ir.Val) {
	if e.Target != ir.GPU {
		e.b.Op128(ir.Div128, lo, hi, lo.V(), hi.V(), c, ir.Val{}, 0)
		return
	}
	s, t := e.int("sign"), e.int("t")
	e.b.Op2(ir.Sar, s, hi.V(), ir.K(63))
	e.negateIf(lo, hi, s)
	e.b.Op2(ir.Shr, t, lo.V(), ir.K(63))
	e.b.Op2(ir.Or, t, t.V(), hi.V())
	e.when(ir.EQ, t.V(), ir.K(0), func() {
		e.b.Op2(ir.Div, lo, lo.V(), c)
	}, func() {
		rem, i, fits := e.int("rem"), e.int("i"), e.int("fits")
		e.b.Mov(rem, ir.K(0))
		e.b.Mov(i, ir.K(128))
		l := e.b.Loop()
		e.b.Op2(ir.Shl, rem, rem.V(), ir.K(1))
		e.b.Op2(ir.Shr, fits, hi.V(), ir.K(63))
		e.b.Op2(ir.Or, rem, rem.V(), fits.V())
		e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), lo.V(), hi.V(), 0)
		e.b.Set(fits, ir.UGE, rem.V(), c)
		e.b.Op2(ir.Or, lo, lo.V(), fits.V())
		e.b.Op1(ir.Neg, fits, fits.V())
		e.b.Op2(ir.And, fits, fits.V(), c)
		e.b.Op2(ir.Sub, rem, rem.V(), fits.V())
		e.b.Op2(ir.Sub, i, i.V(), ir.K(1))
		e.b.EndLoop(l, ir.NE, i.V(), ir.K(0))
		e.b.Clear(rem, i, fits)
	})
	e.negateIf(lo, hi, s)
	e.b.Clear(s, t)
}
