package exec

import "github.com/kelpiedb/kelpie/internal/layout"

// Activity is how many of a warp's lanes were active behind an operator: element k counts the iterations in which k + 1 lanes had a row
// there. Iterations in which none had one are not known.
type Activity [layout.WarpLanes]int64

// Iterations is how often a warp came by with a row at least.
func (a *Activity) Iterations() (n int64) {
	for _, c := range a {
		n += c
	}
	return n
}

// Tuples is how many rows came by.
func (a *Activity) Tuples() (n int64) {
	for k, c := range a {
		n += int64(k+1) * c
	}
	return n
}

// Mean is how many lanes were active in an iteration, 0 if there was none.
func (a *Activity) Mean() float64 {
	if n := a.Iterations(); n > 0 {
		return float64(a.Tuples()) / float64(n)
	}
	return 0
}

// AddActivity counts what a launch did behind an operator.
func (st *PipelineStats) AddActivity(op int, a *Activity) {
	if st.OpLanes == nil {
		st.OpLanes = map[int]*Activity{}
	}
	sum := st.OpLanes[op]
	if sum == nil {
		sum = &Activity{}
		st.OpLanes[op] = sum
	}
	for k, n := range a {
		sum[k] += n
	}
}
