package x64

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// generator writes random programs that terminate and touch only their own memory.
type generator struct {
	*ir.Builder
	r      *rand.Rand
	ints   []ir.Reg // may be read and written
	floats []ir.Reg
	locked []ir.Reg // loop counters: read only
	loops  []int32
	depth  int
	times  int // how often the current place runs at most
}

// Integers and floats have separate memory, so that NaNs, which need not have
// equal bits, do not become integers.
const (
	intWords   = 32
	floatWords = 32
	intsAt     = dataAt
	floatsAt   = dataAt + 8*intWords
	resultsAt  = floatsAt + 8*floatWords
)

func newProgram(seed uint64) (*ir.Func, map[int]bool) {
	g := &generator{Builder: ir.NewFunc(fmt.Sprintf("program%d", seed), ir.CPU), r: rand.New(rand.NewPCG(seed, 7)), times: 1}
	floats := map[int]bool{}
	for i := range floatWords {
		floats[floatsAt+8*i] = true
	}
	var fillers []ir.Reg
	if g.r.IntN(10) == 0 {
		for range frameSlots {
			fillers = append(fillers, g.Vreg("fill", ir.I64))
		}
	}
	var ints, fs []ir.Reg
	for range 1 + g.r.IntN(20) {
		ints = append(ints, g.openInt())
	}
	for range 1 + g.r.IntN(16) {
		fs = append(fs, g.openFloat())
	}
	g.block(5 + g.r.IntN(40))
	at := resultsAt
	for _, v := range ints {
		g.Store(ir.At(ir.Ctx, at), v.V(), 8)
		at += 8
	}
	for _, v := range fs {
		g.FStore(ir.At(ir.Ctx, at), v, 8)
		floats[at] = true
		at += 8
	}
	g.Clear(ints...)
	g.Clear(fs...)
	g.Clear(fillers...)
	return g.F, floats
}

func (g *generator) openInt() ir.Reg {
	v := g.Vreg(fmt.Sprintf("i%d", len(g.F.Regs)), ir.I64)
	g.Mov(v, ir.K(randInt(g.r)))
	g.ints = append(g.ints, v)
	return v
}

func (g *generator) openFloat() ir.Reg {
	v := g.Vreg(fmt.Sprintf("f%d", len(g.F.Regs)), ir.F64)
	g.FConst(v, randFloat(g.r))
	g.floats = append(g.floats, v)
	return v
}

func (g *generator) intReg() ir.Reg {
	if n := g.r.IntN(len(g.ints) + len(g.locked)); n >= len(g.ints) {
		return g.locked[n-len(g.ints)]
	}
	return g.target()
}

func (g *generator) target() ir.Reg   { return g.ints[g.r.IntN(len(g.ints))] }
func (g *generator) floatReg() ir.Reg { return g.floats[g.r.IntN(len(g.floats))] }

func (g *generator) val() ir.Val {
	if g.r.IntN(4) == 0 {
		return ir.K(randInt(g.r))
	}
	return g.intReg().V()
}

func (g *generator) cond() ir.Cond { return intConds[g.r.IntN(len(intConds))] }

// block writes n statements with registers of its own.
func (g *generator) block(n int) {
	ni, nf := len(g.ints), len(g.floats)
	for range n {
		switch k := g.r.IntN(100); {
		case k < 8:
			g.openInt()
		case k < 12:
			g.openFloat()
		case k < 22 && g.depth < 5:
			g.branch()
		case k < 28 && g.depth < 4 && g.times < 64:
			g.loop()
		case k < 32 && len(g.loops) > 0:
			g.jump()
		case k < 34:
			g.Yield(int32(100 + g.r.IntN(3)))
		case k < 35:
			g.Exit(int32(1+g.r.IntN(4)), g.cond(), g.val(), g.val())
		case k < 50:
			g.floating()
		case k < 62:
			g.memory()
		case k < 66:
			g.masks()
		default:
			g.integer()
		}
	}
	g.Clear(g.ints[ni:]...)
	g.Clear(g.floats[nf:]...)
	g.ints, g.floats = g.ints[:ni], g.floats[:nf]
}

