// Package techniques names what makes queries fast, so that each can be left out.
//
// In: nothing. Out: Off, which settings fill and every room that has a technique looks at, and the switches that change how a GPU runs a query.
package techniques

// Off names the techniques that are left out. Nobody needs that but those who want to see what each
// one brings: results are the same. The zero value leaves nothing out. (What SIMD is used is one more, of the device.)
type Off struct {
	BranchFree     bool // doubtful tests, and CASE of numbers, without branches
	Prefetch       bool // looking ahead of the row at hand
	MatchedKeys    bool // keys of a found tuple are taken from the row that found it
	PostProjection bool // columns are read where they are needed, not at the scan
	RangeChecks    bool // statistics tell which checks cannot fail, and how wide numbers are
	DirectTables   bool // tables and groups addressed by the key instead of its hash
	SemiJoins      bool // filters at scans made from the keys of joins
	NarrowTuples   bool // tuples of hash tables hold integers in few bytes
	MemoryPool     bool // memory of finished queries is used again
	DirectScan     bool // columns of a table become a result without tuples between
	LateColumns    bool // columns that go straight from a scan to the result are read there, by the row's number
	LateLoads      bool // of files, only those pages of other columns are read in which rows pass the filters
	RadixSort      bool // sorting by packed keys
	BareSort       bool // rows that are nothing but sort keys are sorted without remembering where they came from
	Registers      bool // virtual registers live in machine registers
	Fusing         bool // operands in memory are read and changed where they are
	SharedSinks    bool // sinks that several pipelines fill are laid out for what all bring, not by type alone
	ThreadTrial    bool // a pipeline begins with one thread, which wakes others if there is enough to do
	LookupTables   bool // calendars and long IN lists are looked up
	TextCode       bool // generated code makes texts; else Go does
	TextMaps       bool // functions of a dictionary's texts are computed once for each entry
	PackedKeys     bool // several keys of a group are one number where their ranges allow that
	GroupParts     bool // many groups are kept by parts of the hash, which are merged one by one
	BlockGroups    bool // GPU: blocks keep few groups in their shared memory
	SortedRuns     bool // GPU: groups of a sorted column are runs of rows, without a table
	EarlyReads     bool // GPU: rows that pass a front have all their columns read at once
	EarlyPlaces    bool // GPU: where every row is written, its place is known before its values are made
	Warming        bool // GPU: what one lacks for queries that run on the CPU is made ready behind them
	History        bool // where a query runs is chosen by how long its like took before
	EarlyKernels   bool // GPU: all kernels of a query are begun to be compiled before their turn comes
	MatchQueue     bool // GPU: rows with very many matches go to a queue, from which all multiprocessors take pieces
	HostCopies     bool // GPU: columns that stream are kept by the host as the device wants them, and results land in memory that it reaches
	PackedCopies   bool // GPU: these have as few bits for each row as the greatest code needs
	PackedColumns  bool // GPU: columns that stay there have as few bits for each row as can be read without loss
	BusReads       bool // GPU: columns that stream, and that few rows need, are read over the bus
	WarpRoom       bool // GPU: warps take room for several tuples at a time
	Assembler      bool // GPU: the driver optimizes kernels when it assembles them
	QuickKernels   bool // GPU: a query that waits for the driver begins with kernels that are not optimized, where rows are few
	RegisterBound  bool // GPU: kernels that wait for memory have few registers, so that there are many threads
	RowFront       bool // GPU: lanes test several rows at a time, by wide loads
	WideRows       bool // GPU: lanes take several rows of a scan that most rows pass, by wide loads
	TopN           bool // rows that a LIMIT cuts off are dropped before they are written
}
