package gpu

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// run is the state of a query on a device.
type run struct {
	exec.Options
	ctx   context.Context
	prog  *pipe.Program
	store *Store
	dev   device.Device
	st    device.Stream
	mem   *mem.Memory // of the host, for the result
	team  *work.Team

	walk     *compile.Walk // addresses of its tables are the device's
	sinks    map[pipe.Sink]sink
	texts    []homes // where texts that tuples point to are on the host
	space    textSpace
	dicts    map[*column.Dict]*residentDict
	looked   map[*emit.Lut]device.Addr // tables of predicates over dictionaries
	zero     device.Addr
	counters []device.Addr // words that are 0, which nobody uses yet
	pins     []*device.Host
	unused   []byte                // of the last of pins
	owned    map[device.Addr]int64 // bytes
	held     int64                 // all of them
	ordered  map[pipe.Sink]bool    // its tuples keep the order in which they were sorted before
	// unpackers make bytes of packed codes, by their width.
	unpackers [5]device.Function
	lease     *lease
	late      lateRows // of the result
	mu        sync.Mutex
	keep      []any // what the result needs; mu guards it
	// reading is what copies to the device may still read.
	reading [][]byte
	stats   exec.Stats
	// compiled: the driver had to compile something.
	compiled bool
	loader   *loader
	foreseen *foresight // nil: nothing had to be compiled so far
	charged  spent      // what pipelines were charged for
	// The CPU shares the rows of the one pipeline: which are whose, and the layout of its groups. nil: it does not.
	split  *exec.Split
	theirs *layout.Tuple
}

// newRun is a run that has not begun. Nothing of the device is used yet.
func newRun(ctx context.Context, prog *pipe.Program, store *Store, opts exec.Options) *run {
	r := &run{Options: opts, ctx: ctx, prog: prog, store: store, dev: store.dev, sinks: map[pipe.Sink]sink{},
		dicts: map[*column.Dict]*residentDict{}, looked: map[*emit.Lut]device.Addr{}, owned: map[device.Addr]int64{}, ordered: map[pipe.Sink]bool{}}
	r.mem = mem.New(opts.Account, opts.Verify, opts.Off.MemoryPool)
	r.team = work.NewTeam(ctx, max(opts.Threads, 1))
	r.loader = newLoader(store, opts.Code)
	r.loader.here = opts.Behind
	measured := opts.Times || opts.Count || opts.Lanes // of what is to come, not of how soon it begins
	r.loader.quick = !opts.Behind && !opts.Off.QuickKernels && !measured && phys.ChooseQuick(prog)
	return r
}

// begin takes what a run needs of the store and of the device.
func (r *run) begin(t terms) (err error) {
	if r.lease, err = r.store.lease(r.ctx, r.prog, t); err != nil {
		return r.failed(err)
	}
	r.prog = r.lease.searched(r.lease.prefiltered(r.prog, &r.Options), &r.Options)
	if r.st, err = r.dev.Stream(r.ctx); err != nil {
		return err
	}
	if r.Times {
		r.st = &meter{Stream: r.st, dev: r.dev}
	}
	r.walk = compile.New(r.prog, placeOf(r.Device, r.dev.Info().BlockShared, r.lease.form), r.options())
	if !r.lease.complete() { // there is time to compile while columns are copied
		r.foresee()
	}
	return nil
}

// Refuses names what of a program is the CPU's, whatever its rows are; "" if there is nothing. Rounds of a recursion are many and
// small: launches would take most of the time.
func Refuses(prog *pipe.Program) string {
	for _, p := range prog.Pipelines {
		if p.Loop != nil {
			return "WITH RECURSIVE"
		}
	}
	return ""
}

