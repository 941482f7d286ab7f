package ir

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// The textual IR: what prints reads back.

const q6Text = `func q6_pipe0 cpu {
  ; scan lineitem
  vreg i#1:i64
  mov i#1, 0
  vreg sum#2:i64
  mov sum#2, 0
  loop L1 {
    vreg l_quantity#3:i64
    load.u1 l_quantity#3, [ctx + i#1*1 + 64]
    ; filter l_quantity < 24
    continue.ge L1 l_quantity#3, 24
    vreg "l_extended price"#4:i64
    load.s4 "l_extended price"#4, [ctx + i#1*4 - 8]
    if.lt l_quantity#3, 10 {
      addx sum#2, sum#2, "l_extended price"#4 !3
    } else {
      ; nothing
    }
    clear "l_extended price"#4
    next L1
    clear l_quantity#3
    add i#1, i#1, 1
  } while.lt L1 i#1, 100
  store [ctx + 24], sum#2
  exit.ne sum#2, 0 !4
  clear sum#2
  clear i#1
}
`

func TestPrint(t *testing.T) {
	b := NewFunc("q6_pipe0", CPU)
	b.Comment("scan lineitem")
	i := b.Vreg("i", I64)
	b.Mov(i, K(0))
	sum := b.Vreg("sum", I64)
	b.Mov(sum, K(0))
	l := b.Loop()
	q := b.Vreg("l_quantity", I64)
	b.Load(q, AtIndex(Ctx, i, 1, 64), 1, false)
	b.Comment("filter l_quantity < 24")
	b.Continue(l, GE, q.V(), K(24))
	p := b.Vreg("l_extended price", I64)
	b.Load(p, AtIndex(Ctx, i, 4, -8), 4, true)
	b.If(LT, q.V(), K(10))
	b.OpX(AddX, sum, sum.V(), p.V(), 3)
	b.Else()
	b.Comment("nothing")
	b.EndIf()
	b.Clear(p)
	b.Next(l)
	b.Clear(q)
	b.Op2(Add, i, i.V(), K(1))
	b.EndLoop(l, LT, i.V(), K(100))
	b.Store(At(Ctx, 24), sum.V(), 8)
	b.Exit(4, NE, sum.V(), K(0))
	b.Clear(sum, i)

	if got := b.F.String(); got != q6Text {
		t.Errorf("got\n%s\nwant\n%s", got, q6Text)
	}
	if got, want := b.F.Line(9), "continue.ge L1 l_quantity#3, 24"; got != want {
		t.Errorf("Line: got %s, want %s", got, want)
	}
	f, err := Parse(q6Text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f, normal(b.F)) {
		t.Errorf("parsed:\n%#v\nbuilt:\n%#v", f, b.F)
	}
	if err := Verify(f); err != nil {
		t.Error(err)
	}
}

