package file

import (
	"bytes"
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// partitionedWriter writes rows to files by the values of some columns, in folders named after the values. Rows come in any order.
// Batches wait, with the number of each row's partition, until there are enough; then all partitions that have rows are written,
// several at a time. Of each partition the rows stay in order. A bounded number of files is open: one that has had no rows for the
// longest time is closed. If more come for its folder, they are added to it where the format lets them, else there is another file.
type partitionedWriter struct {
	stage   *stage
	keys    []int // the columns that folders are named after
	inner   []int // those that are in the files
	names   []string
	threads int
	most    int64 // bytes that may wait
	files   int   // that may be open
	bytes   int64 // from which on a file has no more rows; 0: it has any number

	finding sync.RWMutex
	numbers map[string]uint32 // of partitions, by their values
	parts   []*part           // by number
	waiting []labeled
	rows    int   // that wait
	size    int64 // bytes of them
	closed  bool

	mu   sync.Mutex
	open []*part // with a file to which nobody is writing, the one that was used last at the end
}

// part is a partition.
type part struct {
	below string      // its folder's name, below the first
	w     *fileWriter // nil: none is open
	file  int         // the number of one that is closed, and may have more rows; -1: there is none
	// closing ends when who has taken the file away has closed it; nil: nobody ever has.
	closing chan struct{}
}

// labeled is a batch that waits, with the partitions of its rows.
type labeled struct {
	rec   arrow.RecordBatch
	parts []uint32
}

// place is a row that waits.
type place struct{ batch, row int32 }

// Partitions say how rows become several files.
type Partitions struct {
	Keys    []int // columns that folders are named after
	Keep    bool  // files have these columns, too
	Threads int   // that write
	Memory  int64 // bytes of rows that may wait until they are written
	Size    int64 // bytes from which on a file has no more rows; 0: it has any number
}

const (
	// mostFiles is how many files of partitions are open, as many as DuckDB's.
	mostFiles = 100
	// rowCost is what it takes to remember where a row is, and belongs.
	rowCost = 12
	// gatherRows is how many rows are put together to be written.
	gatherRows = 32 << 10
)

// NewPartitioned writes files below a folder.
func NewPartitioned(ctx context.Context, to Folder, format Format, schema []catalog.ColumnDef, by Partitions, opts Options) (Writer, error) {
	p := &partitionedWriter{keys: by.Keys, threads: by.Threads, most: by.Memory, files: mostFiles, bytes: by.Size, numbers: map[string]uint32{}}
	var cols []catalog.ColumnDef
	var fields []arrow.Field
	var force []bool
	for i, c := range schema {
		if slices.Contains(by.Keys, i) && !by.Keep {
			continue
		}
		p.inner, cols = append(p.inner, i), append(cols, c)
		if opts.Schema != nil {
			fields = append(fields, opts.Schema.Field(i))
		}
		if opts.ForceQuote != nil {
			force = append(force, opts.ForceQuote[i])
		}
	}
	if len(p.inner) == 0 {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "no column is left for the files if all are in the names of folders").
			WithHint("WRITE_PARTITION_COLUMNS writes them to the files, too")
	}
	for _, k := range by.Keys {
		p.names = append(p.names, escapeHive(schema[k].Name))
	}
	if opts.Schema != nil {
		opts.Schema = arrow.NewSchema(fields, nil)
	}
	opts.ForceQuote = force
	opts.buffer = partitionBuffer
	if format != Parquet && format != Arrow && opts.Compression != "" { // an encoder that compresses needs megabytes
		p.files = 0
	}
	var err error
	p.stage, err = newStage(ctx, to, format, cols, opts)
	return p, err
}

// partitionBuffer is the bytes of a file that wait to be written, where many are open.
const partitionBuffer = 32 << 10

