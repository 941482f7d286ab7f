package file

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// partitionedWriter writes rows to a file for each value of some columns, in folders named after the values. Rows come sorted by
// these columns, so that one file is open at a time.
type partitionedWriter struct {
	ctx    context.Context
	folder string
	format Format
	opts   Options
	keys   []int               // the columns that folders are named after
	rest   []int               // the others, which are in the files
	cols   []catalog.ColumnDef // all of them

	at     string // the present folder, below folder
	w      Writer // nil: none
	made   []string
	closed bool
}

// NewPartitioned writes files below a folder, which must be empty unless replace is true: then files of the same names become
// others.
func NewPartitioned(ctx context.Context, folder string, format Format, schema []catalog.ColumnDef, keys []int, replace bool, opts Options) (Writer, error) {
	p := &partitionedWriter{ctx: ctx, folder: folder, format: format, opts: opts, keys: keys, cols: schema}
	for i := range schema {
		key := false
		for _, k := range keys {
			key = key || k == i
		}
		if !key {
			p.rest = append(p.rest, i)
		}
	}
	if len(p.rest) == 0 {
		return nil, diag.Errorf(diag.InvalidParameter, diag.NoPos, "no column is left for the files if all are in the names of folders")
	}
	return p, emptyFolder(folder, replace)
}

// Write writes the rows of each value to their file.
func (p *partitionedWriter) Write(rec arrow.RecordBatch) error {
	n := int(rec.NumRows())
	for lo := 0; lo < n; {
		at := p.folderOf(rec, lo)
		hi := lo + 1
		for hi < n && p.folderOf(rec, hi) == at {
			hi++
		}
		if err := p.move(at); err != nil {
			return err
		}
		cols := make([]arrow.Array, len(p.rest))
		fields := make([]arrow.Field, len(p.rest))
		for i, c := range p.rest {
			cols[i], fields[i] = array.NewSlice(rec.Column(c), int64(lo), int64(hi)), rec.Schema().Field(c)
		}
		part := array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(hi-lo))
		for _, c := range cols {
			c.Release()
		}
		err := p.w.Write(part)
		part.Release()
		if err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// folderOf is the folder of a row, below the first.
func (p *partitionedWriter) folderOf(rec arrow.RecordBatch, row int) string {
	var b strings.Builder
	for _, k := range p.keys {
		value := hiveNull
		if c := rec.Column(k); c.IsValid(row) {
			value = url.PathEscape(c.ValueStr(row))
		}
		b.WriteString(url.PathEscape(p.cols[k].Name) + "=" + value + string(filepath.Separator))
	}
	return b.String()
}

// move goes to a folder.
func (p *partitionedWriter) move(at string) error {
	if p.w != nil && at == p.at {
		return nil
	}
	if err := p.end(); err != nil {
		return err
	}
	dir := filepath.Join(p.folder, at)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fileError("create", dir, err)
	}
	path := filepath.Join(dir, "data_0"+extensionOf(p.format, &p.opts))
	var cols []catalog.ColumnDef
	for _, c := range p.rest {
		cols = append(cols, p.cols[c])
	}
	opts := p.opts
	if opts.Schema != nil {
		var fields []arrow.Field
		for _, c := range p.rest {
			fields = append(fields, opts.Schema.Field(c))
		}
		opts.Schema = arrow.NewSchema(fields, nil)
	}
	w, err := NewWriterContext(p.ctx, path, p.format, cols, opts)
	if err != nil {
		return err
	}
	p.w, p.at, p.made = w, at, append(p.made, path)
	return nil
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

// end completes the present file.
func (p *partitionedWriter) end() error {
	if p.w == nil {
		return nil
	}
	w := p.w
	p.w = nil
	return w.Close()
}

func (p *partitionedWriter) Close() error {
	if p.closed {
		return nil
	}
	if err := p.end(); err != nil {
		p.Abort()
		return err
	}
	p.closed = true
	return nil
}

// Abort removes what was written; folders stay.
func (p *partitionedWriter) Abort() error {
	if p.closed {
		return nil
	}
	p.closed = true
	if p.w != nil {
		p.w.Abort()
		p.made = p.made[:len(p.made)-1]
	}
	for _, path := range p.made {
		os.Remove(path)
	}
	return nil
}
