package catalog

import (
	"runtime"

	"github.com/kelpiedb/kelpie/internal/budget"
)

// Unconflicting are the numbers of the fresh rows that could be appended one after the other without a duplicate in some of the
// table's keys: those that equal neither a row of the table nor one that comes before. acct counts what that takes.
func (t *Table) Unconflicting(fresh []*Segment, keys []int, acct *budget.Account) ([]int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.snap.Load()
	defer runtime.KeepAlive(old)
	rows := newRowSet(0, old.Segments, fresh)
	var seen []*keyIndex
	for _, k := range keys {
		// Of its own: rows that are left out must not be in the table's index.
		x := &keyIndex{cols: t.Keys[k]}
		if err := x.reserve(rows, acct); err != nil {
			return nil, err
		}
		defer x.drop(acct)
		x.catchUp(rows, old.Rows)
		seen = append(seen, x)
	}
	var out []int64
next:
	for row := old.Rows; row < rows.end(); row++ {
		s, local := rows.find(row)
		for _, x := range seen {
			if h, ok := x.hash(s, local); ok && x.contains(h, rows, s, local) {
				continue next
			}
		}
		for _, x := range seen {
			if h, ok := x.hash(s, local); ok {
				x.put(h, row)
			}
		}
		out = append(out, row-old.Rows)
	}
	return out, nil
}
