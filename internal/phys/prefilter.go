package phys

import "fmt"

// Prefilter is whether the CPU tests the filters of a scan whose columns stream to a GPU, and ships a bit for each row instead of the columns that
// nothing but filters reads: what the co-processing of CWI calls filter pre-computation.
type Prefilter uint8

const (
	PrefilterAuto Prefilter = iota // where it pays
	PrefilterOff                   // the GPU tests them
	PrefilterOn                    // wherever a column need not come then
)

var prefilterNames = []string{"auto", "off", "on"}

func (x Prefilter) String() string { return prefilterNames[x] }

// ParsePrefilter finds a way by its name.
func ParsePrefilter(name string) (Prefilter, error) {
	return parseChoice[Prefilter](name, prefilterNames)
}

// Unshipped is what is known of the columns that need not come.
type Unshipped struct {
	Rows    int64   // of the table
	Bits    float64 // a row that come over the bus else
	Threads int     // of the CPU that test rows meanwhile; 0: they have something else to do
}

// busRate is how many bytes large copies bring to a GPU in a second.
const busRate = 50e9

// Choose decides it for a scan of which something streams that only filters read. It pays where the bus is relieved by more time than the threads need,
// which is cpuScan for a row, and the code for that what a pipeline takes. Meanwhile the bus carries what other columns there are.
func (x Prefilter) Choose(u Unshipped) bool {
	if x != PrefilterAuto {
		return x == PrefilterOn
	}
	if u.Threads == 0 {
		return false
	}
	saved := (u.Bits - 1) / 8 / busRate * 1e9
	return float64(u.Rows)*(saved-cpuScan/float64(u.Threads)) > float64(cpuPipeline)
}

// Prefiltered is what the CPU does for a scan.
type Prefiltered struct {
	Filters int // that it tests; 0: none
	Columns int // that need not come then
}

func (p Prefiltered) String() string {
	return fmt.Sprintf("the CPU tests %s: a bit a row instead of %s", plural(p.Filters, "filter"), plural(p.Columns, "column"))
}
