package catalog

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// ColumnDef is a column of a table's schema.
type ColumnDef struct {
	Name    string
	Type    types.Type
	NotNull bool
	Default string // SQL text of the DEFAULT clause; "" = NULL
	// Generated is the SQL text of the expression whose value the column always has; "" = none.
	Generated string
	Identity  Identity // whether its Default is that of an identity column
	Comment   string

	Foreign *Foreign // a column of a file that SQL types do not describe fully; else nil
}

// Identity says whether statements may give an identity column a value.
type Identity uint8

const (
	NoIdentity Identity = iota
	IdentityAlways
	IdentityByDefault
)

// Foreign is what a file says of a column beyond its SQL type.
type Foreign struct {
	Type       string // as the file calls it
	Unreadable bool   // there is no SQL type for it: the column can be listed, but not read

}

// Segment is a horizontal cut of a table: one chunk per column, all of Rows rows.
type Segment struct {
	Rows   int
	Chunks []*column.Chunk
	Loader Loader // not nil: the chunks have no data; it makes others that have
}

// Bytes is the memory of a sealed segment.
func (s *Segment) Bytes() int64 {
	if len(s.Chunks) == 0 {
		return 0
	}
	_, n := s.Chunks[0].Memory() // of all chunks
	return int64(n)
}

// Discard gives the memory of a sealed segment back at once. Nobody may have seen it.
func (s *Segment) Discard() {
	for _, c := range s.Chunks {
		c.Discard()
	}
}

// ColumnStats describes a column of a snapshot.
type ColumnStats struct {
	NullCount int64
	HasRange  bool        // Min and Max are valid: there is a value that is not NULL
	Min, Max  types.Value // no value is less or greater; both are there, but for texts
	Distinct  float64     // estimate of distinct non-NULL values
	AvgLen    float64     // Text: average bytes
	// Dict is the dictionary when every segment's chunk uses it; then each code is < DictLen.
	Dict    *column.Dict
	DictLen int
	Sorted  bool // values never decrease from row to row, no NULLs
}

// Snapshot is an immutable state of a table. Queries hold one while they run, so that
// writers never disturb them and dropped tables live until the last reader is done.
type Snapshot struct {
	Table    *Table
	Rows     int64
	Segments []*Segment
	Stats    []ColumnStats
	External External // not nil: the rows are elsewhere, and a scan must be opened first
	Stream   Stream   // not nil: where the rows of an opened scan come from; Segments has their shapes
}

// Table is a stored table, or what a transaction is making of one: see fork.go. The exported
// fields do not change after NewTable.
type Table struct {
	Schema  string // "" is the one that needs no name
	Name    string
	Columns []ColumnDef
	Keys    [][]int // unique keys as column ordinals; the first may be the primary key
	Rules   Rules

	id     uint64 // common to a table and its forks
	enc    column.Options
	dicts  []*column.Dict // of the Text columns
	snap   atomic.Pointer[Snapshot]
	writes uint64 // how often rows were changed or deleted
	origin *Table // of a fork: what it has been made of, as long as it has those rows and perhaps more

	mu      sync.Mutex // held by writers; guards what follows
	state   []columnState
	indexes []*keyIndex // one per key
}

// NewTable makes an empty table.
func NewTable(name string, columns []ColumnDef, keys [][]int, enc column.Options) *Table {
	t := &Table{Name: name, Columns: columns, Keys: keys, id: lastID.Add(1), enc: enc}
	if len(keys) > 0 { // PostgreSQL gives primary keys columns that are not NULL
		t.Rules.Primary = !slices.ContainsFunc(keys[0], func(c int) bool { return !columns[c].NotNull })
	}
	t.dicts = make([]*column.Dict, len(columns))
	for i, c := range columns {
		if c.Type.Phys() == types.PhysStr {
			t.dicts[i] = column.NewDict()
		}
	}
	t.resetState()
	t.snap.Store(&Snapshot{Table: t, Stats: make([]ColumnStats, len(columns))})
	return t
}

// resetState forgets what writers know of the rows.
func (t *Table) resetState() {
	t.state = make([]columnState, len(t.Columns))
	t.indexes = make([]*keyIndex, len(t.Keys))
	for i, cols := range t.Keys {
		t.indexes[i] = &keyIndex{cols: cols}
	}
}

// Snapshot is the table's present state.
func (t *Table) Snapshot() *Snapshot { return t.snap.Load() }

// Encoding is how the table's columns may be stored.
func (t *Table) Encoding() column.Options { return t.enc }

// Column finds a column by name, in any case; -1 if there is none.
func (t *Table) Column(name string) int {
	for i, c := range t.Columns {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

// Value is the value of a column in a row of the snapshot, for tests and small results.
func (s *Snapshot) Value(row int64, col int) types.Value {
	for _, seg := range s.Segments {
		if row < int64(seg.Rows) {
			return seg.Chunks[col].Value(int(row))
		}
		row -= int64(seg.Rows)
	}
	panic("catalog: row out of range")
}

// MemBytes is how much memory the snapshot's columns take, dictionaries not counted.
func (s *Snapshot) MemBytes() int64 {
	var n int64
	for _, seg := range s.Segments {
		for _, c := range seg.Chunks {
			n += int64(c.MemBytes())
		}
	}
	return n
}