func (g *generator) branch() {
	g.depth++
	g.If(g.cond(), g.val(), g.val())
	g.block(1 + g.r.IntN(5))
	if g.r.IntN(6) == 0 {
		g.Exit(9, ir.Always, ir.K(0), ir.K(0))
	}
	if g.r.IntN(2) == 0 {
		g.Else()
		g.block(1 + g.r.IntN(5))
	}
	g.EndIf()
	g.depth--
}

// loop counts down in a register of its own, before or after the place to which
// Continue goes.
func (g *generator) loop() {
	g.depth++
	trips := 1 + g.r.IntN(4)
	n := g.Vreg("n", ir.I64)
	g.Mov(n, ir.K(int64(trips)))
	g.locked = append(g.locked, n)
	saved := g.times
	g.times *= trips
	l := g.Loop()
	g.loops = append(g.loops, l)
	if g.r.IntN(2) == 0 {
		g.Op2(ir.Sub, n, n.V(), ir.K(1))
		g.block(1 + g.r.IntN(6))
		g.EndLoop(l, ir.GT, n.V(), ir.K(0))
	} else {
		g.block(1 + g.r.IntN(6))
		g.Next(l)
		g.Op2(ir.Sub, n, n.V(), ir.K(1))
		if g.r.IntN(3) == 0 {
			g.Break(l, ir.EQ, n.V(), ir.K(0))
			g.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		} else {
			g.EndLoop(l, ir.NE, n.V(), ir.K(0))
		}
	}
	g.loops = g.loops[:len(g.loops)-1]
	g.times = saved
	g.locked = g.locked[:len(g.locked)-1]
	g.Clear(n)
	g.depth--
}

func (g *generator) jump() {
	l := g.loops[g.r.IntN(len(g.loops))]
	if g.r.IntN(2) == 0 {
		g.Break(l, g.cond(), g.val(), g.val())
	} else {
		g.Continue(l, g.cond(), g.val(), g.val())
	}
}

func (g *generator) integer() {
	d := g.target()
	switch ops := []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.And, ir.Or, ir.Xor, ir.Shl, ir.Shr, ir.Sar}; g.r.IntN(12) {
	case 0:
		g.Op1([]ir.Op{ir.Neg, ir.Not, ir.Popcnt, ir.Ctz, ir.Clz, ir.Bswap, ir.Mov}[g.r.IntN(7)], d, g.val())
	case 1:
		c := randInt(g.r)
		if c == 0 || c == -1 {
			c = 3
		}
		g.Op2([]ir.Op{ir.Div, ir.Rem}[g.r.IntN(2)], d, g.val(), ir.K(c))
	case 2:
		p := g.Vreg("p", ir.I64)
		g.Op2(ir.And, p, g.val(), ir.K(1<<62-1))
		g.Op2(ir.Or, p, p.V(), ir.K(1))
		g.Op2([]ir.Op{ir.Div, ir.Rem}[g.r.IntN(2)], d, g.val(), p.V())
		g.Op128(ir.Rem128, d, ir.NoReg, g.val(), g.val(), p.V(), ir.K(0), 0)
		g.Clear(p)
	case 3:
		g.OpX([]ir.Op{ir.AddX, ir.SubX, ir.MulX}[g.r.IntN(3)], d, g.intReg().V(), ir.K(int64(g.r.IntN(5)-2)), 50)
	case 4:
		g.Set(d, g.cond(), g.val(), g.val())
		if g.r.IntN(2) == 0 { // fused with the comparison before
			g.If([]ir.Cond{ir.EQ, ir.NE}[g.r.IntN(2)], d.V(), ir.K(0))
			g.Op2(ir.Add, g.target(), g.val(), g.val())
			g.EndIf()
		}
	case 5:
		g.Sel(d, g.cond(), g.val(), g.val(), g.val(), g.val())
	case 6:
		if d2 := g.target(); d2 != d {
			ops := []ir.Op{ir.Add128, ir.Sub128, ir.MulWide, ir.MulWideU, ir.Mul128}
			g.Op128(ops[g.r.IntN(len(ops))], d, d2, g.val(), g.val(), g.val(), g.val(), 0)
		}
	case 7:
		join := g.r.IntN(3) == 0 // the flags of one branch are not those of the other
		if join {
			g.If(g.cond(), g.val(), g.val())
		}
		g.Op2(ops[g.r.IntN(len(ops))], d, d.V(), g.val())
		if join && g.r.IntN(2) == 0 {
			g.Else()
			g.Op2(ops[g.r.IntN(len(ops))], d, d.V(), g.val())
		}
		if join {
			g.EndIf()
		}
		if g.r.IntN(2) == 0 { // the flags it left
			g.If([]ir.Cond{ir.EQ, ir.NE, ir.LT}[g.r.IntN(3)], d.V(), ir.K(0))
			g.Op2(ir.Xor, g.target(), g.val(), g.val())
			g.EndIf()
		}
	default:
		g.Op2(ops[g.r.IntN(len(ops))], d, g.val(), g.val())
	}
}

