package cuda

import (
	"fmt"
	"runtime"
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

	once   sync.Once
	module *Module
}

// Compiler makes a compiler for the context; disk may be nil.
func (c *Context) Compiler(disk *Cache) *Compiler {
	return &Compiler{c: c, disk: disk, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), ready: map[string]*Build{}}
}

// Start begins to compile a text, or returns what an earlier call began.
func (k *Compiler) Start(ptx string) *Build {
	k.mu.Lock()
	defer k.mu.Unlock()
	if b := k.ready[ptx]; b != nil {
		return b
	}
	b := k.begin(ptx, true)
	k.ready[ptx] = b
	return b
}

// Again compiles a text that may have been compiled before; stored: unless the disk has the code.
func (k *Compiler) Again(ptx string, stored bool) *Build { return k.begin(ptx, stored) }

func (k *Compiler) begin(ptx string, stored bool) *Build {
	b := &Build{done: make(chan struct{})}
	go func() {
		key := Key(ptx, k.c.Info.Arch(), fmt.Sprint(k.c.d.version))
		k.build(b, ptx, key, stored)
		close(b.done)
		if b.err == nil && !b.Cached && k.disk != nil { // whoever waits for the code need not wait for that
			k.disk.Put(key, b.cubin) // a full or read-only disk costs the next process time, not this query
		}
	}()
	return b
}

func (k *Compiler) build(b *Build, ptx, key string, stored bool) {
	k.slots <- struct{}{}
	defer func() { <-k.slots }()
	if k.disk != nil && stored {
		if b.cubin = k.disk.Get(key); b.cubin != nil {
			b.Cached = true
			return
		}
	}
	b.cubin, b.err = k.c.Link([]byte(ptx))
}

// Ready is closed when compiling has ended.
func (b *Build) Ready() <-chan struct{} { return b.done }

// Module waits for the code and loads it, once.
func (k *Compiler) Module(b *Build) (*Module, error) {
	<-b.done
	if b.err != nil {
		return nil, b.err
	}
	b.once.Do(func() { b.module, b.err = k.c.Load(b.cubin) })
	return b.module, b.err
}
