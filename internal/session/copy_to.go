package session

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec"
	"github.com/kelpiedb/kelpie/internal/exec/result"
	"github.com/kelpiedb/kelpie/internal/file"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/sql/bind"
)

// copyTo is COPY (query) TO file. Rows are written while the query runs, where it can deliver them; others when all are there.
func (s *Session) copyTo(ctx context.Context, b *bind.Copy, opts file.Options, t Timing) (*Result, error) {
	set := s.Settings()
	form := &Result{Columns: resultColumns(b.Query), zone: set.client.zone}
	if opts.Format != file.Parquet && opts.Format != file.Arrow {
		form.TextIntervals()
	}
	if opts.Format == file.Arrow {
		opts.Schema = form.Schema()
	}
	w, err := s.copyWriter(ctx, b, form, opts)
	if err != nil {
		return nil, atPos(err, b.Pos)
	}
	c := &copying{form: form, w: w, pos: b.Pos, apart: b.PerThread}
	form.Schema() // made once
	res, err := s.deliverQuery(ctx, b.Query, c, t)
	if err != nil {
		w.Abort()
		return nil, err
	}
	defer res.Close()
	// The optimizer may have found that columns have no NULLs; the file was begun without knowing that.
	res.Columns, res.schema, res.textIntervals = form.Columns, form.schema, form.textIntervals
	start := time.Now()
	if err := res.writeTo(ctx, w, s.Progress); err != nil {
		return nil, atPos(err, b.Pos)
	}
	tm := res.Timing
	tm.Exec += time.Since(start)
	return done(fmt.Sprintf("COPY %d", c.rows.Load()+res.Rows), tm), nil
}

// existing is what becomes of files that a folder has already.
var existing = map[bind.Existing]file.Existing{bind.Refuse: file.Refuse, bind.Replace: file.Replace, bind.Remove: file.Remove, bind.Append: file.Append}

// mostPartitioned is how many bytes of rows wait to be written to the files of PARTITION_BY; of a statement with a limit, a quarter of that.
const mostPartitioned = 128 << 20

// copyWriter opens what COPY writes to.
func (s *Session) copyWriter(ctx context.Context, b *bind.Copy, form *Result, opts file.Options) (file.Writer, error) {
	cols := form.columnDefs()
	several := b.PerThread || b.FileSize != "" || b.PartitionBy != nil
	size := int64(0)
	if b.FileSize != "" {
		var err error
		if size, err = ParseBytes(b.FileSize); err != nil || size < 1 {
			return nil, diag.Errorf(diag.InvalidParameter, b.Pos, "COPY FILE_SIZE_BYTES must be a size, such as 1000000 or '100MB'")
		}
	}
	to := file.Folder{Path: b.Path, Existing: existing[b.Existing], Pattern: b.Pattern, Extension: b.Extension}
	switch {
	case b.Stdio && several:
		return nil, diag.Unsupported(b.Pos, "COPY TO STDOUT with PARTITION_BY, PER_THREAD_OUTPUT or FILE_SIZE_BYTES").WithHint("name a folder")
	case b.Stdio && s.Stdout == nil:
		return nil, diag.Unsupported(b.Pos, "COPY TO STDOUT where nobody takes what is written").WithHint("name a file; programs give a session its streams")
	case b.Stdio:
		return file.NewStreamWriter(s.Stdout, opts.Format, cols, opts)
	case b.PartitionBy != nil && b.PerThread:
		return nil, diag.Unsupported(b.Pos, "PER_THREAD_OUTPUT with PARTITION_BY").WithHint("partitions are written by several threads anyway")
	case b.PartitionBy != nil:
		set := s.Settings()
		memory := int64(mostPartitioned)
		if set.Memory > 0 {
			memory = min(memory, set.Memory/4)
		}
		return file.NewPartitioned(ctx, to, opts.Format, cols,
			file.Partitions{Keys: b.PartitionBy, Keep: b.KeepColumns, Threads: set.Threads, Memory: memory, Size: size}, opts)
	case several:
		return file.NewFolder(ctx, to, opts.Format, cols, size, opts)
	}
	return file.NewWriterContext(ctx, b.Path, opts.Format, cols, opts)
}

// deliverQuery is query for rows that are written while it runs. What is read of files on the way does not drive out what others
// will want to read again.
func (s *Session) deliverQuery(ctx context.Context, q *plan.Query, to *copying, t Timing) (*Result, error) {
	set := s.Settings()
	opts := s.options(&set)
	opts.Deliver, set.readOnce = to.pack, true
	if running := opts.Progress; running != nil {
		opts.Progress = func(done, total int64) {
			if n := to.rows.Load(); n > 0 {
				s.Progress("writing", done, total, n)
				return
			}
			running(done, total)
		}
	}
	return s.runQuery(ctx, q, &set, opts, t)
}

// copying writes the rows that a query delivers.
type copying struct {
	form  *Result // what the rows are like
	w     file.Writer
	pos   int  // of the file's name in the statement
	apart bool // each thread writes to a file of its own
	rows  atomic.Int64
}

// pack makes batches of rows, on the thread that has them.
func (c *copying) pack(rows *result.Result) (p exec.Parcel, err error) {
	n := rows.Len()
	part := &Result{Columns: c.form.Columns, schema: c.form.schema, textIntervals: c.form.textIntervals, exec: rows, Rows: n}
	var batches []arrow.RecordBatch
	drop := func() {
		for _, b := range batches {
			b.Release()
		}
	}
	for {
		b, err := part.Next()
		if err != nil {
			drop()
			return p, err
		}
		if b == nil {
			break
		}
		batches = append(batches, b)
	}
	for _, b := range batches {
		for _, a := range b.Columns() {
			p.Size += int64(a.Data().SizeInBytes())
		}
	}
	writes := make([]func() error, len(batches))
	for i, b := range batches {
		if w, ok := c.w.(file.Preparer); ok {
			writes[i] = w.Prepare(b)
			continue
		}
		writes[i] = func() error { return c.w.Write(b) }
	}
	p.Drop = drop
	p.Send = func() error {
		defer drop()
		for _, write := range writes {
			if err := write(); err != nil {
				return atPos(err, c.pos)
			}
		}
		c.rows.Add(n)
		return nil
	}
	if c.apart {
		return exec.Parcel{Send: func() error { return nil }, Drop: func() {}}, p.Send()
	}
	return p, nil
}
