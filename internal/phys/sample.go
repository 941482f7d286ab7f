package phys

import (
	"fmt"
	"slices"

	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Sample is how a GPU finds the first rows of an order among many: those of the scan's first rows are found before the others are read, and the
// last of them is a bound. Most of the others are behind it, and are dropped where they are scanned instead of being written and sorted.
type Sample struct {
	Rows int64      // of the scan; 0: there is no sample
	From int64      // its first row: 0, or where its rows are the scan's last
	Col  plan.ColID // of the scan, by which the bound drops rows: the first key
	Type types.Type // of that
	Op   plan.Op    // what rows that may be among the first are, compared with the bound
	// Likely is about where the bound will be.
	Likely int64
}

func (s Sample) String() string { return fmt.Sprintf("the best of %d rows bound the others", s.Rows) }

// Others are the rows that are not in the sample, of so many: from one up to another.
func (s Sample) Others(rows int64) (from, to int64) {
	if s.From > 0 {
		return 0, s.From
	}
	return s.Rows, rows
}

const (
	// sampleLeast is from how many rows on a sample pays: less is written and sorted in the time of the launches.
	sampleLeast = 2 << 20
	// sampleRows bounds a sample, sampleTimes is how many rows it has at least for each that is wanted: of the others as large a share
	// passes the bound as of its own.
	sampleRows  = 1 << 20
	sampleTimes = 16
	// sampleUnit is a multiple of which a chunk of rows must begin at.
	sampleUnit = 1 << 8
)

// ChooseSample decides whether a sink's first rows are bounded by a sample of a scan of so many rows; own is how many rows somebody wants
// it to have, 0: as many as pay.
func ChooseSample(p *pipe.Pipeline, rows, own int64) (s Sample) {
	c, ok := p.Sink.(*pipe.Collect)
	t, table := p.Source.(*pipe.Table)
	if !ok || !table || len(c.Keys) == 0 || c.Limit < 0 || c.Window != nil {
		return s
	}
	wanted := Wanted(c, rows)
	n := max(sampleRows, wanted*sampleTimes)
	if own > 0 {
		n = own
	} else if rows < sampleLeast {
		return s
	}
	n = (n + sampleUnit - 1) &^ (sampleUnit - 1)
	if wanted == 0 || wanted > n || n >= rows || own == 0 && n > rows/2 {
		return s
	}
	key := c.Keys[0]
	ord, carried := pipe.Carried(t, p.Ops)[key.Col]
	if !carried {
		return s
	}
	at := slices.Index(t.Scan.Ordinal, ord)
	typ, stats := t.Scan.Table.Columns[ord].Type, &t.Scan.Snap.Stats[ord]
	if typ.Phys() > types.PhysI128 || key.NullsFirst && stats.NullCount > 0 { // such NULLs are behind no bound
		return s
	}
	s = Sample{Rows: n, Col: t.Scan.Cols[at], Type: typ, Op: plan.Le, Likely: stats.Min.I}
	if key.Desc {
		s.Op, s.Likely = plan.Ge, stats.Max.I
		if stats.Sorted { // the best rows are the last
			s.From = (rows - n) &^ (sampleUnit - 1)
			s.Rows = rows - s.From
		}
	}
	return s
}

// Bound is the condition for rows that may come before the last of the sample's best, or beside it.
func (s Sample) Bound(last int64) plan.Expr {
	v := types.IntValue(s.Type, last)
	if v.Type.Kind == types.Decimal {
		v.Hi = last >> 63
	}
	return plan.Compare(s.Op, &plan.Ref{ID: s.Col, T: s.Type}, &plan.Const{V: v})
}
