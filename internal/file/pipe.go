package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// Named pipes make whoever opens, reads or writes them wait for the other side, which may never come. Here
// all of that ends with a context.

// pipe is a named pipe that is open for reading or for writing.
type pipe struct {
	*os.File
	path string
	ctx  context.Context // ends the waiting
}

// openPipe opens a named pipe, and waits for its other side; flag is os.O_RDONLY or os.O_WRONLY.
func openPipe(ctx context.Context, path string, flag int) (*pipe, error) {
	f, err := openWhenReady(ctx, path, flag)
	if d := (*diag.Error)(nil); err != nil && !errors.As(err, &d) {
		err = fileError("open", path, err)
	}
	return &pipe{f, path, ctx}, err
}

func (p *pipe) Read(b []byte) (int, error) {
	defer context.AfterFunc(p.ctx, func() { p.SetReadDeadline(time.Unix(1, 0)) })()
	n, err := p.File.Read(b)
	return n, p.word(err)
}

func (p *pipe) Write(b []byte) (int, error) {
	defer context.AfterFunc(p.ctx, func() { p.SetWriteDeadline(time.Unix(1, 0)) })()
	n, err := p.File.Write(b)
	return n, p.word(err)
}

// word tells the end of the context from an error of the system.
func (p *pipe) word(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && p.ctx.Err() != nil {
		return diag.Canceled(p.ctx)
	}
	return err
}

// special are the files that are neither regular nor folders.
const special = fs.ModeDevice | fs.ModeCharDevice | fs.ModeNamedPipe | fs.ModeSocket | fs.ModeIrregular

// isNullDevice reports the device that is always empty.
func isNullDevice(st os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(st, null)
}

// notAFile is the error of a path that names something without an end.
func notAFile(path string, st os.FileInfo) error {
	what := "a device"
	if st.Mode()&fs.ModeSocket != 0 {
		what = "a socket"
	}
	return diag.Errorf(diag.WrongObjectType, diag.NoPos, "%q is %s, not a file", path, what).
		WithHint("files and named pipes can be read")
}
