package catalog

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Appender collects rows for a table and publishes them all at once when it is closed:
// what INSERT and COPY use. It belongs to one goroutine.
type Appender struct {
	// Trusted skips the checks of constraints.
	Trusted bool

	t    *Table
	sb   *SegmentBuilder
	segs []*Segment
}

// NewAppender returns an appender to the table.
func (t *Table) NewAppender() *Appender { return &Appender{t: t, sb: t.NewSegmentBuilder()} }

// AppendRow appends a row, one value per column, converting each to the column's type as
// an assignment does.
func (a *Appender) AppendRow(row ...types.Value) error {
	if len(row) != len(a.t.Columns) {
		return &types.Error{Code: "42601", Msg: fmt.Sprintf("table %q has %d columns but %d values were supplied",
			a.t.Name, len(a.t.Columns), len(row))}
	}
	conv := row
	for i, v := range row {
		want := a.t.Columns[i].Type
		if v.Null || v.Type == want {
			continue
		}
		c, err := types.Assign(v, want)
		if err != nil {
			return err
		}
		if &conv[0] == &row[0] { // the caller's row stays as it is
			conv = append([]types.Value(nil), row...)
		}
		conv[i] = c
	}
	for i, v := range conv {
		a.sb.Cols[i].Append(v)
	}
	return a.Cut()
}

// Builder gives access to the columns for appending many values at once, at most Room
// rows; then Cut must be called.
func (a *Appender) Builder() *SegmentBuilder { return a.sb }

// Cut seals the collected rows if they fill a segment.
func (a *Appender) Cut() error {
	if a.sb.Room() > 0 {
		return nil
	}
	return a.seal()
}

func (a *Appender) seal() error {
	if a.sb.Rows() == 0 {
		return nil
	}
	seg, err := a.t.Seal(a.sb)
	if err == nil {
		a.segs = append(a.segs, seg)
	}
	return err
}

// Close publishes the rows; on an error none of them is in the table.
func (a *Appender) Close() error {
	if err := a.seal(); err != nil {
		return err
	}
	segs := a.segs
	a.segs = nil
	return a.t.append(segs, !a.Trusted, nil)
}
