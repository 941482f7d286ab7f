package phys

import "fmt"

// Block is how each block of a GPU keeps the slots of a group array in its shared memory, so that a row costs atomics there and
// not in the device's. Several copies keep lanes that meet in one group from waiting for each other.
type Block struct {
	Copies int64
	Slots  int64 // that there is room for
	// Cache: groups are in device memory, and blocks keep the sums of those for which they find a slot.
	Cache bool
}

func (b Block) String() string {
	switch {
	case b.Cache:
		return fmt.Sprintf("behind %d slots in shared memory", b.Slots)
	case b.Copies == 0:
		return "in device memory"
	case b.Copies == 1:
		return "in shared memory"
	}
	return fmt.Sprintf("in shared memory, %d copies", b.Copies)
}

const (
	maxBlockBytes  = 48 << 10 // what every device gives to a block
	fullBlockBytes = 24 << 10 // with which a device still holds as many threads as it can
	maxCopies      = 32
	manySlots      = 32 // that many groups meet seldom: fewer copies do
	someCopies     = 8
)

// ChooseBlock decides whether blocks keep an array of so many slots, each of which needs so many bytes there.
func ChooseBlock(slots, slotBytes int64) Block {
	slots = RoomFor(slots)
	bytes := slots * slotBytes
	if bytes > maxBlockBytes {
		return Block{}
	}
	most := int64(maxCopies)
	if slots > manySlots {
		most = someCopies
	}
	b := Block{Copies: 1, Slots: slots}
	for b.Copies < most && bytes*b.Copies*2 <= fullBlockBytes {
		b.Copies *= 2
	}
	return b
}

const (
	// maxCached is the number of groups from which on few rows find theirs in a block's slots, unless some groups have most of the rows.
	maxCached   = 1 << 18
	leastCached = 64
	cacheFill   = 4 // slots for each group: all find one then
)

// ChooseCache decides whether blocks keep some of the groups that are expected, each of which needs so many bytes there. Groups that
// have rows early get a slot, and those that find none are changed in the device's memory.
func ChooseCache(expect, slotBytes int64) Block {
	if expect > maxCached {
		return Block{}
	}
	b := Block{Slots: leastCached, Copies: 1, Cache: true}
	for b.Slots*2*slotBytes <= maxBlockBytes {
		b.Slots *= 2
	}
	if b.Slots*slotBytes > maxBlockBytes {
		return Block{}
	}
	for b.Copies < someCopies && 2*b.Copies*cacheFill*max(expect, 1) <= b.Slots {
		b.Copies *= 2
	}
	return b
}

// RoomFor is a number of slots for which a block has room if it must have some for n: a power of two, or three quarters of
// one, so that the same code serves other domains of keys.
func RoomFor(n int64) int64 {
	p := int64(1)
	for p < n {
		p *= 2
	}
	if p >= 4 && p/4*3 >= n {
		return p / 4 * 3
	}
	return p
}
