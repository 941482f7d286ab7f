package sorting

import (
	"cmp"
	"slices"
	"sync"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Sorter orders tuples by keys. Tuples that agree on all keys stay in the order in which they come.
type Sorter struct {
	Options
	tuple *layout.Tuple
	keys  []key
	words []keyWord
	once  sync.Once // makes words
	marks *marks    // where keys change, if somebody asked
}

// Options are what a sorter works with.
type Options struct {
	Team *work.Team
	Mem  *mem.Memory
	View func(*column.Dict) column.DictView // pins the texts of a dictionary
	// Grouped: rows that agree on so many first keys come together, but in which order does not matter.
	Grouped int
	// Void are columns of tuples that hold nothing yet.
	Void []plan.ColID
	// Techniques that are switched off.
	NoRadix, NoBare bool
}

// New orders tuples of t by keys.
func New(t *layout.Tuple, keys []plan.SortKey, o Options) *Sorter {
	s := &Sorter{Options: o, tuple: t, keys: keysOf(t, keys, o.View)}
	if slices.ContainsFunc(s.keys, func(k key) bool { return k.keyed }) { // words of bytes say nothing about them
		s.NoRadix = true
	}
	for i := range s.keys[:o.Grouped] {
		s.keys[i].grouped = true
	}
	return s
}

// Sort orders rows, of which the first wanted are needed. What they become are the addresses of tuples, or the
// tuples themselves where they can be written anew.
func (s *Sorter) Sort(rows *tuples.Rows, wanted int64) error {
	n := int(rows.Len())
	if n == 0 {
		return nil
	}
	if n >= bareLeast {
		if w := s.bare(); w != nil {
			return s.sortBare(rows, w, nil)
		}
	}
	es, release, err := items[entry](s.Mem, n)
	if err != nil {
		return err
	}
	defer release()
	if err := list(s.Team, rows, es); err != nil {
		return err
	}
	if err := s.sortEntries(es); err != nil {
		return err
	}
	es = es[:wanted]
	at, err := s.Mem.Take(len(es) * 8)
	if err != nil {
		return err
	}
	out := mem.Words(at, len(es))
	err = s.each(len(es), s.Team.Threads > 1 && len(es) >= threadsLeast, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			out[i] = uint64(es[i].addr)
		}
		return nil
	})
	if err != nil {
		return err
	}
	rows.Pieces = []tuples.Piece{{Addr: at, N: len(es)}}
	rows.Indirect = true
	return nil
}

// list makes entries of all tuples, on all threads.
func list(t *work.Team, rs *tuples.Rows, es []entry) error {
	at := make([]int, len(rs.Pieces)+1)
	for i, p := range rs.Pieces {
		at[i+1] = at[i] + p.N
	}
	return t.Parallel(len(rs.Pieces), func(i int) error {
		one := tuples.Rows{Tuple: rs.Tuple, Pieces: rs.Pieces[i : i+1], Indirect: rs.Indirect}
		to := es[at[i]:at[i+1]]
		k := 0
		one.Each(func(a uintptr) bool {
			to[k].addr = a
			k++
			return true
		})
		return t.Canceled()
	})
}

// sortEntries orders entries, of which the addresses are given.
func (s *Sorter) sortEntries(es []entry) error {
	if s.NoRadix || len(es) <= insertionMost {
		s.compareSort(es, 0)
		return nil
	}
	s.once.Do(func() { s.words = keyWords(s.keys) })
	if len(s.words) == 0 { // all keys are constants
		return nil
	}
	tmp, release, err := items[entry](s.Mem, len(es))
	if err != nil {
		return err
	}
	defer release()
	return s.byWord(es, tmp, 0)
}

// byWord orders entries that agree on all words before w.
func (s *Sorter) byWord(es, tmp []entry, w int) error {
	spread := s.Team.Threads > 1 && len(es) >= threadsLeast
	word := &s.words[w]
	if err := s.each(len(es), spread, func(lo, hi int) error {
		word.fill(es[lo:hi], s.keys)
		return nil
	}); err != nil {
		return err
	}
	if err := radixSort(s.Team, es, tmp, spread); err != nil {
		return err
	}
	if err := s.markWord(es, w); err != nil {
		return err
	}
	if word.text < 0 && w+1 == len(s.words) {
		return nil
	}
	if word.text < 0 {
		return s.stretches(es, tmp, spread, func(es, tmp []entry) error { return s.byNextWord(es, tmp, w+1) })
	}
	return s.runs(es, tmp, spread, func(es, tmp []entry) error { return s.byText(es, tmp, w, int(word.bytes), 0) })
}

