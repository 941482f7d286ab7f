package cuda

import (
	"bytes"
	"runtime"
	"unsafe"
)

// Options of the linker, as numbered by the driver.
const (
	optRegisters    = 0
	optErrorLog     = 5
	optErrorBytes   = 6
	optOptimization = 7
	inputPTX        = 1
)

// Link compiles PTX to machine code for this device. Several goroutines may link at once, and nothing
// else waits meanwhile (loading PTX as a module takes one lock and holds up copies). registers bounds what a thread has; 0: nothing does.
func (c *Context) Link(ptx []byte, registers int) (cubin []byte, err error) {
	return c.LinkAt(ptx, registers, optimized)
}

// Prepare lets the driver load what it compiles with, which the first Link of a process does otherwise: 64 ms where a small kernel takes 8. What fails here
// fails there again.
func (c *Context) Prepare() {
	c.Link([]byte(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n"), 0)
}

// optimized is the level of optimization that code has.
const optimized = 3

// LinkAt is Link with another level of optimization, 0 to 4.
func (c *Context) LinkAt(ptx []byte, registers, level int) (cubin []byte, err error) {
	src := append(bytes.TrimRight(ptx, "\x00"), 0)
	log := make([]byte, 16<<10)
	options := []int32{optErrorLog, optErrorBytes, optOptimization}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log)), uintptr(level)}
	if registers == AsItIs {
		values[2] = 0
	}
	if registers > 0 {
		options, values = append(options, optRegisters), append(values, uintptr(registers))
	}
	// The driver keeps the address of the log from the first call to the last.
	var pin runtime.Pinner
	pin.Pin(&log[0])
	defer pin.Unpin()

	name := []byte("kelpie\x00")
	err = c.call("cuLinkCreate", func(l *library) Code {
		var state uintptr
		if code := l.linkCreate(uint32(len(options)), &options[0], &values[0], &state); code != success {
			return code
		}
		defer l.linkDestroy(state)
		if code := l.linkAdd(state, inputPTX, unsafe.Pointer(&src[0]), uint64(len(src)), &name[0], 0, nil, nil); code != success {
			return code
		}
		var image unsafe.Pointer
		var n uint64
		if code := l.linkComplete(state, &image, &n); code != success {
			return code
		}
		cubin = bytes.Clone(unsafe.Slice((*byte)(image), n)) // the image goes with the linker's state
		return success
	})
	if e, ok := err.(*Error); ok {
		e.Log = string(bytes.TrimSpace(log[:max(0, bytes.IndexByte(log, 0))]))
	}
	runtime.KeepAlive(values)
	return cubin, err
}

// Module is loaded code.
type Module struct {
	c      *Context
	handle uintptr
}

// Load loads what Link made. It waits until all work queued in the context is done: load all code of
// a query together, before its first launch.
func (c *Context) Load(cubin []byte) (*Module, error) {
	m := &Module{c: c}
	err := c.call("cuModuleLoadData", func(l *library) Code { return l.moduleLoad(&m.handle, unsafe.Pointer(&cubin[0])) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Unload waits for all work of the context, too.
func (m *Module) Unload() error {
	return m.c.call("cuModuleUnload", func(l *library) Code { return l.moduleUnload(m.handle) })
}

// Function is an entry point of a module.
type Function struct {
	c      *Context
	handle uintptr
}

// Function finds an entry by name.
func (m *Module) Function(name string) (*Function, error) {
	f := &Function{c: m.c}
	z := append([]byte(name), 0)
	err := m.c.call("cuModuleGetFunction", func(l *library) Code { return l.moduleFunc(&f.handle, m.handle, &z[0]) })
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Attributes of functions, as numbered by the driver.
const (
	funcMaxThreads = 0
	funcShared     = 1
	funcLocal      = 3
	funcRegisters  = 4
	funcMaxShared  = 8
)

// Usage is what a function needs per thread, and per block.
type Usage struct {
	Registers  int
	Local      int // bytes of local memory: spills and arrays
	Shared     int // bytes of shared memory that the code declares
	MaxThreads int // of a block
}

// Usage asks the driver what the compiled function needs.
func (f *Function) Usage() (Usage, error) {
	var u Usage
	err := f.c.call("cuFuncGetAttribute", func(l *library) Code {
		for _, a := range []struct {
			attr int32
			to   *int
		}{{funcRegisters, &u.Registers}, {funcLocal, &u.Local}, {funcShared, &u.Shared}, {funcMaxThreads, &u.MaxThreads}} {
			var v int32
			if code := l.funcAttr(&v, a.attr, f.handle); code != success {
				return code
			}
			*a.to = int(v)
		}
		return success
	})
	return u, err
}

// AllowShared lets launches ask for this much shared memory; above 48 KiB that has to be said.
func (f *Function) AllowShared(bytes int) error {
	return f.c.call("cuFuncSetAttribute", func(l *library) Code { return l.funcSetAttr(f.handle, funcMaxShared, int32(bytes)) })
}

// Resident is the number of blocks that a multiprocessor holds at a time.
func (f *Function) Resident(threads, shared int) (int, error) {
	var n int32
	err := f.c.call("cuOccupancyMaxActiveBlocksPerMultiprocessor", func(l *library) Code {
		return l.occupancy(&n, f.handle, int32(threads), uint64(shared), 0)
	})
	return int(n), err
}

// Shape is a launch's number of blocks, threads per block and bytes of dynamic shared memory.
type Shape struct{ Blocks, Threads, Shared int }

// Launch queues a run of f. The parameters are the words that the entry declares; they are copied
// before Launch returns.
func (s *Stream) Launch(f *Function, shape Shape, params []uint64) error {
	const end, buffer, size = 0, 1, 2
	bytes := 8 * uint64(len(params))
	if len(params) == 0 {
		params = []uint64{0}
	}
	// The list holds plain numbers: what they point to is pinned until the driver has read it.
	var pin runtime.Pinner
	pin.Pin(&params[0])
	pin.Pin(&bytes)
	defer pin.Unpin()
	list := [5]uintptr{buffer, uintptr(unsafe.Pointer(&params[0])), size, uintptr(unsafe.Pointer(&bytes)), end}
	return s.c.call("cuLaunchKernel", func(l *library) Code {
		return l.launch(f.handle, uint32(shape.Blocks), 1, 1, uint32(shape.Threads), 1, 1, uint32(shape.Shared), s.handle, nil, &list[0])
	})
}
