package phys

import (
	"fmt"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// KeySet is how the values of a build side's key are kept, for scans to drop rows by.
type KeySet struct {
	Kind layout.FilterKind
	Bits uint8 // Bloom filters: log2 of the number of 64-bit words
}

func (s KeySet) String() string {
	switch s.Kind {
	case layout.Bitmap:
		return "bitmap"
	case layout.Bloom:
		return fmt.Sprintf("Bloom filter of %d words", uint64(1)<<s.Bits)
	}
	return "range"
}

// maxBitmap bounds the bytes of an exact set, sparseBitmap those per key of one that is larger than the cache near by: the keys of a foreign table
// often come in order, so that a place where all of a cache line is used is worth more than a small one.
const (
	maxBitmap    = 8 << 20
	sparseBitmap = 16
)

// ChooseKeySet decides how the keys of so many rows are kept, which lie between lo and hi.
func ChooseKeySet(rows, lo, hi int64, can Capabilities) KeySet {
	span := uint64(hi) - uint64(lo)
	if span < maxBitmap*8 || span < uint64(can.WideBitmaps)*8 && span/8/sparseBitmap < uint64(rows) {
		return KeySet{Kind: layout.Bitmap}
	}
	return KeySet{Kind: layout.Bloom, Bits: uint8(max(bits.Len64(uint64(rows)/4), 6))}
}

// CanReduce reports that the scan's column can be tested against the key of a build side: both are integers, and NULL
// matches nothing.
func CanReduce(t *pipe.Table, rd pipe.Reduce, tuple *layout.Tuple) bool {
	if len(rd.Build.NullSafe) > 0 && rd.Build.NullSafe[rd.Key] || tuple.Fields[rd.Key].Desc.Form != layout.I64 {
		return false
	}
	for k, c := range t.Scan.Cols {
		if c == rd.Col {
			return t.Scan.Table.Columns[t.Scan.Ordinal[k]].Type.Phys() == types.PhysI64
		}
	}
	return false
}

// fewPass is the share of rows that pass a scan's own tests below which there is no filter where all rows would be tested by it.
const fewPass = 0.25

// MayReduce reports that semi-join filters can be worth something for a scan.
func MayReduce(t *pipe.Table, can Capabilities) bool {
	return !can.FewFilters || len(t.Filter) == 0 || t.Scan.Props().Rows >= fewPass*float64(t.Scan.Snap.Rows)
}

// manyLeft is the number of rows that must be left after a scan's filters for another one to be worth the launch that makes it.
const manyLeft = 1 << 21

// WorthAnother reports that a scan of which so many rows pass its filters so far may have another one.
func WorthAnother(left float64, can Capabilities) bool { return !can.FewFilters || left >= manyLeft }

// mostPass is the share of rows that may pass a filter for it to be worth its test.
const mostPass = 0.8

// WorthReducing guesses which share of a scan's rows has one of so many values in a column, and whether it is worth
// to drop the others.
func WorthReducing(values int64, scan *plan.Scan, col plan.ColID) (share float64, worth bool) {
	for i, c := range scan.Cols {
		if c != col {
			continue
		}
		if st := &scan.Snap.Stats[scan.Ordinal[i]]; st.Distinct > 0 {
			share = float64(values) / st.Distinct
			return share, share <= mostPass
		}
	}
	return 0, true
}
