package vector

import (
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// topShare is the share of rows that are expected to be before the bound.
const topShare = 0.01

// topMask drops rows behind the bound by the first sort key, as the bound is when a morsel begins.
func (f *Front) topMask(k plan.SortKey) (maskTest, bool) {
	c, ok := f.maskCol(k.Col)
	if !ok {
		return maskTest{}, false
	}
	first, last := int64(c.d.Range.Lo.Lo), int64(c.d.Range.Hi.Lo)
	low, span, some := f.Scratch(8), f.Scratch(8), f.Scratch(8)
	f.setup = append(f.setup, func() {
		x, y := f.Int("low"), f.Int("high")
		f.B.Mov(x, ir.K(first))
		f.B.Mov(y, ir.K(last))
		bound := f.Int("bound")
		f.B.Load8(bound, ir.At(ir.Ctx, layout.CtxFirst))
		if k.Desc {
			f.B.Sel(x, ir.GT, bound.V(), x.V(), bound.V(), x.V())
		} else {
			f.B.Sel(y, ir.LT, bound.V(), y.V(), bound.V(), y.V())
		}
		f.B.Clear(bound)
		f.codesBetween(c, x, y, low, span, some)
	})
	say := func(n plan.Names) string { return "top " + n.SortKeys([]plan.SortKey{k}) }
	return maskTest{share: topShare, cost: c.cost(), say: say, mask: f.codesFrom(c, low, span, some), leave: func() {}}, true
}
