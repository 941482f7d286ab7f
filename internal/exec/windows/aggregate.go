package windows

import (
	"bytes"
	"math"

	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/sorting"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// extent is how an aggregate goes over the rows of a partition.
type extent uint8

const (
	whole   extent = iota // all rows see all rows
	toPeers               // from the first row to the last peer
	toRow                 // from the first row to the current
	slides                // frames have two ends that move, or something is excluded
)

// extent says which a frame is.
func (b *block) extent(f *plan.Frame) extent {
	switch {
	case f.Whole(b.ordered()):
		return whole
	case f.Exclude != plan.ExcludeNone || f.Start.Kind != plan.UnboundedPreceding || f.End.Kind != plan.CurrentRow:
		return slides
	case f.Unit == plan.RowsFrame:
		return toRow
	}
	return toPeers
}

// aggregate computes an aggregate of each row's frame.
func (b *block) aggregate(f *plan.WindowFunc) {
	switch f.Agg {
	case plan.CountStar, plan.Count:
		b.counts(f)
	case plan.Folded:
		b.folded(f)
	case plan.Sum:
		switch out := b.c.tuple.Find(int32(f.Col)); out.Desc.Form {
		case layout.F64:
			b.sumFloats(f)
		case layout.I64:
			b.sum64(f)
		default:
			b.sumWide(f)
		}
	default:
		b.best(f)
	}
}

// run calls f with stretches of rows that have the same frame, which all begin with the partition's first row: f gets the
// rows and where the frame ends.
func (b *block) run(x extent, lo, hi int, f func(from, to, end int)) {
	switch x {
	case whole:
		f(lo, hi, hi)
	case toRow:
		for i := lo; i < hi; i++ {
			f(i, i+1, i+1)
		}
	case toPeers:
		peer := b.peers()
		for i := lo; i < hi; {
			end := i + 1
			for end < hi && !peer[end] {
				end++
			}
			f(i, end, end)
			i = end
		}
	}
}

// counted are, for each row, how many values before it in the block are not NULL; nil: all are.
func (b *block) counted(v *values) []int32 {
	if v.null == nil {
		return nil
	}
	before := take[int32](b.room, b.n+1)
	n := int32(0)
	for i, x := range v.null {
		before[i] = n
		n += int32(1 - x)
	}
	before[b.n] = n
	return before
}

// between is how many values of rows lo to hi are not NULL.
func between(before []int32, lo, hi int32) int32 {
	if before == nil {
		return hi - lo
	}
	return before[hi] - before[lo]
}

// within is how many values of row i's frame are not NULL.
func (b *block) within(before []int32, x *framed, i int) int32 {
	p, q, self := b.parts(x, i)
	n := between(before, p.lo, p.hi) + between(before, q.lo, q.hi)
	if self {
		n += between(before, int32(i), int32(i)+1)
	}
	return n
}

func (b *block) counts(f *plan.WindowFunc) {
	out := b.results(f)
	var before []int32
	if f.Agg == plan.Count {
		before = b.counted(b.column(f.Args[0]))
	}
	if e := b.extent(&f.Frame); e != slides {
		b.partitions(func(lo, hi int) {
			b.run(e, lo, hi, func(from, to, end int) {
				fill(out.lo[from:to], uint64(between(before, int32(lo), int32(end))))
			})
		})
	} else {
		x := b.slide(f)
		b.each(func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if x.frame.Exclude == plan.ExcludeNone {
					out.lo[i] = uint64(between(before, x.lo[i], x.hi[i]))
				} else {
					out.lo[i] = uint64(b.within(before, x, i))
				}
			}
		})
	}
	b.write(out)
}

// slide finds the frames, and what of them is excluded.
func (b *block) slide(f *plan.WindowFunc) *framed {
	if f.Frame.Exclude >= plan.ExcludeGroup {
		b.peerBounds()
	}
	return b.frame(&f.Frame)
}

// ordering tells which of two rows, none of them NULL, comes first.
type ordering interface{ less(i, j int32) bool }

type byWord []uint64

func (k byWord) less(i, j int32) bool { return k[i] < k[j] }

type byInt128 struct{ lo, hi []uint64 }

func (k byInt128) less(i, j int32) bool {
	if a, b := int64(k.hi[i]), int64(k.hi[j]); a != b {
		return a < b
	}
	return k.lo[i] < k.lo[j]
}

type byText struct{ lo, hi []uint64 }

func (k byText) text(i int32) []byte { return mem.Bytes(uintptr(k.lo[i]), int(k.hi[i])) }

func (k byText) less(i, j int32) bool { return bytes.Compare(k.text(i), k.text(j)) < 0 }

type bySpan struct{ lo, hi []uint64 }

func (k bySpan) key(i int32) types.Int128 {
	v := types.Value{Type: types.TInterval, I: int64(k.lo[i]), Hi: int64(k.hi[i])}
	return types.IntervalKey(v.IntervalParts())
}

func (k bySpan) less(i, j int32) bool { return k.key(i).Cmp(k.key(j)) < 0 }

// first orders rows as they come: of two, the first.
type first struct{}

func (first) less(i, j int32) bool { return i < j }

// best computes min, max and their like, whose value is that of one of the frame's rows.
func (b *block) best(f *plan.WindowFunc) {
	v := b.column(f.Args[0])
	rows := take[int32](b.room, b.n)
	if f.Agg == plan.AnyValue {
		fold(b, f, chooser[first]{v: v}, rows)
	} else {
		b.extremeRows(f, v, f.Agg == plan.Max || f.Agg == plan.BoolOr, false, rows)
	}
	b.pick(f, rows)
}

