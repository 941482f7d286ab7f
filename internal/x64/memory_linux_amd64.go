package x64

import (
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Code memory is never writable and executable at once.
//
// A chunk is a piece of a memory file that is mapped twice: one view can be written,
// the other executed, at different addresses. Thus a new function is written beside
// running ones without a system call, and no page with running code ever loses its
// right to execute; flipping rights instead costs 4 µs and a TLB shootdown per
// function and a page each. Where memory files are forbidden, every function gets
// its own mapping, which is written first and made executable then.
//
// Space is taken first fit in units of 64 bytes and given back explicitly. When
// space is used for a second time a core might still hold the old instructions,
// fetched through the other view; membarrier makes all cores of the process discard
// them. (The same membarrier is not needed for space that never held code.)

const canRun = true

const (
	chunkBytes = 64 << 10
	unitBytes  = 64
	pageBytes  = 4096
)

type arena struct {
	mu     sync.Mutex
	chunks []*chunk
	single bool // no memory files: a mapping per function

	register sync.Once
	barrier  bool // membarrier is usable
}

type chunk struct {
	write, exec []byte
	free        []span // sorted, never adjacent
	fresh       int    // from here on nothing was ever written
}

type span struct{ off, n int }

// block is a function's place.
type block struct {
	write  []byte // where to write it, until it is sealed
	chunk  *chunk // nil: a mapping of its own
	off    int
	reused bool // held code before
}

var codeMemory arena

// alloc finds n bytes for code.
func (a *arena) alloc(n int) (block, error) {
	n = (n + unitBytes - 1) &^ (unitBytes - 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.single {
		for _, c := range a.chunks {
			if b, ok := c.take(n); ok {
				return b, nil
			}
		}
		c, err := newChunk(max(chunkBytes, (n+pageBytes-1)&^(pageBytes-1)))
		if err == nil {
			a.chunks = append(a.chunks, c)
			b, _ := c.take(n)
			return b, nil
		}
		if len(a.chunks) > 0 {
			return block{}, err
		}
		a.single = true
	}
	m, err := unix.Mmap(-1, 0, (n+pageBytes-1)&^(pageBytes-1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	return block{write: m}, err
}

// seal makes a written block executable and says where it is to be entered.
func (a *arena) seal(b block) (uintptr, error) {
	if b.chunk == nil {
		if err := unix.Mprotect(b.write, unix.PROT_READ|unix.PROT_EXEC); err != nil {
			unix.Munmap(b.write)
			return 0, err
		}
		return uintptr(unsafe.Pointer(&b.write[0])), nil
	}
	if b.reused {
		a.synchronize()
	}
	return uintptr(unsafe.Pointer(&b.chunk.exec[b.off])), nil
}

// free takes a block back. An empty chunk is unmapped unless it is the only one.
func (a *arena) free(b block) {
	if b.chunk == nil {
		unix.Munmap(b.write)
		return
	}
	fill(b.write) // a call that comes too late traps instead of running something else
	a.mu.Lock()
	defer a.mu.Unlock()
	c := b.chunk
	c.giveBack(span{b.off, len(b.write)})
	if len(c.free) == 1 && c.free[0].n == len(c.write) && (len(c.write) > chunkBytes || len(a.chunks) > 1) {
		a.chunks = slices.DeleteFunc(a.chunks, func(x *chunk) bool { return x == c })
		unix.Munmap(c.exec)
		unix.Munmap(c.write)
	}
}

// The commands of membarrier(2), which package unix does not name.
const (
	membarrierSyncCore         = 1 << 5
	membarrierRegisterSyncCore = 1 << 6
)

// synchronize lets all cores forget instructions they may have fetched. Kernels
// without it (before 4.16) are trusted to interrupt the cores often enough.
func (a *arena) synchronize() {
	a.register.Do(func() {
		_, _, e := unix.Syscall(unix.SYS_MEMBARRIER, membarrierRegisterSyncCore, 0, 0)
		a.barrier = e == 0
	})
	if a.barrier {
		unix.Syscall(unix.SYS_MEMBARRIER, membarrierSyncCore, 0, 0)
	}
}

// newChunk maps a new memory file twice.
func newChunk(n int) (*chunk, error) {
	// MFD_EXEC is unknown to kernels before 6.3, which do not need it either.
	fd, err := unix.MemfdCreate("kelpie-code", unix.MFD_CLOEXEC|unix.MFD_EXEC)
	if err == unix.EINVAL {
		fd, err = unix.MemfdCreate("kelpie-code", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) // the mappings keep the file
	if err := unix.Ftruncate(fd, int64(n)); err != nil {
		return nil, err
	}
	write, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	exec, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		unix.Munmap(write)
		return nil, err
	}
	return &chunk{write: write, exec: exec, free: []span{{0, n}}}, nil
}

// take cuts n bytes from the first free span that has them.
func (c *chunk) take(n int) (block, bool) {
	for i, s := range c.free {
		if s.n < n {
			continue
		}
		if s.n == n {
			c.free = slices.Delete(c.free, i, i+1)
		} else {
			c.free[i] = span{s.off + n, s.n - n}
		}
		b := block{write: c.write[s.off : s.off+n : s.off+n], chunk: c, off: s.off, reused: s.off < c.fresh}
		c.fresh = max(c.fresh, s.off+n)
		return b, true
	}
	return block{}, false
}

// giveBack inserts a span and joins it with its neighbours.
func (c *chunk) giveBack(s span) {
	i, _ := slices.BinarySearchFunc(c.free, s.off, func(x span, off int) int { return x.off - off })
	c.free = slices.Insert(c.free, i, s)
	if i+1 < len(c.free) && s.off+s.n == c.free[i+1].off {
		c.free[i].n += c.free[i+1].n
		c.free = slices.Delete(c.free, i+1, i+2)
	}
	if i > 0 && c.free[i-1].off+c.free[i-1].n == s.off {
		c.free[i-1].n += c.free[i].n
		c.free = slices.Delete(c.free, i, i+1)
	}
}
