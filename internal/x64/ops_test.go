package x64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// opSpec says what an operation takes, in letters: i an integer, f a float, for
// the operands A A2 B B2 C C2; then its results.
type opSpec struct {
	op    ir.Op
	name  string
	in    string // one letter per operand of A A2 B B2 C C2, '-' for none
	out   string // letters of D and D2
	conds []ir.Cond
	ok    func(v [6]int64) bool // whether the inputs are allowed
}

var intConds = []ir.Cond{ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE, ir.ULT, ir.ULE, ir.UGT, ir.UGE}
var floatConds = []ir.Cond{ir.EQ, ir.NE, ir.LT, ir.LE, ir.GT, ir.GE}

var opSpecs = []opSpec{
	{op: ir.Mov, name: "Mov", in: "i-----", out: "i"},
	{op: ir.Add, name: "Add", in: "i-i---", out: "i"},
	{op: ir.Sub, name: "Sub", in: "i-i---", out: "i"},
	{op: ir.Mul, name: "Mul", in: "i-i---", out: "i"},
	{op: ir.Div, name: "Div", in: "i-i---", out: "i", ok: divisible},
	{op: ir.Rem, name: "Rem", in: "i-i---", out: "i", ok: divisible},
	{op: ir.And, name: "And", in: "i-i---", out: "i"},
	{op: ir.Or, name: "Or", in: "i-i---", out: "i"},
	{op: ir.Xor, name: "Xor", in: "i-i---", out: "i"},
	{op: ir.Shl, name: "Shl", in: "i-i---", out: "i"},
	{op: ir.Shr, name: "Shr", in: "i-i---", out: "i"},
	{op: ir.Sar, name: "Sar", in: "i-i---", out: "i"},
	{op: ir.Neg, name: "Neg", in: "i-----", out: "i"},
	{op: ir.Not, name: "Not", in: "i-----", out: "i"},
	{op: ir.AddX, name: "AddX", in: "i-i---", out: "i"},
	{op: ir.SubX, name: "SubX", in: "i-i---", out: "i"},
	{op: ir.MulX, name: "MulX", in: "i-i---", out: "i"},
	{op: ir.Add128, name: "Add128", in: "iiii--", out: "ii"},
	{op: ir.Sub128, name: "Sub128", in: "iiii--", out: "ii"},
	{op: ir.Add128X, name: "Add128X", in: "iiii--", out: "ii"},
	{op: ir.Sub128X, name: "Sub128X", in: "iiii--", out: "ii"},
	{op: ir.MulWide, name: "MulWide", in: "i-i---", out: "ii"},
	{op: ir.MulWideU, name: "MulWideU", in: "i-i---", out: "ii"},
	{op: ir.Mul128, name: "Mul128", in: "iiii--", out: "ii"},
	{op: ir.Div128, name: "Div128", in: "iii---", out: "ii", ok: func(v [6]int64) bool { return v[2] > 0 }},
	{op: ir.Rem128, name: "Rem128", in: "iii---", out: "i", ok: func(v [6]int64) bool { return v[2] > 0 }},
	{op: ir.Popcnt, name: "Popcnt", in: "i-----", out: "i"},
	{op: ir.Ctz, name: "Ctz", in: "i-----", out: "i"},
	{op: ir.Clz, name: "Clz", in: "i-----", out: "i"},
	{op: ir.Blsr, name: "Blsr", in: "i-----", out: "i"},
	{op: ir.Bswap, name: "Bswap", in: "i-----", out: "i"},
	{op: ir.FMov, name: "FMov", in: "f-----", out: "f"},
	{op: ir.FAdd, name: "FAdd", in: "f-f---", out: "f"},
	{op: ir.FSub, name: "FSub", in: "f-f---", out: "f"},
	{op: ir.FMul, name: "FMul", in: "f-f---", out: "f"},
	{op: ir.FDiv, name: "FDiv", in: "f-f---", out: "f"},
	{op: ir.FNeg, name: "FNeg", in: "f-----", out: "f"},
	{op: ir.FAbs, name: "FAbs", in: "f-----", out: "f"},
	{op: ir.FSqrt, name: "FSqrt", in: "f-----", out: "f"},
	{op: ir.FMin, name: "FMin", in: "f-f---", out: "f"},
	{op: ir.FMax, name: "FMax", in: "f-f---", out: "f"},
	{op: ir.FFloor, name: "FFloor", in: "f-----", out: "f"},
	{op: ir.FCeil, name: "FCeil", in: "f-----", out: "f"},
	{op: ir.FTrunc, name: "FTrunc", in: "f-----", out: "f"},
	{op: ir.FRound, name: "FRound", in: "f-----", out: "f"},
	{op: ir.FRound32, name: "FRound32", in: "f-----", out: "f"},
	{op: ir.FConst, name: "FConst", in: "k-----", out: "f"},
	{op: ir.I2F, name: "I2F", in: "i-----", out: "f"},
	{op: ir.U2F, name: "U2F", in: "i-----", out: "f"},
	{op: ir.F2I, name: "F2I", in: "f-----", out: "i", ok: func(v [6]int64) bool {
		return math.Abs(math.Float64frombits(uint64(v[0]))) < 9e18
	}},
	{op: ir.FBits, name: "FBits", in: "f-----", out: "i"},
	{op: ir.BitsF, name: "BitsF", in: "i-----", out: "f"},
	{op: ir.Set, name: "Set", in: "i-i---", out: "i", conds: append([]ir.Cond{ir.Always}, intConds...)},
	{op: ir.FSet, name: "FSet", in: "f-f---", out: "i", conds: floatConds},
	{op: ir.Sel, name: "Sel", in: "i-i-ii", out: "i", conds: append([]ir.Cond{ir.Always}, intConds...)},
	{op: ir.FSel, name: "FSel", in: "i-i-ff", out: "f", conds: append([]ir.Cond{ir.Always}, intConds...)},
}

