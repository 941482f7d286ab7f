//go:build linux || darwin

package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile makes the bytes of a file readable in place; nil if it cannot.
func mapFile(h *os.File, size int64) []byte {
	m, err := unix.Mmap(int(h.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	return m
}

func unmapFile(m []byte) { _ = unix.Munmap(m) }
