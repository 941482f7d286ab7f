package cuda

import (
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
	loose  func() ([]byte, error) // compiles it with more registers than it was compiled with; nil: it has what it wants
	entry  string                 // its first function

	once   sync.Once
	module *Module
}

// Compiler makes a compiler for the context; disk may be nil.
func (c *Context) Compiler(disk *Cache) *Compiler {
	return &Compiler{c: c, disk: disk, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), ready: map[string]*Build{}}
}

// Start begins to compile a text, or returns what an earlier call began. registers is how many are worth having for a thread: it has
// more only where some of its values would have to be spilled; 0: as many as the assembler likes.
func (k *Compiler) Start(ptx string, registers int) *Build {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.ready[ptx]; b != nil {
		return b
	}
	b := k.begin(ptx, registers, true)
	k.ready[ptx] = b
	return b
}

// Again compiles a text that may have been compiled before; stored: unless the disk has the code.
func (k *Compiler) Again(ptx string, registers int, stored bool) *Build {
	return k.begin(ptx, registers, stored)
}

func (k *Compiler) begin(ptx string, registers int, stored bool) *Build {
	b := &Build{done: make(chan struct{}), key: Key(ptx, k.c.Info.Arch(), fmt.Sprint(k.c.d.version))}
	go func() {
		k.build(b, ptx, registers, stored)
		close(b.done)
		if b.loose == nil { // else it is not known yet whether it will do
			k.keep(b)
		}
	}()
	return b
}

// keep puts code on the disk. Whoever waits for the code need not wait for that; a full or read-only disk costs the next process time, not
// this query.
func (k *Compiler) keep(b *Build) {
	if b.err == nil && !b.Cached && k.disk != nil {
		k.disk.Put(b.key, b.cubin)
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
	if registers > 0 {
		b.entry = entryOf(ptx)
		b.loose = func() ([]byte, error) { return k.c.Link([]byte(ptx), 0) }
	}
	b.cubin, b.err = k.c.Link([]byte(ptx), registers)
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
		b.module, b.err = k.c.Load(b.cubin)
		if b.err == nil && b.loose != nil {
			b.err = k.loosen(b)
			go k.keep(b)
		}
	})
	return b.module, b.err
}

// loosen compiles code once more that spills, with as many registers as its assembler likes.
func (k *Compiler) loosen(b *Build) error {
	f, err := b.module.Function(b.entry)
	if err != nil {
		return err
	}
	u, err := f.Usage()
	if err != nil || u.Local == 0 {
		return err
	}
	cubin, err := b.loose()
	if err != nil {
		return err
	}
	m, err := k.c.Load(cubin)
	if err != nil {
		return err
	}
	spills := b.module
	b.module, b.cubin = m, cubin
	return spills.Unload()
}