// byNextWord orders entries with equal keys by word w. Most runs are short, and their tuples far apart: the keys of many runs
// are read at once.
func (s *Sorter) byNextWord(es, tmp []entry, w int) error {
	var ends [fillRows]int
	for lo := 0; lo < len(es); {
		if err := s.Team.Canceled(); err != nil {
			return err
		}
		n, hi, most := 0, lo, 0 // runs, where the last ends, the longest
		for hi < len(es) && n < len(ends) {
			end := hi + 1
			for end < len(es) && es[end].key == es[hi].key {
				end++
			}
			if end-lo > fillRows && n > 0 {
				break
			}
			most = max(most, end-hi)
			hi, ends[n] = end, end
			n++
		}
		switch {
		case n == 1 && most > 1:
			if err := s.byWord(es[lo:hi], tmp[lo:hi], w); err != nil {
				return err
			}
		case most > 1:
			s.words[w].fill(es[lo:hi], s.keys)
			last := w+1 == len(s.words) && s.words[w].text < 0
			for _, end := range ends[:n] {
				if end-lo > 1 {
					if err := s.byFilled(es[lo:end], tmp[lo:end], w, last); err != nil {
						return err
					}
				}
				lo = end
			}
		}
		lo = hi
	}
	return nil
}

// byFilled orders entries by word w, which is their key; last: nothing comes after it.
func (s *Sorter) byFilled(es, tmp []entry, w int, last bool) error {
	if err := radixSort(s.Team, es, tmp, false); err != nil {
		return err
	}
	if err := s.markWord(es, w); err != nil || last {
		return err
	}
	if word := &s.words[w]; word.text >= 0 {
		return s.runs(es, tmp, false, func(es, tmp []entry) error { return s.byText(es, tmp, w, int(word.bytes), 0) })
	}
	return s.byNextWord(es, tmp, w+1)
}

// textRows is how many texts are looked at between two looks at the query's context: each may lie anywhere.
const textRows = 1 << 13

// textRounds is how often a text's next bytes are looked at before texts are compared as a whole.
const textRounds = 8

// byText orders entries whose texts agree in their first bytes, as many as depth says, behind the end
// zeros. What all of them have in common is skipped.
func (s *Sorter) byText(es, tmp []entry, w, depth, round int) error {
	i := s.words[w].text
	if len(es) <= insertionMost || round == textRounds {
		s.compareSort(es, i)
		return nil
	}
	k := &s.keys[i]
	fill := func(depth int) (same bool, err error) {
		var x extent
		err = s.Team.Blocks(len(es), textRows, func(from, to int) {
			for j := from; j < to; j++ {
				es[j].key = k.chunk(es[j].addr, depth)
			}
			x.join(extentOf(es[from:to]))
		})
		return x.lo == x.hi, err
	}
	same, err := fill(depth)
	if err != nil {
		return err
	}
	if same { // a longer look
		common, shortest, longest, err := k.common(s.Team, es, depth)
		switch {
		case err != nil:
			return err
		case common == longest && shortest == longest: // all alike
			if w+1 < len(s.words) {
				return s.byWord(es, tmp, w+1)
			}
			return nil
		case common == longest: // zeros inside
			s.compareSort(es, i)
			return nil
		}
		depth = common
		if _, err := fill(depth); err != nil {
			return err
		}
	}
	spread := s.Team.Threads > 1 && len(es) >= threadsLeast
	if err := radixSort(s.Team, es, tmp, spread); err != nil {
		return err
	}
	s.markText(es, i)
	return s.runs(es, tmp, spread, func(es, tmp []entry) error { return s.byText(es, tmp, w, depth+8, round+1) })
}

// common is how many first bytes all texts share (those behind an end count as zeros), which are
// known to be at least depth, and the lengths of the shortest and the longest.
func (k *key) common(t *work.Team, es []entry, depth int) (n, shortest, longest int, err error) {
	var first []byte
	if !k.isNull(es[0].addr) {
		first = k.bytes(es[0].addr)
	}
	n, shortest, longest = len(first), len(first), len(first)
	err = t.Blocks(len(es), textRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var x []byte
			if !k.isNull(es[i].addr) {
				x = k.bytes(es[i].addr)
			}
			shortest, longest = min(shortest, len(x)), max(longest, len(x))
			n = min(n, len(x))
			for d := min(depth, n); d < n; d++ {
				if x[d] != first[d] {
					n = d
					break
				}
			}
		}
	})
	return max(n, min(depth, longest)), shortest, longest, err
}

