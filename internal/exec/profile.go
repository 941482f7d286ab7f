package exec

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// A pipeline's operators run as one loop, so no clock can tell them apart while it runs. EXPLAIN
// ANALYZE asks afterwards: a sample of the source's rows goes through the first k operators and
// then nowhere, for every k, and at last into a sink like the pipeline's own. What each operator
// adds to the time of the sample is its share of the pipeline's time.

const (
	profileMin    = 500 * time.Microsecond // pipelines that took less are not worth it
	profileSample = 2 * time.Millisecond   // how long a run over the sample should take
	profileRows   = 64 << 10               // the most rows of a sample
	profilePieces = 8                      // from so many places of the source
)

// profile fills st.OpTime. It is the last to use the job, before the sink is finished. If something
// goes wrong there are no times. filtering is what making semi-join filters took: the source's.
func (r *run) profile(p *pipe.Pipeline, j *job, st *PipelineStats, filtering time.Duration) {
	wall := st.Exec - filtering
	if wall < profileMin || j.busy.Load() == 0 || len(p.Stages) > 0 || j.limit >= 0 || j.total == 0 || j.stream != nil {
		return
	}
	held, peak := r.mem.Blocks(), r.mem.Account().Peak()
	defer func() {
		for addr := range r.mem.Blocks() {
			if _, ok := held[addr]; !ok {
				r.mem.Free(addr)
			}
		}
		r.mem.Account().SetPeak(peak)
		r.filtering = 0
	}()
	busy := time.Duration(j.busy.Load())
	rows := int64(profileSample) * j.total / int64(busy)
	rows = max(min(rows, profileRows, j.total), 1)
	at := make([]time.Duration, len(p.Ops)+3) // at[k+1]: up to the first k operators
	for k := range len(p.Ops) + 2 {
		took, err := r.prefix(p, k, rows)
		if err != nil {
			return
		}
		at[k+1] = took
	}
	for k := len(at) - 2; k >= 0; k-- { // fewer operators cannot take longer: something else was going on
		at[k] = min(at[k], at[k+1])
	}
	scale := float64(wall) / float64(max(at[len(at)-1], 1))
	st.OpTime = map[int]time.Duration{}
	for k := range len(p.Ops) + 2 {
		st.OpTime[k-1] = time.Duration(float64(at[k+1]-at[k]) * scale)
	}
	st.OpTime[-1] += filtering
}

// prefix is the time of a sample of rows through the first k operators; one more than there are:
// through the sink too.
func (r *run) prefix(p *pipe.Pipeline, k int, rows int64) (best time.Duration, err error) {
	defer diag.Recover("exec", &err)
	part := &pipe.Pipeline{ID: p.ID, Source: p.Source, Ops: p.Ops}
	if k <= len(p.Ops) {
		part.Ops = p.Ops[:k:k]
	}
	part.Sink = scratch(p.Sink, k <= len(p.Ops))
	j, err := r.newJob(part, &PipelineStats{OpRows: map[int]int64{}})
	if err != nil {
		return 0, err
	}
	if j.ranges = sample(j.ranges, rows); j.loader != nil {
		j.loader.Again = true
	}
	for i := range 4 {
		j.feed = &feed{j: j}
		for i := range j.ranges {
			j.ranges[i].given = 0
		}
		start := time.Now()
		if err := j.work(0); err != nil {
			return 0, err
		}
		// The first time memory is taken and caches are filled: little of that would come with more rows.
		if d := time.Since(start); i == 1 || i > 1 && d < best {
			best = d
		}
	}
	return best, nil
}

// scratch is a sink like s that nobody reads, or one that keeps nothing.
func scratch(s pipe.Sink, nothing bool) pipe.Sink {
	switch s := s.(type) {
	case *pipe.Build:
		if c := *s; !nothing {
			return &c
		}
	case *pipe.Aggregate:
		if c := *s; !nothing {
			return &c
		}
	case *pipe.Collect:
		if c := *s; !nothing {
			return &c
		}
	}
	return &pipe.Discard{}
}

// sample is about so many rows of all, from several places.
func sample(all []span, rows int64) []span {
	n := int64(min(len(all), profilePieces))
	var out []span
	for i := range n {
		sp := all[i*int64(len(all))/n]
		sp.rows = int(min(int64(sp.rows), (i+1)*rows/n-i*rows/n))
		out = append(out, sp)
	}
	return out
}
