package exec

import (
	"math/bits"
	"slices"
	"unsafe"
)

// entry is a tuple being sorted: a number that orders as (some of) its keys do, and where the tuple is.
type entry struct {
	key  uint64
	addr uintptr
}

// Sizes of what is sorted, in entries.
const (
	insertionMost = 24      // sorted by insertion
	lsdMost       = 1 << 15 // sorted digit by digit from the last: it and its copy stay in the second-level cache
	partMost      = 1 << 14 // what a partition by the first digit aims at
	threadsLeast  = 1 << 16 // worth more than one thread
)

// entries is room for n entries in the query's memory.
func (r *run) entries(n int) ([]entry, func(), error) {
	a, err := r.mem.room(n * int(unsafe.Sizeof(entry{})))
	if err != nil {
		return nil, nil, err
	}
	return unsafe.Slice((*entry)(pointer(a)), n), func() { r.mem.free(a) }, nil
}

// radixSort orders es by key; entries with equal keys keep their order. tmp is as long as es, its
// contents are lost. Large arrays are partitioned by the first digit that tells keys apart, then each part
// by itself, until a part fits in the cache; spread lets all threads take part.
func (r *run) radixSort(es, tmp []entry, spread bool) error {
	lo, hi, sorted := extent(es)
	switch n := len(es); {
	case sorted:
		return nil
	case n <= insertionMost:
		insertionSort(es)
		return nil
	case n <= lsdMost || hi-lo < 1<<9:
		lsdSort(es, tmp, lo, hi)
		return nil
	}
	if err := r.canceled(); err != nil {
		return err
	}
	// So many first digits that a part has about partMost entries, if keys are spread evenly.
	width := bits.Len64(hi - lo)
	digit := min(bits.Len(uint(len(es)/partMost)), 9, width)
	shift := uint(width - digit)
	ends, err := r.scatter(es, tmp, lo, shift, 1<<digit, spread)
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
		b, e := begin(i), ends[i]
		copy(es[b:e], tmp[b:e])
		return r.radixSort(es[b:e], tmp[b:e], spread)
	}
	var small []int
	for i := range ends {
		switch n := ends[i] - begin(i); {
		case n == 0:
		case spread && n >= threadsLeast && n > len(es)/(2*r.Threads):
			if err := part(i, true); err != nil {
				return err
			}
		default:
			small = append(small, i)
		}
	}
	if !spread {
		for _, i := range small {
			if err := part(i, false); err != nil {
				return err
			}
		}
		return nil
	}
	return r.parallel(len(small), func(k int) error { return part(small[k], false) })
}

// extent is the smallest and the largest key, and whether all are in order.
func extent(es []entry) (lo, hi uint64, sorted bool) {
	lo, sorted = ^uint64(0), true
	last := uint64(0)
	for i := range es {
		k := es[i].key
		lo, hi = min(lo, k), max(hi, k)
		if k < last {
			sorted = false
		}
		last = k
	}
	return lo, hi, sorted
}

func insertionSort(es []entry) {
	for i := 1; i < len(es); i++ {
		e := es[i]
		j := i
		for j > 0 && es[j-1].key > e.key {
			es[j] = es[j-1]
			j--
		}
		es[j] = e
	}
}

// scatter moves es to tmp, ordered by the digit from bit shift on of key - lo, and returns where
// the entries of each digit end. Threads take stretches of es, each with places of its own.
func (r *run) scatter(es, tmp []entry, lo uint64, shift uint, digits int, spread bool) ([]int, error) {
	threads := 1
	if spread {
		threads = r.Threads
	}
	stretch := (len(es) + threads - 1) / threads
	at := make([][]int, threads)
	err := r.parallel(threads, func(t int) error {
		count := make([]int, digits)
		for _, e := range es[min(t*stretch, len(es)):min((t+1)*stretch, len(es))] {
			count[(e.key-lo)>>shift]++
		}
		at[t] = count
		return nil
	})
	if err != nil {
		return nil, err
	}
	ends := make([]int, digits)
	n := 0
	for d := range ends {
		for t := range at {
			k := at[t][d]
			at[t][d] = n
			n += k
		}
		ends[d] = n
	}
	return ends, r.parallel(threads, func(t int) error {
		to := at[t]
		for _, e := range es[min(t*stretch, len(es)):min((t+1)*stretch, len(es))] {
			d := (e.key - lo) >> shift
			tmp[to[d]] = e
			to[d]++
		}
		return nil
	})
}

// maxDigit is the widest digit of lsdSort: its counters take half of the first-level cache.
const maxDigit = 11

// lsdSort sorts by one digit after the other, the last first.
func lsdSort(es, tmp []entry, lo, hi uint64) {
	width := bits.Len64(hi - lo)
	widest := maxDigit
	if len(es) < 4096 {
		widest = 8
	}
	passes := (width + widest - 1) / widest
	digit := uint((width + passes - 1) / passes)
	mask := uint64(1)<<digit - 1
	var counts [1 << maxDigit]uint32
	from, to := es, tmp
	for p := range passes {
		shift := uint(p) * digit
		count := counts[:1<<digit]
		clear(count)
		for i := range from {
			count[(from[i].key-lo)>>shift&mask]++
		}
		if slices.Contains(count, uint32(len(es))) {
			continue // all alike
		}
		n := uint32(0)
		for d, k := range count {
			count[d] = n
			n += k
		}
		for _, e := range from {
			d := (e.key - lo) >> shift & mask
			to[count[d]] = e
			count[d]++
		}
		from, to = to, from
	}
	if &from[0] != &es[0] {
		copy(es, from)
	}
}
