package phys

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Launch is the shape of a kernel's launch.
type Launch struct{ Blocks, Threads int }

func (l Launch) String() string { return fmt.Sprintf("%d × %d threads", l.Blocks, l.Threads) }

// Lanes is how many threads there are.
func (l Launch) Lanes() int64 { return int64(l.Blocks) * int64(l.Threads) }

// Grid is what is known of a launch: what it has to do, what the device has, and what somebody wants.
type Grid struct {
	Items       int64
	InOrder     bool // tuples must come in the order of the items that they are made of
	Units       int  // multiprocessors of the device
	UnitThreads int  // threads that one of them holds at a time
	// MaxThreads is how many threads a block of the kernel can have; 0: as many as one likes. It may need many registers.
	MaxThreads int
	Shared     int // bytes of shared memory that each block takes
	// Resident is how many blocks of so many threads of the kernel a multiprocessor holds at a time; nil, or 0: not known.
	Resident func(threads int) int
	// Blocks and Threads are what the user wants; 0: no matter.
	Blocks, Threads int
}

const (
	warpThreads  = 32
	blockThreads = 128
	maxThreads   = 1024
	clearlyMore  = 1.25
	// muchShared is the shared memory of a block from which on it is worth having few blocks: what they take is no cache.
	muchShared   = 2 << 10
	nearlyAsMuch = 0.9
)

// blockThreads is the size of blocks of which a multiprocessor holds most threads: those that need much shared memory must be large. If that is nearly
// the same, large blocks leave more of it for a cache; where they have none, or if there is not enough to do, small blocks spread better.
func (g *Grid) blockThreads() int {
	best, most := blockThreads, 0
	if g.Resident == nil || g.Items <= int64(max(g.Units, 1)*blockThreads*g.Resident(blockThreads)) {
		return best
	}
	enough := clearlyMore
	if g.Shared >= muchShared {
		enough = nearlyAsMuch
	}
	for n := blockThreads; n <= maxThreads && (g.MaxThreads == 0 || n <= g.MaxThreads); n *= 2 {
		if all := n * g.Resident(n); float64(all) > enough*float64(most) {
			best, most = n, max(all, most)
		}
	}
	return best
}

// ChooseLaunch decides the shape of a launch: as many blocks as the device holds at a time, and no more than there is work for.
func ChooseLaunch(g Grid) Launch {
	if g.InOrder { // warps take places for tuples as they come, the lanes of one by their numbers
		return Launch{Blocks: 1, Threads: warpThreads}
	}
	l := Launch{Blocks: g.Blocks, Threads: g.Threads}
	if l.Threads <= 0 {
		l.Threads = g.blockThreads()
	}
	units := max(g.Units, 1)
	full := units * (max(g.UnitThreads, l.Threads) / l.Threads)
	work := max((g.Items+int64(l.Threads)-1)/int64(l.Threads), 1)
	if most := g.MaxThreads / warpThreads * warpThreads; most > 0 {
		l.Threads = min(l.Threads, most)
	}
	if l.Blocks > 0 {
		return l
	}
	l.Blocks = int(min(int64(full), work))
	if g.Resident != nil {
		if n := g.Resident(l.Threads); n > 0 {
			l.Blocks = min(l.Blocks, n*units)
		}
	}
	return l
}

// MostLanes is how many threads a launch has at the most, whatever its kernel needs: a number of blocks that somebody wants says nothing of their size.
func MostLanes(g Grid) int64 {
	l := ChooseLaunch(g)
	if g.Blocks > 0 && g.Threads <= 0 {
		l.Threads = maxThreads
	}
	return l.Lanes()
}

// KeepsOrder reports that the rows of a pipeline's source have an order that whoever reads its sink relies on: they were sorted, and
// since then no operator has had another way to hand them on. ordered tells which sinks, beside those that sort, are in order.
func KeepsOrder(p *pipe.Pipeline, ordered func(pipe.Sink) bool) bool {
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
		return ok && len(c.Keys) > 0 || ordered(src.Of)
	case *pipe.Stage:
		return ordered(src)
	}
	return false
}

// manyTuples is the number from which on warps of a GPU take room for several tuples at a time: all take it from one counter, which is what holds
// them up where many write. Less pays only for the kernels that then close the gaps.
const manyTuples = 1 << 20

// veryMany is the number from which on they take room for more: 1.3 billion times a second is what the counter stands, and where a lane takes several rows at a time, each tuple is
// written in a fraction of that. What warps leave of it is a million tuples at the most.
const veryMany = 1 << 22

// Room is what is known of the room that warps of a GPU take for tuples.
type Room struct {
	Off bool  // warps take as much as their lanes write at the moment
	Own int64 // somebody wants so many tuples; 0: no matter
}

// Takes is the number of tuples for which a warp takes room at a time, if so many are expected; 0: as many as its lanes write at the moment.
func (r Room) Takes(expect int64) int64 {
	switch {
	case r.Off || expect == 0: // nobody knows
		return 0
	case r.Own > 0:
		return r.Own
	case expect < manyTuples:
		return 0
	case expect < veryMany:
		return 64
	}
	return 256
}
