package phys

import "fmt"

// Home is where the accumulators of groups live on a GPU while rows come: the nearer to a thread, the fewer of them there is room for, and the less
// threads wait for each other (the placements of TPC-H Q1 on coprocessors, and what blocks share).
type Home uint8

const (
	HomeAuto      Home = iota
	HomeGlobal         // one table in device memory, which lanes change by atomics (Resolve says how they come together before)
	HomeLocal          // a table of each thread in its local memory
	HomeShared         // a table of each thread in shared memory, interleaved so that lanes never meet in a bank
	HomeRegisters      // a table of each thread in its registers: every row passes by all cells
	HomeLanes          // a table of some lanes of a warp, each of which has the cells of one group in registers and sees the rows of all of them
	HomeBlock          // a table of each block in shared memory, changed by atomics; groups that find no place there stay in device memory
)

var homeNames = []string{"auto", "global", "local", "shared", "registers", "lanes", "block"}

func (h Home) String() string { return homeNames[h] }

// ParseHome finds one by its name.
func ParseHome(name string) (Home, error) { return parseChoice[Home](name, homeNames) }

// Grouped is what is known of groups that want a home.
type Grouped struct {
	Slots int64 // of an array; 0: groups are in another table
	// Words of 8 bytes are what the aggregates of a group need, with a count of its rows; 0: some aggregate is more than numbers that a lane can add up.
	Words int64
	Block bool // blocks have room for the groups, or for some of them
	Apart bool // nothing is to be gathered before device memory, unless somebody wishes so
}

// Settled is the home of groups.
type Settled struct {
	Home Home
	Wish Home   // that somebody had; HomeAuto: nobody
	Why  string // the wish was not granted; "": it was
}

const (
	// maxRegisterWords are cells in registers of a thread, which has 255 of 4 bytes in all.
	maxRegisterWords = 64
	maxLaneSlots     = 32
	// maxThreadBytes bounds the shared memory that a warp takes for the tables of its threads: a block has at least two warps then.
	maxThreadBytes = maxBlockBytes / 2
	// maxLocalWords bounds the table of a thread in local memory, which a device sets aside for all threads that it can hold.
	maxLocalWords = 256
)

// ChooseHome decides where groups live. On an H200 tables of blocks are ahead of all others where they are possible (shared/notes: few groups), then come those of
// threads in shared memory; to change device memory for each row takes up to a thousand times as long.
func ChooseHome(wish Home, g Grouped) Settled {
	s := Settled{Home: HomeGlobal, Wish: wish}
	if wish != HomeAuto {
		if s.Why = g.unfit(wish); s.Why == "" {
			s.Home = wish
			return s
		}
	}
	for _, h := range []Home{HomeBlock, HomeShared} {
		if !g.Apart && g.unfit(h) == "" {
			s.Home = h
			return s
		}
	}
	return s
}

// unfit says why groups cannot live somewhere; "": they can.
func (g Grouped) unfit(h Home) string {
	cells := RoomFor(g.Slots) * g.Words
	over := func(n, most int64, what string) string {
		if n <= most {
			return ""
		}
		return fmt.Sprintf("%d %s are more than %d", n, what, most)
	}
	switch {
	case h == HomeGlobal:
		return ""
	case h == HomeBlock && g.Block:
		return ""
	case h == HomeBlock:
		return "blocks have no cells for them"
	case g.Slots == 0:
		return "they are no small array"
	case g.Words == 0:
		return "an aggregate is more than numbers"
	case h == HomeLanes:
		return over(g.Slots, maxLaneSlots, "slots")
	case h == HomeRegisters:
		return over(cells, maxRegisterWords, "words")
	case h == HomeLocal:
		return over(cells, maxLocalWords, "words")
	}
	return over(cells*8*maxLaneSlots, maxThreadBytes, "bytes of a warp")
}

// String tells it behind the table that groups are in, "" if that tells it.
func (s Settled) String() string {
	text := ""
	switch s.Home {
	case HomeGlobal:
		if s.Wish != HomeAuto {
			text = " in device memory"
		}
	case HomeLocal:
		text = " in local memory of threads"
	case HomeShared:
		text = " in shared memory of threads"
	case HomeRegisters:
		text = " in registers of threads"
	case HomeLanes:
		text = " in registers, a group for each lane"
	}
	if s.Why != "" {
		text += fmt.Sprintf(" (not %s: %s)", s.Wish, s.Why)
	}
	return text
}
