package kernels

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Arrangement is how items are put in the order of their counters, in one launch: each is counted, the counters become the numbers of
// the items before them, and each item goes to its place. Who calls knows what items and counters are. P are registers with its own parameters.
type Arrangement struct {
	Name   string
	Params int // its own
	Width  int // bytes of a counter: 4 or 8
	// Count adds an item to its counter, Move puts it where it belongs.
	Count, Move func(b *ir.Builder, p []ir.Reg, item ir.Reg)
	// Items makes a counter's word x the number of its items; Begin makes before, the number of items before its own, the word that takes
	// the counter's place, of which x is a copy. nil: they are the same.
	Items, Begin func(b *ir.Builder, p []ir.Reg, x, before ir.Reg)
}

// elem is a kind of values: 4 or 8 bytes.
type elem struct {
	bytes int
	typ   ir.Type
}

// itemTile is how many items a block takes at a time.
const (
	itemTileBits = 10
	itemTile     = 1 << itemTileBits
)

// Kernel is the function. Its parameters are those that Work names, and then its own.
func (a *Arrangement) Kernel() *ir.Func {
	w := begin(a.Name, 8+a.Params)
	const ticketAt = 2 * 32 * 8
	w.F.SharedBytes = ticketAt + 8
	ticket, done, n := w.param("ticket", 1), w.param("done", 2), w.wordParam("n", 3)
	counters, m, size, sums := w.param("counters", 4), w.wordParam("m", 5), w.wordParam("size", 6), w.param("sums", 7)
	parts := w.wordParam("parts", 8)
	var own []ir.Reg
	for i := range a.Params {
		own = append(own, w.param("p", 9+i))
	}
	tid, lane := w.special("tid", ir.ThreadID), w.special("lane", ir.LaneID)
	e := elem{a.Width, ir.I64}
	if a.Width == 4 {
		e.typ = ir.I32
	}
	tiles, one := w.word("tiles"), w.word("one")
	w.Op2(ir.Add, tiles, n.V(), ir.K(itemTile-1))
	w.Op2(ir.Shr, tiles, tiles.V(), ir.K(itemTileBits))
	// The counters of one block need no sums of other blocks' before.
	w.Sel(one, ir.UGT, parts.V(), ir.K(1), ir.K(1), ir.K(0))
	several := w.word("several")
	w.Op2(ir.Mul, several, parts.V(), one.V())
	each := func(f func(b *ir.Builder, p []ir.Reg, item ir.Reg)) func(ir.Reg) {
		return func(tile ir.Reg) {
			i, end := w.word("i"), w.word("end")
			w.Op2(ir.Mul, end, tile.V(), ir.K(itemTile))
			w.Op2(ir.Add, i, end.V(), tid.V())
			w.Op2(ir.Add, end, end.V(), ir.K(itemTile))
			w.Sel(end, ir.ULT, end.V(), n.V(), end.V(), n.V())
			w.while(ir.ULT, i.V(), end.V(), func() {
				item := w.long("item")
				w.Op1(ir.WidenU, item, i.V())
				f(w.Builder, own, item)
				w.Op2(ir.Add, i, i.V(), ir.K(threads))
			})
		}
	}
	items := func(x ir.Reg) {
		if a.Items != nil {
			a.Items(w.Builder, own, x, x)
		}
	}
	sum := func(part ir.Reg) {
		from, to := w.part(part, size, m)
		v := w.of("v", e.typ, 1)
		w.Mov(v, ir.K(0))
		w.Op2(ir.Add, from, from.V(), tid.V())
		w.while(ir.ULT, from.V(), to.V(), func() {
			x := w.of("x", e.typ, 1)
			w.Load(x, ir.AtIndex(counters, from, e.bytes, 0), e.bytes, false)
			items(x)
			w.Op2(ir.Add, v, v.V(), x.V())
			w.Op2(ir.Add, from, from.V(), ir.K(threads))
		})
		_, total := w.blockScan(v, tid, lane, warps, 0)
		w.when(ir.EQ, tid.V(), ir.K(0), func() { w.Store(ir.AtIndex(sums, part, e.bytes, 0), total.V(), e.bytes) })
	}
	all := func(ir.Reg) {
		from, base := w.word("from"), w.of("base", e.typ, 1)
		w.Mov(from, ir.K(0))
		w.Mov(base, ir.K(0))
		w.scanOf(e, sums, tid, lane, from, parts, base, func(ir.Reg) {}, func(_, _ ir.Reg) {})
	}
	scan := func(part ir.Reg) {
		from, to := w.part(part, size, m)
		base := w.of("base", e.typ, 1)
		w.Mov(base, ir.K(0))
		w.when(ir.NE, one.V(), ir.K(0), func() { w.Load(base, ir.AtIndex(sums, part, e.bytes, 0), e.bytes, false) })
		w.scanOf(e, counters, tid, lane, from, to, base, items, func(x, before ir.Reg) {
			if a.Begin != nil {
				a.Begin(w.Builder, own, x, before)
			}
		})
	}
	w.phases(ticket, done, tid, ticketAt, []phase{{tiles, each(a.Count)}, {several, sum}, {one, all}, {parts, scan}, {tiles, each(a.Move)}})
	return w.end()
}

