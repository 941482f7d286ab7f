package gpu

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/emit"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// textSpace is the memory of the device where kernels of a query make texts, one behind the other. It lasts until the query ends, and where it has
// become too small, another piece takes its place.
type textSpace struct {
	start, next, end device.Addr
	all              []addrRange // of all pieces
}

// addrRange is a piece of the device's memory.
type addrRange struct{ start, end device.Addr }

const (
	// textTakes is how many bytes a lane takes at a time, at least, and mostTaken where many rows are kept: all lanes take from one counter, which is what
	// holds them up then. What a lane does not use is lost.
	textTakes = 512
	mostTaken = 8 << 10
	// keptText is how long the texts of a row that is kept are, as long as nothing else is known.
	keptText = 48
)

// making is a kernel that makes texts: where it finds the words of its space. nil: it makes none.
type making struct {
	r                *run
	next, end, takes int // offsets in the context
	take             int64
	lanes            int64
}

// makesTexts prepares for a launch over so many items of a function that makes texts, of which about so many rows are kept.
func (r *run) makesTexts(f *emit.Fragment, items, kept int64) (*making, error) {
	var m *making
	for _, w := range f.Words {
		if w.Kind != code.WordSpace && w.Kind != code.WordSpaceEnd && w.Kind != code.WordSpaceTakes {
			continue
		}
		if m == nil {
			m = &making{r: r}
		}
		switch w.Kind {
		case code.WordSpace:
			m.next = w.Off
		case code.WordSpaceEnd:
			m.end = w.Off
		default:
			m.takes = w.Off
		}
	}
	if m == nil || items == 0 {
		return nil, nil
	}
	m.lanes = phys.MostLanes(r.grid(items))
	bytes := min(items, kept) * keptText
	m.take = min(max(textTakes, bytes/(2*m.lanes)&^7), mostTaken)
	want := m.lanes*m.take + bytes
	if few := r.store.Room; few > 0 { // a test wants to see it overflow
		m.take = 32
		want = 16 * few
	}
	s := &r.space
	if int64(s.end-s.next) >= want {
		return m, nil
	}
	return m, m.more(want)
}

// more begins a piece of so many bytes.
func (m *making) more(bytes int64) error {
	a, err := m.r.alloc(bytes + 64)
	if err != nil {
		return err
	}
	s := &m.r.space
	s.start, s.next, s.end = a, a, a+device.Addr(bytes)
	s.all = append(s.all, addrRange{a, s.end + 64})
	return nil
}

func (m *making) toContext(c *block) {
	if m == nil {
		return
	}
	s := &m.r.space
	c.set(m.next, uint64(s.next))
	c.set(m.end, uint64(s.end))
	c.set(m.takes, uint64(m.take))
}

// lacked reports that a launch found too little room, of which there is more now: it must start again, with sinks as they were before.
func (m *making) lacked(c *block) (bool, error) {
	if m == nil {
		return false, nil
	}
	s := &m.r.space
	wanted := int64(c.get(m.next)) - int64(s.next)
	if wanted <= int64(s.end-s.next) {
		return false, nil
	}
	if s.next == s.start { // nothing is in it
		m.r.free(s.start)
		s.all = s.all[:len(s.all)-1]
	}
	return true, m.more(wanted + wanted/4 + m.lanes*m.take)
}

// keep takes over what a launch has made.
func (m *making) keep(c *block) {
	if m != nil {
		m.r.space.next = device.Addr(c.get(m.next))
	}
}

// bringTexts copies the texts of an array of tuples that kernels have made to the host. What was made for other rows, and room that lanes did not
// use, stays: the texts of these are moved to one place first, of which their tuples learn.
func (r *run) bringTexts(d deviceRows, lacking []plan.ColID) error {
	return r.bringTextsOf(d, textFields(d.tuple, lacking), r.space.all)
}

// manySorted is from how many sorted rows on all of their texts are brought in that order: the host has them, too, but in the order of the table, and waits
// for each.
const manySorted = 256 << 10

