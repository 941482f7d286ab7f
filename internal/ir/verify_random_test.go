package ir

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Random functions that are right in form and scope, run on the machine of
// machine_test.go, hold the flow analyses to what they claim.

type randomCode struct {
	*Builder
	rng     *rand.Rand
	open    []Reg
	breaks  []int32 // open loops
	conts   []int32 // those of them whose Next is to come
	lanes   bool    // with collectives
	chances int     // statements left
}

func randomFunc(rng *rand.Rand, lanes bool) *Func {
	target := CPU
	if lanes {
		target = GPU
	}
	g := &randomCode{Builder: NewFunc("random", target), rng: rng, lanes: lanes, chances: 6 + rng.IntN(18)}
	for range 3 + rng.IntN(3) {
		r := g.Vreg("r", I64)
		g.open = append(g.open, r)
		switch k := rng.IntN(3); {
		case lanes && k == 0:
			g.Special(r, SpecialReg(rng.IntN(2)))
		case lanes || k == 0:
			g.Mov(r, K(int64(rng.IntN(3))))
		}
	}
	g.block(0)
	g.Clear(g.open...)
	return g.F
}

func (g *randomCode) reg() Reg { return g.open[g.rng.IntN(len(g.open))] }

func (g *randomCode) val() Val {
	if g.rng.IntN(3) == 0 {
		return K(int64(g.rng.IntN(4)))
	}
	return g.reg().V()
}

func (g *randomCode) cond() (Cond, Val, Val) {
	// Without lanes the values do not matter, and reads would only get in the way.
	if !g.lanes && g.rng.IntN(2) == 0 {
		return EQ, Ctx.V(), K(0)
	}
	return []Cond{EQ, NE, LT, GE}[g.rng.IntN(4)], g.reg().V(), g.val()
}

func (g *randomCode) jumpCond() (Cond, Val, Val) {
	if g.rng.IntN(5) == 0 {
		return Always, Val{}, Val{}
	}
	return g.cond()
}

// block writes statements; registers that it opens it clears.
func (g *randomCode) block(depth int) {
	mark := len(g.open)
	g.statements(depth)
	g.Clear(g.open[mark:]...)
	g.open = g.open[:mark]
}

func (g *randomCode) statements(depth int) {
	for range 1 + g.rng.IntN(5) {
		if g.chances--; g.chances >= 0 {
			g.statement(depth)
		}
	}
}

func (g *randomCode) statement(depth int) {
	switch k := g.rng.IntN(14); {
	case k < 3:
		g.simple()
	case k < 6:
		if g.lanes {
			g.collective()
		} else {
			g.simple()
		}
	case k < 8 && depth < 4:
		g.If(g.cond())
		g.block(depth + 1)
		if g.rng.IntN(2) == 0 {
			g.Else()
			g.block(depth + 1)
		}
		g.EndIf()
	case k < 10 && depth < 4:
		g.loop(depth)
	case k < 12 && len(g.breaks) > 0:
		c, a, b := g.jumpCond()
		if g.rng.IntN(2) == 0 && len(g.conts) > 0 {
			g.Continue(g.conts[g.rng.IntN(len(g.conts))], c, a, b)
		} else {
			g.Break(g.breaks[g.rng.IntN(len(g.breaks))], c, a, b)
		}
	case k == 12 && g.rng.IntN(3) == 0:
		c, a, b := g.jumpCond()
		g.Exit(1, c, a, b)
	default:
		r := g.Vreg("s", I64)
		if g.lanes || g.rng.IntN(2) == 0 {
			g.Mov(r, g.val())
		}
		g.open = append(g.open, r)
	}
}

func (g *randomCode) loop(depth int) {
	l := g.Loop()
	g.breaks = append(g.breaks, l)
	g.conts = append(g.conts, l)
	mark := len(g.open)
	g.statements(depth + 1)
	g.conts = g.conts[:len(g.conts)-1]
	if g.rng.IntN(2) == 0 {
		g.Next(l)
		g.statements(depth + 1)
	}
	g.Clear(g.open[mark:]...)
	g.open = g.open[:mark]
	g.breaks = g.breaks[:len(g.breaks)-1]
	c, a, b := g.jumpCond()
	g.EndLoop(l, c, a, b)
}

