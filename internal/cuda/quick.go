package cuda

import (
	"sync"
	"time"
)

// Code that somebody waits for is made in two steps: at first without optimization, which takes the driver two thirds of the time, and once more, optimized, when nobody
// waits for the driver any more. Whoever asks for it then gets that.

// improver optimizes code behind those who use it. The compiler's mu guards it.
type improver struct {
	quick   map[string]*Build // by text: what is not optimized
	waiting []*improvement
	known   map[string]*improvement // by text: all that were ever begun
	last    time.Time               // when somebody waited for the driver
	busy    bool                    // there is a goroutine
	closed  chan struct{}
	running sync.WaitGroup
}

// improvement is a text that is to be optimized, and whose code is to be replaced then.
type improvement struct {
	ptx       string
	registers int
	of        []*Build
	done      *Build // nil: not yet
}

// restful is how long nobody must have waited for the driver for it to optimize.
const restful = 100 * time.Millisecond

// Quick begins to compile a text that somebody waits for: what the disk has, or code that is not optimized at first. anew: as if nobody had asked for it before;
// stored: but what the disk has counts as known.
func (k *Compiler) Quick(ptx string, registers int, anew, stored bool) *Build {
	if registers == AsItIs { // it will never be optimized
		if anew {
			return k.Again(ptx, registers, stored)
		}
		return k.Start(ptx, registers, false)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !anew {
		if b := k.ready[ptx]; b != nil {
			return b
		}
		if b := k.quick[ptx]; b != nil {
			return b
		}
	}
	b := k.newBuild(ptx)
	if !anew {
		k.quick[ptx] = b
	}
	go k.makeQuick(b, ptx, registers, stored)
	return b
}

// quickKey is where code that is not optimized is on the disk. It is good for a process that ends before it would be.
func (k *Compiler) quickKey(ptx string) string { return k.key("quick " + ptx) }

func (k *Compiler) makeQuick(b *Build, ptx string, registers int, stored bool) {
	b.quick = k.buildQuick(b, ptx, stored)
	close(b.done)
	switch {
	case b.err != nil:
	case b.Cached && !b.quick:
		k.disk.Used(b.key)
		k.nowStored(b)
	default:
		if !b.Cached && k.disk != nil {
			k.disk.Put(k.quickKey(ptx), b.cubin)
		}
		k.improve(b, ptx, registers)
	}
}

// buildQuick finds or makes code, and says whether it is not optimized.
func (k *Compiler) buildQuick(b *Build, ptx string, stored bool) (quickly bool) {
	k.slots <- struct{}{}
	defer func() { <-k.slots }()
	if k.disk != nil && stored {
		if b.cubin = k.disk.Get(b.key); b.cubin != nil {
			b.Cached = true
			return false
		}
		if b.cubin = k.disk.Get(k.quickKey(ptx)); b.cubin != nil {
			b.Cached = true
			return true
		}
	}
	b.cubin, b.err = k.c.LinkAt([]byte(ptx), 0, 0)
	return true
}

// improve lets code be optimized when nobody waits for the driver.
func (k *Compiler) improve(b *Build, ptx string, registers int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = time.Now()
	i := k.known[ptx]
	if i == nil {
		i = &improvement{ptx: ptx, registers: registers}
		k.known[ptx] = i
		k.waiting = append(k.waiting, i)
	}
	if i.done != nil {
		k.replace(b, i.done)
		return
	}
	i.of = append(i.of, b)
	if !k.busy {
		k.busy = true
		k.running.Go(k.improveAll)
	}
}

// improveAll optimizes until nothing waits for that.
func (k *Compiler) improveAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.waiting) > 0 {
		if rest := restful - time.Since(k.last); rest > 0 {
			k.mu.Unlock()
			select {
			case <-time.After(rest):
			case <-k.closed:
			}
			k.mu.Lock()
			if !k.over() {
				continue
			}
		}
		if k.over() {
			return
		}
		i := k.waiting[0]
		k.waiting = k.waiting[1:]
		k.mu.Unlock()
		better := k.optimized(i)
		k.mu.Lock()
		if better == nil { // they keep what they have
			i.of = nil
			continue
		}
		i.done = better
		for _, b := range i.of {
			k.replace(b, better)
		}
		i.of = nil
	}
	k.busy = false
}

// over reports that nobody wants code any more.
func (k *Compiler) over() bool {
	select {
	case <-k.closed:
		return true
	default:
		return false
	}
}

// optimized compiles a text as Start does, and loads it; nil where that fails.
func (k *Compiler) optimized(i *improvement) *Build {
	b := k.Start(i.ptx, i.registers, true)
	if _, err := k.Module(b); err != nil {
		return nil
	}
	return b
}

// replace puts better code in the place of what a build has. What runs is left alone. mu is held.
func (k *Compiler) replace(b, better *Build) {
	b.better.Store(better)
	better.names = append(better.names, b.names...)
	b.names = nil
	if better.stored {
		go k.nowStored(better)
	}
}

// Close ends what is done behind those who use code.
func (k *Compiler) Close() {
	k.mu.Lock()
	if !k.over() {
		close(k.closed)
	}
	k.mu.Unlock()
	k.running.Wait()
}

// Quick reports code that is done, but not optimized.
func (b *Build) Quick() bool { return b.quick }

// Better is what has taken the place of code that was not optimized; nil: nothing has.
func (b *Build) Better() *Build { return b.better.Load() }
