package simt

import (
	"context"
	"fmt"
	"runtime/debug"
	"unsafe"
)

// launch is one kernel run: the state of the block that is being simulated and
// the counters of all.
type launch struct {
	ctx       context.Context
	k         *Kernel
	strict    bool
	buffers   []buffer
	hint      []int32 // by instruction: the buffer that it found last
	grid      int
	blockDim  int
	block     int // running now
	warps     []*warp
	shared    []byte
	sharedDef []byte // 0xff for every byte of shared that was written
	steps     uint64
	limit     uint64
	nextLook  uint64 // at the context
	counts    []LineStats
	stats     Stats
	sectors   sectorSet
}

func newLaunch(ctx context.Context, dev *Device, buffers []buffer, k *Kernel, grid, block int, params []uint64) *launch {
	l := &launch{ctx: ctx, k: k, strict: dev.Strict, buffers: buffers, grid: grid, blockDim: block, limit: dev.StepLimit}
	l.hint = make([]int32, len(k.code))
	l.counts = make([]LineStats, len(k.code))
	// Eight-byte cells, because atomics need the alignment.
	cells := make([]uint64, (k.SharedBytes+7)/8+1)
	l.shared = unsafe.Slice((*byte)(unsafe.Pointer(&cells[0])), 8*len(cells))[:k.SharedBytes]
	l.sharedDef = make([]byte, k.SharedBytes)
	for id := range (block + warpSize - 1) / warpSize {
		l.warps = append(l.warps, newWarp(l, id, params))
	}
	return l
}

// run simulates block after block. A fault of the simulator itself, or memory
// that was registered but is not there, must not take the process down.
func (l *launch) run() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = &Error{Kind: Internal, Kernel: l.k.Name, Block: l.block, Warp: -1, Lane: -1, Msg: fmt.Sprint(r)}
		}
	}()
	for l.block = range l.grid {
		if e := l.runBlock(); e != nil {
			return e
		}
	}
	return nil
}

// runBlock lets the warps take turns until all have ended.
func (l *launch) runBlock() *Error {
	clear(l.sharedDef)
	for _, w := range l.warps {
		w.reset()
	}
	for {
		running := false
		for _, w := range l.warps {
			if w.state != warpReady {
				continue
			}
			if e := l.check(w); e != nil {
				return e
			}
			if e := w.run(slice); e != nil {
				return e
			}
			running = running || w.state == warpReady
		}
		if released := l.release(); released || running {
			continue
		}
		for _, w := range l.warps {
			if w.state == warpWaiting {
				return l.deadlock()
			}
		}
		return nil
	}
}

// check looks at the limits before a warp's turn.
func (l *launch) check(w *warp) *Error {
	if l.steps >= l.limit {
		return w.fault(w.at(), -1, StepLimit, "%d warp instructions", l.limit)
	}
	if l.steps >= l.nextLook {
		l.nextLook = l.steps + ctxEvery
		if err := l.ctx.Err(); err != nil {
			e := w.fault(w.at(), -1, Cancelled, "")
			e.Err = err
			return e
		}
	}
	return nil
}

// release lets go the warps at every barrier that has all it waits for.
func (l *launch) release() bool {
	var threads, want [16]int
	for _, w := range l.warps {
		if w.state == warpWaiting {
			threads[w.barrier] += warpSize
			want[w.barrier] = w.barrierCount
		}
	}
	all := 0 // threads that a barrier without a count waits for
	for _, w := range l.warps {
		if w.state != warpDone || l.strict {
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
		l.stats.Barriers++
		for _, w := range l.warps {
			if w.state == warpWaiting && w.barrier == id {
				w.state = warpReady
			}
		}
	}
	return any
}

// deadlock describes warps that wait for ever.
func (l *launch) deadlock() *Error {
	var waiting, other *warp
	for _, w := range l.warps {
		if w.state == warpWaiting && waiting == nil {
			waiting = w
		}
	}
	for _, w := range l.warps {
		if w.state == warpDone || w.barrier != waiting.barrier {
			other = w
			break
		}
	}
	in := &l.k.code[waiting.barrierPC]
	switch {
	case other == nil:
		return waiting.fault(in, -1, Deadlock, "the barrier waits for %d threads, the block has fewer", waiting.barrierCount)
	case other.state == warpDone:
		return waiting.fault(in, -1, Deadlock, "warp %d has ended and will not come", other.id)
	}
	return waiting.fault(in, -1, Deadlock, "warp %d waits at line %d for barrier %d", other.id,
		l.k.code[other.barrierPC].line, other.barrier)
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
