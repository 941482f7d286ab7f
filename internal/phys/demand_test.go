package phys

import "testing"

// TestDemand: shared memory counts where it leaves fewer threads than a multiprocessor can have.
func TestDemand(t *testing.T) {
	for _, c := range []struct {
		d             Demand
		threads, cost int
	}{
		{Demand{Registers: 20}, 2048, 20},
		{Demand{Registers: 40, Block: 24 << 10}, 2048, 40},
		{Demand{Registers: 40, Block: 48 << 10}, 2048, 40},           // in large blocks
		{Demand{Registers: 40, Warp: 3 << 10}, 2048, 40},             // 96 KB for a block of 1024, of which two fit
		{Demand{Registers: 20, Warp: 4 << 10}, 1664, 39},             // 17 KB for a block of 128, of which 13 fit
		{Demand{Registers: 20, Warp: 20 << 10}, 320, 204},            // ten blocks of a warp
		{Demand{Registers: 210, Warp: 20 << 10}, 320, 210},           // which are not the worst then
		{Demand{Registers: 20, Warp: 228 << 10}, 0, 2048},            // no warp has room
		{Demand{Registers: 20, Block: 200 << 10, Warp: 8}, 1024, 64}, // one block
	} {
		if threads, cost := c.d.Threads(), c.d.Cost(); threads != c.threads || cost != c.cost {
			t.Errorf("%+v: %d threads, cost %d, not %d and %d", c.d, threads, cost, c.threads, c.cost)
		}
	}
}
