//go:build linux || darwin

package column

import "golang.org/x/sys/unix"

// mapMemory maps n zeroed bytes, a multiple of pageBytes.
func mapMemory(n int) (uintptr, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	return uintptr(p), err
}

func unmapMemory(addr uintptr, n int) {
	if err := unix.MunmapPtr(pointer(addr), uintptr(n)); err != nil {
		panic("column: munmap: " + err.Error()) // only a wrong address can cause it
	}
}

// trimMapping gives all of a mapping back but n bytes from at on, and returns their address.
func trimMapping(addr uintptr, size int, at uintptr, n int) uintptr {
	if head := int(at - addr); head > 0 {
		unmapMemory(addr, head)
	}
	if tail := size - n - int(at-addr); tail > 0 {
		unmapMemory(at+uintptr(n), tail)
	}
	return at
}
