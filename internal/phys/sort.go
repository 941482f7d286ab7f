package phys

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Wanted is how many of n rows, in their order, a sink needs to know.
func Wanted(s *pipe.Collect, n int64) int64 {
	if s.Limit < 0 || s.Limit >= n-s.Offset {
		return n
	}
	return s.Limit + s.Offset
}

// Top is how workers keep the first rows of an order: each in a buffer a few times as large as what is wanted, from which all but the
// best are dropped when it is full. The worst of these is the bound by which generated code drops rows.
type Top struct {
	Rows int64 // wanted; 0 with no room: all rows are kept, and sorted as a whole
	Room int64 // tuples in a worker's buffer
}

func (t Top) String() string {
	if t.Room == 0 {
		return "all rows"
	}
	return fmt.Sprintf("the first %d, %d at a time", t.Rows, t.Room)
}

const (
	topRows  = 1 << 11  // tuples of a buffer at least
	topTimes = 4        // of the rows that are wanted
	topBytes = 32 << 20 // of a buffer at most

	// LeastTuple is the size of a tuple, at least: decisions can be asked for before it is known.
	LeastTuple = 8
)

// ChooseTop decides whether only the first rows of a sink are kept, with tuples of so many bytes.
func ChooseTop(s *pipe.Collect, size int) Top {
	rows := s.Limit + s.Offset
	if len(s.Keys) == 0 || s.Limit < 0 || rows < 0 || rows > topBytes {
		return Top{}
	}
	room := max(rows*topTimes, topRows)
	if room*int64(size) > topBytes {
		return Top{}
	}
	return Top{Rows: rows, Room: room}
}

// Sort is who sorts rows that are in the memory of a GPU.
type Sort struct {
	Here bool // the device
	Top  bool // what cannot be among the first rows is left out before
	Few  bool // rows that are left to sort are few: less code does
}

func (s Sort) String() string {
	switch {
	case s.Top:
		return "sorted by the device, the first rows only"
	case s.Here:
		return "sorted by the device"
	}
	return "sorted by the host"
}

// Unsorted is rows on a device that are to be sorted.
type Unsorted struct {
	Rows, Wanted int64
	Expected     int64 // rows, before anything was counted: the code is compiled by then
	Size         int   // of a tuple
	Most         int64 // rows that the device can sort
	Least        int64 // from how many rows on somebody wants it to; 0: from as many as pay
}

const (
	// sortLeast is from how many rows on a device sorts: a digit of eight bits takes a step in which all blocks wait for each other, a word has up to
	// eight, and the host sorts few rows in the same time.
	sortLeast = 8 << 10
	// sortTop is from how many bytes of rows on a device leaves out what is not among the first: fewer take less time over the
	// bus, and on the host, than the launches.
	sortTop = 48 << 10
	// FewSorted is how many rows are few: the long code that is best for many takes the driver three times as long to compile, more than it can save.
	FewSorted = 1 << 20
	// farOff is how much more rows than were expected are many all the same.
	farOff = 16
)

// ChooseSort decides who sorts rows.
func ChooseSort(u Unsorted) Sort {
	if u.Rows < 2 || u.Rows > u.Most {
		return Sort{}
	}
	few := u.Wanted < u.Rows/2
	here := u.Rows >= sortLeast || few && u.Rows*int64(u.Size) > sortTop
	if u.Least > 0 {
		here = u.Rows >= u.Least
	}
	if few && here {
		return Sort{Here: true, Top: true, Few: u.Wanted <= FewSorted}
	}
	return Sort{Here: here, Few: here && u.Expected <= FewSorted && u.Rows <= farOff*FewSorted}
}
