package layout

// TableKind is how a join's build side is organized for probing. It is chosen
// when the build side is complete, so from facts rather than estimates.
type TableKind uint8

const (
	// List: all tuples in one array; a probe visits every one (joins without keys).
	List TableKind = iota
	// Direct: one integer key, unique and dense. Slots[key-Min] is a uint32: how many words behind Tuples the
	// tuple lies, 0 none.
	Direct
	// Open: unique keys. Slots[hash & mask …] is a uint64, linear probing: tag (top 16 bits of
	// the hash) << 48 | address of the tuple; 0 is empty.
	Open
	// Buckets: any keys. Tuples lie sorted by bucket (top Bits of the hash) in one array. Slots[1+b] is a uint64:
	// end of bucket b << 16 | filter bits; bucket b begins where b-1 ends (Slots[0] holds the begin of the first).
	Buckets
	// DenseBuckets: one dense integer key with duplicates. Slots[k] is a uint32: the tuples
	// of key Min+k are those from Slots[k] to Slots[k+1].
	DenseBuckets
)

func (k TableKind) String() string {
	return [...]string{"list", "direct", "open", "buckets", "dense buckets"}[k]
}

// Unique reports that a probe finds at most one tuple.
func (k TableKind) Unique() bool { return k == Direct || k == Open }

// HashTag is how the filter bits of a Buckets directory are drawn from a hash: bit number
// (hash >> FilterShift) & 15.
const FilterShift = 4

// TagShift moves the part of a hash that Open slots and group directories keep beside an address.
const (
	TagShift = 48
	TagMask  = 1<<64 - 1<<TagShift
	AddrMask = 1<<48 - 1
)

// PartShift is the first bit of a hash that says which part a group belongs to, where there are parts: the bits below are
// for slots, those above for tags.
const PartShift = 40

// FilterKind is how a semi-join filter stores its set.
type FilterKind uint8

const (
	RangeOnly FilterKind = iota
	Bitmap               // a bit for each value of the range
	Bloom                // two bits of a word for each hash
)

// Table is a finished build side: what a probe is compiled against, and where it lies.
type Table struct {
	Kind  TableKind
	Tuple *Tuple
	Rows  int64
	Min   int64 // Direct, DenseBuckets: the smallest key
	Span  int64 // Direct, DenseBuckets: largest - smallest + 1
	Bits  uint8 // Open, Buckets: log2 of the number of slots
	// SawNull: a row with a NULL key was left out (mark joins must know).
	SawNull bool
	// KeyRange bounds an integer key; semi-join filters use it.
	KeyRange []Range

	// Runs tell how the candidates of probes are spread, where somebody has counted.
	Runs Runs

	Slots  uintptr
	Tuples uintptr
}

// Runs are the candidates that lie side by side, since they have one key or are in one bucket.
type Runs struct {
	Keys    int64   // runs that are not empty; 0: nobody has counted
	Longest int64   // the tuples of the longest
	Squares float64 // the sum of the squares of all lengths
}

// Bytes is about how much memory lookups reach.
func (t *Table) Bytes() int64 {
	slots := int64(8) << t.Bits
	if t.Kind == Direct || t.Kind == DenseBuckets {
		slots = 4 * t.Span
	}
	return slots + t.Rows*int64(t.Tuple.Size)
}
