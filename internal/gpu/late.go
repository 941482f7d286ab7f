package gpu

import (
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/catalog"
	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/exec/mem"
	"github.com/kelpiedb/kelpie/internal/exec/tuples"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// lateRows are the columns of a result whose tuples have numbers of rows instead of them, by their places in the table, and the table's segments.
type lateRows struct {
	ordinal map[plan.ColID]int
	segs    []*catalog.Segment
}

// places finds the segments of rows. Where the table is cut into pieces of 1<<shift rows, first tells with which segment each begins: rows come in any
// order, and several times as many pieces as segments leave few in which to look further.
type places struct {
	starts []uint64 // of segments that have rows, and the end of the last
	segs   []uint64 // their numbers, as results want them
	shift  int
	first  []int32
}

func (l *lateRows) places() *places {
	p := &places{}
	end := uint64(0)
	for i, s := range l.segs {
		if s.Rows > 0 {
			p.starts, p.segs = append(p.starts, end), append(p.segs, uint64(i)<<32)
			end += uint64(s.Rows)
		}
	}
	n := uint64(len(p.starts))
	p.starts = append(p.starts, end)
	p.shift = bits.Len64(end / (8 * max(n, 1)))
	i := int32(0)
	for at := uint64(0); at < end; at += 1 << p.shift {
		for p.starts[i+1] <= at {
			i++
		}
		p.first = append(p.first, i)
	}
	return p
}

// of is a row's segment and its number there.
func (p *places) of(row uint64) (uint64, bool) {
	at := row >> p.shift
	if at >= uint64(len(p.first)) || row >= p.starts[len(p.starts)-1] {
		return row, false
	}
	i := p.first[at]
	for p.starts[i+1] <= row {
		i++
	}
	return p.segs[i] | (row - p.starts[i]), true
}

func (p *places) nowhere(row uint64) error {
	return diag.Internalf("gpu", "row %d of %d", row, p.starts[len(p.starts)-1])
}

// placing replaces the numbers of rows in the table, as kernels know them, by those of segments and of rows in them. nil: tuples have none.
func (l *lateRows) placing(t *layout.Tuple) visitor {
	f := t.Find(layout.LateRow)
	if f == nil {
		return nil
	}
	p := l.places()
	return func(first uintptr, n int) error {
		for a := first + uintptr(f.Off); n > 0; n-- {
			x, ok := p.of(mem.Load64(a))
			if !ok {
				return p.nowhere(x)
			}
			mem.Store64(a, x)
			a += uintptr(t.Size)
		}
		return nil
	}
}

// numbersOnly reports that tuples are nothing but numbers of rows that 4 bytes hold.
func (l *lateRows) numbersOnly(t *layout.Tuple) bool {
	rows := int64(0)
	for _, s := range l.segs {
		rows += int64(s.Rows)
	}
	return len(t.Fields) == 1 && t.Fields[0].ID == layout.LateRow && t.Size == 8 && rows <= math.MaxUint32
}

// manyNumbers is from how many bytes of them on numbers are made shorter.
const manyNumbers = 1 << 20

// fetchNumbers is fetch of tuples that are nothing but numbers of rows: they cross the bus in 4 bytes.
func (r *run) fetchNumbers(d deviceRows) (tuples.Rows, error) {
	to, err := r.alloc(4 * d.n)
	if err != nil {
		return tuples.Rows{}, err
	}
	defer r.free(to)
	if err := r.do(shortNumbers, d.n, uint64(d.addr), uint64(to)); err != nil {
		return tuples.Rows{}, err
	}
	p := r.late.places()
	return r.fetchBy(d, wire{to, 4, func(to uintptr, from []byte, n int) error {
		in, out := mem.Halves(mem.AddressOf(from), n), mem.Words(to, n)
		for i, row := range in {
			x, ok := p.of(uint64(row))
			if !ok {
				return p.nowhere(x)
			}
			out[i] = x
		}
		return nil
	}})
}

// shortNumbers writes numbers of 8 bytes as such of 4: from, to.
func shortNumbers() *ir.Func {
	return newKernel("short_numbers", func(k *kernel) []ir.Reg { return k.load("from", "to") }, func(k *kernel, s []ir.Reg) {
		x := k.Vreg("x", ir.I64)
		k.Load8(x, ir.AtIndex(s[0], k.item, 8, 0))
		k.Store(ir.AtIndex(s[1], k.item, 4, 0), x.V(), 4)
		k.Clear(x)
	})
}
