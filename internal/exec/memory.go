package exec

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
)

// memory is what a query has taken, held to a budget. Everything is given back at once
// when the query ends.
type memory struct {
	limit int64
	used  atomic.Int64
	peak  atomic.Int64
	mu    sync.Mutex
	held  map[uintptr]*column.Mem
}

func newMemory(limit int64) *memory {
	return &memory{limit: limit, held: map[uintptr]*column.Mem{}}
}

// alloc returns the address of size zeroed bytes.
func (m *memory) alloc(size int) (uintptr, error) {
	n := m.used.Add(int64(size))
	if m.limit > 0 && n > m.limit {
		m.used.Add(-int64(size))
		return 0, diag.Errorf(diag.OutOfMemory, -1, "out of memory: the query needs more than its memory limit of %s", formatBytes(m.limit)).
			WithHint("raise it with SET memory_limit = '…' or --memory")
	}
	for p := m.peak.Load(); n > p && !m.peak.CompareAndSwap(p, n); p = m.peak.Load() {
	}
	b, err := column.Alloc(size)
	if err != nil {
		m.used.Add(-int64(size))
		return 0, diag.Errorf(diag.OutOfMemory, -1, "out of memory: the system refused %s", formatBytes(int64(size)))
	}
	m.mu.Lock()
	m.held[b.Addr()] = b
	m.mu.Unlock()
	return b.Addr(), nil
}

// free gives one block back early.
func (m *memory) free(addr uintptr) {
	m.mu.Lock()
	b := m.held[addr]
	delete(m.held, addr)
	m.mu.Unlock()
	if b != nil {
		m.used.Add(-int64(b.Size()))
		b.Free()
	}
}

// close gives everything back.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for a, b := range m.held {
		b.Free()
		delete(m.held, a)
	}
	m.used.Store(0)
}

func formatBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	f, i := float64(n), 0
	for f >= 1024 && i < len(units)-1 {
		f /= 1024
		i++
	}
	if f == float64(int64(f)) {
		return itoa(int64(f)) + " " + units[i]
	}
	return itoa(int64(f*10)/10) + "." + itoa(int64(f*10)%10) + " " + units[i]
}

func itoa(n int64) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// plural is a count of things as text.
func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return itoa(n) + " " + what
}

// pointer turns an address outside of the Go heap into a pointer; through memory, because a
// plain conversion would be a mistake for Go's own objects and vet takes it for one.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func load64(addr uintptr) uint64     { return *(*uint64)(pointer(addr)) }
func store64(addr uintptr, x uint64) { *(*uint64)(pointer(addr)) = x }
func load8(addr uintptr) byte        { return *(*byte)(pointer(addr)) }
func store8(addr uintptr, x byte)    { *(*byte)(pointer(addr)) = x }

func words(addr uintptr, n int) []uint64  { return unsafe.Slice((*uint64)(pointer(addr)), n) }
func halves(addr uintptr, n int) []uint32 { return unsafe.Slice((*uint32)(pointer(addr)), n) }
func bytesAt(addr uintptr, n int) []byte  { return unsafe.Slice((*byte)(pointer(addr)), n) }
