package simt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"unsafe"
)

// Shape is how a kernel is launched.
type Shape struct {
	Grid, Block int // blocks, and threads of each
	Shared      int // bytes of dynamic shared memory of a block

	// Seed draws the order in which blocks start, warps run and lanes of an atomic come: those of
	// several blocks, up to Resident, in turns of any length. 0 is no drawing: block after block, the
	// warps of a block in turns of equal length, lanes upwards.
	Seed     uint64
	Resident int // blocks that run at the same time; at least 1

	// Touch, if not nil, is told of each buffer, by its base, when the launch first touches it. An
	// error that it returns is the launch's fault.
	Touch func(base uint64) error
}

// launch is one kernel run: the blocks that are being simulated and the counters of all.
type launch struct {
	ctx      context.Context
	dev      *Device
	k        *Kernel
	shape    Shape
	buffers  []buffer
	hint     []int32 // by instruction: the buffer that it found last
	touched  []bool  // by buffer
	params   []uint64
	rng      *rand.Rand // nil: nothing is drawn
	running  *cta       // for a report if the simulator fails
	steps    uint64
	nextLook uint64 // at the context
	counts   []LineStats
	stats    Stats
	sectors  sectorSet
	footing  map[*buffer]*footprint
	last     *footprint // of the buffer that was looked for last
	lastOf   *buffer
}

// cta is a block that runs: its warps and their shared memory.
type cta struct {
	l         *launch
	id        int
	warps     []*warp
	shared    []byte
	sharedDef []byte // 0xff for every byte of shared that was written
}

func newLaunch(ctx context.Context, dev *Device, buffers []buffer, k *Kernel, shape Shape, params []uint64) *launch {
	l := &launch{ctx: ctx, dev: dev, k: k, shape: shape, buffers: buffers, params: params,
		running: &cta{id: -1}}
	l.hint = make([]int32, len(k.code))
	for i := range l.hint {
		l.hint[i] = -1
	}
	l.touched = make([]bool, len(buffers))
	l.counts = make([]LineStats, len(k.code))
	if shape.Seed != 0 {
		l.rng = rand.New(rand.NewPCG(shape.Seed, 1))
	}
	return l
}

func (l *launch) newBlock() *cta {
	c := &cta{l: l}
	bytes := l.k.SharedBytes
	if l.shape.Shared > 0 {
		bytes = l.k.dynamicAt() + l.shape.Shared
	}
	// Eight-byte cells, because atomics need the alignment.
	cells := make([]uint64, (bytes+7)/8+1)
	c.shared = unsafe.Slice((*byte)(unsafe.Pointer(&cells[0])), 8*len(cells))[:bytes]
	c.sharedDef = make([]byte, bytes)
	for id := range (l.shape.Block + warpSize - 1) / warpSize {
		c.warps = append(c.warps, newWarp(c, id))
	}
	return c
}

// start makes the block the one with a number, from its first instruction on.
func (c *cta) start(id int) {
	c.id = id
	clear(c.sharedDef)
	for _, w := range c.warps {
		w.reset()
	}
}

// run simulates all blocks. A fault of the simulator itself, or memory that was registered but is
// not there, must not take the process down.
func (l *launch) run() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Kind: Internal, Kernel: l.k.Name, Block: l.running.id, Warp: -1, Lane: -1, Msg: fmt.Sprint(r)}
		}
	}()
	var e *Error
	if l.rng != nil {
		e = l.runDrawn()
	} else {
		e = l.runInOrder()
	}
	if e != nil {
		return e
	}
	return nil
}

// runInOrder lets block after block run, and the warps of a block take turns until all have ended.
func (l *launch) runInOrder() *Error {
	c := l.newBlock()
	l.running = c
	for id := range l.shape.Grid {
		c.start(id)
		for !c.done() {
			for _, w := range c.warps {
				if w.state != warpReady {
					continue
				}
				if e := l.turn(w, slice); e != nil {
					return e
				}
			}
			if e := c.meet(); e != nil {
				return e
			}
		}
	}
	return nil
}

