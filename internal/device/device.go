package device

import (
	"context"
	"time"

	"github.com/kelpiedb/kelpie/internal/simt"
)

// Addr is an address in a device's own space. Only kernels and the methods of its device can follow
// it; 0 is no address.
type Addr uint64

// Device is an accelerator: memory of its own, code that it compiles, and streams, in which work
// is queued. Any number of goroutines may use one. Errors are of type *Error; see KindOf.
type Device interface {
	Info() Info

	// Available is how many bytes Alloc could give out now, other processes' use considered.
	Available() (uint64, error)

	// Stream makes a queue that waits for no other. When ctx ends, its work is not worth finishing.
	Stream(ctx context.Context) (Stream, error)
	Event() (Event, error)

	// Load begins to compile a module of PTX text and returns at once. The same text is compiled
	// once for all who ask.
	Load(text string) Code
	// LoadHere is Load on the thread of the caller, which may be one that gives way.
	LoadHere(text string) Code
	// LoadQuick is Load for one who waits: the code need not be good, but is to be there soon, and better code takes its place later.
	LoadQuick(text string) Code
	// Anew compiles a text as if nobody had asked for it before, to see how long that takes; stored: what was kept on disk
	// counts as known; quick: as LoadQuick does.
	Anew(text string, stored, quick bool) Code
	// Stored is code that a device of this kind has kept under a name; nil: there is none. anew: what this process has read of it before counts as unknown.
	Stored(name string, anew bool) Code

	// Bus is how many bytes a second copies from pinned memory bring to the device, as measured when this is first asked.
	Bus() (float64, error)

	// Pinned allocates host memory that the device reaches, which is slow: keep it. Register makes
	// reachable what exists, outside of the Go heap.
	Pinned(bytes int) (*Host, error)
	Register(mem []byte) (*Host, error)

	// Counts is what all streams did together.
	Counts() Counts

	// Close gives back the device and all that is left of its memory; nobody uses it any more.
	Close() error
}

// Stream is a queue of work: what is put into one runs in order, and beside what is in others. One
// goroutine at a time uses it. A method may return before the work is done, and an error of the work
// may come from a later one.
type Stream interface {
	// Alloc takes memory whose bytes can be anything. What is queued behind it here may use it, and
	// what waits for that in other streams. Addresses are multiples of 256.
	Alloc(bytes int) (Addr, error)
	// Free gives it back once all that is queued here is done; other streams' use must be over by then.
	Free(a Addr) error

	// Upload and Download copy between host and device. The host's bytes belong to the copy until a
	// Sync has seen its end: a source stays as it is, a destination is not read.
	Upload(dst Addr, src []byte) error
	Download(dst []byte, src Addr) error
	// Copy copies within the device, between places that do not overlap; Fill sets bytes.
	Copy(dst, src Addr, bytes int) error
	Fill(dst Addr, value byte, bytes int) error

	// Launch runs a kernel. The parameters are the words that its entry declares, and are copied.
	Launch(f Function, shape Shape, params ...uint64) error

	// Record puts the mark behind the work so far, Wait makes what follows wait for it.
	Record(e Event) error
	Wait(e Event) error

	// Sync waits until all work is done.
	Sync() error

	// Counts is what this stream did so far.
	Counts() Counts

	// Close ends the stream; work that is still queued is done.
	Close() error
}

// Event is a mark in a stream.
type Event interface {
	// Sync waits until it is reached.
	Sync() error
	// Since is the device's time from another mark; both have been seen to be reached.
	Since(from Event) (time.Duration, error)
	Close() error
}

// Code is a module that is being compiled, or is ready. It lives as long as its device.
type Code interface {
	// Ready is closed when compiling has ended, well or not.
	Ready() <-chan struct{}
	// Function waits for that and finds an entry.
	Function(name string) (Function, error)
	// Keep gives it a name by which Stored finds it, in other processes, too.
	Keep(name string)
}

// Function is an entry of a module.
type Function interface {
	Usage() Usage
	// Resident is the number of blocks that a unit holds at a time.
	Resident(threads, shared int) (int, error)
	// Newest is what has taken its place, for those who begin now; mostly itself. Quick: better code will.
	Newest() Function
	Quick() bool
}

// Shape is a launch's number of blocks, threads per block and bytes of dynamic shared memory per block.
type Shape struct{ Blocks, Threads, Shared int }

// Usage is what a function needs.
type Usage struct {
	Registers  int // per thread
	Local      int // bytes per thread: spills
	Shared     int // bytes per block that the code declares
	MaxThreads int // of a block
}

// Info is what is known of a device.
type Info struct {
	Name          string
	Arch          int    // compute capability, as 90: what PTX may use
	Memory        uint64 // bytes
	Units         int    // multiprocessors
	UnitThreads   int    // threads that a unit holds at a time
	UnitShared    int    // bytes of shared memory of a unit
	UnitRegisters int
	BlockShared   int     // bytes of shared memory that a block may have
	Warp          int     // lanes
	L2            int     // bytes
	Driver        string  // what speaks to it, in words
	Bandwidth     float64 // bytes per second that kernels can read of its memory, about; 0: not known
}

// Host is host memory that a device reaches over the bus, at an address of the device's.
type Host struct {
	Bytes []byte
	Addr  Addr
	free  func() error
}

// Free gives pinned memory back, and ends the registration of other.
func (h *Host) Free() error { return h.free() }

// LaneStats is what launches did: warp instructions, active lanes, sectors of memory.
type LaneStats = simt.Stats

// Counts is what was done: launches, and copies over the bus in each direction.
type Counts struct {
	Launches      int
	Uploads       int
	UploadBytes   int64
	Downloads     int
	DownloadBytes int64
	FillBytes     int64 // set
	CopyBytes     int64 // copied within the device

	// What launches did, where the device can say (simulated). Sectors of host memory that kernels
	// touched crossed the bus as well.
	Lanes LaneStats
}

// Add adds what another stream did.
func (c *Counts) Add(o *Counts) {
	c.Launches += o.Launches
	c.Uploads += o.Uploads
	c.UploadBytes += o.UploadBytes
	c.Downloads += o.Downloads
	c.DownloadBytes += o.DownloadBytes
	c.FillBytes += o.FillBytes
	c.CopyBytes += o.CopyBytes
	c.Lanes.Add(&o.Lanes)
}
