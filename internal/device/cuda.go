package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/cuda"
)

// CUDADevices lists the GPUs of NVIDIA. Where there is no driver or no GPU, the error is of kind
// Missing and says what is.
func CUDADevices() ([]Info, error) {
	d, err := cuda.Open()
	if err != nil {
		return nil, cudaError("cuda", "open", err)
	}
	all, err := d.Devices()
	if err != nil {
		return nil, cudaError("cuda", "list devices", err)
	}
	var infos []Info
	for i := range all {
		infos = append(infos, cudaInfo(d, &all[i]))
	}
	return infos, nil
}

func cudaInfo(d *cuda.Driver, i *cuda.Info) Info {
	return Info{Name: i.Name, Arch: 10*i.Major + i.Minor, Memory: i.Memory, Units: i.Units, UnitThreads: i.ThreadsPerUnit,
		UnitShared: i.SharedPerUnit, UnitRegisters: i.RegistersPer, BlockShared: i.SharedPerBlock, Warp: i.Warp, L2: i.L2,
		Driver: d.String(), Bandwidth: reached * 2 * 1e3 * float64(i.ClockKHz) * float64(i.BusBits) / 8}
}

// reached is the share of what a GPU's memory could move by its clock that kernels have been seen to read: 4.4 of 4.9 TB/s on an
// H200.
const reached = 0.9

// cubinBytes bounds the code that is kept on disk between processes.
const cubinBytes = 256 << 20

// OpenCUDA takes a GPU into use.
func OpenCUDA(ordinal int) (Device, error) {
	d, err := cuda.Open()
	if err != nil {
		return nil, cudaError("cuda", "open", err)
	}
	c, err := d.Context(ordinal)
	if err != nil {
		return nil, cudaError("cuda", "open", err)
	}
	// A miss shall bring one sector: late loads of single values are what most of our kernels miss on.
	// A device that does not know such a limit is only slower.
	_ = c.FetchGranularity(32)
	var disk *cuda.Cache
	if dir, err := cuda.UserCacheDir(); err == nil {
		disk = cuda.NewCache(dir, cubinBytes)
	}
	go c.Prepare()
	return &cudaDevice{c: c, compiler: c.Compiler(disk), info: cudaInfo(d, &c.Info)}, nil
}

type cudaDevice struct {
	c        *cuda.Context
	compiler *cuda.Compiler
	info     Info

	mu     sync.Mutex
	counts Counts

	loading sync.Mutex

	busOnce sync.Once
	bus     float64
	busErr  error
}

// cudaError tells what an error of the driver means.
func cudaError(device, call string, err error) error {
	if err == nil {
		return nil
	}
	e := &Error{Device: device, Call: call, Err: err}
	var refusal *cuda.Error
	var absent *cuda.Unavailable
	switch {
	case errors.As(err, &absent):
		e.Kind = Missing
	case errors.As(err, &refusal):
		switch {
		case refusal.OutOfMemory():
			e.Kind = OutOfMemory
		case refusal.Faulted():
			e.Kind = Faulted
		case refusal.Lost():
			e.Kind = Lost
		case refusal.Missing():
			e.Kind = Missing
		}
	}
	return e
}

func (d *cudaDevice) errorf(call, format string, args ...any) error {
	return &Error{Device: d.info.Name, Call: call, Err: fmt.Errorf(format, args...)}
}

func (d *cudaDevice) wrap(call string, err error) error { return cudaError(d.info.Name, call, err) }

func (d *cudaDevice) Info() Info { return d.info }

// Available counts what the pool keeps for us as free.
func (d *cudaDevice) Available() (uint64, error) {
	free, _, err := d.c.Memory()
	if err != nil {
		return 0, d.wrap("available", err)
	}
	reserved, used, err := d.c.Pool()
	return free + reserved - used, d.wrap("available", err)
}

func (d *cudaDevice) Stream(ctx context.Context) (Stream, error) {
	s, err := d.c.Stream()
	if err != nil {
		return nil, d.wrap("make a stream", err)
	}
	return &cudaStream{d: d, ctx: ctx, s: s}, nil
}

func (d *cudaDevice) Event() (Event, error) {
	e, err := d.c.Event()
	if err != nil {
		return nil, d.wrap("make an event", err)
	}
	return &cudaEvent{d, e}, nil
}

func (d *cudaDevice) Pinned(bytes int) (*Host, error) {
	call := fmt.Sprintf("pin %d bytes", bytes)
	p, err := d.c.Pinned(bytes)
	if err != nil {
		return nil, d.wrap(call, err)
	}
	free := func() error { return d.wrap("free host memory", d.c.FreePinned(p)) }
	at, err := d.c.Mapped(p)
	if err != nil {
		return nil, errors.Join(d.wrap(call, err), free())
	}
	return &Host{Bytes: unsafe.Slice((*byte)(p), bytes), Addr: Addr(at), free: free}, nil
}

