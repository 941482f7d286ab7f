package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Compiler turns PTX into loaded code: each text on a goroutine of its own, every text once. What a
// text became is kept in memory as long as the context lives, and on disk beyond.
type Compiler struct {
	c     *Context
	disk  *Cache // may be nil
	slots chan struct{}

	mu    sync.Mutex
	ready map[string]*Build
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

	once   sync.Once
	module *Module
}

// Compiler makes a compiler for the context; disk may be nil.
func (c *Context) Compiler(disk *Cache) *Compiler {
	return &Compiler{c: c, disk: disk, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), ready: map[string]*Build{}}
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
	return &Build{done: make(chan struct{}), key: Key(ptx, k.c.Info.Arch(), fmt.Sprint(k.c.d.version))}
}

func (k *Compiler) make(b *Build, ptx string, registers int, stored bool) {
	k.build(b, ptx, registers, stored)
	code, will := b.cubin, b.err == nil && !b.bound // with a bound it is not known yet whether it will do
	close(b.done)
	if b.Cached {
		k.disk.Used(b.key)
	} else if will {
		k.keep(b, code)
	}
}

// keep puts code on the disk. Whoever waits for the code need not wait for that; a full or read-only disk costs the next process time, not
// this query.
func (k *Compiler) keep(b *Build, code []byte) {
	if !b.Cached && k.disk != nil {
		k.disk.Put(b.key, code)
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
		if b.module, b.err = k.c.Load(b.cubin); b.err != nil || b.link == nil {
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
