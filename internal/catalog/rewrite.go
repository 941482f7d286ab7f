package catalog

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
)

// Edit is what becomes of one row: another takes its place, or, if By is negative, none.
type Edit struct {
	Row int64 // of the snapshot that is changed
	By  int64 // number among the fresh rows
}

// Rewriter makes the segments of a table whose rows were changed. Segments without a changed row stay as they are; the others,
// and small neighbours of theirs, are written again.
type Rewriter struct {
	Table   *Table
	Base    *Snapshot
	Fresh   []*Segment // where new rows are
	Edits   []Edit     // by rising Row, each row once
	Threads int
	Account *budget.Account
	Stopped func() error // an error ends the work
}

// group is segments that become one, and the edits of their rows.
type group struct {
	segs  []*Segment
	first int64 // row of segs[0]
	edits []Edit
	rows  int // that are left
}

// Segments are the rows after all edits, in their order.
func (w *Rewriter) Segments() ([]*Segment, error) {
	groups := w.groups()
	out := make([]*Segment, len(groups))
	errs := make([]error, len(groups))
	var next sync.Mutex
	at := 0
	take := func() int {
		next.Lock()
		defer next.Unlock()
		at++
		return at - 1
	}
	work := func() {
		sb := w.Table.NewSegmentBuilder()
		sb.Account, sb.Stopped = w.Account, w.Stopped
		defer sb.Close()
		fresh := newRowSet(0, w.Fresh)
		for i := take(); i < len(groups); i = take() {
			if out[i], errs[i] = w.write(&groups[i], sb, fresh); errs[i] != nil {
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range min(w.Threads, len(groups)) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(out, func(s *Segment) bool { return s == nil }), nil
}

// groups cuts the table.
func (w *Rewriter) groups() (out []group) {
	edits, first := w.Edits, int64(0)
	for _, seg := range w.Base.Segments {
		end := first + int64(seg.Rows)
		n, left := 0, seg.Rows
		for n < len(edits) && edits[n].Row < end {
			if edits[n].By < 0 {
				left--
			}
			n++
		}
		g := group{segs: []*Segment{seg}, first: first, edits: edits[:n:n], rows: left}
		// Where one segment is written again anyhow, a small one goes with it.
		if k := len(out) - 1; k >= 0 && out[k].rows+left <= column.SegmentRows && (len(out[k].edits) > 0 || n > 0) &&
			min(out[k].rows, left) < column.SegmentRows/2 {
			p := &out[k]
			p.segs, p.edits, p.rows = append(p.segs, seg), append(p.edits, g.edits...), p.rows+left
		} else {
			out = append(out, g)
		}
		edits, first = edits[n:], end
	}
	return out
}

// write makes the segment of a group; nil if no row is left.
func (w *Rewriter) write(g *group, sb *SegmentBuilder, fresh *rowSet) (*Segment, error) {
	switch {
	case len(g.edits) == 0 && len(g.segs) == 1:
		return g.segs[0], nil
	case g.rows == 0:
		return nil, nil
	}
	edits, first := g.edits, g.first
	for _, seg := range g.segs {
		end := first + int64(seg.Rows)
		if n := editsBefore(edits, end); n > seg.Rows/scatteredPart {
			sb.appendScattered(seg, first, edits[:n], fresh)
			edits = edits[n:]
			if err := sb.Count(); err != nil {
				return nil, err
			}
			first = end
			continue
		}
		for row := first; row < end; {
			if len(edits) == 0 || edits[0].Row > row { // rows that stay
				to := end
				if len(edits) > 0 {
					to = min(to, edits[0].Row)
				}
				sb.appendRows(seg, int(row-first), int(to-first))
				row = to
				continue
			}
			e := edits[0]
			if e.By < 0 {
				edits = edits[1:]
				row++
				continue
			}
			from, local := fresh.find(e.By) // fresh rows that follow each other go at one go
			n := 1
			for n < len(edits) && row+int64(n) < end && local+n < from.Rows &&
				edits[n].Row == row+int64(n) && edits[n].By == e.By+int64(n) {
				n++
			}
			sb.appendRows(from, local, local+n)
			edits = edits[n:]
			row += int64(n)
		}
		if err := sb.Count(); err != nil {
			return nil, err
		}
		first = end
	}
	return w.Table.Seal(sb)
}

// scatteredPart: where one row of so many is edited, rows are taken one by one, not in stretches.
const scatteredPart = 32

// editsBefore is how many edits are of rows before end.
func editsBefore(edits []Edit, end int64) int {
	return sort.Search(len(edits), func(i int) bool { return edits[i].Row >= end })
}

// appendScattered copies the rows of a segment after edits of many of them: those that stay, then those that take the places of others, column by
// column; and then all are put where they belong.
func (sb *SegmentBuilder) appendScattered(seg *Segment, first int64, edits []Edit, fresh *rowSet) {
	before := sb.Rows()
	stay := make([]uint32, 0, seg.Rows-len(edits))
	order := make([]uint32, 0, seg.Rows) // of each row that there will be: its number among those that are appended
	var places []placed
	for row := range seg.Rows {
		switch {
		case len(edits) == 0 || edits[0].Row != first+int64(row):
			order = append(order, uint32(len(stay)))
			stay = append(stay, uint32(row))
			continue
		case edits[0].By >= 0:
			places = append(places, placed{edits[0].By, len(order)})
			order = append(order, 0)
		}
		edits = edits[1:]
	}
	if len(stay) > 0 {
		sb.appendPicked(seg, stay)
	}
	if len(places) == 0 {
		return
	}
	byFresh := func(a, b placed) int { return cmp.Compare(a.fresh, b.fresh) }
	if !slices.IsSortedFunc(places, byFresh) {
		slices.SortFunc(places, byFresh)
	}
	var rows []uint32
	for i := 0; i < len(places); {
		from, local := fresh.find(places[i].fresh)
		start := places[i].fresh - int64(local)
		rows = rows[:0]
		for ; i < len(places) && places[i].fresh < start+int64(from.Rows); i++ {
			order[places[i].at] = uint32(len(stay) + i)
			rows = append(rows, uint32(places[i].fresh-start))
		}
		sb.appendPicked(from, rows)
	}
	if len(stay) > 0 || !slices.IsSorted(order) {
		for _, b := range sb.Cols {
			b.Arrange(before, order)
		}
	}
}

// placed is where a fresh row goes among the rows of a segment.
type placed struct {
	fresh int64
	at    int
}

func (sb *SegmentBuilder) appendPicked(s *Segment, rows []uint32) {
	for i, b := range sb.Cols {
		b.AppendPick(s.Chunks[i], &column.Pick{Rows: rows})
	}
}

// appendRows copies rows of a segment.
func (sb *SegmentBuilder) appendRows(s *Segment, lo, hi int) {
	for i, b := range sb.Cols {
		b.AppendChunk(s.Chunks[i], lo, hi)
	}
}

// Picked is the segments of some rows of others, in the order of their numbers.
func (t *Table) Picked(from []*Segment, rows []int64, acct *budget.Account) (out []*Segment, err error) {
	all := newRowSet(0, from)
	sb := t.NewSegmentBuilder()
	sb.Account = acct
	defer sb.Close()
	var picked []uint32
	for len(rows) > 0 {
		seg, local := all.find(rows[0])
		start := rows[0] - int64(local)
		n := 0
		picked = picked[:0]
		for n < len(rows) && n < sb.Room() && rows[n] >= start && rows[n] < start+int64(seg.Rows) {
			picked = append(picked, uint32(rows[n]-start))
			n++
		}
		sb.appendPicked(seg, picked)
		if rows = rows[n:]; sb.Room() == 0 || sb.Large() || len(rows) == 0 {
			if err := sb.Count(); err != nil {
				return nil, err
			}
			s, err := t.Seal(sb)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}
