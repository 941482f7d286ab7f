package exec

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
)

// memory is what a query has taken, held to a budget. Everything is given back at once
// when the query ends, or when nobody can reach it any more.
type memory struct {
	acct *budget.Account
	used atomic.Int64 // of acct, what is held here
	held *holding
}

// holding lists a query's blocks with the sizes asked for.
type holding struct {
	mu     sync.Mutex
	blocks map[uintptr]held
	spoil  bool // what is given back holds rubbish, so that tests see who counts on zeros
	noPool bool // blocks go back to the system
}

type held struct {
	block column.Block
	size  int
	zero  bool // behind what was asked for there are only zeros
}

// newMemory is an empty memory whose blocks acct counts; nil: nobody does. What is given back is spoiled if asked
// for, and goes back to the system where there is no pool.
func newMemory(acct *budget.Account, spoil, noPool bool) *memory {
	m := &memory{acct: acct, held: &holding{blocks: map[uintptr]held{}, spoil: spoil, noPool: noPool}}
	if m.acct == nil {
		m.acct = budget.New(0)
	}
	runtime.AddCleanup(m, (*holding).giveAll, m.held)
	return m
}

// alloc returns the address of size zeroed bytes.
func (m *memory) alloc(size int) (uintptr, error) {
	a, zero, err := m.take(size, true)
	if err == nil && !zero {
		clear(bytesAt(a, size))
	}
	return a, err
}

// Take is like alloc, but the bytes may be anything: for what is written before it is read.
func (m *memory) Take(size int) (uintptr, error) {
	a, _, err := m.take(size, false)
	return a, err
}

// clearStep is how much a thread clears at a time.
const clearStep = 256 << 10

// allocShared is alloc for what all threads will use: they clear it together.
func (m *memory) allocShared(t *team, size int) (uintptr, error) {
	a, zero, err := m.take(size, true)
	if err != nil || zero {
		return a, err
	}
	_, err = t.each(size < 4*clearStep, (size+clearStep-1)/clearStep, func(i int) bool {
		at := i * clearStep
		clear(bytesAt(a+uintptr(at), min(clearStep, size-at)))
		return true
	})
	return a, err
}

func (m *memory) take(size int, wanted bool) (addr uintptr, zero bool, err error) {
	if err := m.hold(size); err != nil {
		return 0, false, err
	}
	if limit := m.acct.Limit(); limit > 0 { // what waits in the pool is the statement's, if it is anybody's
		column.TrimPool(limit - m.acct.Used())
	}
	var b column.Block
	if m.held.noPool {
		b, zero, err = column.TakeNew(size)
	} else {
		b, zero, err = column.Take(size, wanted)
	}
	if err == nil {
		if err = m.hold(b.Size() - size); err != nil {
			b.Drop()
		}
	}
	if err != nil {
		m.drop(size)
		return 0, false, err
	}
	m.held.mu.Lock()
	m.held.blocks[b.Addr()] = held{b, size, zero}
	m.held.mu.Unlock()
	return b.Addr(), zero, nil
}

// hold and drop count for the statement's account.
func (m *memory) hold(n int) error {
	err := m.acct.Hold(int64(n))
	if err == nil {
		m.used.Add(int64(n))
	}
	return err
}

func (m *memory) drop(n int) {
	m.acct.Drop(int64(n))
	m.used.Add(-int64(n))
}

// Free gives one block back early.
func (m *memory) Free(addr uintptr) { m.giveBack(addr, false) }

// freeZeros is free for a block that holds only zeros in what was asked for.
func (m *memory) freeZeros(addr uintptr) { m.giveBack(addr, true) }

func (m *memory) giveBack(addr uintptr, zeros bool) {
	m.held.mu.Lock()
	b, ok := m.held.blocks[addr]
	delete(m.held.blocks, addr)
	m.held.mu.Unlock()
	if !ok {
		return
	}
	m.drop(b.block.Size())
	if zeros && !b.zero {
		clear(b.block.Bytes()[b.size:])
	}
	m.held.give(b.block, zeros)
}

// account counts what is held.
func (m *memory) account() *budget.Account { return m.acct }

// sizeOf is the size of a block.
func (m *memory) sizeOf(addr uintptr) int {
	m.held.mu.Lock()
	defer m.held.mu.Unlock()
	return m.held.blocks[addr].size
}

// close gives everything back.
func (m *memory) close() {
	m.held.giveAll()
	m.acct.Drop(m.used.Swap(0))
}

// blocks are the sizes of all blocks by address.
func (m *memory) blocks() map[uintptr]int {
	m.held.mu.Lock()
	defer m.held.mu.Unlock()
	out := make(map[uintptr]int, len(m.held.blocks))
	for a, b := range m.held.blocks {
		if b.size > 0 {
			out[a] = b.size
		}
	}
	return out
}

func (h *holding) giveAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.blocks {
		h.give(b.block, false)
	}
	clear(h.blocks)
}

func (h *holding) give(b column.Block, zeros bool) {
	if h.spoil {
		s := b.Bytes()
		for i := range s {
			s[i] = 0xA5
		}
	}
	if h.noPool {
		b.Drop()
		return
	}
	b.Give(zeros && !h.spoil)
}