func divisible(v [6]int64) bool { return v[2] != 0 && !(v[2] == -1 && v[0] == math.MinInt64) }

var edgeInts = []int64{0, 1, -1, 2, -2, 3, 4, -4, 5, -7, 7, 8, 9, 10, 63, 64, 65, 100, 127, 128, -128, -129, 255, 256, 1000, 1024, -1024, 0xffff, 0x10000, 86400,
	math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, 0xffffffff, 0x100000000, 1e10, -1e10, 1 << 62, -1 << 62,
	math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 0x7fffffff00000000, 1e18}

var edgeFloats = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 1e300, -1e300, 5e-324, math.MaxFloat64,
	math.Inf(1), math.Inf(-1), math.NaN(), 4503599627370497.5, 9007199254740993, 1e18, -1e18, 3.4028235677973366e38}

func randInt(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0, 1:
		return edgeInts[r.IntN(len(edgeInts))]
	case 2:
		return int64(r.Uint64()) >> r.IntN(64)
	}
	return int64(r.Uint64())
}

func randFloat(r *rand.Rand) int64 {
	v := edgeFloats[r.IntN(len(edgeFloats))]
	switch r.IntN(3) {
	case 0:
		v = float64(r.IntN(2000)-1000) / 4
	case 1:
		v = r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
	}
	return int64(math.Float64bits(v))
}

// Placements of a value.
const (
	inRegister = iota
	inFrame
	inSaveArea
	asImmediate
)

// opCase is a function around one operation with a chosen placement of everything.
type opCase struct {
	spec   *opSpec
	instr  ir.Instr
	vals   []caseVal // virtual registers in order of use
	f      *ir.Func
	floats map[int]bool
}

type caseVal struct {
	typ   ir.Type
	place int
	reg   ir.Reg
}

