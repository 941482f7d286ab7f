package ptx

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// binary and unary are the operations that are one PTX instruction; the width of their registers
// follows the name.
var (
	binary = map[ir.Op]string{
		ir.Add: "add.s", ir.Sub: "sub.s", ir.Mul: "mul.lo.s", ir.Div: "div.s", ir.Rem: "rem.s",
		ir.And: "and.b", ir.Or: "or.b", ir.Xor: "xor.b",
	}
	unary = map[ir.Op]string{ir.Mov: "mov.b", ir.Neg: "neg.s", ir.Not: "not.b", ir.Uniform: "mov.b"}
	shift = map[ir.Op]string{ir.Shl: "shl.b", ir.Shr: "shr.u", ir.Sar: "shr.s"}

	// between are the operations from one width to the other.
	between = map[ir.Op]struct {
		name     string
		to, from ir.Type
	}{
		ir.Narrow: {"cvt.u32.u64", ir.I32, ir.I64}, ir.Widen: {"cvt.s64.s32", ir.I64, ir.I32},
		ir.WidenU: {"cvt.u64.u32", ir.I64, ir.I32},
	}

	// Float arithmetic names its rounding, because without it the driver may
	// contract a multiplication and an addition, and devices would disagree.
	fbinary = map[ir.Op]string{ir.FAdd: "add.rn.f64", ir.FSub: "sub.rn.f64", ir.FMul: "mul.rn.f64", ir.FDiv: "div.rn.f64"}
	funary  = map[ir.Op]string{
		ir.FMov: "mov.f64", ir.FNeg: "neg.f64", ir.FAbs: "abs.f64", ir.FSqrt: "sqrt.rn.f64",
		ir.FFloor: "cvt.rmi.f64.f64", ir.FCeil: "cvt.rpi.f64.f64", ir.FTrunc: "cvt.rzi.f64.f64", ir.FRound: "cvt.rni.f64.f64",
	}
)

func (t *translator) arith(in *ir.Instr) {
	if name, ok := binary[in.Op]; ok {
		typ := t.typ(in.D)
		t.op("%s%d %s, %s, %s", name, bitsOf(typ), t.dst(in.D, typ), t.as(in.A, typ), t.as(in.B, typ))
		return
	}
	if name, ok := unary[in.Op]; ok {
		typ := t.typ(in.D)
		t.op("%s%d %s, %s", name, bitsOf(typ), t.dst(in.D, typ), t.as(in.A, typ))
		return
	}
	if name, ok := shift[in.Op]; ok {
		typ := t.typ(in.D)
		t.op("%s%d %s, %s, %s", name, bitsOf(typ), t.dst(in.D, typ), t.as(in.A, typ), t.count(in.B, typ))
		return
	}
	if c, ok := between[in.Op]; ok {
		t.op("%s %s, %s", c.name, t.dst(in.D, c.to), t.as(in.A, c.from))
		return
	}
	if name, ok := fbinary[in.Op]; ok {
		t.op("%s %s, %s, %s", name, t.fdst(in.D), t.fval(in.A), t.fval(in.B))
		return
	}
	if name, ok := funary[in.Op]; ok {
		t.op("%s %s, %s", name, t.fdst(in.D), t.fval(in.A))
		return
	}
	switch in.Op {
	case ir.AddX, ir.SubX, ir.MulX:
		t.checked(in)
	case ir.Add128, ir.Sub128, ir.Add128X, ir.Sub128X, ir.MulWide, ir.MulWideU, ir.Mul128:
		t.wide(in)
	case ir.Popcnt, ir.Ctz, ir.Clz, ir.Bswap:
		t.bits(in)
	case ir.MulW:
		t.op("mul.wide.s32 %s, %s, %s", t.idst(in.D), t.as(in.A, ir.I32), t.as(in.B, ir.I32))
	case ir.MulWU:
		t.op("mul.wide.u32 %s, %s, %s", t.idst(in.D), t.as(in.A, ir.I32), t.as(in.B, ir.I32))
	case ir.Part:
		t.part(in)
	case ir.Set:
		t.truth(in, t.valueCond(in))
	case ir.FSet:
		t.truth(in, t.fcond(in))
	case ir.Sel:
		typ := t.typ(in.D)
		t.op("selp.b%d %s, %s, %s, %s", bitsOf(typ), t.dst(in.D, typ), t.as(in.C, typ), t.as(in.C2, typ), t.valueCond(in))
	case ir.FSel:
		t.op("selp.f64 %s, %s, %s, %s", t.fdst(in.D), t.fval(in.C), t.fval(in.C2), t.valueCond(in))
	default:
		t.floats(in)
	}
}

