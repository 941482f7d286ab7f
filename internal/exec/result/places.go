package result

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Numbers is a tuple that is nothing but the number of a row in its table, in 4 bytes.
var Numbers = &layout.Tuple{Fields: []layout.Field{{ID: layout.LateRow, Name: "row", Desc: layout.Desc{Type: types.TInt64, Range: layout.Between(0, 1<<32-1)}, Null: -1, Width: 4}}, Flag: -1, Size: 4}

// Places finds the segments of rows by their numbers in the table. Where that is cut into pieces of 1<<shift rows, first tells with which segment each begins: rows
// come in any order, and several times as many pieces as segments leave few in which to look further.
type Places struct {
	starts []uint64 // of segments that have rows, and the end of the last
	segs   []uint64 // their numbers, in the upper half of a word
	shift  int
	first  []int32
}

// NewPlaces is for the rows of segments, one after the other.
func NewPlaces(segs []*catalog.Segment) *Places {
	p := &Places{}
	end := uint64(0)
	for i, s := range segs {
		if s.Rows > 0 {
			p.starts, p.segs = append(p.starts, end), append(p.segs, uint64(i)<<32)
			end += uint64(s.Rows)
		}
	}
	n := uint64(len(p.starts))
	p.starts = append(p.starts, end)
	p.shift = bits.Len64(end / (8 * max(n, 1)))
	i := int32(0)
	for at := uint64(0); at < end; at += 1 << p.shift {
		for p.starts[i+1] <= at {
			i++
		}
		p.first = append(p.first, i)
	}
	return p
}

// Rows is how many there are.
func (p *Places) Rows() uint64 { return p.starts[len(p.starts)-1] }

// Of is a row's segment, in the upper half, and its number there; false: there is no such row.
func (p *Places) Of(row uint64) (uint64, bool) {
	at := row >> p.shift
	if at >= uint64(len(p.first)) || row >= p.starts[len(p.starts)-1] {
		return row, false
	}
	i := p.first[at]
	for p.starts[i+1] <= row {
		i++
	}
	return p.segs[i] | (row - p.starts[i]), true
}
