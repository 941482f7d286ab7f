package simt

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"unsafe"
)

const (
	warpSize = 32
	maxBlock = 1024
	fullMask = ^uint32(0)

	// slice is how many instructions a warp runs before the next has its turn,
	// so that warps that wait for each other in a loop make progress.
	slice = 512
	// Every so many instructions the context is looked at.
	ctxEvery = 8 * slice

	// DefaultStepLimit ends kernels that loop for ever within minutes.
	DefaultStepLimit = 1 << 33
)

// Device is a simulated GPU: its memory and its rules. It may be used by several
// goroutines; each launch runs in its caller's.
type Device struct {
	// Strict counts lanes that have ended, or were never launched, as missing
	// where a mask names them or a barrier waits. PTX excuses them; Kelpie's IR
	// does not (a lane may end only where no collective follows), so NewDevice
	// sets it.
	Strict bool

	// StepLimit bounds the warp instructions of a launch.
	StepLimit uint64

	mu      sync.Mutex
	buffers []buffer // by address, never changed in place
}

// NewDevice makes a device without memory.
func NewDevice() *Device { return &Device{Strict: true, StepLimit: DefaultStepLimit} }

type buffer struct {
	base     uint64
	data     []byte
	writable bool
}

// Register makes size bytes of host memory at addr the device's, under the same
// address. Memory of the Go heap stays alive while it is registered; memory on a
// goroutine's stack moves and must not be registered.
func (dev *Device) Register(addr uintptr, size int, writable bool) error {
	if addr == 0 || size <= 0 || addr+uintptr(size) < addr {
		return fmt.Errorf("simt: cannot register %d bytes at %#x", size, addr)
	}
	b := buffer{base: uint64(addr), writable: writable}
	// The address of a live object or mapping becomes a pointer again here, and
	// is kept as one, so that every later access is an ordinary slice access.
	b.data = unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), size)
	dev.mu.Lock()
	defer dev.mu.Unlock()
	i, _ := dev.search(b.base)
	if i > 0 && dev.buffers[i-1].base+uint64(len(dev.buffers[i-1].data)) > b.base ||
		i < len(dev.buffers) && b.base+uint64(size) > dev.buffers[i].base {
		return fmt.Errorf("simt: %d bytes at %#x overlap registered memory", size, addr)
	}
	dev.buffers = slices.Insert(slices.Clone(dev.buffers), i, b)
	return nil
}

// Unregister takes back what was registered at addr.
func (dev *Device) Unregister(addr uintptr) error {
	dev.mu.Lock()
	defer dev.mu.Unlock()
	i, found := dev.search(uint64(addr))
	if !found {
		return fmt.Errorf("simt: nothing is registered at %#x", addr)
	}
	dev.buffers = slices.Delete(slices.Clone(dev.buffers), i, i+1)
	return nil
}

func (dev *Device) search(base uint64) (int, bool) {
	return slices.BinarySearchFunc(dev.buffers, base, func(b buffer, x uint64) int {
		if b.base < x {
			return -1
		}
		if b.base > x {
			return 1
		}
		return 0
	})
}

// Launch runs a kernel over grid blocks of block threads and waits for its end.
// Stats are valid up to an error, which is an *Error.
func (dev *Device) Launch(ctx context.Context, k *Kernel, grid, block int, params []uint64) (Stats, error) {
	bad := func(format string, args ...any) (Stats, error) {
		return Stats{}, &Error{Kind: BadLaunch, Kernel: k.Name, Block: -1, Warp: -1, Lane: -1,
			Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case grid < 1 || grid > 1<<31-1:
		return bad("a grid of %d blocks", grid)
	case block < 1 || block > maxBlock:
		return bad("a block of %d threads", block)
	case k.maxThreads > 0 && block > k.maxThreads, k.exactly && block != k.maxThreads:
		return bad("a block of %d threads, declared for %d", block, k.maxThreads)
	case len(params) != len(k.Params):
		return bad("%d parameters, not %d", len(params), len(k.Params))
	}
	dev.mu.Lock()
	buffers := dev.buffers
	dev.mu.Unlock()
	l := newLaunch(ctx, dev, buffers, k, grid, block, params)
	err := l.run()
	return l.finish(), err
}
