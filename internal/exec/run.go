package exec

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/techniques"
)

// Options are the settings of a run.
type Options struct {
	Threads    int
	MorselRows int             // 0: adaptive
	Account    *budget.Account // counts what the query takes; nil: nobody does
	Count      bool            // count rows per operator (EXPLAIN ANALYZE)
	Lanes      bool            // GPU: and lanes that are active behind it
	Verify     bool            // hold every function to the IR's rules (tests)
	Off        techniques.Off
	Profile    bool // find out where the time of a pipeline goes (EXPLAIN ANALYZE)
	Listing    bool // keep the generated functions, with comments that say more (EXPLAIN)
	Progress   func(done, total int64)
	// Parts: who reads the result does so part by part, so that what is nothing but columns of files need not
	// be in memory all at once.
	Parts bool
	// Deliver takes the rows of the result while the query runs, if they need not be there together; nil: nobody does.
	Deliver Deliver

	SIMD   device.SIMD // CPU: vector instructions
	Tally  bool        // CPU: count executed instructions
	Device string      // its name in messages
	Last   bool        // GPU: what it cannot do nobody else does
	Grid   int         // GPU: blocks per launch, 0: by the rows
	Block  int         // GPU: threads per block, 0: some
	// GPUMemory is how many bytes columns may take on a GPU, 0: what it has.
	GPUMemory int64
	// HostMemory is how many bytes of the host copies of columns that stream to a GPU may take, 0: a part of what the process may.
	HostMemory int64
	// Feed is how columns come to a GPU; FeedBlock, how many bytes of those that stream come at a time, 0: as many as pay.
	Feed      phys.Feed
	FeedBlock int64
	// Prefilter is whether the CPU tests filters of scans whose columns stream to a GPU.
	Prefilter phys.Prefilter
	// Search is how a GPU searches texts, if somebody wants it so.
	Search phys.Search
	// Expand is how lanes of a GPU share the matches of their rows, 0: as it pays.
	Expand phys.Expand
	// Fuse is how much of a query one kernel of a GPU does.
	Fuse phys.Fuse
	// Refill is what becomes of lanes of a GPU whose rows are dropped, 0: what pays.
	Refill phys.Refill
	// Resolve is how the lanes of a GPU come together where rows meet.
	Resolve phys.Resolve
	// Home is where groups live on a GPU, 0: where it pays.
	Home phys.Home
	// Times: kernels and copies of a GPU are measured by its clock.
	Times bool
	// Behind: nobody waits for what a GPU does, which takes one thread that gives way.
	Behind bool
	// Code is where a GPU's code may come from.
	Code CodeFrom
	// Partner is another processor that shares pipelines with the CPU, as Share says; nil: there is none.
	Partner Partner
	Share   phys.Share
	// CPUFirst: the partner is not ready, and asked to help only where that pays.
	CPUFirst bool
}

// CodeFrom says which code that was compiled before a query may use.
type CodeFrom uint8

const (
	CodeKept   CodeFrom = iota // all that there is
	CodeStored                 // what is on disk, as a process that has just begun
	CodeNew                    // none
)

// Stats say where time went.
type Stats struct {
	Compile, Exec time.Duration
	PeakMemory    int64
	DevicePeak    int64        // GPU: bytes that the query had of its memory at a time, columns aside
	Tally         device.Tally // machine code that ran, if Options.Tally
	Pipelines     []PipelineStats
	Bandwidth     float64 // GPU: bytes of its memory that kernels can read in a second
	// GPU: kernels that the device did not know yet, and those of them that were begun to be compiled before their turn came.
	Kernels, Foreseen int
	// GPU: how long the query waited for code to be compiled and loaded, and when the last was there, from its beginning on.
	KernelWait, KernelsReady time.Duration
	// GPU: bytes that copies bring there in a second, if Options.Times; 0: not known.
	Bus float64
}

