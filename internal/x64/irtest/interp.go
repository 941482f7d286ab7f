// Package irtest interprets Flounder IR, slowly and plainly, so that translators
// have something to be compared with. It follows internal/ir/op.go and knows
// nothing of any machine.
package irtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Machine runs one function. Memory is a slice that pretends to lie at Base, so
// that addresses in registers are the ones which generated code sees.
type Machine struct {
	F    *ir.Func
	Mem  []byte
	Base uint64
	Fuel int // instructions left; running out is an error

	regs []uint64
	open []bool
	pc   int
	ends []int // per instruction: where its block goes on, see link
}

// New prepares f for running with ctx in the context register.
func New(f *ir.Func, mem []byte, base, ctx uint64) (*Machine, error) {
	m := &Machine{F: f, Mem: mem, Base: base, Fuel: 1 << 20,
		regs: make([]uint64, len(f.Regs)), open: make([]bool, len(f.Regs)), ends: make([]int, len(f.Code))}
	m.regs[ir.Ctx], m.open[ir.Ctx] = ctx, true
	return m, m.link()
}

// link finds for If the Else or EndIf, for Else the EndIf, for EndLoop the Loop, for
// Break the EndLoop and for Continue the Next or EndLoop.
func (m *Machine) link() error {
	var stack []int
	end, next := map[int32]int{}, map[int32]int{}
	for i, in := range m.F.Code {
		switch in.Op {
		case ir.If, ir.Loop:
			stack = append(stack, i)
		case ir.Else:
			m.ends[stack[len(stack)-1]] = i
			stack[len(stack)-1] = i
		case ir.EndIf:
			m.ends[stack[len(stack)-1]] = i
			stack = stack[:len(stack)-1]
		case ir.EndLoop:
			m.ends[i] = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			end[in.Label] = i
		case ir.Next:
			next[in.Label] = i
		}
	}
	for i, in := range m.F.Code {
		switch in.Op {
		case ir.Break:
			m.ends[i] = end[in.Label]
		case ir.Continue:
			m.ends[i] = end[in.Label] - 1
			if n, ok := next[in.Label]; ok {
				m.ends[i] = n
			}
		}
	}
	if len(stack) != 0 {
		return fmt.Errorf("irtest: %d blocks are not closed", len(stack))
	}
	return nil
}

func (m *Machine) val(v ir.Val) int64 {
	if v.IsImm() {
		return v.Imm
	}
	if !m.open[v.R] {
		panic(fmt.Sprintf("register %d read while closed", v.R))
	}
	return int64(m.regs[v.R])
}

func (m *Machine) fval(v ir.Val) float64 { return math.Float64frombits(uint64(m.val(v))) }

func (m *Machine) addr(x ir.Mem, n int) []byte {
	return m.Mem[m.where(x)-m.Base:][:n]
}

// where is the address of a memory operand.
func (m *Machine) where(x ir.Mem) uint64 {
	a := uint64(m.val(x.Base.V())) + uint64(int64(x.Disp))
	if x.Index != ir.NoReg {
		a += uint64(m.val(x.Index.V())) * uint64(x.Scale)
	}
	return a
}

func word(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// Holds tells whether a comparison of integers is true.
func Holds(c ir.Cond, a, b int64) bool {
	ua, ub := uint64(a), uint64(b)
	switch c {
	case ir.Always:
		return true
	case ir.EQ:
		return a == b
	case ir.NE:
		return a != b
	case ir.LT:
		return a < b
	case ir.LE:
		return a <= b
	case ir.GT:
		return a > b
	case ir.GE:
		return a >= b
	case ir.ULT:
		return ua < ub
	case ir.ULE:
		return ua <= ub
	case ir.UGT:
		return ua > ub
	case ir.UGE:
		return ua >= ub
	}
	panic("condition")
}

// FHolds is Holds for floats.
func FHolds(c ir.Cond, a, b float64) bool {
	switch c {
	case ir.EQ:
		return a == b
	case ir.NE:
		return a != b
	case ir.LT:
		return a < b
	case ir.LE:
		return a <= b
	case ir.GT:
		return a > b
	case ir.GE:
		return a >= b
	}
	panic("condition")
}

// Run executes until the function leaves, and returns its status. After a Yield it
// can be called again.
func (m *Machine) Run() (status int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("irtest: instruction %d: %v", m.pc, r)
		}
	}()
	for ; m.pc < len(m.F.Code); m.pc++ {
		if m.Fuel--; m.Fuel < 0 {
			return 0, fmt.Errorf("irtest: out of fuel at instruction %d", m.pc)
		}
		in := &m.F.Code[m.pc]
		holds := func() bool { return in.Cond == ir.Always || Holds(in.Cond, m.val(in.A), m.val(in.B)) }
		switch in.Op {
		case ir.Nop, ir.Comment, ir.Prefetch, ir.EndIf, ir.Loop, ir.Next:
		case ir.Vreg:
			if m.open[in.D] {
				panic("opened twice")
			}
			m.open[in.D] = true
		case ir.Clear:
			m.open[in.D] = false
		case ir.If:
			if !holds() {
				m.skip(m.ends[m.pc])
			}
		case ir.Else:
			m.skip(m.ends[m.pc])
		case ir.EndLoop:
			if holds() {
				m.skip(m.ends[m.pc])
			}
		case ir.Break, ir.Continue:
			if holds() {
				m.skip(m.ends[m.pc])
			}
		case ir.Exit:
			if holds() {
				return int64(in.Code), nil
			}
		case ir.Yield:
			m.pc++
			return int64(in.Code), nil
		default:
			if code, left := m.compute(in); left {
				return int64(code), nil
			}
		}
	}
	return ir.StatusDone, nil
}