// bringSorted is bringTexts for sorted rows of the result.
func (r *run) bringSorted(d deviceRows) error {
	least := int64(manySorted)
	if r.store.Room > 0 { // a test's rows are many
		least = r.store.Room
	}
	if d.n < least {
		return nil
	}
	return r.bringTextsOf(d, textFields(d.tuple, nil), []addrRange{{0, 1 << 63}})
}

// bringTextsOf copies the texts that lie in certain pieces of memory.
func (r *run) bringTextsOf(d deviceRows, fields []*layout.Field, all []addrRange) error {
	if len(all) == 0 || len(fields) == 0 || d.n == 0 {
		return nil
	}
	var pieces []byte
	for _, p := range all {
		pieces = binary.LittleEndian.AppendUint64(pieces, uint64(p.start))
		pieces = binary.LittleEndian.AppendUint64(pieces, uint64(p.end))
	}
	list, err := r.upload(pieces)
	if err != nil {
		return err
	}
	count, err := r.counter()
	if err != nil {
		return err
	}
	number := uint64(len(all))
	if err := r.do(func() *ir.Func { return sumTexts(d.tuple.Size, fields) }, d.n, uint64(d.addr), uint64(list), number, uint64(count)); err != nil {
		return err
	}
	x, err := r.read(count, 1)
	if err != nil || x[0] == 0 {
		return err
	}
	n := int(x[0])
	to, err := r.alloc(int64(n) + column.TextPad)
	if err != nil {
		return err
	}
	next, err := r.word(uint64(to))
	if err != nil {
		return err
	}
	if err := r.do(func() *ir.Func { return moveTexts(d.tuple.Size, fields) }, d.n, uint64(d.addr), uint64(list), number, uint64(next)); err != nil {
		return err
	}
	host, err := r.mem.Take(n + column.TextPad)
	if err != nil {
		return err
	}
	r.texts = append(r.texts, homes{to, n, host})
	return r.fetchTo(host, to, n/8, 8, nil)
}

// sumTexts adds up, in words of 8 bytes, the lengths of tuples' texts that lie in certain pieces of memory: array, pieces, number, sum.
func sumTexts(size int, fields []*layout.Field) *ir.Func {
	var sum ir.Reg
	return newKernelThen("sum_texts_"+fieldNames(size, fields),
		func(k *kernel) []ir.Reg {
			s := k.load("array", "pieces", "number", "sum")
			sum = k.Vreg("bytes", ir.I64)
			k.Mov(sum, ir.K(0))
			return append(s, sum)
		},
		func(k *kernel, s []ir.Reg) {
			k.eachText(s, size, fields, func(_ ir.Reg, _ *layout.Field, _, n ir.Reg) { k.Op2(ir.Add, sum, sum.V(), n.V()) })
		},
		func(k *kernel, s []ir.Reg) {
			k.when(ir.NE, sum.V(), ir.K(0), func() {
				t := k.Vreg("t", ir.I64)
				k.Atom(ir.AtomAdd, t, ir.At(s[3], 0), sum.V(), ir.Val{})
				k.Clear(t)
			})
		})
}

