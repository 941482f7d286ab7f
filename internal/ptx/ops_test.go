package ptx

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// opCase is one operation with a reference in Go.
type opCase struct {
	name string
	in   string                                        // types of the operands, i, w (I32) or f
	out  string                                        // types of the results
	emit func(b *ir.Builder, d []ir.Reg, in []ir.Val)  //
	ref  func(in []uint64) (out []uint64, failed bool) // failed: the status must show
	ok   func(in []uint64) bool                        // inputs that may be asked for; nil: all
	regs bool                                          // operands cannot be immediate
}

const overflowCode = 77

func typeOf(c byte) ir.Type {
	return map[byte]ir.Type{'i': ir.I64, 'w': ir.I32, 'f': ir.F64}[c]
}

// TestOps runs every operation over edge and random values, with each way in
// which destinations can be operands too, and with immediates.
func TestOps(t *testing.T) {
	for _, c := range opCases() {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

// variant is one kernel of a case: alias[j] is the operand that result j
// overwrites, or -1; imms fixes operands to constants.
type variant struct {
	alias []int
	imms  map[int]int64
}

func (v variant) String() string { return fmt.Sprintf("alias %v imm %v", v.alias, v.imms) }

func (c *opCase) variants() []variant {
	var vs []variant
	var grow func(alias []int)
	grow = func(alias []int) {
		if len(alias) == len(c.out) {
			vs = append(vs, variant{alias: append([]int{}, alias...)})
			return
		}
		grow(append(alias, -1))
		for i := range c.in {
			if c.in[i] == c.out[len(alias)] && !contains(alias, i) {
				grow(append(alias, i))
			}
		}
	}
	grow(nil)
	if c.regs {
		return vs
	}
	fresh := vs[0].alias
	for i := range c.in {
		if c.in[i] == 'i' {
			for _, k := range []int64{0, 1, -1, 7, 63, 70, 1 << 40, math.MaxInt64, math.MinInt64} {
				vs = append(vs, variant{fresh, map[int]int64{i: k}})
			}
		}
		if c.in[i] == 'w' {
			for _, k := range []int64{0, 1, -1, 7, 31, 70, math.MaxInt32, math.MinInt32, math.MaxUint32} {
				vs = append(vs, variant{fresh, map[int]int64{i: k}})
			}
		}
	}
	if !strings.Contains(c.in, "f") {
		all := map[int]int64{}
		for i := range c.in {
			all[i] = int64(5 + 3*i)
		}
		vs = append(vs, variant{fresh, all})
	}
	return vs
}

func contains(s []int, x int) bool {
	for _, y := range s {
		if x == y {
			return true
		}
	}
	return false
}

// kernel builds the function of a variant: buffers are operands, then results.
func (c *opCase) kernel(name string, v variant) *ir.Func {
	b := ir.NewFunc(name, ir.GPU)
	b.Comment(c.name + " " + v.String())
	i := threadIndex(b)
	ps := pointers(b, len(c.in)+len(c.out))
	vals := make([]ir.Val, len(c.in))
	for k := range vals {
		r := b.Vreg(fmt.Sprintf("in%d", k), typeOf(c.in[k]))
		vals[k] = r.V()
		switch typeOf(c.in[k]) {
		case ir.F64:
			b.FLoad(r, ir.AtIndex(ps[k], i, 8, 0), 8)
		case ir.I32:
			b.Load(r, ir.AtIndex(ps[k], i, 8, 0), 4, false)
		default:
			b.Load8(r, ir.AtIndex(ps[k], i, 8, 0))
		}
	}
	d := make([]ir.Reg, len(c.out))
	for j, from := range v.alias {
		if from >= 0 {
			d[j] = vals[from].R
		} else {
			d[j] = b.Vreg(fmt.Sprintf("out%d", j), typeOf(c.out[j]))
		}
	}
	for k, x := range v.imms {
		vals[k] = ir.K(x)
	}
	c.emit(b, d, vals)
	for j := range d {
		m := ir.AtIndex(ps[len(c.in)+j], i, 8, 0)
		switch typeOf(c.out[j]) {
		case ir.F64:
			b.FStore(m, d[j], 8)
		case ir.I32:
			b.Store(m, d[j].V(), 4)
		default:
			b.Store(m, d[j].V(), 8)
		}
	}
	return b.F
}

// tuples are the operands to try.
func (c *opCase) tuples(v variant, n int) [][]uint64 {
	r := rand.New(rand.NewPCG(1, uint64(len(c.name))))
	var ts [][]uint64
	add := func(in []uint64) {
		for k, x := range v.imms {
			in[k] = uint64(x)
		}
		for k := range in {
			if c.in[k] == 'w' {
				in[k] &= math.MaxUint32
			}
		}
		if c.ok == nil || c.ok(in) {
			ts = append(ts, in)
		}
	}
	edges := func(k int) []uint64 {
		var es []uint64
		if c.in[k] == 'f' {
			for _, f := range floats {
				es = append(es, math.Float64bits(f))
			}
		} else {
			for _, x := range ints {
				es = append(es, uint64(x))
			}
		}
		return es
	}
	switch len(c.in) {
	case 1:
		for _, x := range edges(0) {
			add([]uint64{x})
		}
	case 2:
		for _, x := range edges(0) {
			for _, y := range edges(1) {
				add([]uint64{x, y})
			}
		}
	}
	for range n {
		in := make([]uint64, len(c.in))
		for k := range in {
			in[k] = edge(r, typeOf(c.in[k]))
		}
		add(in)
	}
	return ts
}

func (c *opCase) run(t *testing.T) {
	vs := c.variants()
	fs := make([]*ir.Func, len(vs))
	for i, v := range vs {
		fs[i] = c.kernel(fmt.Sprintf("k%d", i), v)
	}
	text, ks := compile(t, fs...)
	for i, v := range vs {
		ts := c.tuples(v, 300)
		if len(ts) == 0 {
			continue
		}
		// Failures one by one, since they share a status word; the rest at once.
		var good [][]uint64
		singles := 0
		for _, in := range ts {
			if _, failed := c.ref(in); !failed {
				good = append(good, in)
			} else if singles++; singles <= 100 {
				c.check(t, fmt.Sprintf("%v\n%s", v, text), ks[i].Name, [][]uint64{in}, func(m *machine) { m.run(t, ks[i], 1, 1) })
			}
		}
		if len(good) > 0 {
			block := 64
			for len(good)%block != 0 {
				good = append(good, good[0])
			}
			c.check(t, fmt.Sprintf("%v\n%s", v, text), ks[i].Name, good,
				func(m *machine) { m.run(t, ks[i], len(good)/block, block) })
		}
		if t.Failed() {
			return
		}
	}
}

func (c *opCase) check(t *testing.T, what, kernel string, ts [][]uint64, run func(*machine)) {
	t.Helper()
	bufs := make([][]uint64, len(c.in)+len(c.out))
	for k := range bufs {
		bufs[k] = make([]uint64, len(ts))
		for i := range ts {
			if k < len(c.in) {
				bufs[k][i] = ts[i][k]
			}
		}
	}
	m := newMachine(bufs...)
	run(m)
	for i, in := range ts {
		want, failed := c.ref(in)
		for j, w := range want {
			if got := bufs[len(c.in)+j][i]; !same(typeOf(c.out[j]), got, w) {
				t.Errorf("%s(%#x): result %d is %#x, want %#x in kernel %s, %s", c.name, in, j, got, w, kernel, what)
				return
			}
		}
		wantStatus := uint64(0)
		if failed {
			wantStatus = overflowCode
		}
		if m.status() != wantStatus {
			t.Errorf("%s(%#x): status %d, want %d, %s", c.name, in, m.status(), wantStatus, what)
			return
		}
	}
}

// Shorthands for references.

func int2(f func(x, y int64) int64) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) { return []uint64{uint64(f(int64(in[0]), int64(in[1])))}, false }
}

