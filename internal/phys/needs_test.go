package phys

import "testing"

func TestNeeds(t *testing.T) {
	n := Needs{Registers: 40, Estimated: true, Shared: 512, Code: 99, Threads: 1024, Most: 2048}
	for threads, want := range map[int]int{32: 51, 128: 12, 1024: 1, 2048: 0} {
		if got := n.Blocks(threads); got != want {
			t.Errorf("%d blocks of %d threads, not %d", got, threads, want)
		}
	}
	if got := n.Occupancy(); got != 0.5 {
		t.Error(got)
	}
	if got, want := n.String(), "about 40 registers a thread, 512 bytes of shared memory a block, 99 instructions; 1024 of 2048 threads at a time"; got != want {
		t.Error(got)
	}
}