// moveTexts moves them to where the word at next points, those of 32 tuples side by side, and lets the tuples know: array, pieces, number, next.
func moveTexts(size int, fields []*layout.Field) *ir.Func {
	return newWarpKernel("move_texts_"+fieldNames(size, fields), []string{"array", "pieces", "number", "next"}, func(k *kernel, s []ir.Reg, lane, has ir.Reg) {
		own, upTo, t := k.Vreg("own", ir.I64), k.Vreg("upto", ir.I64), k.Vreg("t", ir.I64)
		k.Mov(own, ir.K(0))
		k.when(ir.NE, has.V(), ir.K(0), func() {
			k.eachText(s, size, fields, func(_ ir.Reg, _ *layout.Field, _, n ir.Reg) { k.Op2(ir.Add, own, own.V(), n.V()) })
		})
		k.Mov(upTo, own.V()) // what the lane and those below it need
		for d := int64(1); d < layout.WarpLanes; d *= 2 {
			k.Op2(ir.Sub, t, lane.V(), ir.K(d))
			k.Sel(t, ir.LT, t.V(), ir.K(0), lane.V(), t.V())
			k.Op2(ir.Shfl, t, upTo.V(), t.V())
			k.Sel(t, ir.LT, lane.V(), ir.K(d), ir.K(0), t.V())
			k.Op2(ir.Add, upTo, upTo.V(), t.V())
		}
		at := k.Vreg("to", ir.I64)
		k.Mov(at, ir.K(0))
		k.when(ir.EQ, lane.V(), ir.K(layout.WarpLanes-1), func() { k.Atom(ir.AtomAdd, at, ir.At(s[3], 0), upTo.V(), ir.Val{}) })
		k.Op2(ir.Shfl, at, at.V(), ir.K(layout.WarpLanes-1))
		k.Op2(ir.Add, at, at.V(), upTo.V())
		k.Op2(ir.Sub, at, at.V(), own.V())
		k.when(ir.NE, own.V(), ir.K(0), func() {
			k.eachText(s, size, fields, func(tuple ir.Reg, f *layout.Field, from, n ir.Reg) {
				k.copyText(at, from, n)
				k.Store(ir.At(tuple, f.Off), at.V(), 8)
				k.Op2(ir.Add, at, at.V(), n.V())
			})
		})
		k.Clear(own, upTo, t, at)
	})
}

// newWarpKernel begins a function whose lanes stay together: the body is emitted once, for an item of each lane. Those without one have 0 in has, and
// look at the last.
func newWarpKernel(name string, params []string, body func(k *kernel, s []ir.Reg, lane, has ir.Reg)) *ir.Func {
	k := &kernel{Builder: ir.NewFunc(name, ir.GPU)}
	i, n, from, step, lane := k.warpItems(1)
	has := k.Vreg("has", ir.I64)
	s := k.load(params...)
	l := k.Loop()
	k.Break(l, ir.GE, from.V(), n.V())
	k.Op2(ir.Add, i, from.V(), lane.V())
	k.Set(has, ir.LT, i.V(), n.V())
	k.when(ir.EQ, has.V(), ir.K(0), func() { k.Op2(ir.Sub, i, n.V(), ir.K(1)) })
	body(k, s, lane, has)
	k.Op2(ir.Add, from, from.V(), step.V())
	k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	k.Clear(s...)
	k.Clear(i, n, from, step, lane, has)
	return k.F
}

// warpItems begins a kernel whose warps take 32 items, per times, in each turn: the item, how many items there are, the warp's first, how far to the
// next turn's, and the lane.
func (k *kernel) warpItems(per int64) (i, n, from, step, lane ir.Reg) {
	i, n, from, step, lane = k.Vreg("item", ir.I64), k.Vreg("end", ir.I64), k.Vreg("from", ir.I64), k.Vreg("step", ir.I64), k.Vreg("lane", ir.I64)
	k.item = i
	k.Special(lane, ir.LaneID)
	k.Special(step, ir.BlockDim)
	k.Special(from, ir.BlockID)
	k.Op2(ir.Mul, from, from.V(), step.V())
	k.Special(i, ir.ThreadID)
	k.Op2(ir.Add, from, from.V(), i.V())
	if per > 1 {
		k.Op2(ir.Mul, from, from.V(), ir.K(per))
		k.Op2(ir.Mul, step, step.V(), ir.K(per))
	}
	k.Op2(ir.Shfl, from, from.V(), ir.K(0)) // all lanes of a warp have one first item
	k.Special(i, ir.GridDim)
	k.Op2(ir.Mul, step, step.V(), i.V())
	k.F.Params = 1
	k.Param(n, 1)
	return i, n, from, step, lane
}