// runDrawn lets the warps of several blocks run in drawn turns. A block that has ended makes room
// for one that is drawn from those that have not started.
func (l *launch) runDrawn() *Error {
	waiting := l.rng.Perm(l.shape.Grid)
	var resident []*cta
	for range min(l.shape.Grid, max(1, l.shape.Resident)) {
		c := l.newBlock()
		c.start(waiting[0])
		waiting, resident = waiting[1:], append(resident, c)
	}
	for len(resident) > 0 {
		i := l.rng.IntN(len(resident))
		c := resident[i]
		l.running = c
		w := c.warps[l.rng.IntN(len(c.warps))]
		if w.state != warpReady {
			continue // who waits or has ended leaves the turn to others
		}
		if e := l.turn(w, l.drawTurn()); e != nil {
			return e
		}
		if w.state == warpReady {
			continue
		}
		if e := c.meet(); e != nil {
			return e
		}
		if c.done() {
			if len(waiting) > 0 {
				c.start(waiting[0])
				waiting = waiting[1:]
			} else {
				resident = append(resident[:i], resident[i+1:]...)
			}
		}
	}
	return nil
}

// drawTurn is the length of a turn: short ones part what belongs together, long ones let a warp get
// far ahead of others.
func (l *launch) drawTurn() int {
	n := 1 + l.rng.IntN(64)
	if l.rng.IntN(16) == 0 {
		n *= 16
	}
	return n
}

// turn lets a warp run, within the limits of the launch.
func (l *launch) turn(w *warp, instructions int) *Error {
	if l.steps >= l.dev.StepLimit {
		return w.fault(w.at(), -1, StepLimit, "%d warp instructions", l.dev.StepLimit)
	}
	if l.steps >= l.nextLook {
		l.nextLook = l.steps + ctxEvery
		if err := l.ctx.Err(); err != nil {
			e := w.fault(w.at(), -1, Cancelled, "")
			e.Err = err
			return e
		}
	}
	return w.run(instructions)
}

func (c *cta) done() bool {
	for _, w := range c.warps {
		if w.state != warpDone {
			return false
		}
	}
	return true
}

// meet lets go the warps at every barrier that has all it waits for. Warps that wait while nobody
// runs any more will wait for ever.
func (c *cta) meet() *Error {
	if c.release() {
		return nil
	}
	var waiting *warp
	for _, w := range c.warps {
		switch w.state {
		case warpReady:
			return nil
		case warpWaiting:
			if waiting == nil {
				waiting = w
			}
		}
	}
	if waiting == nil {
		return nil
	}
	return c.deadlock(waiting)
}

func (c *cta) release() bool {
	var threads, want [16]int
	for _, w := range c.warps {
		if w.state == warpWaiting {
			threads[w.barrier] += warpSize
			want[w.barrier] = w.barrierCount
		}
	}
	all := 0 // threads that a barrier without a count waits for
	for _, w := range c.warps {
		if w.state != warpDone || c.l.dev.Strict {
			all += warpSize
		}
	}
	any := false
	for id := range threads {
		if want[id] == 0 {
			want[id] = all
		}
		if threads[id] == 0 || threads[id] < want[id] {
			continue
		}
		any = true
		c.l.stats.Barriers++
		for _, w := range c.warps {
			if w.state == warpWaiting && w.barrier == id {
				w.state = warpReady
			}
		}
	}
	return any
}

// deadlock describes warps that wait for ever.
func (c *cta) deadlock(waiting *warp) *Error {
	var other *warp
	for _, w := range c.warps {
		if w.state == warpDone || w.barrier != waiting.barrier {
			other = w
			break
		}
	}
	code := c.l.k.code
	in := &code[waiting.barrierPC]
	switch {
	case other == nil:
		return waiting.fault(in, -1, Deadlock, "the barrier waits for %d threads, the block has fewer", waiting.barrierCount)
	case other.state == warpDone:
		return waiting.fault(in, -1, Deadlock, "warp %d has ended and will not come", other.id)
	}
	return waiting.fault(in, -1, Deadlock, "warp %d waits at line %d for barrier %d", other.id,
		code[other.barrierPC].line, other.barrier)
}

// finish sums up the counters of the instructions.
func (l *launch) finish() Stats {
	l.stats.Lines = make([]LineStats, len(l.k.module.lines)+1)
	for i, c := range l.counts {
		l.stats.WarpInstrs += c.Warps
		l.stats.LaneInstrs += c.Lanes
		line := &l.stats.Lines[l.k.code[i].line]
		line.Warps += c.Warps
		line.Lanes += c.Lanes
	}
	return l.stats
}
