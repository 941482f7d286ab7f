package device

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/simt"
)

// Simulated is a GPU in pure Go. Its memory has addresses of its own, far from the host's and with
// gaps between: a host pointer, a place outside of any block and a block that was freed are faults
// that say so. Work is done when it is queued, but what would be wrong if it ran later is found, too:
//
//   - memory used by a stream that does not wait for its Alloc, or freed by one that does not wait
//     for its last use (order.go);
//   - results read before a Sync: until then a Download's destination holds nothing of worth;
//   - memory read before it was written: a new block is full of rubbish.
type Simulated struct {
	opt   SimulatedOptions
	name  string
	first uint64 // of this device's window of addresses
	dev   *simt.Device

	launches atomic.Uint64 // to draw another order for each

	mu       sync.Mutex
	next     uint64 // address of the next block
	used     uint64
	blocks   []*memBlock // by address
	freed    []freedBlock
	lost     error
	fail     func(call string) error
	order    order
	arrivals []arrival
	counts   Counts
}

// SimulatedOptions say what is simulated. Zeros mean what is written behind them.
type SimulatedOptions struct {
	Memory uint64 // bytes; 1 GiB
	Units  int    // multiprocessors; 4
	Seed   uint64 // draws the order in which blocks and warps run; 0: a plain order
}

// memBlock is an allocation, or host memory that is reachable.
type memBlock struct {
	base uint64
	size uint64
	data []byte
	host bool
	uses uses
}

type freedBlock struct {
	base, size uint64
	by         string
}

// arrival is a Download whose bytes the host has not waited for.
type arrival struct {
	at   moment
	dst  []byte
	data []byte
}

const (
	windowBits  = 40             // a device's addresses: more than it can ever have in use
	windowStart = 0x800000000000 // of the first: above all that programs have on x86-64, and still 48 bits
	windows     = 64
	memAlign    = 256
	memGap      = 1 << 16
	keepFreed   = 1024 // blocks that are remembered for messages
	rubbish     = 0xa5
)

var simulatedMade atomic.Uint64

// NewSimulated makes a simulated GPU.
func NewSimulated(opt SimulatedOptions) *Simulated {
	if opt.Memory == 0 {
		opt.Memory = 1 << 30
	}
	if opt.Units == 0 {
		opt.Units = 4
	}
	n := simulatedMade.Add(1) - 1
	d := &Simulated{opt: opt, name: fmt.Sprintf("simt:%d", n), dev: simt.NewDevice()}
	d.first = windowStart + n%windows<<windowBits
	d.next = d.first + memGap
	d.dev.Explain = d.explain
	return d
}

// Info is what the simulation has: few units, each with what one of an H200 has, and its memory's speed, so that
// decisions are those that would be made for one.
func (d *Simulated) Info() Info {
	return Info{Name: d.name, Arch: 80, Memory: d.opt.Memory, Units: d.opt.Units, UnitThreads: 2048, UnitShared: 228 << 10,
		UnitRegisters: 64 << 10, BlockShared: d.dev.SharedLimit, Warp: 32, L2: 8 << 20,
		Driver: "simulated in Go", Bandwidth: 4.4e12}
}

func (d *Simulated) Available() (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check("available"); err != nil {
		return 0, err
	}
	return d.opt.Memory - d.used, nil
}

// FailWith lets tests make calls fail: f is asked before each, with what is to be done, and an
// error that it returns is the call's. After one of kind Lost or Faulted the device is lost.
func (d *Simulated) FailWith(f func(call string) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

func (d *Simulated) errorf(kind Kind, call, format string, args ...any) error {
	return &Error{Kind: kind, Device: d.name, Call: call, Err: fmt.Errorf(format, args...)}
}

// check is at the beginning of every call; d.mu is held.
func (d *Simulated) check(call string) error {
	if d.lost != nil {
		return &Error{Kind: Lost, Device: d.name, Call: call, Err: d.lost}
	}
	if d.fail != nil {
		if err := d.fail(call); err != nil {
			if k := KindOf(err); k == Lost || k == Faulted {
				d.lost = err
			}
			return err
		}
	}
	return nil
}

// place gives data an address; d.mu is held.
func (d *Simulated) place(data []byte, host bool) (*memBlock, error) {
	b := &memBlock{size: uint64(len(data)), data: data, host: host}
	span := (b.size+memAlign-1)&^(memAlign-1) + memGap
	for tries := 0; ; tries++ {
		if d.next+span > d.first+1<<windowBits {
			d.next = d.first + memGap // addresses are given out again after 1 TiB
			if tries > len(d.blocks)+1 {
				return nil, fmt.Errorf("no room for %d bytes between others", b.size)
			}
		}
		b.base = d.next
		i := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].base+d.blocks[i].size+memGap > b.base })
		if i == len(d.blocks) || d.blocks[i].base >= b.base+span {
			d.next += span
			if err := d.dev.Place(b.base, data, host); err != nil {
				return nil, err
			}
			d.blocks = append(d.blocks[:i:i], append([]*memBlock{b}, d.blocks[i:]...)...)
			return b, nil
		}
		d.next = (d.blocks[i].base+d.blocks[i].size+memAlign-1)&^(memAlign-1) + memGap
	}
}

