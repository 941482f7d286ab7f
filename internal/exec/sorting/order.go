package sorting

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
)

// Order is tuples in order, for those who want to know where keys change.
type Order struct {
	s       *Sorter
	n       int
	es      []entry      // the tuples; nil: they lie in rows in their order
	rows    *tuples.Rows // in order, unless es is
	begin   []int        // of the pieces of rows
	release []func()
	marks   []byte
	in      []int // marks: bit k is for the first in[k] keys
}

// marks are made while sorting, when the numbers that keys became are at hand: later one would have to look at tuples all over
// the memory.
type marks struct {
	es   []entry // all of them
	bits []byte  // for each, which of the prefixes of the keys differ from those of the entry before
	in   []int   // the lengths of the prefixes
}

// Order sorts rows, and notes where the first keys change, for all of the given numbers of them. Unless they must stay, tuples are
// written anew where they do not lie in their order, and rows with them; old reports that those there were are not needed any more.
func (s *Sorter) Order(rows *tuples.Rows, prefixes []int, stay bool) (o *Order, old bool, err error) {
	o = &Order{s: s, n: int(rows.Len()), rows: rows, in: prefixes}
	at, err := s.Mem.AllocShared(s.Team, o.n)
	if err != nil {
		return nil, false, err
	}
	o.marks, o.release = mem.Bytes(at, o.n), append(o.release, func() { s.Mem.Free(at) })
	if old, err = o.sort(stay); err != nil {
		o.Release()
		return nil, false, err
	}
	o.marks[0] = 1<<len(prefixes) - 1
	if o.es == nil {
		o.begin = make([]int, 1, len(rows.Pieces)+1)
		for i, p := range rows.Pieces {
			o.begin = append(o.begin, o.begin[i]+p.N)
		}
	}
	return o, old, nil
}

func (o *Order) sort(stay bool) (old bool, err error) {
	s := o.s
	if len(s.keys) == 0 {
		return false, nil
	}
	if !stay && !o.rows.Indirect && o.n >= bareLeast {
		if w := s.bare(); w != nil {
			return false, s.sortBare(o.rows, w, func(xs []uint64) error { return markSorted(s, xs, o.marks, s.shifts(w, o.in)) })
		}
	}
	if o.rows.Indirect || s.NoRadix || o.n < bareLeast {
	} else if in, err := o.inOrder(); in || err != nil {
		return false, err
	}
	es, release, err := items[entry](s.Mem, o.n)
	if err != nil {
		return false, err
	}
	o.es = es
	if err := o.sortEntries(); err != nil {
		release()
		return false, err
	}
	if stay {
		o.release = append(o.release, release)
		return false, nil
	}
	defer release()
	if !o.inPlace() {
		old, err = true, o.rewrite()
	}
	o.es = nil
	return old, err
}

// inOrder reports that rows are in order as they come, which is common, and then marks them: nothing needs to be sorted.
func (o *Order) inOrder() (bool, error) {
	s := o.s
	w := s.orderWord()
	if w == nil {
		return false, nil
	}
	shifts := s.shifts(w, o.in)
	all, err := s.ascending(o.rows, w, func(at int, keys []uint64) { markRange(keys, o.marks[at:at+len(keys)], &shifts, 0, len(keys)) })
	if !all {
		clear(o.marks)
	}
	return all, err
}

// InOrder reports that rows are in order as they come. It may not find out: then it says no.
func (s *Sorter) InOrder(rows *tuples.Rows) (bool, error) {
	w := s.orderWord()
	if w == nil || rows.Indirect || s.NoRadix {
		return false, nil
	}
	return s.ascending(rows, w, func(int, []uint64) {})
}

// orderWord is the word that orders tuples, if one does.
func (s *Sorter) orderWord() *keyWord {
	s.once.Do(func() { s.words = keyWords(s.keys) })
	if len(s.words) != 1 || s.words[0].text >= 0 {
		return nil
	}
	w := &s.words[0]
	if slices.ContainsFunc(w.parts, func(p keyPart) bool { return p.kind == hashPart }) {
		return nil
	}
	return w
}

