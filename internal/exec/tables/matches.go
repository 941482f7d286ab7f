package tables

import (
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// MostMatches is the largest number of candidates for a key.
func MostMatches(t *layout.Table) int {
	most := uint64(0)
	switch t.Kind {
	case layout.List:
		return int(t.Rows)
	case layout.DenseBuckets:
		s := mem.Halves(t.Slots, int(t.Span)+1)
		for k := range s[1:] {
			most = max(most, uint64(s[k+1]-s[k]))
		}
	case layout.Buckets:
		s := mem.Words(t.Slots, 1+1<<t.Bits)
		for k := range s[1:] {
			most = max(most, s[k+1]>>16-s[k]>>16)
		}
		most /= uint64(t.Tuple.Size)
	default:
		return 1
	}
	return int(most)
}
