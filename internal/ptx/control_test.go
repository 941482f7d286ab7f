package ptx

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/simt"
)

// TestNestedLoops: trip counts differ between lanes in both loops.
func TestNestedLoops(t *testing.T) {
	b := ir.NewFunc("nested", ir.GPU)
	i := threadIndex(b)
	ps := pointers(b, 1)
	n, m, sum := b.Vreg("n", ir.I64), b.Vreg("m", ir.I64), b.Vreg("sum", ir.I64)
	b.Op2(ir.Rem, n, i.V(), ir.K(7))
	b.Mov(sum, ir.K(0))
	outer := b.Loop()
	b.Break(outer, ir.EQ, n.V(), ir.K(0))
	b.Op2(ir.Add, m, i.V(), n.V())
	b.Op2(ir.And, m, m.V(), ir.K(5))
	inner := b.Loop()
	b.Break(inner, ir.LE, m.V(), ir.K(0))
	b.Continue(inner, ir.EQ, m.V(), ir.K(3))
	b.Op2(ir.Add, sum, sum.V(), m.V())
	b.Next(inner)
	b.Op2(ir.Sub, m, m.V(), ir.K(1))
	b.EndLoop(inner, ir.Always, ir.Val{}, ir.Val{})
	b.Op2(ir.Add, sum, sum.V(), ir.K(100))
	b.Op2(ir.Sub, n, n.V(), ir.K(1))
	b.EndLoop(outer, ir.Always, ir.Val{}, ir.Val{})
	b.Store(ir.AtIndex(ps[0], i, 8, 0), sum.V(), 8)
	out := make([]uint64, 96)
	newMachine(out).run(t, compile1(t, b.F), 2, 48)
	for i := range out {
		want := 0
		for n := i % 7; n != 0; n-- {
			for m := (i + n) & 5; m > 0; m-- {
				if m != 3 {
					want += m
				}
			}
			want += 100
		}
		if out[i] != uint64(want) {
			t.Fatalf("lane %d: %d, want %d", i, out[i], want)
		}
	}
}

// TestReconvergence: lanes that pass through an if with a break inside meet the
// others at its end, not only at the end of the loop.
func TestReconvergence(t *testing.T) {
	b := ir.NewFunc("meet", ir.GPU)
	i := threadIndex(b)
	odd, n := b.Vreg("odd", ir.I64), b.Vreg("n", ir.I64)
	b.Op2(ir.And, odd, i.V(), ir.K(1))
	b.Mov(n, ir.K(0))
	l := b.Loop()
	b.If(ir.NE, odd.V(), ir.K(0))
	b.Break(l, ir.EQ, n.V(), ir.K(5))
	b.Continue(l, ir.EQ, n.V(), ir.K(7)) // never
	b.Comment("odd lanes")
	b.Op2(ir.Add, odd, odd.V(), ir.K(2))
	b.EndIf()
	b.Comment("all lanes")
	b.Op2(ir.Add, n, n.V(), ir.K(1))
	b.Next(l)
	b.EndLoop(l, ir.LT, n.V(), ir.K(8))
	b.Comment("after")
	b.Op2(ir.Add, n, n.V(), ir.K(1))
	text, ks := compile(t, b.F)
	s := newMachine().run(t, ks[0], 1, 32)
	lines := strings.Split(text, "\n")
	for comment, want := range map[string]simt.LineStats{
		"odd lanes": {Warps: 5, Lanes: 5 * 16},
		"all lanes": {Warps: 8, Lanes: 5*32 + 3*16},
		"after":     {Warps: 1, Lanes: 32},
	} {
		for k, line := range lines {
			if strings.HasSuffix(line, "// "+comment) {
				if got := s.Lines[k+2]; got != want {
					t.Errorf("%s: %+v, want %+v\n%s", comment, got, want, text)
				}
			}
		}
	}
}

