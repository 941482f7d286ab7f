package phys

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Demand is what the kernel of a pipeline is estimated to want of a multiprocessor.
type Demand struct {
	Registers int // of 32 bits, of a thread
	Block     int // bytes of shared memory of each block,
	Warp      int // and of each warp beside that
}

const (
	// multiprocessorThreads and multiprocessorShared are what an sm_90 has, blockShared is what a block of its may have of that, reservedShared what each block costs beside.
	multiprocessorThreads = 2048
	multiprocessorShared  = 228 << 10
	blockShared           = 227 << 10
	reservedShared        = 1 << 10
)

// Threads is for how many a multiprocessor has shared memory, in blocks of the best size.
func (d Demand) Threads() (most int) {
	for n := warpThreads; n <= maxThreads; n *= 2 {
		if bytes := d.Block + d.Warp*n/warpThreads; bytes <= blockShared {
			most = max(most, n*(multiprocessorShared/(bytes+reservedShared)))
		}
	}
	return min(most, multiprocessorThreads)
}

// Cost is the registers of a thread, or as many as there are for each of the threads that shared memory leaves room for, if that is more.
func (d Demand) Cost() int {
	if n := d.Threads(); n < multiprocessorThreads {
		return max(d.Registers, multiprocessorRegisters/max(n, warpThreads))
	}
	return d.Registers
}

// over tells what is too much.
func (d Demand) over(allowed int) string {
	if d.Registers > allowed {
		return fmt.Sprintf("%d registers estimated, %d allowed", d.Registers, allowed)
	}
	return fmt.Sprintf("shared memory for %d threads, %d wanted (%d bytes a warp, %d a block)", d.Threads(), min(multiprocessorRegisters/allowed, multiprocessorThreads), d.Warp, d.Block)
}

// RoomToWait reports that enough threads find shared memory if warps take so many bytes of it for rows that wait.
func RoomToWait(warp int) bool { return Demand{Warp: warp}.Threads() >= wantedThreads }

// MayPark reports that rows of a pipeline may wait at several places, for which its warps need shared memory.
func (r Refill) MayPark(p *pipe.Pipeline) bool {
	if r.At(p) != RefillFlush {
		return false
	}
	places := 0
	if drops(p.Source) {
		places++
	}
	for _, op := range p.Ops {
		switch op.(type) {
		case *pipe.Filter, *pipe.Probe:
			places++
		}
	}
	return places > 1
}
