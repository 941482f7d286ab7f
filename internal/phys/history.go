package phys

import (
	"slices"
	"sync"
	"time"
)

// History is how long queries took on each device, against what was expected of them: what nobody has seen run may be believed to take thirty times as long as it does. What
// is kept is by how much that was wrong, of queries that differ in literals only, so that it holds for tables that grow, too.
type History struct {
	mu sync.Mutex
	of map[uint64]*ran
}

// ran is what is known of queries of one shape.
type ran struct {
	cpu, gpu wrong
	since    int // runs on the CPU since the last on a GPU
}

const (
	// mostShapes bounds what is remembered; more than that starts afresh.
	mostShapes = 4096
	// lastRuns is of how many runs the median counts: one that was held up says nothing.
	lastRuns = 3
	// tryAgain is after how many runs on the CPU it is forgotten how long a GPU took.
	tryAgain = 64
)

// wrong is by how much the last times of some queries were longer than expected.
type wrong struct {
	last [lastRuns]float64
	n    int
}

func (w *wrong) add(x float64) {
	w.last[w.n%lastRuns] = x
	w.n++
}

// middle is the median, the smaller one of two; 0: nothing ran.
func (w *wrong) middle() float64 {
	if w.n == 0 {
		return 0
	}
	known := slices.Clone(w.last[:min(w.n, lastRuns)])
	slices.Sort(known)
	return known[(len(known)-1)/2]
}

// Known is by how much expected times are wrong on each device; 0: it is not known.
type Known struct{ CPU, GPU float64 }

// Known is what is remembered of queries of a shape.
func (h *History) Known(shape uint64) (k Known) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.of[shape]; r != nil {
		k = Known{r.cpu.middle(), r.gpu.middle()}
	}
	return k
}

// Ran notes how long a query took on a device that had all it needs.
func (h *History) Ran(shape uint64, onGPU bool, expected, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil || len(h.of) >= mostShapes && h.of[shape] == nil {
		h.of = map[uint64]*ran{}
	}
	r := h.of[shape]
	if r == nil {
		r = &ran{}
		h.of[shape] = r
	}
	x := float64(max(took, 1)) / float64(max(expected, 1))
	if onGPU {
		r.gpu.add(x)
		r.since = 0
		return
	}
	r.cpu.add(x)
	if r.since++; r.since >= tryAgain {
		r.gpu, r.since = wrong{}, 0
	}
}

// by is an expected time as what is known says; measured: something is.
func by(expected time.Duration, wrong float64) (t time.Duration, measured bool) {
	if wrong == 0 {
		return expected, false
	}
	return time.Duration(float64(expected) * wrong), true
}
