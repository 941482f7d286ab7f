package layout

import "testing"

func TestNarrowTuple(t *testing.T) {
	for _, c := range []struct {
		r     Range
		width uint8
	}{
		{Range{}, 8}, {Between(0, 0), 1}, {Between(0, 255), 1}, {Between(0, 256), 2}, {Between(-1, 127), 1}, {Between(-1, 128), 2},
		{Between(-128, 0), 1}, {Between(-129, 0), 2}, {Between(1000, 65535), 2}, {Between(0, 1<<32-1), 4}, {Between(0, 1<<32), 8},
		{Between(-1<<31, 1<<31-1), 4}, {Between(-1<<31, 1<<31), 8}, {Between(-1<<63, 1<<63-1), 8},
	} {
		if got := c.r.width(); got != c.width {
			t.Errorf("%v: %d bytes, want %d", c.r, got, c.width)
		}
	}
	fields := []Field{
		{Desc: Desc{Form: I64, Range: Between(0, 9)}},
		{Desc: Desc{Form: Str, Nullable: true}},
		{Desc: Desc{Form: I64, Range: Between(-5, 70000)}},
		{Desc: Desc{Form: F64, Range: Between(0, 1)}},
	}
	n := NarrowTuple(true, true, fields)
	for i, want := range []struct{ off, null int }{{36, -1}, {8, 37}, {32, -1}, {24, -1}} {
		if f := n.Fields[i]; f.Off != want.off || f.Null != want.null {
			t.Errorf("field %d at %d, NULL at %d", i, f.Off, f.Null)
		}
	}
	if n.Flag != 38 || n.Size != 40 {
		t.Errorf("flag at %d, %d bytes", n.Flag, n.Size)
	}
}
