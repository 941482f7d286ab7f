package simt

import (
	"math"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// execAtomic runs atom and red, lane after lane. Real atomics, because other
// goroutines may be using the same memory: another launch, or the CPU's share of
// a query.
func (w *warp) execAtomic(in *inst, pc int32, act uint32) *Error {
	addrs := w.regs[in.src[0]]
	b, c, d := &w.regs[in.src[1]], &w.regs[in.src[2]], &w.regs[in.dst[0]]
	size := int(in.width)
	down := w.l.rng != nil && w.l.rng.IntN(2) == 0
	for m := act; m != 0; {
		lane := bits.TrailingZeros32(m)
		if down {
			lane = 31 - bits.LeadingZeros32(m)
		}
		m &^= 1 << lane
		addr := addrs[lane] + uint64(in.off)
		var data []byte
		var err *Error
		if in.space == spaceGlobal {
			var b *buffer
			if b, err = w.global(in, pc, lane, addr, size, true); err == nil {
				data = b.data[addr-b.base:]
				w.l.touch(b, addr, size, true)
				w.l.touch(b, addr, size, false)
			}
			w.l.stats.Atomics++
		} else {
			var def []byte
			data, def, err = w.sharedAt(in, lane, addr, size)
			if err == nil && !written(def, size) {
				// exch reads as well: its old value would be anything.
				err = w.fault(in, lane, UninitShared, "%d bytes at offset %d", size, addr-sharedBase)
			}
			w.l.stats.SharedAtomics++
			w.l.stats.SharedBytes += 2 * uint64(size)
		}
		if err != nil {
			return err
		}
		d[lane] = update(in, unsafe.Pointer(&data[0]), b[lane], c[lane])
	}
	return nil
}

// update applies the operation to a cell and returns its old value.
func update(in *inst, p unsafe.Pointer, b, c uint64) uint64 {
	if in.width == 8 {
		cell := (*uint64)(p)
		for {
			old := atomic.LoadUint64(cell)
			if atomic.CompareAndSwapUint64(cell, old, newValue(in, old, b, c)) {
				return old
			}
		}
	}
	cell := (*uint32)(p)
	for {
		old := atomic.LoadUint32(cell)
		if atomic.CompareAndSwapUint32(cell, old, uint32(newValue(in, uint64(old), b, c))) {
			return uint64(old)
		}
	}
}

func newValue(in *inst, old, b, c uint64) uint64 {
	switch in.op {
	case opAdd:
		if !in.t.isFloat() {
			return old + b
		}
		if in.width == 8 {
			return math.Float64bits(math.Float64frombits(old) + math.Float64frombits(b))
		}
		return uint64(math.Float32bits(math.Float32frombits(uint32(old)) + math.Float32frombits(uint32(b))))
	case opMin, opMax:
		less := b < old
		if in.t.signed() {
			less = extend(b, in.sh) < extend(old, in.sh)
		}
		if less == (in.op == opMin) {
			return b
		}
		return old
	case opAnd:
		return old & b
	case opOr:
		return old | b
	case opXor:
		return old ^ b
	case opExch:
		return b
	case opCas:
		if old == b {
			return c
		}
		return old
	case opInc:
		if old >= b {
			return 0
		}
		return old + 1
	case opDec:
		if old == 0 || old > b {
			return b
		}
		return old - 1
	}
	return old
}
