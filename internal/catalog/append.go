package catalog

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Rows get into a table in three steps: collect them in a SegmentBuilder, Seal it,
// Append the segment. The first two may go on in many goroutines at once, each with its own
// builder; the order of rows is that of Append.

// SegmentBuilder collects up to column.SegmentRows rows.
type SegmentBuilder struct {
	Cols []*column.Builder // one per column; all must have the same length when sealed
	// Account counts the rows while they are here, and the segments that they become; nil: nobody does.
	Account *budget.Account
	// Stopped is asked while a segment is made: an error ends that. nil: nobody stops it.
	Stopped func() error

	mu       sync.Mutex // columns may be filled by several goroutines
	reserved int64      // of the account: what the rows take …
	counted  int64      // … and what some rows before have taken: a builder keeps its memory
}

// Count has the account count all that is in the builder.
func (sb *SegmentBuilder) Count() error {
	n := sb.Size()
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return sb.reserve(n - sb.reserved)
}

// Reserve has the account count n bytes that are about to be appended.
func (sb *SegmentBuilder) Reserve(n int64) error {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	return sb.reserve(n)
}

func (sb *SegmentBuilder) reserve(n int64) error {
	if sb.Account == nil || n <= 0 {
		return nil
	}
	sb.reserved += n
	more := sb.reserved - sb.counted
	if more <= 0 {
		return nil
	}
	if err := sb.Account.Take(more); err != nil {
		return err
	}
	sb.counted += more
	return nil
}

// Size is about how many bytes the rows take here.
func (sb *SegmentBuilder) Size() (n int64) {
	for _, b := range sb.Cols {
		n += int64(b.Size())
	}
	return n
}

// largeSegment is the size of rows in a builder from which it is better to make a segment of them, however few they are.
const largeSegment = 64 << 20

// Large reports rows that take so much memory that no more should be added.
func (sb *SegmentBuilder) Large() bool { return sb.Size() > mostBytes(sb.Account) }

// mostBytes is the size from which a segment is large for a statement.
func mostBytes(acct *budget.Account) int64 {
	if limit := acct.Limit(); limit > 0 {
		return min(largeSegment, limit/16)
	}
	return largeSegment
}

// Close ends what the account counts for the builder; segments count until their statement ends.
func (sb *SegmentBuilder) Close() {
	sb.mu.Lock()
	defer sb.mu.Unlock()
	sb.Account.Give(sb.counted)
	sb.counted = 0
}

// NewSegmentBuilder returns an empty builder for the table's columns.
func (t *Table) NewSegmentBuilder() *SegmentBuilder {
	sb := &SegmentBuilder{Cols: make([]*column.Builder, len(t.Columns))}
	for i, c := range t.Columns {
		sb.Cols[i] = column.NewBuilder(c.Type)
	}
	return sb
}

// Rows is the number of rows collected.
func (sb *SegmentBuilder) Rows() int {
	if len(sb.Cols) == 0 {
		return 0
	}
	return sb.Cols[0].Len()
}

// Room is how many more rows fit.
func (sb *SegmentBuilder) Room() int { return column.SegmentRows - sb.Rows() }

// Reset forgets the rows and keeps the memory.
func (sb *SegmentBuilder) Reset() {
	sb.reserved = 0
	for _, b := range sb.Cols {
		b.Reset()
	}
}

// Seal makes a segment of the collected rows and resets the builder.
func (t *Table) Seal(sb *SegmentBuilder) (*Segment, error) {
	n := sb.Rows()
	if n > column.SegmentRows {
		panic(fmt.Sprintf("catalog: a segment of %d rows", n))
	}
	stopped := sb.Stopped
	if stopped == nil {
		stopped = column.Unstopped
	}
	chunks, err := column.SealAll(sb.Cols, t.enc, t.dicts, sb.Account, stopped)
	if err != nil {
		return nil, err
	}
	sb.Reset()
	seg := &Segment{Rows: n, Chunks: chunks}
	if err := sb.Account.Hold(seg.Bytes()); err != nil {
		seg.Discard()
		return nil, err
	}
	return seg, nil
}

// Append checks NOT NULL and the keys, then publishes the segments, in order,
// after the table's rows: all of them or, on an error, none.
func (t *Table) Append(segs ...*Segment) error { return t.append(segs, true, nil) }

// AppendFor is Append for a statement, whose account counts what that takes.
func (t *Table) AppendFor(acct *budget.Account, segs ...*Segment) error {
	return t.append(segs, true, acct)
}

// AppendTrusted is Append for rows that are known to keep the table's constraints:
// generated data, or what was in a table before.
func (t *Table) AppendTrusted(segs ...*Segment) error { return t.append(segs, false, nil) }

