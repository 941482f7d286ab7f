package x64

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// simdLevels are the translations that this processor can run.
func simdLevels() (levels []Options) {
	levels = []Options{{SIMD: LevelNone}}
	if SIMD() >= LevelAVX2 {
		levels = append(levels, Options{SIMD: LevelAVX2})
	}
	if SIMD() >= LevelAVX512 {
		levels = append(levels, Options{SIMD: LevelAVX512}, Options{SIMD: LevelAVX512, noVBMI: true})
	}
	return levels
}

func levelName(o Options) string {
	if o.noVBMI {
		return o.SIMD.String() + " without vbmi"
	}
	return o.SIMD.String()
}

var maskOps = []ir.Op{ir.MaskRange, ir.MaskCmp, ir.MaskBits, ir.MaskLut, ir.MaskBytes, ir.Pick}

// Where the arrays of a test lie in its memory.
const (
	maskX   = dataAt + 64
	maskY   = maskX + 640
	maskTab = maskY + 640
	maskOut = maskTab + 1088
)

// maskCase is an operation on masks with operands in registers, in the frame, in the
// save area or immediate.
type maskCase struct {
	*ir.Builder
	r  *rand.Rand
	in ir.Instr
}

// newMaskCase writes a function around one operation, and the data it works on.
func newMaskCase(r *rand.Rand, op ir.Op, w *world) *ir.Func {
	c := &maskCase{Builder: ir.NewFunc(op.String(), ir.CPU), r: r}
	var d, a, low, other, base, index ir.Reg
	regs := []*ir.Reg{&d, &a, &low, &other, &base, &index}
	place := make([]int, len(regs))
	for i := range place {
		if n := r.IntN(12); n == 11 {
			place[i] = inSaveArea
		} else if n > 6 {
			place[i] = inFrame
		}
	}
	for level := inRegister; level <= inSaveArea; level++ {
		for i, p := range regs {
			if place[i] == level {
				*p = c.Vreg("v", ir.I64)
				c.Mov(*p, ir.K(0))
			}
		}
		for range []int{11, frameSlots, 0}[level] {
			c.Vreg("fill", ir.I64)
		}
	}
	floats := make([]ir.Reg, 12) // which no operation may touch
	for i := range floats {
		floats[i] = c.Vreg("f", ir.F64)
		c.FConst(floats[i], int64(i)<<52|0x3ff0000000000000)
	}

	c.in = ir.Instr{Op: op, D: d, Cond: intConds[r.IntN(len(intConds))], W: 1 << r.IntN(4)}
	mask := randMask(r)
	c.in.A = c.val(a, mask)
	if !c.in.A.IsImm() && r.IntN(2) == 0 {
		c.in.D = a
	}
	c.operands(w, uint64(mask), low, other)
	c.address(base, index)
	c.F.Code = append(c.F.Code, c.in)
	c.If(ir.NE, c.in.D.V(), ir.K(0)) // by the flags that it may have left
	c.Store(ir.At(ir.Ctx, dataAt+8), ir.K(1), 8)
	c.EndIf()
	c.Store(ir.At(ir.Ctx, dataAt), c.in.D.V(), 8)
	for i, f := range floats {
		c.FStore(ir.At(ir.Ctx, maskOut+512+8*i), f, 8)
	}
	for i, p := range regs {
		c.Store(ir.At(ir.Ctx, maskOut+640+8*i), p.V(), 8)
	}
	if op == ir.Pick {
		c.tidy(c.in.D)
	}
	return c.F
}

func randMask(r *rand.Rand) int64 {
	return []int64{0, -1, 1, -1 << 63, int64(r.Uint64()), int64(r.Uint64() & r.Uint64() & r.Uint64()), int64(r.Uint64() << 48)}[r.IntN(7)]
}

// val is v in a register or as an immediate.
func (c *maskCase) val(in ir.Reg, v int64) ir.Val {
	if c.r.IntN(3) == 0 {
		return ir.K(v)
	}
	c.Mov(in, ir.K(v))
	return in.V()
}

// address makes the memory operand. Addresses do not stay in registers that are
// compared in the end: generated code and interpreter agree on them too.
func (c *maskCase) address(base, index ir.Reg) {
	scale := 1 << c.r.IntN(4)
	disp := []int{0, 8, -64, 200, -200, 1}[c.r.IntN(6)]
	at := maskX
	if c.in.Op == ir.Pick {
		at = maskOut + 64
	}
	if c.r.IntN(3) == 0 {
		c.Op2(ir.Add, base, ir.Ctx.V(), ir.K(int64(at-disp)))
		c.in.M = ir.At(base, disp)
		return
	}
	i := c.r.IntN(5)
	c.Mov(index, ir.K(int64(i)))
	c.Op2(ir.Add, base, ir.Ctx.V(), ir.K(int64(at-disp-i*scale)))
	c.in.M = ir.AtIndex(base, index, scale, disp)
}

