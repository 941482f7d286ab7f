package catalog

import (
	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Shape is what a table is, but for its rows.
type Shape struct {
	Schema, Name string
	Columns      []ColumnDef
	Keys         [][]int
	Rules        Rules
}

// ShapeOf is the shape of a table.
func ShapeOf(t *Table) Shape { return Shape{t.Schema, t.Name, t.Columns, t.Keys, t.Rules} }

// Empty is a table of that shape without rows.
func (sh Shape) Empty() *Table {
	t := NewTable(sh.Name, sh.Columns, sh.Keys, column.DefaultOptions())
	t.Schema, t.Rules = sh.Schema, sh.Rules
	return t
}

// Altered is a table of another shape with t's rows, which are held to its keys and NOT NULL. from says which column of t each
// column is; where it is negative, the next one of made, a table that has a row for each of t's.
func (t *Table) Altered(sh Shape, from []int, made *Table, acct *budget.Account) (*Table, error) {
	out := NewTable(sh.Name, sh.Columns, sh.Keys, t.enc)
	out.Schema, out.Rules = sh.Schema, sh.Rules
	next := 0
	source := make([]int, len(from)) // of made
	for i, f := range from {
		if f >= 0 {
			out.dicts[i] = t.dicts[f]
			continue
		}
		out.dicts[i], source[i] = made.dicts[next], next
		next++
	}
	var rows *rowSet
	if next > 0 {
		rows = newRowSet(0, made.Snapshot().Segments)
	}
	var segs []*Segment
	first := int64(0)
	for _, s := range t.Snapshot().Segments {
		seg := &Segment{Rows: s.Rows, Chunks: make([]*column.Chunk, len(from))}
		for i, f := range from {
			if f >= 0 {
				seg.Chunks[i] = s.Chunks[f]
				continue
			}
			c, err := recut(sh.Columns[i].Type, rows, first, s.Rows, source[i], out.enc, out.dicts[i], acct)
			if err != nil {
				return nil, err
			}
			seg.Chunks[i] = c
		}
		segs = append(segs, seg)
		first += int64(s.Rows)
	}
	return out, out.Replace(acct, out.Snapshot(), segs...)
}

// recut makes a chunk of n rows of a column, from row first on.
func recut(t types.Type, rows *rowSet, first int64, n, col int, enc column.Options, dict *column.Dict, acct *budget.Account) (*column.Chunk, error) {
	b := column.NewBuilder(t)
	for left := n; left > 0; {
		s, local := rows.find(first)
		k := min(left, s.Rows-local)
		b.AppendChunk(s.Chunks[col], local, local+k)
		first, left = first+int64(k), left-k
	}
	chunks, err := column.SealAll([]*column.Builder{b}, enc, []*column.Dict{dict}, acct, column.Unstopped)
	if err != nil {
		return nil, err
	}
	return chunks[0], nil
}

// Version tells how often rows of the table were changed or deleted: as long as it is the same, rows keep their numbers.
func (t *Table) Version() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writes
}

// RowsFrom is the rows from number n on, as segments.
func (t *Table) RowsFrom(n int64) ([]*Segment, error) { return t.rowsFrom(n) }

// AppendNew puts rows into a table that nobody else has seen, without any check, and is the table.
func (t *Table) AppendNew(segs []*Segment) (*Table, error) { return t, t.AppendTrusted(segs...) }
