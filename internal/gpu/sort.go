package gpu

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/kernels"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Rows are sorted on the device as on the host: keys become words that order as they do (sorting/keys.go), and a stable radix
// sort by each word, from the last to the first, orders the numbers of tuples, all in one launch. A text has as many words as the longest
// needs. Where only the first rows are wanted, those that cannot be among them are left out before: digit by digit of the first
// word, counts say where the last wanted row is.

// longestKey is how many bytes of a text the device sorts by, at most.
const longestKey = 128

// chooseSort decides who sorts rows.
func (r *run) chooseSort(d deviceRows, s *pipe.Collect) phys.Sort {
	if r.Off.RadixSort || d.indirect {
		return phys.Sort{}
	}
	return phys.ChooseSort(phys.Unsorted{Rows: d.n, Wanted: phys.Wanted(s, d.n), Expected: expectedRows(s), Size: d.tuple.Size, Most: kernels.MostItems, Least: r.store.SortLeast})
}

// expectedRows is how many rows come to a sink that sorts, as far as one can say before they do.
func expectedRows(s *pipe.Collect) int64 {
	from := s.Node
	for x, ok := from.(*plan.Sort); ok; x, ok = from.(*plan.Sort) { // of its rows a limit may leave few
		from = x.Input
	}
	return unsure * phys.Expected(from)
}

// sortedHere puts rows in the order of a sink, of which it keeps those that are wanted: whole tuples, for the host, or else a list of their addresses. false: the keys are
// none for the device.
func (r *run) sortedHere(d deviceRows, s *pipe.Collect, how phys.Sort, whole bool) (out deviceRows, done bool, err error) {
	words, ok := sorting.Words(d.tuple, s.Keys)
	if !ok {
		return d, false, nil
	}
	so := &sortRun{run: r, rows: d, Sorting: kernels.Sorting{N: int(d.n)}, code: newSortCode(d.tuple, words, how.Few, whole), params: []uint64{uint64(d.addr), 0}}
	if ok, err := so.add(words); err != nil || !ok {
		return d, false, err
	}
	if len(so.Keys) == 0 { // all rows are equal
		d.cut(s.Offset, s.Limit)
		return d, true, nil
	}
	so.lib = r.loader.kernels()
	if so.A, err = so.pairs(so.N); err == nil && how.Top {
		err = so.choose(phys.Wanted(s, d.n))
	}
	if err == nil {
		so.B, err = so.pairs(so.N)
	}
	if err == nil {
		out, err = so.sort(s)
	}
	for _, a := range []device.Addr{so.A.Keys, so.A.Values, so.B.Keys, so.B.Values} {
		r.free(a)
	}
	return out, err == nil, err
}

// sortRun is a sort that is going on.
type sortRun struct {
	*run
	kernels.Sorting
	lib    *kernels.Library
	rows   deviceRows
	code   *sortCode
	params []uint64 // of the code: tuples, where those that are sorted go, and what parts of words need
}

// add takes words of keys, texts with all that follow their first bytes.
func (s *sortRun) add(words []sorting.Word) (bool, error) {
	longest, err := s.longest(s.code.texts)
	if err != nil {
		return false, err
	}
	for i := range words {
		w, at := &words[i], s.code.words[i]
		if w.Bits() > 0 {
			s.Keys = append(s.Keys, kernels.Key{Word: at, To: w.Bits()})
		}
		for k := range w.Parts {
			p := &w.Parts[k]
			ranks := device.Addr(0)
			if p.Dict != nil {
				if ranks, _, err = s.lease.ranks(p.Dict); err != nil {
					return false, err
				}
			}
			s.params = append(s.params, p.Base, p.Max, p.OfNull, uint64(ranks), uint64(p.Bits))
		}
		if w.Text == nil {
			continue
		}
		most := longest[slices.Index(s.code.texts, w.Text)]
		if most > longestKey {
			return false, nil
		}
		for depth := int64(w.Bytes); depth < most; depth += 8 {
			s.Keys = append(s.Keys, kernels.Key{Word: at + 1, Arg: uint32(depth), To: 64})
		}
	}
	return true, nil
}

// longest are the lengths of the longest texts of fields.
func (s *sortRun) longest(fields []*layout.Field) ([]int64, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	at, err := s.allocZero(8 * int64(len(fields)))
	if err != nil {
		return nil, err
	}
	defer s.free(at)
	if err := s.do(func() *ir.Func { return longestTexts(s.rows.tuple.Size, fields) }, s.rows.n, uint64(at), uint64(s.rows.addr)); err != nil {
		return nil, err
	}
	words, err := s.read(at, len(fields))
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(fields))
	for i := range out {
		out[i] = int64(words[i])
	}
	return out, nil
}

// pairs takes room for n pairs.
func (s *sortRun) pairs(n int) (p kernels.Pairs, err error) {
	if p.Keys, err = s.alloc(8 * int64(n)); err == nil {
		p.Values, err = s.alloc(4 * int64(n))
	}
	return p, err
}

// choose lists rows among which the first so many are.
func (s *sortRun) choose(first int64) error {
	state, err := s.allocZero(kernels.StateBytes)
	if err != nil {
		return err
	}
	defer s.free(state)
	key := &s.Keys[0]
	fn, err := s.function(s.code.choice(key.Word).Kernel())
	if err != nil {
		return err
	}
	k := &kernels.Choosing{N: s.N, Want: int(first), Bits: key.To, Arg: key.Arg, Keys: s.A.Keys, List: s.A.Values, State: state}
	if err := s.lib.Choose(s.st, s.upload, fn, k, s.params...); err != nil {
		return s.failed(err)
	}
	n, err := s.read(kernels.Listed(state), 1)
	if err != nil {
		return err
	}
	s.N, s.List = int(n[0]), s.A.Values
	return nil
}

// sort puts the rows that a sink wants in its order.
func (s *sortRun) sort(c *pipe.Collect) (out deviceRows, err error) {
	wanted := deviceRows{tuple: s.rows.tuple, n: int64(s.N)}
	wanted.cut(c.Offset, c.Limit)
	s.First, s.Count = int(min(max(c.Offset, 0), int64(s.N))), int(wanted.n)
	out = deviceRows{tuple: s.rows.tuple, n: wanted.n, indirect: !s.code.whole}
	bytes := int64(8)
	if s.code.whole {
		bytes = int64(s.rows.tuple.Size)
	}
	if out.addr, err = s.alloc(bytes * out.n); err != nil || out.n == 0 {
		return out, err
	}
	fn, err := s.function(s.code.order.Kernel())
	if err != nil {
		return out, err
	}
	if fn.Usage().MaxThreads < kernels.Threads {
		return out, s.lacks("a kernel of %d threads", kernels.Threads)
	}
	s.params[1] = uint64(out.addr)
	_, err = s.lib.Order(s.st, s.upload, &s.code.order, fn, &s.Sorting, s.params...)
	return out, s.failed(err)
}