// part opens words with the first value of a part and the one behind its last.
func (w *writer) part(part, size, n ir.Reg) (from, to ir.Reg) {
	from, to = w.word("from"), w.word("to")
	w.Op2(ir.Mul, from, part.V(), size.V())
	w.Op2(ir.Add, to, from.V(), size.V())
	w.Sel(to, ir.ULT, to.V(), n.V(), to.V(), n.V())
	return from, to
}

// scanOf replaces the values from one to another by the sums of those before, of which base begins with what is before the first: items
// makes a word a value, and begin the sum, its second register, the word that is stored.
func (w *writer) scanOf(e elem, at, tid, lane, from, to, base ir.Reg, items func(x ir.Reg), begin func(x, before ir.Reg)) {
	w.while(ir.ULT, from.V(), to.V(), func() {
		i, x, word := w.word("i"), w.of("x", e.typ, 1), w.of("word", e.typ, 1)
		w.Op2(ir.Add, i, from.V(), tid.V())
		w.Mov(word, ir.K(0))
		w.when(ir.ULT, i.V(), to.V(), func() { w.Load(word, ir.AtIndex(at, i, e.bytes, 0), e.bytes, false) })
		w.Mov(x, word.V())
		items(x)
		before, total := w.blockScan(x, tid, lane, warps, 0)
		w.Op2(ir.Add, before, before.V(), base.V())
		w.Op2(ir.Add, base, base.V(), total.V())
		w.when(ir.ULT, i.V(), to.V(), func() {
			begin(word, before)
			w.Store(ir.AtIndex(at, i, e.bytes, 0), before.V(), e.bytes)
		})
		w.Op2(ir.Add, from, from.V(), ir.K(threads))
		w.Barrier() // shared memory is free again
	})
}

// Work is what a launch of an arrangement is about.
type Work struct {
	Ticket, Done device.Addr // words that are 0
	Items        int
	Counters     device.Addr
	Count        int         // of counters
	Sums         device.Addr // room for SumBytes
}

// partLeast is how many counters a block takes at least.
const partLeast = 8 * threads

// parts cuts counters into parts for blocks.
func (l *Library) parts(counters int) (n, size int) { return l.share(counters, partLeast) }

// SumBytes is how much room the sums of so many counters take.
func (l *Library) SumBytes(counters int) int {
	n, _ := l.parts(counters)
	return 8 * n
}

// Arrange queues a launch of an arrangement's kernel.
func (l *Library) Arrange(s device.Stream, f device.Function, k Work, own ...uint64) error {
	if err := check("arrange", max(k.Items, k.Count)); err != nil {
		return err
	}
	parts, size := l.parts(k.Count)
	blocks := max(1, min(max(parts, (k.Items+itemTile-1)/itemTile), blocksPerUnit*l.info.Units))
	return s.Launch(f, device.Shape{Blocks: blocks, Threads: threads}, append([]uint64{0, uint64(k.Ticket), uint64(k.Done), uint64(k.Items),
		uint64(k.Counters), uint64(k.Count), uint64(size), uint64(k.Sums), uint64(parts)}, own...)...)
}
