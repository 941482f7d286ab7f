package file

import (
	"encoding/binary"
	"slices"
	"testing"
)

// slowHybrid decodes runs and bit-packed numbers bit by bit.
func slowHybrid(n int, src []byte, width uint) (out []uint32, ok bool) {
	for len(out) < n {
		head, k := binary.Uvarint(src)
		if k <= 0 {
			return nil, false
		}
		src = src[k:]
		if head&1 == 0 {
			k := int(width+7) / 8
			if len(src) < k {
				return nil, false
			}
			var b [8]byte
			copy(b[:], src[:k])
			src = src[k:]
			for i := uint64(0); i < head>>1 && len(out) < n; i++ {
				out = append(out, uint32(binary.LittleEndian.Uint64(b[:])))
			}
			continue
		}
		for i := uint64(0); i < head>>1*8; i++ {
			if len(out) == n {
				return out, true
			}
			x := uint32(0)
			for bit := uint64(0); bit < uint64(width); bit++ {
				at := i*uint64(width) + bit
				if at/8 >= uint64(len(src)) {
					return nil, false
				}
				x |= uint32(src[at/8]>>(at%8)&1) << bit
			}
			out = append(out, x)
		}
		src = src[min(head>>1*uint64(width), uint64(len(src))):]
	}
	return out, true
}

func FuzzHybrid(f *testing.F) {
	f.Add([]byte{8, 1}, byte(1), uint16(4))
	for width := range 20 {
		src := []byte{2<<1 | 1}
		for i := range 2 * width {
			src = append(src, byte(i*77))
		}
		f.Add(append(src, 9<<1, 1, 0, 0), byte(width), uint16(19))
	}
	f.Fuzz(func(t *testing.T, src []byte, width byte, n uint16) {
		const entries = 1 << 12
		table := padded[uint32](entries)
		for i := range table {
			table[i] = uint32(i) * 3
		}
		got := make([]uint32, n)
		err := hybrid(got, src, uint(width), table, false)
		if width > 32 {
			if err == nil {
				t.Fatal("too many bits")
			}
			return
		}
		want, ok := slowHybrid(int(n), src, uint(width))
		ok = ok && !slices.ContainsFunc(want, func(x uint32) bool { return x >= entries })
		if ok != (err == nil) {
			t.Fatalf("%v, expected %v", err, ok)
		}
		for i := range want {
			if ok && got[i] != want[i]*3 {
				t.Fatalf("value %d is %d instead of %d", i, got[i], want[i]*3)
			}
		}
		again := make([]uint32, n)
		if err := hybrid(again, src, uint(width), table, true); (err == nil) != ok || ok && !slices.Equal(again, got) {
			t.Fatalf("by vectors %v, %v instead of %v", err, again, got)
		}
		// With room behind, and into other elements.
		behind := append(slices.Clone(src), make([]byte, slack)...)[:len(src)]
		wide := make([][2]uint64, n)
		pairs := make([][2]uint64, entries)
		for i := range pairs {
			pairs[i] = [2]uint64{uint64(i), ^uint64(i)}
		}
		if err2 := hybrid(wide, behind, uint(width), pairs, true); (err2 == nil) != ok {
			t.Fatal(err2)
		}
		for i := range want {
			if ok && wide[i] != pairs[want[i]] {
				t.Fatal(i, wide[i])
			}
		}
	})
}

// encodeDelta encodes numbers in blocks of 128 with 4 miniblocks.
func encodeDelta(xs []int64) []byte {
	out := binary.AppendUvarint(nil, 128)
	out = binary.AppendUvarint(out, 4)
	out = binary.AppendUvarint(out, uint64(len(xs)))
	zig := func(x int64) uint64 { return uint64(x<<1) ^ uint64(x>>63) }
	if len(xs) == 0 {
		return append(out, 0)
	}
	out = binary.AppendUvarint(out, zig(xs[0]))
	for at := 1; at < len(xs); at += 128 {
		var deltas []int64
		for i := at; i < min(at+128, len(xs)); i++ {
			deltas = append(deltas, xs[i]-xs[i-1])
		}
		least := slices.Min(deltas)
		out = binary.AppendUvarint(out, zig(least))
		var widths, body []byte
		for m := 0; m < 128; m += 32 {
			top := uint64(0)
			for i := m; i < min(m+32, len(deltas)); i++ {
				top |= uint64(deltas[i] - least)
			}
			width := 0
			for top>>width != 0 && width < 64 {
				width++
			}
			if m >= len(deltas) {
				width = 0
			}
			widths = append(widths, byte(width))
			mini := make([]byte, 4*width)
			for i := m; i < min(m+32, len(deltas)); i++ {
				for b := range width {
					at := (i-m)*width + b
					mini[at/8] |= byte(uint64(deltas[i]-least)>>b&1) << (at % 8)
				}
			}
			body = append(body, mini...)
		}
		out = append(append(out, widths...), body...)
	}
	return out
}

