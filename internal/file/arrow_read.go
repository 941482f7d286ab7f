package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/types"
)

// arrowMagic begins and ends a file in Arrow's file format, which Feather is, too.
var arrowMagic = []byte("ARROW1")

// arrowFile is an Arrow file being read, in one of two formats.
type arrowFile struct {
	schema *arrow.Schema
	next   func() (arrow.RecordBatch, error) // the caller releases it; io.EOF after the last
	close  func()
	mem    *countedMemory
}

// openArrow opens a file. What its batches take is counted by the account until they are released.
func openArrow(ctx context.Context, in *input, acct *budget.Account) (f *arrowFile, err error) {
	defer guard(in.path, &err)
	if in.arrow != nil { // it has been begun
		f, in.arrow = in.arrow, nil
		f.mem.acct = acct
		return f, nil
	}
	if in.stream != nil {
		if err := in.once(); err != nil {
			return nil, err
		}
		r, err := in.raw(ctx, nil)
		if err != nil {
			return nil, err
		}
		return readArrowStream(in, r, maxStreamBody, acct)
	}
	h, err := os.Open(in.path)
	if err != nil {
		return nil, fileError("open", in.path, err)
	}
	defer func() {
		if f == nil {
			h.Close()
		}
	}()
	magic := make([]byte, len(arrowMagic))
	n, _ := io.ReadFull(h, magic)
	st, err := h.Stat()
	if err != nil {
		return nil, fileError("read", in.path, err)
	}
	if !bytes.Equal(magic[:n], arrowMagic) {
		if _, err := h.Seek(0, io.SeekStart); err != nil {
			return nil, fileError("read", in.path, err)
		}
		return readArrowStream(in, h, st.Size(), acct)
	}
	if err := checkArrowFooter(h, st.Size()); err != nil {
		return nil, damaged(in.path, err)
	}
	mem := newCountedMemory(acct, st.Size())
	r, err := ipc.NewFileReader(h, ipc.WithAllocator(mem))
	if err != nil {
		return nil, damaged(in.path, err)
	}
	at := 0
	next := func() (arrow.RecordBatch, error) {
		if at == r.NumRecords() {
			return nil, io.EOF
		}
		at++
		return r.RecordBatchAt(at - 1)
	}
	return &arrowFile{schema: r.Schema(), next: next, mem: mem, close: func() {
		r.Close()
		h.Close()
	}}, nil
}

// countedMemory is Go's heap, counted. An allocation that is refused ends in guard, or where the library catches it.
type countedMemory struct {
	acct *budget.Account
	most int64 // bytes that a buffer may have
	err  error // the first
}

// maxShrink is how many times as small as what it has a compressed buffer can be: LZ4 and Zstandard make a block of up to 128 kB of a few
// bytes.
const maxShrink = 1 << 16

var errArrowSize = errors.New("a buffer is larger than the file can have")

// newCountedMemory is for reading so many bytes: buffers of which they cannot be are refused before memory is taken for them.
func newCountedMemory(acct *budget.Account, bytes int64) *countedMemory {
	return &countedMemory{acct: acct, most: (bytes + 64) * maxShrink}
}

func (m *countedMemory) Allocate(size int) []byte {
	err := errArrowSize
	if int64(size) <= m.most {
		err = m.acct.Take(int64(size))
	}
	if err != nil {
		m.err = cmp.Or(m.err, err)
		panic(err)
	}
	return memory.DefaultAllocator.Allocate(size)
}

func (m *countedMemory) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := m.Allocate(size)
	copy(out, b)
	m.Free(b)
	return out
}

func (m *countedMemory) Free(b []byte) { m.acct.Give(int64(cap(b))) }

// lookArrow finds the columns of Arrow files, which all have the same. They are loaded as a whole.
func (s *Source) lookArrow(ctx context.Context, opts *Options) error {
	for i, in := range s.files {
		f, err := openArrow(ctx, in, nil)
		if err != nil {
			return err
		}
		if in.stream != nil {
			in.arrow = f // what it has said of its columns it does not say again
		} else {
			f.close()
		}
		var cols []catalog.ColumnDef
		for _, field := range f.schema.Fields() {
			cols = append(cols, arrowColumn(field))
		}
		if i == 0 {
			s.cols = cols
		}
		if len(cols) != len(s.cols) {
			return s.disagree(in, cols)
		}
		for k := range cols {
			if !sameColumn(&cols[k], &s.cols[k]) {
				return s.disagree(in, cols)
			}
		}
	}
	if len(s.cols) == 0 {
		return diag.Errorf(diag.FeatureNotSupported, diag.NoPos, "%s has no columns", s.describe())
	}
	s.arrow, s.seen = len(s.cols), true
	return s.addPlaces(opts)
}

// arrowColumn is a field as a column.
func arrowColumn(f arrow.Field) catalog.ColumnDef {
	c := catalog.ColumnDef{Name: f.Name}
	t, ok := arrowSQLType(f.Type)
	if !ok {
		c.Type, c.Foreign = types.TText, &catalog.Foreign{Type: f.Type.String(), Unreadable: true}
		return c
	}
	c.Type = t
	return c
}

// arrowGroup is batches that one goroutine makes a segment of, or several.
type arrowGroup struct {
	seq     int
	in      *input
	batches []arrow.RecordBatch
	rows    int64
}

