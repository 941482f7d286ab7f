package column

import "github.com/kelpiedb/kelpie/internal/types"

// Zone summarizes a chunk for skipping.
type Zone struct {
	NullCount int  // of a file's segment without data: as far as it is known
	NoNulls   bool // of such a segment: it is known that there are none
	// Min and Max are valid when HasRange says so: no value is less than Min or greater than Max. They are values
	// of the chunk, but for texts, which are cut. Floats follow types.CompareFloat: NaN is the largest.
	Min, Max types.Value
	Sorted   bool  // values never decrease from row to row, and none is NULL
	Strict   bool  // Sorted, and they always increase
	Runs     int   // Sorted: how many different values there are
	Bytes    int64 // Text: length of all values together
}

// HasRange reports that the zone has Min and Max: there is a value, and its kind has an order that is worth knowing.
// Of texts the greatest may be unknown, of files both.
func (c *Chunk) HasRange() bool {
	return c.Rows > c.Zone.NullCount && c.Zone.Min.Type.Kind == c.Type.Kind
}

// zoneBytes bounds the texts of a zone: they lie on the Go heap for as long as the chunk lives, and who compares a column
// with a longer text cares little for the rest.
const zoneBytes = 256

// setTextZone makes the smallest and the greatest text the range, each cut to zoneBytes. There is none where bytes do not compare values.
func (p *sealing) setTextZone(lo, hi []byte) {
	top, ok := cutAbove(hi)
	if !ok || p.b.t.Keyed() {
		return
	}
	p.c.Zone.Min = types.Value{Type: p.b.t, S: string(lo[:min(len(lo), zoneBytes)])} // what begins a text is not greater
	p.c.Zone.Max = types.Value{Type: p.b.t, S: string(top)}
}

// cutAbove is a text of at most zoneBytes that is not less than s; false if there is none. Its bytes may be no UTF-8.
func cutAbove(s []byte) ([]byte, bool) {
	if len(s) <= zoneBytes {
		return s, true
	}
	for n := zoneBytes; n > 0; n-- {
		if last := s[n-1]; last < 0xff {
			out := append([]byte(nil), s[:n]...)
			out[n-1] = last + 1
			return out, true
		}
	}
	return nil, false
}
