package phys

import "github.com/kelpiedb/kelpie/internal/pipe"

// Dependence is what a consumer of rows needs of their producer before it can begin: the classes of Kernel Weaver. It tells where rows can stay on
// the way from one operator to the next, and what ends a kernel.
type Dependence uint8

const (
	OnThread Dependence = iota // the row that the thread itself has: it stays in registers, or is handed on in the warp
	OnBlock                    // those of the block's other threads: they meet in its shared memory
	OnKernel                   // all rows: the producer must have ended. What reads a sink is the source of another pipeline, so that no operator of one has it
)

var dependenceNames = []string{"thread", "block", "kernel"}

func (d Dependence) String() string { return dependenceNames[d] }

// DependenceAt is what operator i of a pipeline needs of the one before, or its sink where i is the number of operators. A table that rows are looked up in was finished by another
// pipeline, so that a probe needs no more than its row. Groups come together in blocks.
func DependenceAt(p *pipe.Pipeline, i int) Dependence {
	if _, groups := p.Sink.(*pipe.Aggregate); groups && i == len(p.Ops) {
		return OnBlock
	}
	return OnThread
}
