package phys

import "testing"

// TestPrefilter: the CPU tests filters where the bus is relieved by more than that takes.
func TestPrefilter(t *testing.T) {
	const many = 1 << 30
	for _, c := range []struct {
		x    Prefilter
		u    Unshipped
		want bool
	}{
		{PrefilterOff, Unshipped{many, 1000, 16}, false},
		{PrefilterOn, Unshipped{1, 2, 0}, true},
		{PrefilterAuto, Unshipped{many, 64, 16}, true},  // 7.9 bytes in 0.16 ns; 16 threads take 0.09
		{PrefilterAuto, Unshipped{many, 32, 16}, false}, // 0.08 ns
		{PrefilterAuto, Unshipped{many, 64, 8}, false},
		{PrefilterAuto, Unshipped{many, 1000, 0}, false},
		{PrefilterAuto, Unshipped{1_500_000, 64, 16}, false}, // 64 ps a row are less than the code takes
		{PrefilterAuto, Unshipped{1_600_000, 64, 16}, true},
	} {
		if got := c.x.Choose(c.u); got != c.want {
			t.Errorf("%s %+v: %v", c.x, c.u, got)
		}
	}
	if _, err := ParsePrefilter("maybe"); err == nil {
		t.Error("maybe")
	}
	for _, x := range []Prefilter{PrefilterAuto, PrefilterOff, PrefilterOn} {
		if got, err := ParsePrefilter(x.String()); got != x || err != nil {
			t.Error(x, got, err)
		}
	}
}
