//go:build unix

package file

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kelpiedb/kelpie/internal/diag"
)

// pipePatience is how long to wait for the other side before looking whether that is still wanted.
const pipePatience = 5 * time.Millisecond

// openWhenReady opens a named pipe once somebody has opened its other side. An ordinary open would wait for
// that, and nothing could interrupt it.
func openWhenReady(ctx context.Context, path string, flag int) (*os.File, error) {
	for {
		fd, err := unix.Open(path, flag|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		switch err {
		case nil:
			if flag == os.O_RDONLY {
				err = awaitWriter(ctx, fd)
			}
			if err != nil {
				unix.Close(fd)
				return nil, err
			}
			return os.NewFile(uintptr(fd), path), nil
		case unix.EINTR:
		case unix.ENXIO: // nobody reads yet
			select {
			case <-ctx.Done():
				return nil, diag.Canceled(ctx)
			case <-time.After(pipePatience):
			}
		default:
			return nil, err
		}
	}
}

// awaitWriter waits until somebody has written to a pipe, or opened and closed it. Before that, reading would
// take it for ended.
func awaitWriter(ctx context.Context, fd int) error {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(pipePatience.Milliseconds()))
		switch {
		case ctx.Err() != nil:
			return diag.Canceled(ctx)
		case err != nil && err != unix.EINTR:
			return err
		case n > 0:
			return nil
		}
	}
}
