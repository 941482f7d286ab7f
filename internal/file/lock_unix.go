//go:build linux || darwin

package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file until what it returns is closed. It is nil if another has the lock (taken), or if
// there are no locks there.
func lockFile(name string) (lock *os.File, taken bool) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, os.IsNotExist(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err == unix.EWOULDBLOCK
	}
	return f, false
}
