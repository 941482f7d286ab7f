package result

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/catalog"
)

// TestPlaces: every row is found in its segment, whatever their sizes, and none behind the last.
func TestPlaces(t *testing.T) {
	for _, sizes := range [][]int{{}, {0}, {1}, {0, 1, 0}, {5, 5, 5}, {1, 1000, 1, 1, 0, 7, 300, 0}, {1000, 1}, {1, 1, 1, 1, 1, 1, 4096}} {
		var segs []*catalog.Segment
		for _, n := range sizes {
			segs = append(segs, &catalog.Segment{Rows: n})
		}
		p := NewPlaces(segs)
		row := uint64(0)
		for i, n := range sizes {
			for k := range n {
				if x, ok := p.Of(row); !ok || x != uint64(i)<<32|uint64(k) {
					t.Fatalf("%v: row %d is at %#x, %v", sizes, row, x, ok)
				}
				row++
			}
		}
		for _, x := range []uint64{row, row + 1, row + 1<<20, 1 << 40} {
			if _, ok := p.Of(x); ok {
				t.Errorf("%v: there is a row %d", sizes, x)
			}
		}
	}
}
