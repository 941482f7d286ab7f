package windows

import (
	"cmp"
	"slices"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/compute"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// Folds look at the rows of a frame as a list. Those that are put together from parts, or find one row, do so as other
// aggregates do; where values have an order of their own, a tree tells which is the n-th of them (rankedRows), so that medians
// take no time in proportion to the frame; the others are computed from all rows whenever the frame is not that of the row before.

// foldedBlock is a fold over the rows of a block.
type foldedBlock struct {
	b      *block
	f      *plan.WindowFunc
	args   []compute.Reader
	counts []int32 // of rows, how many before each count; nil: all do
	rows   []int32 // those that count; nil: all
	out    *values
	result types.Type
}

// folded computes a fold for each row's frame.
func (b *block) folded(f *plan.WindowFunc) {
	x := &foldedBlock{b: b, f: f, out: b.results(f)}
	x.result = x.out.f.Desc.Type
	for _, id := range f.Args {
		x.args = append(x.args, compute.NewReader(b.c.tuple.Find(int32(id)), b.c.View))
	}
	null := x.notCounted()
	switch {
	case f.Fold.Extreme != 0:
		b.extremeArg(f, null)
		return
	case f.Fold.Distinct || len(f.Fold.Order) > 0:
		x.ranked(null)
	case f.Fold.Parts != nil:
		x.joined(null)
	default:
		x.listed(null)
	}
	b.write(x.out)
}

// notCounted marks rows that the fold does not look at; nil: there are none.
func (x *foldedBlock) notCounted() []byte {
	b, fold := x.b, x.f.Fold
	var null []byte
	mark := func(id plan.ColID, filter bool) {
		v := b.column(id)
		if v.null == nil && !filter {
			return
		}
		if null == nil {
			null = take[byte](b.room, b.n)
			clear(null)
		}
		b.each(func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if v.isNull(i) || filter && v.lo[i] == 0 {
					null[i] = 1
				}
			}
		})
	}
	if fold.Filter != 0 {
		mark(fold.Filter, true)
	}
	switch fold.Skips {
	case plan.SkipNull:
		mark(x.f.Args[0], false)
	case plan.SkipAnyNull:
		for _, id := range x.f.Args {
			mark(id, false)
		}
	}
	return null
}

// extremeArg finds the first row with an extreme second argument.
func (b *block) extremeArg(f *plan.WindowFunc, null []byte) {
	key := *b.column(f.Args[1])
	key.null = null
	rows := take[int32](b.room, b.n)
	b.extremeRows(f, &key, f.Fold.Extreme > 0, true, rows)
	one := *f
	one.Args = f.Args[:1]
	b.pick(&one, rows)
}

// joined puts folds together from parts.
func (x *foldedBlock) joined(null []byte) {
	b, f := x.b, x.f
	by := parts{by: f.Fold.Parts, null: null, a: b.column(f.Args[0]).lo, b: b.column(f.Args[len(f.Args)-1]).lo}
	value := func(s *plan.FoldState) types.Value {
		if s.N == 0 {
			return types.NullOf(x.result)
		}
		return by.by.Value(*s, x.result)
	}
	to := x.writer()
	if e := b.extent(&f.Frame); e != slides {
		b.partitions(func(lo, hi int) {
			acc, at := by.none(), lo
			b.run(e, lo, hi, func(from, end, upTo int) {
				for ; at < upTo; at++ {
					acc = by.join(acc, by.of(at))
				}
				to.set(from, value(&acc))
				for i := from + 1; i < end; i++ {
					to.copy(i)
				}
			})
		})
		return
	}
	states := take[plan.FoldState](b.room, b.n)
	fold(b, f, by, states)
	b.each(func(lo, hi int) {
		to := x.writer()
		for i := lo; i < hi; i++ {
			to.set(i, value(&states[i]))
		}
	})
}

// parts are FoldParts of the rows of a block.
type parts struct {
	by   *plan.FoldParts
	null []byte
	a, b []uint64 // arguments
}

func (p parts) of(i int) plan.FoldState {
	if p.null != nil && p.null[i] != 0 {
		return plan.FoldState{}
	}
	return p.by.Of(p.a[i], p.b[i])
}

func (p parts) join(a, b plan.FoldState) plan.FoldState {
	switch {
	case b.N == 0:
		return a
	case a.N == 0:
		return b
	}
	s, err := p.by.Join(a, b)
	if err != nil {
		panic(err)
	}
	return s
}

func (parts) none() plan.FoldState { return plan.FoldState{} }

// listed computes folds from all rows of each frame, which come in the order of the window.
func (x *foldedBlock) listed(null []byte) {
	b := x.b
	if null != nil {
		x.counts = b.counted(&values{null: null})
		x.rows = take[int32](b.room, b.n)[:0]
		for i, gone := range null {
			if gone == 0 {
				x.rows = append(x.rows, int32(i))
			}
		}
	}
	at := b.slide(x.f)
	some := func(lo, hi int) {
		to := x.writer()
		rows := frameRows{polled: polled{x: x, to: to}}
		for i := lo; i < hi; i++ {
			p, q, self := b.parts(at, i)
			me := part{int32(i), int32(i)}
			if self {
				me.hi++
			}
			list := [3]part{x.numbers(p), x.numbers(me), x.numbers(q)}
			if i > lo && list == rows.parts {
				to.copy(i)
				continue
			}
			rows.parts = list
			to.eval(i, &rows)
		}
	}
	if b.extent(&x.f.Frame) == slides { // the others share what they see
		b.each(some)
	} else {
		some(0, b.n)
	}
}

