package x64

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// TestListing holds the text of a small pipeline: a filter, a checked sum, a
// division by a constant, a float, a spill, and a branch that asks Go for help.
func TestListing(t *testing.T) {
	b := ir.NewFunc("sum of l_quantity", ir.CPU)
	b.Comment("scan lineitem")
	i, n, col, sum := b.Vreg("i", ir.I64), b.Vreg("n", ir.I64), b.Vreg("l_quantity[]", ir.I64), b.Vreg("sum", ir.I64)
	b.Mov(i, ir.K(0))
	b.Mov(sum, ir.K(0))
	b.Load8(n, ir.At(ir.Ctx, ir.CtxFree))
	b.Load8(col, ir.At(ir.Ctx, ir.CtxFree+8))
	l := b.Loop()
	q := b.Vreg("l_quantity", ir.I64)
	b.Load(q, ir.AtIndex(col, i, 4, 0), 4, true)
	b.Comment("filter l_quantity < 24")
	b.Continue(l, ir.GE, q.V(), ir.K(24))
	b.Comment("aggregate")
	b.If(ir.EQ, q.V(), ir.K(7))
	b.Comment("table is full")
	b.Store(ir.At(ir.Ctx, ir.CtxFree+16), i.V(), 8)
	b.Yield(9)
	b.EndIf()
	x := b.Vreg("x", ir.F64)
	b.Op1(ir.I2F, x, q.V())
	b.Op1(ir.FNeg, x, x.V())
	b.FStore(ir.AtIndex(col, i, 8, 0), x, 8)
	b.Clear(x)
	b.Op2(ir.Div, q, q.V(), ir.K(100))
	var more []ir.Reg
	for range 7 {
		more = append(more, b.Vreg("more", ir.I64))
	}
	b.Op2(ir.Add, more[6], q.V(), i.V())
	b.Set(q, ir.ULT, more[6].V(), ir.K(1<<40))
	b.Sel(q, ir.NE, q.V(), ir.K(0), more[6].V(), ir.K(3))
	b.Clear(more...)
	b.OpX(ir.AddX, sum, sum.V(), q.V(), 3)
	b.Next(l)
	b.Clear(q)
	b.Op2(ir.Add, i, i.V(), ir.K(1))
	b.EndLoop(l, ir.LT, i.V(), n.V())
	b.Store(ir.At(ir.Ctx, ir.CtxFree+24), sum.V(), 8)
	b.Clear(sum, col, n, i)

	// The text needs no processor that could run the code.
	tr := new(translator)
	p, err := tr.translate(b.F, Options{Listing: true})
	if err != nil {
		t.Fatal(err)
	}
	code := make([]byte, p.size)
	tr.writeTo(code, p.coldAt, p.poolAt)
	golden(t, "listing.txt", tr.listingOf(b.F.Name, code, p.coldAt, p.poolAt))
}
