package sorting

import (
	"math/bits"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/work"
)

// entry is a tuple being sorted: a number that orders as (some of) its keys do, and where the tuple is.
type entry struct {
	key  uint64
	addr uintptr
}

// item is what is sorted: an entry, or a key that says all there is to know of its tuple.
type item interface{ entry | uint64 }

// keyOf is the key of an item, which is its first word.
func keyOf[E item](e *E) uint64 { return *(*uint64)(unsafe.Pointer(e)) }

func setKey[E item](e *E, key uint64) { *(*uint64)(unsafe.Pointer(e)) = key }

// Sizes of what is sorted, in entries.
const (
	insertionMost = 24      // sorted by insertion
	lsdMost       = 1 << 15 // sorted digit by digit from the last: it and its copy stay in the second-level cache
	partMost      = 1 << 11 // what a partition by the first digit aims at
	threadsLeast  = 1 << 16 // worth more than one thread
)

// maxFirst is the widest first digit: its counters take half of the first-level cache, and huge pages let entries go to so many places at a
// time. Parts are small, so that few entries are left where insertion sorts what the second digit leaves: it guesses wrong once for each.
const maxFirst = 12

// items is room for n items in the query's memory.
func items[E item](m *mem.Memory, n int) ([]E, func(), error) {
	a, err := m.Take(n * int(unsafe.Sizeof(*new(E))))
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*E)(mem.Pointer(a)), n), func() { m.Free(a) }, nil
}

// radixSort orders es by key; entries with equal keys keep their order. tmp is as long as es, its
// contents are lost. Large arrays are partitioned by the first digit that tells keys apart, then each part
// by itself, until a part fits in the cache; spread lets all threads take part.
func radixSort[E item](t *work.Team, es, tmp []E, spread bool) error {
	if len(es) <= insertionMost {
		insertionSort(es)
		return nil
	}
	x, err := wholeExtent(t, es)
	if err != nil {
		return err
	}
	return radixSortIn(t, es, tmp, x, spread)
}

// radixSortIn is radixSort of entries of which the extent is known.
func radixSortIn[E item](t *work.Team, es, tmp []E, x extent, spread bool) error {
	if !x.falls {
		return nil
	}
	lo, hi := x.lo, x.hi
	if small(len(es), hi-lo) {
		if err := t.Blocks(len(es), lookRows, func(lo, hi int) { copy(tmp[lo:hi], es[lo:hi]) }); err != nil {
			return err
		}
		return sortInto(t, es, tmp, lo, hi)
	}
	// So many first digits that a part has about partMost entries, if keys are spread evenly.
	width := bits.Len64(hi - lo)
	digit := min(bits.Len(uint(len(es)/partMost)), maxFirst, width)
	ends, err := scatter(t, es, tmp, lo, uint(width-digit), 1<<digit, spread)
	if err != nil {
		return err
	}
	begin := func(i int) int {
		if i == 0 {
			return 0
		}
		return ends[i-1]
	}
	// One thread per part, but a part that is far larger than the others is shared out again.
	part := func(i int, spread bool) error {
		to, from := es[begin(i):ends[i]], tmp[begin(i):ends[i]]
		if len(to) > insertionMost {
			x, err := wholeExtent(t, from)
			if err != nil {
				return err
			}
			if x.falls && small(len(to), x.hi-x.lo) {
				return sortInto(t, to, from, x.lo, x.hi)
			}
		}
		copy(to, from)
		return radixSort(t, to, from, spread)
	}
	var rest []int
	for i := range ends {
		switch n := ends[i] - begin(i); {
		case n == 0:
		case spread && n >= threadsLeast && n > len(es)/(2*t.Threads):
			if err := part(i, true); err != nil {
				return err
			}
		default:
			rest = append(rest, i)
		}
	}
	return t.ParallelUnless(!spread, len(rest), func(k int) error { return part(rest[k], false) })
}

// lookRows is how many entries a loop takes between two looks at the query's context.
const lookRows = 1 << 17

// extent is what is known of the keys of some entries. The zero value is that of none.
type extent struct {
	some        bool
	lo, hi      uint64 // the smallest and the largest
	first, last uint64
	falls       bool // one is smaller than the one before it
}

// join is of the entries of x and of those of y behind them.
func (x *extent) join(y extent) {
	if !x.some {
		*x = y
		return
	}
	x.falls = x.falls || y.falls || y.first < x.last
	x.lo, x.hi, x.last = min(x.lo, y.lo), max(x.hi, y.hi), y.last
}

// wholeExtent is the extent of many entries.
func wholeExtent[E item](t *work.Team, es []E) (x extent, err error) {
	if len(es) <= lookRows {
		return extentOf(es), nil
	}
	err = t.Blocks(len(es), lookRows, func(from, to int) { x.join(extentOf(es[from:to])) })
	return x, err
}

// extentOf is the extent of entries, of which there is one at least. It has no branches on keys, which are hard to guess.
func extentOf[E item](es []E) extent {
	last, falls := uint64(0), uint64(0)
	lo, hi := ^uint64(0), uint64(0)
	for i := range es {
		k := keyOf(&es[i])
		lo, hi = min(lo, k), max(hi, k)
		_, less := bits.Sub64(k, last, 0)
		falls |= less
		last = k
	}
	return extent{some: true, lo: lo, hi: hi, first: keyOf(&es[0]), last: last, falls: falls != 0}
}

// small reports what sortInto is for: it fits in the cache, or one digit does it.
func small(n int, span uint64) bool { return n <= lsdMost || span < 1<<9 }

