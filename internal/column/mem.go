package column

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/types"
)

// Mem is zeroed memory outside the Go heap: its address never changes, and the
// garbage collector does not look into it. It is given back when the Mem becomes
// unreachable, or by Free. Whoever hands its address to generated code keeps the Mem
// reachable meanwhile (runtime.KeepAlive).
type Mem struct {
	block   block
	size    int
	cleanup runtime.Cleanup
}

// block is what backs a Mem: a mapping of its own, or a piece of a slab.
type block struct {
	addr  uintptr
	bytes int // taken from the system or the slab
	class int // size class of a slab piece, -1 for a mapping
}

// Align is the alignment of every Mem and of every array in a chunk: a cache line,
// and the widest vector register.
const Align = 64

var inUse atomic.Int64

// BytesInUse is how many bytes all reachable Mems hold. Unreachable ones count until
// the garbage collector has seen them.
func BytesInUse() int64 { return inUse.Load() }

// Alloc returns size zeroed bytes, aligned to Align.
func Alloc(size int) (*Mem, error) {
	if size < 0 || size > 1<<46 {
		return nil, outOfMemory(size)
	}
	b, err := takeBlock(max(size, 1))
	if err != nil {
		return nil, err
	}
	inUse.Add(int64(b.bytes))
	m := &Mem{block: b, size: size}
	m.cleanup = runtime.AddCleanup(m, releaseBlock, b)
	checkPressure()
	return m, nil
}

func outOfMemory(size int) error {
	return &types.Error{Code: "53200", Msg: fmt.Sprintf("out of memory: cannot map %d bytes", size)}
}

// Addr is the address of the first byte; it is a multiple of Align.
func (m *Mem) Addr() uintptr { return m.block.addr }

// Size is the number of bytes asked for.
func (m *Mem) Size() int { return m.size }

// span is address and size; nothing for a nil Mem.
func (m *Mem) span() (addr uintptr, size int) {
	if m == nil {
		return 0, 0
	}
	return m.Addr(), m.Size()
}

// Bytes is the memory as a slice, valid while the Mem is reachable.
func (m *Mem) Bytes() []byte { return unsafe.Slice((*byte)(pointer(m.block.addr)), m.size) }

// Free gives the memory back now; the Mem must not be used again.
func (m *Mem) Free() {
	if m.block.addr == 0 {
		return
	}
	m.cleanup.Stop()
	b := m.block
	m.block = block{}
	releaseBlock(b)
}

func takeBlock(size int) (block, error) {
	if size <= slabMax {
		return takeSlab(size)
	}
	n := (size + pageBytes - 1) &^ (pageBytes - 1)
	addr, err := counted(n, mapAligned) // huge pages: a segment is written once, and faults would cost as much as that
	return block{addr, n, -1}, err
}

func releaseBlock(b block) {
	inUse.Add(-int64(b.bytes))
	if b.class < 0 {
		dropMapping(b.addr, b.bytes)
		return
	}
	freeSlab(b)
}

// pageBytes is a multiple of the page size of every system we run on (Apple's is 16 KiB).
const pageBytes = 16 << 10

// pointer turns an address of a Mem into a pointer. It goes through memory because
// vet and checkptr take a plain conversion for a mistake, as it would be for Go's own objects.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// slice is n elements at an address of a Mem.
func slice[T any](addr uintptr, n int) []T { return unsafe.Slice((*T)(pointer(addr)), n) }
