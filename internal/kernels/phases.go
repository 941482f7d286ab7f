package kernels

import "github.com/kelpiedb/kelpie/internal/ir"

// phase is a part of a kernel's work that begins when all of the part before it is done: tiles, each done by one block.
type phase struct {
	tiles ir.Reg // a word: how many
	body  func(tile ir.Reg)
}

// phases does one phase after the other in one launch. Blocks draw numbers, and a number is a tile: first those of the first
// phase. A block waits for others only if all tiles of the phases before its own have been drawn, by blocks that run and that
// wait for no later one; so it does not matter how many of the launch's blocks the device holds at a time. ticket and done are addresses of
// words that are 0. It uses 4 bytes of shared memory, at a place where nobody else has something.
func (w *writer) phases(ticket, done, tid ir.Reg, at int, list []phase) {
	rounds := w.Loop()
	w.scope(func() {
		tile, before := w.word("tile"), w.word("before")
		w.when(ir.EQ, tid.V(), ir.K(0), func() {
			n := w.word("n")
			w.Atom4(ir.AtomAdd, n, ir.At(ticket, 0), ir.K(1), ir.Val{})
			w.Store(sharedAt(at), n.V(), 4)
		})
		w.Barrier()
		w.Load(tile, sharedAt(at), 4, false)
		w.Op1(ir.Uniform, tile, tile.V())
		w.Barrier() // all have read it
		w.Mov(before, ir.K(0))
		for i, p := range list {
			w.when(ir.ULT, tile.V(), p.tiles.V(), func() {
				if i > 0 {
					w.await(done, tid, before)
				}
				p.body(tile)
				w.Barrier()
				w.when(ir.EQ, tid.V(), ir.K(0), func() {
					n := w.word("n")
					w.Fence()
					w.Atom4(ir.AtomAdd, n, ir.At(done, 0), ir.K(1), ir.Val{})
				})
				w.Continue(rounds, ir.Always, ir.K(0), ir.K(0))
			})
			w.Op2(ir.Sub, tile, tile.V(), p.tiles.V())
			w.Op2(ir.Add, before, before.V(), p.tiles.V())
		}
		w.Break(rounds, ir.Always, ir.K(0), ir.K(0))
	})
	w.Next(rounds)
	w.EndLoop(rounds, ir.Always, ir.Val{}, ir.Val{})
}

// await lets the block wait until so many tiles are done; what they wrote is seen then.
func (w *writer) await(done, tid, tiles ir.Reg) {
	w.when(ir.EQ, tid.V(), ir.K(0), func() {
		n := w.word("done")
		l := w.Loop()
		w.LoadAs(ir.Relaxed, n, ir.At(done, 0), 4, false)
		w.EndLoop(l, ir.ULT, n.V(), tiles.V())
		w.Fence()
	})
	w.Barrier()
}

// sharedAt is a place in shared memory.
func sharedAt(at int) ir.Mem {
	return ir.Mem{Base: ir.NoReg, Index: ir.NoReg, Disp: int32(at), Space: ir.Shared}
}