func FuzzDelta(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, uint16(3))
	f.Add(encodeDelta([]int64{1, 2, 3, -5, 1 << 62, -1 << 63, 0}), uint16(7))
	f.Fuzz(func(t *testing.T, data []byte, n uint16) {
		// Any bytes: values or an error.
		xs := make([]int64, n)
		_, err := deltaInts(xs, data, 64)
		_, _ = deltaInts(make([]int64, n), data, 32)
		if haveDeltas {
			checkDeltas(t, data, int(n), 64, 0, -1000, 1<<20)
			checkDeltas(t, data, int(n), 32, -1000, -1000, 1<<20)
		}
		if _, err := deltaTexts(int(n%1000), encDeltaTexts, data, func(int) {}); err == nil && len(data) == 0 && n%1000 > 0 {
			t.Fatal("texts of nothing")
		}
		_, _ = deltaTexts(int(n%1000), encDeltaLengths, data, func(int) {})
		if err == nil && n > 0 {
			back := make([]int64, n)
			if _, err := deltaInts(back, encodeDelta(xs), 64); err != nil || !slices.Equal(xs, back) {
				t.Fatal("not what was encoded", err)
			}
		}
		// Bytes as numbers: they come back.
		want := slices.Clone(view[int64](append(slices.Clone(data), make([]byte, 8)...)))
		got := make([]int64, len(want))
		rest, err := deltaInts(got, append(encodeDelta(want), 1, 2, 3), 64)
		if err != nil || !slices.Equal(got, want) || len(rest) != 3 {
			t.Fatalf("%v: %v instead of %v, %d bytes left", err, got, want, len(rest))
		}
	})
}

func FuzzPageHeader(f *testing.F) {
	f.Add([]byte{0x15, 0, 0x15, 8, 0x15, 8, 0x2c, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0})
	f.Add([]byte{0x15, 6, 0x15, 8, 0x15, 8, 0x5c, 0x15, 4, 0x15, 0, 0x15, 4, 0x15, 0, 0x15, 2, 0x15, 0, 0x12, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := parsePage(b)
		if err == nil && (n <= 0 || n > len(b) || h.size < 0 || h.unpacked < 0 || h.values < 0 || h.defBytes < 0 || h.repBytes < 0) {
			t.Fatalf("%+v, %d bytes", h, n)
		}
	})
}

// FuzzTexts: texts after their lengths become descriptors that lead to them.
func FuzzTexts(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00a\x00\x00\x00\x00\x0d\x00\x00\x00thirteen byte"), byte(3), byte(7))
	f.Fuzz(func(t *testing.T, body []byte, n, base byte) {
		dst := make([][2]uint64, n)
		err := describe(dst, slices.Clip(body), int(base))
		padded := append(slices.Clone(body), make([]byte, slack)...)[:len(body)]
		again := make([][2]uint64, n)
		if err2 := describe(again, padded, int(base)); (err == nil) != (err2 == nil) || err == nil && !slices.Equal(dst, again) {
			t.Fatal("what is behind matters", err, err2)
		}
		at := body
		for i := range dst {
			s, rest, err2 := nextText(at)
			if err2 != nil {
				if err == nil {
					t.Fatal("there is no text", i)
				}
				return
			}
			if want := descriptor(s, int(base)+len(body)-len(rest)-len(s)); err == nil && dst[i] != want {
				t.Fatalf("descriptor %d is %x instead of %x", i, dst[i], want)
			}
			at = rest
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
