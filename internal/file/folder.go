package file

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/kelpiedb/kelpie/internal/catalog"
)

// folderWriter writes rows to files data_0, data_1 … of a folder. Unlike other writers it may be called by many goroutines: as
// many files are open as write at the same time.
type folderWriter struct {
	stage *stage
	most  int64 // bytes from which on a file has no more rows; 0: it has any number

	mu     sync.Mutex
	idle   []*fileWriter // open, and nobody writes to them
	begun  bool
	closed bool
}

// NewFolder writes files below a folder. A file of so many bytes is followed by another; 0: it is not.
func NewFolder(ctx context.Context, to Folder, format Format, cols []catalog.ColumnDef, bytes int64, opts Options) (Writer, error) {
	s, err := newStage(ctx, to, format, cols, opts)
	return &folderWriter{stage: s, most: bytes}, err
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
	f.begun = true
	w, _, err := f.stage.open("", -1)
	return w, err
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
	if w.filled(f.most) {
		return w.Close()
	}
	f.mu.Lock()
	f.idle = append(f.idle, w)
	f.mu.Unlock()
	return nil
}

// filled reports a file that has so many bytes; 0: it has any number.
func (w *fileWriter) filled(most int64) bool {
	return most > 0 && w.file.written+int64(w.buf.Buffered()) >= most
}

// Close completes all files. If there were no rows, there is one without.
func (f *folderWriter) Close() error {
	if f.closed {
		return nil
	}
	var err error
	if !f.begun {
		var w *fileWriter
		if w, err = f.take(); err == nil {
			f.idle = append(f.idle, w)
		}
	}
	for len(f.idle) > 0 && err == nil {
		err = f.idle[0].Close()
		f.idle = f.idle[1:]
	}
	if err != nil {
		f.Abort()
		return err
	}
	f.closed = true
	return f.stage.commit()
}

// Abort removes what was written.
func (f *folderWriter) Abort() error {
	if f.closed {
		return nil
	}
	f.closed = true
	for _, w := range f.idle {
		w.Abort()
	}
	f.stage.abort()
	return nil
}