// remove takes a block away; d.mu is held.
func (d *Simulated) remove(b *memBlock, by string) error {
	i := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].base >= b.base })
	d.blocks = append(d.blocks[:i:i], d.blocks[i+1:]...)
	if len(d.freed) >= keepFreed {
		d.freed = d.freed[keepFreed/2:]
	}
	d.freed = append(d.freed, freedBlock{b.base, b.size, by})
	return d.dev.Unregister(uintptr(b.base))
}

// find is the block with bytes at a; d.mu is held.
func (d *Simulated) find(a Addr, bytes int) (*memBlock, error) {
	i := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].base > uint64(a) }) - 1
	if i >= 0 {
		b := d.blocks[i]
		if off := uint64(a) - b.base; off <= b.size && bytes >= 0 && b.size-off >= uint64(bytes) {
			return b, nil
		} else if off < b.size {
			return nil, fmt.Errorf("%d bytes at %#x reach across the end of the block of %d bytes at %#x", bytes, a, b.size, b.base)
		}
	}
	why := d.explainLocked(uint64(a))
	if why == "" {
		why = "outside of any block"
	}
	return nil, fmt.Errorf("%d bytes at %#x, %s", bytes, a, why)
}

// at is the bytes from an address on.
func (b *memBlock) at(a Addr, bytes int) []byte {
	off := uint64(a) - b.base
	return b.data[off : off+uint64(bytes)]
}

// explain is called by kernels, which run without the lock.
func (d *Simulated) explain(addr uint64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.explainLocked(addr)
}

func (d *Simulated) explainLocked(addr uint64) string {
	if addr >= d.first && addr < d.first+1<<windowBits {
		for i := len(d.freed) - 1; i >= 0; i-- {
			if f := d.freed[i]; addr >= f.base && addr < f.base+max(f.size, 1) {
				return fmt.Sprintf("in the block of %d bytes at %#x that %s freed", f.size, f.base, f.by)
			}
		}
		return ""
	}
	if addr >= windowStart && addr < windowStart+windows<<windowBits {
		return fmt.Sprintf("which belongs to simulated device %d, not to %s", (addr-windowStart)>>windowBits, d.name)
	}
	return "which is no address of a device; the host's memory has such"
}

// simulatedCode is parsed text.
type simulatedCode struct {
	done chan struct{}
	mod  *simt.Module
	err  error
}

// simulatedCodes are modules by their text, for all simulated devices.
var simulatedCodes = struct {
	sync.Mutex
	byText map[string]*simulatedCode
}{byText: map[string]*simulatedCode{}}

// maxKernels bounds the cache; a full one starts afresh.
const maxKernels = 512

type loadedCode struct {
	d *Simulated
	c *simulatedCode
}

func (d *Simulated) Load(text string) Code {
	simulatedCodes.Lock()
	defer simulatedCodes.Unlock()
	c := simulatedCodes.byText[text]
	if c == nil {
		if len(simulatedCodes.byText) >= maxKernels {
			clear(simulatedCodes.byText)
		}
		c = &simulatedCode{done: make(chan struct{})}
		simulatedCodes.byText[text] = c
		go func() {
			defer close(c.done)
			c.mod, c.err = simt.Parse(text)
		}()
	}
	return &loadedCode{d, c}
}

// LoadHere needs no thread of the caller: to parse takes little.
func (d *Simulated) LoadHere(text string) Code { return d.Load(text) }

// LoadQuick need not be quicker.
func (d *Simulated) LoadQuick(text string) Code { return d.Load(text) }

// Anew parses the text again.
func (d *Simulated) Anew(text string, stored, quick bool) Code {
	c := &simulatedCode{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.mod, c.err = simt.Parse(text)
	}()
	return &loadedCode{d, c}
}

// Stored has nothing: to parse a text takes little.
func (d *Simulated) Stored(string, bool) Code { return nil }

func (c *loadedCode) Keep(string) {}

// Bus is that of an H200.
func (d *Simulated) Bus() (float64, error) { return 55.6e9, nil }

func (c *loadedCode) Ready() <-chan struct{} { return c.c.done }