// skip goes on behind instruction i. Registers whose scope is left open by the
// jump are closed.
func (m *Machine) skip(i int) {
	lo, hi := m.pc+1, i+1
	if i < m.pc {
		lo, hi = i+1, m.pc+1
	}
	for _, in := range m.F.Code[lo:min(hi, len(m.F.Code))] {
		if in.Op == ir.Vreg || in.Op == ir.Clear {
			m.open[in.D] = false
		}
	}
	m.pc = i
}

func (m *Machine) compute(in *ir.Instr) (code int32, left bool) {
	set := func(v int64) {
		if in.D == ir.Ctx || !m.open[in.D] {
			panic("assignment to a closed register")
		}
		m.regs[in.D] = uint64(v)
	}
	set2 := func(lo, hi uint64) {
		set(int64(lo))
		m.regs[in.D2] = hi
	}
	fset := func(v float64) { set(int64(math.Float64bits(v))) }
	boolean := func(b bool) {
		v := int64(0)
		if b {
			v = 1
		}
		set(v)
	}
	a, b := func() int64 { return m.val(in.A) }, func() int64 { return m.val(in.B) }
	fa, fb := func() float64 { return m.fval(in.A) }, func() float64 { return m.fval(in.B) }
	switch in.Op {
	case ir.Mov, ir.FMov, ir.FConst, ir.FBits, ir.BitsF:
		set(a())
	case ir.Add:
		set(a() + b())
	case ir.Sub:
		set(a() - b())
	case ir.Mul:
		set(a() * b())
	case ir.Div:
		set(a() / b())
	case ir.Rem:
		set(a() % b())
	case ir.And:
		set(a() & b())
	case ir.Or:
		set(a() | b())
	case ir.Xor:
		set(a() ^ b())
	case ir.Shl:
		set(a() << (b() & 63))
	case ir.Shr:
		set(int64(uint64(a()) >> (b() & 63)))
	case ir.Sar:
		set(a() >> (b() & 63))
	case ir.Neg:
		set(-a())
	case ir.Not:
		set(^a())
	case ir.AddX, ir.SubX, ir.MulX:
		x, y := big.NewInt(a()), big.NewInt(b())
		switch in.Op {
		case ir.AddX:
			x.Add(x, y)
		case ir.SubX:
			x.Sub(x, y)
		case ir.MulX:
			x.Mul(x, y)
		}
		if !x.IsInt64() {
			return in.Code, true
		}
		set(x.Int64())
	case ir.Add128, ir.Sub128, ir.Add128X, ir.Sub128X, ir.Mul128:
		x, y := wide(a(), m.val(in.A2)), wide(b(), m.val(in.B2))
		switch in.Op {
		case ir.Add128, ir.Add128X:
			x.Add(x, y)
		case ir.Sub128, ir.Sub128X:
			x.Sub(x, y)
		default:
			x.Mul(x, y)
		}
		if (in.Op == ir.Add128X || in.Op == ir.Sub128X) && (x.Cmp(min128) < 0 || x.Cmp(max128) > 0) {
			return in.Code, true
		}
		set2(halves(x))
	case ir.MulWide:
		set2(halves(new(big.Int).Mul(big.NewInt(a()), big.NewInt(b()))))
	case ir.MulWideU:
		hi, lo := bits.Mul64(uint64(a()), uint64(b()))
		set2(lo, hi)
	case ir.Div128:
		x := wide(a(), m.val(in.A2))
		set2(halves(x.Quo(x, big.NewInt(b()))))
	case ir.Rem128:
		x := wide(a(), m.val(in.A2))
		set(x.Rem(x, big.NewInt(b())).Int64())
	case ir.Popcnt:
		set(int64(bits.OnesCount64(uint64(a()))))
	case ir.Ctz:
		set(int64(bits.TrailingZeros64(uint64(a()))))
	case ir.Clz:
		set(int64(bits.LeadingZeros64(uint64(a()))))
	case ir.Bswap:
		set(int64(bits.ReverseBytes64(uint64(a()))))
	case ir.Blsr:
		set(a() & (a() - 1))
	case ir.MaskRange, ir.MaskCmp, ir.MaskBits, ir.MaskLut, ir.MaskBytes:
		set(int64(m.mask(in)))
	case ir.Pick:
		set(m.pick(in))
	case ir.FAdd:
		fset(fa() + fb())
	case ir.FSub:
		fset(fa() - fb())
	case ir.FMul:
		fset(fa() * fb())
	case ir.FDiv:
		fset(fa() / fb())
	case ir.FNeg:
		set(a() ^ math.MinInt64)
	case ir.FAbs:
		set(a() & math.MaxInt64)
	case ir.FSqrt:
		fset(math.Sqrt(fa()))
	case ir.FMin:
		if fa() < fb() {
			set(a())
		} else {
			set(b())
		}
	case ir.FMax:
		if fa() > fb() {
			set(a())
		} else {
			set(b())
		}
	case ir.FFloor:
		fset(math.Floor(fa()))
	case ir.FCeil:
		fset(math.Ceil(fa()))
	case ir.FTrunc:
		fset(math.Trunc(fa()))
	case ir.FRound:
		fset(math.RoundToEven(fa()))
	case ir.FRound32:
		fset(float64(float32(fa())))
	case ir.I2F:
		fset(float64(a()))
	case ir.U2F:
		fset(float64(uint64(a())))
	case ir.F2I:
		set(int64(fa()))
	case ir.Set:
		boolean(in.Cond == ir.Always || Holds(in.Cond, a(), b()))
	case ir.FSet:
		boolean(FHolds(in.Cond, fa(), fb()))
	case ir.Sel, ir.FSel:
		if in.Cond == ir.Always || Holds(in.Cond, a(), b()) {
			set(m.val(in.C))
		} else {
			set(m.val(in.C2))
		}
	default:
		m.memory(in, set, fset)
	}
	return 0, false
}

