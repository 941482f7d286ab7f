package exec

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// scanFilters makes the semi-join filters that are ready and promise to drop rows.
func (j *job) scanFilters(t *pipe.Table, req *emit.Request) error {
	if j.r.Off.SemiJoins {
		return nil
	}
	start := time.Now()
	defer func() { j.r.filtering += time.Since(start) }()
	for _, rd := range t.Reduce {
		b, ok := j.r.sinks[rd.Build].(*buildSink)
		if !ok || b.built == nil || len(b.s.NullSafe) > 0 && b.s.NullSafe[rd.Key] {
			continue
		}
		f := b.tuple.Fields[rd.Key]
		if f.Desc.Form != layout.I64 || !isIntColumn(t.Scan, rd.Col) {
			continue
		}
		set, err := b.built.Set(rd.Key)
		if err != nil {
			return err
		}
		sf := emit.ScanFilter{Col: rd.Col, Range: set.Range, Kind: set.Kind, Bits: set.Bits, Index: len(j.filters),
			Build: rd.Build, Key: rd.Key}
		if sf.Share = shareOf(set.Count, t.Scan, rd.Col); sf.Share > 0.8 {
			continue
		}
		if err := set.Fill(); err != nil {
			return err
		}
		// Only what was counted is known exactly.
		if sf.Share = shareOf(set.Count, t.Scan, rd.Col); sf.Share > 0.8 {
			continue
		}
		j.filters = append(j.filters, set.Addr)
		req.Filters = append(req.Filters, sf)
	}
	return nil
}

func isIntColumn(scan *plan.Scan, id plan.ColID) bool {
	for k, c := range scan.Cols {
		if c == id {
			return scan.Table.Columns[scan.Ordinal[k]].Type.Phys() == types.PhysI64
		}
	}
	return false
}

// shareOf guesses which part of a scan's rows has one of so many values in a column.
func shareOf(count int64, scan *plan.Scan, id plan.ColID) float64 {
	for i, c := range scan.Cols {
		if c != id {
			continue
		}
		if st := &scan.Snap.Stats[scan.Ordinal[i]]; st.Distinct > 0 {
			return float64(count) / st.Distinct
		}
	}
	return 0
}
