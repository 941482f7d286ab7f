package phys

import "math"

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