func (m *Machine) memory(in *ir.Instr, set func(int64), fset func(float64)) {
	a, b := func() int64 { return m.val(in.A) }, func() int64 { return m.val(in.B) }
	fa := func() float64 { return m.fval(in.A) }
	switch in.Op {
	case ir.Load:
		var buf [8]byte
		copy(buf[:], m.addr(in.M, int(in.W)))
		v := word(buf[:])
		if sh := 64 - 8*in.W; in.Signed {
			v = v << sh >> sh
		}
		set(v)
	case ir.Store:
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], uint64(a()))
		copy(m.addr(in.M, int(in.W)), buf[:in.W])
	case ir.FLoad:
		x := m.addr(in.M, int(in.W))
		if in.W == 4 {
			fset(float64(math.Float32frombits(binary.LittleEndian.Uint32(x))))
		} else {
			set(word(x))
		}
	case ir.FStore:
		x := m.addr(in.M, int(in.W))
		if in.W == 4 {
			binary.LittleEndian.PutUint32(x, math.Float32bits(float32(fa())))
		} else {
			binary.LittleEndian.PutUint64(x, uint64(a()))
		}
	case ir.Lea:
		x := m.val(in.M.Base.V()) + int64(in.M.Disp)
		if in.M.Index != ir.NoReg {
			x += m.val(in.M.Index.V()) * int64(in.M.Scale)
		}
		set(x)
	case ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomOr, ir.AtomExch, ir.AtomCAS, ir.AtomFAdd:
		x := m.addr(in.M, 8)
		old := word(x)
		v := old
		switch in.Op {
		case ir.AtomAdd:
			v += a()
		case ir.AtomMin:
			v = min(v, a())
		case ir.AtomMax:
			v = max(v, a())
		case ir.AtomOr:
			v |= a()
		case ir.AtomExch:
			v = a()
		case ir.AtomCAS:
			if v == a() {
				v = b()
			}
		case ir.AtomFAdd:
			v = int64(math.Float64bits(math.Float64frombits(uint64(v)) + fa()))
		}
		binary.LittleEndian.PutUint64(x, uint64(v))
		if in.D != ir.NoReg {
			set(old)
		}
	default:
		panic(fmt.Sprintf("operation %d", in.Op))
	}
}

var (
	two64  = new(big.Int).Lsh(big.NewInt(1), 64)
	two127 = new(big.Int).Lsh(big.NewInt(1), 127)
	min128 = new(big.Int).Neg(two127)
	max128 = new(big.Int).Sub(two127, big.NewInt(1))
)

// wide is the 128-bit number of two halves.
func wide(lo, hi int64) *big.Int {
	x := new(big.Int).Mul(big.NewInt(hi), two64)
	return x.Add(x, new(big.Int).SetUint64(uint64(lo)))
}

// halves is a number modulo 2^128.
func halves(x *big.Int) (lo, hi uint64) {
	l := new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64))
	h := new(big.Int).Rsh(x, 64)
	return l.Uint64(), h.And(h, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}
