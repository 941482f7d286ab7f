package groups

import (
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// checkSums fails when a sum has more digits than a decimal may have. Generated code adds 128-bit numbers,
// which hold a little more; on the way a sum may be larger than it is at the end, so that the
// end is the place to look. Where the ranges of arguments keep sums small nothing is looked at, which
// is nearly everywhere.
func (s *Grouping) checkSums() error {
	for i, a := range s.Group.Aggs {
		f := &s.Plan.Tuple.Fields[len(s.Group.Keys)+i]
		limit := layout.TypeRange(f.Desc.Type)
		if a.Func != plan.Sum || f.Desc.Form != layout.I128 || f.Desc.Type.Kind != types.Decimal || f.Desc.Range.Within(limit) {
			continue
		}
		fits := true
		err := s.Rows.Poll(s.Team, func(addr uintptr) bool {
			at := addr + uintptr(f.Off)
			x := types.Int128{Lo: mem.Load64(at), Hi: int64(mem.Load64(at + 8))}
			fits = f.Null >= 0 && mem.Load8(addr+uintptr(f.Null)) != 0 || x.Cmp(limit.Lo) >= 0 && x.Cmp(limit.Hi) <= 0
			return fits
		})
		if err != nil {
			return err
		}
		if !fits {
			return diag.Errorf(diag.NumericOutOfRange, -1, "numeric field overflow").
				WithDetail("a sum has more than %d digits", types.MaxPrecision)
		}
	}
	return nil
}