func (t *Table) append(segs []*Segment, check bool, acct *budget.Account) error {
	segs = slices.DeleteFunc(slices.Clone(segs), func(s *Segment) bool { return s.Rows == 0 })
	if len(segs) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.snap.Load()
	if check {
		if err := t.CheckNotNull(segs); err != nil {
			return err
		}
		if err := t.checkKeys(old, segs, acct, nil); err != nil {
			return err
		}
	}
	list, err := t.mergeTail(old.Segments, segs, acct)
	if err != nil {
		t.forgetRows(old, segs)
		return err
	}
	rows := old.Rows
	for _, s := range segs {
		t.fold(rows, s, false)
		rows += int64(s.Rows)
	}
	t.publish(rows, list)
	return nil
}

// Replace publishes segments instead of all rows of base, which must still be the table's
// state: else another writer came between, and the caller must start again (40001).
// Deleting, updating and truncating end here. acct counts what that takes.
func (t *Table) Replace(acct *budget.Account, base *Snapshot, segs ...*Segment) error {
	return t.ReplaceAssigned(acct, base, nil, segs...)
}

// ReplaceAssigned is Replace for rows that differ from those before in the assigned columns only, or are missing: keys of other
// columns need no check. nil: anything may differ.
func (t *Table) ReplaceAssigned(acct *budget.Account, base *Snapshot, assigned []bool, segs ...*Segment) error {
	segs = slices.DeleteFunc(slices.Clone(segs), func(s *Segment) bool { return s.Rows == 0 })
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.snap.Load() != base {
		return &types.Error{Code: "40001", Msg: "could not serialize access due to concurrent update"}
	}
	if err := t.CheckNotNull(segs); err != nil {
		return err
	}
	state, indexes := t.state, t.indexes
	t.resetState() // new indexes: those of the origin are of no use
	empty := &Snapshot{Table: t, Stats: make([]ColumnStats, len(t.Columns))}
	if err := t.checkKeys(empty, segs, acct, assigned); err != nil {
		t.state, t.indexes = state, indexes
		return err
	}
	t.foldAll(base, state, segs)
	var rows int64
	for _, s := range segs {
		rows += int64(s.Rows)
	}
	t.publish(rows, segs)
	t.origin = nil // these are no longer its rows
	t.writes++
	return nil
}

// publish makes a snapshot and lets readers see it.
func (t *Table) publish(rows int64, list []*Segment) {
	s := &Snapshot{Table: t, Rows: rows, Segments: list}
	s.Stats = t.stats(s)
	t.snap.Store(s)
}

// CheckNotNull reports a NULL where none may be.
func (t *Table) CheckNotNull(segs []*Segment) error {
	for i, c := range t.Columns {
		if !c.NotNull {
			continue
		}
		for _, s := range segs {
			if s.Chunks[i].Zone.NullCount > 0 {
				return &types.Error{Code: "23502", Msg: fmt.Sprintf(
					"null value in column %q of relation %q violates not-null constraint", c.Name, t.Name)}
			}
		}
	}
	return nil
}

// mergeTail puts new segments after old ones, combining small neighbours at the end.
// A segment is only combined with one at most twice as large as what follows it, so
// that a row is copied a logarithmic number of times and a table filled row by row has a
// logarithmic number of small segments. Segments that are large although they have few rows stay as they are.
func (t *Table) mergeTail(old, fresh []*Segment, acct *budget.Account) ([]*Segment, error) {
	list := slices.Clone(old)
	most := mostBytes(acct)
	for _, seg := range fresh {
		parts, rows, bytes := []*Segment{seg}, seg.Rows, seg.Bytes()
		for len(list) > 0 {
			last := list[len(list)-1]
			if last.Rows > 2*rows || last.Rows+rows > column.SegmentRows || last.Bytes()+bytes > most {
				break
			}
			parts, rows, bytes = append(parts, last), rows+last.Rows, bytes+last.Bytes()
			list = list[:len(list)-1]
		}
		if len(parts) > 1 {
			slices.Reverse(parts)
			merged, err := t.merge(parts, acct)
			if err != nil {
				return nil, err
			}
			seg = merged
		}
		list = append(list, seg)
	}
	return list, nil
}

// merge makes one segment of several.
func (t *Table) merge(parts []*Segment, acct *budget.Account) (*Segment, error) {
	sb := t.NewSegmentBuilder()
	sb.Account = acct
	defer sb.Close()
	for _, s := range parts {
		for i, b := range sb.Cols {
			b.AppendChunk(s.Chunks[i], 0, s.Rows)
		}
	}
	if err := sb.Count(); err != nil {
		return nil, err
	}
	return t.Seal(sb)
}
