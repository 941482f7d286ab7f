package column

import (
	"testing"
	"unsafe"
)

// TestLayout pins the bytes that generated code knows.
func TestLayout(t *testing.T) {
	var d StrDesc
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"StrDesc size", unsafe.Sizeof(d), 16},
		{"StrDesc.Len", unsafe.Offsetof(d.Len), 0},
		{"StrDesc.Prefix", unsafe.Offsetof(d.Prefix), 4},
		{"StrDesc.Rest", unsafe.Offsetof(d.Rest), 8},
		{"descBytesSize", descBytesSize, 16},
		{"StrInline", StrInline, 12},
		{"PadRows", PadRows, 64},
		{"SegmentRows", SegmentRows, 65536},
		{"Align", Align, 64},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", c.name, c.got, c.want)
		}
	}
	// And what the bytes of a descriptor are.
	for _, c := range []struct {
		s    string
		off  int
		want string
	}{
		{"", 99, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"abc", 99, "\x03\x00\x00\x00abc\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"abcdefghijkl", 99, "\x0c\x00\x00\x00abcdefghijkl"},
		{"abcdefghijklm", 0x0102, "\x0d\x00\x00\x00abcd\x02\x01\x00\x00\x00\x00\x00\x00"},
	} {
		d := makeDesc([]byte(c.s), c.off)
		if got := string(unsafe.Slice((*byte)(unsafe.Pointer(&d)), 16)); got != c.want {
			t.Errorf("descriptor of %q is %q, want %q", c.s, got, c.want)
		}
	}
}
