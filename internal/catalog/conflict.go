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
	rows, there := newRowSet(0, old.Segments, fresh), newRowSet(0, old.Segments)
	type pair struct{ old, among *keyIndex }
	var seen []pair
	for _, k := range keys {
		if t.indexes[k].rows == 0 {
			t.takeIndexes()
		}
		// The fresh rows have an index of their own: those that are left out must not be in the table's.
		p := pair{t.indexes[k], &keyIndex{cols: t.Keys[k], rows: old.Rows}}
		if err := p.old.reserve(there, acct); err != nil {
			return nil, err
		}
		p.old.catchUp(there, old.Rows)
		if err := p.among.reserve(rows, acct); err != nil {
			return nil, err
		}
		defer p.among.drop(acct)
		seen = append(seen, p)
	}
	var out []int64
next:
	for row := old.Rows; row < rows.end(); row++ {
		s, local := rows.find(row)
		for _, p := range seen {
			if h, ok := p.old.hash(s, local); ok && (p.old.contains(h, rows, s, local) || p.among.contains(h, rows, s, local)) {
				continue next
			}
		}
		for _, p := range seen {
			if h, ok := p.among.hash(s, local); ok {
				p.among.put(h, row)
			}
		}
		out = append(out, row-old.Rows)
	}
	return out, nil
}