// numbers are the rows of a part among those that count.
func (x *foldedBlock) numbers(p part) part {
	if x.counts != nil {
		p = part{x.counts[p.lo], x.counts[p.hi]}
	}
	if p.hi == p.lo {
		return part{}
	}
	return p
}

// polled reads values, and looks from time to time whether somebody still wants them.
type polled struct {
	x    *foldedBlock
	to   *foldWriter
	read int
}

func (p *polled) value(row int32, arg int) types.Value {
	if p.read++; p.read&(1<<16-1) == 0 {
		if err := p.x.b.c.Team.Canceled(); err != nil {
			panic(err)
		}
	}
	return p.x.args[arg].Value(p.x.b.addrs[row])
}

func (p *polled) Room(bytes int64) error {
	err := p.x.b.c.Mem.Account().Take(bytes)
	if err == nil {
		p.to.room += bytes
	}
	return err
}

// frameRows are the rows of a frame in the order of the window.
type frameRows struct {
	polled
	parts [3]part // of the rows that count
}

func (r *frameRows) Len() int {
	n := int32(0)
	for _, p := range r.parts {
		n += p.hi - p.lo
	}
	return int(n)
}

func (r *frameRows) Value(row, arg int) types.Value {
	k := int32(row)
	for _, p := range r.parts {
		if n := p.hi - p.lo; k >= n {
			k -= n
			continue
		}
		k += p.lo
		break
	}
	if r.x.rows != nil {
		k = r.x.rows[k]
	}
	return r.value(k, arg)
}

// foldWriter writes results of rows one after the other.
type foldWriter struct {
	x     *foldedBlock
	texts mem.Arena
	room  int64 // asked for, for the result at hand
	last  int   // the row that was written last
}

func (x *foldedBlock) writer() *foldWriter {
	return &foldWriter{x: x, texts: mem.Arena{Mem: x.b.c.Mem}}
}

// eval computes the fold of rows for row i.
func (w *foldWriter) eval(i int, rows plan.FoldRows) {
	f := w.x.f.Fold
	v, err := f.Eval(rows, f.Direct, w.x.result)
	if err == nil && !v.Null && len(v.S) > 0 {
		var p uintptr
		pieces := len(w.texts.Pieces())
		if p, err = w.texts.Put(v.S); err == nil { // Go may forget it
			v.S = mem.Text(p, len(v.S))
			if tell := w.x.b.c.Texts; tell != nil && len(w.texts.Pieces()) > pieces {
				tell(w.texts.Pieces()[pieces:])
			}
		}
	}
	w.x.b.c.Mem.Account().Give(w.room)
	w.room = 0
	if err != nil {
		panic(ofQuery(err))
	}
	w.set(i, v)
}

// ofQuery is an error of arithmetic as one of the query, which is no bug of ours.
func ofQuery(err error) error {
	if e, ok := err.(*types.Error); ok {
		return diag.Errorf(e.Code, diag.NoPos, "%s", e.Msg)
	}
	return err
}

func (w *foldWriter) set(i int, v types.Value) {
	out := w.x.out
	lo, hi, null := uint64(0), uint64(0), byte(1)
	switch {
	case !v.Null:
		lo, hi = compute.Words(v, out.f.Desc.Form, w.x.b.c.Zero)
		null = 0
	case out.f.Desc.Form == layout.Str:
		lo = uint64(w.x.b.c.Zero)
	}
	out.lo[i], out.null[i] = lo, null
	if out.hi != nil {
		out.hi[i] = hi
	}
	w.last = i
}

// copy gives row i the value of the last.
func (w *foldWriter) copy(i int) {
	out, k := w.x.out, w.last
	out.lo[i], out.null[i] = out.lo[k], out.null[k]
	if out.hi != nil {
		out.hi[i] = out.hi[k]
	}
	w.last = i
}

// ranks are the rows of a partition that count, in an order of their own.
type ranks struct {
	all   bool    // all rows are in the frame
	at    []int32 // of each row of the block its place in rows
	rows  []int32 // in order; of equal ones that count once, one
	count []int32 // how often each is in the frame
	tree  []int32 // of how many places are in the frame (P. Fenwick)
	n     int     // places that are in the frame
}

