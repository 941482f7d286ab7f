package phys

import "fmt"

// Needs is what the kernel of a pipeline takes of a multiprocessor.
type Needs struct {
	Registers int  // of 32 bits, of a thread
	Estimated bool // nobody has assembled it: registers are what Registers says
	Shared    int  // bytes of shared memory of a block
	Code      int  // instructions that its function has, before it is assembled
	Threads   int  // that a multiprocessor holds at a time
	Most      int  // that it holds of kernels which need little
}

// Occupancy is the share of its threads that a multiprocessor can have of the kernel.
func (n Needs) Occupancy() float64 { return float64(n.Threads) / float64(n.Most) }

// Blocks is of how many blocks of so many threads a multiprocessor has the registers.
func (n Needs) Blocks(threads int) int { return multiprocessorRegisters / (n.Registers * threads) }

func (n Needs) String() string {
	about := ""
	if n.Estimated {
		about = "about "
	}
	return fmt.Sprintf("%s%d registers a thread, %d bytes of shared memory a block, %d instructions; %d of %d threads at a time", about, n.Registers, n.Shared, n.Code, n.Threads, n.Most)
}
