package simt

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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

	// DefaultSharedLimit is what a block may have on an H200.
	DefaultSharedLimit = 227 << 10
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

	// SharedLimit bounds a block's shared memory, what the kernel declares and what is dynamic.
	SharedLimit int

	// Explain, if not nil, says what is known of an address where no memory is.
	Explain func(addr uint64) string

	mu      sync.Mutex
	buffers []buffer // by address, never changed in place
}

// NewDevice makes a device without memory.
func NewDevice() *Device {
	return &Device{Strict: true, StepLimit: DefaultStepLimit, SharedLimit: DefaultSharedLimit}
}

type buffer struct {
	base     uint64
	data     []byte
	writable bool
	host     bool         // it lies beyond the bus
	made     *atomic.Bool // a kernel has written something there
}

// Register makes size bytes of host memory at addr the device's, under the same
// address. Memory of the Go heap stays alive while it is registered; memory on a
// goroutine's stack moves and must not be registered.
func (dev *Device) Register(addr uintptr, size int, writable bool) error {
	if addr == 0 || size <= 0 || addr+uintptr(size) < addr {
		return fmt.Errorf("simt: cannot register %d bytes at %#x", size, addr)
	}
	// The address of a live object or mapping becomes a pointer again here, and
	// is kept as one, so that every later access is an ordinary slice access.
	data := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), size)
	return dev.place(buffer{base: uint64(addr), data: data, writable: writable})
}

// Place makes data the device's, under an address of the device's own. Data begins at a multiple
// of 8; host says that it lies beyond the bus.
func (dev *Device) Place(base uint64, data []byte, host bool) error {
	if base == 0 || len(data) == 0 || base+uint64(len(data)) < base {
		return fmt.Errorf("simt: cannot place %d bytes at %#x", len(data), base)
	}
	return dev.place(buffer{base: base, data: data, writable: true, host: host})
}

func (dev *Device) place(b buffer) error {
	size := len(b.data)
	b.made = new(atomic.Bool)
	dev.mu.Lock()
	defer dev.mu.Unlock()
	i, _ := dev.search(b.base)
	if i > 0 && dev.buffers[i-1].base+uint64(len(dev.buffers[i-1].data)) > b.base ||
		i < len(dev.buffers) && b.base+uint64(size) > dev.buffers[i].base {
		return fmt.Errorf("simt: %d bytes at %#x overlap registered memory", size, b.base)
	}
	dev.buffers = slices.Insert(slices.Clone(dev.buffers), i, b)
	return nil
}

// Unregister takes back what was registered or placed at addr.
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

// Launch runs a kernel over grid blocks of block threads, in order, and waits for its end.
// Stats are valid up to an error, which is an *Error.
func (dev *Device) Launch(ctx context.Context, k *Kernel, grid, block int, params []uint64) (Stats, error) {
	return dev.LaunchShape(ctx, k, Shape{Grid: grid, Block: block}, params)
}

// LaunchShape runs a kernel and waits for its end, likewise.
func (dev *Device) LaunchShape(ctx context.Context, k *Kernel, shape Shape, params []uint64) (Stats, error) {
	grid, block := shape.Grid, shape.Block
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
	case shape.Shared < 0 || k.dynamicAt()+shape.Shared > dev.SharedLimit:
		return bad("%d bytes of dynamic shared memory beside %d declared ones, of at most %d", shape.Shared, k.SharedBytes, dev.SharedLimit)
	case len(params) != len(k.Params):
		return bad("%d parameters, not %d", len(params), len(k.Params))
	}
	dev.mu.Lock()
	buffers := dev.buffers
	dev.mu.Unlock()
	l := newLaunch(ctx, dev, buffers, k, shape, params)
	err := l.run()
	return l.finish(), err
}