// operands chooses B, C and C2, and fills the arrays so that all outcomes happen.
func (c *maskCase) operands(w *world, mask uint64, low, other ir.Reg) {
	r, in := c.r, &c.in
	put := func(at, k, width int, v int64) {
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], uint64(v))
		copy(w.mem[at+k*width:], buf[:width])
	}
	table := func(at int) ir.Val {
		c.Op2(ir.Add, other, ir.Ctx.V(), ir.K(int64(at)))
		return other.V()
	}
	fill := func(width int, f func(k int) int64) {
		for k := range 64 {
			put(maskX, k, width, f(k))
		}
	}
	for i := maskX; i < maskOut; i++ {
		w.mem[i] = byte(r.Uint32())
	}
	width := int(in.W)
	switch in.Op {
	case ir.MaskRange:
		from, span := randInt(r), randInt(r)
		if r.IntN(4) == 0 {
			span = 0
		}
		in.B, in.C = c.val(low, from), c.val(other, span)
		fill(width, func(int) int64 {
			return []int64{from, from - 1, from + span, from + span + 1, randInt(r), from + r.Int64N(100)}[r.IntN(6)]
		})
	case ir.MaskCmp:
		w2 := 1 << r.IntN(4)
		in.C2 = ir.K(int64(w2))
		add := randInt(r) >> 2
		if width <= 2 && w2 <= 2 {
			add = int64(int32(add))
		}
		if r.IntN(3) == 0 {
			add = int64(r.IntN(200) - 100)
		}
		if r.IntN(4) == 0 {
			add = 0
		}
		in.B, in.C = c.val(low, add), table(maskY)
		fill(width, func(k int) int64 {
			x := randInt(r) >> 2
			put(maskY, k, w2, []int64{x + add, x + add - 1, x + add + 1, randInt(r) >> 2}[r.IntN(4)])
			return x
		})
	case ir.MaskBits:
		from := randInt(r)
		if width <= 2 {
			from = -int64(r.IntN(100))
		}
		in.B, in.C = c.val(low, from), table(maskTab)
		fill(width, func(k int) int64 {
			switch {
			case mask>>k&1 == 0:
				return int64(r.Uint64()) // would fault, if looked up
			case width <= 2:
				return r.Int64N(8000)
			}
			return from + r.Int64N(8*1024)
		})
	case ir.MaskLut:
		if width == 8 {
			in.W, width = 1, 1
		}
		n := []int{1, 25, 63, 64, 65, 100, 127, 128, 129, 191, 193, 256, 1000}[r.IntN(13)]
		if width == 1 {
			n = min(n, 256)
		}
		in.C2, in.C = ir.K(int64(n)), table(maskTab)
		for i := range n {
			w.mem[maskTab+i] *= byte(r.IntN(2))
		}
		fill(width, func(k int) int64 {
			if mask>>k&1 == 0 {
				return int64(r.Uint64())
			}
			return r.Int64N(int64(n))
		})
	case ir.MaskBytes:
		in.W = 0
		in.C2 = ir.K(int64(r.IntN(64)))
		if r.IntN(3) == 0 {
			in.C2 = ir.K(0)
		}
		in.B, in.C = c.val(low, int64(r.IntN(3)-1)), c.val(other, int64(r.IntN(3)-1+256*r.IntN(2)))
		for i := range 128 {
			w.mem[maskX+i] = byte(r.IntN(3) - 1)
		}
	case ir.Pick:
		in.W = 0
		in.B = c.val(low, randInt(r))
	}
}

// tidy clears the words that Pick may have written behind its n.
func (c *maskCase) tidy(n ir.Reg) {
	l := c.Loop()
	c.Break(l, ir.GE, n.V(), ir.K(64))
	c.Store(ir.AtIndex(ir.Ctx, n, 4, maskOut+64), ir.K(0), 4)
	c.Op2(ir.Add, n, n.V(), ir.K(1))
	c.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
}

func TestMasks(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	variants := 1500
	if testing.Short() {
		variants = 200
	}
	for _, opt := range simdLevels() {
		for _, op := range maskOps {
			t.Run(fmt.Sprint(levelName(opt), "/", op), func(t *testing.T) {
				r := rand.New(rand.NewPCG(9, uint64(op)))
				w := newWorld()
				for range variants {
					clear(w.mem)
					f := newMaskCase(r, op, w)
					c, err := TranslateWith(f, opt)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := compareRuns(w, f, c, nil); err != nil {
						opt.Listing = true
						l, _ := TranslateWith(f, opt)
						t.Fatalf("%v\n%s\n%s", err, f, l.Listing())
					}
					c.Free()
				}
			})
		}
	}
}
