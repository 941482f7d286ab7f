package result

import (
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Result is a finished query: its rows, and what is needed to read them. Close gives the
// memory back.
type Result struct {
	Owned
	rows tuples.Rows
	scan *Table // instead of rows: columns of a table
	// unloaded: segments of files in scan have no data until Load.
	unloaded bool
	stream   catalog.Stream // not nil: the rows come from Next, and nobody knows how many
	columns  []Column
	segs     []*catalog.Segment // where late columns are
	closing  sync.Once
}

// Owned is what a result has of its query, wherever its rows are.
type Owned struct {
	Cols    []plan.ColID
	Threads int
	Mem     *mem.Memory // everything that the query still holds
	Keep    []any       // what must not be collected before
}

// Column is where a column is found: in tuples, or in the table's column with the ordinal.
type Column struct {
	Field   *layout.Field // nil: in the table
	Ordinal int
}

// Columns says where the columns of a result of tuples are: late ones in the table, by their ordinals.
func Columns(ids []plan.ColID, t *layout.Tuple, late map[plan.ColID]int) []Column {
	out := make([]Column, len(ids))
	for i, id := range ids {
		if ord, ok := late[id]; ok {
			out[i].Ordinal = ord
		} else {
			out[i].Field = t.Find(int32(id))
		}
	}
	return out
}

// OfTuples is a result of tuples. Columns that are not in them are read from segs, by the row's number.
func OfTuples(o Owned, rows tuples.Rows, columns []Column, segs []*catalog.Segment) *Result {
	return &Result{Owned: o, rows: rows, columns: columns, segs: segs}
}

// OfTable is a result of a table's columns. unloaded: segments of files are loaded part by part.
func OfTable(o Owned, t *Table, unloaded bool) *Result {
	return &Result{Owned: o, scan: t, columns: t.columns, unloaded: unloaded}
}

// OfStream is a result of a table's columns whose rows are read from its stream by Next. The result closes the stream.
func OfStream(o Owned, t *Table) *Result {
	return &Result{Owned: o, scan: t, columns: t.columns, stream: t.Stream}
}

// Close ends the result; its rows must not be read any more.
func (r *Result) Close() {
	r.closing.Do(func() {
		if r.stream != nil {
			r.stream.Close()
		}
		r.Mem.Close()
		r.Keep = nil
	})
}

// Account counts what the result takes.
func (r *Result) Account() *budget.Account { return r.Mem.Account() }

// Len is the number of rows.
func (r *Result) Len() int64 {
	if r.scan != nil {
		return r.scan.n
	}
	return r.rows.Len()
}