// truth makes a predicate a number.
func (t *translator) truth(in *ir.Instr, p string) {
	typ := t.typ(in.D)
	t.op("selp.b%d %s, 1, 0, %s", bitsOf(typ), t.dst(in.D, typ), p)
}

// count is a shift count: 32 bits wide, and masked, since PTX clamps where the
// IR takes the count modulo the width of what is shifted.
func (t *translator) count(v ir.Val, of ir.Type) string {
	mask := int64(bitsOf(of) - 1)
	if v.IsImm() {
		return fmt.Sprint(v.Imm & mask)
	}
	r := t.temp(temp32)
	t.op("and.b32 %s, %s, %d", r, t.low(v), mask)
	return r
}

// low is an operand's lower 32 bits, whatever its type.
func (t *translator) low(v ir.Val) string {
	if v.IsImm() {
		return imm(int64(int32(v.Imm)))
	}
	if t.typ(v.R) == ir.I32 {
		return t.reg(v.R, ir.I32)
	}
	r := t.temp(temp32)
	t.op("cvt.u32.u64 %s, %s", r, t.val(v))
	return r
}

// part takes bytes out of a word by one permutation: selectors 0 to 3 are the word's bytes, 4 is a
// zero, and 8 more is the sign of a byte instead of it.
func (t *translator) part(in *ir.Instr) {
	from, w := int(in.B.Imm), int(in.W)
	if !in.B.IsImm() || from < 0 || w < 1 || w > 2 || from+w > 4 {
		t.fail("%d bytes of a word from byte %d on", w, from)
		return
	}
	sel := 0
	for i := range 4 {
		s := 4
		if i < w {
			s = from + i
		} else if in.Signed {
			s = 8 | (from + w - 1)
		}
		sel |= s << (4 * i)
	}
	t.op("prmt.b32 %s, %s, 0, 0x%04x", t.dst(in.D, ir.I32), t.as(in.A, ir.I32), sel)
}

// checked is arithmetic whose overflow leaves a status.
func (t *translator) checked(in *ir.Instr) {
	a, b, d := t.val(in.A), t.val(in.B), t.idst(in.D)
	sum := t.temp(temp64)
	p := t.temp(tempPred)
	switch in.Op {
	case ir.MulX:
		// It fits if the upper half is nothing but the sign of the lower.
		x, y := t.temp(temp64), t.temp(temp64)
		t.op("mul.lo.s64 %s, %s, %s", sum, a, b)
		t.op("mul.hi.s64 %s, %s, %s", x, a, b)
		t.op("shr.s64 %s, %s, 63", y, sum)
		t.op("setp.ne.s64 %s, %s, %s", p, x, y)
	case ir.AddX:
		t.op("add.s64 %s, %s, %s", sum, a, b)
		t.signs(p, a, b, sum, false)
	case ir.SubX:
		t.op("sub.s64 %s, %s, %s", sum, a, b)
		t.signs(p, a, b, sum, true)
	}
	t.op("mov.b64 %s, %s", d, sum)
	t.status(p, in.Code)
}

// signs sets p if the sign of a sum or difference shows an overflow: both
// operands of a sum differ from it in sign, or the operands of a difference
// differ from each other and the first from the difference.
func (t *translator) signs(p, a, b, result string, sub bool) {
	x, y := t.temp(temp64), t.temp(temp64)
	t.op("xor.b64 %s, %s, %s", x, a, result)
	if sub {
		t.op("xor.b64 %s, %s, %s", y, a, b)
	} else {
		t.op("xor.b64 %s, %s, %s", y, b, result)
	}
	t.op("and.b64 %s, %s, %s", x, x, y)
	t.op("setp.lt.s64 %s, %s, 0", p, x)
}