func int1(f func(x uint64) uint64) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) { return []uint64{f(in[0])}, false }
}

func float2(f func(x, y float64) float64) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) {
		return []uint64{math.Float64bits(f(math.Float64frombits(in[0]), math.Float64frombits(in[1])))}, false
	}
}

func float1(f func(x float64) float64) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) {
		return []uint64{math.Float64bits(f(math.Float64frombits(in[0])))}, false
	}
}

func bool64(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Big numbers as references of 128-bit arithmetic.

func big128(lo, hi uint64) *big.Int {
	x := new(big.Int).SetInt64(int64(hi))
	x.Lsh(x, 64)
	return x.Add(x, new(big.Int).SetUint64(lo))
}

func split128(x *big.Int) (out []uint64, fits bool) {
	mod := new(big.Int).Lsh(big.NewInt(1), 128)
	m := new(big.Int).Mod(x, mod)
	lo := new(big.Int).And(m, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	hi := new(big.Int).Rsh(m, 64).Uint64()
	return []uint64{lo, hi}, big128(lo, hi).Cmp(x) == 0
}

func wide(f func(z, x, y *big.Int) *big.Int, checked bool) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) {
		out, fits := split128(f(new(big.Int), big128(in[0], in[1]), big128(in[2], in[3])))
		return out, checked && !fits
	}
}

