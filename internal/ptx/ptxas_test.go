package ptx

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// ptxas is NVIDIA's assembler, named by KELPIE_PTXAS or on the PATH; without it
// the test is skipped. testdata/get-ptxas.sh installs one.
func ptxas(t *testing.T) string {
	if p := os.Getenv("KELPIE_PTXAS"); p != "" {
		return p
	}
	p, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("no ptxas: KELPIE_PTXAS=$(internal/ptx/testdata/get-ptxas.sh DIR) would run this")
	}
	return p
}

// TestPtxas assembles one kernel of every operation, with registers and with
// immediates, and a few larger ones, for the oldest and a new architecture.
func TestPtxas(t *testing.T) {
	tool := ptxas(t)
	var fs []*ir.Func
	for _, c := range opCases() {
		for i, v := range c.variants() {
			if i == 0 || len(v.imms) > 0 {
				fs = append(fs, c.kernel(fmt.Sprintf("k%d", len(fs)), v))
			}
		}
	}
	fs = append(fs, discountedRevenue(), oddNames(), everything(), wideAccess("wide", 4), packedAccess(2), packedAccess(20), wordsOfAll())
	dir := t.TempDir()
	file := filepath.Join(dir, "all.ptx")
	for _, arch := range []int{70, 80, 90} {
		text, _ := compileFor(t, arch, fs...)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(tool, fmt.Sprintf("-arch=sm_%d", arch), "-o", filepath.Join(dir, "all.cubin"), file).CombinedOutput()
		if err != nil {
			t.Errorf("ptxas for sm_%d: %v\n%s", arch, err, out)
		}
	}
}

// everything uses what the operation cases do not: memory in all widths and
// spaces, atomics, lanes, control flow.
func everything() *ir.Func {
	b := ir.NewFunc("everything", ir.GPU)
	b.F.SharedBytes, b.F.LocalBytes = 4096, 64
	i := threadIndex(b)
	p := pointers(b, 1)[0]
	v, f := b.Vreg("v", ir.I64), b.Vreg("f", ir.F64)
	b.Mov(v, ir.K(-1<<63))
	for _, m := range []ir.Mem{ir.At(p, -8), ir.AtIndex(p, i, 8, 16),
		{Base: ir.NoReg, Index: ir.NoReg, Disp: 8, Space: ir.Shared},
		{Base: ir.NoReg, Index: i, Scale: 8, Disp: 8, Space: ir.Shared},
		{Base: v, Index: i, Scale: 1, Disp: -8, Space: ir.Shared},
		{Base: ir.NoReg, Index: ir.NoReg, Disp: 8, Space: ir.Local},
		{Base: v, Index: ir.NoReg, Disp: 16, Space: ir.Local},
		{Base: v, Index: i, Scale: 8, Disp: -8, Space: ir.Local}} {
		for _, w := range []int{1, 2, 4, 8} {
			b.Load(v, m, w, false)
			b.Load(v, m, w, true)
			b.Store(m, v.V(), w)
			b.Store(m, ir.K(-1), w)
			b.Store(m, ir.K(-1<<63), w)
		}
		for _, w := range []int{4, 8} {
			b.FLoad(f, m, w)
			b.FStore(m, f, w)
		}
		for op := ir.AtomAdd; op <= ir.AtomCAS && m.Space != ir.Local; op++ {
			b.Atom(op, v, m, v.V(), i.V())
			b.Atom(op, v, m, ir.K(-7), ir.K(5))
		}
		if m.Space != ir.Local {
			b.Atom(ir.AtomFAdd, f, m, f.V(), ir.Val{})
		}
		b.Lea(v, m)
		b.Prefetch(m)
	}
	b.Op1(ir.Ballot, v, v.V())
	b.Op1(ir.Match, v, v.V())
	b.Op1(ir.Match, v, ir.K(3))
	for op := ir.Shfl; op <= ir.ShflDown; op++ {
		b.Op2(op, v, v.V(), i.V())
		b.Op2(op, v, ir.K(12345678912345), ir.K(3))
	}
	for s := ir.LaneID; s <= ir.LanesBelow; s++ {
		b.Special(v, s)
	}
	b.Barrier()
	b.Fence()
	l := b.Loop()
	b.If(ir.ULT, v.V(), i.V())
	b.Continue(l, ir.EQ, v.V(), ir.K(1))
	b.Else()
	b.Break(l, ir.UGE, v.V(), ir.K(-1))
	b.Exit(4, ir.NE, ir.K(1), ir.K(2))
	b.EndIf()
	b.EndLoop(l, ir.LT, v.V(), i.V())
	m := b.Loop()
	r := b.Vreg("r", ir.I64)
	b.Load8(r, ir.At(p, 0))
	b.Break(m, ir.Always, ir.Val{}, ir.Val{})
	b.Next(m)
	b.Clear(r)
	b.EndLoop(m, ir.Always, ir.Val{}, ir.Val{})
	b.Exit(0, ir.Always, ir.Val{}, ir.Val{})
	return b.F
}