func (g *generator) floating() {
	d := g.floatReg()
	switch g.r.IntN(8) {
	case 0:
		ops := []ir.Op{ir.FMov, ir.FNeg, ir.FAbs, ir.FSqrt, ir.FFloor, ir.FCeil, ir.FTrunc, ir.FRound, ir.FRound32}
		g.Op1(ops[g.r.IntN(len(ops))], d, g.floatReg().V())
	case 1:
		g.Op1([]ir.Op{ir.I2F, ir.U2F}[g.r.IntN(2)], d, g.val())
	case 2:
		g.FSel(d, g.cond(), g.val(), g.val(), g.floatReg(), g.floatReg())
	case 3:
		i := g.target()
		g.FSet(i, floatConds[g.r.IntN(6)], g.floatReg(), g.floatReg())
		if g.r.IntN(2) == 0 {
			g.If([]ir.Cond{ir.EQ, ir.NE}[g.r.IntN(2)], i.V(), ir.K(0))
			g.Op2(ir.FAdd, d, g.floatReg().V(), g.floatReg().V())
			g.EndIf()
		}
	case 4:
		g.FConst(d, randFloat(g.r))
	default:
		ops := []ir.Op{ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FMin, ir.FMax}
		g.Op2(ops[g.r.IntN(len(ops))], d, g.floatReg().V(), g.floatReg().V())
	}
}

func (g *generator) memory() {
	x := g.Vreg("x", ir.I64)
	g.Op2(ir.And, x, g.val(), ir.K(7))
	m := ir.AtIndex(ir.Ctx, x, 8, intsAt+8*g.r.IntN(intWords-8))
	if g.r.IntN(3) == 0 { // an address in a register
		g.Lea(x, m)
		m = ir.At(x, 0)
	}
	w := 1 << g.r.IntN(4)
	fm := ir.At(ir.Ctx, floatsAt+8*g.r.IntN(floatWords))
	switch g.r.IntN(7) {
	case 6: // a word changed in place, or read where it is
		if g.r.IntN(2) == 0 {
			d, a, s := g.target(), g.val(), g.Vreg("s", ir.I64)
			if g.r.IntN(2) == 0 {
				g.Load8(s, m)
			} else {
				g.Mov(s, g.val())
			}
			b := s.V()
			if g.r.IntN(3) == 0 {
				a, b = b, a
			}
			g.Op2([]ir.Op{ir.Add, ir.Sub, ir.And, ir.Or, ir.Xor, ir.Mul}[g.r.IntN(6)], d, a, b)
			g.Clear(s)
			if g.r.IntN(2) == 0 { // by the flags
				g.If(ir.NE, d.V(), ir.K(0))
				g.Op2(ir.Xor, g.target(), g.val(), g.val())
				g.EndIf()
			}
			break
		}
		d := g.Vreg("d", ir.I64)
		g.Load8(d, m)
		b := g.val()
		if g.r.IntN(8) == 0 {
			b = d.V()
		}
		g.Op2([]ir.Op{ir.Add, ir.Sub, ir.And, ir.Or, ir.Xor, ir.Mul}[g.r.IntN(6)], d, d.V(), b)
		g.Store(m, d.V(), 8)
		g.Clear(d)
	case 0, 1:
		g.Load(g.target(), m, w, g.r.IntN(2) == 0)
	case 2, 3:
		g.Store(m, g.val(), w)
	case 4:
		if g.r.IntN(2) == 0 {
			g.FLoad(g.floatReg(), fm, 8)
		} else {
			g.FStore(fm, g.floatReg(), 8)
		}
	case 5:
		ops := []ir.Op{ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomOr, ir.AtomExch, ir.AtomCAS, ir.AtomFAdd}
		op := ops[g.r.IntN(len(ops))]
		if op == ir.AtomFAdd {
			g.Atom(op, g.floatReg(), fm, g.floatReg().V(), ir.K(0))
			break
		}
		g.Atom(op, g.target(), m, g.val(), g.val())
	}
	g.Clear(x)
}

