package simt

// Stats is what a launch did. A warp instruction counts once however many lanes
// it serves; lanes whose guard predicate is false count as active, since they
// take part in issuing it.
type Stats struct {
	WarpInstrs     uint64
	LaneInstrs     uint64               // sum of active lanes over WarpInstrs
	Active         [warpSize + 1]uint64 // warp instructions by number of active lanes
	SectorsRead    uint64               // 32-byte sectors of global memory, per warp instruction
	SectorsMade    uint64               // of those, what lies in memory that kernels have written at some time: tables and such, but no columns
	SectorsWritten uint64               //
	SectorsHost    uint64               // of both, those that lie in host memory: they cross the bus
	TouchedRead    uint64               // sectors of the device's own memory that were read or changed, each counted once in a launch
	TouchedWritten uint64               // and those that were written or changed: as if a cache kept all until the launch ends
	SharedBytes    uint64               // read and written in shared memory by lanes; an atomic does both
	LocalBytes     uint64               // and in their local memory
	Atomics        uint64               // lanes' atomics on global memory
	SharedAtomics  uint64               // and on shared memory
	Barriers       uint64               // times that a block's warps met at a barrier
	Divergences    uint64               // branches at which a warp's lanes parted
	Lines          []LineStats          // by line of the PTX text (1-based)
}

// LineStats is the work of one source line.
type LineStats struct {
	Warps uint64 // warp instructions
	Lanes uint64 // sum of their active lanes
}

// Activity is the mean part of a warp's lanes that were active, 0 to 1.
func (s *Stats) Activity() float64 {
	if s.WarpInstrs == 0 {
		return 0
	}
	return float64(s.LaneInstrs) / float64(warpSize*s.WarpInstrs)
}

// Add adds the work of another launch; lines only make sense if it ran a kernel
// of the same module.
func (s *Stats) Add(o *Stats) {
	s.WarpInstrs += o.WarpInstrs
	s.LaneInstrs += o.LaneInstrs
	for i, n := range o.Active {
		s.Active[i] += n
	}
	s.SectorsRead += o.SectorsRead
	s.SectorsMade += o.SectorsMade
	s.SectorsWritten += o.SectorsWritten
	s.SectorsHost += o.SectorsHost
	s.TouchedRead += o.TouchedRead
	s.TouchedWritten += o.TouchedWritten
	s.SharedBytes += o.SharedBytes
	s.LocalBytes += o.LocalBytes
	s.Atomics += o.Atomics
	s.SharedAtomics += o.SharedAtomics
	s.Barriers += o.Barriers
	s.Divergences += o.Divergences
	if len(s.Lines) < len(o.Lines) {
		s.Lines = append(s.Lines, make([]LineStats, len(o.Lines)-len(s.Lines))...)
	}
	for i, n := range o.Lines {
		s.Lines[i].Warps += n.Warps
		s.Lines[i].Lanes += n.Lanes
	}
}

// Sub takes the work of launches away that were added before; lines stay.
func (s *Stats) Sub(o *Stats) {
	s.WarpInstrs -= o.WarpInstrs
	s.LaneInstrs -= o.LaneInstrs
	for i, n := range o.Active {
		s.Active[i] -= n
	}
	s.SectorsRead -= o.SectorsRead
	s.SectorsMade -= o.SectorsMade
	s.SectorsWritten -= o.SectorsWritten
	s.SectorsHost -= o.SectorsHost
	s.TouchedRead -= o.TouchedRead
	s.TouchedWritten -= o.TouchedWritten
	s.SharedBytes -= o.SharedBytes
	s.LocalBytes -= o.LocalBytes
	s.Atomics -= o.Atomics
	s.SharedAtomics -= o.SharedAtomics
	s.Barriers -= o.Barriers
	s.Divergences -= o.Divergences
}