// lineCases has a row for every operation and for every special form.
var lineCases = []struct {
	text string
	want Instr
}{
	{"nop", Instr{Op: Nop}},
	{";", Instr{Op: Comment}},
	{"vreg a#1:i64", Instr{Op: Vreg, D: 1}},
	{"vreg x#4:f64", Instr{Op: Vreg, D: 4}},
	{"vreg ctx", Instr{Op: Vreg, D: Ctx}},
	{"clear a#1", Instr{Op: Clear, D: 1}},
	{"clear ctx", Instr{Op: Clear, D: Ctx}},

	{"mov a#1, -5", Instr{Op: Mov, D: 1, A: K(-5)}},
	{"mov a#1, -9223372036854775808", Instr{Op: Mov, D: 1, A: K(math.MinInt64)}},
	{"mov a#1, ctx", Instr{Op: Mov, D: 1, A: Ctx.V()}},
	{`mov a#1, "odd \" name"#6`, Instr{Op: Mov, D: 1, A: Reg(6).V()}},
	{"mov a#1, #7", Instr{Op: Mov, D: 1, A: Reg(7).V()}},
	{"mov a#1, ctx#8", Instr{Op: Mov, D: 1, A: Reg(8).V()}},
	{"add a#1, b#2, 3", Instr{Op: Add, D: 1, A: Reg(2).V(), B: K(3)}},
	{"sub a#1, b#2, c#3", Instr{Op: Sub, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"mul a#1, b#2, c#3", Instr{Op: Mul, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"div a#1, b#2, c#3", Instr{Op: Div, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"rem a#1, b#2, c#3", Instr{Op: Rem, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"and a#1, b#2, c#3", Instr{Op: And, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"or a#1, b#2, c#3", Instr{Op: Or, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"xor a#1, b#2, c#3", Instr{Op: Xor, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"shl a#1, b#2, c#3", Instr{Op: Shl, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"shr a#1, b#2, c#3", Instr{Op: Shr, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"sar a#1, b#2, c#3", Instr{Op: Sar, D: 1, A: Reg(2).V(), B: Reg(3).V()}},
	{"neg a#1, b#2", Instr{Op: Neg, D: 1, A: Reg(2).V()}},
	{"not a#1, b#2", Instr{Op: Not, D: 1, A: Reg(2).V()}},
	{"add w#9, w#9, -7", Instr{Op: Add, D: 9, A: Reg(9).V(), B: K(-7)}},
	{"narrow w#9, a#1", Instr{Op: Narrow, D: 9, A: Reg(1).V()}},
	{"widen a#1, w#9", Instr{Op: Widen, D: 1, A: Reg(9).V()}},
	{"widenu a#1, w#9", Instr{Op: WidenU, D: 1, A: Reg(9).V()}},
	{"mulw a#1, w#9, 3", Instr{Op: MulW, D: 1, A: Reg(9).V(), B: K(3)}},
	{"mulwu a#1, w#9, v#10", Instr{Op: MulWU, D: 1, A: Reg(9).V(), B: Reg(10).V()}},
	{"part.u1 w#9, v#10, 3", Instr{Op: Part, W: 1, D: 9, A: Reg(10).V(), B: K(3)}},
	{"loadbits a#1, [b#2 + c#3*1], 20", Instr{Op: LoadBits, D: 1, B: K(20), M: AtIndex(2, 3, 1, 0)}},
	{"loadbits.readonly w#9, [b#2 + w#9*1 - 7], 1", Instr{Op: LoadBits, D: 9, B: K(1), M: AtIndex(2, 9, 1, -7), Kind: ReadOnly}},
	{"part.s2 w#9, v#10, 2", Instr{Op: Part, W: 2, Signed: true, D: 9, A: Reg(10).V(), B: K(2)}},
	{"addx a#1, b#2, 7 !3", Instr{Op: AddX, D: 1, A: Reg(2).V(), B: K(7), Code: 3}},
	{"subx a#1, b#2, 7 !3", Instr{Op: SubX, D: 1, A: Reg(2).V(), B: K(7), Code: 3}},
	{"mulx a#1, b#2, 7 !-1", Instr{Op: MulX, D: 1, A: Reg(2).V(), B: K(7), Code: -1}},
	{"add128 a#1, b#2, a#1, b#2, 5, 0", Instr{Op: Add128, D: 1, D2: 2, A: Reg(1).V(), A2: Reg(2).V(), B: K(5), B2: K(0)}},
	{"sub128 a#1, b#2, a#1, b#2, 5, 0", Instr{Op: Sub128, D: 1, D2: 2, A: Reg(1).V(), A2: Reg(2).V(), B: K(5), B2: K(0)}},
	{"add128x a#1, b#2, a#1, b#2, 5, 0 !9", Instr{Op: Add128X, D: 1, D2: 2, A: Reg(1).V(), A2: Reg(2).V(), B: K(5), B2: K(0), Code: 9}},
	{"sub128x a#1, b#2, a#1, b#2, 5, 0 !9", Instr{Op: Sub128X, D: 1, D2: 2, A: Reg(1).V(), A2: Reg(2).V(), B: K(5), B2: K(0), Code: 9}},
	{"mulwide a#1, b#2, c#3, 4", Instr{Op: MulWide, D: 1, D2: 2, A: Reg(3).V(), B: K(4)}},
	{"mulwideu a#1, b#2, c#3, 4", Instr{Op: MulWideU, D: 1, D2: 2, A: Reg(3).V(), B: K(4)}},
	{"mul128 a#1, b#2, a#1, b#2, c#3, 0", Instr{Op: Mul128, D: 1, D2: 2, A: Reg(1).V(), A2: Reg(2).V(), B: Reg(3).V(), B2: K(0)}},
	{"div128 a#1, b#2, a#1, b#2, c#3", Instr{Op: Div128, D: 1, D2: 2, A: Reg(1).V(), A2: Reg(2).V(), B: Reg(3).V()}},
	{"rem128 a#1, a#1, b#2, c#3", Instr{Op: Rem128, D: 1, A: Reg(1).V(), A2: Reg(2).V(), B: Reg(3).V()}},
	{"popcnt a#1, b#2", Instr{Op: Popcnt, D: 1, A: Reg(2).V()}},
	{"ctz a#1, b#2", Instr{Op: Ctz, D: 1, A: Reg(2).V()}},
	{"clz a#1, b#2", Instr{Op: Clz, D: 1, A: Reg(2).V()}},
	{"bswap a#1, b#2", Instr{Op: Bswap, D: 1, A: Reg(2).V()}},
	{"blsr a#1, b#2", Instr{Op: Blsr, D: 1, A: Reg(2).V()}},
	{"maskrange.2 a#1, [ctx + b#2*2 + 8], c#3, 5, -1", Instr{Op: MaskRange, W: 2, D: 1, A: Reg(3).V(), B: K(5), C: K(-1), M: AtIndex(Ctx, 2, 2, 8)}},
	{"maskcmp.lt a#1, [ctx], b#2, 0, c#3, 4", Instr{Op: MaskCmp, W: 8, Cond: LT, D: 1, A: Reg(2).V(), B: K(0), C: Reg(3).V(), C2: K(4), M: At(Ctx, 0)}},
	{"maskcmp.uge.2 a#1, [ctx], b#2, 0, c#3, 2", Instr{Op: MaskCmp, W: 2, Cond: UGE, D: 1, A: Reg(2).V(), B: K(0), C: Reg(3).V(), C2: K(2), M: At(Ctx, 0)}},
	{"maskbits.4 a#1, [b#2], a#1, 7, c#3", Instr{Op: MaskBits, W: 4, D: 1, A: Reg(1).V(), B: K(7), C: Reg(3).V(), M: At(2, 0)}},
	{"masklut.1 a#1, [b#2], a#1, c#3, 25", Instr{Op: MaskLut, W: 1, D: 1, A: Reg(1).V(), C: Reg(3).V(), C2: K(25), M: At(2, 0)}},
	{"maskbytes a#1, [b#2], -1, 97, 98, 3", Instr{Op: MaskBytes, D: 1, A: K(-1), B: K(97), C: K(98), C2: K(3), M: At(2, 0)}},
	{"pick a#1, [b#2 + c#3*4], a#1, c#3", Instr{Op: Pick, D: 1, A: Reg(1).V(), B: Reg(3).V(), M: AtIndex(2, 3, 4, 0)}},

	{"fmov x#4, y#5", Instr{Op: FMov, D: 4, A: Reg(5).V()}},
	{"fadd x#4, y#5, y#5", Instr{Op: FAdd, D: 4, A: Reg(5).V(), B: Reg(5).V()}},
	{"fsub x#4, y#5, y#5", Instr{Op: FSub, D: 4, A: Reg(5).V(), B: Reg(5).V()}},
	{"fmul x#4, y#5, y#5", Instr{Op: FMul, D: 4, A: Reg(5).V(), B: Reg(5).V()}},
	{"fdiv x#4, y#5, y#5", Instr{Op: FDiv, D: 4, A: Reg(5).V(), B: Reg(5).V()}},
	{"fneg x#4, y#5", Instr{Op: FNeg, D: 4, A: Reg(5).V()}},
	{"fabs x#4, y#5", Instr{Op: FAbs, D: 4, A: Reg(5).V()}},
	{"fsqrt x#4, y#5", Instr{Op: FSqrt, D: 4, A: Reg(5).V()}},
	{"fmin x#4, y#5, x#4", Instr{Op: FMin, D: 4, A: Reg(5).V(), B: Reg(4).V()}},
	{"fmax x#4, y#5, x#4", Instr{Op: FMax, D: 4, A: Reg(5).V(), B: Reg(4).V()}},
	{"ffloor x#4, y#5", Instr{Op: FFloor, D: 4, A: Reg(5).V()}},
	{"fceil x#4, y#5", Instr{Op: FCeil, D: 4, A: Reg(5).V()}},
	{"ftrunc x#4, y#5", Instr{Op: FTrunc, D: 4, A: Reg(5).V()}},
	{"fround x#4, y#5", Instr{Op: FRound, D: 4, A: Reg(5).V()}},
	{"fround32 x#4, y#5", Instr{Op: FRound32, D: 4, A: Reg(5).V()}},
	{"fconst x#4, 0.1", Instr{Op: FConst, D: 4, A: K(int64(math.Float64bits(0.1)))}},
	{"fconst x#4, -0", Instr{Op: FConst, D: 4, A: K(math.MinInt64)}},
	{"fconst x#4, 5e-324", Instr{Op: FConst, D: 4, A: K(1)}},
	{"fconst x#4, -Inf", Instr{Op: FConst, D: 4, A: K(-0x10000000000000)}},
	{"fconst x#4, nan:7ff8000000000001", Instr{Op: FConst, D: 4, A: K(0x7ff8000000000001)}},
	{"i2f x#4, a#1", Instr{Op: I2F, D: 4, A: Reg(1).V()}},
	{"u2f x#4, a#1", Instr{Op: U2F, D: 4, A: Reg(1).V()}},
	{"f2i a#1, x#4", Instr{Op: F2I, D: 1, A: Reg(4).V()}},
	{"fbits a#1, x#4", Instr{Op: FBits, D: 1, A: Reg(4).V()}},
	{"bitsf x#4, a#1", Instr{Op: BitsF, D: 4, A: Reg(1).V()}},

	{"set.ult a#1, b#2, 3", Instr{Op: Set, Cond: ULT, D: 1, A: Reg(2).V(), B: K(3)}},
	{"fset.le a#1, x#4, y#5", Instr{Op: FSet, Cond: LE, D: 1, A: Reg(4).V(), B: Reg(5).V()}},
	{"sel.eq a#1, b#2, 3, 4, c#3", Instr{Op: Sel, Cond: EQ, D: 1, A: Reg(2).V(), B: K(3), C: K(4), C2: Reg(3).V()}},
	{"fsel.uge x#4, b#2, 3, x#4, y#5", Instr{Op: FSel, Cond: UGE, D: 4, A: Reg(2).V(), B: K(3), C: Reg(4).V(), C2: Reg(5).V()}},

	{"load a#1, [ctx + 24]", Instr{Op: Load, D: 1, W: 8, M: At(Ctx, 24)}},
	{"load.u1 a#1, [b#2 + c#3*1]", Instr{Op: Load, D: 1, W: 1, M: AtIndex(2, 3, 1, 0)}},
	{"load.s4 a#1, [b#2 + c#3*8 - 2147483648]", Instr{Op: Load, D: 1, W: 4, Signed: true, M: AtIndex(2, 3, 8, math.MinInt32)}},
	{"load.u3 a#1, [b#2]", Instr{Op: Load, D: 1, W: 3, M: At(2, 0)}},
	{"store.2 [b#2 + 6], a#1", Instr{Op: Store, W: 2, M: At(2, 6), A: Reg(1).V()}},
	{"store shared[0], 1", Instr{Op: Store, W: 8, M: Mem{Base: NoReg, Index: NoReg, Scale: 1, Space: Shared}, A: K(1)}},
	{"store shared[b#2*4 - 4], 1", Instr{Op: Store, W: 8, M: Mem{Base: NoReg, Index: 2, Scale: 4, Disp: -4, Space: Shared}, A: K(1)}},
	{"fload x#4, [b#2]", Instr{Op: FLoad, D: 4, W: 8, M: At(2, 0)}},
	{"fload.4 x#4, [b#2]", Instr{Op: FLoad, D: 4, W: 4, M: At(2, 0)}},
	{"fstore.4 [b#2], x#4", Instr{Op: FStore, W: 4, M: At(2, 0), A: Reg(4).V()}},
	{"lea a#1, [b#2 + ctx*3]", Instr{Op: Lea, D: 1, M: AtIndex(2, Ctx, 3, 0)}},
	{"prefetch [-8]", Instr{Op: Prefetch, M: At(NoReg, -8)}},

	{"load.u4.once w#9, [b#2 + w#9*4]", Instr{Op: Load, D: 9, W: 4, Kind: Once, M: AtIndex(2, 9, 4, 0)}},
	{"load.readonly a#1, [b#2]", Instr{Op: Load, D: 1, W: 8, Kind: ReadOnly, M: At(2, 0)}},
	{"load.s2.relaxed a#1, [b#2]", Instr{Op: Load, D: 1, W: 2, Signed: true, Kind: Relaxed, M: At(2, 0)}},
	{"store.4.ordered [b#2], w#9", Instr{Op: Store, W: 4, Kind: Ordered, M: At(2, 0), A: Reg(9).V()}},
	{"fload.4.once x#4, [b#2]", Instr{Op: FLoad, D: 4, W: 4, Kind: Once, M: At(2, 0)}},
	{"store.4 dynamic[w#9], 1", Instr{Op: Store, W: 4, M: Mem{Base: 9, Index: NoReg, Scale: 1, Space: Dynamic}, A: K(1)}},
	{"store local[a#1 + 8], 1", Instr{Op: Store, W: 8, M: Mem{Base: 1, Index: NoReg, Scale: 1, Disp: 8, Space: Local}, A: K(1)}},
	{"load2 a#1, [b#2]", Instr{Op: Load2, D: 1, W: 8, M: At(2, 0)}},
	{"load2.4.readonly w#9, [b#2]", Instr{Op: Load2, D: 9, W: 4, Kind: ReadOnly, M: At(2, 0)}},
	{"load4.4 w#9, shared[0]", Instr{Op: Load4, D: 9, W: 4, M: Mem{Base: NoReg, Index: NoReg, Scale: 1, Space: Shared}}},
	{"store2 [b#2], a#1", Instr{Op: Store2, W: 8, M: At(2, 0), A: Reg(1).V()}},
	{"store4.4.once [b#2], w#9", Instr{Op: Store4, W: 4, Kind: Once, M: At(2, 0), A: Reg(9).V()}},

	{"if.ne a#1, 0 {", Instr{Op: If, Cond: NE, A: Reg(1).V(), B: K(0)}},
	{"if {", Instr{Op: If}},
	{"} else {", Instr{Op: Else}},
	{"}", Instr{Op: EndIf}},
	{"loop L1 {", Instr{Op: Loop, Label: 1}},
	{"next L1", Instr{Op: Next, Label: 1}},
	{"} while.lt L1 a#1, b#2", Instr{Op: EndLoop, Label: 1, Cond: LT, A: Reg(1).V(), B: Reg(2).V()}},
	{"} forever L1", Instr{Op: EndLoop, Label: 1}},
	{"break L-7", Instr{Op: Break, Label: -7}},
	{"break.ge L1 a#1, 3", Instr{Op: Break, Label: 1, Cond: GE, A: Reg(1).V(), B: K(3)}},
	{"continue.ule L1 a#1, 3", Instr{Op: Continue, Label: 1, Cond: ULE, A: Reg(1).V(), B: K(3)}},
	{"exit !0", Instr{Op: Exit}},
	{"exit.ugt a#1, 3 !4", Instr{Op: Exit, Cond: UGT, A: Reg(1).V(), B: K(3), Code: 4}},
	{"yield !2", Instr{Op: Yield, Code: 2}},

	{"atomadd a#1, [b#2], 3", Instr{Op: AtomAdd, D: 1, W: 8, M: At(2, 0), A: K(3)}},
	{"atommin a#1, [b#2], 3", Instr{Op: AtomMin, D: 1, W: 8, M: At(2, 0), A: K(3)}},
	{"atommax a#1, [b#2], 3", Instr{Op: AtomMax, D: 1, W: 8, M: At(2, 0), A: K(3)}},
	{"atomor a#1, [b#2], 3", Instr{Op: AtomOr, D: 1, W: 8, M: At(2, 0), A: K(3)}},
	{"atomexch a#1, [b#2], 3", Instr{Op: AtomExch, D: 1, W: 8, M: At(2, 0), A: K(3)}},
	{"atomcas a#1, [b#2], 3, c#3", Instr{Op: AtomCAS, D: 1, W: 8, M: At(2, 0), A: K(3), B: Reg(3).V()}},
	{"atomadd.4 w#9, shared[w#9], 3", Instr{Op: AtomAdd, D: 9, W: 4, M: Mem{Base: 9, Index: NoReg, Scale: 1, Space: Shared}, A: K(3)}},
	{"atomfadd x#4, [b#2], y#5", Instr{Op: AtomFAdd, D: 4, W: 8, M: At(2, 0), A: Reg(5).V()}},

	{"param a#1, 2", Instr{Op: Param, D: 1, A: K(2)}},
	{"uniform w#9, v#10", Instr{Op: Uniform, D: 9, A: Reg(10).V()}},
	{"redadd w#9, v#10", Instr{Op: RedAdd, D: 9, A: Reg(10).V()}},
	{"redmin w#9, v#10", Instr{Op: RedMin, D: 9, A: Reg(10).V()}},
	{"redmax w#9, v#10", Instr{Op: RedMax, D: 9, A: Reg(10).V()}},
	{"redor w#9, 1", Instr{Op: RedOr, D: 9, A: K(1)}},
	{"special w#9, lanesbelow", Instr{Op: Special, D: 9, A: K(int64(LanesBelow))}},
	{"special a#1, laneid", Instr{Op: Special, D: 1, A: K(int64(LaneID))}},
	{"special a#1, griddim", Instr{Op: Special, D: 1, A: K(int64(GridDim))}},
	{"special a#1, 17", Instr{Op: Special, D: 1, A: K(17)}},
	{"ballot a#1, b#2", Instr{Op: Ballot, D: 1, A: Reg(2).V()}},
	{"shfl a#1, b#2, 0", Instr{Op: Shfl, D: 1, A: Reg(2).V(), B: K(0)}},
	{"shflxor a#1, b#2, 16", Instr{Op: ShflXor, D: 1, A: Reg(2).V(), B: K(16)}},
	{"shflup a#1, b#2, 1", Instr{Op: ShflUp, D: 1, A: Reg(2).V(), B: K(1)}},
	{"shfldown a#1, b#2, 1", Instr{Op: ShflDown, D: 1, A: Reg(2).V(), B: K(1)}},
	{"match a#1, b#2", Instr{Op: Match, D: 1, A: Reg(2).V()}},
	{"barrier", Instr{Op: Barrier}},
	{"sync", Instr{Op: Sync}},
	{"fence", Instr{Op: Fence}},
}

// caseHead declares the registers of lineCases.
const caseHead = `func f gpu params 3 shared 64 {
reg a#1:i64
reg b#2:i64
reg c#3:i64
reg x#4:f64
reg y#5:f64
reg "odd \" name"#6:i64
reg #7:i64
reg ctx#8:i64
reg w#9:i32
reg v#10:i32
`

func TestLines(t *testing.T) {
	var done [numOps]bool
	for _, c := range lineCases {
		f, err := Parse(caseHead + c.text + "\n}\n")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if f.Code[0] != c.want {
			t.Errorf("%s: parsed to %+v, want %+v", c.text, f.Code[0], c.want)
		}
		if got := f.Line(0); got != c.text {
			t.Errorf("%s: printed as %s", c.text, got)
		}
		if got := c.want.Normal(); got != c.want {
			t.Errorf("%s: normal form is %+v", c.text, got)
		}
		again(t, f)
		done[c.want.Op] = true
	}
	for op := range numOps {
		if !done[op] {
			t.Errorf("%s has no row", op)
		}
	}
}

func TestComments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{";", ""},
		{"; a; comment \"of\" words", "a; comment \"of\" words"},
		{`; "\"quoted\""`, `"quoted"`},
		{`; "two\nlines"`, "two\nlines"},
		{`; " space"`, " space"},
		{`; "\xff"`, "\xff"},
		{"; größer", "größer"},
	} {
		f, err := Parse(caseHead + "; another\n" + c.text + "\n}\n")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := f.Text(&f.Code[1]); got != c.want {
			t.Errorf("%s: parsed to %q, want %q", c.text, got, c.want)
		}
		if got := f.Line(1); got != c.text {
			t.Errorf("%s: printed as %s", c.text, got)
		}
		again(t, f)
	}
}

func TestParseLenient(t *testing.T) {
	f, err := Parse("\r\n  func  f   cpu|gpu{ ; remark\n\n\tvreg a#1 : i64\t; remark\r\n mov  a#1 ,ctx;remark\n load.u8 a#1,[ ctx+8 ]\nif.eq a#1,0{\n}; remark\nclear a#1\n}\n\n")
	if err != nil {
		t.Fatal(err)
	}
	const want = `func f cpu|gpu {
  vreg a#1:i64
  mov a#1, ctx
  load a#1, [ctx + 8]
  if.eq a#1, 0 {
  }
  clear a#1
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: no func"},
		{"\n\n", "line 1: no func"},
		{"hello", `line 1: expected "func "`},
		{"func f cpu {", "line 1: the function is not closed"},
		{"func f cpu {\nnop\n", `line 2: expected "}"`},
		{"func f abacus {\n}", `line 1: unknown target "abacus"`},
		{"func {\n}", "expected the function's name"},
		{"func 7up cpu {\n}", `"7up" is not a name`},
		{"func \"f cpu {\n}", "bad quotes"},
		{"func f gpu shared x {\n}", "expected a number"},
		{"func f cpu\n}", `expected "{"`},
		{"func f cpu {\n} nop", `line 2: unexpected "nop"`},
		{"func f cpu {\nfrob a#1\n}", `line 2: unknown operation "frob"`},
		{"func f cpu {\nnop.lt\n}", "nop takes no suffix"},
		{"func f cpu {\nbreak.xx L1\n}", `unknown condition "xx"`},
		{"func f cpu {\nbreak. L1\n}", `unknown condition ""`},
		{"func f cpu {\nload.4 a#1, [ctx]\n}", `width "4" needs s or u`},
		{"func f cpu {\nstore.256 [ctx], 1\n}", `width "256" is not a number`},
		{"func f cpu {\nstore.+4 [ctx], 1\n}", `width "+4" is not a number`},
		{"func f cpu {\nmov 5, 5\n}", `"5" is not a name`},
		{"func f cpu {\nmov a, 5\n}", "expected a register"},
		{"func f cpu {\nmov a#1, 5\n}", `line 2: register "a"#1 has no vreg or reg line`},
		{"func f cpu {\nmov a#-1, 5\n}", "register number -1 is negative"},
		{"func f cpu {\nmov a#0, 5\n}", "register 0 is written ctx"},
		{"func f cpu {\nvreg a#2000000000:i64\n}", "there is no register 1"},
		{"func f cpu {\nvreg a#1:i64\nclear b#1\n}", `line 3: register 1 is called "b" here and "a" in line 2`},
		{"func f cpu {\nvreg a#1:i64\nvreg a#1:f64\n}", "line 3: register 1 is"},
		{"func f cpu {\nvreg a#1:i16\n}", `unknown type "i16"`},
		{"func f gpu params x {\n}", "expected a number"},
		{"func f gpu {\nload.u4.twice a#1, [ctx]\n}", `width "u4.twice" is not a number`},
		{"func f gpu {\nmov.once a#1, 1\n}", "mov takes no suffix"},
		{"func f cpu {\nvreg a#1\n}", `expected ":"`},
		{"func f cpu {\nmov ctx, 9223372036854775808\n}", "does not fit in 64 bits"},
		{"func f cpu {\nmov ctx 1\n}", `expected ","`},
		{"func f cpu {\nmov ctx, 1, 2\n}", `unexpected ", 2"`},
		{"func f cpu {\nfconst ctx, one\n}", `"one" is not a float`},
		{"func f cpu {\nfconst ctx, nan\n}", `"nan" is not a float`},
		{"func f cpu {\nfconst ctx, nan:1\n}", "has not the bits of a NaN"},
		{"func f cpu {\nfconst ctx, 1e999\n}", `"1e999" is not a float`},
		{"func f cpu {\nload ctx, ctx\n}", `expected "["`},
		{"func f cpu {\nload ctx, []\n}", "expected a register"},
		{"func f cpu {\nload ctx, [ctx\n}", "expected + or - or ]"},
		{"func f cpu {\nload ctx, [ctx - ctx]\n}", "expected a number after -"},
		{"func f cpu {\nload ctx, [ctx + ctx]\n}", "the base comes first"},
		{"func f cpu {\nload ctx, [ctx*1 + ctx*1]\n}", "two indexes"},
		{"func f cpu {\nload ctx, [ctx*256]\n}", "scale 256"},
		{"func f cpu {\nload ctx, [ctx + 2147483648]\n}", "displacement 2147483648"},
		{"func f cpu {\nload ctx, [8 + ctx]\n}", `expected "]"`},
		{"func f cpu {\nif.lt ctx, 1\n}", `expected "{"`},
		{"func f cpu {\nelse {\n}", "misplaced }"},
		{"func f cpu {\n} nop\n}", "misplaced }"},
		{"func f cpu {\n} while L1\n}", "while needs a condition"},
		{"func f cpu {\nloop 1 {\n}", `expected "L"`},
		{"func f cpu {\nexit\n}", `expected "!"`},
		{"func f cpu {\nyield !4294967296\n}", "does not fit in 32 bits"},
		{"func f cpu {\n; \"a\n}", "bad quotes"},
		{"func f cpu {\n; \"a\" b\n}", "text behind the quoted comment"},
	} {
		f, err := Parse(c.text)
		if err == nil {
			t.Errorf("%q parsed to\n%s", c.text, f)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %q, want %q", c.text, err, c.want)
		}
	}
}

// TestPrintBroken: printing is for looking at broken functions too.
func TestPrintBroken(t *testing.T) {
	f := &Func{Target: 200, Code: []Instr{
		{Op: 250}, {Op: EndIf}, {Op: EndLoop, Cond: 99}, {Op: Add, D: NoReg, A: Reg(7).V(), B: Reg(-9).V()},
		{Op: Load, M: Mem{Space: 9}}, {Op: Vreg, D: 3}, {Op: Special, A: K(-1)},
	}}
	const want = `func "" target200 {
  op250
  }
  } while.cond99 L0 ctx, ctx
  add ?#-1, ?#7, ?#-9
  load.u0 ctx, space9[ctx + ctx*0]
  vreg ?#3
  special ctx, -1
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

// normal is a copy of a function with its instructions in normal form.
func normal(f *Func) *Func {
	g := *f
	g.Code, g.mem = nil, nil
	for _, in := range f.Code {
		g.Code = append(g.Code, in.Normal())
	}
	return &g
}

// again fails unless f prints and reads back to itself.
func again(t *testing.T, f *Func) {
	t.Helper()
	text := f.String()
	g, err := Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if want := normal(f); !reflect.DeepEqual(g, want) {
		t.Fatalf("parsed to\n%+v\nwant\n%+v\ntext\n%s", g, want, text)
	}
	if got := g.String(); got != text {
		t.Fatalf("printed as\n%s\nthen as\n%s", text, got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(q6Text)
	for _, c := range lineCases {
		f.Add(caseHead + c.text + "\n}\n")
	}
	for _, c := range verifyCases {
		f.Add(c.text())
	}
	f.Fuzz(func(t *testing.T, text string) {
		fn, err := Parse(text)
		if err != nil {
			return
		}
		again(t, fn)
		_ = Verify(fn) // must not panic
	})
}

// TestRandomRoundTrip prints and reads functions that have every field set at
// random, used or not, sense or not.
func TestRandomRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "l_quantity", "", "ctx", "shared", "L1", "two words", "q\"uote", "t.c", "1st", "größe", "\xff\n", "#", "-5"}
	pick := func(n int) int { return rng.IntN(n) }
	for range 2000 {
		f := &Func{Name: names[pick(len(names))], Target: Target(pick(4)), SharedBytes: pick(3) * 100, LocalBytes: pick(2) * 24, Params: pick(3), Bound: []int{0, 32, AsItIs}[pick(3)], Rolled: pick(2), Regs: []RegInfo{{Name: "ctx"}}}
		for range 1 + pick(6) {
			f.Regs = append(f.Regs, RegInfo{names[pick(len(names))], Type(pick(3))})
		}
		reg := func() Reg { return Reg(pick(len(f.Regs))) }
		index := func() Reg { return reg() - Reg(pick(2)) } // sometimes NoReg
		imm := func() int64 { return int64(rng.Uint64()) >> pick(64) }
		val := func() Val {
			if pick(2) == 0 {
				return K(imm())
			}
			return Val{R: reg(), Imm: imm()}
		}
		for range pick(20) {
			in := Instr{
				Op: Op(pick(int(numOps))), Cond: Cond(pick(11)), W: uint8(1 << pick(4)), Signed: pick(2) == 0,
				Label: int32(imm()), Code: int32(imm()), D: reg(), D2: reg(),
				A: val(), A2: val(), B: val(), B2: val(), C: val(), C2: val(),
				M:    Mem{Base: index(), Index: index(), Disp: int32(imm()), Scale: uint8(pick(256)), Space: Space(pick(4))},
				Kind: MemKind(pick(5)),
			}
			switch in.Op {
			case Comment:
				in.Code = int32(len(f.Texts))
				f.Texts = append(f.Texts, names[pick(len(names))])
			case FConst, Special, Param: // never registers, as the text has no word for it
				in.A = K(imm())
			}
			f.Code = append(f.Code, in)
		}
		again(t, f)
		_ = Verify(f) // must not panic
	}
}
