//go:build unix

package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// openOtherSide opens and closes the other side of a named pipe, which somebody may be waiting for. It
// returns false if that will never be possible.
func openOtherSide(path string, flag int) bool {
	other := unix.O_WRONLY
	if flag == os.O_WRONLY {
		other = unix.O_RDONLY
	}
	fd, err := unix.Open(path, other|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err == nil || err == unix.ENXIO || err == unix.EINTR
}
