package catalog

import (
	"maps"
	"slices"
)

// Mark is a state of a transaction to which it can return.
type Mark struct {
	own    map[string]change
	tables map[*Table]tableMark
}

// tableMark is what a table was that only the transaction sees: its rows may change in place.
type tableMark struct {
	snap   *Snapshot
	state  []columnState
	origin *Table
}

// Mark remembers what the transaction has changed so far.
func (tx *Tx) Mark() *Mark {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	m := &Mark{own: maps.Clone(tx.own), tables: map[*Table]tableMark{}}
	for _, ch := range tx.own {
		if t, ok := ch.now.(*Table); ok {
			t.mu.Lock()
			m.tables[t] = tableMark{t.snap.Load(), slices.Clone(t.state), t.origin}
			t.mu.Unlock()
		}
	}
	return m
}

// ReturnTo forgets what the transaction changed since a mark, or, without one, all of it. It still sees the state of
// the catalog with which it began.
func (tx *Tx) ReturnTo(m *Mark) {
	if m == nil {
		m = &Mark{}
	}
	tx.mu.Lock()
	defer tx.mu.Unlock()
	for _, ch := range tx.own {
		if t, ok := ch.now.(*Table); ok {
			if _, stays := m.tables[t]; !stays {
				t.returnIndexes()
			}
		}
	}
	for t, was := range m.tables {
		t.returnTo(was)
	}
	tx.own = maps.Clone(m.own)
}

// returnTo gives a table the rows back that it had.
func (t *Table) returnTo(was tableMark) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.snap.Load()
	if now == was.snap {
		return
	}
	if t.origin != nil && t.origin == was.origin { // nothing was done but to append, so that the indexes are good for the rows before
		rows := newRowSet(0, now.Segments)
		for _, x := range t.indexes {
			x.truncate(rows, was.snap.Rows)
		}
		t.state = slices.Clone(was.state)
	} else {
		t.resetState()
		copy(t.state, was.state)
	}
	t.origin = was.origin
	t.snap.Store(was.snap)
}