// PipelineStats is one pipeline's part.
type PipelineStats struct {
	ID            int
	Compile, Exec time.Duration
	Variants      int
	Morsels       int64
	RowsIn        int64
	SkippedRows   int64
	Idle          bool                  // was not run: nothing could come of it
	OpRows        map[int]int64         // rows that left operator i; -1: the source
	OpTime        map[int]time.Duration // of operator i, by sampling; -1: the source, one more than the last: the sink; nil: not known
	Finish        time.Duration         // of Exec, what the sink took after the last row
	Note          string                // how the sink was organized
	How           []phys.Decision       // of the pipeline, or of each of its stages, if Options.Count
	Fragments     []*emit.Fragment      // the generated functions, one per variant, if Options.Listing
	Shared        phys.Shared           // with a GPU
	Ranges        []Range               // likewise, if Options.Count
	Launches      int64                 // GPU
	Device        DeviceStats           // GPU
	Lanes         device.LaneStats      // GPU: what all launches did together
	OpLanes       map[int]*Activity     // GPU: behind operator i, as OpRows, if Options.Lanes
}

// DeviceStats is a pipeline's part of what was done on a GPU of its own memory.
type DeviceStats struct {
	Kernel, Copies time.Duration // by the device's clock, if Options.Times
	Carry          time.Duration // waiting for columns that had to be copied there first
	Up, Down       int64         // bytes over the bus, columns among them
	Columns        int64         // bytes of the columns that were read

	// The account of data movement, in bytes, if Options.Count; gpu/account.go. Up, Down and Host cross the bus.
	Host                   int64      // of the host's memory, read and written by kernels
	Memory                 int64      // between the device's memory and its chip
	Shared, Cached         int64      // that stayed on the chip: in shared memory, and what caches kept, where that is known
	Needs                  phys.Needs // of the kernel, or of that of the last stage, if Options.Count or Options.Times
	Exact                  bool       // they were counted; else they are the reckoned ones, and Cached is not known
	Reckoned, ReckonedChip int64
	ReckonedHost           int64 // what kernels read over the bus
}

// run is the state of a query while it runs.
type run struct {
	Options
	ctx        context.Context
	prog       *pipe.Program
	team       *work.Team
	mem        *mem.Memory
	walk       *compile.Walk
	sinks      map[pipe.Sink]sink
	finished   map[pipe.Sink]bool
	views      map[*column.Dict]column.DictView
	rankTables map[*column.Dict]uintptr
	pools      map[*emit.Fragment]uintptr
	zero       uintptr
	cpu        *cpu
	stats      Stats
	keep       []any
	streams    []catalog.Stream // that were begun

	late lateColumns // of the result

	filtering time.Duration // spent on semi-join filters for the pipeline being compiled

	mu sync.Mutex
}

// Run executes a program.
func Run(ctx context.Context, prog *pipe.Program, opts Options) (res *result.Result, stats *Stats, err error) {
	if opts.Threads <= 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	r := &run{Options: opts, ctx: ctx, prog: prog, team: work.NewTeam(ctx, opts.Threads), mem: mem.New(opts.Account, opts.Verify, opts.Off.MemoryPool),
		sinks: map[pipe.Sink]sink{}, finished: map[pipe.Sink]bool{},
		views: map[*column.Dict]column.DictView{}, pools: map[*emit.Fragment]uintptr{}, rankTables: map[*column.Dict]uintptr{}}
	r.cpu = &cpu{o: &r.Options}
	defer func() {
		r.closeStreams()
		r.cpu.close()
		if err != nil {
			r.mem.Close()
		}
	}()
	defer diag.Recover("exec", &err)
	defer work.PanicOnFault()()
	own := result.Owned{Cols: prog.Result.Cols, Threads: opts.Threads, Mem: r.mem}
	if t := Direct(prog, &r.Options); t != nil && !r.delivers(prog.Result) {
		start := time.Now()
		res, err := r.tableResult(t, own)
		return res, &Stats{Exec: time.Since(start)}, err
	}
	r.walk = compile.New(prog, opts.Place(), compile.Options{Off: opts.Off, Count: opts.Count, Check: opts.Verify, Verbose: opts.Listing, Done: ctx.Done()})
	left := maps.Clone(r.walk.Makers())
	r.stats.Pipelines = make([]PipelineStats, 0, len(prog.Pipelines))
	unneeded := pipe.LastUses(prog)
	idle := pipe.NewIdleness(prog)
	for _, p := range prog.Pipelines {
		if p.Loop != nil && p.Sink == pipe.Sink(p.Loop) {
			left[p.Sink]-- // the loop begins when the others are done
		}
	}
	for i, p := range prog.Pipelines {
		if p.Loop != nil {
			if i == 0 || prog.Pipelines[i-1].Loop != p.Loop {
				body := prog.Pipelines[i:]
				if end := slices.IndexFunc(body, func(q *pipe.Pipeline) bool { return q.Loop != p.Loop }); end >= 0 {
					body = body[:end]
				}
				if err := r.loop(body); err != nil {
					return nil, nil, err
				}
			}
			if i+1 == len(prog.Pipelines) || prog.Pipelines[i+1].Loop != p.Loop {
				for k := i; k >= 0 && prog.Pipelines[k].Loop == p.Loop; k-- {
					for _, s := range unneeded[k] {
						r.release(s)
					}
				}
			}
			continue
		}
		if err := r.pipeline(p, idle.Idle[i]); err != nil {
			return nil, nil, err
		}
		left[p.Sink]--
		if left[p.Sink] == 0 {
			start := time.Now()
			if err := r.sinks[p.Sink].finish(); err != nil {
				return nil, nil, err
			}
			r.finished[p.Sink] = true
			d := time.Since(start)
			st := &r.stats.Pipelines[len(r.stats.Pipelines)-1]
			st.Exec += d
			st.Finish = d
			r.stats.Exec += d
			st.Note = r.sinks[p.Sink].note()
			if r.rowCount(p.Sink) == 0 {
				idle.IsEmpty(p.Sink)
			}
		}
		for _, s := range unneeded[i] {
			r.release(s)
		}
	}
	r.stats.PeakMemory = r.mem.Account().Peak()
	r.stats.Tally = r.cpu.tally()
	out := r.sinks[prog.Result].(*collectSink)
	own.Keep = append(r.keep, r.views, prog)
	sum := r.stats // not the run with it
	return result.OfTuples(own, out.rows(), result.Columns(prog.Result.Cols, out.tuple, r.late.Ordinal), r.late.segs), &sum, nil
}

