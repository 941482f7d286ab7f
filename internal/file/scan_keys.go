package file

import (
	"context"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Files do not say which of their columns are unique, but planning needs it: a group by a customer's key, name and address
// is one by the key. Columns that ascend from row group to row group, by the footers, are read once, when a plan
// asks; those that ascend from row to row, too, are keys.

// mostKeyRows is the number of rows up to which columns are looked at.
const mostKeyRows = 4 << 20

// firstLook is the number of rows of a row group that are looked at before the others.
const firstLook = 1000

// Keys are columns that are unique and never NULL.
func (t *parquetTable) Keys() [][]int {
	t.keysOnce.Do(func() {
		if !t.trust || t.s.rows > mostKeyRows {
			return
		}
		for col := range t.s.cols {
			if t.mayAscend(col) && t.ascends(col) {
				t.keys = append(t.keys, []int{col})
			}
		}
	})
	return t.keys
}

// mayAscend reports that the footers say nothing against it.
func (t *parquetTable) mayAscend(col int) bool {
	var last *chunkInfo
	for _, f := range t.s.parquet {
		for g := range f.chunks {
			i := &f.chunks[g][col]
			if i.rows == 0 {
				continue
			}
			if !i.known || i.nulls != 0 || i.min.Type.Phys() != types.PhysI64 || i.span() < float64(i.rows) || last != nil && types.Compare(i.min, last.max) <= 0 {
				return false
			}
			last = i
		}
	}
	return last != nil
}

// ascends reads the column.
func (t *parquetTable) ascends(col int) bool {
	last, first := int64(0), true
	for _, f := range t.s.parquet {
		for g := range f.chunks {
			rows := f.chunks[g][col].rows
			for _, n := range []int64{min(rows, firstLook), rows} { // most columns that are no key show it at once
				ok, before, begin := false, last, first
				err := f.readInts(g, col, n, func(c *column.Chunk) {
					ok = true
					for row := range c.Rows {
						x := c.Int(row)
						if !begin && x <= before {
							ok = false
							return
						}
						before, begin = x, false
					}
				})
				if err != nil || !ok {
					return false
				}
				if n == rows {
					last, first = before, begin
					break
				}
			}
		}
	}
	return true
}

// readInts hands the first rows of an integer column of a row group, whose bounds are known, to see.
func (f *parquetFile) readInts(group, col int, rows int64, see func(c *column.Chunk)) error {
	h, err := openUnchanged(f)
	if err != nil {
		return err
	}
	defer h.Close()
	i := &f.chunks[group][col]
	t := &chunkForm{trust: true, lo: i.min.Int128(), hi: i.max.Int128()}
	t.Nulls = i.nulls != 0
	t.Width, t.base = column.Frame(i.min.I, i.max.I)
	r := &chunkReader{ctx: context.Background(), acct: budget.New(mostForEstimate), f: f, h: h, group: group, col: col, info: i, hi: rows, simd: true}
	var mem *column.Mem
	c, err := r.read(t, func(size int) (addr uintptr, err error) {
		if size > 4*mostForEstimate {
			return 0, errEstimate
		}
		if mem, err = column.Alloc(size); err == nil {
			addr = mem.Addr()
		}
		return addr, err
	})
	if mem != nil {
		defer mem.Free()
	}
	if err == nil {
		see(c)
	}
	return err
}
