package column

import (
	"math/bits"
	"sync"
)

// Small blocks come from slabs, cut into pieces of a power of two, so that a table of a
// thousand tiny segments is not a thousand mappings. A piece goes back to its class's list
// and is cleared when it is taken again; slabs themselves stay.

const (
	slabMin   = 512      // the smallest piece
	slabMax   = 64 << 10 // the largest; more is mapped directly
	slabBytes = 1 << 20
	numClass  = 8 // 512 … 64K
)

var slabs struct {
	sync.Mutex
	free [numClass][]uintptr
}

func slabClass(size int) int {
	if size <= slabMin {
		return 0
	}
	return bits.Len(uint(size-1)) - bits.Len(slabMin-1)
}

func takeSlab(size int) (block, error) {
	b, err := pieceOf(slabClass(size))
	if err == nil {
		clear(slice[byte](b.addr, b.bytes))
	}
	return b, err
}

// pieceOf is a piece of the class with anything in it.
func pieceOf(class int) (block, error) {
	n := slabMin << class
	slabs.Lock()
	list := slabs.free[class]
	if len(list) == 0 {
		addr, err := takeMapping(slabBytes)
		if err != nil {
			slabs.Unlock()
			return block{}, err
		}
		for off := slabBytes - n; off >= 0; off -= n { // so that pieces go out in rising order
			list = append(list, addr+uintptr(off))
		}
	}
	addr := list[len(list)-1]
	slabs.free[class] = list[:len(list)-1]
	slabs.Unlock()
	return block{addr, n, class}, nil
}

func freeSlab(b block) {
	slabs.Lock()
	slabs.free[b.class] = append(slabs.free[b.class], b.addr)
	slabs.Unlock()
}
