package mem

import (
	"unsafe"
)

// Pointer turns an address outside of the Go heap into a pointer; through memory, because a
// plain conversion would be a mistake for Go's own objects and vet takes it for one.
func Pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// Words and bytes at addresses outside of the Go heap.
func Load64(addr uintptr) uint64     { return *(*uint64)(Pointer(addr)) }
func Store64(addr uintptr, x uint64) { *(*uint64)(Pointer(addr)) = x }
func Load8(addr uintptr) byte        { return *(*byte)(Pointer(addr)) }
func Store8(addr uintptr, x byte)    { *(*byte)(Pointer(addr)) = x }

// Stretches of memory as slices; nothing is copied.
func Words(addr uintptr, n int) []uint64  { return unsafe.Slice((*uint64)(Pointer(addr)), n) }
func Halves(addr uintptr, n int) []uint32 { return unsafe.Slice((*uint32)(Pointer(addr)), n) }
func Bytes(addr uintptr, n int) []byte    { return unsafe.Slice((*byte)(Pointer(addr)), n) }

// Text is the text in memory outside of the Go heap, not copied.
func Text(addr uintptr, n int) string {
	if n == 0 {
		return ""
	}
	return unsafe.String((*byte)(Pointer(addr)), n)
}

// AddressOf is where bytes outside of the Go heap lie.
func AddressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
