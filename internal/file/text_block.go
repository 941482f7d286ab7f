package file

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// CSV, PostgreSQL's text format and JSON are read in the same two steps. A cutter goes through the files and cuts them
// into blocks of whole rows, which is quick; then many goroutines, each with a blockReader, make segments of
// the blocks side by side.

// block is rows for one segment at most.
type block struct {
	seq    int
	buf    []byte // in CSV pad bytes more than the pieces need
	pieces []piece
	done   int64 // bytes of the files read so far
}

// piece is rows of one file: buf[lo:hi] of its block. In CSV the last byte is a newline.
type piece struct {
	file    *input
	line    int64 // of the byte at lo
	offset  int64 // in the file's text, of that byte; CSV
	lo, hi  int
	objects [][2]int // JSON: where they are in the block
}

// lineAt is the line of a byte of the block, where lines end with nl.
func (pc *piece) lineAt(buf []byte, at int, nl byte) int64 {
	return pc.line + int64(bytes.Count(buf[pc.lo:at], []byte{nl}))
}

// cutter cuts files into blocks.
type cutter interface {
	// next makes the next block in buf, which may be nil; io.EOF after the last.
	next(buf []byte) (*block, error)
	close()
	common() *cutting
}

// cutting is what all cutters have.
type cutting struct {
	ctx   context.Context
	files []*input // still to come
	room  textRoom
	rows  int // per block, at most
	size  int // bytes from which on a block is cut
	chunk int // bytes per read, where that is not the size
	read  atomic.Int64
	seq   int
}

func (c *cutting) common() *cutting { return c }

// newCutter cuts some of the source's files.
func (s *Source) newCutter(ctx context.Context, files []*input) cutter {
	if s.format == JSON {
		return newJSONSplitter(ctx, files)
	}
	sp := newSplitter(ctx, s.csv, files)
	if s.reading.MatchHeader {
		sp.names = []string{}
		for i, c := range s.cols {
			if !s.inFolders(i) {
				sp.names = append(sp.names, c.Name)
			}
		}
	}
	return sp
}

// nextBlock keeps a bug of ours from taking the process down.
func nextBlock(c cutter, buf []byte) (b *block, err error) {
	defer diag.Recover("split text", &err)
	return c.next(buf)
}

// textRoom is where the text of blocks goes.
type textRoom interface {
	// grow returns a copy of text with room for more bytes behind it, or text itself if it has that.
	grow(text []byte, more int) ([]byte, error)
}

// countedRoom is Go's heap, counted for a statement until all is read: buffers are used again.
type countedRoom struct {
	acct  *budget.Account
	taken int64
}

func (r *countedRoom) grow(text []byte, more int) ([]byte, error) {
	n := int64(len(text) + more - cap(text))
	if n <= 0 {
		return text, nil
	}
	if cap(text) > 0 { // twice as much, so that a long row is not copied often
		n = max(n, int64(cap(text)))
	}
	if err := r.acct.Take(n); err != nil {
		return nil, err
	}
	r.taken += n
	return slices.Grow(text, cap(text)-len(text)+int(n)), nil
}

func (r *countedRoom) close() { r.acct.Give(r.taken) }

// pieceReader reads the rows of a format.
type pieceReader interface {
	// piece appends the rows of a piece to the columns of a builder and returns their number.
	piece(ctx context.Context, buf []byte, pc *piece) (rows int, err error)
}

// blockReader turns blocks into segments. It belongs to one goroutine.
type blockReader struct {
	table   *catalog.Table
	sb      *catalog.SegmentBuilder
	format  pieceReader
	folders []folderTarget

	missing  []int // the table's columns that the source has not
	defaults []types.Value
}

// newBlockReader reads blocks for a table. Of the options, Columns, Defaults and Account count.
func (s *Source) newBlockReader(table *catalog.Table, opts LoadOptions) *blockReader {
	r := &blockReader{table: table, sb: table.NewSegmentBuilder(), missing: unmapped(table, opts.Columns), defaults: opts.Defaults}
	r.sb.Account = opts.Account
	if s.format == JSON {
		r.format = newJSONRows(s, table, r.sb, opts)
	} else {
		r.format = newRowParser(s, table, r.sb, opts)
	}
	for i := range s.folders {
		if f := &s.folders[i]; !f.fallback && opts.Columns[f.col] >= 0 {
			r.folders = append(r.folders, folderTarget{f, r.sb.Cols[opts.Columns[f.col]]})
		}
	}
	return r
}

// rows reads the rows of a block into the builder and returns their number.
func (r *blockReader) rows(ctx context.Context, b *block) (rows int, err error) {
	r.sb.Reset()
	for i := range b.pieces {
		pc := &b.pieces[i]
		n, err := r.format.piece(ctx, b.buf, pc)
		if err != nil {
			return 0, err
		}
		for _, f := range r.folders {
			if err := f.append(pc.file, n); err != nil {
				return 0, err
			}
		}
		rows += n
	}
	return rows, nil
}

// segment reads a block; nil if it has no rows.
func (r *blockReader) segment(ctx context.Context, b *block) (seg *catalog.Segment, err error) {
	defer diag.Recover("load text", &err) // a bug of ours must not take the process down
	rows, err := r.rows(ctx, b)
	if err != nil || rows == 0 {
		return nil, err
	}
	appendDefaults(r.sb, r.missing, r.defaults, rows)
	if err := r.sb.Count(); err != nil {
		return nil, err
	}
	r.sb.Stopped = diag.Stopped(ctx)
	return r.table.Seal(r.sb)
}