// pipeline compiles and runs one pipeline. One that is idle is compiled, since that decides the layout of its
// sink, and gets no rows.
func (r *run) pipeline(p *pipe.Pipeline, idle bool) error {
	if err := r.team.Canceled(); err != nil {
		return err
	}
	start := time.Now()
	r.stats.Pipelines = append(r.stats.Pipelines, PipelineStats{ID: p.ID})
	st := &r.stats.Pipelines[len(r.stats.Pipelines)-1]
	if r.Count {
		st.OpRows = map[int]int64{}
	}
	job, err := r.newJob(p, st)
	if err != nil {
		return err
	}
	// Making semi-join filters is part of the work, not of compiling.
	filtering := r.filtering
	r.filtering = 0
	st.Compile = time.Since(start) - filtering
	r.stats.Compile += st.Compile
	start = time.Now()
	if idle {
		st.Idle = true
		job.ranges, job.total = nil, 0
	}
	run := job.execute
	if job.shares() && !idle {
		run = job.executeShared
	}
	if err := run(); err != nil {
		return err
	}
	st.Exec = time.Since(start) + filtering
	r.stats.Exec += st.Exec
	if r.Profile {
		r.profile(p, job, st, filtering)
	}
	return nil
}

// compile emits and translates a request that is no pipeline of the program's.
func (r *run) compile(req emit.Request) (*emit.Fragment, device.Kernel, error) {
	f, err := r.walk.Emit(req)
	if err != nil {
		return nil, nil, err
	}
	k, err := r.translate(f)
	return f, k, err
}

// translate makes code of a fragment.
func (r *run) translate(f *emit.Fragment) (device.Kernel, error) {
	if r.Verify {
		if err := ir.Verify(f.Func); err != nil {
			return nil, diag.Internalf("emit", "%v\n%s", err, f.Func)
		}
	}
	if !r.Listing { // nobody will read it any more
		defer f.Func.Release()
	}
	return r.cpu.translate(f.Func)
}

// keepAlive keeps something from being collected while the query or its result needs it.
func (r *run) keepAlive(x any) {
	r.mu.Lock()
	r.keep = append(r.keep, x)
	r.mu.Unlock()
}

// view pins a dictionary's addresses for the query.
func (r *run) view(d *column.Dict) column.DictView {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.views[d]
	if !ok {
		v = d.View()
		r.views[d] = v
	}
	return v
}
