//go:build !linux && !darwin

package column

import (
	"sync"
	"unsafe"
)

// Elsewhere memory comes from the Go heap: objects without pointers, which do not
// move, held in a table until they are unmapped.
var held sync.Map // address → []byte

func mapMemory(n int) (uintptr, error) {
	buf := make([]byte, n+Align)
	addr := (uintptr(unsafe.Pointer(&buf[0])) + Align - 1) &^ (Align - 1)
	held.Store(addr, buf)
	return addr, nil
}

func unmapMemory(addr uintptr, _ int) { held.Delete(addr) }

func adviseHuge(uintptr, int) {}

func trimMapping(addr uintptr, _ int, _ uintptr, _ int) uintptr { return addr }
