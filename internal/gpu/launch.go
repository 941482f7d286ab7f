package gpu

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// start queues a kernel over so many rows; inOrder: tuples must come to its sink in the order of its rows.
func (r *run) start(c *block, fn device.Function, rows int64, inOrder bool) error {
	if err := r.ctx.Err(); err != nil {
		return r.team.Canceled()
	}
	c.set(layout.CtxLo, 0)
	c.set(layout.CtxHi, uint64(rows))
	c.set(ir.CtxStatus, 0)
	shape := r.fitting(fn, rows)
	if inOrder { // warps take places for tuples as they come, the lanes of one by their numbers
		shape = device.Shape{Blocks: 1, Threads: 32}
	}
	return r.queue(c, fn, shape)
}

// inOrder reports that the rows of a pipeline's source have an order that whoever reads its sink relies on: they were sorted, and
// since then no operator has had another way to hand them on.
func (r *run) inOrder(p *pipe.Pipeline) bool {
	switch to := p.Sink.(type) {
	case *pipe.Collect:
		if len(to.Keys) > 0 {
			return false
		}
	case *pipe.Stage:
	default:
		return false
	}
	switch src := p.Source.(type) {
	case *pipe.Buffer:
		c, ok := src.Of.(*pipe.Collect)
		return ok && len(c.Keys) > 0 || r.ordered[src.Of]
	case *pipe.Stage:
		return r.ordered[src]
	}
	return false
}

// finish waits for it and fetches its context.
func (r *run) finish(c *block, f *emit.Fragment) error {
	if err := r.st.Download(c.words, c.at); err != nil {
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
		a, err := r.alloc(int64(len(c.words)))
		if err != nil {
			return err
		}
		c.at = a
	}
	if err := r.st.Upload(c.at, c.words); err != nil {
		return r.failed(err)
	}
	return r.failed(r.st.Launch(fn, shape, uint64(c.at)))
}

// sync waits for all that was queued. What it read of the host may change then.
func (r *run) sync() error {
	err := r.failed(r.st.Sync())
	r.reading = r.reading[:0]
	return err
}

// do queues a kernel of the library over n items.
func (r *run) do(make func() *ir.Func, n int64, words ...uint64) error {
	if n == 0 {
		return nil
	}
	f := make()
	if r.Verify {
		if err := ir.Verify(f); err != nil {
			return diag.Internalf("gpu", "%v\n%s", err, f)
		}
	}
	fn, err := r.compileFunc(f)
	if err != nil {
		return err
	}
	return r.failed(r.st.Launch(fn, r.fitting(fn, n), append([]uint64{0, uint64(n)}, words...)...))
}

// failed prefers the reason why a query was given up.
func (r *run) failed(err error) error {
	if err != nil && r.ctx.Err() != nil {
		return r.team.Canceled()
	}
	return err
}

// shape is that of a launch, at the most.
func (r *run) shape(items int64) device.Shape {
	threads := r.Block
	if threads <= 0 {
		threads = 256
	}
	grid := r.Grid
	if grid <= 0 {
		full := int64(max(r.dev.Info().Units, 1) * (max(r.dev.Info().UnitThreads, threads) / threads))
		grid = int(max(min(full, (items+int64(threads)-1)/int64(threads)), 1))
	}
	return device.Shape{Blocks: grid, Threads: threads}
}

// fitting is the shape of a launch of a function.
func (r *run) fitting(fn device.Function, items int64) device.Shape {
	sh := r.shape(items)
	if most := fn.Usage().MaxThreads &^ 31; most > 0 { // it may need many registers
		sh.Threads = min(sh.Threads, most)
	}
	if r.Grid <= 0 { // as many blocks as the device holds at a time, and no more than there is work for
		if n, err := fn.Resident(sh.Threads, 0); err == nil {
			sh.Blocks = min(sh.Blocks, max(n, 1)*max(r.dev.Info().Units, 1))
		}
	}
	return sh
}