func (c *loadedCode) Function(name string) (Function, error) {
	<-c.c.done
	if c.c.err != nil {
		return nil, c.d.errorf(Refused, "compile", "%w", c.c.err)
	}
	k, err := c.c.mod.Kernel(name)
	if err != nil {
		return nil, c.d.errorf(Refused, "find function", "%w", err)
	}
	return &simulatedFunction{c.d, k}, nil
}

type simulatedFunction struct {
	d *Simulated
	k *simt.Kernel
}

// Usage knows no registers: PTX has as many as it likes.
func (f *simulatedFunction) Usage() Usage {
	return Usage{Shared: f.k.SharedBytes, Local: f.k.LocalBytes, MaxThreads: 1024}
}

// Newest is itself: there is nothing better.
func (f *simulatedFunction) Newest() Function { return f }
func (f *simulatedFunction) Quick() bool      { return false }

func (f *simulatedFunction) Resident(threads, shared int) (int, error) {
	i := f.d.Info()
	n := i.UnitThreads / max(threads, 1)
	if s := f.k.SharedBytes + shared; s > 0 {
		n = min(n, i.UnitShared/s)
	}
	return min(n, 32), nil
}

// Pinned is memory of the Go heap that does not move; Register reaches what exists.
func (d *Simulated) Pinned(bytes int) (*Host, error) {
	return d.reach("pin", words(bytes))
}

func (d *Simulated) Register(mem []byte) (*Host, error) {
	if len(mem) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(mem)))%8 != 0 {
		return nil, d.errorf(Refused, "register", "%d bytes that do not begin at a multiple of 8", len(mem))
	}
	return d.reach("register", mem)
}

func (d *Simulated) reach(call string, mem []byte) (*Host, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	call = fmt.Sprintf("%s %d bytes", call, len(mem))
	if err := d.check(call); err != nil {
		return nil, err
	}
	b, err := d.place(mem, true)
	if err != nil {
		return nil, d.errorf(Refused, call, "%w", err)
	}
	return &Host{Bytes: mem, Addr: Addr(b.base), free: func() error { return d.unreach(b) }}, nil
}

func (d *Simulated) unreach(b *memBlock) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check("free host memory"); err != nil {
		return err
	}
	if got, err := d.find(Addr(b.base), 0); err != nil || got != b {
		return d.errorf(Refused, "free host memory", "it is freed already")
	}
	if err := d.order.over(&b.uses, d.order.host, "the host"); err != nil {
		return d.errorf(Refused, "free host memory", "%w", err)
	}
	return d.remove(b, "the host")
}

// words is memory of the Go heap that begins at a multiple of 8, for atomics.
func words(bytes int) []byte {
	w := make([]uint64, (bytes+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), 8*len(w))[:bytes:bytes]
}

func (d *Simulated) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

func (d *Simulated) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost == nil {
		d.lost = fmt.Errorf("it was closed")
	}
	d.blocks, d.arrivals = nil, nil
	d.dev = simt.NewDevice()
	return nil
}

func (d *Simulated) Stream(ctx context.Context) (Stream, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check("make a stream"); err != nil {
		return nil, err
	}
	return &simulatedStream{d: d, ctx: ctx, queue: d.order.open()}, nil
}

func (d *Simulated) Event() (Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check("make an event"); err != nil {
		return nil, err
	}
	return &simulatedEvent{d: d}, nil
}

type simulatedEvent struct {
	d    *Simulated
	at   clock // nil: no stream has set it
	when time.Time
}

func (e *simulatedEvent) Sync() error {
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	if err := e.d.check("wait for an event"); err != nil {
		return err
	}
	if e.at == nil {
		return e.d.errorf(Refused, "wait for an event", "no stream has set it")
	}
	e.d.seen(e.at)
	return nil
}

func (e *simulatedEvent) Since(from Event) (time.Duration, error) {
	f, ok := from.(*simulatedEvent)
	e.d.mu.Lock()
	defer e.d.mu.Unlock()
	if err := e.d.check("compare events"); err != nil {
		return 0, err
	}
	if !ok || f.d != e.d || e.at == nil || f.at == nil || !e.d.order.host.has(e.at) || !e.d.order.host.has(f.at) {
		return 0, e.d.errorf(Refused, "compare events", "nobody has waited for both of them")
	}
	return e.when.Sub(f.when), nil
}

func (e *simulatedEvent) Close() error { return nil }

// seen notes that the host has waited until a moment: what it downloaded before is there now.
// d.mu is held.
func (d *Simulated) seen(c clock) {
	d.order.host.join(c)
	rest := d.arrivals[:0]
	for _, a := range d.arrivals {
		if d.order.host.reached(a.at) {
			copy(a.dst, a.data)
		} else {
			rest = append(rest, a)
		}
	}
	clear(d.arrivals[len(rest):])
	d.arrivals = rest
}