// sortInto puts the entries of from into to in order; their keys are from lo to hi.
func sortInto[E item](t *work.Team, to, from []E, lo, hi uint64) error {
	if passes(len(to), hi-lo) <= 2 {
		return lsdSort(t, to, from, lo, hi)
	}
	return msdSort(t, to, from, lo, hi)
}

func insertionSort[E item](es []E) {
	for i := 1; i < len(es); i++ {
		e := es[i]
		j, k := i, keyOf(&e)
		for j > 0 && keyOf(&es[j-1]) > k {
			es[j] = es[j-1]
			j--
		}
		es[j] = e
	}
}

// scatter moves es to tmp, ordered by the digit from bit shift on of key - lo, and returns where
// the entries of each digit end. Threads take stretches of es, each with places of its own.
func scatter[E item](t *work.Team, es, tmp []E, lo uint64, shift uint, digits int, spread bool) ([]int, error) {
	threads := 1
	if spread {
		threads = t.Threads
	}
	stretch := (len(es) + threads - 1) / threads
	at := make([][]int, threads)
	err := t.Parallel(threads, func(k int) error {
		count := make([]int, digits)
		at[k] = count
		mine := es[min(k*stretch, len(es)):min((k+1)*stretch, len(es))]
		return t.Blocks(len(mine), lookRows, func(from, to int) { countFirst(mine[from:to], count, lo, shift) })
	})
	if err != nil {
		return nil, err
	}
	ends := make([]int, digits)
	n := 0
	for d := range ends {
		for k := range at {
			had := at[k][d]
			at[k][d] = n
			n += had
		}
		ends[d] = n
	}
	return ends, t.Parallel(threads, func(k int) error {
		mine := es[min(k*stretch, len(es)):min((k+1)*stretch, len(es))]
		return t.Blocks(len(mine), lookRows, func(from, to int) { moveFirst(mine[from:to], tmp, at[k], lo, shift) })
	})
}

// countFirst counts the entries of each digit from bit shift on.
func countFirst[E item](es []E, count []int, lo uint64, shift uint) {
	for i := range es {
		count[(keyOf(&es[i])-lo)>>(shift&63)]++
	}
}

// moveFirst moves entries to where those of their digit go.
func moveFirst[E item](es, tmp []E, to []int, lo uint64, shift uint) {
	for _, e := range es {
		d := (keyOf(&e) - lo) >> (shift & 63)
		tmp[to[d]] = e
		to[d]++
	}
}

// maxDigit is the widest digit of lsdSort and msdSort: its counters take half of the first-level cache.
const maxDigit = 11

// widest is the widest digit for n entries.
func widest(n int) int {
	if n < 4096 {
		return 8
	}
	return maxDigit
}

// passes is how many digits lsdSort needs.
func passes(n int, span uint64) int { return (bits.Len64(span) + widest(n) - 1) / widest(n) }

// lsdSort is sortInto by one digit after the other, the last first.
func lsdSort[E item](t *work.Team, es, tmp []E, lo, hi uint64) error {
	width, n := bits.Len64(hi-lo), passes(len(es), hi-lo)
	if n == 0 {
		copy(es, tmp)
		return nil
	}
	digit := uint((width + n - 1) / n)
	mask := uint64(1)<<digit - 1
	var counts [1 << maxDigit]uint32
	from, to := tmp, es
	for p := range n {
		shift := uint(p) * digit
		count := counts[:1<<digit]
		clear(count)
		if err := t.Blocks(len(from), lookRows, func(a, b int) { countDigit(from[a:b], count, lo, shift, mask) }); err != nil {
			return err
		}
		begins(count)
		if err := t.Blocks(len(from), lookRows, func(a, b int) { moveDigit(from[a:b], to, count, lo, shift, mask) }); err != nil {
			return err
		}
		from, to = to, from
	}
	if &from[0] != &es[0] {
		copy(es, from)
	}
	return nil
}

// countDigit counts the entries of each digit that mask cuts out from bit shift on.
func countDigit[E item](es []E, count []uint32, lo uint64, shift uint, mask uint64) {
	for i := range es {
		count[(keyOf(&es[i])-lo)>>(shift&63)&mask]++
	}
}

// moveDigit moves entries to where those of their digit go.
func moveDigit[E item](es, to []E, count []uint32, lo uint64, shift uint, mask uint64) {
	for _, e := range es {
		d := (keyOf(&e) - lo) >> (shift & 63) & mask
		to[count[d]] = e
		count[d]++
	}
}

// begins turns the number of entries of each digit into where they begin.
func begins(count []uint32) {
	n := uint32(0)
	for d, k := range count {
		count[d] = n
		n += k
	}
}

// msdSort is sortInto by the first digit, into parts of a few entries each if keys are spread evenly, which
// are sorted by insertion: better than many digits.
func msdSort[E item](t *work.Team, es, tmp []E, lo, hi uint64) error {
	digit := min(max(bits.Len(uint(len(es)))-2, 3), maxDigit)
	shift := uint(bits.Len64(hi-lo)-digit) & 63
	var counts [1 << maxDigit]uint32
	count := counts[:1<<digit]
	for i := range tmp {
		count[(keyOf(&tmp[i])-lo)>>shift]++
	}
	most := uint32(0)
	n := uint32(0)
	for d, k := range count {
		count[d] = n
		n += k
		most = max(most, k)
	}
	for _, e := range tmp {
		d := (keyOf(&e) - lo) >> (shift & 63)
		es[count[d]] = e
		count[d]++
	}
	if most <= insertionMost { // nothing has far to go
		insertionSort(es)
		return nil
	}
	begin := uint32(0)
	for _, end := range count {
		if n := end - begin; n > 1 {
			if err := radixSort(t, es[begin:end], tmp[begin:end], false); err != nil {
				return err
			}
		}
		begin = end
	}
	return nil
}
