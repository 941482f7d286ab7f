package phys

// Capabilities are what the place where pipelines run can do, as far as decisions depend on that.
type Capabilities struct {
	Masks    bool // vector instructions that work on masks of rows
	Gather   bool // and look each row's value up in memory, which only the newest processors do well
	Late     bool // tables stay at hand for whoever reads the result
	Top      bool // there is a bound by which rows are dropped while they come
	TextMaps bool // functions of a dictionary's texts can be worked out for all its entries before
	Unite    bool // pipelines into one sink can be looked at before the first runs
	// OneFilter: a scan has one semi-join filter, the best, which it tests before it reads other columns.
	OneFilter bool
	Lists     bool // groups are always listed by their addresses
}
