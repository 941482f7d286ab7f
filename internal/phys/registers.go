package phys

// Kernel is what is known of a kernel's code when it is written.
type Kernel struct {
	Scans    bool // a table
	Looks    bool // rows are looked up in tables or sets of keys
	Shared   int  // bytes of shared memory that each block takes
	Pressure int  // about how many registers of 32 bits it wants at a time
}

const (
	// fullRegisters is how many a thread may have if a multiprocessor is to hold as many threads as it can.
	fullRegisters = 32
	// Below fewWanted assemblers take no more than that of themselves; beyond manyWanted they spill with so few.
	fewWanted  = 24
	manyWanted = 40
)

// ChooseBound decides how many registers of a kernel are worth having; 0: as many as an assembler likes. Rows that are looked up wait for
// memory, and what hides that is other threads. Blocks with much shared memory are large, and if one of them does not
// fit beside another, half of the threads are missing.
func ChooseBound(k Kernel) int {
	if !k.Scans || !k.Looks && k.Shared < muchShared || k.Pressure < fewWanted || k.Pressure > manyWanted {
		return 0
	}
	return fullRegisters
}
