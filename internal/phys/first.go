package phys

import "time"

// CPUFirst is whether a query for which a GPU lacks code or columns begins on the CPU, and the GPU takes over rows when it is ready.
type CPUFirst uint8

const (
	CPUFirstOff  CPUFirst = iota // it waits for the GPU
	CPUFirstOn                   // whatever the GPU lacks
	CPUFirstAuto                 // if the GPU lacks code, or so much of the columns that they are worth to be shared
)

var cpuFirstNames = []string{"off", "on", "auto"}

func (x CPUFirst) String() string { return cpuFirstNames[x] }

// ParseCPUFirst finds a way by its name.
func ParseCPUFirst(name string) (CPUFirst, error) { return parseChoice[CPUFirst](name, cpuFirstNames) }

// Choose decides it for a query whose code is compiled, and of whose columns so many bytes are not on the GPU.
func (x CPUFirst) Choose(compiled bool, absent int64) bool {
	switch x {
	case CPUFirstOn:
		return !compiled || absent > 0
	case CPUFirstAuto:
		return !compiled || absent >= worthSharing
	}
	return false
}

// FirstCode is the processor time that compiling a pipeline's kernels takes, for which the threads of the CPU make way.
const FirstCode = 50 * time.Millisecond

const (
	// mostLoss is the part of its time that a query may lose to a GPU that does not come to help in the end.
	mostLoss = 0.04
	// leastRest is what must be left for anybody to be asked for help.
	leastRest = 3 * time.Millisecond
)

// JoinPays decides that a GPU begins to prepare for a running pipeline, which takes so much processor time: the CPU has come to a part of the rows by now, with so many threads.
// What is lost if the CPU is done before must be little of the whole.
func JoinPays(effort, now time.Duration, part float64, threads int) bool {
	if part <= 0 {
		return false
	}
	all := float64(now) / part
	return all-float64(now) >= float64(leastRest) && float64(effort)/float64(max(threads, 1)) <= mostLoss*all
}
