package scanned

import (
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Filter is a semi-join filter at a scan: Col must lie in Range and, if Bits is set, its
// bit in the bitmap (by value - Range.Lo) or Bloom filter (by hash) must be set.
type Filter struct {
	Col   plan.ColID
	Range layout.Range
	Kind  layout.FilterKind
	Bits  uint8   // Bloom: log2 of the number of 64-bit words
	Share float64 // of the column's values that pass, as far as known
	Index int     // of its Word
	Build *pipe.Build
	Key   int // of Build, whose values make the set
}
