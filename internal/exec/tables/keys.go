package tables

import (
	"math/bits"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// All that organizes tuples needs one number of each: the key, its place, or the hash. They are read
// in batches, so that the loops over them are short and know nothing of tuples.

const batchRows = 512

// keyReader reads one number of each tuple.
type keyReader struct {
	off    uintptr
	width  uint8
	signed bool
	null   int   // offset of the NULL byte, < 0: none
	min    int64 // subtracted, unless it is hashed
	hash   bool  // the number's hash is wanted
	size   uintptr
}

// keyOf reads key number i.
func (b *Builder) keyOf(i int) keyReader {
	f := &b.Tuple.Fields[i]
	return keyReader{off: uintptr(f.Off), width: f.Width, signed: f.Signed(), null: f.Null, size: uintptr(b.Tuple.Size)}
}

// hashOf reads or computes the hash of the keys.
func (b *Builder) hashOf() keyReader {
	if b.Tuple.HasHash {
		return keyReader{width: 8, null: -1, size: uintptr(b.Tuple.Size)}
	}
	k := b.keyOf(0)
	k.hash = true
	return k
}

// read fills xs with the numbers of the tuples from at on and returns how many there are: NULLs are left out.
func (k *keyReader) read(xs []uint64, at uintptr) int {
	p := mem.Pointer(at + k.off)
	switch {
	case k.width == 8:
		readKeys[uint64](xs, p, k.size, k.min)
	case k.width == 4 && k.signed:
		readKeys[int32](xs, p, k.size, k.min)
	case k.width == 4:
		readKeys[uint32](xs, p, k.size, k.min)
	case k.width == 2 && k.signed:
		readKeys[int16](xs, p, k.size, k.min)
	case k.width == 2:
		readKeys[uint16](xs, p, k.size, k.min)
	case k.signed:
		readKeys[int8](xs, p, k.size, k.min)
	default:
		readKeys[uint8](xs, p, k.size, k.min)
	}
	if k.hash {
		for i, x := range xs {
			xs[i] = layout.HashInt(int64(x))
		}
	}
	if k.null < 0 {
		return len(xs)
	}
	n := 0
	at += uintptr(k.null)
	for _, x := range xs {
		xs[n] = x
		n += 1 - int(mem.Load8(at))
		at += k.size
	}
	return n
}

// at is the number of one tuple.
func (k *keyReader) at(a uintptr) uint64 {
	var xs [1]uint64
	k.read(xs[:], a)
	return xs[0]
}

func readKeys[T uint64 | uint32 | uint16 | uint8 | int32 | int16 | int8](xs []uint64, p unsafe.Pointer, size uintptr, min int64) {
	for i := range xs {
		xs[i] = uint64(int64(*(*T)(p)) - min)
		p = unsafe.Add(p, size)
	}
}

func (b *Builder) tasks() []tuples.Piece { return b.Rows.Tasks() }

// each runs f(i) for every task, on all threads unless the sink is alone; an error or f's false ends it.
func (b *Builder) each(n int, f func(i int) bool) (all bool, err error) {
	return b.Team.Each(b.alone(), n, f)
}

// batches reads the numbers of a task's tuples, a batch at a time; f gets them with the address of the first
// tuple and ends it by false.
func (k *keyReader) batches(t tuples.Piece, f func(xs []uint64, at uintptr) bool) bool {
	buf := make([]uint64, min(batchRows, t.N))
	for lo := 0; lo < t.N; lo += batchRows {
		xs := buf[:min(batchRows, t.N-lo)]
		at := t.Addr + uintptr(lo)*k.size
		if !f(xs[:k.read(xs, at)], at) {
			return false
		}
	}
	return true
}

// slotted is a tuple on its way to its slot.
type slotted struct {
	x  uint64 // what the slot is found by: the hash or the key's place
	at uintptr
}

// spread is the tuples sorted by ranges of slots. A range is small enough for the cache, and a thread has it
// for itself: nothing needs to be locked.
type spread struct {
	all  []slotted
	from []int // range p is all[from[p]:from[p+1]]
	bits uint8 // log2 of the number of ranges
	mem  uintptr
}

func (sp *spread) parts() int           { return len(sp.from) - 1 }
func (sp *spread) part(p int) []slotted { return sp.all[sp.from[p]:sp.from[p+1]] }

// spread sorts the tuples. A tuple's slot is bits shift to shift+slotBits of its number.
func (b *Builder) spread(k keyReader, shift, slotBits uint8) (*spread, error) {
	n := b.partBits(slotBits)
	return b.spreadBy(k, shift+slotBits-n, n)
}

// spreadBy sorts the tuples by the given number of bits from shift on.
func (b *Builder) spreadBy(k keyReader, shift, partBits uint8) (*spread, error) {
	n := int(b.Rows.Len())
	sp := &spread{bits: partBits}
	var err error
	if sp.mem, err = b.Mem.Take(n * int(unsafe.Sizeof(slotted{}))); err != nil {
		return nil, err
	}
	sp.all = unsafe.Slice((*slotted)(mem.Pointer(sp.mem)), n)
	tasks, parts := b.tasks(), 1<<sp.bits
	mask := uint64(parts - 1)
	at := make([]int, len(tasks)*parts) // by task: counts, then where its tuples go
	if parts > 1 {
		_, err = b.each(len(tasks), func(i int) bool {
			mine := at[i*parts:][:parts]
			return k.batches(tasks[i], func(xs []uint64, _ uintptr) bool {
				for _, x := range xs {
					mine[x>>(shift&63)&mask]++
				}
				return true
			})
		})
		if err != nil {
			return nil, err
		}
	} else {
		for i, t := range tasks {
			at[i] = t.N
		}
	}
	sp.from = make([]int, parts+1)
	sum := 0
	for p := range parts {
		sp.from[p] = sum
		for i := range tasks {
			c := at[i*parts+p]
			at[i*parts+p] = sum
			sum += c
		}
	}
	sp.from[parts] = sum
	_, err = b.each(len(tasks), func(i int) bool {
		mine := at[i*parts:][:parts]
		return k.batches(tasks[i], func(xs []uint64, a uintptr) bool {
			all, size := sp.all, k.size
			for _, x := range xs {
				next := &mine[x>>(shift&63)&mask]
				all[*next] = slotted{x, a}
				*next++
				a += size
			}
			return true
		})
	})
	return sp, err
}

// partBits is how many ranges the slots are cut into, as a logarithm.
func (b *Builder) partBits(slotBits uint8) uint8 {
	const rangeBits = 15 // slots that are worth a range
	want := max(int(slotBits)-rangeBits, 0)
	if !b.alone() {
		want = max(want, bits.Len(uint(4*b.Team.Threads)))
	}
	return uint8(min(want, 8, int(slotBits)))
}