// Prepare finds out which rows belong to which folder.
func (p *partitionedWriter) Prepare(rec arrow.RecordBatch) (write func() error) {
	cells := make([]func([]byte, int) []byte, len(p.keys))
	for i, k := range p.keys {
		if s, ok := rec.Column(k).(*array.String); ok {
			cells[i] = func(dst []byte, row int) []byte { return append(dst, s.Value(row)...) }
		} else {
			cells[i] = plainCell(rec.Column(k), false)
		}
	}
	var key, last []byte
	parts := make([]uint32, rec.NumRows())
	p.finding.RLock()
	for row := range parts {
		key = key[:0]
		for i, k := range p.keys { // texts have no zero bytes
			if rec.Column(k).IsNull(row) {
				key = append(key, 0)
				continue
			}
			key = append(cells[i](append(key, 1), row), 0)
		}
		if row > 0 && bytes.Equal(key, last) {
			parts[row] = parts[row-1]
			continue
		}
		last = append(last[:0], key...)
		at, ok := p.numbers[string(key)]
		if !ok {
			p.finding.RUnlock()
			at = p.number(string(key))
			p.finding.RLock()
		}
		parts[row] = at
	}
	p.finding.RUnlock()
	size := rec.NumRows() * rowCost
	for _, c := range rec.Columns() {
		size += int64(c.Data().SizeInBytes())
	}
	return func() error {
		rec.Retain()
		p.waiting = append(p.waiting, labeled{rec, parts})
		p.rows += len(parts)
		if p.size += size; p.size < p.most {
			return nil
		}
		return p.flush()
	}
}

// number is that of a partition, which is perhaps new.
func (p *partitionedWriter) number(key string) uint32 {
	p.finding.Lock()
	defer p.finding.Unlock()
	at, ok := p.numbers[key]
	if !ok {
		at = uint32(len(p.parts))
		p.numbers[key] = at
		p.parts = append(p.parts, &part{below: p.folder(key), file: -1})
	}
	return at
}

// Write takes the rows of a batch.
func (p *partitionedWriter) Write(rec arrow.RecordBatch) error {
	return p.Prepare(rec)()
}

// folder is the name of a key's folder, below the first.
func (p *partitionedWriter) folder(key string) string {
	var levels []string
	for _, name := range p.names {
		value := hiveNull
		if key[0] == 0 {
			key = key[1:]
		} else {
			value, key, _ = strings.Cut(key[1:], "\x00")
			value = escapeHive(value)
		}
		levels = append(levels, name+"="+value)
	}
	return filepath.Join(levels...)
}

// flush writes all rows that wait, several partitions at a time.
func (p *partitionedWriter) flush() error {
	defer p.forget()
	p.finding.RLock()
	parts := p.parts
	p.finding.RUnlock()
	ends := make([]int, len(parts)+1) // where the places of a partition end; at first, of the one before
	for _, x := range p.waiting {
		for _, at := range x.parts {
			ends[at+1]++
		}
	}
	for i := range parts {
		ends[i+1] += ends[i]
	}
	places := make([]place, p.rows)
	for i, x := range p.waiting {
		for row, at := range x.parts {
			places[ends[at]] = place{int32(i), int32(row)}
			ends[at]++
		}
	}
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, p.threads)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			defer diag.Recover("write partitions", &errs[i])
			for errs[i] == nil && !failed.Load() {
				k := int(next.Add(1) - 1)
				if k >= len(parts) {
					return
				}
				lo := 0
				if k > 0 {
					lo = ends[k-1]
				}
				if lo < ends[k] {
					errs[i] = p.writeRows(parts[k], places[lo:ends[k]])
				}
			}
			failed.Store(true)
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// forget drops the rows that wait.
func (p *partitionedWriter) forget() {
	for _, x := range p.waiting {
		x.rec.Release()
	}
	p.waiting, p.rows, p.size = nil, 0, 0
}

