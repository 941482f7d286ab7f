package exec

import "slices"

// Top-N: a worker never keeps many more tuples than the result needs. Whenever it has
// collected a few times as many, all but the best are dropped and the rest moves together.

// pruneRows is how many tuples a worker collects at least before it looks for the best.
const pruneRows = 1 << 14

// topN reports a sort that wants only its first rows.
func (s *collectSink) topN() bool { return len(s.s.Keys) > 0 && s.s.Limit >= 0 }

// prune keeps the best tuples of a worker.
func (s *collectSink) prune(c *collector) error {
	entries, release, err := s.entries(c.rows)
	if err != nil {
		return err
	}
	defer release()
	by := s.newSorter()
	seqs := make([]int64, 0, len(c.marks)) // where each morsel's tuples begin
	for _, m := range c.marks {
		seqs = append(seqs, int64(len(entries)))
		rows := Rows{Tuple: s.tuple, Pieces: m.pieces}
		rows.Each(func(a uintptr) bool {
			entries = append(entries, by.entry(a, int64(len(entries))))
			return true
		})
	}
	slices.SortFunc(entries, by.compare)
	entries = entries[:s.wanted(int64(len(entries)))]
	// In the order of arrival again, so that what follows is stable, into fresh memory.
	slices.SortFunc(entries, func(a, b entry) int { return int(a.pos - b.pos) })
	old := c.buf.chunks
	c.buf = buffer{mem: s.r.mem, stride: s.tuple.Size}
	var marks []mark
	k := 0
	for _, e := range entries {
		for k+1 < len(seqs) && seqs[k+1] <= e.pos {
			k++
		}
		if c.buf.cur >= c.buf.end {
			if err := c.buf.grow(c.buf.cur); err != nil {
				return err
			}
		}
		copyTuple(c.buf.cur, e.addr, s.tuple.Size)
		piece := Piece{c.buf.cur, 1}
		c.buf.cur += uintptr(s.tuple.Size)
		c.buf.start = c.buf.cur
		if n := len(marks); n > 0 && marks[n-1].seq == c.marks[k].seq {
			marks[n-1].pieces = append(marks[n-1].pieces, piece)
		} else {
			marks = append(marks, mark{c.marks[k].seq, []Piece{piece}})
		}
	}
	for _, a := range old {
		s.r.mem.free(a)
	}
	c.marks, c.rows = marks, int64(len(entries))
	return nil
}
