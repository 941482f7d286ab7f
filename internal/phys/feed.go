package phys

import (
	"fmt"
	"math"
)

// Feed is how the columns of tables come to a GPU.
type Feed uint8

const (
	// FeedResident: they stay there between queries; where they find no room, they come in batches.
	FeedResident Feed = iota
	// FeedRunToFinish: all columns of a query come before its first kernel, and go with it.
	FeedRunToFinish
	// FeedKernelAtATime: nothing stays. A block of rows comes, a kernel takes it, then comes the next.
	FeedKernelAtATime
	// FeedBatch: nothing stays. While a kernel is at a block of rows, the next is on its way.
	FeedBatch
)

var feedNames = []string{"resident", "run_to_finish", "kernel_at_a_time", "batch"}

func (x Feed) String() string { return feedNames[x] }

// ParseFeed finds a way by its name.
func ParseFeed(name string) (Feed, error) { return parseChoice[Feed](name, feedNames) }

// Keeps reports that columns may be used that are on the device already, and stay there.
func (x Feed) Keeps() bool { return x == FeedResident }

// Whole reports that a column comes as a whole, if there is room for it.
func (x Feed) Whole() bool { return x == FeedResident || x == FeedRunToFinish }

// Stream is how a scan's rows come to a GPU in chunks.
type Stream struct {
	Chunks  int   // 0: they are there
	Rows    int64 // of a chunk
	Over    int   // columns that are read over the bus instead
	Packed  int   // columns that come in as few bits as they need
	Overlap bool  // chunks are copied while kernels run
}

func (s Stream) String() string {
	text := fmt.Sprintf("streams %s of %d rows", plural(s.Chunks, "chunk"), s.Rows)
	if !s.Overlap {
		text += ", each before its kernel"
	}
	if s.Packed > 0 {
		text += fmt.Sprintf(", %s packed", plural(s.Packed, "column"))
	}
	if s.Over > 0 {
		text += fmt.Sprintf(", %s over the bus row by row", plural(s.Over, "column"))
	}
	return text
}

const (
	// busSector is what a kernel gets at least when it reads memory of the host.
	busSector = 32
	// worthOver is the share of a column's sectors up to which kernels read those over the bus rather than have all copied: single
	// sectors take the bus up for longer than their part of a large copy.
	worthOver = 0.5
)

// ReadOverBus decides that a column of so many bytes a row stays in the host's memory, where a share of all rows, spread evenly, reads it.
func ReadOverBus(share float64, width int) bool {
	touched := 1 - math.Pow(1-min(share, 1), math.Max(1, busSector/float64(max(width, 1))))
	return touched <= worthOver
}
