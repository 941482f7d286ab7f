package ptx

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/ir"
)

func spaceName(s ir.Space) string {
	switch s {
	case ir.Global:
		return "global"
	case ir.Local:
		return "local"
	}
	return "shared"
}

// addr writes an address in brackets. PTX has base and displacement only; an
// index costs an instruction.
func (t *translator) addr(m ir.Mem) string {
	if m.Space == ir.Shared || m.Space == ir.Dynamic {
		return t.sharedAddr(m)
	}
	base := ""
	switch {
	case m.Space == ir.Local:
		base = t.localAddr(m)
	case m.Base != ir.NoReg:
		base = t.reg(m.Base, ir.I64)
	default:
		t.fail("an address in global memory has no base")
	}
	if m.Index != ir.NoReg {
		x := t.temp(temp64)
		t.index(x, m, base)
		base = x
	}
	return bracket(base, m.Disp)
}

func bracket(base string, disp int32) string {
	if disp == 0 {
		return "[" + base + "]"
	}
	return fmt.Sprintf("[%s+%d]", base, disp)
}

// sharedAddr is an address in shared memory: 32 bits are enough. They count from 0 in the IR and
// from wherever scratch or dynamic lies in PTX.
func (t *translator) sharedAddr(m ir.Mem) string {
	name := "scratch"
	if m.Space == ir.Dynamic {
		name = "dynamic"
		t.dynamic = true
	} else if t.f.SharedBytes == 0 {
		t.fail("shared memory is used but none is declared")
	}
	if m.Base == ir.NoReg && m.Index == ir.NoReg {
		return bracket(name, m.Disp)
	}
	at, from := t.temp(temp32), "%scratch" // set where the function begins
	if m.Space == ir.Dynamic {
		from = at
		t.op("mov.u32 %s, %s", at, name)
	} else {
		t.scratch = true
	}
	if m.Base != ir.NoReg {
		t.op("add.s32 %s, %s, %s", at, from, t.low(m.Base.V()))
		from = at
	}
	if m.Index != ir.NoReg {
		t.scaled("s32", at, t.low(m.Index.V()), m.Scale, from)
	}
	return bracket(at, m.Disp)
}

// localAddr is where the base of an address in local memory lies: they count from 0 in the IR and from wherever own lies in PTX.
func (t *translator) localAddr(m ir.Mem) string {
	t.local = true
	if m.Base == ir.NoReg {
		return "%own" // set where the function begins
	}
	at := t.temp(temp64)
	t.op("add.s64 %s, %%own, %s", at, t.reg(m.Base, ir.I64))
	return at
}

// index writes d = base + Index*Scale. An index of 32 bits is unsigned.
func (t *translator) index(d string, m ir.Mem, base string) {
	if t.typ(m.Index) == ir.I32 {
		switch m.Scale {
		case 1, 2, 4, 8:
			t.op("mad.wide.u32 %s, %s, %d, %s", d, t.reg(m.Index, ir.I32), m.Scale, base)
		default:
			t.fail("an index cannot be scaled by %d", m.Scale)
		}
		return
	}
	t.scaled("s64", d, t.reg(m.Index, ir.I64), m.Scale, base)
}