// masks writes an operation on a mask of rows. The integers' memory is the array, and
// the table too.
func (g *generator) masks() {
	p := g.Vreg("p", ir.I64)
	g.Op2(ir.Add, p, ir.Ctx.V(), ir.K(intsAt))
	d, w := g.target(), 1<<g.r.IntN(3)
	switch g.r.IntN(7) {
	case 0:
		g.Op1(ir.Blsr, d, g.val())
	case 1:
		g.MaskRange(d, g.val(), g.val(), g.val(), ir.At(p, 0), w)
	case 2:
		add := g.Vreg("add", ir.I64)
		g.Op2(ir.Sar, add, g.val(), ir.K(34))
		g.MaskCmp(d, g.cond(), g.val(), add.V(), p.V(), 1<<g.r.IntN(3), ir.At(ir.Ctx, intsAt), w)
		g.Clear(add)
	case 3:
		g.MaskBits(d, g.val(), ir.K(0), p.V(), ir.At(p, g.r.IntN(100)), 1)
	case 4:
		g.MaskLut(d, g.val(), p.V(), 256, ir.At(ir.Ctx, intsAt+g.r.IntN(100)), 1)
	case 5:
		g.MaskBytes(d, g.val(), g.val(), g.val(), g.r.IntN(64), ir.At(p, g.r.IntN(100)))
	case 6:
		n := g.Vreg("n", ir.I64)
		g.Pick(d, g.val(), g.val(), ir.At(p, 0))
		g.Mov(n, d.V())
		l := g.Loop() // what Pick leaves behind its words is not defined
		g.Break(l, ir.GE, n.V(), ir.K(64))
		g.Store(ir.AtIndex(p, n, 4, 0), ir.K(0), 4)
		g.Op2(ir.Add, n, n.V(), ir.K(1))
		g.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		g.Clear(n)
	}
	g.Clear(p)
}

// checkProgram translates and runs one random program.
func checkProgram(t testing.TB, seed uint64) (steps int) {
	f, floats := newProgram(seed)
	if err := ir.Verify(f); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	levels := simdLevels()
	opt := levels[seed%uint64(len(levels))]
	opt.Spill, opt.Plain, opt.Tally = seed>>3%4 == 1, seed>>5%4 == 3, seed>>4%4 == 2
	c, err := TranslateWith(f, opt)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	defer c.Free()
	w := newWorld()
	r := rand.New(rand.NewPCG(seed, 8))
	for i := range intWords {
		w.put(intsAt+8*i, randInt(r))
	}
	for i := range floatWords {
		w.put(floatsAt+8*i, randFloat(r))
	}
	steps, err = compareRuns(w, f, c, floats)
	if err != nil {
		opt.Listing = true
		l, _ := TranslateWith(f, opt)
		t.Fatalf("seed %d: %v\n%s", seed, err, l.Listing())
	}
	return steps
}

func TestPrograms(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	n := uint64(4000)
	if testing.Short() {
		n = 400
	}
	yields := 0
	for seed := range n {
		yields += checkProgram(t, seed) - 1
	}
	if yields == 0 {
		t.Error("no program yielded")
	}
}

func FuzzPrograms(f *testing.F) {
	if !Supported() {
		f.Skip("no x86-64-v3 processor")
	}
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) { checkProgram(t, seed) })
}
