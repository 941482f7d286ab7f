package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/windows"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// windows computes window functions of tuples, on the host, and writes them into the tuples of the device.
func (r *run) windows(d deviceRows, w *plan.Window) error {
	if d.n == 0 { // frames may still be wrong
		return windows.Compute(w, &tuples.Rows{Tuple: d.tuple}, windows.Options{})
	}
	rows, err := r.fetch(d)
	if err != nil {
		return err
	}
	for i := range w.Funcs { // the texts of codes may be asked for
		for _, id := range w.Funcs[i].Args {
			if f := d.tuple.Find(int32(id)); f.Desc.Form == layout.Code {
				if _, err := r.dict(f.Desc.Dict); err != nil {
					return err
				}
			}
		}
	}
	start, made := rows.Pieces[0].Addr, w.Made()
	theirs := slices.Clone(mem.Bytes(start, int(d.n)*d.tuple.Size)) // with addresses of the device
	if err := r.bringHome(&rows, made); err != nil {
		return err
	}
	view := func(d *column.Dict) column.DictView { return d.View() }
	if err := windows.Compute(w, &rows, windows.Options{Team: r.team, Mem: r.mem, View: view, NoRadix: r.Off.RadixSort, Stay: true}); err != nil {
		return err
	}
	// Texts that windows give are texts of other rows, which the device has.
	away := slices.Clone(r.texts)
	slices.SortFunc(away, func(a, b homes) int { return int(a.host) - int(b.host) })
	if err := r.takeOver(d.tuple, made, theirs, mem.Bytes(start, len(theirs)), away); err != nil {
		return err
	}
	if err := r.st.Upload(d.addr, theirs); err != nil {
		return r.failed(err)
	}
	err = r.sync()
	r.mem.Free(start)
	return err
}
