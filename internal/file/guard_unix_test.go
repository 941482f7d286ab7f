//go:build unix

package file

import (
	"syscall"
	"testing"
)

// guards are mappings in which the first and the last page cannot be touched.
var guards [3][]byte

const guardedBytes, guardBytes = 1 << 20, 64 << 10

// guarded is n bytes behind, or before, which nothing can be read or written. Each of the places has one buffer.
func guarded(tb testing.TB, place, n int, atEnd bool) []byte {
	if guards[place] == nil {
		m, err := syscall.Mmap(-1, 0, guardedBytes+2*guardBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			tb.Skip(err)
		}
		for _, part := range [][]byte{m[:guardBytes], m[guardBytes+guardedBytes:]} {
			if err := syscall.Mprotect(part, syscall.PROT_NONE); err != nil {
				tb.Fatal(err)
			}
		}
		guards[place] = m[guardBytes:][:guardedBytes:guardedBytes]
	}
	m := guards[place]
	if n > len(m) {
		return make([]byte, n)
	}
	if atEnd {
		return m[len(m)-n:]
	}
	return m[:n:n]
}
