package simt

import (
	"errors"
	"strings"
	"testing"
)

// TestParseErrors: each faulty body names its line.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ body, msg string }{
		{"frob.s64 %d0, %d1;", "instruction frob is not simulated"},
		{"add.s64 %d0, %d1;", "takes 3 operands, not 2"},
		{"add.s64 %d0, %d1, %d2, %d3;", "takes 3 operands, not 4"},
		{"add %d0, %d1, %d2;", "needs a type"},
		{"add.lo %d0, %d1, %d2;", "not a type"},
		{"add.sat.s32 %r0, %r1, %r2;", "does not take .sat"},
		{"add.b64 %d0, %d1, %d2;", "does not work on .b64"},
		{"add.s64 %r0, %d1, %d2;", "%r0 is .b32 and does not fit add with type .s64"},
		{"add.s64 %d0, %g1, %d2;", "%g1 is .f64"},
		{"add.f64 %g0, %g1, 1;", "needs a float constant"},
		{"add.s64 %d0, %d1, 1.5;", "float constant does not fit"},
		{"add.f64 %g0, %g1, 0f3F800000;", "float constant does not fit"},
		{"add.s64 %d0, %d1, %d77;", "%d77 is not declared"},
		{"add.s64 %d77, %d1, %d0;", "not a declared register"},
		{"add.s64 5, %d1, %d0;", "needs a register"},
		{"add.s64 %d0, %d01, %d0;", "%d01 is not declared"},
		{"add.s64 %d0, %p0, %d0;", "%p0 is .pred"},
		{"add.s64 %d0, {%d1, %d2}, %d0;", "cannot take such an operand"},
		{"addc.f64 %g0, %g1, %g2;", "does not work on .f64"},
		{"mul.s64 %d0, %d1, %d2;", "needs .lo, .hi or .wide"},
		{"mul.wide.s64 %d0, %d1, %d2;", "does not work on .s64"},
		{"div.f64 %g0, %g1, %g2;", "needs the rounding .rn"},
		{"rem.f64 %g0, %g1, %g2;", "does not work on .f64"},
		{"not.s64 %d0, %d1;", "does not work on .s64"},
		{"shl.b64 %d0, %d1, %d2;", "%d2 is .b64"},
		{"shl.u64 %d0, %d1, 3;", "does not work on .u64"},
		{"shl.b64 %d0, %d1;", "takes 3"},
		{"shr.f32 %f0, %f1, 3;", "does not work on .f32"},
		{"shl.s32 %r0, %r1, 3;", "does not work on .s32"},
		{"setp.lt.b64 %p0, %d0, %d1;", "cannot compare .b64 by .lt"},
		{"setp.lo.s64 %p0, %d0, %d1;", "cannot compare"},
		{"setp.ltu.s64 %p0, %d0, %d1;", "cannot compare"},
		{"setp.foo.s64 %p0, %d0, %d1;", "comparison .foo"},
		{"setp.s64 %p0, %d0, %d1;", "needs a comparison"},
		{"setp.eq.s64 %d0, %d0, %d1;", "not a predicate"},
		{"selp.b64 %d0, 1, 2, 3;", "needs a predicate"},
		{"cvt.s64.f64 %d0, %g0;", "cannot have the rounding"},
		{"cvt.f64.s64 %g0, %d0;", "cannot have the rounding"},
		{"cvt.rn.s64.s32 %d0, %r0;", "cannot have the rounding"},
		{"cvt.f32.f64 %f0, %g0;", "cannot have the rounding"},
		{"cvt.rni.f64.f32 %g0, %f0;", "cannot have the rounding"},
		{"cvta.to.shared.u64 %d0, %d1;", ".global only"},
		{"mov.b64 {%r0, %r1, %r2}, %d0;", "only pairs"},
		{"mov.b64 {%r0, {%r1}}, %d0;", "inside a vector"},
		{"mov.u16 %h0, tile;", "does not work on"},
		{"mov.u64 %d0, %tid.x;", "%tid.x is .u32"},
		{"mov.u64 %d0, nowhere;", "nowhere is not declared"},
		{"ld.global.u64 %d0, %d1;", "needs an address"},
		{"ld.global.u64 %r0, [%d1];", "%r0 is .b32"},
		{"ld.global.f64 %d0, [%g1];", "cannot be an address"},
		{"ld.global.u64 %d0, [tile];", "shared variable"},
		{"ld.shared.u64 %d0, [tile+1.5];", "not a float"},
		{"ld.shared.u64 %d0, [tile+4294967296];", "does not fit 32 bits"},
		{"ld.global.u64 %d0, [%d1-8];", `expected "]"`},
		{"ret; ;", "expected an instruction"},
		{"ld.shared.u64 %d0, [tile;", `expected "]"`},
		{"atom.local.add.u64 %d0, [%d1], 1;", "does not take .local"},
		{".local .b8 mine[8]; ld.shared.u64 %d0, [mine];", "mine is a local variable, but the access is to shared memory"},
		{"ld.local.u64 %d0, [tile];", "tile is a shared variable, but the access is to local memory"},
		{"ld.param.u64 %d0, [nothing];", "name of a parameter"},
		{"ld.param.f32 %f0, [out];", "loaded from its beginning"},
		{"ld.param.u32 %r0, [out+4];", "loaded from its beginning"},
		{"redux.sync.add.b32 %r0, %r1, -1;", "does not work on"},
		{"redux.sync.add.u64 %d0, %d1, -1;", "does not work on"},
		{"redux.add.u32 %r0, %r1, -1;", "without .sync"},
		{"ld.global.v2.u64 %d0, [%d1];", "2 registers in braces"},
		{"ld.global.v4.u64 {%d0,%d1,%d2,%d3}, [%d1];", "more than 16 bytes"},
		{"atom.global.add.s64 %d0, [%d1], 1;", "does not work on .s64"},
		{"atom.global.u64 %d0, [%d1], 1;", "needs an operation"},
		{"red.global.exch.b64 [%d1], 1;", "does not work on"},
		{"vote.ballot.b32 %r0, %p0;", "without .sync"},
		{"vote.sync.b32 %r0, %p0, -1;", "needs .all"},
		{"shfl.sync.idx.b64 %d0, %d1, 0, 31, -1;", "does not work on .b64"},
		{"match.any.sync.b64 %r0|%p0, %d1, -1;", "no predicate as a result"},
		{"bar.sync 16;", "16 barriers"},
		{"bar.sync 0, 33;", "whole warps"},
		{"bar.sync %r0;", "constants only"},
		{"bar.arrive 0, 32;", "bar.sync only"},
		{"prefetch.global [%d0];", "needs .L1 or .L2"},
		{"bra NOWHERE;", "label NOWHERE is not defined"},
		{"bra 5;", "needs a label"},
		{"L: ret; L:", "label L is defined twice"},
		{"@%d0 ret;", "not a predicate"},
		{"@%p9 ret;", "not declared"},
		{"@5 ret;", "expected a predicate"},
		{"call foo;", "not simulated"},
		{".reg .b64 %d;  .reg .b64 %d;", "declared twice"},
		{".reg .b8 %x;", "no registers of type .b8"},
		{".reg .b64 %tid.x;", "not a name"},
		{".reg .zz %x;", "expected a type"},
		{".shared .align 3 .b8 x[4];", "not a power of two"},
		{".shared .b8 x[40000]; .shared .b8 y[40000];", "more than 49152 bytes"},
		{".shared .pred x[4];", "no predicates in memory"},
		{".shared .b8 tile[4];", "declared twice"},
		{".local .b8 x[4]; .local .b8 x[4];", "local variable x is declared twice"},
		{"mov.f64 %g0, 0d3FF;", "hexadecimal digits"},
		{"mov.u32 %r0, 99999999999999999999;", "not a number"},
		{"mov.u32 %r0, 1_000;", "not a number"},
		{"mov.u32 %r0, 0xg;", "not a number"},
		{"mov.u32 %r0, #;", "unexpected character '#'"},
		{"mov.u32 %r0, ;", "expected an operand"},
		{"mov.u32 %r0, 1", `expected ";"`},
		{"/* no end", "comment without end"},
		{".pragma \"no end", "string without end"},
	} {
		_, err := Parse(prelude + "\n" + c.body + "\n}\n")
		var e *ParseError
		if !errors.As(err, &e) || !strings.Contains(e.Msg, c.msg) {
			t.Errorf("%s: error %v, want %q", c.body, err, c.msg)
			continue
		}
		if e.Line != preludeLines+2 && !(c.body == "mov.u32 %r0, 1" && e.Line == preludeLines+3) {
			t.Errorf("%s: error %v names line %d, want %d", c.body, err, e.Line, preludeLines+2)
		}
	}
	for _, c := range []struct{ text, msg string }{
		{".entry k() { ret;", "has no end"},
		{".entry k() { ret; } .entry k() { ret; }", "defined twice"},
		{".entry k(.param .u64 a, .param .u64 a) { ret; }", "declared twice"},
		{".entry k(.param .u64 a[4]) { ret; }", "arrays as parameters"},
		{".entry k(.param .pred a) { ret; }", "cannot be a predicate"},
		{".entry k() .frob 5 { ret; }", "not known before a kernel's body"},
		{".func f() { ret; }", "inline them"},
		{".address_size 32", "only 64-bit"},
		{".const .u64 x;", "not known at module level"},
		{"ret;", "expected a directive"},
		{".version x", ".version takes"},
	} {
		if _, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.msg)
		}
	}
}

