package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Compiler turns PTX into loaded code: each text on a goroutine of its own, every text once. What a
// text became is kept in memory as long as the context lives, and on disk beyond.
type Compiler struct {
	c     *Context
	disk  *Cache // may be nil
	slots chan struct{}

	loading sync.Mutex

	mu    sync.Mutex
	ready map[string]*Build // by text, or by its name on the disk
	improver
}

// Build is code that is being compiled, or is done.
type Build struct {
	done   chan struct{}
	cubin  []byte
	err    error
	Cached bool // it came from the disk
	key    string
	link   func(registers int) ([]byte, error) // compiles it once more, with another bound; nil: it has what it gets
	bound  bool                                // it was compiled with a bound
	entry  string                              // its first function

	// What else it shall be found by on the disk, and whether it is there. The compiler's mu guards them.
	names  []string
	stored bool

	once   sync.Once
	module *Module

	quick  bool                  // it is not optimized, and is to be; known when it is done
	better atomic.Pointer[Build] // what has taken its place
}

// Compiler makes a compiler for the context; disk may be nil.
func (c *Context) Compiler(disk *Cache) *Compiler {
	return &Compiler{c: c, disk: disk, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), ready: map[string]*Build{},
		improver: improver{quick: map[string]*Build{}, known: map[string]*improvement{}, closed: make(chan struct{})}}
}

// AsItIs in the place of a number of registers is for code that is assembled as it is, without any optimization.
const AsItIs = -1

// Start begins to compile a text, or returns what an earlier call began. registers is how many are worth having for a thread: it has
// more only where some of its values would have to be spilled; 0: as many as the assembler likes; AsItIs: nothing is optimized. here: the thread of the caller compiles it.
func (k *Compiler) Start(ptx string, registers int, here bool) *Build {
	k.mu.Lock()
	b := k.ready[ptx]
	first := b == nil
	if first {
		b = k.newBuild(ptx)
		k.ready[ptx] = b
	}
	k.mu.Unlock()
	switch {
	case !first:
	case here:
		k.make(b, ptx, registers, true)
	default:
		go k.make(b, ptx, registers, true)
	}
	return b
}

// Again compiles a text that may have been compiled before; stored: unless the disk has the code.
func (k *Compiler) Again(ptx string, registers int, stored bool) *Build {
	b := k.newBuild(ptx)
	go k.make(b, ptx, registers, stored)
	return b
}

func (k *Compiler) newBuild(ptx string) *Build {
	return &Build{done: make(chan struct{}), key: k.key(ptx)}
}

// key is where code is on the disk.
func (k *Compiler) key(of string) string {
	return Key(of, k.c.Info.Arch(), fmt.Sprint(k.c.d.version))
}