// writeRows writes the rows of a partition.
func (p *partitionedWriter) writeRows(x *part, rows []place) error {
	if p.stage.ctx.Err() != nil {
		return diag.Canceled(p.stage.ctx)
	}
	p.mu.Lock()
	if i := slices.Index(p.open, x); i >= 0 { // it is not for others to close
		p.open = slices.Delete(p.open, i, i+1)
	}
	closing := x.closing
	p.mu.Unlock()
	if closing != nil {
		<-closing
	}
	if err := p.gather(x, rows); err != nil || x.w == nil {
		return err
	}
	if err := x.w.settle(); err != nil {
		return err
	}
	p.mu.Lock()
	p.open = append(p.open, x)
	if len(p.open) <= p.files {
		p.mu.Unlock()
		return nil
	}
	old := p.open[0]
	p.open = p.open[1:]
	closed, w := make(chan struct{}), old.w
	old.w, old.closing = nil, closed
	p.mu.Unlock()
	defer close(closed)
	return w.Close()
}

// gather puts the rows of a partition together and writes them.
func (p *partitionedWriter) gather(x *part, rows []place) error {
	schema := p.waiting[0].rec.Schema()
	fields := make([]arrow.Field, len(p.inner))
	cols := make([]gatherer, len(p.inner))
	for i, c := range p.inner {
		fields[i] = schema.Field(c)
		var err error
		if cols[i], err = newGatherer(fields[i].Type); err != nil {
			return err
		}
	}
	schema = arrow.NewSchema(fields, nil)
	n := 0
	write := func() error {
		out := make([]arrow.Array, len(cols))
		for i, c := range cols {
			out[i] = c.take()
			defer out[i].Release()
		}
		rec := array.NewRecordBatch(schema, out, int64(n))
		defer rec.Release()
		n = 0
		if x.w == nil {
			var err error
			if x.w, x.file, err = p.stage.open(x.below, x.file); err != nil {
				return err
			}
		}
		if err := x.w.Write(rec); err != nil || !x.w.filled(p.bytes) {
			return err
		}
		w := x.w
		x.w, x.file = nil, -1
		return w.Close()
	}
	var some []int32
	for len(rows) > 0 {
		batch := rows[0].batch
		some = some[:0]
		for len(rows) > 0 && rows[0].batch == batch {
			some, rows = append(some, rows[0].row), rows[1:]
		}
		for i, c := range p.inner {
			cols[i].add(p.waiting[batch].rec.Column(c), some)
		}
		if n += len(some); n >= gatherRows {
			if err := write(); err != nil {
				return err
			}
		}
	}
	if n == 0 {
		return nil
	}
	return write()
}

func (p *partitionedWriter) Close() error {
	if p.closed {
		return nil
	}
	err := p.flush()
	for _, x := range p.open {
		if err == nil {
			err = x.w.Close()
		}
	}
	if err != nil {
		p.Abort()
		return err
	}
	p.closed = true
	return p.stage.commit()
}

// Abort removes what was written.
func (p *partitionedWriter) Abort() error {
	if p.closed {
		return nil
	}
	p.closed = true
	p.forget()
	for _, x := range p.parts {
		if x.w != nil {
			x.w.Abort()
		}
	}
	p.stage.abort()
	return nil
}

// escapeHive writes what paths cannot have, or what would be taken for something else, as %2F and the like.
func escapeHive(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 && (i > 0 || s != hiveNull) {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
	return b.String()
}

// extensionOf is how the names of a format's files end.
func extensionOf(f Format, opts *Options) string {
	ext := map[Format]string{Parquet: ".parquet", JSON: ".json", Text: ".tbl", Arrow: ".arrow"}[f]
	if ext == "" {
		ext = ".csv"
	}
	switch f {
	case Parquet:
	case Arrow:
		if opts.Stream {
			ext += "s"
		}
	default:
		ext += map[string]string{"gzip": ".gz", "zstd": ".zst"}[opts.Compression]
	}
	return ext
}
