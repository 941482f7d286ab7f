package lab

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/plot"
)

// postProjection compares reading all columns first with reading them where rows passed the filter.
func postProjection(b *bench, r *Result) error {
	n := b.rows(10_000_000)
	r.Workload = fmt.Sprintf("Qπ over %d rows, of which 1%% pass", n)
	r.Table.Columns = []string{"columns", "read first", "when needed", "×", "MB through memory, first", "when needed", "with vector instructions"}
	if err := b.here(wide(n, 100)); err != nil {
		return err
	}
	if b.Device == "cpu" {
		r.Workload += ", one thread, without vector instructions"
		if err := b.do("set threads = 1", "set simd = off"); err != nil {
			return err
		}
	} // what a GPU does column by column would hide the difference
	if err := b.do("set late_columns = off", "set direct_scan = off"); err != nil {
		return err
	}
	for _, p := range []int{10, 50, 100} {
		var got [2]sample
		var mb [2]float64
		for i, on := range []string{"off", "on"} {
			if err := b.do("set post_projection = " + on); err != nil {
				return err
			}
			var err error
			if got[i], err = b.ask(projection(p)); err != nil {
				return err
			}
			profile, err := b.explain(projection(p))
			if err != nil {
				return err
			}
			mb[i] = profile.Summary.Moved.Memory / 1e6
		}
		vectors := sample{Cost: plot.None}
		first, needed := mb[0], mb[1]
		if b.Device == "cpu" { // the paper has none
			if err := b.do("reset simd"); err != nil {
				return err
			}
			var err error
			if vectors, err = b.ask(projection(p)); err != nil {
				return err
			}
			if err := b.do("set simd = off"); err != nil {
				return err
			}
			first, needed = plot.None, plot.None
		}
		r.Table.add(fmt.Sprint(p), got[0].Cost, got[1].Cost, got[0].Cost/got[1].Cost, first, needed, vectors.Cost)
	}
	gain := r.Table.column(2)
	r.Claim = "post-projection reduces execution times by up to 5.3×"
	r.Ours = fmt.Sprintf("by %s to %s", times(best(gain)), times(worst(gain)))
	r.Picture = r.chart(r.Cost, 0, 1).Bars()
	return nil
}
