package load

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Which segments of a table a scan reads is known before it reads any, by what is known of their values.

// InFiles reports a table whose rows are not in memory.
func InFiles(s *plan.Scan) bool {
	return IsStream(s) || slices.ContainsFunc(s.Snap.Segments, func(s *catalog.Segment) bool { return s.Loader != nil })
}

// Wanted are the segments of a scan in which a row may pass its filters, and how many rows the others have.
func Wanted(scan *plan.Scan, filters []scanned.Filter) (out []*catalog.Segment, skipped int64) {
	for _, seg := range scan.Snap.Segments {
		switch {
		case seg.Rows == 0:
		case skipSegment(scan, seg, filters):
			skipped += int64(seg.Rows)
		default:
			out = append(out, seg)
		}
	}
	return joined(out), skipped
}

// joined puts the segments of files together that are read more cheaply so.
func joined(segs []*catalog.Segment) []*catalog.Segment {
	out := segs[:0]
	for _, s := range segs {
		if n := len(out); n > 0 && s.Loader != nil && out[n-1].Loader != nil {
			if both := out[n-1].Loader.Join(out[n-1], s); both != nil {
				out[n-1] = both
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// LeaveParts has a stream leave out the parts of which no row can pass the scan's filters.
func LeaveParts(scan *plan.Scan, filters []scanned.Filter) {
	s, ok := scan.Snap.Stream.(catalog.Parted)
	if !ok {
		return
	}
	parts := s.Parts()
	if len(parts) == 0 {
		return
	}
	keep := make([]bool, len(parts))
	for i, seg := range parts {
		keep[i] = !skipFixed(scan, seg) && !skipSegment(scan, seg, filters)
	}
	s.Keep(keep)
}
