package file

import (
	"bufio"
	"errors"
	"fmt"
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

// encoder turns batches into bytes.
type encoder interface {
	write(rec arrow.RecordBatch) error
	finish() error
}

// NewWriter makes a file; if there is one of that name, it stays until Close. Format
// Auto is by the name; CSV if that says nothing.
func NewWriter(path string, format Format, schema []catalog.ColumnDef, opts Options) (Writer, error) {
	if format == Auto {
		format = opts.Format
	}
	if format == Auto {
		format = formatByName(path)
	}
	if opts.Delimiter == 0 && format != Parquet {
		opts.Delimiter = delimiterByName(path)
	}
	if opts.Compression == "" && format != Parquet {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".gz":
			opts.Compression = "gzip"
		case ".zst":
			opts.Compression = "zstd"
		}
	}
	out, err := createTemp(path)
	if err != nil {
		return nil, err
	}
	w, err := newWriter(out, format, schema, opts)
	if err != nil {
		out.remove()
		return nil, err
	}
	w.file = out
	return w, nil
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
	if format == Parquet {
		w.buf = bufio.NewWriterSize(out, writeBuffer)
		w.enc, err = newParquetEncoder(w.buf, schema, opts)
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
		return nil, diag.Unsupported(diag.NoPos, "compression %q of CSV", opts.Compression)
	}
	if w.zip != nil {
		out = w.zip
	}
	w.buf = bufio.NewWriterSize(out, writeBuffer)
	if format != Text {
		format = CSV
	}
	w.enc, err = newCSVEncoder(w.buf, format, schema, opts)
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

// tempFile is a file under another name in the same folder, until it is complete.
type tempFile struct {
	*os.File
	path string // what it is to be
	tmp  string // what it is; "" if it is a device or pipe, written in place
}

func createTemp(path string) (*tempFile, error) {
	target := path
	if t, err := filepath.EvalSymlinks(path); err == nil { // a link stays a link
		target = t
	}
	mode := os.FileMode(0o666)
	if st, err := os.Stat(target); err == nil {
		switch {
		case st.IsDir():
			return nil, diag.Errorf(diag.WrongObjectType, diag.NoPos, "%q is a directory", path)
		case !st.Mode().IsRegular(): // renaming onto /dev/null would not do
			f, err := os.OpenFile(target, os.O_WRONLY, 0)
			if err != nil {
				return nil, fileError("open", path, err)
			}
			return &tempFile{File: f, path: target}, nil
		}
		mode = st.Mode().Perm()
	}
	for try := 0; ; try++ {
		tmp := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d-%d.tmp", filepath.Base(target), os.Getpid(), try))
		f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
		switch {
		case err == nil:
			return &tempFile{File: f, path: target, tmp: tmp}, nil
		case !errors.Is(err, os.ErrExist) || try == 10000:
			return nil, fileError("create", path, err)
		}
	}
}

// commit gives the file its name.
func (f *tempFile) commit() error {
	if err := f.File.Close(); err != nil {
		f.remove()
		return fileError("write", f.path, err)
	}
	if f.tmp == "" {
		return nil
	}
	if err := os.Rename(f.tmp, f.path); err != nil {
		os.Remove(f.tmp)
		return fileError("create", f.path, err)
	}
	return nil
}

// remove forgets the file.
func (f *tempFile) remove() error {
	f.File.Close()
	if f.tmp == "" {
		return nil
	}
	return os.Remove(f.tmp)
}
