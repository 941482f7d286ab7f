package phys

import (
	"testing"
	"time"
)

// TestJoinPays: a GPU that has to compile is asked only where the CPU can spare the time, one that is ready almost always.
func TestJoinPays(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		effort, now time.Duration
		part        float64
		threads     int
		want        bool
	}{
		{0, 1 * ms, 0, 16, false}, // nothing is known
		{0, 1 * ms, 0.5, 16, false},
		{0, 1 * ms, 0.25, 16, true}, // 3 ms are left
		{0, 100 * ms, 0.98, 16, false},
		{150 * ms, 2 * ms, 0.01, 16, false}, // 200 ms, of which it would take 9.4
		{150 * ms, 2 * ms, 0.008, 16, true}, // 250 ms
		{150 * ms, 2 * ms, 0.008, 15, true},
		{150 * ms, 2 * ms, 0.008, 14, false},
		{150 * ms, 40 * ms, 0.01, 1, true}, // 4 s
		{150 * ms, 30 * ms, 0.01, 1, false},
	} {
		if got := JoinPays(c.effort, c.now, c.part, c.threads); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for _, c := range []struct {
		x        CPUFirst
		compiled bool
		absent   int64
		want     bool
	}{
		{CPUFirstOff, false, 1 << 40, false},
		{CPUFirstOn, true, 0, false}, {CPUFirstOn, true, 1, true}, {CPUFirstOn, false, 0, true},
		{CPUFirstAuto, true, 1, false}, {CPUFirstAuto, true, worthSharing, true}, {CPUFirstAuto, true, worthSharing - 1, false}, {CPUFirstAuto, false, 0, true},
	} {
		if got := c.x.Choose(c.compiled, c.absent); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
