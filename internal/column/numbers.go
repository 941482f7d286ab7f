package column

import (
	"sync"

	"github.com/kelpiedb/kelpie/internal/types"
)

// counting is the codes 0, 1, 2 … of a whole segment, which all columns of row numbers have in common.
var counting = sync.OnceValues(func() (*Mem, error) {
	mem, err := Alloc(2 * (SegmentRows + PadRows))
	if err != nil {
		return nil, err
	}
	codes := slice[uint16](mem.Addr(), SegmentRows+PadRows)
	for i := range codes {
		codes[i] = uint16(i)
	}
	return mem, nil
})

// Numbers is a column of a segment that holds the numbers of its rows, the first of which is first. It takes no memory of
// its own.
func Numbers(first int64, rows int) (*Chunk, error) {
	mem, err := counting()
	if err != nil {
		return nil, err
	}
	c := &Chunk{Shape: Shape{Enc: EncInt, Width: 2}, Type: types.TInt64, Rows: rows, Base: first, Data: mem.Addr(), mem: mem}
	c.Zone = Zone{Min: types.IntValue(types.TInt64, first), Max: types.IntValue(types.TInt64, first+int64(rows)-1),
		Sorted: true, Strict: true, Runs: rows}
	return c, nil
}