func checked64(f func(z, x, y *big.Int) *big.Int) func([]uint64) ([]uint64, bool) {
	return func(in []uint64) ([]uint64, bool) {
		z := f(new(big.Int), big.NewInt(int64(in[0])), big.NewInt(int64(in[1])))
		out, _ := split128(z)
		return out[:1], !z.IsInt64()
	}
}

func opCases() []opCase {
	op1 := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Op1(op, d[0], in[0]) }
	}
	op2 := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Op2(op, d[0], in[0], in[1]) }
	}
	opX := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.OpX(op, d[0], in[0], in[1], overflowCode) }
	}
	op128 := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) {
			b.Op128(op, d[0], d[1], in[0], in[1], in[2], in[3], overflowCode)
		}
	}
	mulWide := func(op ir.Op) func(*ir.Builder, []ir.Reg, []ir.Val) {
		return func(b *ir.Builder, d []ir.Reg, in []ir.Val) {
			b.Op128(op, d[0], d[1], in[0], ir.Val{}, in[1], ir.Val{}, 0)
		}
	}
	divisible := func(in []uint64) bool {
		return in[1] != 0 && !(int64(in[0]) == math.MinInt64 && int64(in[1]) == -1)
	}
	isInt64 := func(in []uint64) bool {
		f := math.Trunc(math.Float64frombits(in[0]))
		return f >= -1<<63 && f < 1<<63
	}
	cases := []opCase{
		{name: "mov", in: "i", out: "i", emit: op1(ir.Mov), ref: int1(func(x uint64) uint64 { return x })},
		{name: "add", in: "ii", out: "i", emit: op2(ir.Add), ref: int2(func(x, y int64) int64 { return x + y })},
		{name: "sub", in: "ii", out: "i", emit: op2(ir.Sub), ref: int2(func(x, y int64) int64 { return x - y })},
		{name: "mul", in: "ii", out: "i", emit: op2(ir.Mul), ref: int2(func(x, y int64) int64 { return x * y })},
		{name: "div", in: "ii", out: "i", emit: op2(ir.Div), ok: divisible, ref: int2(func(x, y int64) int64 { return x / y })},
		{name: "rem", in: "ii", out: "i", emit: op2(ir.Rem), ok: divisible, ref: int2(func(x, y int64) int64 { return x % y })},
		{name: "and", in: "ii", out: "i", emit: op2(ir.And), ref: int2(func(x, y int64) int64 { return x & y })},
		{name: "or", in: "ii", out: "i", emit: op2(ir.Or), ref: int2(func(x, y int64) int64 { return x | y })},
		{name: "xor", in: "ii", out: "i", emit: op2(ir.Xor), ref: int2(func(x, y int64) int64 { return x ^ y })},
		{name: "shl", in: "ii", out: "i", emit: op2(ir.Shl), ref: int2(func(x, y int64) int64 { return x << (y & 63) })},
		{name: "shr", in: "ii", out: "i", emit: op2(ir.Shr), ref: int2(func(x, y int64) int64 { return int64(uint64(x) >> (y & 63)) })},
		{name: "sar", in: "ii", out: "i", emit: op2(ir.Sar), ref: int2(func(x, y int64) int64 { return x >> (y & 63) })},
		{name: "neg", in: "i", out: "i", emit: op1(ir.Neg), ref: int1(func(x uint64) uint64 { return -x })},
		{name: "not", in: "i", out: "i", emit: op1(ir.Not), ref: int1(func(x uint64) uint64 { return ^x })},

		{name: "addx", in: "ii", out: "i", emit: opX(ir.AddX), ref: checked64((*big.Int).Add)},
		{name: "subx", in: "ii", out: "i", emit: opX(ir.SubX), ref: checked64((*big.Int).Sub)},
		{name: "mulx", in: "ii", out: "i", emit: opX(ir.MulX), ref: checked64((*big.Int).Mul)},
		{name: "add128", in: "iiii", out: "ii", emit: op128(ir.Add128), ref: wide((*big.Int).Add, false)},
		{name: "sub128", in: "iiii", out: "ii", emit: op128(ir.Sub128), ref: wide((*big.Int).Sub, false)},
		{name: "add128x", in: "iiii", out: "ii", emit: op128(ir.Add128X), ref: wide((*big.Int).Add, true)},
		{name: "sub128x", in: "iiii", out: "ii", emit: op128(ir.Sub128X), ref: wide((*big.Int).Sub, true)},
		{name: "mul128", in: "iiii", out: "ii", emit: op128(ir.Mul128), ref: wide((*big.Int).Mul, false)},
		{name: "mulwide", in: "ii", out: "ii", emit: mulWide(ir.MulWide), ref: func(in []uint64) ([]uint64, bool) {
			out, _ := split128(new(big.Int).Mul(big.NewInt(int64(in[0])), big.NewInt(int64(in[1]))))
			return out, false
		}},
		{name: "mulwideu", in: "ii", out: "ii", emit: mulWide(ir.MulWideU), ref: func(in []uint64) ([]uint64, bool) {
			hi, lo := bits.Mul64(in[0], in[1])
			return []uint64{lo, hi}, false
		}},

		{name: "popcnt", in: "i", out: "i", emit: op1(ir.Popcnt), ref: int1(func(x uint64) uint64 { return uint64(bits.OnesCount64(x)) })},
		{name: "ctz", in: "i", out: "i", emit: op1(ir.Ctz), ref: int1(func(x uint64) uint64 { return uint64(bits.TrailingZeros64(x)) })},
		{name: "clz", in: "i", out: "i", emit: op1(ir.Clz), ref: int1(func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x)) })},
		{name: "bswap", in: "i", out: "i", emit: op1(ir.Bswap), ref: int1(bits.ReverseBytes64)},

		{name: "fmov", in: "f", out: "f", emit: op1(ir.FMov), ref: float1(func(x float64) float64 { return x })},
		{name: "fadd", in: "ff", out: "f", emit: op2(ir.FAdd), ref: float2(func(x, y float64) float64 { return x + y })},
		{name: "fsub", in: "ff", out: "f", emit: op2(ir.FSub), ref: float2(func(x, y float64) float64 { return x - y })},
		{name: "fmul", in: "ff", out: "f", emit: op2(ir.FMul), ref: float2(func(x, y float64) float64 { return x * y })},
		{name: "fdiv", in: "ff", out: "f", emit: op2(ir.FDiv), ref: float2(func(x, y float64) float64 { return x / y })},
		{name: "fneg", in: "f", out: "f", emit: op1(ir.FNeg), ref: float1(func(x float64) float64 { return -x })},
		{name: "fabs", in: "f", out: "f", emit: op1(ir.FAbs), ref: float1(math.Abs)},
		{name: "fsqrt", in: "f", out: "f", emit: op1(ir.FSqrt), ref: float1(math.Sqrt)},
		{name: "fmin", in: "ff", out: "f", emit: op2(ir.FMin), ref: float2(func(x, y float64) float64 {
			if x < y {
				return x
			}
			return y
		})},
		{name: "fmax", in: "ff", out: "f", emit: op2(ir.FMax), ref: float2(func(x, y float64) float64 {
			if x > y {
				return x
			}
			return y
		})},
		{name: "ffloor", in: "f", out: "f", emit: op1(ir.FFloor), ref: float1(math.Floor)},
		{name: "fceil", in: "f", out: "f", emit: op1(ir.FCeil), ref: float1(math.Ceil)},
		{name: "ftrunc", in: "f", out: "f", emit: op1(ir.FTrunc), ref: float1(math.Trunc)},
		{name: "fround", in: "f", out: "f", emit: op1(ir.FRound), ref: float1(math.RoundToEven)},
		{name: "fround32", in: "f", out: "f", emit: op1(ir.FRound32), ref: float1(func(x float64) float64 { return float64(float32(x)) })},
		{name: "fmuladd", in: "fff", out: "f", // must not become one rounding
			emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) {
				p := b.Vreg("product", ir.F64)
				b.Op2(ir.FMul, p, in[0], in[1])
				b.Op2(ir.FAdd, d[0], p.V(), in[2])
			},
			ref: func(in []uint64) ([]uint64, bool) {
				p := float64(math.Float64frombits(in[0]) * math.Float64frombits(in[1]))
				return []uint64{math.Float64bits(p + math.Float64frombits(in[2]))}, false
			}},
		{name: "i2f", in: "i", out: "f", emit: op1(ir.I2F), ref: int1(func(x uint64) uint64 { return math.Float64bits(float64(int64(x))) })},
		{name: "u2f", in: "i", out: "f", emit: op1(ir.U2F), ref: int1(func(x uint64) uint64 { return math.Float64bits(float64(x)) })},
		{name: "f2i", in: "f", out: "i", emit: op1(ir.F2I), ok: isInt64,
			ref: int1(func(x uint64) uint64 { return uint64(int64(math.Float64frombits(x))) })},
		{name: "fbits", in: "f", out: "i", emit: op1(ir.FBits), ref: int1(func(x uint64) uint64 { return x })},
		{name: "bitsf", in: "i", out: "f", emit: op1(ir.BitsF), ref: int1(func(x uint64) uint64 { return x })},
	}
	for _, f := range floats {
		cases = append(cases, opCase{name: fmt.Sprintf("fconst_%g", f), in: "i", out: "f", regs: true,
			emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.FConst(d[0], int64(math.Float64bits(f))) },
			ref:  int1(func(uint64) uint64 { return math.Float64bits(f) })})
	}
	return append(append(cases, condCases()...), wordCases()...)
}

