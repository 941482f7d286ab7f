package exec

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tables"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// On a GPU a morsel is a launch, or several. Generated code cannot ask for room there, so every
// sink makes room for all that a launch can produce beforehand, and where joins multiply rows,
// launches take fewer of them. One worker launches one kernel after the other.
// What sinks hold has the same layout as on the CPU: tables are organized, sorted and read by
// the same Go code.

// The default shape of a launch.
const (
	launchRows    = 64 << 10
	launchBlocks  = 8
	launchThreads = 128
	// launchTuples is how many tuples a launch may produce at the very most, unless even a single
	// row can have more matches.
	launchTuples = 256 << 10
)

// launchRows is how many rows a launch of this job takes.
func (j *job) launchRows() int {
	rows := launchRows
	if j.r.MorselRows > 0 {
		rows = j.r.MorselRows
	}
	if s, ok := j.sink.(*groupSink); ok && s.plan.Mode != emit.HashGroups {
		return rows // the number of groups is bounded already
	}
	return max(min(rows, launchTuples/j.expansion()), 1)
}

// expansion is how many tuples can come out of one row at most: the product of the most matches
// that a key has in each of the tables probed.
func (j *job) expansion() int {
	n := 1
	for _, op := range j.p.Ops {
		p, ok := op.(*pipe.Probe)
		if !ok || p.Kind != pipe.ProbeInner && p.Kind != pipe.ProbeOuter {
			continue
		}
		if m := tables.MostMatches(j.r.tables[p.Build]); m > 0 {
			n = min(n, 1<<40/m) * m
		}
	}
	return n
}

// gpu launches kernels on a device that sees the query's memory.
type gpu struct {
	r     *run
	dev   *device.Simt
	shown map[uintptr]int // query memory that the device knows, with sizes
}

func newGPU(r *run) *gpu { return &gpu{r: r, dev: device.NewSimt(), shown: map[uintptr]int{}} }

func (g *gpu) request(req *emit.Request) { g.r.requestFor(ir.GPU, req) }

func (g *gpu) translate(f *ir.Func) (device.Kernel, error) { return device.CompileSimt(f) }

func (g *gpu) morselRows(j *job) int { return j.launchRows() }

func (g *gpu) tally() device.Tally { return device.Tally{} }
func (g *gpu) close()              {}

// reserver is a sink that serves the GPU.
type reserver interface {
	// reserve makes room for so many tuples and puts it into the worker's context.
	reserve(w *worker, tuples int) error
}

// call launches the worker's kernel, as often as rooms for what it makes allow.
func (g *gpu) call(w *worker, lo, hi int) error {
	j := w.j
	s, ok := j.sink.(reserver)
	if !ok {
		return diag.Errorf(diag.FeatureNotSupported, -1, "device %s: sink %T is not supported yet", w.r.Device, j.sink)
	}
	if j.perLaunch == 0 {
		j.perLaunch, j.perRow = j.launchRows(), j.expansion()
		if j.perRow > 1<<32 {
			return diag.Errorf(diag.FeatureNotSupported, -1, "device %s: joins in which a row may have %d matches are not supported yet",
				w.r.Device, j.perRow)
		}
	}
	for ; lo < hi; lo += j.perLaunch {
		n := min(j.perLaunch, hi-lo)
		if err := s.reserve(w, n*j.perRow); err != nil {
			return err
		}
		st, err := g.launch(w, lo, lo+n)
		st.Lines = nil // launches of different kernels
		j.st.Lanes.Add(&st)
		j.st.Launches++
		if err != nil {
			return err
		}
	}
	return nil
}

// launch runs the kernel that the worker's context is made for.
func (g *gpu) launch(w *worker, lo, hi int) (device.LaneStats, error) {
	mem.Store64(w.ctx+layout.CtxLo, uint64(lo))
	mem.Store64(w.ctx+layout.CtxHi, uint64(hi))
	mem.Store64(w.ctx+ir.CtxStatus, 0)
	if err := g.showMemory(w); err != nil {
		return device.LaneStats{}, err
	}
	grid, block := g.r.shape(hi - lo)
	st, err := g.dev.Launch(g.r.ctx, w.v.code.(*device.SimtKernel), grid, block, w.ctx)
	if err != nil {
		if c := g.r.team.Canceled(); c != nil {
			err = c
		}
		return st, err
	}
	if status := mem.Load64(w.ctx + ir.CtxStatus); status != 0 {
		return st, w.v.frag.Errors[status-1]
	}
	return st, nil
}

// shape is the number of blocks and of threads in each.
func (r *run) shape(rows int) (grid, block int) {
	grid, block = r.Grid, r.Block
	if block <= 0 {
		block = launchThreads
	}
	if grid <= 0 {
		grid = max(min(launchBlocks, (rows+block-1)/block), 1)
	}
	return grid, block
}

// showMemory tells the device of all memory that the kernel may touch: what the query has
// taken, the segment that it scans, and the dictionaries. Segments stay shown, because tuples
// point to their strings.
func (g *gpu) showMemory(w *worker) error {
	held := g.r.mem.Blocks()
	for addr, size := range g.shown {
		if held[addr] != size {
			if err := g.dev.Hide(addr); err != nil {
				return err
			}
			delete(g.shown, addr)
		}
	}
	for addr, size := range held {
		if g.shown[addr] != size {
			if err := g.dev.Show(addr, size, true); err != nil {
				return err
			}
			g.shown[addr] = size
		}
	}
	if w.sp != nil && w.sp.seg != nil {
		for _, ord := range w.j.scan().Ordinal {
			addr, size := w.sp.chunk(ord).Memory()
			if err := g.dev.Show(addr, size, false); err != nil {
				return err
			}
		}
	}
	for _, v := range g.r.views {
		desc, n, heap, m := v.Memory()
		if err := g.dev.Show(desc, n, false); err != nil {
			return err
		}
		if err := g.dev.Show(heap, m, false); err != nil {
			return err
		}
	}
	return nil
}

func (s *collectSink) reserve(w *worker, n int) error {
	return s.workers[w.id].buf.ReserveFrom(w.ctx, n)
}
func (s *buildSink) reserve(w *worker, n int) error { return s.workers[w.id].ReserveFrom(w.ctx, n) }
func (discardSink) reserve(*worker, int) error      { return nil }

// reserve passes on what the launch before left in the buffer, and makes it larger if need be.
func (s *stageSink) reserve(w *worker, n int) error {
	sm := s.workers[w.id]
	if err := sm.flush(w); err != nil {
		return err
	}
	if n > sm.room {
		start, err := s.r.mem.Alloc(n * s.tuple.Size)
		if err != nil {
			return err
		}
		s.r.mem.Free(sm.start)
		sm.start, sm.room = start, n
		mem.Store64(sm.next.ctx+layout.CtxSource, uint64(start))
		sm.empty(w)
	}
	return nil
}

func (s *groupSink) reserve(w *worker, n int) error {
	grid, block := s.r.shape(launchRows)
	return s.all.Reserve(s.workers[w.id], w.ctx, n, grid*block)
}