// TestParseStyles: what other people's PTX looks like.
func TestParseStyles(t *testing.T) {
	m, err := Parse(`
//
// Generated by hand
//
.version 8.0
.target sm_90, debug
.address_size 64
.file 1 "x.cu", 5, 6
.shared .align 8 .b8 both[16];

.visible .entry first(
	.param .u64 .ptr .global .align 8 first_param_0,
	.param .u32 first_param_1
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .pred 	%p<2>;
	.reg .u32 	%a, %b;
	.reg .s64 	%rd<3>;
	.loc 1 4 5
	.pragma "nounroll";
	ld.param.u64 	%rd1, [first_param_0];
	ld.param.u32 	%a, [first_param_1];
	{
		.reg .u32 %a;
		mov.u32 %a, 7;
		mov.u32 %b, %a;
	}
	st.shared.u32 [both+4], %b;
$L__BB0_1:
	setp.ne.s32 %p1, %a, 5;
	@%p1 bra.uni $L__BB0_1;
	st.global.u32 [%rd1], %a;
	exit;
}
.entry second { st.shared.u64 [both], 0; }
`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("first")
	if err != nil || k.SharedBytes != 16 || strings.Join(k.Params, " ") != "first_param_0 first_param_1" {
		t.Fatalf("%+v, %v", k, err)
	}
	if _, err := m.Kernel("third"); err == nil || !strings.Contains(err.Error(), "first, second") {
		t.Errorf("error %v does not name the kernels", err)
	}
	if k, _ := m.Kernel("second"); k.SharedBytes != 16 {
		t.Errorf("second has %d bytes of shared memory", k.SharedBytes)
	}
}
