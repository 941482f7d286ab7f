package catalog

import (
	"context"
	"slices"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
)

// External is where the rows of a table come from that is not in memory: files. Its snapshot has
// rows and statistics, by which queries are planned, but no segments. Before a query runs, its
// scans are opened for the columns that they read.
type External interface {
	// Begin starts a query's use of the table.
	Begin(opts ScanOptions) Opener
	// Keys are sets of columns that no two rows have the same values of, and that are never NULL, as far as that is
	// known: not because somebody declared it, but because these rows are so.
	Keys() [][]int
}

// Opener opens the scans of one query.
type Opener interface {
	// Open returns a snapshot for a scan of some columns. Its segments have chunks for those, nil
	// for others; of the columns in tested it is known that they decide which rows matter. Chunks have
	// shape and zone, but no data until the segment's Loader has made it. Where nobody can say how many
	// rows there are, the snapshot has a Stream.
	Open(ctx context.Context, cols, tested []int) (*Snapshot, error)
}

// Stream is the rows of an opened scan that nobody can count before they are read: those of text
// files. They come as segments in the order of the source, once, and all of the same shapes. The
// snapshot shows these in a segment without rows; its Rows are a bound that is never exceeded, and its
// statistics hold for whatever may come.
type Stream interface {
	// Next reads the rows that come next; nil after the last. Many goroutines may call it at
	// once, and then read at once: num is the place of a segment among all. Each chunk is one block of
	// room, which begins with its data and belongs to the caller.
	Next(ctx context.Context, room Room) (seg *Segment, num int, err error)
	// Close ends reading. It waits for calls of Next, and may come before the first of them.
	Close()
}

// Parted is a Stream of parts, of which something is known before they are read: files in folders that are named after
// what is in them.
type Parted interface {
	Stream
	// Parts are segments without data, in order; none if nothing is known. Chunks are nil but for columns that have the
	// same value in all rows of the part, and their zones say which. Rows is 1, whatever the part has.
	Parts() []*Segment
	// Keep has Next read only those parts. It comes before the first Next.
	Keep(parts []bool)
}

// Sealer is a Stream that can make the segments of a table itself, which spares copies.
type Sealer interface {
	Stream
	// SealFor has Next return sealed segments of the table, whose column i is column from[i] of the source, counted by
	// acct; or it returns false, and Next is as it was. It comes before the first Next.
	SealFor(table *Table, from []int, acct *budget.Account) bool
}

// Room gives memory for reading and takes it back.
type Room interface {
	Take(size int) (addr uintptr, err error) // holds anything
	Free(addr uintptr)
}

// ScanOptions are the settings of a query that reads files.
type ScanOptions struct {
	Cache bool // keep what was read for later queries
	Once  bool // use what was kept, but keep nothing more
	// Account counts what is taken for reading, and what is kept.
	Account *budget.Account
	Narrow  bool // integers in as few bytes as they need
	Dict    bool // dictionaries for texts that repeat
	SIMD    bool // assembly may decode pages
	Map     bool // files are read in place
	Block   int  // bytes of a text file that are parsed at a time; 0: as many as pay
}

// Loader makes the chunks of a segment. It may be used by many goroutines.
type Loader interface {
	// Load makes the chunk of a column. Its memory is one block from take, which holds anything; or, if
	// kept is true, it is memory of the loader's own, valid while the chunk is reachable.
	// Rows that are not needed may have anything.
	Load(ctx context.Context, col int, need Need, take func(size int) (addr uintptr, err error)) (c *column.Chunk, kept bool, err error)
	// Cost is about how many bytes are read to load a column.
	Cost(col int) int64
	// Join is the segment of this one's rows and those of next, if they follow each other in a way
	// that makes it cheaper to load them together; else nil.
	Join(this, next *Segment) *Segment
}

// Need tells which rows of a segment are needed: some of each NeedRows that are marked. nil: all.
type Need []bool

// NeedRows is the rows of an element.
const NeedRows = 1 << 10

// NoNeed is that of no row.
func NoNeed(rows int) Need { return make(Need, (rows+NeedRows-1)/NeedRows) }

// Any reports that some of the rows lo…hi may be needed.
func (n Need) Any(lo, hi int64) bool {
	return n == nil || lo < hi && slices.Contains(n[lo/NeedRows:(hi+NeedRows-1)/NeedRows], true)
}

// Each calls f with the stretches of rows lo…hi that may be needed.
func (n Need) Each(lo, hi int, f func(lo, hi int) error) error {
	for lo < hi {
		k := lo / NeedRows
		end := k
		for end < len(n) && end*NeedRows < hi && n[end] == n[k] {
			end++
		}
		next := min(end*NeedRows, hi)
		if n[k] {
			if err := f(lo, next); err != nil {
				return err
			}
		}
		lo = next
	}
	return nil
}

// NewExternal makes a table of rows that are elsewhere.
func NewExternal(name string, columns []ColumnDef, rows int64, stats []ColumnStats, ext External) *Table {
	t := &Table{Name: name, Columns: columns, enc: column.DefaultOptions()}
	t.dicts = make([]*column.Dict, len(columns))
	t.resetState()
	t.snap.Store(&Snapshot{Table: t, Rows: rows, Stats: stats, External: ext})
	return t
}
