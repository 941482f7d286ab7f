package gpu

import (
	"encoding/binary"
	"time"

	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
)

// boundedChunks runs a pipeline whose sink wants the first rows of an order: over a sample of its source, and then over the other rows, of which
// those behind the last wanted row of the sample are dropped. It returns the code that was run last, and how long it took to make it.
func (r *run) boundedChunks(step *compile.Step, f *emit.Fragment, fn device.Function, src *source, st *exec.PipelineStats) (*emit.Fragment, time.Duration, error) {
	sample, others := *src, *src
	sample.first, sample.rows = step.Sample.From, step.Sample.Rows
	from, to := step.Sample.Others(src.rows)
	others.first, others.rows = from, to-from
	if err := r.chunks(step, f, fn, &sample, st); err != nil {
		return f, 0, err
	}
	s := r.sinks[step.Pipeline.Sink].(*collectSink)
	last, ok, err := s.keepBest(step.Sample)
	if err != nil {
		return f, 0, err
	}
	took := time.Duration(0)
	if ok {
		start := time.Now()
		step = step.Bounded(last)
		if f, err = step.Emit(); err != nil {
			return f, 0, err
		}
		if fn, err = r.compile(f); err != nil {
			return f, 0, err
		}
		took = time.Since(start)
		if r.Count {
			st.How[len(st.How)-1] = step.Decision(f)
		}
		// As large a share of the others as of the sample comes before the bound, if they are alike; and as much again.
		s.expect = s.n * (1 + 2*(src.rows/sample.rows+1))
	}
	return f, took, r.chunks(step, f, fn, &others, st)
}

// keepBest leaves the first rows of those that are there, and tells the first key of the last of them. false: there are not as many as are wanted, or
// nothing is behind that key.
func (s *collectSink) keepBest(sample phys.Sample) (last int64, ok bool, err error) {
	r, rows := s.r, s.tupleSink.rows()
	want := s.s.Limit + max(s.s.Offset, 0)
	field := rows.tuple.Find(int32(s.s.Keys[0].Col))
	if rows.n < want || field == nil || field.Desc.Form != layout.I64 {
		return 0, false, nil
	}
	if r.Off.RadixSort {
		return 0, false, nil
	}
	first := *s.s
	first.Offset, first.Limit = 0, want
	out, done, err := r.sortedHere(rows, &first, phys.Sort{Here: true, Top: want < rows.n/2, Few: rows.n <= phys.FewSorted}, s.s == r.prog.Result)
	if err != nil || !done {
		return 0, false, err
	}
	if out, err = r.gathered(out); err != nil {
		return 0, false, err
	}
	size := s.tuple.Size
	if out.addr != s.start { // unless all are equal
		if err := r.st.Copy(s.start, out.addr, int(out.n)*size); err != nil {
			return 0, false, r.failed(err)
		}
		defer r.free(out.addr)
	}
	s.n = out.n
	tuple := r.pinnedWords(size)
	if err := r.st.Download(tuple, s.start+device.Addr(int(s.n-1)*size)); err != nil {
		return 0, false, r.failed(err)
	}
	if err := r.sync(); err != nil {
		return 0, false, err
	}
	if field.Null >= 0 && tuple[field.Null] != 0 {
		return 0, false, nil
	}
	var word [8]byte
	copy(word[:], tuple[field.Off:field.Off+int(field.Width)])
	last = int64(binary.LittleEndian.Uint64(word[:]))
	if free := 64 - 8*int(field.Width); free > 0 && field.Signed() {
		last = last << free >> free
	}
	return last, true, nil
}
