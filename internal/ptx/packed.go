package ptx

import (
	"fmt"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// element reads an element of a packed array. One of 1, 2 or 4 bits lies in one byte, others may go on in the word behind the one in which they begin.
func (t *translator) element(in *ir.Instr) {
	m, n := in.M, int(in.B.Imm)
	if n < 1 || n > 31 || !in.B.IsImm() {
		t.fail("elements of %d bits are not packed", n)
		return
	}
	if m.Space != ir.Global || m.Base == ir.NoReg || m.Index == ir.NoReg || m.Scale != 1 {
		t.fail("a packed array is an index in global memory")
		return
	}
	typ := t.typ(in.D)
	base, i := t.reg(m.Base, ir.I64), t.elementNumber(m)
	word, shift := t.temp(temp32), t.temp(temp32)
	switch {
	case n == 1 || n == 2 || n == 4:
		per := 8 / n
		at := t.temp(temp64)
		t.op("shr.u64 %s, %s, %d", at, i, bits.Len(uint(per))-1)
		t.op("add.s64 %s, %s, %s", at, base, at)
		t.op("%s.u8 %s, [%s]", t.load(in), word, at)
		t.op("cvt.u32.u64 %s, %s", shift, i)
		t.op("and.b32 %s, %s, %d", shift, shift, per-1)
		if n > 1 {
			t.op("shl.b32 %s, %s, %d", shift, shift, n/2)
		}
		t.op("shr.u32 %s, %s, %s", word, word, shift)
	case n%8 == 0: // it begins with a byte, and the array with a word
		at := t.temp(temp64)
		t.op("mad.lo.s64 %s, %s, %d, %s", at, i, n/8, base)
		t.op("cvt.u32.u64 %s, %s", shift, at)
		t.op("and.b32 %s, %s, 3", shift, shift)
		t.op("shl.b32 %s, %s, 3", shift, shift)
		t.op("and.b64 %s, %s, -4", at, at)
		t.pair(in, word, at, shift)
	default:
		bit, at := t.temp(temp64), t.temp(temp64)
		t.op("mul.lo.s64 %s, %s, %d", bit, i, n)
		t.op("shr.u64 %s, %s, 5", at, bit)
		t.op("mad.lo.s64 %s, %s, 4, %s", at, at, base)
		t.op("cvt.u32.u64 %s, %s", shift, bit)
		t.op("and.b32 %s, %s, 31", shift, shift)
		t.pair(in, word, at, shift)
	}
	mask := 1<<n - 1
	if typ == ir.I32 {
		t.op("and.b32 %s, %s, %d", t.dst(in.D, typ), word, mask)
		return
	}
	t.op("and.b32 %s, %s, %d", word, word, mask)
	t.op("cvt.u64.u32 %s, %s", t.dst(in.D, typ), word)
}

// elementNumber is the number of an element, in 64 bits.
func (t *translator) elementNumber(m ir.Mem) string {
	if t.typ(m.Index) == ir.I64 && m.Disp == 0 {
		return t.reg(m.Index, ir.I64)
	}
	i := t.temp(temp64)
	from := i
	if t.typ(m.Index) == ir.I32 {
		t.op("cvt.u64.u32 %s, %s", i, t.reg(m.Index, ir.I32))
	} else {
		from = t.reg(m.Index, ir.I64)
	}
	if m.Disp != 0 {
		t.op("add.s64 %s, %s, %s", i, from, fmt.Sprint(m.Disp))
	}
	return i
}

// pair sets d to 32 bits of the two words at an address, from a bit of the first on.
func (t *translator) pair(in *ir.Instr, d, at, bit string) {
	high, both := t.temp(temp32), t.temp(temp64)
	t.op("%s.u32 %s, [%s]", t.load(in), d, at)
	t.op("%s.u32 %s, [%s+4]", t.load(in), high, at)
	t.op("mov.b64 %s, {%s, %s}", both, d, high)
	t.op("shr.u64 %s, %s, %s", both, both, bit)
	t.op("cvt.u32.u64 %s, %s", d, both)
}