// ascending reports that the words of rows never fall. Most rows for which this is not so show it soon. Until then see is given the words
// of stretches of rows, and the place of the first; the last one of a stretch is the first one of the next.
func (s *Sorter) ascending(rows *tuples.Rows, w *keyWord, see func(at int, keys []uint64)) (bool, error) {
	size := uintptr(s.tuple.Size)
	tasks := rows.Tasks()
	from := make([]int, len(tasks)+1)
	for i, t := range tasks {
		from[i+1] = from[i] + t.N
	}
	ends := make([][2]uint64, len(tasks)) // the first and the last key
	all, err := s.Team.Each(s.Team.Threads == 1 || from[len(tasks)] < threadsLeast, len(tasks), func(t int) bool {
		// The last key of a batch stays before those of the next.
		var keys [fillRows + 1]uint64
		a, had := tasks[t].Addr, 0
		for lo := from[t]; lo < from[t+1]; lo += fillRows {
			n := min(fillRows, from[t+1]-lo)
			w.bareKeys(keys[had:had+n], a, size)
			a += uintptr(n) * size
			if lo == from[t] {
				ends[t][0] = keys[0]
			}
			if extentOf(keys[:had+n]).falls {
				return false
			}
			see(lo-had, keys[:had+n])
			keys[0], had = keys[had+n-1], 1
			ends[t][1] = keys[0]
		}
		return true
	})
	for t := 1; t < len(tasks) && all; t++ {
		a, b := ends[t-1][1], ends[t][0]
		if all = a <= b; all {
			see(from[t]-1, []uint64{a, b})
		}
	}
	return all, err
}

// sortEntries sorts addresses.
func (o *Order) sortEntries() error {
	s := o.s
	s.marks = &marks{o.es, o.marks, o.in}
	try := func() error {
		if err := list(s.Team, o.rows, o.es); err != nil {
			return err
		}
		return s.sortEntries(o.es)
	}
	if err := try(); err != nil || s.Grouped == 0 || !o.collides() {
		return err
	}
	// Texts that differ have one hash: they have to be sorted.
	for i := range s.keys {
		s.keys[i].grouped = false
	}
	s.words = keyWords(s.keys)
	clear(o.marks)
	return try()
}

// shifts are where, in a word, the bits of the first keys begin, for each of n prefixes: a difference in those bits is one in those
// keys. It is a value, since there may be one for each run of equal keys.
type shifts struct {
	n  int
	at [8]uint // a mark has as many bits
}

func (s *Sorter) shifts(word *keyWord, in []int) shifts {
	out := shifts{n: len(in)}
	for k, n := range in {
		if word.text >= n {
			out.at[k] = 8 * word.bytes
		}
		for i := range word.parts {
			if p := &word.parts[i]; p.key >= n {
				out.at[k] += p.bits
			}
		}
	}
	return out
}

// markSorted notes where keys that are in order differ.
func markSorted[E item](s *Sorter, es []E, out []byte, by shifts) error {
	if len(es) < threadsLeast {
		markRange(es, out, &by, 0, len(es))
		return nil
	}
	all := by // what the threads see is on the heap
	return s.each(len(es), s.Team.Threads > 1, func(lo, hi int) error {
		markRange(es, out, &all, lo, hi)
		return nil
	})
}

// markRange does it for the keys from lo to hi.
func markRange[E item](es []E, out []byte, by *shifts, lo, hi int) {
	for i := max(lo, 1); i < hi; i++ {
		if x := keyOf(&es[i]) ^ keyOf(&es[i-1]); x != 0 {
			b := byte(0)
			for k, n := range by.at[:by.n] {
				if x>>n != 0 {
					b |= 1 << k
				}
			}
			out[i] = b
		}
	}
}

// place is where entries lie among all.
func (m *marks) place(es []entry) []byte {
	at := (uintptr(unsafe.Pointer(&es[0])) - uintptr(unsafe.Pointer(&m.es[0]))) / unsafe.Sizeof(es[0])
	return m.bits[at : at+uintptr(len(es))]
}

// markWord notes where entries that are sorted by word w, and agree on all before, differ.
func (s *Sorter) markWord(es []entry, w int) error {
	if s.marks == nil || len(es) < 2 {
		return nil
	}
	return markSorted(s, es, s.marks.place(es), s.shifts(&s.words[w], s.marks.in))
}

// markText notes where the bytes of a text, key i, differ that entries are sorted by.
func (s *Sorter) markText(es []entry, i int) {
	if s.marks == nil {
		return
	}
	out, b := s.marks.place(es), s.marks.after(i)
	for k := 1; k < len(es); k++ {
		if es[k].key != es[k-1].key {
			out[k] = b
		}
	}
}

// after is the bits of prefixes that have key i.
func (m *marks) after(i int) (b byte) {
	for k, n := range m.in {
		if n > i {
			b |= 1 << k
		}
	}
	return b
}

// markCompared notes where tuples differ that agree on the keys before key i.
func (s *Sorter) markCompared(es []entry, i int) {
	if s.marks == nil || len(es) < 2 {
		return
	}
	out := s.marks.place(es)
	for j := 1; j < len(es); j++ {
		out[j] = 0
		for k := i; k < len(s.keys); k++ {
			if s.keys[k].compare(es[j-1].addr, es[j].addr) != 0 {
				out[j] = s.marks.after(k)
				break
			}
		}
	}
}

