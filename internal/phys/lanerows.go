package phys

import "fmt"

// LaneRows is how many rows of a scan without a front a lane of a GPU takes at a time: their columns are read by wide loads, and the
// code for a row stands there once for each.
type LaneRows struct {
	Rows int // 0: one, by plain loads
	Side int // of these lie side by side: as many as a load of the widest column has
	// Joined: those that are written get their places together.
	Joined bool
}

func (n LaneRows) String() string { return fmt.Sprintf("%d rows a lane by wide loads", n.Rows) }

// RowCode is what is known of the code for a row.
type RowCode struct {
	Together bool    // lanes of a warp do something together for each row
	Writes   float64 // the share of rows that they write; 0: they write none
	Kept     int     // words of a row that are written
	Instrs   int
	Bytes    int // of columns that every row reads, those that wide loads can have
	Widest   int // of these, those that are packed aside
	Others   int // values of columns that every row reads and that they cannot have
	Most     int // rows that a lane may take at the most; 0: as many as pay
}

const (
	mostLaneRows = 8
	// mostInstrs bounds the code for all rows of a lane: a driver compiles some thousand instructions in 10 ms, and more do not stay
	// in the cache of a multiprocessor.
	mostInstrs = 1000
	// mostLaneBytes is what registers hold of columns at a time: 24 of the 64 with which a multiprocessor holds half of the threads that it can.
	mostLaneBytes = 96
	// worthWriting is the share of rows that must be written if columns of all are read: where one in four is, hardly a sector of a column is not read in any case.
	worthWriting = 0.25
	// mostKept bounds the words that wait in registers until it is known where rows are written.
	mostKept = 16
)

// loadBytes is what a lane loads at a time, at the most.
const loadBytes = 16

// ChooseLaneRows decides how many rows a lane takes.
func ChooseLaneRows(c RowCode) LaneRows {
	if c.Together || c.Bytes == 0 || c.Others > 0 || c.Writes > 0 && c.Writes < worthWriting {
		return LaneRows{}
	}
	joins := c.Writes > 0 && mostLaneRows/2*c.Kept <= mostKept
	for n := mostLaneRows; n >= mostLaneRows/2; n /= 2 {
		if (c.Most == 0 || n <= c.Most) && n*c.Bytes <= mostLaneBytes && n*c.Instrs <= mostInstrs && (!joins || n*c.Kept <= mostKept) {
			return LaneRows{Rows: n, Side: min(n, loadBytes/max(c.Widest, 1)), Joined: joins}
		}
	}
	return LaneRows{}
}

// mostRunWords is how many numbers of rows a lane keeps at a time, until those of one run are added up. With 12 instead, kernels want more than 64 registers.
const mostRunWords = 8

// ChooseRunRows decides how many rows a lane takes where a group is a run of them: all lie side by side. A row is so many numbers then, its key and what it brings to aggregates.
func ChooseRunRows(c RowCode, words int) LaneRows {
	n := ChooseLaneRows(c).Side
	for n*words > mostRunWords {
		n /= 2
	}
	if n < 2 {
		return LaneRows{}
	}
	return LaneRows{Rows: n, Side: n}
}
