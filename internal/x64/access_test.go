package x64

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// accessCase is a function around one memory operation: base, index and values in
// registers, in the frame or in the save area.
func accessCase(r *rand.Rand, op ir.Op) (f *ir.Func, floats map[int]bool) {
	b := ir.NewFunc("access", ir.CPU)
	const cellsAt, outAt = dataAt + 128, dataAt + 512
	var base, index, d, a, x ir.Reg
	regs := []*ir.Reg{&base, &index, &d, &a, &x}
	isFloat := func(p *ir.Reg) ir.Type {
		switch {
		case p == &d && (op == ir.FLoad || op == ir.AtomFAdd), p == &a && (op == ir.FStore || op == ir.AtomFAdd):
			return ir.F64
		}
		return ir.I64
	}
	place := make([]int, len(regs))
	for i := range place {
		if n := r.IntN(10); n == 9 {
			place[i] = inSaveArea
		} else if n > 4 {
			place[i] = inFrame
		}
	}
	for level := inRegister; level <= inSaveArea; level++ {
		for i, p := range regs {
			if place[i] == level {
				*p = b.Vreg("v", isFloat(p))
			}
		}
		switch level {
		case inRegister:
			for range 12 {
				b.Vreg("fill", ir.I64)
				b.Vreg("fill", ir.F64)
			}
		case inFrame:
			for range frameSlots {
				b.Vreg("fill", ir.I64)
			}
		}
	}
	disp := []int{0, 8, -8, 200, -200}[r.IntN(5)]
	b.Op2(ir.Add, base, ir.Ctx.V(), ir.K(int64(cellsAt-disp)))
	b.Mov(index, ir.K(int64(r.IntN(3))))
	floats = map[int]bool{}
	if isFloat(&a) == ir.F64 {
		b.FConst(a, randFloat(r))
	} else {
		b.Mov(a, ir.K(randInt(r)))
	}
	b.Mov(x, ir.K(randInt(r)))
	if isFloat(&d) == ir.F64 {
		b.FConst(d, 0)
		floats[outAt] = true
		for i := range 16 {
			floats[cellsAt+8*i] = true
		}
	} else {
		b.Mov(d, ir.K(5))
	}
	in := ir.Instr{Op: op, D: d, A: a.V(), B: x.V(), W: 1 << r.IntN(4), Signed: r.IntN(2) == 0}
	scale := []int{1, 2, 4, 8}[r.IntN(4)]
	switch op {
	case ir.Load, ir.Store, ir.Lea, ir.Prefetch:
		if op == ir.Store && r.IntN(2) == 0 {
			in.A = ir.K(randInt(r))
		}
	case ir.FLoad, ir.FStore:
		in.W = 4 << r.IntN(2)
	default:
		in.W, scale = 8, 8
		if isFloat(&a) == ir.I64 && r.IntN(3) == 0 {
			in.A = ir.K(randInt(r))
		}
		if r.IntN(3) == 0 {
			in.B = ir.K(randInt(r))
		}
		if r.IntN(4) == 0 {
			in.D = ir.NoReg
		}
	}
	in.M = ir.AtIndex(base, index, scale, disp)
	switch r.IntN(4) {
	case 0:
		in.M = ir.At(base, disp)
	case 1: // the same register twice
		b.Mov(index, ir.K(int64(1+r.IntN(8))))
		b.Load8(base, ir.At(ir.Ctx, cellsAt))
		b.Op2(ir.Add, base, ir.Ctx.V(), ir.K(cellsAt))
		b.Mov(index, base.V())
		b.Op2(ir.Sub, base, base.V(), index.V())
		in.M = ir.AtIndex(index, base, scale, 0)
	}
	if op == ir.AtomCAS && r.IntN(2) == 0 { // let it succeed
		b.Load8(a, in.M)
		in.A = a.V()
	}
	b.F.Code = append(b.F.Code, in)
	if isFloat(&d) == ir.F64 {
		b.FStore(ir.At(ir.Ctx, outAt), d, 8)
	} else {
		b.Store(ir.At(ir.Ctx, outAt), d.V(), 8)
	}
	for i, p := range regs {
		if isFloat(p) == ir.I64 {
			b.Store(ir.At(ir.Ctx, outAt+8+8*i), p.V(), 8)
		}
	}
	return b.F, floats
}

func TestAccess(t *testing.T) {
	variants := 150
	if testing.Short() {
		variants = 60
	}
	r := rand.New(rand.NewPCG(3, 4))
	w := newWorld()
	for _, op := range []ir.Op{ir.Load, ir.Store, ir.FLoad, ir.FStore, ir.Lea, ir.Prefetch,
		ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomOr, ir.AtomExch, ir.AtomCAS, ir.AtomFAdd} {
		for range variants {
			f, floats := accessCase(r, op)
			c := mustTranslate(t, f)
			for i := range 16 {
				v := randInt(r)
				if floats[dataAt+128+8*i] {
					v = randFloat(r)
				}
				if op == ir.FLoad { // single precision, no NaNs
					v = int64(math.Float32bits(float32(r.NormFloat64()))) | int64(math.Float32bits(float32(i)))<<32
				}
				w.put(dataAt+128+8*i, v)
			}
			if _, err := compareRuns(w, f, c, floats); err != nil {
				l, _ := TranslateWith(f, Options{Listing: true})
				t.Fatalf("op %d: %v\n%s", op, err, l.Listing())
			}
		}
	}
}