func (g *randomCode) simple() {
	switch d := g.reg(); g.rng.IntN(6) {
	case 0:
		g.Mov(d, K(int64(g.rng.IntN(4))))
	case 1:
		g.Mov(d, g.val())
	case 2:
		g.Op2(Add, d, g.val(), g.val())
	case 3:
		c, a, b := g.cond()
		g.Set(d, c, a, b)
	case 4:
		g.Load8(d, At(Ctx, CtxFree+8*g.rng.IntN(4)))
	default:
		switch {
		case g.lanes && g.rng.IntN(2) == 0:
			g.Special(d, SpecialReg(g.rng.IntN(5)))
		case g.rng.IntN(2) == 0:
			g.Load8(d, At(g.reg(), 0))
		case !g.lanes && g.rng.IntN(2) == 0:
			g.MaskCmp(d, LT, g.val(), g.val(), g.val(), 4, At(g.reg(), 0), 2)
		default:
			g.Op2(Add, d, d.V(), K(1))
		}
	}
}

func (g *randomCode) collective() {
	ops := []Op{Ballot, Ballot, Shfl, Shfl, ShflXor, Match, Barrier, Barrier}
	switch op := ops[g.rng.IntN(len(ops))]; op {
	case Barrier:
		g.Barrier()
	case Ballot, Match:
		g.Op1(op, g.reg(), g.val())
	default:
		g.Op2(op, g.reg(), g.val(), g.val())
	}
}

func randomTrials() int {
	if testing.Short() {
		return 3000
	}
	return 30000
}

// TestRandomAssignment: with conditions decided by chance, a function that
// passes never reads an unassigned register, and one that fails does so on some run.
func TestRandomAssignment(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var good, bad int
	for range randomTrials() {
		f := randomFunc(rng, false)
		m := newMachine(f, rng)
		m.coin = true
		err := Verify(f)
		if err != nil && !strings.Contains(err.Error(), "may be read before") {
			t.Fatalf("%v in\n%s", err, f)
		}
		runs := 40
		if err != nil {
			runs = 20000
		}
		found := false
		for i := 0; i < runs && !found; i++ {
			th := m.thread(0)
			m.run(th)
			found = th.unread >= 0
			if found && err == nil {
				t.Fatalf("passed, but instr %d read an unassigned register in\n%s", th.unread, f)
			}
		}
		if err == nil {
			good++
		} else {
			bad++
			if !found {
				t.Fatalf("%v: not on any of %d runs of\n%s", err, runs, f)
			}
		}
	}
	t.Logf("%d functions passed, %d failed", good, bad)
	if good < randomTrials()/10 || bad < randomTrials()/10 {
		t.Error("the random functions are too much alike")
	}
}

// TestRandomLanes: in a function that passes, lanes never miss each other.
func TestRandomLanes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var good, bad, missed, meetings int
	for range randomTrials() {
		f := randomFunc(rng, true)
		m := newMachine(f, rng)
		err := Verify(f)
		if err != nil && strings.Contains(err.Error(), "may be read before") {
			continue // opened behind a continue and read behind the Next
		}
		if err != nil && !strings.Contains(err.Error(), "collective op under") && !strings.Contains(err.Error(), "barrier under") {
			t.Fatalf("%v in\n%s", err, f)
		}
		count := new(int)
		if err == nil {
			good++
			count = &meetings
		} else {
			bad++
		}
		for range 4 {
			if lost := m.block(count); lost != nil {
				if err != nil {
					missed++
					break
				}
				for _, th := range lost {
					t.Logf("thread %d at %d done %v rounds %v", th.id, th.pc, th.done, th.rounds)
				}
				t.Fatalf("passed, but lanes missed each other in\n%s", f)
			}
		}
	}
	t.Logf("%d functions passed with %d collectives executed; %d failed, of which %d did go wrong when run", good, meetings, bad, missed)
	if meetings < randomTrials() || missed < bad/8 {
		t.Error("the random functions are too much alike")
	}
}

// BenchmarkVerify is a GPU function of some 20,000 instructions and 4,000
// registers. The sets of the flow analysis grow with the registers, a bit each,
// and are copied at branches; everything else is linear.
func BenchmarkVerify(b *testing.B) {
	g := NewFunc("large", GPU)
	sum := g.Vreg("sum", I64)
	g.Mov(sum, K(0))
	for range 1000 {
		l := g.Loop()
		regs := make([]Reg, 4)
		for i := range regs {
			regs[i] = g.Vreg("r", I64)
			g.Load8(regs[i], At(Ctx, CtxFree+8*i))
		}
		g.If(LT, regs[0].V(), K(10))
		g.Op2(Add, sum, sum.V(), regs[1].V())
		g.EndIf()
		g.Continue(l, EQ, regs[2].V(), K(0))
		g.Op1(Ballot, sum, regs[3].V())
		g.Clear(regs...)
		g.EndLoop(l, LT, sum.V(), K(100))
	}
	g.Clear(sum)
	if err := Verify(g.F); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_ = Verify(g.F)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(g.F.Code)), "ns/instr")
}
