package file

import (
	"context"
	"os"
	"runtime"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// cursorRows is how many rows of a row group are decoded at a time, at most: all but in files with very large ones.
const cursorRows = 256 << 10

// columnCursor reads one column through the row groups of a unit, decoded as queries do it but for the
// statistics, which are not believed. It belongs to one goroutine at a time.
type columnCursor struct {
	ctx   context.Context
	col   int // in the file
	to    int // in the table
	t     types.Type
	null  bool // NULL is allowed
	table string
	name  string
	zone  *types.Zone
	q     *parquetQuery
	form  chunkForm

	groups []rowGroup // the first is the one being read
	at     int64      // its next row
	chunk  *column.Chunk
	pos    int          // rows of the chunk that were taken
	block  column.Block // of the chunk, if size is not 0
	size   int
}

// fill appends rows to a builder.
func (c *columnCursor) fill(sb *catalog.SegmentBuilder, rows int) error {
	for rows > 0 {
		if c.chunk == nil || c.pos == c.chunk.Rows {
			if err := c.next(); err != nil {
				return err
			}
		}
		n := min(rows, c.chunk.Rows-c.pos)
		if err := sb.Reserve(c.inBuilder(n)); err != nil {
			return err
		}
		if err := c.append(sb.Cols[c.to], c.pos, c.pos+n); err != nil {
			return err
		}
		rows -= n
		c.pos += n
	}
	return nil
}

// next decodes the next rows.
func (c *columnCursor) next() error {
	for c.at == c.groups[0].rows() {
		c.groups, c.at = c.groups[1:], 0
	}
	g := &c.groups[0]
	r := &chunkReader{ctx: c.ctx, f: g.file, h: g.h, group: g.index, col: c.col, info: &g.file.chunks[g.index][c.col],
		lo: c.at, hi: c.upTo(g), simd: c.q.opts.SIMD, acct: c.q.opts.Account}
	if c.q.opts.Map {
		r.data = g.file.mapped(g.h)
	}
	c.chunk = nil
	chunk, err := r.read(&c.form, c.room)
	runtime.KeepAlive(g.file)
	c.chunk, c.pos, c.at = chunk, 0, r.hi
	return g.file.unchanged(g.h, err)
}

// upTo is the row before which the next chunk ends. Nested columns are put together from the first row on, once.
func (c *columnCursor) upTo(g *rowGroup) int64 {
	if g.file.cols[c.col].form == nested {
		return g.rows()
	}
	return min(c.at+cursorRows, g.rows())
}

// room is memory for a chunk, which the last one needs no more.
func (c *columnCursor) room(size int) (uintptr, error) {
	if c.size < size {
		c.close()
		if err := c.q.opts.Account.Hold(int64(size)); err != nil {
			return 0, err
		}
		b, _, err := column.Take(size, false)
		if err != nil {
			c.q.opts.Account.Drop(int64(size))
			return 0, err
		}
		c.block, c.size = b, size
	}
	return c.block.Addr(), nil
}

func (c *columnCursor) close() {
	if c.size > 0 {
		c.block.Give(false)
		c.q.opts.Account.Drop(int64(c.size))
	}
	c.size = 0
}

// inBuilder is about how many bytes n rows of the chunk take in a builder.
func (c *columnCursor) inBuilder(n int) int64 {
	each := int64(8)
	switch {
	case c.chunk.Enc == column.EncDict:
		each = 4
	case c.chunk.Enc == column.EncStr:
		each += c.chunk.Zone.Bytes / int64(c.chunk.Rows)
	case c.chunk.Width == 16:
		each = 16
	}
	return each * int64(n)
}

// append appends rows of the chunk to a builder.
func (c *columnCursor) append(b *column.Builder, lo, hi int) error {
	if !c.null && c.chunk.Null != 0 {
		for row := lo; row < hi; row++ {
			if c.chunk.IsNull(row) {
				return c.fail(diag.Errorf(diag.NotNullViolation, diag.NoPos,
					"null value in column %q of relation %q violates not-null constraint", c.name, c.table))
			}
		}
	}
	if c.asIs(lo, hi) {
		b.AppendChunk(c.chunk, lo, hi)
		return nil
	}
	for row := lo; row < hi; row++ {
		v := c.chunk.Value(row)
		if !v.Null {
			var err error
			if v, err = types.AssignIn(c.zone, v, c.t); err != nil {
				return c.fail(err)
			}
		}
		b.Append(v)
	}
	return nil
}

// asIs reports that the table stores the values of rows as the file does.
func (c *columnCursor) asIs(lo, hi int) bool {
	from, to := c.chunk.Type, c.t
	switch {
	case from == to,
		from.IsInteger() && to.IsInteger() && to.Covers(from),
		from.Kind == types.Text && to == types.TText,
		from.Kind == types.Float32 && to.Kind == types.Float64,
		from.Kind == types.Decimal && to.Kind == types.Decimal && to != types.TUInt64 && from.Scale == to.Scale && from.Prec <= to.Prec:
		return true
	case from.Kind != types.Text || to.Kind != types.Text:
		return false
	}
	descs := make([]*column.StrDesc, hi-lo)
	column.PickDescs(c.chunk, &column.Pick{Lo: lo, N: hi - lo}, descs)
	for _, d := range descs { // no more bytes than characters are allowed
		if d.Len > uint32(to.Len) {
			return false
		}
	}
	return true
}

// fail is the error of a value that cannot be stored.
func (c *columnCursor) fail(err error) error {
	g := &c.groups[0]
	return located(err, "file %s, row group %d, column %q", g.file.in.path, g.index, g.file.cols[c.col].Name)
}

// rowGroup is a row group of a file, which is open while its unit is loaded.
type rowGroup struct {
	file  *parquetFile
	index int
	h     *os.File
}

func (g *rowGroup) rows() int64 { return g.file.meta.RowGroup(g.index).NumRows() }
