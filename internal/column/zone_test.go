package column

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kelpiedb/kelpie/internal/types"
)

// TestTextZones: texts of zones are short, and still bounds.
func TestTextZones(t *testing.T) {
	null := types.NullOf(types.TText)
	text := types.TextValue
	rep := strings.Repeat
	for i, c := range []struct {
		vs       []types.Value
		min, max string
	}{
		{[]types.Value{text("b"), text("a")}, "a", "b"},
		{[]types.Value{text("")}, "", ""},
		{[]types.Value{text(""), null, text(rep("x", 1000))}, "", rep("x", 255) + "y"},
		{[]types.Value{text(rep("a", 256))}, rep("a", 256), rep("a", 256)},
		{[]types.Value{text(rep("a", 257))}, rep("a", 256), rep("a", 255) + "b"},
		{[]types.Value{text(rep("ä", 200))}, rep("ä", 128), rep("ä", 127) + "\xc3\xa5"},
		{[]types.Value{text("x" + rep("ä", 200))}, "x" + rep("ä", 127) + "\xc3", "x" + rep("ä", 127) + "\xc4"},
		{[]types.Value{text(rep("\xff", 256))}, rep("\xff", 256), rep("\xff", 256)},
		{[]types.Value{text("a" + rep("\xff", 300))}, "a" + rep("\xff", 255), "b"},
		{[]types.Value{text(rep("a", 300) + "1"), text(rep("a", 300) + "2")}, rep("a", 256), rep("a", 255) + "b"},
	} {
		for _, opts := range allOptions {
			for _, dict := range []*Dict{nil, NewDict()} {
				ch := seal(t, types.TText, c.vs, opts, dict)
				if z := &ch.Zone; !ch.HasRange() || z.Min.S != c.min || z.Max.S != c.max {
					t.Errorf("%d, %+v: %q … %q, want %q … %q", i, opts, z.Min.S, z.Max.S, c.min, c.max)
				}
			}
		}
	}
	for _, vs := range [][]types.Value{{null}, nil, {text("a"), text(rep("\xff", 257))}} {
		if ch := seal(t, types.TText, vs, DefaultOptions(), NewDict()); ch.HasRange() {
			t.Errorf("%d rows: %q … %q", len(vs), ch.Zone.Min.S, ch.Zone.Max.S)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 { // texts around the length at which they are cut, with many bytes of 0xff
		s := make([]byte, zoneBytes-3+r.IntN(8))
		for i := range s {
			s[i] = 0xff
			if r.IntN(100) == 0 {
				s[i] = byte(r.IntN(256))
			}
		}
		if up, ok := cutAbove(s); ok && (bytes.Compare(up, s) < 0 || len(up) > zoneBytes) {
			t.Fatalf("%x is cut to %x", s, up)
		} else if !ok && !bytes.HasPrefix(s, bytes.Repeat([]byte{0xff}, zoneBytes)) {
			t.Fatalf("%x has no bound", s)
		}
	}
}
