package catalog

import (
	"context"

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
	// shape and zone, but no data until the segment's Loader has made it.
	Open(ctx context.Context, cols, tested []int) (*Snapshot, error)
}

// ScanOptions are the settings of a query that reads files.
type ScanOptions struct {
	Cache  bool // keep what was read for later queries
	Narrow bool // integers in as few bytes as they need
	Dict   bool // dictionaries for texts that repeat
	SIMD   bool // assembly may decode pages
	Map    bool // files are read in place
}

// Loader makes the chunks of a segment. It may be used by many goroutines.
type Loader interface {
	// Load makes the chunk of a column. Its memory is one block from take, which holds anything; or, if
	// kept is true, it is memory of the loader's own, valid while the chunk is reachable.
	Load(ctx context.Context, col int, take func(size int) (addr uintptr, err error)) (c *column.Chunk, kept bool, err error)
	// Cost is about how many bytes are read to load a column.
	Cost(col int) int64
	// Join is the segment of this one's rows and those of next, if they follow each other in a way
	// that makes it cheaper to load them together; else nil.
	Join(this, next *Segment) *Segment
}

// NewExternal makes a table of rows that are elsewhere.
func NewExternal(name string, columns []ColumnDef, rows int64, stats []ColumnStats, ext External) *Table {
	t := &Table{Name: name, Columns: columns, enc: column.DefaultOptions()}
	t.dicts = make([]*column.Dict, len(columns))
	t.resetState()
	t.snap.Store(&Snapshot{Table: t, Rows: rows, Stats: stats, External: ext})
	return t
}