// Run executes a program. An error of kind 0A000 says that the device cannot do it, and that nothing has happened.
func Run(ctx context.Context, prog *pipe.Program, store *Store, opts exec.Options) (res *result.Result, stats *exec.Stats, err error) {
	r := newRun(ctx, prog, store, opts)
	defer func() {
		r.close()
		if err != nil {
			r.mem.Close()
		}
	}()
	defer diag.Recover("gpu", &err)
	if what := Refuses(prog); what != "" {
		return nil, nil, r.lacks("%s", what)
	}
	if t := exec.Direct(prog, &opts); t != nil && !isFile(prog.Pipelines[0].Source.(*pipe.Table).Scan.Snap) { // the host has it all
		return result.OfTable(result.Owned{Cols: prog.Result.Cols, Threads: max(opts.Threads, 1), Mem: r.mem, Keep: []any{prog}}, t, false), &r.stats, nil
	}
	if err := r.begin(termsOf(store, &opts)); err != nil {
		return nil, nil, err
	}
	var brought carried
	if opts.Feed == phys.FeedRunToFinish {
		if brought, err = r.bringAll(); err != nil {
			return nil, nil, r.failed(err)
		}
	}
	left := maps.Clone(r.walk.Makers())
	idle := pipe.NewIdleness(prog)
	for i, p := range r.prog.Pipelines {
		if err := r.pipeline(p, idle.Idle[i]); err != nil {
			return nil, nil, err
		}
		if i == 0 { // what came before all kernels is the first one's
			st := &r.stats.Pipelines[0]
			st.Device.Up += brought.bytes
			st.Device.Carry += brought.took
			st.Exec += brought.took
			r.stats.Exec += brought.took
		}
		left[p.Sink]--
		if left[p.Sink] == 0 {
			start := time.Now()
			if err := r.sinks[p.Sink].finish(); err != nil {
				return nil, nil, err
			}
			st := &r.stats.Pipelines[i]
			if r.Count {
				r.reckonFinish(p.Sink, st)
			}
			if err := r.charge(st, true); err != nil {
				return nil, nil, err
			}
			st.Finish = time.Since(start)
			st.Exec += st.Finish
			r.stats.Exec += st.Finish
			if r.sinks[p.Sink].empty() {
				idle.IsEmpty(p.Sink)
			}
		}
	}
	r.stats.Bandwidth = r.dev.Info().Bandwidth
	if opts.Times {
		if r.stats.Bus, err = r.dev.Bus(); err != nil {
			return nil, nil, r.failed(err)
		}
	}
	if r.compiled {
		store.Ran(prog, "")
	}
	start := time.Now()
	if res, err = r.result(); err == nil {
		err = r.charge(&r.stats.Pipelines[len(prog.Pipelines)-1], true)
	}
	r.stats.Exec += time.Since(start)
	r.stats.KernelWait, r.stats.KernelsReady = r.loader.waited, r.loader.ready
	return res, &r.stats, err
}

// bringAll copies all columns of the query that do not stream.
func (r *run) bringAll() (c carried, err error) {
	defer func(start time.Time) { c.took = time.Since(start) }(time.Now())
	for _, p := range r.prog.Pipelines {
		if t, ok := p.Source.(*pipe.Table); ok && !isFile(t.Scan.Snap) {
			for _, ord := range t.Scan.Ordinal {
				if ord == plan.Tested {
					continue
				}
				_, one, err := r.lease.column(t.Scan.Snap, ord)
				if err != nil {
					return c, err
				}
				c.bytes += one.bytes
			}
		}
	}
	return c, nil
}

// lacks is the error for what the device cannot do.
func (r *run) lacks(format string, args ...any) error {
	return diag.Errorf(diag.FeatureNotSupported, -1, "device "+r.Device+": "+format+" is not supported yet", args...)
}

// close gives the device's memory back.
func (r *run) close() {
	if r.lease != nil {
		defer r.lease.release()
	}
	if r.st == nil {
		return
	}
	for a := range r.owned {
		_ = r.st.Free(a)
	}
	_ = r.st.Sync()
	_ = r.st.Close()
	r.store.givePins(r.pins)
}

