package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// folderWriter writes rows to files data_0, data_1 … of a folder. Unlike other writers it may be called by many goroutines: as
// many files are open as write at the same time.
type folderWriter struct {
	ctx    context.Context
	folder string
	format Format
	cols   []catalog.ColumnDef
	opts   Options
	most   int64 // bytes from which on a file has no more rows; 0: it has any number

	mu     sync.Mutex
	idle   []*fileWriter // open, and nobody writes to them
	begun  int           // files
	done   []string      // those that are complete
	closed bool
}

// NewFolder writes files below a folder, which must be empty unless replace is true: then files of the same names become others. A
// file of so many bytes is followed by another; 0: it is not.
func NewFolder(ctx context.Context, folder string, format Format, cols []catalog.ColumnDef, bytes int64, replace bool, opts Options) (Writer, error) {
	if err := emptyFolder(folder, replace); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fileError("create", folder, err)
	}
	return &folderWriter{ctx: ctx, folder: folder, format: format, cols: cols, opts: opts, most: bytes}, nil
}

// emptyFolder refuses a folder that has files already.
func emptyFolder(folder string, replace bool) error {
	list, err := os.ReadDir(folder)
	switch {
	case err == nil && len(list) > 0 && !replace:
		return diag.Errorf(diag.DuplicateFile, diag.NoPos, "folder %q is not empty", folder).
			WithHint("OVERWRITE_OR_IGNORE writes to it all the same")
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return fileError("open", folder, err)
	}
	return nil
}

// take is a file to write to that nobody else does.
func (f *folderWriter) take() (*fileWriter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		w := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return w, nil
	}
	path := filepath.Join(f.folder, fmt.Sprintf("data_%d%s", f.begun, extensionOf(f.format, &f.opts)))
	w, err := NewWriterContext(f.ctx, path, f.format, f.cols, f.opts)
	if err != nil {
		return nil, err
	}
	f.begun++
	return w.(*fileWriter), nil
}

// complete ends a file.
func (f *folderWriter) complete(w *fileWriter) error {
	err := w.Close()
	if err == nil {
		f.mu.Lock()
		f.done = append(f.done, w.file.path)
		f.mu.Unlock()
	}
	return err
}

func (f *folderWriter) Write(rec arrow.RecordBatch) error {
	w, err := f.take()
	if err != nil {
		return err
	}
	if err := w.Write(rec); err != nil {
		w.Abort()
		return err
	}
	if f.most > 0 && w.file.written+int64(w.buf.Buffered()) >= f.most {
		return f.complete(w)
	}
	f.mu.Lock()
	f.idle = append(f.idle, w)
	f.mu.Unlock()
	return nil
}

// Close completes all files. If there were no rows, there is one without.
func (f *folderWriter) Close() error {
	if f.closed {
		return nil
	}
	if f.begun == 0 {
		w, err := f.take()
		if err != nil {
			return err
		}
		f.idle = append(f.idle, w)
	}
	for len(f.idle) > 0 {
		w := f.idle[0]
		f.idle = f.idle[1:]
		if err := f.complete(w); err != nil {
			f.Abort()
			return err
		}
	}
	f.closed = true
	return nil
}

// Abort removes what was written; the folder stays.
func (f *folderWriter) Abort() error {
	if f.closed {
		return nil
	}
	f.closed = true
	for _, w := range f.idle {
		w.Abort()
	}
	for _, path := range f.done {
		os.Remove(path)
	}
	return nil
}