// collides reports that two texts that differ have the same hash: then they are not told apart.
func (o *Order) collides() bool {
	var texts []key
	for _, k := range o.s.keys[:o.s.Grouped] {
		if len(o.s.words) > 0 && k.text == nil && o.hashed(k) {
			texts = append(texts, k)
		}
	}
	if len(texts) == 0 || len(o.in) == 0 {
		return false
	}
	b := o.bit(o.s.Grouped)
	all, err := o.s.Team.Each(o.s.Team.Threads == 1, (len(o.es)+textRows-1)/textRows, func(i int) bool {
		for j := max(i*textRows, 1); j < min((i+1)*textRows, len(o.es)); j++ {
			if o.marks[j]&b != 0 {
				continue
			}
			for k := range texts {
				if texts[k].compare(o.es[j-1].addr, o.es[j].addr) != 0 {
					return false
				}
			}
		}
		return true
	})
	return err == nil && !all
}

// hashed reports a key that became a hash.
func (o *Order) hashed(k key) bool {
	for _, w := range o.s.words {
		for _, p := range w.parts {
			if p.kind == hashPart && o.s.keys[p.key].f == k.f {
				return true
			}
		}
	}
	return false
}

// textHash is by which texts are brought together; a test makes it worse.
var textHash = hashText

// hashText is a number that texts which differ hardly ever have in common. They can be read by words.
func hashText(t []byte) uint64 {
	h := uint64(len(t))*0x9e3779b97f4a7c15 ^ 0x2545f4914f6cdd1d
	for at := 0; at < len(t); at += 8 {
		x := mem.Load64(mem.AddressOf(t) + uintptr(at))
		if n := len(t) - at; n < 8 {
			x &= 1<<(8*n) - 1
		}
		hi, lo := bits.Mul64(h^x, 0x9e3779b97f4a7c15)
		h = hi ^ lo ^ x<<1
	}
	hi, lo := bits.Mul64(h, 0xd6e8feb86659fd93)
	return hi ^ lo
}

// Release gives the memory back.
func (o *Order) Release() {
	for _, f := range o.release {
		f()
	}
	o.release = nil
}

// Len is how many tuples there are.
func (o *Order) Len() int { return o.n }

// Addrs copies the addresses of the tuples from lo on.
func (o *Order) Addrs(lo int, dst []uintptr) {
	if o.es != nil {
		es := o.es[lo : lo+len(dst)]
		for i := range es {
			dst[i] = es[i].addr
		}
		return
	}
	k, found := slices.BinarySearch(o.begin, lo)
	if !found {
		k--
	}
	size := uintptr(o.s.tuple.Size)
	for len(dst) > 0 {
		p := o.rows.Pieces[k]
		a, n := p.Addr+uintptr(lo-o.begin[k])*size, min(o.begin[k+1]-lo, len(dst))
		for i := range dst[:n] {
			dst[i] = a
			a += size
		}
		dst, lo = dst[n:], lo+n
		k++
	}
}

// bit is the mark of the first n keys.
func (o *Order) bit(n int) byte {
	for k := range o.in {
		if o.in[k] == n {
			return 1 << k
		}
	}
	panic("sorting: nobody asked for these keys")
}

// Changes marks the tuples from lo on that differ from the one before in one of the first n keys; the first of all counts as
// different.
func (o *Order) Changes(n, lo int, dst []bool) {
	b := o.bit(n)
	for i, m := range o.marks[lo : lo+len(dst)] {
		dst[i] = m&b != 0
	}
}

// End is where the next tuple after i differs in the first n keys.
func (o *Order) End(n, i int) int {
	b := o.bit(n)
	for i++; i < len(o.marks) && o.marks[i]&b == 0; i++ {
	}
	return i
}

// inPlace reports that the tuples are in order already.
func (o *Order) inPlace() bool {
	if o.rows.Indirect {
		return false
	}
	i := 0
	o.rows.Each(func(a uintptr) bool {
		if o.es[i].addr != a {
			return false
		}
		i++
		return true
	})
	return i == o.n
}

// rewrite copies the tuples to where they lie one after the other.
func (o *Order) rewrite() error {
	size := o.s.tuple.Size
	at, err := o.s.Mem.Take(o.n * size)
	if err != nil {
		return err
	}
	*o.rows = tuples.Rows{Tuple: o.s.tuple, Pieces: []tuples.Piece{{Addr: at, N: o.n}}}
	return o.s.each(o.n, o.s.Team.Threads > 1 && o.n >= threadsLeast, func(lo, hi int) error {
		to := at + uintptr(lo*size)
		for i := lo; i < hi; i++ {
			tuples.Copy(to, o.es[i].addr, size)
			to += uintptr(size)
		}
		return nil
	})
}

// OrderedFloat maps floats to numbers that order as SQL says: NaN above all, zeros equal.
func OrderedFloat(f float64) uint64 { return orderedFloat(f) }