// runs calls f on each run of entries with equal keys, and as much of tmp; on all threads if spread.
func (s *Sorter) runs(es, tmp []entry, spread bool, f func(es, tmp []entry) error) error {
	return s.stretches(es, tmp, spread, func(es, tmp []entry) error {
		look := 0
		for lo := 0; lo < len(es); {
			if lo >= look {
				look = lo + textRows/2
				if err := s.Team.Canceled(); err != nil {
					return err
				}
			}
			hi := lo + 1
			for hi < len(es) && es[hi].key == es[lo].key {
				hi++
			}
			if hi-lo > 1 {
				if err := f(es[lo:hi], tmp[lo:hi]); err != nil {
					return err
				}
			}
			lo = hi
		}
		return nil
	})
}

// stretches calls in on entries that make up es, and as much of tmp, on all threads if spread. No run of equal keys is cut.
func (s *Sorter) stretches(es, tmp []entry, spread bool, in func(es, tmp []entry) error) error {
	if !spread {
		return in(es, tmp)
	}
	// A run that is longer than a stretch is left to all threads.
	stretch := max(len(es)/(4*s.Team.Threads), 1)
	var cuts [][2]int
	for lo := 0; lo < len(es); {
		hi := min(lo+stretch, len(es))
		for hi < len(es) && es[hi].key == es[hi-1].key {
			hi++
		}
		if es[lo].key == es[hi-1].key {
			if err := in(es[lo:hi], tmp[lo:hi]); err != nil {
				return err
			}
		} else {
			cuts = append(cuts, [2]int{lo, hi})
		}
		lo = hi
	}
	return s.Team.Parallel(len(cuts), func(i int) error {
		lo, hi := cuts[i][0], cuts[i][1]
		return in(es[lo:hi], tmp[lo:hi])
	})
}

// each calls f on stretches that make up n entries.
func (s *Sorter) each(n int, spread bool, f func(lo, hi int) error) error {
	const stretch = 1 << 14
	return s.Team.ParallelUnless(!spread, (n+stretch-1)/stretch, func(i int) error { return f(i*stretch, min((i+1)*stretch, n)) })
}

// compareSort orders entries that agree on the keys before key i by comparing tuples.
func (s *Sorter) compareSort(es []entry, i int) {
	for j := range es {
		es[j].key = uint64(j)
	}
	compared := 0
	slices.SortFunc(es, func(a, b entry) int {
		if compared++; compared&(1<<12-1) == 0 {
			if err := s.Team.Canceled(); err != nil {
				panic(err) // recovered at the door of the room
			}
		}
		if c := s.compareFrom(i, a.addr, b.addr); c != 0 {
			return c
		}
		return cmp.Compare(a.key, b.key)
	})
	s.markCompared(es, i)
}

// Compare orders two tuples by all keys.
func (s *Sorter) Compare(a, b uintptr) int { return s.compareFrom(0, a, b) }

// Same reports that two tuples agree on the first n keys.
func (s *Sorter) Same(n int, a, b uintptr) bool {
	for k := range n {
		if s.keys[k].compare(a, b) != 0 {
			return false
		}
	}
	return true
}

// fewAddresses are sorted without memory of their own.
const fewAddresses = 128

// Addresses orders the addresses of tuples.
func (s *Sorter) Addresses(list []uint64) error {
	if len(list) <= fewAddresses {
		slices.SortStableFunc(list, func(a, b uint64) int { return s.Compare(uintptr(a), uintptr(b)) })
		return nil
	}
	es, release, err := items[entry](s.Mem, len(list))
	if err != nil {
		return err
	}
	defer release()
	for i, a := range list {
		es[i].addr = uintptr(a)
	}
	if err := s.sortEntries(es); err != nil {
		return err
	}
	for i := range es {
		list[i] = uint64(es[i].addr)
	}
	return nil
}

// compareFrom orders two tuples by the keys from i on.
func (s *Sorter) compareFrom(i int, a, b uintptr) int {
	for k := i; k < len(s.keys); k++ {
		if c := s.keys[k].compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}