// source is what a pipeline reads.
type source struct {
	first   int64 // of the rows; 0 unless it is a table's
	rows    int64
	addr    device.Addr   // of tuples
	scan    *tableScan    // of a table; nil: it is none
	arrays  bool          // its columns stay on the device, see emit.Request
	filters []device.Addr // sets of its semi-join filters
	queue   device.Addr   // of rows with many matches; 0: there is none
	sieve   []scanned.Filter
	before  *pipe.Table // whose filters the CPU tests; nil: it does not
	search  *search     // what comes before its kernel; nil: nothing does
	// bytes is the size of the columns, carried what of them had to be copied first.
	bytes   int64
	carried carried
}

// pipeline compiles and runs one pipeline, part by part where Go computes something in between. One that is idle is
// compiled, since that decides the layout of its sink, and gets no rows.
func (r *run) pipeline(p *pipe.Pipeline, idle bool) error {
	r.stats.Pipelines = append(r.stats.Pipelines, exec.PipelineStats{ID: p.ID, Idle: idle})
	st := &r.stats.Pipelines[len(r.stats.Pipelines)-1]
	if r.Count {
		st.OpRows = map[int]int64{}
	}
	if len(p.Stages) == 0 {
		if err := r.part(p, st); err != nil {
			return err
		}
		return r.charge(st, false)
	}
	for _, part := range p.Stages {
		if err := r.part(part, st); err != nil {
			return err
		}
		if s, ok := r.sinks[part.Sink].(*stageSink); ok {
			start := time.Now()
			if err := s.finish(); err != nil {
				return err
			}
			st.Exec += time.Since(start)
			r.stats.Exec += time.Since(start)
		}
	}
	return r.charge(st, false)
}

// part compiles a pipeline, or what is between two cuts of one, and runs it over all rows of its source.
func (r *run) part(p *pipe.Pipeline, st *exec.PipelineStats) error {
	start := time.Now()
	src, err := r.source(p)
	if err != nil {
		return err
	}
	step, err := r.walk.Step(p, measured{r, p, src, st.Idle})
	if err != nil {
		return err
	}
	if len(step.Late.Ordinal) > 0 {
		r.late = lateRows{step.Late.Ordinal, src.scan.snap.Segments}
	}
	src.sieve = step.Filters
	if src.filters, err = r.sets(step.Filters); err != nil {
		return err
	}
	f, err := step.Emit()
	if err != nil {
		return err
	}
	if r.split != nil && !exec.Mergeable(f.Group.Tuple, r.theirs) {
		return r.lacks("groups that the CPU could take in")
	}
	if r.sinks[p.Sink] == nil {
		r.sinks[p.Sink] = r.newSink(p.Sink, f, src.rows)
	}
	if f.Group != nil && f.Group.Mode == phys.PartGroups {
		r.sinks[p.Sink].(*groupSink).starts = r.sinks[p.Source.(*pipe.Buffer).Of].(*collectSink).parts.starts
	}
	wants := r.wants(f.Func)
	var fn device.Function // one that gets no rows needs none
	if !st.Idle {
		if fn, err = r.compile(f); err != nil {
			return err
		}
	}
	compiling := time.Since(start) - src.carried.took
	st.Device.Up += src.carried.bytes
	st.Device.Columns += src.bytes
	st.Device.Carry += src.carried.took
	st.Compile += compiling
	st.Variants, st.Device.Needs = 1, wants
	r.stats.Compile += compiling
	start = time.Now()
	if r.Count {
		st.How = append(st.How, step.Decision(f))
	}
	if st.Idle {
		src.rows = 0
	}
	if p.First == 0 {
		st.RowsIn = src.rows
	}
	if src.search != nil && !st.Idle {
		if err := r.search(src.search, st); err != nil {
			return err
		}
	}
	if step.Sample.Rows > 0 && src.rows > 0 {
		f, compiling, err = r.boundedChunks(step, f, fn, src, st)
		st.Compile += compiling
		r.stats.Compile += compiling
	} else {
		compiling, err = 0, r.chunks(step, f, fn, src, st)
	}
	if err != nil {
		return err
	}
	running := time.Since(start) - compiling + src.carried.took
	st.Exec += running
	r.stats.Exec += running
	if r.Count {
		r.reckon(p, f, src, st)
	}
	if r.Listing {
		st.Fragments = append(st.Fragments, f)
	}
	return nil
}

