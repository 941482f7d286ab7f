package gpu

import (
	"time"

	"github.com/kelpiedb/kelpie/internal/compile"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// chunks runs a pipeline's kernel over all chunks of its source. One that finds too little room in the sink runs again when there is
// more; what chunks before it left there stays.
func (r *run) chunks(step *compile.Step, f *emit.Fragment, fn device.Function, src *source, st *exec.PipelineStats) error {
	p := step.Pipeline
	s := r.sinks[p.Sink]
	if src.rows == 0 {
		return s.begin(0)
	}
	luts, err := r.luts(f)
	if err != nil {
		return err
	}
	q, err := r.newQueue(step, src)
	if err != nil {
		return err
	}
	defer q.close()
	c := r.newContext(f)
	if err := r.fill(c, f, src, luts); err != nil {
		return err
	}
	from, err := r.newFeed(src, f)
	defer func() {
		st.Device.Up += from.copied
		st.Device.Columns += from.copied
		from.close()
	}()
	if err != nil {
		return err
	}
	if !from.has(0) {
		return s.begin(0)
	}
	passes, err := r.newPasses(step, f, fn, src, st)
	if err != nil {
		return err
	}
	defer passes.close()
	r.ordered[p.Sink] = phys.KeepsOrder(p, func(s pipe.Sink) bool { return r.ordered[s] })
	for k := int64(0); from.has(k); k++ {
		n, began := from.rows(k), time.Now()
		if r.Count && k == 0 {
			st.How[len(st.How)-1].Stream = from.how()
			st.How[len(st.How)-1].Launch = r.launch(fn, n, r.ordered[p.Sink], f.Dynamic)
		}
		if k == 0 {
			r.settleNeeds(&st.Device.Needs, fn, n, r.ordered[p.Sink], f.Dynamic)
		}
		meanwhile := func() error { return from.prepare(k + 1) }
		if r.Feed == phys.FeedKernelAtATime {
			meanwhile = func() error { return nil }
			if err := from.prepare(k); err != nil {
				return err
			}
		}
		if passes != nil {
			bind := func(c *block, f *emit.Fragment) error { return from.toContext(c, f, k) }
			if err := passes.run(c, n, bind, meanwhile); err != nil {
				return err
			}
			r.addCounts(st, p, f, c)
			from.through(k, began)
			continue
		}
		if err := r.launches(p, c, f, fn, n, func() error { return from.toContext(c, f, k) }, q, meanwhile); err != nil {
			return err
		}
		r.addCounts(st, p, f, c)
		if err := q.drain(step, src, st, func(c *block, f *emit.Fragment) error { return from.toContext(c, f, k) }); err != nil {
			return err
		}
		from.through(k, began)
	}
	if passes != nil && r.Count {
		passes.reckon(p, src, st)
	}
	return nil
}

// launches runs a kernel over n items of a chunk until its sink has room. bind tells it where the chunk is; q, if there is one, is what it fills;
// meanwhile comes while it runs.
func (r *run) launches(p *pipe.Pipeline, c *block, f *emit.Fragment, fn device.Function, n int64, bind func() error, q *queue, meanwhile func() error) error {
	s := r.sinks[p.Sink]
	if err := s.begin(r.most(p, n)); err != nil {
		return err
	}
	m, err := r.makesTexts(f, n, s.expected())
	if err != nil {
		return err
	}
	if m != nil {
		if err := s.secure(); err != nil {
			return err
		}
	}
	for again := true; again; {
		c.clearCounts(f)
		s.toContext(c)
		m.toContext(c)
		if err := bind(); err != nil {
			return err
		}
		if err := q.clear(); err != nil {
			return err
		}
		if err := r.start(c, fn, n, r.ordered[p.Sink]); err != nil {
			return err
		}
		if err := meanwhile(); err != nil {
			return err
		}
		if err := r.finish(c, f); err != nil {
			return err
		}
		if again, err = m.lacked(c); err != nil {
			return err
		}
		if again {
			if err := s.undo(); err != nil {
				return err
			}
			continue
		}
		if again, err = s.fromContext(c); err != nil {
			return err
		}
	}
	m.keep(c)
	return nil
}

// addCounts takes note of the rows that a kernel counted.
func (r *run) addCounts(st *exec.PipelineStats, p *pipe.Pipeline, f *emit.Fragment, c *block) {
	for _, n := range f.Counts {
		st.OpRows[p.First+n.Op] += int64(c.get(n.Off))
	}
	for _, n := range f.Lanes {
		var bins exec.Activity
		for k := range bins {
			bins[k] = int64(c.get(n.Off + 8*k))
		}
		st.AddActivity(p.First+n.Op, &bins)
	}
}

// start queues a kernel over so many rows; inOrder: tuples must come to its sink in the order of its rows.
func (r *run) start(c *block, fn device.Function, rows int64, inOrder bool) error {
	if err := r.ctx.Err(); err != nil {
		return r.team.Canceled()
	}
	c.set(layout.CtxLo, 0)
	c.set(layout.CtxHi, uint64(rows))
	c.set(ir.CtxStatus, 0)
	l := r.launch(fn, rows, inOrder, c.dynamic)
	return r.queue(c, fn, device.Shape{Blocks: l.Blocks, Threads: l.Threads, Shared: c.dynamic(l.Threads)})
}

// finish waits for it and fetches its context.
func (r *run) finish(c *block, f *emit.Fragment) error {
	if err := r.st.Download(c.words[:c.kept], c.at); err != nil {
		return r.failed(err)
	}
	if err := r.sync(); err != nil {
		return err
	}
	if status := c.get(ir.CtxStatus); status != 0 {
		return f.Errors[status-1]
	}
	return nil
}

// queue uploads a block and launches a kernel on it.
func (r *run) queue(c *block, fn device.Function, shape device.Shape) error {
	if c.at == 0 {
		a, err := r.alloc(int64(c.kept))
		if err != nil {
			return err
		}
		c.at = a
	}
	if err := r.st.Upload(c.at, c.words[:c.kept]); err != nil {
		return r.failed(err)
	}
	if c.await != nil {
		if err := c.await(); err != nil {
			return r.failed(err)
		}
	}
	params := make([]uint64, 1, 1+len(c.params))
	params[0] = uint64(c.at)
	for _, off := range c.params {
		params = append(params, c.get(off))
	}
	return r.failed(r.st.Launch(fn, shape, params...))
}

// sync waits for all that was queued. What it read of the host may change then.
func (r *run) sync() error {
	err := r.failed(r.st.Sync())
	r.reading = r.reading[:0]
	return err
}

// do queues a kernel over n items, each of which a lane takes.
func (r *run) do(make func() *ir.Func, n int64, words ...uint64) error {
	return r.doShared(make, n, n, words...)
}

// doShared queues a kernel over n items that so many lanes share.
func (r *run) doShared(make func() *ir.Func, n, lanes int64, words ...uint64) error {
	if n == 0 {
		return nil
	}
	fn, err := r.function(make())
	if err != nil {
		return err
	}
	return r.failed(r.st.Launch(fn, r.shape(fn, lanes, false), append([]uint64{0, uint64(n)}, words...)...))
}

// function translates a kernel that no pipeline is.
func (r *run) function(f *ir.Func) (device.Function, error) {
	if r.Verify {
		if err := ir.Verify(f); err != nil {
			return nil, diag.Internalf("gpu", "%v\n%s", err, f)
		}
	}
	return r.compileFunc(f)
}

// failed prefers the reason why a query was given up.
func (r *run) failed(err error) error {
	if err != nil && r.ctx.Err() != nil {
		return r.team.Canceled()
	}
	return err
}

// grid is what is known of a launch of any function.
func (r *run) grid(items int64) phys.Grid {
	info := r.dev.Info()
	return phys.Grid{Items: items, Units: info.Units, UnitThreads: info.UnitThreads, Blocks: r.Grid, Threads: r.Block}
}

// launch decides the shape of a launch of a function whose blocks take shared memory beside what it declares, by their threads.
func (r *run) launch(fn device.Function, items int64, inOrder bool, dynamic func(threads int) int) phys.Launch {
	g := r.grid(items)
	use := fn.Usage()
	g.InOrder, g.MaxThreads, g.Shared = inOrder, use.MaxThreads, use.Shared
	if warp := dynamic(layout.WarpLanes) - dynamic(0); warp > 0 { // no more warps than a block has memory for
		g.MaxThreads = min(g.MaxThreads, (r.dev.Info().BlockShared-use.Shared-dynamic(0))/warp*layout.WarpLanes)
	}
	g.Resident = func(threads int) int {
		n, err := fn.Resident(threads, dynamic(threads))
		if err != nil {
			return 0
		}
		return max(n, 1)
	}
	return phys.ChooseLaunch(g)
}

// wants is what can be told of a kernel before it is compiled, for those who measure.
func (r *run) wants(f *ir.Func) phys.Needs {
	if !r.Count && !r.Times {
		return phys.Needs{}
	}
	return phys.Needs{Registers: phys.Registers(f.Pressure()), Estimated: true, Code: f.Instructions()}
}

// settleNeeds completes that by what the device says of a launch over so many items.
func (r *run) settleNeeds(n *phys.Needs, fn device.Function, items int64, inOrder bool, dynamic func(threads int) int) {
	if n.Code == 0 {
		return
	}
	l := r.launch(fn, items, inOrder, dynamic)
	more := dynamic(l.Threads)
	use := fn.Usage()
	n.Shared, n.Most = use.Shared+more, r.dev.Info().UnitThreads
	if use.Registers > 0 { // a simulated device has as many as one likes
		n.Registers, n.Estimated = use.Registers, false
	}
	if blocks, err := fn.Resident(l.Threads, more); err == nil {
		n.Threads = min(blocks, n.Blocks(l.Threads)) * l.Threads
	}
}

func (r *run) shape(fn device.Function, items int64, inOrder bool) device.Shape {
	l := r.launch(fn, items, inOrder, func(int) int { return 0 })
	return device.Shape{Blocks: l.Blocks, Threads: l.Threads}
}