// TestExit: lanes that leave write their code once and nothing after it.
func TestExit(t *testing.T) {
	b := ir.NewFunc("exits", ir.GPU)
	i := threadIndex(b)
	ps := pointers(b, 1)
	b.If(ir.GT, i.V(), ir.K(3))
	b.Exit(9, ir.EQ, i.V(), ir.K(20))
	b.Exit(0, ir.GT, i.V(), ir.K(40))
	b.EndIf()
	b.Store(ir.AtIndex(ps[0], i, 8, 0), ir.K(1), 8)
	b.Exit(5, ir.GT, i.V(), ir.K(30))
	b.Store(ir.AtIndex(ps[0], i, 8, 0), ir.K(2), 8)
	b.Exit(0, ir.Always, ir.Val{}, ir.Val{})
	b.Store(ir.AtIndex(ps[0], i, 8, 0), ir.K(3), 8)
	out := make([]uint64, 64)
	m := newMachine(out)
	m.run(t, compile1(t, b.F), 1, 64)
	for i, got := range out {
		want := uint64(2)
		switch {
		case i == 20 || i > 40:
			want = 0
		case i > 30:
			want = 1
		}
		if got != want {
			t.Errorf("lane %d: %d, want %d", i, got, want)
		}
	}
	if m.status() != 9 {
		t.Errorf("status %d, want that of the first exit, 9", m.status())
	}
}

// program makes random structured code over a few registers. Every loop counts,
// so it ends.
type program struct {
	b     *ir.Builder
	r     *rand.Rand
	regs  []ir.Reg
	loops []int32
	left  int
}

func (p *program) reg() ir.Reg { return p.regs[p.r.IntN(len(p.regs))] }

func (p *program) val() ir.Val {
	if p.r.IntN(3) == 0 {
		return ir.K(int64(p.r.IntN(40) - 20))
	}
	return p.reg().V()
}

func (p *program) cond() (ir.Cond, ir.Val, ir.Val) {
	return ir.EQ + ir.Cond(p.r.IntN(10)), p.val(), p.val()
}

func (p *program) stmts(depth int) {
	for n := 1 + p.r.IntN(4); n > 0 && p.left > 0; n-- {
		p.left--
		switch k := p.r.IntN(12); {
		case k < 5 || depth > 4:
			op := []ir.Op{ir.Add, ir.Sub, ir.Mul, ir.Xor, ir.And, ir.Shr}[p.r.IntN(6)]
			p.b.Op2(op, p.reg(), p.val(), p.val())
		case k < 8:
			p.b.If(p.cond())
			p.stmts(depth + 1)
			if p.r.IntN(2) == 0 {
				p.b.Else()
				p.stmts(depth + 1)
			}
			p.b.EndIf()
		case k < 10:
			p.loop(depth)
		case len(p.loops) > 0 && k == 10:
			c, x, y := p.cond()
			l := p.loops[p.r.IntN(len(p.loops))]
			if p.r.IntN(2) == 0 {
				p.b.Break(l, c, x, y)
			} else {
				p.b.Continue(l, c, x, y)
			}
		case p.r.IntN(4) == 0:
			c, x, y := p.cond()
			p.b.Exit(0, c, x, y)
		}
	}
}

func (p *program) loop(depth int) {
	n := p.b.Vreg("n", ir.I64)
	p.b.Op2(ir.And, n, p.reg().V(), ir.K(3))
	l := p.b.Loop()
	p.loops = append(p.loops, l)
	p.stmts(depth + 1)
	p.loops = p.loops[:len(p.loops)-1]
	p.b.Next(l)
	p.b.Op2(ir.Sub, n, n.V(), ir.K(1))
	p.b.EndLoop(l, ir.GE, n.V(), ir.K(0))
	p.b.Clear(n)
}