// Stored is code that Keep gave this name, in this process or another one; nil: there is none. again: what this process has read counts as unknown.
func (k *Compiler) Stored(name string, again bool) *Build {
	if k.disk == nil {
		return nil
	}
	key := k.key(name)
	if !again {
		k.mu.Lock()
		b := k.ready[key]
		k.mu.Unlock()
		if b != nil {
			return b
		}
	}
	cubin := k.disk.Get(key)
	if cubin == nil {
		return nil
	}
	go k.disk.Used(key)
	b := &Build{done: make(chan struct{}), cubin: cubin, Cached: true, key: key, stored: true}
	close(b.done)
	if again {
		return b
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if first := k.ready[key]; first != nil { // another one was faster
		return first
	}
	k.ready[key] = b
	return b
}

// Keep lets later processes find code by a name, without its text.
func (k *Compiler) Keep(b *Build, name string) {
	if k.disk == nil {
		return
	}
	k.mu.Lock()
	if better := b.better.Load(); better != nil {
		b = better
	}
	b.names = append(b.names, k.key(name))
	there := b.stored
	k.mu.Unlock()
	if there {
		go k.nowStored(b)
	}
}

// nowStored is for code that is on the disk: it gets its names there. One that fails costs the next process time.
func (k *Compiler) nowStored(b *Build) {
	k.mu.Lock()
	b.stored = true
	names := b.names
	b.names = nil
	k.mu.Unlock()
	for _, name := range names {
		k.disk.Also(b.key, name)
	}
}

func (k *Compiler) make(b *Build, ptx string, registers int, stored bool) {
	k.build(b, ptx, registers, stored)
	code, will := b.cubin, b.err == nil && !b.bound // with a bound it is not known yet whether it will do
	close(b.done)
	if b.Cached {
		k.disk.Used(b.key)
		k.nowStored(b)
	} else if will {
		k.keep(b, code)
	}
}

// keep puts code on the disk. Whoever waits for the code need not wait for that; a full or read-only disk costs the next process time, not
// this query.
func (k *Compiler) keep(b *Build, code []byte) {
	if !b.Cached && k.disk != nil && k.disk.Put(b.key, code) == nil {
		k.nowStored(b)
	}
}

func (k *Compiler) build(b *Build, ptx string, registers int, stored bool) {
	k.slots <- struct{}{}
	defer func() { <-k.slots }()
	if k.disk != nil && stored {
		if b.cubin = k.disk.Get(b.key); b.cubin != nil {
			b.Cached = true
			return
		}
	}
	b.entry, b.bound = entryOf(ptx), registers > 0
	b.link = func(registers int) ([]byte, error) { return k.c.Link([]byte(ptx), registers) }
	b.cubin, b.err = b.link(registers)
	if registers == AsItIs {
		b.link = nil // it has what it gets
	}
}

// entryOf is the name of a text's first function.
func entryOf(ptx string) string {
	_, rest, _ := strings.Cut(ptx, ".entry ")
	name, _, _ := strings.Cut(rest, "(")
	return name
}

// Ready is closed when compiling has ended.
func (b *Build) Ready() <-chan struct{} { return b.done }

// Module waits for the code and loads it, once.
func (k *Compiler) Module(b *Build) (*Module, error) {
	<-b.done
	if b.err != nil {
		return nil, b.err
	}
	b.once.Do(func() {
		k.loading.Lock() // many at once wait for the driver's lock in any order, and the first for longest
		b.module, b.err = k.c.Load(b.cubin)
		k.loading.Unlock()
		if b.err != nil || b.link == nil {
			return
		}
		var changed bool
		if changed, b.err = k.settle(b); b.err == nil && (changed || b.bound) {
			go k.keep(b, b.cubin)
		}
	})
	return b.module, b.err
}

// MostRegisters is how many let a multiprocessor hold half of the threads that it can: code has more only where it would spill with so few.
const MostRegisters = 64

// settle compiles code once more that spills with its bound: with as many registers as its assembler likes. If those are too many, a bound
// that it can live with is tried.
func (k *Compiler) settle(b *Build) (changed bool, err error) {
	u, err := b.usage(b.module)
	if err == nil && b.bound && u.Local > 0 {
		changed = true
		if err = k.exchange(b, 0, func(Usage) bool { return true }); err == nil {
			u, err = b.usage(b.module)
		}
	}
	if err == nil && u.Registers > MostRegisters {
		err = k.exchange(b, MostRegisters, func(u Usage) bool {
			changed = changed || u.Local == 0
			return u.Local == 0
		})
	}
	return changed, err
}

// usage is what a module needs.
func (b *Build) usage(m *Module) (Usage, error) {
	f, err := m.Function(b.entry)
	if err != nil {
		return Usage{}, err
	}
	return f.Usage()
}

// exchange compiles code with another bound, and takes that in the place of what there is if it is good.
func (k *Compiler) exchange(b *Build, registers int, good func(Usage) bool) error {
	cubin, err := b.link(registers)
	if err != nil {
		return err
	}
	m, err := k.c.Load(cubin)
	if err != nil {
		return err
	}
	u, err := b.usage(m)
	if err != nil {
		return errors.Join(err, m.Unload())
	}
	if !good(u) {
		return m.Unload()
	}
	worse := b.module
	b.module, b.cubin = m, cubin
	return worse.Unload()
}
