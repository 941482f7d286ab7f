package catalog

import "sync/atomic"

// A table that is in a catalog's state is not changed any more. Who wants to change its rows forks it and publishes the
// fork under its name. Segments and dictionaries are common to all forks; the former never
// change, the latter only grow.

// lastID numbers tables: a table and its forks have the same number.
var lastID atomic.Uint64

// fork is a copy of the table that can be changed without t's readers noticing.
func (t *Table) fork() *Table {
	f := &Table{Schema: t.Schema, Name: t.Name, Columns: t.Columns, Keys: t.Keys, Rules: t.Rules, id: t.id, enc: t.enc, dicts: t.dicts,
		writes: t.writes, origin: t}
	f.resetState()
	t.mu.Lock()
	copy(f.state, t.state)
	t.mu.Unlock()
	s := *t.snap.Load()
	s.Table = f
	f.snap.Store(&s)
	return f
}

// added is the rows that a fork has more than its origin. Appending keeps the numbers of rows
// even where it merges segments, so they are the last ones.
func (t *Table) added() ([]*Segment, error) { return t.rowsFrom(t.origin.Snapshot().Rows) }

// rowsFrom is the rows after the first skip ones.
func (t *Table) rowsFrom(skip int64) ([]*Segment, error) {
	var out []*Segment
	for _, s := range t.Snapshot().Segments {
		switch n := int64(s.Rows); {
		case skip >= n:
			skip -= n
		case skip > 0:
			sb := t.NewSegmentBuilder()
			for i, b := range sb.Cols {
				b.AppendChunk(s.Chunks[i], int(skip), s.Rows)
			}
			tail, err := t.Seal(sb)
			if err != nil {
				return nil, err
			}
			out, skip = append(out, tail), 0
		default:
			out = append(out, s)
		}
	}
	return out, nil
}

// takeIndexes gives a fork the indexes of the table that it was made of, which are as good for it as long as
// it only appends: to build them again would take as long as the table is. The origin has none then, and would build its
// own if it had to.
func (t *Table) takeIndexes() {
	o := t.origin
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, x := range t.indexes {
		if x.rows == 0 && o.indexes[i].rows > 0 {
			t.indexes[i], o.indexes[i] = o.indexes[i], x
		}
	}
}

// returnIndexes gives the indexes back that a fork took, which will not be published.
func (t *Table) returnIndexes() {
	o := t.origin
	if o == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := newRowSet(0, t.snap.Load().Segments)
	n := o.Snapshot().Rows
	for _, x := range t.indexes {
		x.truncate(rows, n)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, x := range t.indexes {
		if x.rows > o.indexes[i].rows {
			o.indexes[i] = x
		}
	}
	t.indexes = nil
}
