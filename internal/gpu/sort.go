package gpu

import (
	"encoding/binary"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
)

// Rows are sorted on the device as on the host: keys become words that order as they do (sorting/keys.go), and a stable radix
// sort by each word, from the last to the first, orders the numbers of tuples. A text has as many words as the longest
// needs. Where only the first rows are wanted, those that cannot be among them are left out before: digit by digit of the first
// word, counts say where the last wanted row is.

// longestKey is how many bytes of a text the device sorts by, at most.
const longestKey = 128

// chooseSort decides who sorts rows.
func (r *run) chooseSort(d deviceRows, s *pipe.Collect) phys.Sort {
	if r.Off.RadixSort || d.indirect {
		return phys.Sort{}
	}
	return phys.ChooseSort(phys.Unsorted{Rows: d.n, Wanted: phys.Wanted(s, d.n), Size: d.tuple.Size, Most: maxListed, Least: r.store.SortLeast})
}

// sortedHere lists rows in the order of a sink, of which it keeps those that are wanted; false: the keys are none for the device.
func (r *run) sortedHere(d deviceRows, s *pipe.Collect, how phys.Sort) (out deviceRows, done bool, err error) {
	words, ok := sorting.Words(d.tuple, s.Keys)
	if !ok {
		return d, false, nil
	}
	so := &sortRun{run: r, rows: d, n: d.n}
	for i := range words {
		ok, err := so.add(&words[i])
		if err != nil || !ok {
			return d, false, err
		}
	}
	so.lib = r.loader.kernels()
	so.lib.Begin() // one after the other would take longer
	if err := so.begin(s, how); err != nil {
		return d, false, err
	}
	for i := len(so.words) - 1; i >= 0; i-- {
		if err := so.byWord(&so.words[i]); err != nil {
			return d, false, err
		}
	}
	out = deviceRows{tuple: d.tuple, n: so.n, indirect: true}
	if out.addr, err = r.alloc(8 * so.n); err != nil {
		return d, false, err
	}
	err = r.do(func() *ir.Func { return tupleAddrs(d.tuple.Size) }, so.n, uint64(so.a.Values), uint64(d.addr), uint64(out.addr))
	for _, a := range []device.Addr{so.a.Keys, so.a.Values, so.b.Keys, so.b.Values} {
		r.free(a)
	}
	out.cut(s.Offset, s.Limit)
	return out, true, err
}

// sortRun is a sort that is going on.
type sortRun struct {
	*run
	lib   *kernels.Library
	rows  deviceRows
	words []deviceWord
	n     int64 // rows that are still of interest
	a, b  kernels.Pairs
}

// deviceWord is a word, and at which byte of its text it begins.
type deviceWord struct {
	*sorting.Word
	depth  int64
	params []uint64 // of its parts
}

// add appends a word of keys, with the rest of its text.
func (s *sortRun) add(w *sorting.Word) (bool, error) {
	d := deviceWord{Word: w}
	for i := range w.Parts {
		p := &w.Parts[i]
		ranks := device.Addr(0)
		if p.Dict != nil {
			var err error
			if ranks, _, err = s.lease.ranks(p.Dict); err != nil {
				return false, err
			}
		}
		d.params = append(d.params, p.Base, p.Max, p.OfNull, uint64(ranks), uint64(p.Bits))
	}
	s.words = append(s.words, d)
	if w.Text == nil {
		return true, nil
	}
	longest, err := s.longest(w.Text)
	if err != nil || longest > longestKey {
		return false, err
	}
	rest := &sorting.Word{Text: w.Text, Bytes: 8, Desc: w.Desc}
	for at := int64(w.Bytes); at < longest; at += 8 {
		s.words = append(s.words, deviceWord{Word: rest, depth: at})
	}
	return true, nil
}

