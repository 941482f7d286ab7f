package file

import (
	"math"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Plans are made from what footers tell: bounds and NULLs of row groups. How many different values
// there are they seldom tell; that is guessed from the sizes of dictionaries, or by looking
// at one row group.

// stats describes the columns of the files. It also notes the bounds in t.ranks.
func (t *parquetTable) stats() []catalog.ColumnStats {
	s := t.s
	out := make([]catalog.ColumnStats, len(s.cols))
	fresh := t.ranks == nil
	if fresh {
		t.ranks = make([]bounds, len(s.cols))
	}
	for c := range out {
		b := &t.ranks[c]
		if fresh {
			*b = t.boundsOf(c)
		}
		cs := &out[c]
		cs.NullCount = b.nulls
		if b.nulls < 0 { // unknown: some
			cs.NullCount = 1
		}
		cs.HasRange, cs.Min, cs.Max = b.known, b.min, b.max
		cs.Distinct, cs.AvgLen = s.hunches[c].distinct, s.hunches[c].length
		if n := float64(s.rows - cs.NullCount); cs.Distinct > n {
			cs.Distinct = max(n, 0)
		}
	}
	return out
}

// boundsOf are the bounds of all rows of a column.
func (t *parquetTable) boundsOf(col int) bounds {
	all := bounds{}
	missing := false // some row group has values of which nothing is known
	for _, f := range t.s.parquet {
		for g := range f.chunks {
			i := &f.chunks[g][col]
			switch {
			case i.rows == 0:
				continue
			case !t.trust && i.optional || i.nulls < 0:
				all.nulls = -1
			case all.nulls >= 0:
				all.nulls += i.nulls
			}
			switch {
			case !t.trust || !i.known && i.nulls != i.rows:
				missing = true
			case !i.known:
			case !all.known:
				all.known, all.min, all.max = true, i.min, i.max
			default:
				if types.Compare(i.min, all.min) < 0 {
					all.min = i.min
				}
				if types.Compare(i.max, all.max) > 0 {
					all.max = i.max
				}
			}
		}
	}
	if missing {
		all.known, all.min, all.max = false, types.Value{}, types.Value{}
	}
	return all
}

// hunch is what a column's values are like, for estimates only.
type hunch struct {
	distinct float64
	length   float64 // texts
}

// guessAll looks at the columns of the files. What cannot be read is found out later.
func (s *Source) guessAll() {
	s.hunches = make([]hunch, len(s.cols))
	for c := range s.cols {
		s.hunches[c] = s.guessColumn(c)
	}
}

func (s *Source) guessColumn(col int) hunch {
	var chunks []*chunkInfo
	var files []*parquetFile
	var groups []int
	var bytes, values float64
	for _, f := range s.parquet {
		for g := range f.chunks {
			i := &f.chunks[g][col]
			if i.rows == 0 || i.nulls == i.rows {
				continue
			}
			chunks, files, groups = append(chunks, i), append(files, f), append(groups, g)
			values += float64(i.rows - max(i.nulls, 0))
			bytes += float64(i.unpacked) - 4*float64(i.rows)
		}
	}
	if len(chunks) == 0 {
		return hunch{}
	}
	k := len(chunks) / 2 // the first and the last are often not like the others
	i := chunks[k]
	n := float64(i.rows - max(i.nulls, 0))
	d := n
	switch {
	case i.distinct > 0:
		d = float64(i.distinct)
	case i.allDict:
		if size := files[k].dictSize(i); size > 0 {
			d = float64(size)
		}
	case i.span() < 8*n:
		d = s.countDistinct(files[k], groups[k], col, i)
	}
	d = min(d, n, i.span())
	g := hunch{distinct: d, length: max(bytes/values, 1)}
	if len(chunks) == 1 {
		return g
	}
	// Do the row groups have the same values or each its own?
	all, sum := *i, 0.0
	for _, c := range chunks {
		sum += c.span()
		if !c.known || !all.known {
			continue
		}
		if types.Compare(c.min, all.min) < 0 {
			all.min = c.min
		}
		if types.Compare(c.max, all.max) > 0 {
			all.max = c.max
		}
	}
	if sum < 1.5*all.span() {
		g.distinct = d * values / n
	} else {
		g.distinct = domain(d, n, values)
	}
	g.distinct = min(g.distinct, all.span())
	return g
}

// span is how many values there are between the bounds; infinitely many if that is not known.
func (i *chunkInfo) span() float64 {
	if !i.known || i.min.Type.Phys() != types.PhysI64 {
		return math.Inf(1)
	}
	return float64(i.max.I) - float64(i.min.I) + 1
}

// domain is how many values there are if n drawn at random have d different ones; at most all.
func domain(d, n, all float64) float64 {
	if d >= 0.99*n {
		return all
	}
	lo, hi := d, all
	for range 50 {
		m := (lo + hi) / 2
		if m*-math.Expm1(-n/m) < d {
			lo = m
		} else {
			hi = m
		}
	}
	return lo
}

// dictSize is the number of entries of a dictionary; 0 if it cannot be read.
func (f *parquetFile) dictSize(i *chunkInfo) int {
	h, err := openUnchanged(f)
	if err != nil {
		return 0
	}
	defer h.Close()
	b := make([]byte, min(i.dictBytes, 64))
	if readFull(h, b, i.dictAt) != nil {
		return 0
	}
	if p, _, err := parsePage(b); err == nil && p.kind == dictionaryPage {
		return p.values
	}
	return 0
}

// countDistinct reads an integer column of a row group.
func (s *Source) countDistinct(f *parquetFile, group, col int, i *chunkInfo) float64 {
	n := float64(i.rows - max(i.nulls, 0))
	count := 0.0
	err := f.readInts(group, col, min(i.rows, 1<<18), func(c *column.Chunk) {
		seen := make([]bool, int(i.span()))
		for row := range c.Rows {
			if at := c.Int(row) - i.min.I; !c.IsNull(row) && !seen[at] {
				seen[at] = true
				count++
			}
		}
		count *= float64(i.rows) / float64(c.Rows)
	})
	if err != nil {
		return n
	}
	return count
}