// fieldNames tells kernels for different tuples apart.
func fieldNames(size int, fields []*layout.Field) string {
	var b strings.Builder
	fmt.Fprint(&b, size)
	for _, f := range fields {
		fmt.Fprintf(&b, "_%d_%d", f.Off, f.Null+1)
	}
	return b.String()
}

// eachText calls do for each text of the item's tuple that lies in one of the pieces, with its address and its length as whole words.
func (k *kernel) eachText(s []ir.Reg, size int, fields []*layout.Field, do func(tuple ir.Reg, f *layout.Field, from, n ir.Reg)) {
	tuple := k.tupleOf(s[0], size)
	from, n, i, t := k.Vreg("from", ir.I64), k.Vreg("n", ir.I64), k.Vreg("i", ir.I64), k.Vreg("t", ir.I64)
	for _, f := range fields {
		k.Load8(from, ir.At(tuple, f.Off))
		k.Load8(n, ir.At(tuple, f.Off+8))
		if f.Null >= 0 {
			k.Load(t, ir.At(tuple, f.Null), 1, false)
			k.Sel(n, ir.NE, t.V(), ir.K(0), ir.K(0), n.V())
		}
		k.when(ir.NE, n.V(), ir.K(0), func() {
			k.Op2(ir.Add, n, n.V(), ir.K(7))
			k.Op2(ir.And, n, n.V(), ir.K(^7))
			k.Mov(i, ir.K(0))
			l := k.Loop()
			k.Break(l, ir.GE, i.V(), s[2].V())
			k.Op2(ir.Shl, t, i.V(), ir.K(4))
			k.Op2(ir.Add, t, t.V(), s[1].V())
			end := k.Vreg("end", ir.I64)
			k.Load8(end, ir.At(t, 8))
			k.Load8(t, ir.At(t, 0))
			k.Sel(t, ir.UGE, from.V(), t.V(), end.V(), ir.K(0))
			k.Clear(end)
			k.when(ir.ULT, from.V(), t.V(), func() {
				do(tuple, f, from, n)
				k.Break(l, ir.Always, ir.K(0), ir.K(0))
			})
			k.Op2(ir.Add, i, i.V(), ir.K(1))
			k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		})
	}
	k.Clear(tuple, from, n, i, t)
}

// copyText copies n bytes, whole words, to a multiple of 8; up to 7 of them, and what is read, may be behind the text.
func (k *kernel) copyText(to, from, n ir.Reg) {
	i, at, shift, x, next := k.Vreg("i", ir.I64), k.Vreg("at", ir.I64), k.Vreg("shift", ir.I64), k.Vreg("x", ir.I64), k.Vreg("next", ir.I64)
	k.Op2(ir.And, shift, from.V(), ir.K(7))
	k.Op2(ir.Sub, at, from.V(), shift.V())
	k.Op2(ir.Shl, shift, shift.V(), ir.K(3))
	k.Load8(next, ir.At(at, 0))
	k.Mov(i, ir.K(0))
	l := k.Loop()
	k.Break(l, ir.GE, i.V(), n.V())
	k.Op2(ir.Shr, x, next.V(), shift.V())
	k.Op2(ir.Add, at, at.V(), ir.K(8))
	k.Load8(next, ir.At(at, 0))
	high, t := k.Vreg("high", ir.I64), k.Vreg("t", ir.I64) // shifted by 64 - shift, in two steps: shifting by 64 would shift by 0
	k.Op2(ir.Xor, t, shift.V(), ir.K(63))
	k.Op2(ir.Shl, high, next.V(), ir.K(1))
	k.Op2(ir.Shl, high, high.V(), t.V())
	k.Op2(ir.Or, x, x.V(), high.V())
	k.Clear(high, t)
	k.Store(ir.AtIndex(to, i, 1, 0), x.V(), 8)
	k.Op2(ir.Add, i, i.V(), ir.K(8))
	k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	k.Clear(i, at, shift, x, next)
}
