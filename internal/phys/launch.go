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
	// Resident is how many blocks of so many threads of the kernel a multiprocessor holds at a time; nil, or 0: not known.
	Resident func(threads int) int
	// Blocks and Threads are what the user wants; 0: no matter.
	Blocks, Threads int
}

const (
	warpThreads  = 32
	blockThreads = 256
)

// ChooseLaunch decides the shape of a launch: as many blocks as the device holds at a time, and no more than there is work for.
func ChooseLaunch(g Grid) Launch {
	if g.InOrder { // warps take places for tuples as they come, the lanes of one by their numbers
		return Launch{Blocks: 1, Threads: warpThreads}
	}
	l := Launch{Blocks: g.Blocks, Threads: g.Threads}
	if l.Threads <= 0 {
		l.Threads = blockThreads
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