// newOpCase chooses operands, aliases and placements at random and builds the
// function: open, load everything from memory, operate, store everything back.
func newOpCase(r *rand.Rand, spec *opSpec, cond ir.Cond) *opCase {
	c := &opCase{spec: spec, floats: map[int]bool{}}
	var vals []caseVal
	pick := func(letter byte) int { // index of a value, often one that exists
		typ := ir.I64
		if letter == 'f' {
			typ = ir.F64
		}
		for i, v := range vals {
			if v.typ == typ && r.IntN(4) == 0 {
				return i
			}
		}
		place := inRegister
		if n := r.IntN(10); n >= 9 {
			place = inSaveArea
		} else if n >= 5 {
			place = inFrame
		}
		vals = append(vals, caseVal{typ: typ, place: place})
		return len(vals) - 1
	}
	var inputs [6]int // index into vals, or -1
	var imms [6]int64
	for {
		for k := range inputs {
			inputs[k] = -1
			switch letter := spec.in[k]; {
			case letter == 'k':
				imms[k] = randFloat(r)
			case letter == 'i' && r.IntN(3) == 0:
				imms[k] = randInt(r)
			case letter != '-':
				inputs[k] = pick(letter)
				imms[k] = 1 // passes ok for constants beside it
			}
		}
		if spec.ok == nil || spec.op == ir.F2I || spec.ok(imms) {
			break
		}
		vals = vals[:0]
	}
	var outs [2]int
	for k := range spec.out {
		for {
			outs[k] = pick(spec.out[k])
			if k == 0 || outs[1] != outs[0] {
				break
			}
		}
	}
	b := ir.NewFunc(spec.name, ir.CPU)
	openAll := func(place int) {
		for i := range vals {
			if vals[i].place == place {
				vals[i].reg = b.Vreg(fmt.Sprintf("v%d", i), vals[i].typ)
			}
		}
	}
	openAll(inRegister)
	var fillers []ir.Reg
	fill := func(n int, typ ir.Type) {
		for range n {
			fillers = append(fillers, b.Vreg("fill", typ))
		}
	}
	spilled, far := false, false
	for _, v := range vals {
		spilled = spilled || v.place != inRegister
		far = far || v.place == inSaveArea
	}
	if spilled {
		fill(11, ir.I64)
		fill(12, ir.F64)
		openAll(inFrame)
	}
	if far {
		fill(frameSlots, ir.I64)
		openAll(inSaveArea)
	}
	at := func(i int) ir.Mem { return ir.At(ir.Ctx, dataAt+8*i) }
	for i, v := range vals {
		if v.typ == ir.F64 {
			b.FLoad(v.reg, at(i), 8)
			c.floats[dataAt+8*i] = true
		} else {
			b.Load8(v.reg, at(i))
		}
	}
	operand := func(k int) ir.Val {
		if inputs[k] < 0 {
			return ir.K(imms[k])
		}
		return vals[inputs[k]].reg.V()
	}
	in := ir.Instr{Op: spec.op, Cond: cond, Code: 77, D2: ir.NoReg,
		A: operand(0), A2: operand(1), B: operand(2), B2: operand(3), C: operand(4), C2: operand(5)}
	in.D = vals[outs[0]].reg
	if len(spec.out) > 1 {
		in.D2 = vals[outs[1]].reg
	}
	c.instr = in
	b.F.Code = append(b.F.Code, in)
	for i, v := range vals {
		if v.typ == ir.F64 {
			b.FStore(at(i), v.reg, 8)
		} else {
			b.Store(at(i), v.reg.V(), 8)
		}
	}
	if len(spec.out) == 1 && spec.out == "i" { // the flags that some operations leave
		b.If(ir.NE, in.D.V(), ir.K(0))
		b.Store(ir.At(ir.Ctx, dataAt+8*20), ir.K(1), 8)
		b.EndIf()
	}
	for i := len(fillers) - 1; i >= 0; i-- {
		b.Clear(fillers[i])
	}
	c.vals, c.f = vals, b.F
	return c
}

// inputsOf fills the world's memory with values the operation accepts.
func (c *opCase) inputsOf(r *rand.Rand, w *world) {
	for {
		var v [6]int64
		words := make([]int64, len(c.vals))
		for i := range words {
			words[i] = randInt(r)
			if c.vals[i].typ == ir.F64 {
				words[i] = randFloat(r)
			}
		}
		for k, o := range []ir.Val{c.instr.A, c.instr.A2, c.instr.B, c.instr.B2, c.instr.C, c.instr.C2} {
			v[k] = o.Imm
			for i := range c.vals {
				if !o.IsImm() && c.vals[i].reg == o.R {
					v[k] = words[i]
				}
			}
		}
		if c.spec.ok != nil && !c.spec.ok(v) {
			continue
		}
		for i, x := range words {
			w.put(dataAt+8*i, x)
		}
		return
	}
}

func TestOps(t *testing.T) {
	variants := 120
	if testing.Short() {
		variants = 25
	}
	for i := range opSpecs {
		spec := &opSpecs[i]
		t.Run(spec.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(spec.op)))
			conds := spec.conds
			if conds == nil {
				conds = []ir.Cond{ir.Always}
			}
			w := newWorld()
			for range variants {
				for _, cond := range conds {
					c := newOpCase(r, spec, cond)
					code := mustTranslate(t, c.f)
					for range 12 {
						c.inputsOf(r, w)
						before := append([]byte(nil), w.mem[dataAt:dataAt+64]...)
						w.put(dataAt+8*20, 0)
						if _, err := compareRuns(w, c.f, code, c.floats); err != nil {
							l, _ := TranslateWith(c.f, Options{Listing: true})
							t.Fatalf("%v\n%+v\nvals %+v\ninputs %x\n%s", err, c.instr, c.vals, before, l.Listing())
						}
					}
				}
			}
		})
	}
}

