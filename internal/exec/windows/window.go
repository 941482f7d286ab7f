package windows

import (
	"math"
	"slices"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/exec/work"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Options are what windows are computed with.
type Options struct {
	Team    *work.Team
	Mem     *mem.Memory
	View    func(*column.Dict) column.DictView // pins the texts of a dictionary
	Zero    uintptr                            // where texts without bytes are
	NoRadix bool
	Stay    bool              // tuples stay where they are; else they are written anew where that is faster
	Texts   func([]mem.Piece) // is told where texts are that functions have made; nil: nobody asks
	Release func()            // gives the memory of tuples back that were written anew; nil: it stays
}

// Compute fills in the columns of w. Unless they must stay, tuples are then in the order of the window that is computed last.
func Compute(w *plan.Window, rows *tuples.Rows, o Options) error {
	n := rows.Len()
	for i := range w.Funcs {
		if err := checkFrame(&w.Funcs[i], n); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	if n > math.MaxInt32 {
		return diag.Errorf(diag.StatementTooComplex, -1, "window functions over more than %d rows are not supported", math.MaxInt32)
	}
	groups := arrange(w)
	void := w.Made() // nothing is in there yet
	for i, g := range groups {
		if i == 1 {
			void = nil
		}
		if err := g.compute(w, rows, void, &o); err != nil {
			return err
		}
	}
	return nil
}

// compute computes the windows that one order serves.
func (g *sorted) compute(w *plan.Window, rows *tuples.Rows, void []plan.ColID, o *Options) error {
	grouped := len(g.keys)
	for _, s := range g.specs {
		grouped = min(grouped, s.partition)
	}
	by := sorting.New(rows.Tuple, g.keys, sorting.Options{Team: o.Team, Mem: o.Mem, View: o.View, Grouped: grouped, Void: void, NoRadix: o.NoRadix, NoBare: o.NoRadix})
	order, old, err := by.Order(rows, g.prefixes(), o.Stay)
	if err != nil {
		return err
	}
	defer order.Release()
	if old {
		if o.Release != nil {
			o.Release()
		}
		first := rows.Pieces[0].Addr
		o.Release = func() { o.Mem.Free(first) }
	}
	c := &computation{Options: *o, w: w, tuple: rows.Tuple, order: order}
	for _, s := range g.specs {
		if err := c.spec(s); err != nil {
			return err
		}
	}
	return nil
}

// prefixes are how many first keys the windows look at.
func (g *sorted) prefixes() (out []int) {
	for _, s := range g.specs {
		for _, n := range []int{s.partition, s.peers} {
			if n > 0 && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// maxPrefixes is how many an order can keep apart.
const maxPrefixes = 8

// sorted is windows that one order of the rows serves.
type sorted struct {
	keys  []plan.SortKey
	specs []placed
}

// placed is a window whose partition is the first keys of an order, followed by its own.
type placed struct {
	spec             int
	partition, peers int // how many keys tell partitions apart, and peers
}

// arrange finds few orders that serve all windows: one with more keys also serves those whose keys it begins with. The
// window that is written last is computed last, if it can be, since its order is what the rows are left in.
func arrange(w *plan.Window) []sorted {
	list := make([]int, len(w.Specs))
	for i := range list {
		list[i] = len(list) - 1 - i
	}
	size := func(i int) int { return len(w.Specs[i].Partition) + len(w.Specs[i].Order) }
	slices.SortStableFunc(list, func(a, b int) int { return size(b) - size(a) })
	var out []sorted
next:
	for _, i := range list {
		s := &w.Specs[i]
		at := placed{i, len(s.Partition), size(i)}
		for k := range out {
			if fits(s, out[k].keys) && len(out[k].prefixes())+2 <= maxPrefixes {
				out[k].specs = append(out[k].specs, at)
				continue next
			}
		}
		var keys []plan.SortKey
		for _, id := range s.Partition {
			keys = append(keys, plan.SortKey{Col: id})
		}
		out = append(out, sorted{append(keys, s.Order...), []placed{at}})
	}
	slices.Reverse(out)
	for k := range out { // the order that is written last
		if slices.ContainsFunc(out[k].specs, func(p placed) bool { return p.spec == len(w.Specs)-1 }) {
			last := out[k]
			return append(slices.Delete(out, k, k+1), last)
		}
	}
	return out
}

// fits reports that rows in the order of keys are in that of a window, too: its partitions may be told apart by the same
// keys in another order.
func fits(s *plan.WindowSpec, keys []plan.SortKey) bool {
	p := len(s.Partition)
	if p+len(s.Order) > len(keys) {
		return false
	}
	for _, k := range keys[:p] {
		if !slices.Contains(s.Partition, k.Col) {
			return false
		}
	}
	return slices.Equal(keys[p:p+len(s.Order)], s.Order)
}

// Sizes of blocks, in rows.
const (
	blockRows = 1 << 14 // as many at least, where there are: their columns stay in the cache
	blockMost = 1 << 17 // a block of more is for all threads
	eachRows  = 1 << 14 // what a thread takes of such a block at a time
)

// spec computes the functions of one window.
func (c *computation) spec(s placed) error {
	var funcs []*plan.WindowFunc
	for i := range c.w.Funcs {
		if f := &c.w.Funcs[i]; f.Spec == s.spec {
			funcs = append(funcs, f)
		}
	}
	var small, large [][2]int
	n := c.order.Len()
	for lo := 0; lo < n; {
		if err := c.Team.Canceled(); err != nil {
			return err
		}
		hi := n
		if s.partition > 0 && lo+blockRows < n {
			hi = c.order.End(s.partition, lo+blockRows-1)
		}
		if hi-lo > blockMost && c.Team.Threads > 1 {
			large = append(large, [2]int{lo, hi})
		} else {
			small = append(small, [2]int{lo, hi})
		}
		lo = hi
	}
	rooms := make(chan *scratch, c.Team.Threads)
	defer func() {
		for len(rooms) > 0 {
			(<-rooms).release()
		}
	}()
	run := func(cut [2]int, threads bool) (err error) {
		var room *scratch
		select {
		case room = <-rooms:
		default:
			room = &scratch{mem: c.Mem}
		}
		defer func() {
			room.reset()
			rooms <- room
		}()
		defer diag.Recover("exec windows", &err)
		b := c.newBlock(s, cut[0], cut[1], room, threads)
		for _, f := range funcs {
			b.compute(f)
		}
		return nil
	}
	if err := c.Team.Parallel(len(small), func(i int) error { return run(small[i], false) }); err != nil {
		return err
	}
	for _, cut := range large {
		if err := run(cut, true); err != nil {
			return err
		}
	}
	return nil
}

// compute computes one function for all rows of the block.
func (b *block) compute(f *plan.WindowFunc) {
	if err := b.c.Team.Canceled(); err != nil {
		panic(err)
	}
	switch f.Func {
	case plan.Lag, plan.Lead:
		b.shifted(f)
	case plan.FirstValue, plan.LastValue, plan.NthValue:
		b.valueOf(f)
	case plan.WinAgg:
		b.aggregate(f)
	default:
		b.rank(f)
	}
}