// interpret runs code for one lane; false if the lane left by Exit.
func interpret(code []ir.Instr, regs []int64) bool {
	val := func(v ir.Val) int64 {
		if v.IsImm() {
			return v.Imm
		}
		return regs[v.R]
	}
	// find the instruction of kind op that closes or continues the block at pc.
	find := func(pc int, label int32, ops ...ir.Op) int {
		depth := 0
		for pc++; ; pc++ {
			in := code[pc]
			if depth == 0 && in.Label == label {
				for _, op := range ops {
					if in.Op == op {
						return pc
					}
				}
			}
			switch in.Op {
			case ir.If:
				depth++
			case ir.EndIf:
				depth--
			}
			if label != 0 {
				depth = 0
			}
		}
	}
	start := map[int32]int{}
	for pc := 0; pc < len(code); pc++ {
		in := code[pc]
		yes := holds(in.Cond, val(in.A), val(in.B))
		switch in.Op {
		case ir.Add:
			regs[in.D] = val(in.A) + val(in.B)
		case ir.Sub:
			regs[in.D] = val(in.A) - val(in.B)
		case ir.Mul:
			regs[in.D] = val(in.A) * val(in.B)
		case ir.Xor:
			regs[in.D] = val(in.A) ^ val(in.B)
		case ir.And:
			regs[in.D] = val(in.A) & val(in.B)
		case ir.Shr:
			regs[in.D] = int64(uint64(val(in.A)) >> (val(in.B) & 63))
		case ir.If:
			if !yes {
				pc = find(pc, 0, ir.Else, ir.EndIf)
			}
		case ir.Else:
			pc = find(pc, 0, ir.EndIf)
		case ir.Loop:
			start[in.Label] = pc
		case ir.Break:
			if yes {
				pc = find(pc, in.Label, ir.EndLoop)
			}
		case ir.Continue:
			if yes {
				pc = find(pc, in.Label, ir.Next)
			}
		case ir.EndLoop:
			if yes {
				pc = start[in.Label]
			}
		case ir.Exit:
			if yes {
				return false
			}
		}
	}
	return true
}

// TestRandomPrograms compares the warp simulator with an interpreter that knows
// one lane only: whatever way lanes part and meet, each must compute its own.
func TestRandomPrograms(t *testing.T) {
	const lanes, nregs = 64, 4
	programs := 400
	if testing.Short() {
		programs = 50
	}
	for seed := range programs {
		r := rand.New(rand.NewPCG(uint64(seed), 99))
		b := ir.NewFunc(fmt.Sprintf("random%d", seed), ir.GPU)
		i := threadIndex(b)
		ps := pointers(b, 2*nregs)
		p := &program{b: b, r: r, left: 60}
		for k := range nregs {
			p.regs = append(p.regs, b.Vreg("v", ir.I64))
			b.Load8(p.regs[k], ir.AtIndex(ps[k], i, 8, 0))
		}
		from := len(b.F.Code)
		for p.left > 0 {
			p.stmts(0)
		}
		body := b.F.Code[from:len(b.F.Code):len(b.F.Code)]
		for k, v := range p.regs {
			b.Store(ir.AtIndex(ps[nregs+k], i, 8, 0), v.V(), 8)
		}
		bufs := make([][]uint64, 2*nregs)
		for k := range bufs {
			bufs[k] = make([]uint64, lanes)
			for l := range lanes {
				if k < nregs {
					bufs[k][l] = uint64(int64(r.IntN(30) - 10))
				}
			}
		}
		text, ks := compile(t, b.F)
		newMachine(bufs...).run(t, ks[0], 1, lanes)
		for l := range lanes {
			regs := make([]int64, len(b.F.Regs))
			for k, v := range p.regs {
				regs[v] = int64(bufs[k][l])
			}
			stayed := interpret(body, regs)
			for k, v := range p.regs {
				want := uint64(regs[v])
				if !stayed {
					want = 0
				}
				if got := bufs[nregs+k][l]; got != want {
					t.Fatalf("seed %d lane %d register %d: %d, want %d\n%s", seed, l, k, int64(got), int64(want), text)
				}
			}
		}
	}
}
