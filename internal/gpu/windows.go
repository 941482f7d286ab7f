package gpu

import (
	"cmp"
	"slices"
	"sync"

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
	made := w.Made()
	theirs, ours, err := r.fetchBoth(d, made)
	if err != nil {
		return err
	}
	rows := tuples.Rows{Tuple: d.tuple, Pieces: []tuples.Piece{{Addr: ours, N: int(d.n)}}}
	for i := range w.Funcs { // the texts of codes may be asked for
		for _, id := range w.Funcs[i].Args {
			if f := d.tuple.Find(int32(id)); f.Desc.Form == layout.Code {
				if _, err := r.dict(f.Desc.Dict); err != nil {
					return err
				}
			}
		}
	}
	view := func(d *column.Dict) column.DictView { return d.View() }
	var mu sync.Mutex
	var texts []mem.Piece // that folds make
	tell := func(made []mem.Piece) {
		mu.Lock()
		defer mu.Unlock()
		texts = append(texts, made...)
	}
	if err := windows.Compute(w, &rows, windows.Options{Team: r.team, Mem: r.mem, View: view, NoRadix: r.Off.RadixSort, Stay: true, Texts: tell}); err != nil {
		return err
	}
	if _, err := r.uploadTexts(texts); err != nil {
		return err
	}
	// All other texts that windows give are texts of other rows, which the device has.
	away := slices.Clone(r.texts)
	slices.SortFunc(away, func(a, b homes) int { return cmp.Compare(a.host, b.host) })
	return r.takeOver(d, made, theirs, ours, away)
}
