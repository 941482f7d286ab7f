package ptx

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
)

func spaceName(s ir.Space) string {
	if s == ir.Shared {
		return "shared"
	}
	return "global"
}

// addr writes an address in brackets. PTX has base and displacement only; an
// index costs an instruction. Shared addresses count from 0 in the IR and from
// wherever scratch lies in PTX.
func (t *translator) addr(m ir.Mem) string {
	base := ""
	if m.Base != ir.NoReg {
		base = t.reg(m.Base, ir.I64)
	}
	if m.Space == ir.Shared {
		if t.f.SharedBytes == 0 {
			t.fail("shared memory is used but none is declared")
		}
		if m.Base == ir.NoReg && m.Index == ir.NoReg {
			base = "scratch"
		} else {
			t.scratch = true
			base = t.sum("%scratch", base)
		}
	} else if base == "" {
		t.fail("an address in global memory has no base")
	}
	if m.Index != ir.NoReg {
		x := t.temp(temp64)
		t.index(x, m, base)
		base = x
	}
	if m.Disp == 0 {
		return "[" + base + "]"
	}
	return fmt.Sprintf("[%s+%d]", base, m.Disp)
}

// sum adds two registers, either of which may be absent.
func (t *translator) sum(a, b string) string {
	if b == "" {
		return a
	}
	x := t.temp(temp64)
	t.op("add.s64 %s, %s, %s", x, a, b)
	return x
}

// index writes d = base + Index*Scale.
func (t *translator) index(d string, m ir.Mem, base string) {
	i := t.reg(m.Index, ir.I64)
	switch m.Scale {
	case 1:
		t.op("add.s64 %s, %s, %s", d, base, i)
	case 2, 4, 8:
		t.op("mad.lo.s64 %s, %s, %d, %s", d, i, m.Scale, base)
	default:
		t.fail("an index cannot be scaled by %d", m.Scale)
	}
}

// lea computes an address in the IR's terms: one in shared memory counts from 0.
func (t *translator) lea(in *ir.Instr) {
	m, d := in.M, t.idst(in.D)
	base := "0"
	if m.Base != ir.NoReg {
		base = t.reg(m.Base, ir.I64)
	} else if m.Space == ir.Global {
		t.fail("an address in global memory has no base")
	}
	if m.Index == ir.NoReg {
		t.op("add.s64 %s, %s, %d", d, base, m.Disp)
		return
	}
	t.index(d, m, base)
	if m.Disp != 0 {
		t.op("add.s64 %s, %s, %d", d, d, m.Disp)
	}
}

func (t *translator) memory(in *ir.Instr) {
	space := spaceName(in.M.Space)
	switch in.Op {
	case ir.Lea:
		t.lea(in)
	case ir.Prefetch:
		if in.M.Space == ir.Global {
			t.op("prefetch.global.L1 %s", t.addr(in.M))
		}
	case ir.Load:
		sign := "u"
		if in.Signed {
			sign = "s"
		}
		t.op("ld.%s.%s%d %s, %s", space, sign, t.width(in), t.idst(in.D), t.addr(in.M))
	case ir.Store:
		bits := t.width(in)
		v := t.val(in.A)
		if in.A.IsImm() && bits < 64 {
			v = fmt.Sprint(in.A.Imm & (1<<bits - 1))
		}
		t.op("st.%s.u%d %s, %s", space, bits, t.addr(in.M), v)
	case ir.FLoad:
		d := t.fdst(in.D)
		if in.W == 8 {
			t.op("ld.%s.f64 %s, %s", space, d, t.addr(in.M))
			return
		}
		t.single(in)
		f := t.temp(tempF32)
		t.op("ld.%s.f32 %s, %s", space, f, t.addr(in.M))
		t.op("cvt.f64.f32 %s, %s", d, f)
	case ir.FStore:
		a := t.fval(in.A)
		if in.W == 8 {
			t.op("st.%s.f64 %s, %s", space, t.addr(in.M), a)
			return
		}
		t.single(in)
		f := t.temp(tempF32)
		t.op("cvt.rn.f32.f64 %s, %s", f, a)
		t.op("st.%s.f32 %s, %s", space, t.addr(in.M), f)
	default:
		t.atomic(in)
	}
}

// width is an access's size in bits.
func (t *translator) width(in *ir.Instr) int {
	switch in.W {
	case 1, 2, 4, 8:
		return 8 * int(in.W)
	}
	t.fail("an access of %d bytes", in.W)
	return 64
}

func (t *translator) single(in *ir.Instr) {
	if in.W != 4 {
		t.fail("a float of %d bytes", in.W)
	}
}

var atomics = map[ir.Op]string{
	ir.AtomAdd: "add.u64", ir.AtomMin: "min.s64", ir.AtomMax: "max.s64", ir.AtomOr: "or.b64",
	ir.AtomExch: "exch.b64", ir.AtomCAS: "cas.b64", ir.AtomFAdd: "add.f64",
}

func (t *translator) atomic(in *ir.Instr) {
	typ := ir.I64
	val := t.val
	if in.Op == ir.AtomFAdd {
		typ, val = ir.F64, t.fval
	}
	d, operands := t.dst(in.D, typ), val(in.A)
	if in.Op == ir.AtomCAS {
		operands += ", " + t.val(in.B)
	}
	t.op("atom.%s.%s %s, %s, %s", spaceName(in.M.Space), atomics[in.Op], d, t.addr(in.M), operands)
}
