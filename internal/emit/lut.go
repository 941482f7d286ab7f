package emit

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Lut is a predicate over a dictionary column, worked out once per dictionary entry
// instead of once per row: Frag writes one byte per code (0 false, 1 true) to the
// tuples' space, and rows look their code up.
type Lut struct {
	Dict *column.Dict
	Len  int
	Expr plan.Expr
	Frag *Fragment
}

// lut compiles the table's own little function, once per predicate.
func (e *emitter) lut(x plan.Expr, id plan.ColID, d layout.Desc) int {
	for i, l := range e.f.Luts {
		if l.Dict == d.Dict && plan.EqualExpr(l.Expr, x) {
			return i
		}
	}
	n := int(int64(d.Range.Hi.Lo)) + 1
	sub := newEmitter(Request{Name: e.Name + "_lut", Cols: e.Cols, Target: e.Target, Device: e.Device, Check: e.Request.Check, Verbose: e.Verbose, Off: e.Off, SIMD: e.SIMD, Gather: e.Gather})
	sub.Tabulate = nil
	sub.Brief = sub.Can.Parameters // it runs for few texts
	sub.Say("for each dictionary entry", func(n plan.Names) string { return n.Expr(x) })
	sub.rows(func(i ir.Reg) {
		sub.BindLazy(id, func() code.Value {
			c := code.Value{Desc: d, A: i.V(), Null: ir.K(0)}
			c.Desc.Nullable = false
			return sub.Text(c)
		})
		r := sub.Eval(x)
		out := sub.Int("out")
		sub.B.Load8(out, ir.At(ir.Ctx, layout.CtxCur))
		sub.B.Store(ir.AtIndex(out, i, 1, 0), r.A, 1)
		sub.B.Clear(out)
		sub.Free(r)
	})
	e.f.Luts = append(e.f.Luts, &Lut{Dict: d.Dict, Len: n, Expr: x, Frag: sub.fragment()})
	return len(e.f.Luts) - 1
}
