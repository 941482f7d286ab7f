package phys

// Capabilities are what the place where pipelines run can do, as far as decisions depend on that.
type Capabilities struct {
	Masks    bool // vector instructions that work on masks of rows
	Gather   bool // and look each row's value up in memory, which only the newest processors do well
	Late     bool // tables stay at hand for whoever reads the result
	Handing  bool // threads take rows of others at a join, with their columns, but not with their numbers
	Direct   bool // and may be what the result is read from
	Top      bool // there is a bound by which rows are dropped while they come
	Samples  bool // or a sample of them is looked at before, which bounds the others
	TextMaps bool // functions of a dictionary's texts can be worked out for all its entries before
	Unite    bool // pipelines into one sink can be looked at before the first runs
	// FewFilters: semi-join filters cost a launch each, so that a scan has one, the best, and more only where many rows are left.
	FewFilters bool
	// FreeSlots is how many slots of a table that is addressed by the key cost nothing worth mentioning; 0: as many as for a CPU.
	FreeSlots   int64
	WideBitmaps int64 // bytes that an exact set of keys may have where they are not too sparse
	Lists       bool  // groups are always listed by their addresses
	BlockShared int   // bytes of shared memory that a block of a GPU may have
}