func (d *cudaDevice) Register(mem []byte) (*Host, error) {
	if len(mem) == 0 {
		return nil, d.errorf("register", "no memory")
	}
	p := unsafe.Pointer(unsafe.SliceData(mem))
	at, err := d.c.Register(p, len(mem))
	if err != nil {
		return nil, d.wrap(fmt.Sprintf("register %d bytes", len(mem)), err)
	}
	return &Host{Bytes: mem, Addr: Addr(at), free: func() error { return d.wrap("free host memory", d.c.Unregister(p)) }}, nil
}

func (d *cudaDevice) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

func (d *cudaDevice) Close() error {
	d.compiler.Close()
	return d.wrap("close", errors.Join(d.c.Sync(), d.c.Trim(0), d.c.Close()))
}

func (d *cudaDevice) Load(text string) Code {
	return &cudaCode{d, d.compiler.Start(text, Bound(text), false)}
}

func (d *cudaDevice) LoadHere(text string) Code {
	return &cudaCode{d, d.compiler.Start(text, Bound(text), true)}
}

func (d *cudaDevice) LoadQuick(text string) Code {
	return &cudaCode{d, d.compiler.Quick(text, Bound(text), false, true)}
}

func (d *cudaDevice) Anew(text string, stored, quick bool) Code {
	if quick {
		return &cudaCode{d, d.compiler.Quick(text, Bound(text), true, stored)}
	}
	return &cudaCode{d, d.compiler.Again(text, Bound(text), stored)}
}

func (d *cudaDevice) Stored(name string, anew bool) Code {
	if b := d.compiler.Stored(name, anew); b != nil {
		return &cudaCode{d, b}
	}
	return nil
}

type cudaCode struct {
	d     *cudaDevice
	build *cuda.Build
}

func (c *cudaCode) Ready() <-chan struct{} { return c.build.Ready() }

func (c *cudaCode) Keep(name string) { c.d.compiler.Keep(c.build, name) }

func (c *cudaCode) Function(name string) (Function, error) {
	build := c.build
	if better := build.Better(); better != nil {
		build = better
	}
	m, err := c.d.compiler.Module(build)
	if err != nil {
		return nil, c.d.wrap("compile", err)
	}
	c.d.loading.Lock() // many at once wait for the driver's lock in any order, and the first for longest
	defer c.d.loading.Unlock()
	f, err := m.Function(name)
	if err != nil {
		return nil, c.d.wrap("find function "+name, err)
	}
	u, err := f.Usage()
	if err != nil {
		return nil, c.d.wrap("find function "+name, err)
	}
	return &cudaFunction{d: c.d, f: f, name: name, build: build, usage: Usage{Registers: u.Registers, Local: u.Local, Shared: u.Shared, MaxThreads: u.MaxThreads}}, nil
}

type cudaFunction struct {
	d     *cudaDevice
	f     *cuda.Function
	name  string
	build *cuda.Build
	usage Usage

	mu      sync.Mutex
	allowed int // bytes of dynamic shared memory that were asked for
	newest  Function

	resident sync.Map // by threads and bytes of shared memory: how many blocks; every launch asks
}

func (f *cudaFunction) Usage() Usage { return f.usage }

// Newest finds the function of better code when it is there. A launch that has begun with this one goes on with it: how many blocks are resident is another matter there.
func (f *cudaFunction) Newest() Function {
	better := f.build.Better()
	if better == nil {
		return f
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil {
		n, err := (&cudaCode{f.d, better}).Function(f.name)
		if err != nil {
			return f
		}
		f.newest = n
	}
	return f.newest
}

func (f *cudaFunction) Quick() bool { return f.build.Quick() }

// plainShared is the shared memory of a block that need not be asked for.
const plainShared = 48 << 10

func (f *cudaFunction) allow(shared int) error {
	if f.usage.Shared+shared <= plainShared {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if shared <= f.allowed {
		return nil
	}
	if err := f.f.AllowShared(shared); err != nil {
		return err
	}
	f.allowed = shared
	return nil
}

func (f *cudaFunction) Resident(threads, shared int) (int, error) {
	key := [2]int{threads, shared}
	if n, ok := f.resident.Load(key); ok {
		return n.(int), nil
	}
	n := 0
	err := f.allow(shared)
	if err == nil {
		n, err = f.f.Resident(threads, shared)
	}
	if err == nil {
		f.resident.Store(key, n)
	}
	return n, f.d.wrap("ask for resident blocks", err)
}

type cudaEvent struct {
	d *cudaDevice
	e *cuda.Event
}

func (e *cudaEvent) Sync() error  { return e.d.wrap("wait for an event", e.e.Sync()) }
func (e *cudaEvent) Close() error { return e.d.wrap("close an event", e.e.Close()) }

func (e *cudaEvent) Since(from Event) (time.Duration, error) {
	f, ok := from.(*cudaEvent)
	if !ok {
		return 0, e.d.errorf("compare events", "it is another device's")
	}
	took, err := e.e.Since(f.e)
	return took, e.d.wrap("compare events", err)
}