// most bounds how many rows come to the sink of a pipeline: each probe of a table with many tuples per key
// makes the bound useless.
func (r *run) most(p *pipe.Pipeline, rows int64) int64 {
	for _, op := range p.Ops {
		pr, ok := op.(*pipe.Probe)
		if !ok || pr.Kind != pipe.ProbeInner && pr.Kind != pipe.ProbeOuter || r.walk.Tables[pr.Build].Kind.Unique() {
			continue
		}
		if n := max(r.walk.Tables[pr.Build].Rows, 1); rows > math.MaxInt64/2/n {
			return math.MaxInt64 / 2
		}
		rows *= max(r.walk.Tables[pr.Build].Rows, 1)
	}
	return rows
}

// source finds what a pipeline reads, on the device.
func (r *run) source(p *pipe.Pipeline) (*source, error) {
	s := &source{}
	switch src := p.Source.(type) {
	case *pipe.Table:
		scan := src.Scan
		if isFile(scan.Snap) {
			return s, r.fileScan(scan, s)
		}
		s.rows, s.arrays, s.scan = scan.Snap.Rows, true, &tableScan{scan: scan, snap: scan.Snap, ords: scan.Ordinal}
		if s.before = src.Before; s.before != nil { // zones tell of its columns
			s.scan.scan = s.before.Scan
		}
		brought := func(c *deviceColumn, one carried) {
			s.bytes += c.bytes
			s.carried.bytes += one.bytes
			s.carried.took += one.took
		}
		for _, ord := range scan.Ordinal {
			switch {
			case ord == plan.Tested && src.Search != nil:
				x, carried, err := r.newSearch(src)
				if err != nil {
					return nil, err
				}
				brought(x.text, carried)
				s.search, s.scan.cols = x, append(s.scan.cols, x.bits)
				continue
			case ord == plan.Tested:
				s.scan.cols = append(s.scan.cols, testedColumn())
				continue
			}
			c, carried, err := r.lease.column(scan.Snap, ord)
			if err != nil {
				return nil, err
			}
			brought(c, carried)
			r.texts = append(r.texts, c.texts...)
			s.scan.cols = append(s.scan.cols, c)
		}
	case *pipe.Buffer:
		rows := r.sinks[src.Of].rows()
		s.rows, s.addr = rows.n, rows.addr
	case *pipe.Stage:
		rows := r.sinks[src].rows()
		s.rows, s.addr = rows.n, rows.addr
	case *pipe.Constants:
		host, err := exec.Constants(r.mem, r.prog.Query.Cols, src)
		if err != nil {
			return nil, err
		}
		if s.addr, err = r.uploadTuples(host); err != nil {
			return nil, err
		}
		s.rows = host.Len()
	case *pipe.Series:
		s.rows = src.Node.N
	default:
		return nil, r.lacks("a source of type %T", src)
	}
	return s, nil
}

// compile translates a function.
func (r *run) compile(f *emit.Fragment) (device.Function, error) {
	if r.Verify {
		if err := ir.Verify(f.Func); err != nil {
			return nil, diag.Internalf("emit", "%v\n%s", err, f.Func)
		}
	}
	return r.compileFunc(f.Func)
}

func (r *run) compileFunc(f *ir.Func) (device.Function, error) {
	if !r.Listing { // nobody will read it any more
		defer f.Release()
	}
	fn, hash := r.loader.codes().find(f, r.loader.quick)
	if fn != nil {
		return fn, nil
	}
	r.compiled = true
	r.foresee()
	r.stats.Kernels++
	fn, foreseen, err := r.loader.function(f, hash)
	if foreseen {
		r.stats.Foreseen++
	}
	var refused untranslatable
	switch {
	case errors.As(err, &refused):
		return nil, r.lacks("%v", refused.error)
	case err == nil:
		r.loader.codes().add(f, hash, fn)
	}
	return fn, err
}