// longest is the length of a field's longest text.
func (s *sortRun) longest(f *layout.Field) (int64, error) {
	at, err := s.counter()
	if err != nil {
		return 0, err
	}
	if err := s.do(func() *ir.Func { return longestText(s.rows.tuple.Size, f) }, s.rows.n, uint64(at), uint64(s.rows.addr)); err != nil {
		return 0, err
	}
	x, err := s.read(at, 1)
	if err != nil {
		return 0, err
	}
	return int64(x[0]), nil
}

// begin makes the list of rows that the sink may want.
func (s *sortRun) begin(c *pipe.Collect, how phys.Sort) (err error) {
	pairs := func() (p kernels.Pairs) {
		if err == nil {
			p.Keys, err = s.alloc(8 * s.n)
		}
		if err == nil {
			p.Values, err = s.alloc(4 * s.n)
		}
		return p
	}
	s.a = pairs()
	if err != nil {
		return err
	}
	if how.Top && len(s.words) > 0 {
		err = s.choose(phys.Wanted(c, s.n))
	} else {
		err = s.do(countUp, s.n, uint64(s.a.Values))
	}
	s.b = pairs()
	return err
}

// keys computes a word for a list of rows, 0: for all.
func (s *sortRun) keys(w *deviceWord, list device.Addr, n int64) error {
	params := append([]uint64{uint64(list), uint64(s.rows.addr), uint64(s.a.Keys), uint64(w.depth)}, w.params...)
	return s.do(func() *ir.Func { return keyWord(s.rows.tuple.Size, w.Word) }, n, params...)
}

// byWord orders the list by a word.
func (s *sortRun) byWord(w *deviceWord) error {
	if err := s.keys(w, s.a.Values, s.n); err != nil {
		return err
	}
	p, err := s.lib.Sort(s.st, s.a, s.b, int(s.n), 0, w.Bits())
	if err != nil {
		return s.failed(err)
	}
	if p != s.a {
		s.a, s.b = s.b, s.a
	}
	return nil
}

// choose lists rows among which the first so many are, not many more if keys differ.
func (s *sortRun) choose(first int64) error {
	w := &s.words[0]
	if err := s.keys(w, 0, s.n); err != nil {
		return err
	}
	digits := s.a.Values // is free yet
	counts, err := s.alloc(4 * (digitBins + 1))
	if err != nil {
		return err
	}
	defer s.free(counts)
	var prefix uint64
	var before, candidates int64
	shift := (w.Bits() - 1) / digitBits * digitBits
	for ; ; shift -= digitBits {
		if err := s.do(digitNumbers, s.n, uint64(s.a.Keys), uint64(shift), prefix, uint64(digits)); err != nil {
			return err
		}
		if err := s.st.Fill(counts, 0, 4*(digitBins+1)); err != nil {
			return err
		}
		if err := s.lib.Histogram(s.st, counts, digits, int(s.n), digitBins+1); err != nil {
			return s.failed(err)
		}
		b := make([]byte, 4*digitBins)
		if err := s.st.Download(b, counts); err != nil {
			return s.failed(err)
		}
		if err := s.sync(); err != nil {
			return err
		}
		d, n := 0, int64(0)
		for ; d < digitBins; d++ {
			n = int64(binary.LittleEndian.Uint32(b[4*d:]))
			if before+n >= first {
				break
			}
			before += n
		}
		prefix = prefix<<digitBits | uint64(d)
		candidates = before + n
		if shift == 0 || candidates <= max(2*first, 1<<10) {
			break
		}
	}
	bitmap, err := s.alloc((s.n + 31) / 32 * 4)
	if err != nil {
		return err
	}
	defer s.free(bitmap)
	count, err := s.counter()
	if err != nil {
		return err
	}
	if err := s.do(upToBits, s.n, uint64(s.a.Keys), uint64(bitmap), uint64(shift), prefix); err != nil {
		return err
	}
	if err := s.lib.Compact(s.st, s.a.Values, bitmap, int(s.n), count); err != nil {
		return s.failed(err)
	}
	s.n = candidates
	return nil
}
