package x64

import (
	"math/bits"

	"golang.org/x/sys/cpu"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Masks of 64 rows: MaskRange and its relatives, and Pick. They are translated at
// one of three levels, which give the same results:
//
//   - AVX-512 (simd_avx512.go) uses zmm16–zmm23 and the mask registers only. No
//     instruction of the other levels, nor of Go, can name the former, so there are
//     no dirty upper halves to clean up.
//   - AVX2 (simd_avx2.go) uses ymm12–ymm15, the float temporaries, and cleans up with
//     vzeroupper at the end of each operation, which leaves the lower halves alone.
//   - Without (simd_loop.go) they are loops over the rows of the mask.

// Level says which vector instructions generated code may use.
type Level uint8

const (
	LevelAuto Level = iota // the best that this processor has
	LevelNone
	LevelAVX2
	LevelAVX512
)

var levelNames = [...]string{"auto", "off", "avx2", "avx512"}

func (l Level) String() string { return levelNames[l] }

// Best is the level that l means on this processor.
func (l Level) Best() Level {
	if best := SIMD(); l == LevelAuto || l > best {
		return best
	}
	return l
}

// ParseLevel reads what String writes.
func ParseLevel(s string) (Level, bool) {
	for l, name := range levelNames {
		if name == s {
			return Level(l), true
		}
	}
	return 0, false
}

// SIMD is the best level of this processor.
func SIMD() Level {
	switch x := &cpu.X86; {
	case !Supported():
		return LevelNone
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return LevelAVX512
	}
	return LevelAVX2 // part of what Supported asks for
}

// level is what a translation uses of what it may use, and whether AVX-512 comes with
// byte permutations (VBMI).
func (o Options) level() (l Level, vbmi bool) {
	if o.Foreign && o.SIMD != LevelAuto {
		return o.SIMD, true
	}
	l = SIMD()
	if o.SIMD != LevelAuto {
		l = min(l, o.SIMD)
	}
	return l, cpu.X86.HasAVX512VBMI && !o.noVBMI
}

// maskRoom bounds what one operation on masks may write.
const maskRoom = 4096

// rowMask translates an operation on masks.
func (t *translator) rowMask(in *ir.Instr) {
	t.room(maskRoom)
	switch {
	case in.W&(in.W-1) != 0 || in.W > 8 || in.W == 0 && in.Op != ir.MaskBytes && in.Op != ir.Pick:
		t.fail("elements of %d bytes", in.W)
	case t.level == LevelAVX512:
		t.mask512(in)
	case t.level == LevelAVX2:
		t.mask256(in)
	default:
		t.maskLoop(in)
	}
}

// lg is the logarithm of an element's width.
func lg(w uint8) inst { return inst(bits.TrailingZeros8(w)) }

// low is the low w bytes of v.
func low(v int64, w uint8) int64 {
	if w == 8 {
		return v
	}
	return v & (1<<(8*w) - 1)
}

func isImm(v ir.Val, i int64) bool { return v.IsImm() && v.Imm == i }

// constant is v as elements of w bytes see it.
func constant(v ir.Val, w uint8) ir.Val {
	if v.IsImm() {
		v.Imm = low(v.Imm, w)
	}
	return v
}

// negative makes tmp hold -v, as far as elements of w bytes see it.
func (t *translator) negative(v ir.Val, w uint8, tmp reg) {
	if v.IsImm() {
		t.imm(tmp, low(-v.Imm, w))
		return
	}
	t.into(tmp, v)
	t.insR(iNEG, 0, 0, tmp, 0)
}

func (m mem) plus(disp int) mem {
	m.disp += int32(disp)
	return m
}

// keep is D = A & r, where r is a temporary and scratch another one.
func (t *translator) keep(in *ir.Instr, r, scratch reg) {
	if isImm(in.A, -1) {
		t.finish(in.D, r, scratch)
		return
	}
	l := t.target(in.D)
	switch {
	case l.isReg() && in.A.R == in.D:
		t.insR(iAND+aluRM, l.reg(), 0, r, 0)
	default:
		t.alu(iAND, r, in.A, scratch)
		t.finish(in.D, r, scratch)
	}
	t.setFlags(in.D, ccNE)
}

// blsr is D = A & (A-1). Its flags are the result's.
func (t *translator) blsr(d ir.Reg, a ir.Val) {
	r := t.dst(d, rax)
	t.insR(iBLSR, 0, r, t.use(a, rax), 0)
	t.finish(d, r, rcx)
	t.setFlags(d, ccNE)
}
