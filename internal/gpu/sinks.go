package gpu

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// sink is where a pipeline's rows go, on the device.
type sink interface {
	begin(most int64) error             // a chunk of a pipeline begins, of which at most so many rows come
	toContext(c *block)                 // before a launch
	fromContext(c *block) (bool, error) // after it; true: there was not enough room, launch again
	secure() error                      // before a launch that may have to be undone
	undo() error                        // in the place of fromContext: it is as it was before the launch, which comes again
	expected() int64                    // how many rows it may keep
	finish() error                      // all pipelines have ended
	rows() deviceRows
	empty() bool // it is finished and has no rows
}

// deviceRows are tuples on the device: an array of them, or of their addresses.
type deviceRows struct {
	tuple    *layout.Tuple
	addr     device.Addr
	n        int64
	indirect bool
}

// newSink is the sink of a pipeline over so many rows.
func (r *run) newSink(s pipe.Sink, f *emit.Fragment, rows int64) sink {
	switch s := s.(type) {
	case *pipe.Collect:
		return &collectSink{tupleSink: r.tupleSink(s, f, phys.Expected(s.Node)), s: s}
	case *pipe.Build:
		return &buildSink{tupleSink: r.tupleSink(s, f, phys.Expected(s.Side())), s: s, lo: math.MaxInt64, hi: math.MinInt64}
	case *pipe.Aggregate:
		return &groupSink{r: r, s: s, plan: f.Group}
	case *pipe.Fold:
		t := r.tupleSink(s, f, phys.Expected(s.Node)) // its code takes room as for that many
		t.expect = rows
		return &foldSink{tupleSink: t, group: s.Group}
	case *pipe.Stage:
		return &stageSink{tupleSink: tupleSink{r: r, tuple: f.Sink, expect: rows}, s: s}
	}
	return discardSink{}
}

func (r *run) tupleSink(s pipe.Sink, f *emit.Fragment, expect int64) tupleSink {
	return tupleSink{r: r, tuple: f.Sink, expect: expect, takes: r.room(s).Takes(expect)}
}

// tupleSink is an array that pipelines append tuples to.
type tupleSink struct {
	r      *run
	tuple  *layout.Tuple
	expect int64 // rows of all pipelines together
	start  device.Addr
	n, cap int64
	takes  int64       // tuples for which a warp takes room at a time; 0: as many as it writes
	gaps   device.Addr // where warps note what is left of that
}

func (s *tupleSink) begin(most int64) (err error) {
	warps := int64(0)
	if s.takes > 0 {
		warps = phys.MostLanes(s.r.grid(most)) / 32
		if s.gaps, err = s.r.alloc(16 * warps); err != nil {
			return err
		}
	}
	room := s.r.store.roomFor(s.expect)
	return s.reserve(s.n + min(most, max(room-s.n, room/8)) + warps*s.takes)
}

// reserve makes room for so many tuples; those that are there stay.
func (s *tupleSink) reserve(n int64) error {
	if n <= s.cap {
		return nil
	}
	size := int64(s.tuple.Size)
	a, err := s.r.alloc(n*size + 64)
	if err != nil {
		return err
	}
	if s.n > 0 {
		if err := s.r.st.Copy(a, s.start, int(s.n*size)); err != nil {
			return err
		}
	}
	s.r.free(s.start)
	s.start, s.cap = a, n
	return nil
}

func (s *tupleSink) toContext(c *block) {
	size := uint64(s.tuple.Size)
	c.set(layout.CtxCur, uint64(s.start)+uint64(s.n)*size)
	c.set(layout.CtxEnd, uint64(s.start)+uint64(s.cap)*size)
	c.set(layout.CtxGaps, uint64(s.gaps))
	c.set(layout.CtxGapCount, 0)
}

func (s *tupleSink) fromContext(c *block) (bool, error) {
	n := int64(c.get(layout.CtxCur)-uint64(s.start)) / int64(s.tuple.Size)
	if n > s.cap { // what did not fit was counted all the same
		if s.n > 0 { // there may be more chunks like this one
			n += s.n / 2
		}
		return true, s.reserve(n)
	}
	if s.takes == 0 {
		s.n = n
		return false, nil
	}
	gaps := c.get(layout.CtxGapCount)
	err := s.closeGaps(int64(gaps/layout.GapUnit), n, int64(gaps%layout.GapUnit)/int64(s.tuple.Size))
	s.r.free(s.gaps)
	s.gaps = 0
	return false, err
}

// What is not counted in n does not exist.
func (s *tupleSink) secure() error   { return nil }
func (s *tupleSink) undo() error     { return nil }
func (s *tupleSink) expected() int64 { return s.expect }

func (s *tupleSink) rows() deviceRows { return deviceRows{tuple: s.tuple, addr: s.start, n: s.n} }
func (s *tupleSink) empty() bool      { return s.n == 0 }

// collectSink keeps rows, sorts and cuts them.
type collectSink struct {
	tupleSink
	s        *pipe.Collect
	out      deviceRows
	arranged bool // out is sorted and cut
	parts    writtenParts
}

func (s *collectSink) rows() deviceRows { return s.out }
func (s *collectSink) empty() bool      { return s.out.n == 0 }

func (s *collectSink) finish() error {
	s.out = s.tupleSink.rows()
	if s.s.Window != nil {
		s.arranged = true
		return s.r.windows(s.out, s.s.Window)
	}
	if len(s.s.Keys) == 0 {
		s.out.cut(s.s.Offset, s.s.Limit)
		s.arranged = true
		return nil
	}
	if how := s.r.chooseSort(s.out, s.s); how.Here {
		out, done, err := s.r.sortedHere(s.out, s.s, how, s.s == s.r.prog.Result)
		if done || err != nil {
			s.out, s.arranged = out, done
			return err
		}
	}
	if s.s == s.r.prog.Result { // the host sorts it when it is back
		return nil
	}
	var err error
	s.out, err = s.r.sorted(s.out, s.s)
	s.arranged = true
	return err
}

// cut keeps limit rows after offset; limit < 0 keeps all.
func (d *deviceRows) cut(offset, limit int64) {
	size := int64(8)
	if !d.indirect {
		size = int64(d.tuple.Size)
	}
	k := min(max(offset, 0), d.n)
	d.addr += device.Addr(k * size)
	d.n -= k
	if limit >= 0 {
		d.n = min(d.n, limit)
	}
}

// discardSink is for pipelines that only set match flags.
type discardSink struct{}

func (discardSink) begin(int64) error                { return nil }
func (discardSink) toContext(*block)                 {}
func (discardSink) fromContext(*block) (bool, error) { return false, nil }
func (discardSink) secure() error                    { return nil }
func (discardSink) undo() error                      { return nil }
func (discardSink) expected() int64                  { return 0 }
func (discardSink) finish() error                    { return nil }
func (discardSink) rows() deviceRows                 { return deviceRows{} }
func (discardSink) empty() bool                      { return false }