func holds(c ir.Cond, x, y int64) bool {
	switch c {
	case ir.EQ:
		return x == y
	case ir.NE:
		return x != y
	case ir.LT:
		return x < y
	case ir.LE:
		return x <= y
	case ir.GT:
		return x > y
	case ir.GE:
		return x >= y
	case ir.ULT:
		return uint64(x) < uint64(y)
	case ir.ULE:
		return uint64(x) <= uint64(y)
	case ir.UGT:
		return uint64(x) > uint64(y)
	case ir.UGE:
		return uint64(x) >= uint64(y)
	}
	return true
}

func fholds(c ir.Cond, x, y float64) bool {
	switch c {
	case ir.EQ:
		return x == y
	case ir.NE:
		return x != y
	case ir.LT:
		return x < y
	case ir.LE:
		return x <= y
	case ir.GT:
		return x > y
	}
	return x >= y
}

// condCases are set and select for every condition.
func condCases() (cases []opCase) {
	for c := ir.EQ; c <= ir.UGE; c++ {
		pick := func(in []uint64) ([]uint64, bool) {
			if holds(c, int64(in[0]), int64(in[1])) {
				return in[2:3], false
			}
			return in[3:4], false
		}
		cases = append(cases,
			opCase{name: fmt.Sprintf("set%d", c), in: "ii", out: "i",
				emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Set(d[0], c, in[0], in[1]) },
				ref:  int2(func(x, y int64) int64 { return int64(bool64(holds(c, x, y))) })},
			opCase{name: fmt.Sprintf("sel%d", c), in: "iiii", out: "i", ref: pick,
				emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.Sel(d[0], c, in[0], in[1], in[2], in[3]) }},
			opCase{name: fmt.Sprintf("fsel%d", c), in: "iiff", out: "f", ref: pick,
				emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.FSel(d[0], c, in[0], in[1], in[2].R, in[3].R) }})
	}
	for c := ir.EQ; c <= ir.GE; c++ {
		cases = append(cases, opCase{name: fmt.Sprintf("fset%d", c), in: "ff", out: "i",
			emit: func(b *ir.Builder, d []ir.Reg, in []ir.Val) { b.FSet(d[0], c, in[0].R, in[1].R) },
			ref: func(in []uint64) ([]uint64, bool) {
				return []uint64{bool64(fholds(c, math.Float64frombits(in[0]), math.Float64frombits(in[1])))}, false
			}})
	}
	return cases
}
