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
	spare  *spare // nil: there is only one

	once   sync.Once
	module *Module
}

// spare is the code of a text with as many registers as the assembler likes, for the case that fewer, with which it is
// compiled at the same time, are so few that some must be spilled.
type spare struct {
	entry string
	done  chan struct{}
	cubin []byte
	err   error
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
		if b.spare == nil { // else it is not known yet which of them
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
	if entry := entryOf(ptx); registers > 0 && entry != "" {
		b.spare = &spare{entry: entry, done: make(chan struct{})}
		go func(s *spare) {
			s.cubin, s.err = k.c.Link([]byte(ptx), 0)
			close(s.done)
		}(b.spare)
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
		if b.err == nil && b.spare != nil {
			b.err = k.choose(b)
			go k.keep(b)
		}
	})
	return b.module, b.err
}

// choose takes the spare code if the other spills.
func (k *Compiler) choose(b *Build) error {
	f, err := b.module.Function(b.spare.entry)
	if err != nil {
		return err
	}
	u, err := f.Usage()
	if err != nil || u.Local == 0 {
		return err
	}
	<-b.spare.done
	if b.spare.err != nil {
		return b.spare.err
	}
	m, err := k.c.Load(b.spare.cubin)
	if err != nil {
		return err
	}
	spills := b.module
	b.module, b.cubin = m, b.spare.cubin
	return spills.Unload()
}
