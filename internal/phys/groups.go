package phys

import (
	"fmt"
	"math/bits"
)

// GroupMode is where groups live.
type GroupMode uint8

const (
	Ungrouped   GroupMode = iota // one tuple
	ArrayGroups                  // a slot for each combination of key values: known small domains
	HashGroups                   // a directory with linear probing: tag<<48 | address of the tuple
	DenseGroups                  // integer keys whose combinations are not many more than groups: a directory of addresses by keys
	// RunGroups: rows come in the order of the key, so that a group is a run of them. A GPU's warps take ranges of rows and write a tuple
	// for each run; a hash table has those that ranges share.
	RunGroups
	// PartGroups: rows lie side by side with those of the same slots of an array. A GPU's blocks take the slots of one part after the other to their shared memory, and write a tuple for
	// each group there.
	PartGroups
)

func (m GroupMode) String() string {
	return [...]string{"one group", "array", "hash table", "dense directory", "runs of sorted rows", "array in parts"}[m]
}

// Domain is the set of values of a key: Lo…Lo+Span-1, and NULL as one more where Null. That of a key which is no integer,
// or which may be anything, has no span.
type Domain struct {
	Lo, Span int64
	Null     bool
}

// Bits is how many hold the number of a value.
func (d Domain) Bits() int64 { return int64(bits.Len64(uint64(d.Size() - 1))) }

// Size is how many values there are, NULL among them.
func (d Domain) Size() int64 {
	if d.Null {
		return d.Span + 1
	}
	return d.Span
}

// Grouping is what is known of a grouping before its first row.
type Grouping struct {
	Domains []Domain // one per key
	Plain   bool     // there is one key, which is an integer and never NULL
	Expect  int64    // groups, as far as the optimizer says
	// NoArray: who makes a group cannot make a slot of an array, which others may use at the same time.
	NoArray  bool
	NoDirect bool // groups are not to be addressed by their keys
	NoPacked bool // several keys are not to be one number
	OneTable bool // all who make groups share one directory, so that it may be large
	// Sorted: rows come in the order of the one key, and whoever makes groups can make them of runs.
	Sorted bool
}

// Groups is how groups are kept; the same for all workers and variants of a pipeline.
type Groups struct {
	Mode    GroupMode
	Domains []Domain
	Slots   int64 // arrays and dense directories
	Part    int64 // array in parts: slots of one
	Packed  bool  // hash tables: all keys together are one number of 64 bits, and the hash tells it
	Expect  int64 // groups expected
}

func (g Groups) String() string {
	switch {
	case g.Mode == ArrayGroups || g.Mode == DenseGroups:
		return fmt.Sprintf("%s of %d slots", g.Mode, g.Slots)
	case g.Mode == PartGroups:
		return fmt.Sprintf("array of %d slots, %d at a time in shared memory", g.Slots, g.Part)
	case g.Packed:
		return "hash table by packed keys"
	}
	return g.Mode.String()
}

// A directory by key is taken when its range is at most groupFactor times the number of groups expected. One beyond wideDense must
// be filled better, as well as the slots of a hash table, since each worker has one; there is none beyond maxDense.
const (
	groupFactor = 16
	wideDense   = 1 << 24
	wideFactor  = 6
	maxDense    = 1 << 28
	sharedDense = 1 << 30 // where there is one for all

	severalDense = 1 << 20 // for several keys together

	// maxArraySlots bounds the size of a group array: it should stay in the second-level cache.
	maxArraySlots = 1 << 13
)

// ChooseGroups decides how the groups of an aggregation are kept.
func ChooseGroups(g Grouping) Groups {
	out := Groups{Mode: HashGroups, Domains: g.Domains, Expect: g.Expect}
	if len(g.Domains) == 0 {
		out.Mode, out.Slots = Ungrouped, 1
		return out
	}
	slots, width := combinations(g.Domains, g.mostDense())
	mayPack := g.Plain || !g.NoPacked
	switch {
	case slots > 0 && slots <= maxArraySlots && !g.NoDirect && !g.NoArray:
		out.Mode, out.Slots = ArrayGroups, slots
	case g.Sorted:
		out.Mode = RunGroups
	case slots > 0 && slots <= maxArraySlots && !g.NoDirect: // too few for a directory
	case slots > 0 && slots <= g.widestDense() && mayPack && !g.NoDirect:
		out.Mode, out.Slots = DenseGroups, slots
	default:
		out.Packed = !g.Plain && mayPack && width <= 64
	}
	return out
}

// combinations is how many there are of the values of all keys, 0 if too many, and how many bits hold the number of one.
func combinations(keys []Domain, most int64) (slots, width int64) {
	slots = 1
	for _, d := range keys {
		if d.Span == 0 {
			return 0, 65
		}
		if width += d.Bits(); d.Size() > most || slots*d.Size() > most {
			slots = 0
		}
		slots *= d.Size()
	}
	return slots, width
}

// mostDense bounds the slots of directories by key.
func (g *Grouping) mostDense() int64 {
	if g.OneTable {
		return sharedDense
	}
	return maxDense
}

// widestDense is the largest range of keys with a directory by key.
func (g *Grouping) widestDense() int64 {
	span := max(min(wideDense, groupFactor*g.Expect+maxArraySlots), min(g.mostDense(), wideFactor*g.Expect))
	if !g.Plain { // estimates of how many combinations there are tend to be too high
		span = min(span/4, severalDense)
	}
	return span
}
