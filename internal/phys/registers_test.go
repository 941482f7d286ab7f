package phys

import "testing"

func TestChooseBound(t *testing.T) {
	for _, c := range []struct {
		name string
		k    Kernel
		want int
	}{
		{"a star join", Kernel{Scans: true, Looks: true, Pressure: 39}, 32},
		{"groups in shared memory", Kernel{Scans: true, Shared: 2 << 10, Pressure: 30}, 32},
		{"few groups in shared memory", Kernel{Scans: true, Shared: 2<<10 - 1, Pressure: 30}, 0},
		{"tuples", Kernel{Looks: true, Shared: 48 << 10, Pressure: 30}, 0},
		{"little code", Kernel{Scans: true, Looks: true, Pressure: 23}, 0},
		{"just enough code", Kernel{Scans: true, Looks: true, Pressure: 24}, 32},
		{"as much code as may do", Kernel{Scans: true, Looks: true, Pressure: 40}, 32},
		{"too much code", Kernel{Scans: true, Looks: true, Pressure: 41}, 0},
	} {
		if got := ChooseBound(c.k); got != c.want {
			t.Errorf("%s: %d registers, not %d", c.name, got, c.want)
		}
	}
}
