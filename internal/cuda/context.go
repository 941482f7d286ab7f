package cuda

import (
	"runtime"
	"unsafe"
)

// Ptr is an address in a device's memory.
type Ptr uint64

// Context is a device's primary context: its memory, streams and code. It may be used by any number
// of goroutines at once.
type Context struct {
	d      *Driver
	Info   Info
	dev    int32
	handle uintptr
	pool   uintptr
}

const poolReleaseThreshold = 4 // an attribute of memory pools

// Context retains the primary context of a device. Freed memory stays in its pool, so that the next
// allocation takes microseconds; Trim gives it back.
func (d *Driver) Context(ordinal int) (*Context, error) {
	info, err := d.device(int32(ordinal))
	if err != nil {
		return nil, err
	}
	if !info.Pools {
		return nil, &Unavailable{Why: info.Name + " has no stream-ordered memory"}
	}
	c := &Context{d: d, Info: info}
	if code := d.lib.deviceGet(&c.dev, int32(ordinal)); code != success {
		return nil, d.failure("cuDeviceGet", code)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if code := d.lib.primaryRetain(&c.handle, c.dev); code != success {
		return nil, d.failure("cuDevicePrimaryCtxRetain", code)
	}
	err = c.call("cuDeviceGetDefaultMemPool", func(l *library) Code { return l.devicePool(&c.pool, c.dev) })
	if err == nil {
		keep := ^uint64(0)
		err = c.call("cuMemPoolSetAttribute", func(l *library) Code { return l.poolSet(c.pool, poolReleaseThreshold, &keep) })
	}
	if err != nil {
		d.lib.primaryRelease(c.dev)
		return nil, err
	}
	return c, nil
}

// Close releases the context.
func (c *Context) Close() error {
	return c.call("cuDevicePrimaryCtxRelease", func(l *library) Code { return l.primaryRelease(c.dev) })
}

// call makes the context current on this thread and runs f there.
func (c *Context) call(name string, f func(l *library) Code) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l := &c.d.lib
	if code := l.setCurrent(c.handle); code != success {
		return c.d.failure("cuCtxSetCurrent", code)
	}
	if code := f(l); code != success {
		return c.d.failure(name, code)
	}
	return nil
}

// Sync waits for all work of the context.
func (c *Context) Sync() error {
	return c.call("cuCtxSynchronize", func(l *library) Code { return l.syncContext() })
}

// FetchGranularity asks for the number of bytes, 32, 64 or 128, that a miss brings to L2.
func (c *Context) FetchGranularity(bytes int) error {
	const limitFetch = 5
	return c.call("cuCtxSetLimit", func(l *library) Code { return l.setLimit(limitFetch, uint64(bytes)) })
}

// Memory returns the free and the total memory of the device, by other processes' use too.
func (c *Context) Memory() (free, total uint64, err error) {
	err = c.call("cuMemGetInfo", func(l *library) Code { return l.memInfo(&free, &total) })
	return free, total, err
}

// Pool returns what the pool holds and how much of it is allocated.
func (c *Context) Pool() (reserved, used uint64, err error) {
	const reservedNow, usedNow = 5, 7
	err = c.call("cuMemPoolGetAttribute", func(l *library) Code {
		if code := l.poolGet(c.pool, reservedNow, &reserved); code != success {
			return code
		}
		return l.poolGet(c.pool, usedNow, &used)
	})
	return reserved, used, err
}

// Trim gives pool memory beyond keep bytes back to the system.
func (c *Context) Trim(keep uint64) error {
	return c.call("cuMemPoolTrimTo", func(l *library) Code { return l.poolTrim(c.pool, keep) })
}

// Pinned allocates host memory that the device can reach. It is slow to come by (seconds for some
// GiB): keep it.
func (c *Context) Pinned(bytes int) (unsafe.Pointer, error) {
	const portable, mapped = 1, 2
	var p unsafe.Pointer
	err := c.call("cuMemHostAlloc", func(l *library) Code { return l.hostAlloc(&p, uint64(bytes), portable|mapped) })
	return p, err
}

// FreePinned frees what Pinned gave.
func (c *Context) FreePinned(p unsafe.Pointer) error {
	return c.call("cuMemFreeHost", func(l *library) Code { return l.hostFree(p) })
}

// Register pins memory that exists, outside of the Go heap, and returns its address for the device.
func (c *Context) Register(p unsafe.Pointer, bytes int) (Ptr, error) {
	const portable, mapped = 1, 2
	err := c.call("cuMemHostRegister", func(l *library) Code { return l.hostRegister(p, uint64(bytes), portable|mapped) })
	if err != nil {
		return 0, err
	}
	return c.Mapped(p)
}

// Mapped is the device's address of pinned or registered memory.
func (c *Context) Mapped(p unsafe.Pointer) (Ptr, error) {
	var at Ptr
	err := c.call("cuMemHostGetDevicePointer", func(l *library) Code { return l.hostDevicePtr(&at, p, 0) })
	return at, err
}

// Unregister ends what Register began.
func (c *Context) Unregister(p unsafe.Pointer) error {
	return c.call("cuMemHostUnregister", func(l *library) Code { return l.hostUnregister(p) })
}
