package phys

import (
	"testing"

	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// TestDecision: a line tells what is not as always.
func TestDecision(t *testing.T) {
	array := &Groups{Mode: ArrayGroups, Slots: 6}
	for _, c := range []struct {
		d    Decision
		want string
	}{
		{Decision{}, ""},
		{Decision{Groups: &Groups{}}, ""},
		{Decision{Groups: array}, "groups in array of 6 slots"},
		{Decision{Groups: array, Block: Block{Copies: 32}, Launch: Launch{132, 256}}, "groups in array of 6 slots in shared memory, 32 copies; 132 × 256 threads"},
		{Decision{Front: Front{Rows: 64, Share: 0.5, Tests: []int{0}}, Sets: []KeySet{{Kind: layout.Bitmap}, {Kind: layout.Bloom, Bits: 8}}, Probes: []Probe{{Kind: layout.Direct}, {Kind: layout.DenseBuckets, Expand: ExpandLane}, {layout.Buckets, ExpandBalanced, 9}, {layout.List, ExpandWarp, 0}}},
			"64 rows at a time by 1 test, 50% pass; semi-join by bitmap, Bloom filter of 256 words; probes direct, dense buckets, buckets (balanced, over 9 in a queue), list (warp)"},
		{Decision{Front: Front{Rows: 8, Share: 0.05, Tests: []int{0}}, Refill: RefillList}, "8 rows at a time by 1 test, 5% pass, in a list"},
		{Decision{Front: Front{Rows: 8, Share: 0.05, Tests: []int{0}}, Refill: RefillOff}, "8 rows at a time by 1 test, 5% pass"},
		{Decision{Refill: RefillFlush, Probes: []Probe{{Kind: layout.Direct}}}, "idle lanes take rows that wait; probes direct"},
		{Decision{Late: Late{Ordinal: map[plan.ColID]int{1: 0}}, Top: Top{Rows: 10, Room: 2048}}, "1 late column; keeps the first 10, 2048 at a time"},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
