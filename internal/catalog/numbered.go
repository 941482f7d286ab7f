package catalog

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Statements that change rows find them by their numbers in a snapshot. Such a number is a column like any other, of a table
// that shares all else with the snapshot.

// Numbered is the snapshot's rows as a table with one more column at the end, the number of each row.
func (s *Snapshot) Numbered() (*Table, error) {
	t, n := s.Table, len(s.Table.Columns)
	out := t.With([]ColumnDef{{Name: "row number", Type: types.TInt64, NotNull: true}})
	out.Keys = append(slices.Clip(t.Keys), []int{n})
	snap := &Snapshot{Table: out, Rows: s.Rows, Stats: append(slices.Clip(s.Stats), numberStats(s.Rows))}
	first := int64(0)
	for _, seg := range s.Segments {
		numbers, err := column.Numbers(first, seg.Rows)
		if err != nil {
			return nil, err
		}
		snap.Segments = append(snap.Segments, &Segment{Rows: seg.Rows, Chunks: append(slices.Clip(seg.Chunks), numbers), Loader: seg.Loader})
		first += int64(seg.Rows)
	}
	out.snap.Store(snap)
	return out, nil
}

// numberStats describes the numbers of so many rows.
func numberStats(rows int64) ColumnStats {
	if rows == 0 {
		return ColumnStats{}
	}
	return ColumnStats{HasRange: true, Min: types.IntValue(types.TInt64, 0), Max: types.IntValue(types.TInt64, rows-1),
		Distinct: float64(rows), Sorted: true}
}

// With is an empty table of the same columns and some more, whose segments, without those, can become t's: texts have the same
// dictionaries.
func (t *Table) With(more []ColumnDef) *Table {
	out := NewTable(t.Name, append(slices.Clip(t.Columns), more...), nil, t.enc)
	out.Schema = t.Schema
	copy(out.dicts, t.dicts)
	return out
}

// Narrow is a segment without its columns from the nth on.
func (s *Segment) Narrow(n int) *Segment {
	if len(s.Chunks) == n {
		return s
	}
	return &Segment{Rows: s.Rows, Chunks: s.Chunks[:n:n], Loader: s.Loader}
}
