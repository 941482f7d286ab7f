package exec

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// On a GPU a morsel is a launch. Generated code cannot ask for room there, so every sink makes
// room for all rows of the launch beforehand; one worker launches one kernel after the other.
// What sinks hold has the same layout as on the CPU: tables are organized, sorted and read by
// the same Go code.

// The default shape of a launch.
const (
	launchRows    = 64 << 10
	launchBlocks  = 8
	launchThreads = 128
)

// launchRows is how many rows a launch of this job may take.
func (j *job) launchRows() int {
	rows := launchRows
	if j.r.MorselRows > 0 {
		rows = j.r.MorselRows
	}
	if _, ok := j.sink.(*stageSink); ok {
		rows = min(rows, stageTuples)
	}
	return rows
}

// reserver is a sink that serves the GPU.
type reserver interface {
	// reserve makes room for so many rows and puts it into the worker's context.
	reserve(w *worker, rows int) error
}

// target is the processor that queries are compiled for.
func (r *run) target() ir.Target {
	if r.gpu != nil {
		return ir.GPU
	}
	return ir.CPU
}

// deviceRequest adds to a request what the device demands.
func (r *run) deviceRequest(req *emit.Request) {
	req.Target = r.target()
	if r.gpu == nil {
		return
	}
	req.Device = r.Device
	if device.HasCPU() && !r.NoCPU {
		req.LutTarget = ir.CPU
	}
}

// launch runs the worker's kernel on rows lo…hi of the current range.
func (w *worker) launch(lo, hi int) error {
	if s, ok := w.j.sink.(reserver); ok {
		if err := s.reserve(w, hi-lo); err != nil {
			return err
		}
	} else {
		return diag.Errorf(diag.FeatureNotSupported, -1, "device %s: sink %T is not supported yet", w.r.Device, w.j.sink)
	}
	st, err := w.r.launch(w, lo, hi)
	st.Lines = nil // launches of different kernels
	w.j.st.Lanes.Add(&st)
	w.j.st.Launches++
	return err
}

// launch runs the kernel that the worker's context is made for.
func (r *run) launch(w *worker, lo, hi int) (device.LaneStats, error) {
	store64(w.ctx+emit.CtxLo, uint64(lo))
	store64(w.ctx+emit.CtxHi, uint64(hi))
	store64(w.ctx+ir.CtxStatus, 0)
	if err := r.showMemory(w); err != nil {
		return device.LaneStats{}, err
	}
	block := r.Block
	if block <= 0 {
		block = launchThreads
	}
	grid := r.Grid
	if grid <= 0 {
		grid = max(min(launchBlocks, (hi-lo+block-1)/block), 1)
	}
	st, err := r.gpu.Launch(r.ctx, w.v.code.(*device.SimtKernel), grid, block, w.ctx)
	if err != nil {
		if c := r.canceled(); c != nil {
			err = c
		}
		return st, err
	}
	if status := load64(w.ctx + ir.CtxStatus); status != 0 {
		return st, w.v.frag.Errors[status-1]
	}
	return st, nil
}

// showMemory tells the device of all memory that the kernel may touch: what the query has
// taken, the segment that it scans, and the dictionaries. Segments stay shown, because tuples
// point to their strings.
func (r *run) showMemory(w *worker) error {
	held := r.mem.blocks()
	for addr, size := range r.shown {
		if held[addr] != size {
			if err := r.gpu.Hide(addr); err != nil {
				return err
			}
			delete(r.shown, addr)
		}
	}
	for addr, size := range held {
		if r.shown[addr] != size {
			if err := r.gpu.Show(addr, size, true); err != nil {
				return err
			}
			r.shown[addr] = size
		}
	}
	if w.sp != nil && w.sp.seg != nil {
		for _, ord := range w.j.scan().Ordinal {
			addr, size := w.sp.seg.Chunks[ord].Memory()
			if err := r.gpu.Show(addr, size, false); err != nil {
				return err
			}
		}
	}
	for _, v := range r.views {
		desc, n, heap, m := v.Memory()
		if err := r.gpu.Show(desc, n, false); err != nil {
			return err
		}
		if err := r.gpu.Show(heap, m, false); err != nil {
			return err
		}
	}
	return nil
}

// blocks are the sizes of all held blocks by address.
func (m *memory) blocks() map[uintptr]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[uintptr]int, len(m.held))
	for a, b := range m.held {
		if b.Size() > 0 {
			out[a] = b.Size()
		}
	}
	return out
}

// reserve makes sure that n tuples fit behind cur.
func (b *buffer) reserve(cur uintptr, n int) error {
	need := n * b.stride
	if cur != 0 && int(b.end-cur) >= need {
		b.cur = cur
		return nil
	}
	b.cut(cur)
	// Most launches write less than they may, so a chunk serves several.
	a, err := b.mem.alloc(max(need, min(4*need, lastChunk)))
	if err != nil {
		return err
	}
	b.start, b.cur, b.end = a, a, a+uintptr(max(need, min(4*need, lastChunk)))
	return nil
}

// room puts a buffer's space into the context.
func (b *buffer) room(w *worker, rows int) error {
	if err := b.reserve(uintptr(load64(w.ctx+emit.CtxCur)), rows); err != nil {
		return err
	}
	store64(w.ctx+emit.CtxCur, uint64(b.cur))
	store64(w.ctx+emit.CtxEnd, uint64(b.end))
	return nil
}

func (s *collectSink) reserve(w *worker, rows int) error { return s.workers[w.id].buf.room(w, rows) }
func (s *buildSink) reserve(w *worker, rows int) error   { return s.workers[w.id].room(w, rows) }
func (discardSink) reserve(*worker, int) error           { return nil }

// reserve of a stage: its launches are no larger than its buffer, which was emptied before.
func (s *stageSink) reserve(w *worker, rows int) error {
	if rows > stageTuples || load64(w.ctx+emit.CtxCur) != uint64(s.workers[w.id].start) {
		return diag.Internalf("exec", "a stage has no room for %d rows", rows)
	}
	return nil
}
