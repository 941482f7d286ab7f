package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// Writer writes record batches to a file. It belongs to one goroutine.
type Writer interface {
	// Write writes the rows of a batch, whose columns must be those of the schema.
	Write(rec arrow.RecordBatch) error
	// Close completes the file and puts it under its name. If it fails, there is no file.
	Close() error
	// Abort gives up. After Close, and when called again, it does nothing.
	Abort() error
}

// Preparer is a Writer that many goroutines can do something for before it writes.
type Preparer interface {
	Writer
	// Prepare does it for a batch, which stays until write was called, by one goroutine at a time.
	Prepare(rec arrow.RecordBatch) (write func() error)
}

// encoder turns batches into bytes.
type encoder interface {
	write(rec arrow.RecordBatch) error
	finish() error
}

// NewWriter is NewWriterContext without an end.
func NewWriter(path string, format Format, schema []catalog.ColumnDef, opts Options) (Writer, error) {
	return NewWriterContext(context.Background(), path, format, schema, opts)
}

// NewWriterContext makes a file; if there is one of that name, it stays until Close. Format
// Auto is by the name; CSV if that says nothing. Waiting for whoever reads a named pipe ends with the context.
func NewWriterContext(ctx context.Context, path string, format Format, schema []catalog.ColumnDef, opts Options) (Writer, error) {
	if format == Auto {
		format = opts.Format
	}
	if format == Auto {
		var err error
		if format, err = FormatByName(path); err != nil {
			return nil, err
		}
	}
	if err := compressible(path, format); err != nil {
		return nil, err
	}
	out, err := createTemp(ctx, path)
	if err != nil {
		return nil, err
	}
	w, err := writerTo(out, path, format, schema, opts)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// writerTo writes to a file, whose name tells what options do not. If it fails, there is no file.
func writerTo(out *tempFile, path string, format Format, schema []catalog.ColumnDef, opts Options) (*fileWriter, error) {
	opts.Stream = opts.Stream || format == Arrow && extension(path) == ".arrows"
	if opts.Delimiter == 0 && format != Parquet && format != Arrow {
		opts.Delimiter = delimiterByName(path)
	}
	if opts.Compression == "" && format != Parquet && format != Arrow {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".gz":
			opts.Compression = "gzip"
		case ".zst":
			opts.Compression = "zstd"
		}
	}
	w, err := newWriter(out, format, schema, opts)
	if err != nil {
		out.remove()
		return nil, err
	}
	w.file = out
	return w, nil
}

// compressible refuses names that say of a file what it will not be: compressed as a whole.
func compressible(path string, format Format) error {
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".bz2":
		return diag.Unsupported(diag.NoPos, "writing %q: compression by bzip2", path).WithHint("names that end with .gz and .zst are compressed")
	case (ext == ".gz" || ext == ".zst") && (format == Parquet || format == Arrow):
		return diag.Unsupported(diag.NoPos, "writing %q: %s files are not compressed as a whole", path, format).
			WithHint("the option COMPRESSION compresses the columns inside")
	}
	return nil
}

// NewStreamWriter writes to w, as for COPY TO STDOUT. Nothing can be taken back there: Abort
// only stops.
func NewStreamWriter(w io.Writer, format Format, schema []catalog.ColumnDef, opts Options) (Writer, error) {
	return newWriter(w, format, schema, opts)
}

// fileWriter is an encoder with what is behind it.
type fileWriter struct {
	enc    encoder
	buf    *bufio.Writer
	zip    io.WriteCloser // nil if there is none
	file   *tempFile      // nil for a stream
	closed bool
	err    error // the first
}

const writeBuffer = 1 << 18

func newWriter(out io.Writer, format Format, schema []catalog.ColumnDef, opts Options) (w *fileWriter, err error) {
	defer diag.Recover("write "+format.String(), &err)
	if err := opts.check(); err != nil {
		return nil, err
	}
	w = &fileWriter{}
	size := opts.buffer
	if size == 0 {
		size = writeBuffer
	}
	switch format {
	case Parquet:
		w.buf = bufio.NewWriterSize(out, size)
		w.enc, err = newParquetEncoder(w.buf, schema, opts)
		return w, err
	case Arrow:
		w.buf = bufio.NewWriterSize(out, size)
		w.enc, err = newArrowEncoder(w.buf, opts)
		return w, err
	}
	switch opts.Compression {
	case "", "none", "uncompressed":
	case "gzip":
		w.zip = gzip.NewWriter(out)
	case "zstd":
		if w.zip, err = zstd.NewWriter(out); err != nil {
			return nil, err
		}
	default:
		return nil, diag.Unsupported(diag.NoPos, "compression %q of text", opts.Compression)
	}
	if w.zip != nil {
		out = w.zip
	}
	w.buf = bufio.NewWriterSize(out, size)
	switch format {
	case JSON:
		w.enc, err = newJSONEncoder(w.buf, schema, opts)
	case Text:
		w.enc, err = newCSVEncoder(w.buf, format, schema, opts)
	default:
		w.enc, err = newCSVEncoder(w.buf, CSV, schema, opts)
	}
	return w, err
}

func (w *fileWriter) Write(rec arrow.RecordBatch) (err error) {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return diag.Internalf("write file", "a batch after the end")
	}
	defer func() { w.err = err }()
	defer diag.Recover("write file", &err)
	return w.word(w.enc.write(rec))
}

// word names the file in errors of the operating system.
func (w *fileWriter) word(err error) error {
	var pe *os.PathError
	if w.file != nil && errors.As(err, &pe) {
		return fileError("write", w.file.path, pe.Err)
	}
	return err
}

// settle leaves little in memory of what was written.
func (w *fileWriter) settle() (err error) {
	defer func() { w.err = err }()
	defer diag.Recover("write file", &err)
	if e, ok := w.enc.(interface{ settle() error }); ok {
		return w.word(e.settle())
	}
	return nil
}

func (w *fileWriter) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.err == nil {
		w.err = w.word(w.flush())
	}
	if w.file == nil {
		return w.err
	}
	if w.err != nil {
		w.file.remove()
		return w.err
	}
	w.err = w.file.commit()
	return w.err
}

// flush writes everything out.
func (w *fileWriter) flush() (err error) {
	defer diag.Recover("write file", &err)
	if err := w.enc.finish(); err != nil {
		return err
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	if w.zip != nil {
		return w.zip.Close()
	}
	return nil
}

func (w *fileWriter) Abort() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.file == nil {
		return nil
	}
	return w.file.remove()
}
