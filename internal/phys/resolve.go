package phys

// Resolve is how the lanes of a GPU come together where rows meet: at the counter of a sink's tuples, in a result of one row, in groups. The less they
// settle among themselves before one atomic operation tells all, the more of those there are (HorseQC: local resolution, global propagation).
type Resolve uint8

const (
	// ResolveAuto: registers of a lane, then its warp; room for several tuples; groups in the shared memory of a block.
	ResolveAuto  Resolve = iota
	ResolveTuple         // nothing is settled: each row has its atomics
	ResolveWarp          // the lanes of a warp settle each of their rows, then one of them tells all
	// ResolveBlock: all threads of a block do, in shared memory: by a prefix sum for the places of tuples, by a tree for results of one row. Groups are left to warps.
	ResolveBlock
	ResolveSegments // likewise, and rows of groups are sorted by key, so that a group is told once
)

var resolveNames = []string{"auto", "tuple", "warp", "block", "segments"}

// ByBlock: all threads of a block settle what they can.
func (r Resolve) ByBlock() bool { return r >= ResolveBlock }

func (r Resolve) String() string { return resolveNames[r] }

// ParseResolve finds one by its name.
func ParseResolve(name string) (Resolve, error) { return parseChoice[Resolve](name, resolveNames) }
