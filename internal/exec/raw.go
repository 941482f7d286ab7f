package exec

import (
	"unsafe"
)

// pointer turns an address outside of the Go heap into a pointer; through memory, because a
// plain conversion would be a mistake for Go's own objects and vet takes it for one.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func load64(addr uintptr) uint64     { return *(*uint64)(pointer(addr)) }
func store64(addr uintptr, x uint64) { *(*uint64)(pointer(addr)) = x }
func load8(addr uintptr) byte        { return *(*byte)(pointer(addr)) }
func store8(addr uintptr, x byte)    { *(*byte)(pointer(addr)) = x }

func words(addr uintptr, n int) []uint64  { return unsafe.Slice((*uint64)(pointer(addr)), n) }
func halves(addr uintptr, n int) []uint32 { return unsafe.Slice((*uint32)(pointer(addr)), n) }
func bytesAt(addr uintptr, n int) []byte  { return unsafe.Slice((*byte)(pointer(addr)), n) }

// textAt is the text in memory outside of the Go heap, not copied.
func textAt(addr uintptr, n int) string {
	if n == 0 {
		return ""
	}
	return unsafe.String((*byte)(pointer(addr)), n)
}

// addressOf is where bytes outside of the Go heap lie.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