// ranked computes folds from rows in an order of their own, perhaps without those that are equal.
func (x *foldedBlock) ranked(null []byte) {
	b, fold := x.b, x.f.Fold
	by := fold.Order
	if fold.Distinct {
		for _, id := range x.f.Args {
			by = append(by[:len(by):len(by)], plan.SortKey{Col: id})
		}
	}
	order := sorting.New(b.c.tuple, by, sorting.Options{Team: b.c.Team, Mem: b.c.Mem, View: b.c.View})
	e := b.extent(&x.f.Frame)
	var at *framed
	if e != whole {
		at = b.slide(x.f)
	}
	words := x.words(by)
	r := &ranks{all: e == whole, at: take[int32](b.room, b.n), count: take[int32](b.room, b.n), tree: take[int32](b.room, b.n+1)}
	list := take[int32](b.room, b.n)
	to := x.writer()
	rows := rankedRows{polled: polled{x: x, to: to}, ranks: r}
	b.partitions(func(lo, hi int) {
		r.rows = list[:0]
		for i := lo; i < hi; i++ {
			r.at[i] = noRow
			if null == nil || null[i] == 0 {
				r.rows = append(r.rows, int32(i))
			}
		}
		r.begin(b, order, words, fold.Distinct)
		if e == whole { // all rows see all
			to.eval(lo, &rows)
			for i := lo + 1; i < hi; i++ {
				to.copy(i)
			}
			return
		}
		var before, after part
		before.lo, before.hi = int32(lo), int32(lo)
		after = before
		var last [2]part
		for i := lo; i < hi; i++ {
			p, q, self := b.parts(at, i)
			if i > lo && !self && last == [2]part{p, q} {
				to.copy(i)
				continue
			}
			r.move(&before, p)
			r.move(&after, q)
			last = [2]part{p, q}
			if self {
				r.add(int32(i), 1)
				last = [2]part{{-1, -1}}
			}
			to.eval(i, &rows)
			if self {
				r.add(int32(i), -1)
			}
		}
	})
}

// words are numbers by which rows have the order of a key that is one word, and of rows that count never NULL; nil: the order is not such.
func (x *foldedBlock) words(by []plan.SortKey) []uint64 {
	if len(by) == 2 && by[0].Col == by[1].Col { // DISTINCT adds it
		by = by[:1]
	}
	if len(by) != 1 || by[0].Col != x.f.Args[0] || x.f.Fold.Skips == plan.SkipNone {
		return nil
	}
	v := x.b.column(by[0].Col)
	switch v.f.Desc.Form {
	case layout.I64, layout.F64:
	case layout.Code:
		if v.f.Desc.Type.Keyed() { // equal values may have several codes
			return nil
		}
	default:
		return nil
	}
	keys := x.b.orderedWords(v)
	if by[0].Desc {
		for i := range keys {
			keys[i] = ^keys[i]
		}
	}
	return keys
}

// begin orders the rows of a partition, none of which is in the frame yet. Those that are equal stay in the order of the window.
func (r *ranks) begin(b *block, order *sorting.Sorter, words []uint64, distinct bool) {
	looked := 0
	compare := func(i, j int32) int {
		if looked++; looked&(1<<18-1) == 0 {
			if err := b.c.Team.Canceled(); err != nil {
				panic(err)
			}
		}
		if words != nil {
			return cmp.Compare(words[i], words[j])
		}
		return order.Compare(b.addrs[i], b.addrs[j])
	}
	slices.SortFunc(r.rows, func(i, j int32) int { return cmp.Or(compare(i, j), int(i-j)) })
	n := 0
	for k, i := range r.rows {
		if k == 0 || !distinct || compare(r.rows[n-1], i) != 0 {
			r.rows[n] = i
			n++
		}
		r.at[i] = int32(n - 1)
	}
	r.rows, r.n = r.rows[:n], 0
	if r.all {
		r.n = n
		return
	}
	clear(r.count[:n])
	clear(r.tree[:n+1])
}

// move brings a part of the frame, whose ends only move forward, to where it is now.
func (r *ranks) move(p *part, to part) {
	if p.lo == p.hi {
		p.lo, p.hi = to.lo, to.lo
	}
	for ; p.hi < to.hi; p.hi++ {
		r.add(p.hi, 1)
	}
	for ; p.lo < to.lo; p.lo++ {
		r.add(p.lo, -1)
	}
}

// add takes a row into the frame, or out of it.
func (r *ranks) add(row, d int32) {
	k := r.at[row]
	if k < 0 {
		return
	}
	was := r.count[k] > 0
	r.count[k] += d
	if is := r.count[k] > 0; is != was {
		r.n += int(d)
		for i := k + 1; int(i) <= len(r.rows); i += i & -i {
			r.tree[i] += d
		}
	}
}

// row is the k-th that is in the frame.
func (r *ranks) row(k int32) int32 {
	if r.all {
		return r.rows[k]
	}
	at := int32(0)
	step := int32(1)
	for int(step)*2 <= len(r.rows) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if next := at + step; int(next) <= len(r.rows) && r.tree[next] <= k {
			at = next
			k -= r.tree[next]
		}
	}
	return r.rows[at]
}

// rankedRows are the rows of a frame in the order of ranks.
type rankedRows struct {
	polled
	ranks *ranks
}

func (r *rankedRows) Len() int { return r.ranks.n }

func (r *rankedRows) Value(row, arg int) types.Value { return r.value(r.ranks.row(int32(row)), arg) }