// extremeRows finds the row of each frame with the least or greatest value; of several the first or the last.
func (b *block) extremeRows(f *plan.WindowFunc, v *values, desc, earliest bool, rows []int32) {
	switch form := v.f.Desc.Form; form {
	case layout.I64, layout.F64, layout.Code:
		fold(b, f, chooser[byWord]{v, b.orderedWords(v), desc, earliest}, rows)
	case layout.I128:
		fold(b, f, chooser[byInt128]{v, byInt128{v.lo, v.hi}, desc, earliest}, rows)
	case layout.Ivl:
		fold(b, f, chooser[bySpan]{v, bySpan{v.lo, v.hi}, desc, earliest}, rows)
	default:
		fold(b, f, chooser[byText]{v, byText{v.lo, v.hi}, desc, earliest}, rows)
	}
}

// orderedWords are values of one word as numbers that order as they do.
func (b *block) orderedWords(v *values) byWord {
	keys := take[uint64](b.room, b.n)
	b.each(func(lo, hi int) {
		switch v.f.Desc.Form {
		case layout.I64:
			for i := lo; i < hi; i++ {
				keys[i] = v.lo[i] ^ 1<<63
			}
		case layout.F64:
			for i := lo; i < hi; i++ {
				keys[i] = sorting.OrderedFloat(math.Float64frombits(v.lo[i]))
			}
		default:
			ranks := v.f.Desc.Dict.Ranks()
			for i := lo; i < hi; i++ {
				keys[i] = 0
				if x := v.lo[i]; x < uint64(len(ranks)) { // NULL may have any code
					keys[i] = uint64(ranks[x])
				}
			}
		}
	})
	return keys
}

// chooser takes the better of two rows; noRow is none.
type chooser[O ordering] struct {
	v        *values
	by       O
	desc     bool
	earliest bool // of equals
}

func (c chooser[O]) of(i int) int32 {
	if c.v.isNull(i) {
		return noRow
	}
	return int32(i)
}

func (c chooser[O]) join(i, j int32) int32 {
	switch {
	case j < 0:
		return i
	case i < 0:
		return j
	case c.desc && c.by.less(j, i), !c.desc && c.by.less(i, j):
		return i
	case c.earliest && !(c.desc && c.by.less(i, j) || !c.desc && c.by.less(j, i)):
		return i
	}
	return j // of equals the last, as in PostgreSQL: '24:00:00' equals '1 day'
}

func (c chooser[O]) none() int32 { return noRow }

// folding is an aggregate that is put together from parts, in order.
type folding[T any] interface {
	of(i int) T    // that of one row
	join(a, b T) T // that of rows after each other
	none() T       // that of no row
}

// fold computes an aggregate of every row's frame.
func fold[T word, F folding[T]](b *block, f *plan.WindowFunc, by F, out []T) {
	e := b.extent(&f.Frame)
	if e != slides {
		b.partitions(func(lo, hi int) {
			acc, at := by.none(), lo
			b.run(e, lo, hi, func(from, to, end int) {
				for ; at < end; at++ {
					acc = by.join(acc, by.of(at))
				}
				fill(out[from:to], acc)
			})
		})
		return
	}
	x := b.slide(f)
	before, after := newSliding(b, by), newSliding(b, by)
	b.partitions(func(lo, hi int) {
		before.begin(lo)
		after.begin(lo)
		for i := lo; i < hi; i++ {
			p, q, self := b.parts(x, i)
			acc := before.over(p)
			if self {
				acc = by.join(acc, by.of(i))
			}
			if x.frame.Exclude != plan.ExcludeNone {
				acc = by.join(acc, after.over(q))
			}
			out[i] = acc
		}
	})
}

// sliding is the aggregate of a stretch of rows whose ends only move forward. Of the rows before mid it has the aggregate from
// each of them to mid, and of those from mid on their aggregate: a row is looked at twice, whatever the length.
type sliding[T word, F folding[T]] struct {
	by           F
	lo, mid, end int
	tails        []T // of rows lo to mid: the aggregate from there to mid
	rest         T   // from mid to end
}

func newSliding[T word, F folding[T]](b *block, by F) *sliding[T, F] {
	return &sliding[T, F]{by: by, tails: take[T](b.room, b.n)}
}

func (s *sliding[T, F]) begin(at int) {
	s.lo, s.mid, s.end, s.rest = at, at, at, s.by.none()
}

// over moves the ends.
func (s *sliding[T, F]) over(p part) T {
	if p.hi <= p.lo {
		return s.by.none()
	}
	if int(p.lo) >= s.end {
		s.begin(int(p.lo))
	}
	for s.end < int(p.hi) {
		s.rest = s.by.join(s.rest, s.by.of(s.end))
		s.end++
	}
	switch s.lo = int(p.lo); {
	case s.lo == s.mid:
		return s.rest
	case s.lo > s.mid:
		acc := s.by.none()
		for i := s.end - 1; i >= s.lo; i-- {
			acc = s.by.join(s.by.of(i), acc)
			s.tails[i] = acc
		}
		s.mid, s.rest = s.end, s.by.none()
	}
	return s.by.join(s.tails[s.lo], s.rest)
}
