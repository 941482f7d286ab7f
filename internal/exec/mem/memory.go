package mem

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/kelpiedb/kelpie/internal/budget"
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/work"
)

// Memory is what a query has taken, held to a budget. Everything is given back at once
// when the query ends, or when nobody can reach it any more.
type Memory struct {
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
	zero  bool   // behind what was asked for there are only zeros
	leave func() // not nil: the memory is another's, who takes it back so
}

// New is an empty memory whose blocks acct counts; nil: nobody does. What is given back is spoiled if asked
// for, and goes back to the system where there is no pool.
func New(acct *budget.Account, spoil, noPool bool) *Memory {
	m := &Memory{acct: acct, held: &holding{blocks: map[uintptr]held{}, spoil: spoil, noPool: noPool}}
	if m.acct == nil {
		m.acct = budget.New(0)
	}
	runtime.AddCleanup(m, (*holding).giveAll, m.held)
	return m
}

// Alloc returns the address of size zeroed bytes.
func (m *Memory) Alloc(size int) (uintptr, error) {
	a, zero, err := m.take(size, true)
	if err == nil && !zero {
		clear(Bytes(a, size))
	}
	return a, err
}

// Take is like alloc, but the bytes may be anything: for what is written before it is read.
func (m *Memory) Take(size int) (uintptr, error) {
	a, _, err := m.take(size, false)
	return a, err
}

// Adopt lets the query have memory of another's, who takes it back by leave when everything is given back.
func (m *Memory) Adopt(addr uintptr, size int, leave func()) error {
	if err := m.hold(size); err != nil {
		return err
	}
	m.held.mu.Lock()
	m.held.blocks[addr] = held{size: size, leave: leave}
	m.held.mu.Unlock()
	return nil
}

// clearStep is how much a thread clears at a time.
const clearStep = 256 << 10

// AllocShared is alloc for what all threads will use: they clear it together.
func (m *Memory) AllocShared(t *work.Team, size int) (uintptr, error) {
	a, zero, err := m.take(size, true)
	if err != nil || zero {
		return a, err
	}
	_, err = t.Each(size < 4*clearStep, (size+clearStep-1)/clearStep, func(i int) bool {
		at := i * clearStep
		clear(Bytes(a+uintptr(at), min(clearStep, size-at)))
		return true
	})
	return a, err
}

func (m *Memory) take(size int, wanted bool) (addr uintptr, zero bool, err error) {
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
	m.held.blocks[b.Addr()] = held{block: b, size: size, zero: zero}
	m.held.mu.Unlock()
	return b.Addr(), zero, nil
}

// hold and drop count for the statement's account.
func (m *Memory) hold(n int) error {
	err := m.acct.Hold(int64(n))
	if err == nil {
		m.used.Add(int64(n))
	}
	return err
}

func (m *Memory) drop(n int) {
	m.acct.Drop(int64(n))
	m.used.Add(-int64(n))
}

// Free gives one block back early.
func (m *Memory) Free(addr uintptr) { m.giveBack(addr, false) }

// FreeZeros is free for a block that holds only zeros in what was asked for.
func (m *Memory) FreeZeros(addr uintptr) { m.giveBack(addr, true) }

func (m *Memory) giveBack(addr uintptr, zeros bool) {
	m.held.mu.Lock()
	b, ok := m.held.blocks[addr]
	delete(m.held.blocks, addr)
	m.held.mu.Unlock()
	if !ok {
		return
	}
	if b.leave != nil {
		m.drop(b.size)
		b.leave()
		return
	}
	m.drop(b.block.Size())
	if zeros && !b.zero {
		clear(b.block.Bytes()[b.size:])
	}
	m.held.give(b.block, zeros)
}

// Account counts what is held.
func (m *Memory) Account() *budget.Account { return m.acct }

// SizeOf is the size of a block.
func (m *Memory) SizeOf(addr uintptr) int {
	m.held.mu.Lock()
	defer m.held.mu.Unlock()
	return m.held.blocks[addr].size
}

// Close gives everything back.
func (m *Memory) Close() {
	m.held.giveAll()
	m.acct.Drop(m.used.Swap(0))
}

// Blocks are the sizes of all blocks by address.
func (m *Memory) Blocks() map[uintptr]int {
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
		if b.leave != nil {
			b.leave()
		} else {
			h.give(b.block, false)
		}
	}
	clear(h.blocks)
}

func (h *holding) give(b column.Block, zeros bool) {
	if h.spoil {
		s := b.Bytes()
		for n := copy(s, "\xA5"); n < len(s); n *= 2 { // copies are many times as fast as a loop over bytes
			copy(s[n:], s[:n])
		}
	}
	if h.noPool {
		b.Drop()
		return
	}
	b.Give(zeros && !h.spoil)
}