// TestAliases tries every way in which the operands of pair operations can share
// registers.
func TestAliases(t *testing.T) {
	type shape struct {
		op ir.Op
		in [6]bool // D D2 A A2 B B2: which exist
	}
	all := [6]bool{true, true, true, true, true, true}
	shapes := []shape{{ir.Add128, all}, {ir.Sub128, all}, {ir.Mul128, all}, {ir.MulWide, [6]bool{true, true, true, false, true, false}},
		{ir.MulWideU, [6]bool{true, true, true, false, true, false}}, {ir.Div128, [6]bool{true, true, true, true, true, false}}}
	const regs = 4
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	w := newWorld()
	r := rand.New(rand.NewPCG(5, 6))
	for _, sh := range shapes {
		for n := range 1 << (2 * 6) {
			if testing.Short() && n%5 != int(sh.op)%5 {
				continue
			}
			var pick [6]int
			valid := true
			for k := range pick {
				pick[k] = n >> (2 * k) & 3
				valid = valid && (sh.in[k] || pick[k] == 0)
			}
			if !valid || pick[0] == pick[1] {
				continue
			}
			b := ir.NewFunc("aliases", ir.CPU)
			if n%3 == 0 { // all in the frame
				for range 11 {
					b.Vreg("fill", ir.I64)
				}
			}
			var v [regs]ir.Reg
			for i := range v {
				v[i] = b.Vreg("v", ir.I64)
				b.Load8(v[i], ir.At(ir.Ctx, dataAt+8*i))
			}
			b.Op128(sh.op, v[pick[0]], v[pick[1]], v[pick[2]].V(), v[pick[3]].V(), v[pick[4]].V(), v[pick[5]].V(), 0)
			for i := range v {
				b.Store(ir.At(ir.Ctx, dataAt+8*i), v[i].V(), 8)
			}
			c, err := Translate(b.F)
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				for i := range v {
					w.put(dataAt+8*i, max(randInt(r), 1))
				}
				if sh.op != ir.Div128 {
					w.put(dataAt+8*r.IntN(4), randInt(r))
				}
				if _, err := compareRuns(w, b.F, c, nil); err != nil {
					t.Fatalf("%v: %v %v", err, sh, pick)
				}
			}
			c.Free()
		}
	}
}

// TestConstantDivisors divides by many constants.
func TestConstantDivisors(t *testing.T) {
	if !Supported() {
		t.Skip("no x86-64-v3 processor")
	}
	r := rand.New(rand.NewPCG(7, 8))
	divisors := append([]int64{}, edgeInts...)
	for c := int64(1); c < 300; c++ {
		divisors = append(divisors, c, -c)
	}
	for k := range 63 {
		divisors = append(divisors, 1<<k, -1<<k, 1<<k+1, 1<<k-1, int64(r.Uint64())>>k)
	}
	for p := int64(1); p < 1e18; p *= 10 {
		divisors = append(divisors, p, 3600*24*p)
	}
	w := newWorld()
	for _, c := range divisors {
		if c == 0 {
			continue
		}
		b := ir.NewFunc("divide", ir.CPU)
		x, y := b.Vreg("x", ir.I64), b.Vreg("y", ir.I64)
		b.Load8(x, ir.At(ir.Ctx, dataAt))
		b.Op2(ir.Div, y, x.V(), ir.K(c))
		b.Op2(ir.Rem, x, x.V(), ir.K(c))
		b.Store(ir.At(ir.Ctx, dataAt), y.V(), 8)
		b.Store(ir.At(ir.Ctx, dataAt+8), x.V(), 8)
		code, err := Translate(b.F)
		if err != nil {
			t.Fatal(err)
		}
		dividends := []int64{c, c - 1, c + 1, -c, 2 * c, 2*c - 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 0, 1, -1}
		for range 20 {
			dividends = append(dividends, randInt(r), randInt(r)/c*c)
		}
		for _, a := range dividends {
			if a == math.MinInt64 && c == -1 {
				continue
			}
			w.put(dataAt, a)
			code.Call(unsafe.Pointer(&w.mem[0]))
			if q, m := int64(word(w.mem, dataAt)), int64(word(w.mem, dataAt+8)); q != a/c || m != a%c {
				t.Fatalf("%d / %d is %d rest %d, want %d rest %d", a, c, q, m, a/c, a%c)
			}
		}
		code.Free()
	}
}
