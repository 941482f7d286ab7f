package gpu

import (
	"context"
	"testing"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// TestWaiting: each program waits once, the newest of too many stay and are next, and Rest lets all go.
func TestWaiting(t *testing.T) {
	s := NewStore(device.NewSimulated(device.SimulatedOptions{}), 0)
	s.busy = true // nobody begins
	add := func(shape int, code exec.CodeFrom) {
		s.Warm(&pipe.Program{Shape: uint64(shape)}, exec.Options{Code: code})
	}
	shapes := func() (out []int) {
		for _, w := range s.waiting {
			out = append(out, int(w.prog.Shape))
		}
		return out
	}
	for k := 1; k <= maxWaiting; k++ {
		add(k, exec.CodeKept)
		add(k, exec.CodeKept)
		add(100+k, exec.CodeNew) // may use none
	}
	if got := shapes(); len(got) != maxWaiting || got[0] != 1 || got[maxWaiting-1] != maxWaiting {
		t.Errorf("waiting: %v", got)
	}
	add(maxWaiting+1, exec.CodeKept)
	if got := shapes(); len(got) != maxWaiting || got[0] != 2 || got[maxWaiting-1] != maxWaiting+1 {
		t.Errorf("one more: %v", got)
	}
	add(1, exec.CodeKept) // which had to go
	if got := shapes(); len(got) != maxWaiting || got[maxWaiting-1] != 1 {
		t.Errorf("once more: %v", got)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.Rest()
	if len(s.waiting) != 0 || len(s.warming) != 0 || ctx.Err() == nil || !s.awaited.Load() {
		t.Errorf("after Rest %d wait, %d are being made ready, %v", len(s.waiting), len(s.warming), ctx.Err())
	}
}

// TestWarmThreads: what nobody waits for is filled by one thread, until somebody does.
func TestWarmThreads(t *testing.T) {
	s := NewStore(device.NewSimulated(device.SimulatedOptions{}), 0)
	for _, c := range []struct {
		behind, awaited bool
		want            int
	}{{false, false, allProcessors()}, {false, true, allProcessors()}, {true, true, allProcessors()}, {true, false, 1}} {
		s.awaited.Store(c.awaited)
		if got := (&upload{s: s, behind: c.behind}).threads(); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