// wide is arithmetic whose result is a pair. The halves are computed before
// either destination is written, since these may be operands as well.
func (t *translator) wide(in *ir.Instr) {
	a, b := t.val(in.A), t.val(in.B)
	d, d2 := t.idst(in.D), t.idst(in.D2)
	lo, hi := t.temp(temp64), t.temp(temp64)
	switch in.Op {
	case ir.MulWide, ir.MulWideU:
		typ := "s64"
		if in.Op == ir.MulWideU {
			typ = "u64"
		}
		t.op("mul.lo.%s %s, %s, %s", typ, lo, a, b)
		t.op("mul.hi.%s %s, %s, %s", typ, hi, a, b)
	case ir.Mul128:
		t.op("mul.lo.u64 %s, %s, %s", lo, a, b)
		t.op("mul.hi.u64 %s, %s, %s", hi, a, b)
		t.op("mad.lo.u64 %s, %s, %s, %s", hi, a, t.val(in.B2), hi)
		t.op("mad.lo.u64 %s, %s, %s, %s", hi, t.val(in.A2), b, hi)
	case ir.Add128, ir.Add128X:
		t.op("add.cc.u64 %s, %s, %s", lo, a, b)
		t.op("addc.u64 %s, %s, %s", hi, t.val(in.A2), t.val(in.B2))
	case ir.Sub128, ir.Sub128X:
		t.op("sub.cc.u64 %s, %s, %s", lo, a, b)
		t.op("subc.u64 %s, %s, %s", hi, t.val(in.A2), t.val(in.B2))
	}
	checked := in.Op == ir.Add128X || in.Op == ir.Sub128X
	p := ""
	if checked {
		p = t.temp(tempPred)
		t.signs(p, t.val(in.A2), t.val(in.B2), hi, in.Op == ir.Sub128X)
	}
	t.op("mov.b64 %s, %s", d, lo)
	t.op("mov.b64 %s, %s", d2, hi)
	if checked {
		t.status(p, in.Code)
	}
}

func (t *translator) bits(in *ir.Instr) {
	if in.Op != ir.Bswap && t.typ(in.D) == ir.I32 {
		a, d := t.as(in.A, ir.I32), t.dst(in.D, ir.I32)
		if in.Op == ir.Ctz {
			r := t.temp(temp32)
			t.op("brev.b32 %s, %s", r, a)
			a = r
		}
		name := "clz.b32"
		if in.Op == ir.Popcnt {
			name = "popc.b32"
		}
		t.op("%s %s, %s", name, d, a)
		return
	}
	a, d := t.val(in.A), t.idst(in.D)
	r := t.temp(temp32)
	switch in.Op {
	case ir.Popcnt:
		t.op("popc.b64 %s, %s", r, a)
	case ir.Clz:
		t.op("clz.b64 %s, %s", r, a)
	case ir.Ctz:
		x := t.temp(temp64)
		t.op("brev.b64 %s, %s", x, a)
		t.op("clz.b64 %s, %s", r, x)
	case ir.Bswap:
		s := t.temp(temp32)
		t.op("mov.b64 {%s, %s}, %s", r, s, a)
		t.op("prmt.b32 %s, %s, 0, 0x0123", r, r)
		t.op("prmt.b32 %s, %s, 0, 0x0123", s, s)
		t.op("mov.b64 %s, {%s, %s}", d, s, r)
		return
	}
	t.op("cvt.u64.u32 %s, %s", d, r)
}

// floats are the float operations of more than one instruction or of mixed types.
func (t *translator) floats(in *ir.Instr) {
	switch in.Op {
	case ir.FMin, ir.FMax:
		// Not min.f64, which knows NaN and -0 otherwise than A < B ? A : B.
		name := "lt"
		if in.Op == ir.FMax {
			name = "gt"
		}
		a, b, p := t.fval(in.A), t.fval(in.B), t.temp(tempPred)
		t.op("setp.%s.f64 %s, %s, %s", name, p, a, b)
		t.op("selp.f64 %s, %s, %s, %s", t.fdst(in.D), a, b, p)
	case ir.FRound32:
		f := t.temp(tempF32)
		t.op("cvt.rn.f32.f64 %s, %s", f, t.fval(in.A))
		t.op("cvt.f64.f32 %s, %s", t.fdst(in.D), f)
	case ir.FConst:
		t.op("mov.f64 %s, 0d%016X", t.fdst(in.D), uint64(in.A.Imm))
	case ir.I2F:
		typ := t.valType(in.A)
		t.op("cvt.rn.f64.s%d %s, %s", bitsOf(typ), t.fdst(in.D), t.as(in.A, typ))
	case ir.U2F:
		typ := t.valType(in.A)
		t.op("cvt.rn.f64.u%d %s, %s", bitsOf(typ), t.fdst(in.D), t.as(in.A, typ))
	case ir.F2I:
		t.op("cvt.rzi.s64.f64 %s, %s", t.idst(in.D), t.fval(in.A))
	case ir.FBits:
		t.op("mov.b64 %s, %s", t.idst(in.D), t.fval(in.A))
	case ir.BitsF:
		if in.A.IsImm() {
			t.op("mov.f64 %s, 0d%016X", t.fdst(in.D), uint64(in.A.Imm))
			return
		}
		t.op("mov.b64 %s, %s", t.fdst(in.D), t.val(in.A))
	default:
		t.fail("operation %d is not known", in.Op)
	}
}