// scaled writes d = base + i*scale.
func (t *translator) scaled(typ, d, i string, scale uint8, base string) {
	switch scale {
	case 1:
		t.op("add.%s %s, %s, %s", typ, d, base, i)
	case 2, 4, 8:
		t.op("mad.lo.%s %s, %s, %d, %s", typ, d, i, scale, base)
	default:
		t.fail("an index cannot be scaled by %d", scale)
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

// loadKinds and storeKinds are the kinds of accesses to global memory. Relaxed and ordered ones are
// so for the whole device.
var (
	loadKinds = [...]string{ir.Plain: "ld.global", ir.ReadOnly: "ld.global.nc", ir.Once: "ld.global.nc.L1::no_allocate",
		ir.Relaxed: "ld.relaxed.gpu.global", ir.Ordered: "ld.acquire.gpu.global"}
	storeKinds = [...]string{ir.Plain: "st.global", ir.ReadOnly: "", ir.Once: "st.global.L1::no_allocate",
		ir.Relaxed: "st.relaxed.gpu.global", ir.Ordered: "st.release.gpu.global"}
)

// access is a load or store without its type.
func (t *translator) access(in *ir.Instr, name string, kinds []string) string {
	if int(in.Kind) >= len(kinds) || kinds[in.Kind] == "" || in.Kind != ir.Plain && in.M.Space != ir.Global {
		t.fail("%s cannot be of kind %d", in.Op, in.Kind)
		return "?"
	}
	if in.M.Space != ir.Global {
		return name + "." + spaceName(in.M.Space)
	}
	t.once = t.once || in.Kind == ir.Once
	return kinds[in.Kind]
}

func (t *translator) load(in *ir.Instr) string { return t.access(in, "ld", loadKinds[:]) }

func (t *translator) store(in *ir.Instr) string { return t.access(in, "st", storeKinds[:]) }

// several moves 2 or 4 values: a list of registers in braces.
func (t *translator) several(in *ir.Instr) {
	n := 2
	if in.Op == ir.Load4 || in.Op == ir.Store4 {
		n = 4
	}
	typ := ir.I32
	if in.W == 8 {
		typ = ir.I64
	}
	if bytes := n * t.width(in) / 8; bytes != 8 && bytes != 16 {
		t.fail("an access of %d bytes", bytes)
	}
	first, isLoad := in.D, in.Op == ir.Load2 || in.Op == ir.Load4
	if !isLoad {
		if in.A.IsImm() {
			t.fail("a constant instead of registers")
		}
		first = in.A.R
	}
	var names []string
	for i := range ir.Reg(n) {
		if isLoad {
			names = append(names, t.dst(first+i, typ))
		} else {
			names = append(names, t.reg(first+i, typ))
		}
	}
	list := "{" + strings.Join(names, ", ") + "}"
	if isLoad {
		t.op("%s.v%d.u%d %s, %s", t.load(in), n, t.width(in), list, t.addr(in.M))
		return
	}
	t.op("%s.v%d.u%d %s, %s", t.store(in), n, t.width(in), t.addr(in.M), list)
}

func (t *translator) memory(in *ir.Instr) {
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
		typ := t.typ(in.D)
		t.fits(in, typ)
		t.op("%s.%s%d %s, %s", t.load(in), sign, t.width(in), t.dst(in.D, typ), t.addr(in.M))
	case ir.Store:
		bits := t.width(in)
		typ := t.valType(in.A)
		t.fits(in, typ)
		v := t.as(in.A, typ)
		if in.A.IsImm() && bits < 64 {
			v = fmt.Sprint(in.A.Imm & (1<<bits - 1))
		}
		t.op("%s.u%d %s, %s", t.store(in), bits, t.addr(in.M), v)
	case ir.Load2, ir.Load4, ir.Store2, ir.Store4:
		t.several(in)
	case ir.FLoad:
		d := t.fdst(in.D)
		if in.W == 8 {
			t.op("%s.f64 %s, %s", t.load(in), d, t.addr(in.M))
			return
		}
		t.single(in)
		f := t.temp(tempF32)
		t.op("%s.f32 %s, %s", t.load(in), f, t.addr(in.M))
		t.op("cvt.f64.f32 %s, %s", d, f)
	case ir.FStore:
		a := t.fval(in.A)
		if in.W == 8 {
			t.op("%s.f64 %s, %s", t.store(in), t.addr(in.M), a)
			return
		}
		t.single(in)
		f := t.temp(tempF32)
		t.op("cvt.rn.f32.f64 %s, %s", f, a)
		t.op("%s.f32 %s, %s", t.store(in), t.addr(in.M), f)
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

// fits fails where a register has fewer bytes than the access.
func (t *translator) fits(in *ir.Instr, typ ir.Type) {
	if t.width(in) > bitsOf(typ) {
		t.fail("an access of %d bytes with a register of %d bits", in.W, bitsOf(typ))
	}
}

func (t *translator) single(in *ir.Instr) {
	if in.W != 4 {
		t.fail("a float of %d bytes", in.W)
	}
}

// atomics are the operations without their width.
var atomics = map[ir.Op]string{
	ir.AtomAdd: "add.u", ir.AtomMin: "min.s", ir.AtomMax: "max.s", ir.AtomOr: "or.b",
	ir.AtomExch: "exch.b", ir.AtomCAS: "cas.b", ir.AtomFAdd: "add.f",
}

func (t *translator) atomic(in *ir.Instr) {
	name, width := atomics[in.Op], t.width(in)
	if in.Op == ir.AtomFAdd {
		d, a := t.fdst(in.D), t.fval(in.A)
		t.op("atom.%s.%s%d %s, %s, %s", spaceName(in.M.Space), name, width, d, t.addr(in.M), a)
		return
	}
	typ := ir.I64
	if in.W == 4 {
		typ = ir.I32
	}
	d, operands := t.dst(in.D, typ), t.as(in.A, typ)
	if in.Op == ir.AtomCAS {
		operands += ", " + t.as(in.B, typ)
	}
	t.op("atom.%s.%s%d %s, %s, %s", spaceName(in.M.Space), name, width, d, t.addr(in.M), operands)
}
