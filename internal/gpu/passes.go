package gpu

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// passes is how a pipeline runs whose rows are counted before they are written (emit/warp_passes.go): a kernel that counts, a prefix sum, a kernel that
// writes, and room for exactly so many rows. Where each row of the source makes one, only the last. nil: its kernel does all at once.
type passes struct {
	r    *run
	sink sink
	f    *emit.Fragment // what writes
	fn   device.Function

	count  *emit.Fragment // what counts; nil: nothing does
	countF device.Function
	c      *block // its context
	places device.Addr
	room   int64
	parts  int64 // rows go to so many parts, and what counts is what writes; 0: they do not
	blocks int64 // of the launches that do so
}

func (r *run) newPasses(step *compile.Step, f *emit.Fragment, fn device.Function, src *source, st *exec.PipelineStats) (*passes, error) {
	if step.Writing == phys.WriteClaimed {
		return nil, nil
	}
	x := &passes{r: r, sink: r.sinks[step.Pipeline.Sink], f: f, fn: fn}
	var err error
	if step.Writing == phys.WriteParted {
		counting := *f
		counting.Reads = f.Reads[:f.Counted]
		x.parts, x.count, x.countF = f.Parts.Count, &counting, fn
	} else if x.count, err = step.Counting(); x.count == nil {
		return x, err
	} else if x.countF, err = r.compile(x.count); err != nil {
		return nil, err
	}
	luts, err := r.luts(x.count)
	if err != nil {
		return nil, err
	}
	if r.Listing && x.parts == 0 {
		st.Fragments = append(st.Fragments, x.count)
	}
	x.c = r.newContext(x.count)
	return x, r.fill(x.c, x.count, src, luts)
}

func (x *passes) close() {
	if x != nil && x.places != 0 {
		x.r.free(x.places)
	}
}

// run takes n rows of a chunk through all passes; c is the context of what writes. bind tells a kernel where the chunk is, meanwhile comes while the last runs.
func (x *passes) run(c *block, n int64, bind func(c *block, f *emit.Fragment) error, meanwhile func() error) error {
	s := tuplesOf(x.sink)
	for {
		total, err := n, error(nil)
		if x.count != nil {
			if total, err = x.counted(n, bind); err != nil {
				return err
			}
		}
		if err := s.reserve(s.n + total); err != nil {
			return err
		}
		c.set(layout.CtxCounts, 0)
		again, m, err := x.launch(c, x.f, x.fn, n, bind, meanwhile)
		if err != nil {
			return err
		}
		meanwhile = func() error { return nil }
		if again { // places have moved on
			continue
		}
		if x.parts > 0 {
			if err := x.noteParts(s.n, total); err != nil {
				return err
			}
		}
		m.keep(c)
		c.set(layout.CtxCur, uint64(s.start)+uint64(s.n+total)*uint64(s.tuple.Size))
		if again, err = x.sink.fromContext(c); again && err == nil {
			err = diag.Internalf("gpu", "%d rows were counted and do not fit", total)
		}
		return err
	}
}

// counted is how many rows a chunk makes; after it, words tell where those of each of its rows begin, or of each part and block. Texts that were made on the way are nobody's.
func (x *passes) counted(n int64, bind func(c *block, f *emit.Fragment) error) (int64, error) {
	r, words := x.r, n
	if x.parts > 0 {
		x.blocks = int64(r.launch(x.fn, n, false, x.f.Dynamic).Blocks)
		words = x.parts * x.blocks
	}
	bytes := kernels.PrefixBytes(words)
	if x.room < bytes {
		x.close()
		a, err := r.alloc(bytes)
		if err != nil {
			return 0, err
		}
		x.places, x.room = a, bytes
	}
	for again := true; again; {
		err := r.failed(r.st.Fill(x.places, 0, int(bytes)))
		if err != nil {
			return 0, err
		}
		x.c.set(layout.CtxCounts, 1)
		if again, _, err = x.launch(x.c, x.count, x.countF, n, bind, func() error { return nil }); err != nil {
			return 0, err
		}
	}
	sum, err := r.counter()
	if err != nil {
		return 0, err
	}
	if err := r.failed(r.loader.kernels().Prefix(r.st, x.places, sum, words)); err != nil {
		return 0, err
	}
	total, err := r.read(sum, 1)
	if err != nil {
		return 0, err
	}
	if total[0] > math.MaxUint32 {
		return 0, r.lacks("a pass that writes %d rows", total[0])
	}
	return int64(total[0]), nil
}

// launch runs one of the kernels; again: it found too little room for the texts that it makes, and there is more now.
func (x *passes) launch(c *block, f *emit.Fragment, fn device.Function, n int64, bind func(c *block, f *emit.Fragment) error, meanwhile func() error) (again bool, m *making, err error) {
	if m, err = x.r.makesTexts(f, n, x.sink.expected()); err != nil {
		return false, nil, err
	}
	c.clearCounts(f)
	x.sink.toContext(c)
	c.set(layout.CtxPlaces, uint64(x.places))
	m.toContext(c)
	if err := bind(c, f); err != nil {
		return false, nil, err
	}
	if err := x.r.start(c, fn, n, false); err != nil {
		return false, nil, err
	}
	if err := meanwhile(); err != nil {
		return false, nil, err
	}
	if err := x.r.finish(c, f); err != nil {
		return false, nil, err
	}
	again, err = m.lacked(c)
	return again, m, err
}

// tuplesOf is the array of a sink that keeps rows.
func tuplesOf(s sink) *tupleSink {
	return s.(interface{ tuples() *tupleSink }).tuples()
}

func (s *tupleSink) tuples() *tupleSink { return s }

// reckon adds what the passes before the last moved, by the rows that were counted: a word of each row of the source is cleared, written, added up and read twice. Those of parts are few.
func (x *passes) reckon(p *pipe.Pipeline, src *source, st *exec.PipelineStats) {
	if x.count == nil {
		return
	}
	x.r.reckonReads(p, x.count, src, st)
	if x.parts > 0 {
		return
	}
	st.Device.Reckoned += 4 * 6 * src.rows
}
