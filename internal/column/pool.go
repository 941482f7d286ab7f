package column

import (
	"math/bits"
	"sync"
	"sync/atomic"
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

// pool keeps the blocks beyond the slabs' by size class, those that are known to hold nothing but zeros by themselves.
var pool blockPool

type blockPool struct {
	sync.Mutex
	used, zero [poolClasses]stock
	bytes      int
	timer      bool
}

// waiting is pool.bytes, to be read without a lock.
var waiting atomic.Int64

// wait notes that n more bytes are in the pool.
func (p *blockPool) wait(n int) {
	p.bytes += n
	waiting.Store(int64(p.bytes))
}

// stock is the free blocks of a class.
type stock struct {
	free []uintptr
	low  int // the fewest since the last sweep: those were not needed
}

// Take returns at least size bytes, from the pool if there are any. What is in them is anything, unless zero is reported;
// wanted says that zeros are of use.
func Take(size int, wanted bool) (b Block, zero bool, err error) {
	return taken(size, func(size int) (block, bool, error) { return takePooled(size, wanted) })
}

// TakeNew is Take past the pool.
func TakeNew(size int) (b Block, zero bool, err error) { return taken(size, takeNew) }

func taken(size int, from func(size int) (block, bool, error)) (Block, bool, error) {
	if size < 0 || size > 1<<46 {
		return Block{}, false, outOfMemory(size)
	}
	b, zero, err := from(max(size, 1))
	if err != nil {
		return Block{}, false, err
	}
	inUse.Add(int64(b.bytes))
	checkPressure()
	return Block{b}, zero, nil
}

// Size is how many bytes there are.
func (b Block) Size() int { return b.bytes }

// Bytes is the block as a slice, as much as there is.
func (b Block) Bytes() []byte { return slice[byte](b.addr, b.bytes) }

// Drop returns the block to the system, past the pool.
func (b Block) Drop() {
	if b.bytes <= slabMax {
		b.Give(false)
		return
	}
	inUse.Add(-int64(b.bytes))
	dropMapping(b.addr, b.bytes)
}

// Give returns the block to the pool; it must not be used again. Zero says that there are only zeros in it.
func (b Block) Give(zero bool) {
	inUse.Add(-int64(b.bytes))
	if b.bytes <= slabMax {
		freeSlab(b.block)
		return
	}
	pool.Lock()
	defer pool.Unlock()
	for pool.bytes+b.bytes > poolMax {
		if !dropLargest() {
			dropMapping(b.addr, b.bytes)
			return
		}
	}
	st := &pool.used[b.class]
	if zero {
		st = &pool.zero[b.class]
	}
	st.free = append(st.free, b.addr)
	pool.wait(b.bytes)
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
func takePooled(size int, wanted bool) (b block, zero bool, err error) {
	if size <= slabMax {
		b, err := pieceOf(slabClass(size))
		return b, false, err
	}
	class := poolClass(size)
	pool.Lock()
	for _, zero := range []bool{wanted, !wanted} {
		for c := class; c < min(class+poolSteps, poolClasses); c++ {
			st := &pool.used[c]
			if zero {
				st = &pool.zero[c]
			}
			if n := len(st.free) - 1; n >= 0 {
				addr := st.free[n]
				st.free = st.free[:n]
				st.low = min(st.low, n)
				pool.wait(-poolBytes(c))
				pool.Unlock()
				return block{addr, poolBytes(c), c}, zero, nil
			}
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
	addr, err := counted(n, mapAligned)
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
		for _, st := range []*stock{&pool.used[c], &pool.zero[c]} {
			if len(st.free) > 0 {
				st.drop(c, 1)
				st.low = min(st.low, len(st.free))
				return true
			}
		}
	}
	return false
}

// drop gives the first n blocks back to the system: they wait longest.
func (st *stock) drop(class, n int) {
	for _, addr := range st.free[:n] {
		dropMapping(addr, poolBytes(class))
	}
	st.free = append(st.free[:0], st.free[n:]...)
	pool.wait(-n * poolBytes(class))
}

// sweep gives the blocks back that nobody wanted since the last time.
func sweep() {
	pool.Lock()
	defer pool.Unlock()
	for c := range poolClasses {
		for _, st := range []*stock{&pool.used[c], &pool.zero[c]} {
			st.drop(c, min(st.low, len(st.free)))
			st.low = len(st.free)
		}
	}
	if pool.timer = pool.bytes > 0; pool.timer {
		time.AfterFunc(poolRest, sweep)
	}
}
