package catalog

import (
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// keyIndex finds rows by a unique key: an open-addressing table of row numbers, each with
// some bits of its hash. Rows are numbered through the table, which merging segments does
// not change. It is built when a check first needs it, and catches up with rows that were
// appended without one.
type keyIndex struct {
	cols  []int
	rows  int64       // rows below are in the index
	slots []uint64    // 0 = empty, else tag<<rowBits | row+1
	mem   *column.Mem // where the slots are
	used  int
}

const rowBits = 40

// rowSet addresses the rows of several segments by number.
type rowSet struct {
	segs   []*Segment
	starts []int64 // first row of each, then the end
}

func newRowSet(first int64, segs ...[]*Segment) *rowSet {
	r := &rowSet{}
	for _, list := range segs {
		for _, s := range list {
			r.segs = append(r.segs, s)
			r.starts = append(r.starts, first)
			first += int64(s.Rows)
		}
	}
	r.starts = append(r.starts, first)
	return r
}

// end is the number after the last row.
func (r *rowSet) end() int64 { return r.starts[len(r.segs)] }

func (r *rowSet) find(row int64) (s *Segment, local int) {
	i := sort.Search(len(r.segs), func(i int) bool { return r.starts[i+1] > row })
	return r.segs[i], int(row - r.starts[i])
}

// checkKeys reports a duplicate among the new segments or between them and the old. What the indexes grow is counted by
// acct. Keys without an assigned column are taken on trust, unless assigned is nil.
func (t *Table) checkKeys(old *Snapshot, fresh []*Segment, acct *budget.Account, assigned []bool) error {
	defer runtime.KeepAlive(old)
	for k, x := range t.indexes {
		if assigned != nil && !slices.ContainsFunc(x.cols, func(c int) bool { return assigned[c] }) {
			continue
		}
		var row int64
		var dup bool
		var err error
		rows := newRowSet(0, old.Segments, fresh)
		if beyond(old, fresh, x.cols) {
			// No new row can equal an old one: rising keys never need the index of the table.
			if len(x.cols) == 1 && increasing(fresh, x.cols[0]) {
				continue
			}
			among := &keyIndex{cols: x.cols, rows: old.Rows}
			if err = among.reserve(rows, acct); err == nil {
				row, dup = among.insert(rows)
				among.drop(acct)
			}
		} else {
			if x.rows == 0 {
				t.takeIndexes()
				x = t.indexes[k]
			}
			if err = x.reserve(rows, acct); err == nil {
				x.catchUp(rows, old.Rows)
				row, dup = x.insert(rows)
			}
		}
		if err != nil {
			t.forgetRows(old, fresh)
			return err
		}
		if dup {
			t.forgetRows(old, fresh)
			return t.duplicate(k, rows, row)
		}
	}
	return nil
}

// forgetRows takes rows out of the indexes that were not appended after all.
func (t *Table) forgetRows(old *Snapshot, fresh []*Segment) {
	rows := newRowSet(0, old.Segments, fresh)
	for _, x := range t.indexes {
		x.truncate(rows, old.Rows)
	}
}

// duplicate is the error for a row whose key is there already.
func (t *Table) duplicate(key int, rows *rowSet, row int64) error {
	s, local := rows.find(row)
	var names, texts []string
	for _, c := range t.Keys[key] {
		names = append(names, t.Columns[c].Name)
		texts = append(texts, s.Chunks[c].Value(local).String())
	}
	return &types.Error{
		Code:   "23505",
		Msg:    fmt.Sprintf("duplicate key value violates unique constraint %q", t.KeyName(key)),
		Detail: fmt.Sprintf("Key (%s)=(%s) already exists.", strings.Join(names, ", "), strings.Join(texts, ", ")),
	}
}

// beyond reports that some key column's new values are all above its old ones.
func beyond(old *Snapshot, fresh []*Segment, cols []int) bool {
	if old.Rows == 0 {
		return true
	}
	for _, c := range cols {
		st := &old.Stats[c]
		above := st.HasRange
		for _, s := range fresh {
			ch := s.Chunks[c]
			if !above || !ch.HasRange() || types.Compare(ch.Zone.Min, st.Max) <= 0 {
				above = false
				break
			}
		}
		if above {
			return true
		}
	}
	return false
}

// increasing reports that a column always increases over the segments.
func increasing(segs []*Segment, col int) bool {
	for i, s := range segs {
		z := &s.Chunks[col].Zone
		if !z.Strict || !s.Chunks[col].HasRange() || i > 0 && types.Compare(segs[i-1].Chunks[col].Zone.Max, z.Min) >= 0 {
			return false
		}
	}
	return true
}

// catchUp takes in rows up to n without looking for duplicates.
func (x *keyIndex) catchUp(rows *rowSet, n int64) {
	for ; x.rows < n; x.rows++ {
		if h, ok := x.hash(rows.find(x.rows)); ok {
			x.put(h, x.rows)
		}
	}
}

// insert takes in all further rows. It stops at the first whose key is there already.
func (x *keyIndex) insert(rows *rowSet) (row int64, dup bool) {
	end := rows.end()
	for ; x.rows < end; x.rows++ {
		s, local := rows.find(x.rows)
		h, ok := x.hash(s, local)
		if !ok {
			continue
		}
		if x.contains(h, rows, s, local) {
			return x.rows, true
		}
		x.put(h, x.rows)
	}
	return 0, false
}

// hash combines the key's columns; ok is false if one is NULL, which equals nothing.
func (x *keyIndex) hash(s *Segment, row int) (h uint64, ok bool) {
	for _, c := range x.cols {
		ch := s.Chunks[c]
		if ch.IsNull(row) {
			return 0, false
		}
		h = h*0x9e3779b97f4a7c15 + ch.Hash(row)
	}
	return h ^ h>>32, true
}

func (x *keyIndex) contains(h uint64, rows *rowSet, s *Segment, local int) bool {
	mask := uint64(len(x.slots) - 1)
	for i := h & mask; x.slots[i] != 0; i = (i + 1) & mask {
		if e := x.slots[i]; e>>rowBits == h>>rowBits {
			o, olocal := rows.find(int64(e&(1<<rowBits-1)) - 1)
			if x.equal(s, local, o, olocal) {
				return true
			}
		}
	}
	return false
}

func (x *keyIndex) put(h uint64, row int64) {
	mask := uint64(len(x.slots) - 1)
	i := h & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = h>>rowBits<<rowBits | uint64(row+1)
	x.used++
}

// reserve makes room for all rows, so that slots are at most seven tenths full.
func (x *keyIndex) reserve(rows *rowSet, acct *budget.Account) error {
	n := int(rows.end() - x.rows)
	size := max(64, len(x.slots))
	for (x.used+n)*10 > size*7 {
		size *= 2
	}
	if size == len(x.slots) {
		return nil
	}
	bytes := int64(size) * 8
	if err := acct.Hold(bytes); err != nil {
		return err
	}
	mem, err := column.Alloc(int(bytes))
	if err != nil {
		acct.Drop(bytes)
		return err
	}
	old, oldMem := x.slots, x.mem
	x.slots, x.mem, x.used = column.SliceAt[uint64](mem.Addr(), size), mem, 0
	for _, e := range old {
		if e != 0 { // the place depends on bits that were not kept
			row := int64(e&(1<<rowBits-1)) - 1
			h, _ := x.hash(rows.find(row))
			x.put(h, row)
		}
	}
	if oldMem != nil {
		oldMem.Free()
	}
	return nil
}

// drop gives the memory back that an account has counted for an index that is not kept.
func (x *keyIndex) drop(acct *budget.Account) {
	if x.mem != nil {
		acct.Drop(int64(len(x.slots)) * 8)
		x.mem.Free()
		x.slots, x.mem = nil, nil
	}
}

// truncate takes the rows from n on out again. They were put in last, so no other row's
// place depends on theirs, if they go in reverse order.
func (x *keyIndex) truncate(rows *rowSet, n int64) {
	for x.rows > n {
		x.rows--
		h, ok := x.hash(rows.find(x.rows))
		if !ok {
			continue
		}
		mask := uint64(len(x.slots) - 1)
		for i := h & mask; x.slots[i] != 0; i = (i + 1) & mask {
			if int64(x.slots[i]&(1<<rowBits-1)) == x.rows+1 {
				x.slots[i] = 0
				x.used--
				break
			}
		}
	}
}

func (x *keyIndex) equal(s *Segment, i int, o *Segment, j int) bool {
	for _, c := range x.cols {
		if !column.EqualRows(s.Chunks[c], i, o.Chunks[c], j) {
			return false
		}
	}
	return true
}