// loadArrow reads Arrow files: one goroutine reads batches, the others make segments of them.
func (s *Source) loadArrow(ctx context.Context, table *catalog.Table, opts LoadOptions) ([]*catalog.Segment, error) {
	var total int64
	for _, f := range s.files {
		total += f.size
	}
	c := newCollector(opts, total)
	groups := make(chan *arrowGroup)
	var wg sync.WaitGroup
	for range opts.Threads {
		wg.Go(func() {
			for g := range groups {
				if !c.moot(g.seq) {
					if segs, err := s.arrowSegments(ctx, table, g, opts); err != nil {
						c.fail(g.seq, err)
					} else {
						c.put(g.seq, segs)
					}
				}
				for _, b := range g.batches {
					b.Release()
				}
			}
		})
	}
	seq, done := 0, int64(0)
	for _, in := range s.files {
		if c.moot(seq) {
			break
		}
		if err := cutArrow(ctx, in, opts.Account, &seq, groups); err != nil {
			c.fail(seq, err)
			break
		}
		done += in.size
		c.report(done)
	}
	close(groups)
	wg.Wait()
	if ctx.Err() != nil {
		c.fail(seq, diag.Canceled(ctx))
	}
	return c.result()
}

// cutArrow hands out the batches of a file, several together where they are small.
func cutArrow(ctx context.Context, in *input, acct *budget.Account, seq *int, groups chan<- *arrowGroup) (err error) {
	defer guard(in.path, &err)
	f, err := openArrow(ctx, in, acct)
	if err != nil {
		return err
	}
	defer f.close()
	g := &arrowGroup{in: in}
	send := func() {
		if g.seq = *seq; g.rows > 0 {
			*seq++
			groups <- g
		}
		g = &arrowGroup{in: in}
	}
	for ctx.Err() == nil {
		b, err := f.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			for _, b := range g.batches {
				b.Release()
			}
			return damaged(in.path, cmp.Or(f.mem.err, err))
		}
		g.batches, g.rows = append(g.batches, b), g.rows+b.NumRows()
		if g.rows >= column.SegmentRows {
			send()
		}
	}
	send()
	return nil
}

// arrowSegments makes segments of batches.
func (s *Source) arrowSegments(ctx context.Context, table *catalog.Table, g *arrowGroup, opts LoadOptions) (segs []*catalog.Segment, err error) {
	defer guard(g.in.path, &err)
	sb := table.NewSegmentBuilder()
	sb.Account, sb.Stopped = opts.Account, diag.Stopped(ctx)
	defer sb.Close()
	missing := unmapped(table, opts.Columns)
	seal := func() error {
		if sb.Rows() == 0 {
			return nil
		}
		if err := sb.Count(); err != nil {
			return err
		}
		seg, err := table.Seal(sb)
		if err == nil {
			segs = append(segs, seg)
			sb.Reset()
		}
		return err
	}
	for _, b := range g.batches {
		if int(b.NumCols()) != s.arrow {
			return segs, damaged(g.in.path, errors.New("a batch has other columns than the schema"))
		}
		for lo := 0; lo < int(b.NumRows()); {
			if ctx.Err() != nil {
				return segs, diag.Canceled(ctx)
			}
			have := 0
			if len(sb.Cols) > 0 {
				have = sb.Rows()
			}
			n := min(int(b.NumRows())-lo, column.SegmentRows-have)
			for i, to := range opts.Columns {
				if to < 0 || i >= s.arrow {
					continue
				}
				if err := appendBatch(sb.Cols[to], s.zone, &s.cols[i], &table.Columns[to], table.Name, b.Column(i), lo, lo+n); err != nil {
					return segs, located(err, "file %s, column %q", g.in.path, s.cols[i].Name)
				}
			}
			for i := range s.folders {
				if f := &s.folders[i]; opts.Columns[f.col] >= 0 {
					if err := (&folderTarget{f, sb.Cols[opts.Columns[f.col]]}).append(g.in, n); err != nil {
						return segs, err
					}
				}
			}
			appendDefaults(sb, missing, opts.Defaults, have+n)
			lo += n
			if have+n == column.SegmentRows || sb.Large() {
				if err := seal(); err != nil {
					return segs, err
				}
			}
		}
	}
	return segs, seal()
}

// appendBatch appends values of a column, as an assignment would.
func appendBatch(to *column.Builder, zone *types.Zone, from, def *catalog.ColumnDef, table string, col arrow.Array, lo, hi int) error {
	value := arrowValues(col, from.Type)
	if value == nil {
		return diag.Errorf(diag.DataCorrupted, diag.NoPos, "a batch has a column of type %s", col.DataType())
	}
	for row := lo; row < hi; row++ {
		if col.IsNull(row) {
			if def.NotNull {
				return diag.Errorf(diag.NotNullViolation, diag.NoPos, "null value in column %q of relation %q violates not-null constraint", def.Name, table)
			}
			to.AppendNull()
			continue
		}
		v, err := value(row)
		if err == nil && v.Type != def.Type {
			v, err = types.AssignIn(zone, v, def.Type)
		}
		if err != nil {
			return err
		}
		to.Append(v)
	}
	return nil
}
