package session

import (
	"context"
	"time"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/opt"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// query optimizes, cuts and runs a bound query.
func (s *Session) query(ctx context.Context, q *plan.Query, t Timing) (*Result, error) {
	set := s.Settings()
	return s.runQuery(ctx, q, &set, s.options(&set), t)
}

// loadQuery is query for rows that go to a table: they are read part by part, and what is read of files on the
// way does not drive out what others will want to read again.
func (s *Session) loadQuery(ctx context.Context, q *plan.Query, t Timing) (*Result, error) {
	set := s.Settings()
	opts := s.options(&set)
	opts.Parts, set.readOnce = true, true
	if plan.InOrder(q) {
		opts.Threads = 1
	}
	if set.FileBlock == 0 { // of a segment's size, if rows are not long
		set.FileBlock = loadBlock
		if limit := opts.Account.Limit(); limit > 0 {
			set.FileBlock = int(max(min(loadBlock, limit/32), 1<<16))
		}
	}
	return s.runQuery(ctx, q, &set, opts, t)
}

// loadBlock is how much of a text file a thread parses at a time for a table: rows of a segment.
const loadBlock = 32 << 20

func (s *Session) runQuery(ctx context.Context, q *plan.Query, set *Settings, opts exec.Options, t Timing) (*Result, error) {
	prog, _, err := s.plan(ctx, q, set, opts.Account, &t)
	if err != nil {
		return nil, err
	}
	x, stats, err := s.runProgram(ctx, prog, set, opts)
	if err != nil {
		return nil, err
	}
	return s.result(q, x, stats, t), nil
}

// plan is the part of the walk between binding and running.
func (s *Session) plan(ctx context.Context, q *plan.Query, set *Settings, acct *budget.Account, t *Timing) (*pipe.Program, []opt.PassInfo, error) {
	start := time.Now()
	defer func() { t.Plan += time.Since(start) }()
	can := scalar.CanEmit
	if set.Off.TextCode {
		can = scalar.CanEmitTextless
	}
	q, passes, err := opt.Optimize(q, opt.Options{Disabled: set.Disabled, Check: set.Check, Emits: can, Done: ctx.Done(), Spreads: set.Device == "cpu"})
	if err != nil {
		return nil, nil, err
	}
	if err := openFiles(ctx, q, set, acct); err != nil {
		return nil, nil, err
	}
	if Trace {
		println(plan.Format(q))
	}
	prog, err := pipe.Cut(q)
	if err != nil {
		return nil, nil, err
	}
	s.place(prog, set)
	patience := diag.Patience{Done: ctx.Done()}
	split := func(prog *pipe.Program) error {
		return prog.Split(func(e *plan.Call) bool {
			patience.Tick()
			return can(e)
		})
	}
	if set.Device != "cpu" {
		prog, err = s.fuse(prog, set, can, split)
		return prog, passes, err
	}
	return prog, passes, split(prog)
}

// fuse is the program of a query for a GPU, whose pipelines are cut as the settings say, or where a kernel would need too many registers.
func (s *Session) fuse(first *pipe.Program, set *Settings, can func(*plan.Call) bool, split func(*pipe.Program) error) (*pipe.Program, error) {
	f := compile.Fusion{Budget: set.FuseBudget, Options: compileOptions(set), Known: &s.DB.fused}
	f.Place = func() compile.Place {
		opts := s.options(set)
		return s.DB.accelerator(set.Device).known().Place("gpu", &opts)
	}
	q := first.Query
	f.Fresh = func(change func(*pipe.Program)) (*pipe.Program, error) {
		prog, err := first, error(nil)
		if first = nil; prog == nil {
			if prog, err = pipe.Cut(q); err != nil {
				return nil, err
			}
		}
		set.Expand.Apply(prog)
		set.Refill.Apply(prog, set.Search)
		set.Fuse.Apply(prog)
		set.Partition.Apply(prog, s.partitionPlace(set, can))
		change(prog)
		return prog, split(prog)
	}
	return f.Program()
}

// partitionPlace is what is known of the GPU that a query is for. A quarter of its memory may be rows between pipelines.
func (s *Session) partitionPlace(set *Settings, can func(*plan.Call) bool) phys.PartitionPlace {
	on := phys.PartitionPlace{Emits: can}
	if store := s.DB.accelerator(set.Device).known(); store != nil {
		info := store.Info()
		on.Cache, on.Memory = int64(info.L2), int64(info.Memory/4)
	}
	return on
}

// compileOptions are what settings say of the code of pipelines that is only looked at.
func compileOptions(set *Settings) compile.Options {
	return compile.Options{Off: set.Off, Expand: set.Expand, Refill: set.Refill, Resolve: set.Resolve, Home: set.Home, Fuse: set.Fuse, Partition: set.Partition}
}

var Trace bool

func (s *Session) options(set *Settings) exec.Options {
	o := exec.Options{Threads: set.Threads, MorselRows: set.MorselRows, Account: budget.New(set.Memory), Verify: set.Check, Off: set.Off,
		Device: set.Device, Grid: set.Grid, Block: set.Block, GPUMemory: set.GPUMemory, HostMemory: set.HostMemory, Feed: set.Feed, FeedBlock: set.FeedBlock, Prefilter: set.Prefilter, Search: set.Search, Times: set.GPUTimes, Code: set.GPUCode, Expand: set.Expand, Refill: set.Refill, Resolve: set.Resolve, Home: set.Home, Fuse: set.Fuse, Share: set.Share, SIMD: set.SIMD, Tally: set.Tally}
	if s.Progress != nil {
		o.Progress = func(done, total int64) { s.Progress("running", done, total, done) }
	}
	return o
}

func (s *Session) result(q *plan.Query, x *result.Result, stats *exec.Stats, t Timing) *Result {
	t.Compile, t.Exec = stats.Compile, stats.Exec
	set := s.Settings()
	return &Result{Columns: resultColumns(q), Timing: t, exec: x, Rows: x.Len(), Stats: *stats, zone: set.client.zone}
}

// resultColumns are the columns of a query's result.
func resultColumns(q *plan.Query) (out []Column) {
	for i, id := range q.Output {
		c := q.Cols.Get(id)
		out = append(out, Column{q.Names[i], c.Type, !c.NotNull})
	}
	return out
}

// Column is a column of a result.
type Column struct {
	Name     string
	Type     types.Type
	Nullable bool
}
