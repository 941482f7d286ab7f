package gpu

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// lateRows are the columns of a result whose tuples have numbers of rows instead of them, by their places in the table, and the table's segments.
type lateRows struct {
	ordinal map[plan.ColID]int
	segs    []*catalog.Segment
}

// placing replaces the numbers of rows in the table, as kernels know them, by those of segments and of rows in them. nil: tuples have none.
func (l *lateRows) placing(t *layout.Tuple) visitor {
	f := t.Find(layout.LateRow)
	if f == nil {
		return nil
	}
	p := result.NewPlaces(l.segs)
	return func(first uintptr, n int) error {
		for a := first + uintptr(f.Off); n > 0; n-- {
			x, ok := p.Of(mem.Load64(a))
			if !ok {
				return diag.Internalf("gpu", "row %d of %d", x, p.Rows())
			}
			mem.Store64(a, x)
			a += uintptr(t.Size)
		}
		return nil
	}
}

// numbersOnly reports that tuples are nothing but numbers of rows that 4 bytes hold.
func (l *lateRows) numbersOnly(t *layout.Tuple) bool {
	rows := int64(0)
	for _, s := range l.segs {
		rows += int64(s.Rows)
	}
	return len(t.Fields) == 1 && t.Fields[0].ID == layout.LateRow && t.Size == 8 && rows <= math.MaxUint32
}

// manyNumbers is from how many bytes of them on numbers are made shorter.
const manyNumbers = 1 << 20

// fetchNumbers is fetch of tuples that are nothing but numbers of rows, in 4 bytes. Who reads them finds the segments.
func (r *run) fetchNumbers(d deviceRows) (tuples.Rows, error) {
	to, err := r.alloc(4 * d.n)
	if err != nil {
		return tuples.Rows{}, err
	}
	defer r.free(to)
	if err := r.do(shortNumbers, d.n, uint64(d.addr), uint64(to)); err != nil {
		return tuples.Rows{}, err
	}
	return r.fetch(deviceRows{tuple: result.Numbers, addr: to, n: d.n})
}

// shortNumbers writes numbers of 8 bytes as such of 4: from, to.
func shortNumbers() *ir.Func {
	return newKernel("short_numbers", func(k *kernel) []ir.Reg { return k.load("from", "to") }, func(k *kernel, s []ir.Reg) {
		x := k.Vreg("x", ir.I64)
		k.Load8(x, ir.AtIndex(s[0], k.item, 8, 0))
		k.Store(ir.AtIndex(s[1], k.item, 4, 0), x.V(), 4)
		k.Clear(x)
	})
}
