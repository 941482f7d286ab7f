package x64

import (
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
// No byte of a chunk is used twice, because a core might still hold the old instructions,
// fetched through the other view. A chunk whose space has been used up is unmapped
// with the last of its functions; that interrupts all cores of the process, which then
// know nothing of it any more, once per chunkBytes of code instead of once per function.

const canRun = true

const (
	chunkBytes = 1 << 20
	unitBytes  = 64
	pageBytes  = 4096
)

type arena struct {
	mu     sync.Mutex
	cur    *chunk // from which space is taken
	single bool   // no memory files: a mapping per function
}

type chunk struct {
	write, exec []byte
	used        int // bytes handed out
	live        int // functions in it
}

// block is a function's place.
type block struct {
	write []byte // where to write it, until it is sealed
	chunk *chunk // nil: a mapping of its own
	off   int
}

var codeMemory arena

// alloc finds n bytes for code.
func (a *arena) alloc(n int) (block, error) {
	n = (n + unitBytes - 1) &^ (unitBytes - 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.single {
		if a.cur == nil || a.cur.used+n > len(a.cur.write) {
			c, err := newChunk(max(chunkBytes, (n+pageBytes-1)&^(pageBytes-1)))
			switch {
			case err == nil:
				if a.cur != nil && a.cur.live == 0 {
					a.cur.unmap()
				}
				a.cur = c
			case a.cur != nil:
				return block{}, err
			default:
				a.single = true
			}
		}
		if c := a.cur; c != nil {
			b := block{write: c.write[c.used : c.used+n : c.used+n], chunk: c, off: c.used}
			c.used += n
			c.live++
			return b, nil
		}
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
	return uintptr(unsafe.Pointer(&b.chunk.exec[b.off])), nil
}

// free takes a block back.
func (a *arena) free(b block) {
	if b.chunk == nil {
		unix.Munmap(b.write)
		return
	}
	fill(b.write) // a call that comes too late traps instead of running something else
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.chunk.live--; b.chunk.live == 0 && b.chunk != a.cur {
		b.chunk.unmap()
	}
}

func (c *chunk) unmap() {
	unix.Munmap(c.exec)
	unix.Munmap(c.write)
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
	return &chunk{write: write, exec: exec}, nil
}
