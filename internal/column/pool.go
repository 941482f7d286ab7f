package column

import (
	"math/bits"
	"sync"
	"time"
)

// Queries take and give back the same blocks over and over, and memory that is fresh from the system
// costs a page fault per 4 KiB: more than filling it. So what a query gives back waits in a pool for the
// next one. A block that nobody wants for a while goes back to the system, and so do the
// oldest when the pool holds too much.

// Block is memory outside the Go heap that belongs to whoever took it until it is given back by hand.
type Block struct{ block }

// Addr is the address of the first byte, a multiple of Align.
func (b Block) Addr() uintptr { return b.addr }

const (
	// poolMax bounds the bytes that wait in the pool.
	poolMax = 1 << 30
	// poolRest is how long a block waits before it goes back to the system: at least once, at most twice.
	poolRest = time.Second
	// hugePage is the size and alignment of a huge page.
	hugePage = 2 << 20
)

// pool keeps the blocks beyond the slabs' by size class.
var pool struct {
	sync.Mutex
	free  [poolClasses][]uintptr
	low   [poolClasses]int // the fewest blocks of the class since the last sweep: those were not needed
	bytes int
	timer bool
}

// Take returns at least size bytes, from the pool if there are any. What is in them is anything, unless zero is reported.
func Take(size int) (b Block, zero bool, err error) { return taken(size, takePooled) }

// TakeNew is Take past the pool.
func TakeNew(size int) (b Block, zero bool, err error) { return taken(size, takeNew) }

func taken(size int, from func(size int) (block, bool, error)) (Block, bool, error) {
	if size < 0 || size > 1<<46 {
		return Block{}, false, outOfMemory(size)
	}
	b, zero, err := from(max(size, 1))
	if err != nil {
		return Block{}, false, outOfMemory(size)
	}
	inUse.Add(int64(b.bytes))
	checkPressure()
	return Block{b}, zero, nil
}

// Bytes is the block as a slice, as much as there is.
func (b Block) Bytes() []byte { return slice[byte](b.addr, b.bytes) }

// Drop returns the block to the system, past the pool.
func (b Block) Drop() {
	if b.bytes <= slabMax {
		b.Give()
		return
	}
	inUse.Add(-int64(b.bytes))
	unmapMemory(b.addr, b.bytes)
}

// Give returns the block to the pool; it must not be used again.
func (b Block) Give() {
	inUse.Add(-int64(b.bytes))
	if b.bytes <= slabMax {
		freeSlab(b.block)
		return
	}
	pool.Lock()
	defer pool.Unlock()
	for pool.bytes+b.bytes > poolMax {
		if !dropLargest() {
			unmapMemory(b.addr, b.bytes)
			return
		}
	}
	pool.free[b.class] = append(pool.free[b.class], b.addr)
	pool.bytes += b.bytes
	if !pool.timer {
		pool.timer = true
		time.AfterFunc(poolRest, sweep)
	}
}

// Classes are a quarter of a power of two apart, so that at most a fifth of a block is waste.
const (
	poolSteps   = 4
	poolClasses = poolSteps * 31 // 64 KiB to 2^47 bytes
)

// poolClass is the smallest class of at least size bytes, more than slabMax.
func poolClass(size int) int {
	log := bits.Len(uint(size-1)) - 1 // 2^log < size <= 2^(log+1)
	step := (size - 1) >> (log - 2) & 3
	return (log-16)*poolSteps + step
}

// poolBytes is the size of the class's blocks.
func poolBytes(class int) int {
	log := class/poolSteps + 16
	return 1<<log + (class%poolSteps+1)<<(log-2)
}

// takePooled takes a block from the pool, a larger one if need be, or else from the system.
func takePooled(size int) (b block, fresh bool, err error) {
	if size <= slabMax {
		b, err := pieceOf(slabClass(size))
		return b, false, err
	}
	class := poolClass(size)
	pool.Lock()
	for c := class; c < min(class+poolSteps, poolClasses); c++ {
		if list := pool.free[c]; len(list) > 0 {
			addr := list[len(list)-1]
			pool.free[c] = list[:len(list)-1]
			pool.low[c] = min(pool.low[c], len(list)-1)
			pool.bytes -= poolBytes(c)
			pool.Unlock()
			return block{addr, poolBytes(c), c}, false, nil
		}
	}
	pool.Unlock()
	return takeNew(size)
}

// takeNew takes a block from the system.
func takeNew(size int) (b block, fresh bool, err error) {
	if size <= slabMax {
		b, err := pieceOf(slabClass(size))
		return b, false, err
	}
	class := poolClass(size)
	n := poolBytes(class)
	addr, err := mapAligned(n)
	return block{addr, n, class}, true, err
}

// mapAligned maps n bytes; large ones begin at a huge page and ask for such.
func mapAligned(n int) (uintptr, error) {
	if n < hugePage {
		return mapMemory(n)
	}
	addr, err := mapMemory(n + hugePage)
	if err != nil {
		return 0, err
	}
	at := (addr + hugePage - 1) &^ (hugePage - 1)
	addr = trimMapping(addr, n+hugePage, at, n)
	adviseHuge(addr, n)
	return addr, nil
}

// dropLargest gives one of the largest blocks in the pool back to the system.
func dropLargest() bool {
	for c := poolClasses - 1; c >= 0; c-- {
		if n := len(pool.free[c]); n > 0 {
			unmapMemory(pool.free[c][0], poolBytes(c))
			pool.free[c] = pool.free[c][1:]
			pool.low[c] = min(pool.low[c], n-1)
			pool.bytes -= poolBytes(c)
			return true
		}
	}
	return false
}

// sweep gives the blocks back that nobody wanted since the last time; those are the ones at the lists' beginnings.
func sweep() {
	pool.Lock()
	defer pool.Unlock()
	for c := range pool.free {
		n := min(pool.low[c], len(pool.free[c]))
		for _, addr := range pool.free[c][:n] {
			unmapMemory(addr, poolBytes(c))
		}
		pool.free[c] = append(pool.free[c][:0], pool.free[c][n:]...)
		pool.bytes -= n * poolBytes(c)
		pool.low[c] = len(pool.free[c])
	}
	if pool.timer = pool.bytes > 0; pool.timer {
		time.AfterFunc(poolRest, sweep)
	}
}
