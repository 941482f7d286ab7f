package exec

import (
	"testing"
	"time"
)

// TestAdapt: morsels grow while they are quick and full, and stay between their bounds.
func TestAdapt(t *testing.T) {
	for _, c := range []struct {
		rows, did int
		took      float64 // of the time that a morsel should take
		want      int
	}{
		{1000, 1000, 0.1, 2000},
		{1000, 999, 0.1, 1000}, // the last of a segment
		{1000, 1000, 1, 1000},
		{maxMorsel, maxMorsel, 0, maxMorsel},
		{minMorsel * 2, minMorsel * 2, 3, minMorsel},
		{minMorsel, minMorsel, 3, minMorsel},
	} {
		if got := adapt(c.rows, c.did, time.Duration(c.took*float64(morselTarget))); got != c.want {
			t.Errorf("after %d of %d rows in %v of the time: %d, not %d", c.did, c.rows, c.took, got, c.want)
		}
	}
}
