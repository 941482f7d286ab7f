package exec

import (
	"sort"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A query that only picks columns of a table needs no code and no tuples: the result is the table's
// segments themselves, which a Reader copies from.

// tableRows are rows of a table as a result.
type tableRows struct {
	segs    []*catalog.Segment
	starts  []int64 // where each segment begins
	ordinal []int   // of each column in the table
	columns []resultColumn
	offset  int64 // rows left out
	n       int64

	stream catalog.Stream // not nil: where the segments come from …
	limit  int64          // … and how many rows are enough; < 0: all
}

// direct is the result of a query that only picks columns; nil if it does more.
func (r *run) direct() *tableRows {
	res := r.prog.Result
	if r.Off.DirectScan || r.Count || r.Profile || r.Listing || r.gpu != nil || len(r.prog.Pipelines) != 1 || len(res.Keys) > 0 {
		return nil
	}
	p := r.prog.Pipelines[0]
	t, ok := p.Source.(*pipe.Table)
	if !ok || len(t.Filter) > 0 || len(t.Reduce) > 0 || len(p.Stages) > 0 {
		return nil
	}
	from := carried(t, p.Ops)
	for _, op := range p.Ops {
		if _, ok := op.(*pipe.Map); !ok {
			return nil
		}
	}
	out := &tableRows{offset: res.Offset, stream: t.Scan.Snap.Stream, limit: res.Limit}
	for _, id := range res.Cols {
		ord, ok := from[id]
		if !ok {
			return nil
		}
		out.ordinal, out.columns = append(out.ordinal, ord), append(out.columns, resultColumn{ordinal: ord})
	}
	var n int64
	for _, s := range t.Scan.Snap.Segments {
		if s.Rows > 0 {
			out.segs, out.starts = append(out.segs, s), append(out.starts, n)
			n += int64(s.Rows)
		}
	}
	if out.n = max(n-res.Offset, 0); res.Limit >= 0 {
		out.n = min(out.n, res.Limit)
	}
	return out
}

// at is the place of row pos, and how many of the n rows from it on are in the same segment.
func (t *tableRows) at(pos int64, n int) (*catalog.Segment, int, int) {
	n = int(min(int64(n), t.n-pos))
	if n <= 0 {
		return nil, 0, 0
	}
	pos += t.offset
	i := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > pos }) - 1
	lo := int(pos - t.starts[i])
	return t.segs[i], lo, min(n, t.segs[i].Rows-lo)
}
