package emit

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// windowFields makes room in tuples for what window functions, which Go computes once all rows are there, find out of the
// columns in fs.
func (e *emitter) windowFields(w *plan.Window, fs []layout.Field) []layout.Field {
	rows := e.maxRows
	if e.Generic || e.United != nil || !rows.Fits64() { // other pipelines bring rows, too
		rows = layout.Between(0, math.MaxInt64)
	}
	args := slices.Clone(fs)
	arg := func(f *plan.WindowFunc, i int) layout.Desc {
		return args[slices.IndexFunc(args, func(a layout.Field) bool { return a.ID == int32(f.Args[i]) })].Desc
	}
	for i := range w.Funcs {
		f := &w.Funcs[i]
		c := e.Cols.Get(f.Col)
		d := layout.Desc{Type: c.Type, Nullable: !f.NeverNull()}
		switch {
		case f.Func == plan.Ntile:
			d.Range = layout.TypeRange(c.Type)
		case f.Func == plan.PercentRank, f.Func == plan.CumeDist:
			d.Form = layout.F64
		case !d.Nullable: // a number of rows
			d.Range = rows
		case f.Fold != nil && f.Fold.Extreme == 0:
			d.Range = layout.TypeRange(c.Type)
			d.Form = layout.FormOf(c.Type, d.Range)
		case f.Func == plan.WinAgg && f.Agg == plan.Sum:
			d = sumDesc(d, arg(f, 0), rows)
		case len(f.Args) == 3: // a default
			d = unitedDesc(c.Type, arg(f, 0), arg(f, 2))
		default: // the value of some row
			d = arg(f, 0)
		}
		d.Type, d.Nullable = c.Type, !f.NeverNull()
		fs = append(fs, layout.Field{ID: int32(f.Col), Name: c.Name, Desc: d})
	}
	return fs
}

// sumDesc is what is known of the sum of so many values.
func sumDesc(d, arg layout.Desc, rows layout.Range) layout.Desc {
	if arg.Form == layout.F64 {
		d.Form = layout.F64
		return d
	}
	d.Form, d.Range = layout.I128, arg.Range.Mul(rows).Union(layout.Between(0, 0))
	if d.Type.Kind != types.Decimal { // BIGINT: beyond it lies an error
		d.Range = layout.TypeRange(d.Type).Intersect(d.Range)
	}
	if d.Range.Fits64() {
		d.Form = layout.I64
	}
	return d
}

// unitedDesc is what is known of a value that comes from one of two columns.
func unitedDesc(t types.Type, a, b layout.Desc) layout.Desc {
	if a.Form == b.Form && a.Dict == b.Dict {
		a.Range = a.Range.Union(b.Range)
		return a
	}
	d := layout.Desc{Type: t, Range: layout.TypeRange(t)}
	d.Form = layout.FormOf(t, d.Range)
	return d
}
