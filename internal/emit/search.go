package emit

import (
	"github.com/kelpiedb/kelpie/internal/column"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scanned"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// A flat search. Lanes that search a text each read from 32 places of memory at a time, and wait for the lane with the longest text. But long texts of a column lie
// one behind the other, in the order of their rows. So a warp takes 256 rows, and reads all that lies between the first byte of their texts and the last, side by side:
//
//	where the rows' texts begin goes to the warp's memory
//	loop {
//	    loop until 32 places are known, or all bytes were looked at {
//	        places of two letters of the pattern's first word, of 32 bytes of each lane, go to a list
//	    }
//	    each lane takes a place: if the word stands there, the row is looked for whose text that is,
//	    and what follows in this text is compared with the rest of the pattern
//	}
//	a bit for each row
//
// Texts that are short lie in their descriptors; their lanes search them.

const (
	// searchRows is how many rows a lane brings, searchTile how many a warp has, of which these many lanes have a word of bits.
	searchRows  = 8
	searchTile  = searchRows * layout.WarpLanes
	searchLanes = 32 / searchRows
	// searchBytes is what a lane reads at a time, twice: once where the warp is, and once where it is then.
	searchBytes = 16
	searchStep  = searchBytes * layout.WarpLanes
	// The warp's memory: where texts begin, the list of places, and a bit for each row.
	searchList = 8 * searchTile
	searchBits = searchList + 8*2*layout.WarpLanes
	searchSize = searchBits + searchTile/8
)

// SearchPad is how many rows more than there are a search leaves bits for.
const SearchPad = searchTile

// TextSearch is a search to write code for.
type TextSearch struct {
	*pipe.Search
	Scan  *plan.Scan    // of the text's column alone, all chunks of which have descriptors of their own
	Shape scanned.Shape // of that, as one array
}

// FlatWord is the word that a flat search for a pattern looks for; "": there can be none.
func FlatWord(pattern string) string {
	f, _ := text.FlatPattern(pattern)
	return f.Word
}

// Search writes the function of a flat search over the rows of a column, which leaves a bit for each of them where layout.CtxCur says. Of the request, which has no
// pipeline, only what all functions have counts; its target is one with warps.
func Search(req Request, s TextSearch) (frag *Fragment, err error) {
	defer recovered(req.Name, &err)
	e := newEmitter(req)
	e.table = &scanned.Table{Emitter: &e.Emitter, Scan: s.Scan, Shapes: []scanned.Shape{s.Shape}}
	f, _ := text.FlatPattern(s.Pattern)
	x := &flatSearch{warp: e.frame.(*warp), s: s, f: f}
	x.write()
	return e.fragment(), nil
}

// flatSearch is a search whose code is being written.
type flatSearch struct {
	*warp
	s TextSearch
	f text.Flat

	own    ir.Reg // the first of the lane's rows
	first  ir.Reg // … and of the warp's
	memory ir.Reg // where that of the warp is
	lo, hi ir.Reg // addresses between which the texts lie
}

// at is a place in the warp's memory, index so many bytes each.
func (x *flatSearch) at(off int, index ir.Reg, scale int) ir.Mem {
	return ir.Mem{Base: x.memory, Index: index, Scale: uint8(scale), Disp: int32(off), Space: ir.Dynamic}
}

func (x *flatSearch) write() {
	x.Say("flat search", func(n plan.Names) string { return n.Expr(x.Ref(x.s.Col)) })
	x.warp.f.WarpBytes = searchSize
	i, n, step := x.openRows(searchRows)
	x.own, x.first, x.lo, x.hi = i, x.Int("first"), x.Int("low"), x.Int("high")
	x.memory = x.warpMemory("memory", ir.I32, nil)
	x.B.Op2(ir.Shfl, x.first, i.V(), ir.K(0))
	x.Loop(func(l int32) {
		x.B.Break(l, ir.GE, x.first.V(), n.V())
		x.begins()
		x.candidates()
		x.bits()
		x.B.Op2(ir.Add, i, i.V(), step.V())
		x.B.Op2(ir.Add, x.first, x.first.V(), step.V())
	})
	x.B.Clear(x.first, x.lo, x.hi)
	x.closeRows(i, n, step)
}

// begins finds out where the texts of the warp's rows lie, and searches those that are short.
func (x *flatSearch) begins() {
	x.Say("where texts begin", func(plan.Names) string { return "" })
	const nowhere = 1 << 62 // behind all texts, and far enough from the end of numbers to read on from
	starts := x.B.Vregs("start", ir.I64, searchRows)
	row, t := x.Int("row"), x.Int("t")
	x.B.Mov(x.hi, ir.K(0))
	for k := range ir.Reg(searchRows) {
		x.Block(func() {
			x.B.Op2(ir.Add, row, x.own.V(), ir.K(int64(k)))
			v := x.table.Load(0, row)
			x.B.Op2(ir.Add, t, v.A, v.B)
			x.B.Sel(t, ir.UGT, v.B, ir.K(column.StrInline), t.V(), x.hi.V())
			x.B.Sel(x.hi, ir.UGT, t.V(), x.hi.V(), t.V(), x.hi.V())
			x.B.Sel(starts+k, ir.UGT, v.B, ir.K(column.StrInline), v.A, ir.K(nowhere))
			x.Free(v)
		})
	}
	// A row without a long text begins where the next one does, so that places in that are not taken for its own.
	next := x.Int("next")
	x.B.Mov(next, ir.K(nowhere))
	for k := range ir.Reg(searchRows) {
		x.B.Sel(next, ir.LT, (starts + k).V(), next.V(), (starts + k).V(), next.V())
	}
	for d := int64(1); d < layout.WarpLanes; d *= 2 {
		x.B.Op2(ir.ShflDown, t, next.V(), ir.K(d))
		x.B.Sel(next, ir.LT, t.V(), next.V(), t.V(), next.V())
		x.B.Op2(ir.ShflXor, t, x.hi.V(), ir.K(d))
		x.B.Sel(x.hi, ir.GT, t.V(), x.hi.V(), t.V(), x.hi.V())
	}
	x.B.Op2(ir.Shfl, x.lo, next.V(), ir.K(0))
	x.B.Op2(ir.ShflDown, next, next.V(), ir.K(1))
	x.B.Sel(next, ir.EQ, x.lane.V(), ir.K(layout.WarpLanes-1), ir.K(nowhere), next.V())
	mine, w := x.word("mine"), x.word("lane")
	x.B.Op1(ir.Narrow, w, x.lane.V())
	x.B.Op2(ir.Mul, mine, w.V(), ir.K(8*searchRows))
	for k := searchRows - 1; k >= 0; k-- {
		r := starts + ir.Reg(k)
		x.B.Sel(next, ir.LT, r.V(), next.V(), r.V(), next.V())
		x.B.Store(x.at(8*k, mine, 1), next.V(), 8)
	}
	x.When(ir.ULT, w.V(), ir.K(searchTile/32), func() { x.B.Store(x.at(searchBits, w, 4), ir.K(0), 4) }, nil)
	x.B.Sync()
	x.B.Clear(next, mine, w, row, t)
	for k := range ir.Reg(searchRows) {
		x.B.Clear(starts + k)
	}
	if x.s.Shape.Bits == 0 && x.f.Least() <= column.StrInline {
		x.short()
	}
}

// short searches the texts of the lane's rows that lie in their descriptors.
func (x *flatSearch) short() {
	x.B.Comment("short texts")
	k, row, r := x.Int("k"), x.Int("row"), x.word("r")
	x.B.Mov(k, ir.K(0))
	x.Loop(func(l int32) {
		x.B.Break(l, ir.GE, k.V(), ir.K(searchRows))
		x.B.Op2(ir.Add, row, x.own.V(), k.V())
		v := x.table.Load(0, row)
		x.When(ir.ULE, v.B, ir.K(column.StrInline), func() {
			m := text.Like(&x.Emitter, v.Borrowed(), x.s.Pattern, x.s.Pos)
			x.When(ir.NE, m.A, ir.K(0), func() {
				x.B.Op2(ir.Sub, row, row.V(), x.first.V())
				x.B.Op1(ir.Narrow, r, row.V())
				x.found(r)
			}, nil)
			x.Free(m)
		}, nil)
		x.Free(v)
		x.B.Op2(ir.Add, k, k.V(), ir.K(1))
	})
	x.B.Clear(k, row, r)
}

// found takes note that a row of the warp matches; r is used up.
func (x *flatSearch) found(r ir.Reg) {
	bit, old := x.word("bit"), x.word("old")
	x.B.Op2(ir.Shl, bit, ir.K(1), r.V())
	x.B.Op2(ir.Shr, r, r.V(), ir.K(5))
	x.B.Atom4(ir.AtomOr, old, x.at(searchBits, r, 4), bit.V(), ir.Val{})
	x.B.Clear(bit, old)
}

// candidates looks at all bytes, and verifies places 32 at a time.
func (x *flatSearch) candidates() {
	base, from, at, mask, kept := x.Int("base"), x.Int("from"), x.Int("at"), x.word("mask"), x.word("kept")
	below, t := x.word("below"), x.word("t")
	x.B.Special(below, ir.LanesBelow)
	x.B.Op2(ir.And, base, x.lo.V(), ir.K(^(searchBytes - 1)))
	x.B.Op2(ir.Shl, at, x.lane.V(), ir.K(4))
	x.B.Op2(ir.Add, from, base.V(), at.V())
	x.B.Mov(at, from.V())
	x.B.Mov(mask, ir.K(0))
	x.B.Mov(kept, ir.K(0))
	x.Loop(func(work int32) {
		x.Loop(func(fill int32) {
			x.B.Break(fill, ir.UGE, kept.V(), ir.K(layout.WarpLanes))
			any, count := x.word("any"), x.word("count")
			x.B.Op1(ir.Ballot, any, mask.V())
			x.When(ir.EQ, any.V(), ir.K(0), func() {
				x.B.Set(t, ir.LT, from.V(), x.hi.V())
				x.B.Op1(ir.Ballot, count, t.V())
				x.B.Break(fill, ir.EQ, count.V(), ir.K(0))
				x.B.Mov(at, from.V())
				x.pairs(mask, at, base)
				x.B.Op2(ir.Add, from, from.V(), ir.K(2*searchStep))
				x.B.Continue(fill, ir.Always, ir.K(0), ir.K(0))
			}, nil)
			x.B.Op2(ir.And, count, any.V(), below.V())
			x.B.Op1(ir.Popcnt, count, count.V())
			x.B.Op2(ir.Add, count, count.V(), kept.V())
			x.When(ir.NE, mask.V(), ir.K(0), func() { x.list(count, mask, at) }, nil)
			x.B.Op1(ir.Popcnt, count, any.V())
			x.B.Op2(ir.Add, kept, kept.V(), count.V())
			x.B.Clear(any, count)
		})
		x.B.Break(work, ir.EQ, kept.V(), ir.K(0))
		x.B.Comment("the last 32 places")
		x.B.Sync()
		x.B.Special(t, ir.LaneID)
		x.B.Op2(ir.Sub, kept, kept.V(), ir.K(layout.WarpLanes))
		x.B.Op2(ir.Add, t, t.V(), kept.V())
		// Where there are fewer, lanes whose place would be before the first have none.
		x.When(ir.GE, t.V(), ir.K(0), func() { x.verify(t) }, nil)
		x.B.Sel(kept, ir.LT, kept.V(), ir.K(0), ir.K(0), kept.V())
		x.B.Sync()
	})
	x.B.Clear(base, from, at, mask, kept, below, t)
}

// pairs sets the mask to the places in 16 bytes from at on, and in as many a step further, where the two letters stand. Byte b of word w, of eight, is bit 8b + w. Lanes for which there is
// nothing read what is at base: all come by, because the letter behind a lane's last byte is the next lane's first.
func (x *flatSearch) pairs(mask, at, base ir.Reg) {
	const words = searchBytes / 4
	_, first, second, both := x.f.Pair()
	letter, other, edge := x.factWord(fourOf(first)), ir.NoReg, ir.NoReg
	if both {
		other, edge = x.factWord(fourOf(second)), x.word("edge")
		x.B.Special(edge, ir.LaneID) // behind the last lane's bytes anything can come
		x.B.Sel(edge, ir.EQ, edge.V(), ir.K(layout.WarpLanes-1), ir.K(-1<<24), ir.K(0))
	}
	x.B.Mov(mask, ir.K(0))
	from, t, u := x.Int("from"), x.word("t"), x.word("u")
	var w, there [2]ir.Reg
	for k := range w { // both are read before either is waited for
		there[k], w[k] = x.word("there"), x.B.Vregs("bytes", ir.I32, words)
		x.B.Op2(ir.Add, from, at.V(), ir.K(int64(k*searchStep)))
		x.B.Sel(there[k], ir.LT, from.V(), x.hi.V(), ir.K(-1), ir.K(0))
		x.B.Sel(from, ir.NE, there[k].V(), ir.K(0), from.V(), base.V())
		x.B.LoadN(ir.ReadOnly, w[k], words, ir.At(from, 0), 4)
	}
	for k := range w {
		var is [words + 1]ir.Reg // whether the second letter stands in a word, and in the next lane's first
		if both {
			for j := range words {
				is[j] = x.word("is")
				text.HasByte(x.B, is[j], w[k]+ir.Reg(j), other.V(), fourOf(1))
			}
			is[words] = x.word("is")
			x.B.Op2(ir.ShflDown, is[words], is[0].V(), ir.K(1))
		}
		all := x.word("all")
		x.B.Mov(all, ir.K(0))
		for j := range words {
			text.HasByte(x.B, t, w[k]+ir.Reg(j), letter.V(), fourOf(1))
			if both {
				x.B.Op2(ir.Shr, is[j], is[j].V(), ir.K(8))
				x.B.Op2(ir.Shl, u, is[j+1].V(), ir.K(24))
				x.B.Op2(ir.Or, u, u.V(), is[j].V())
				if j == words-1 {
					x.B.Op2(ir.Or, u, u.V(), edge.V())
				}
				x.B.Op2(ir.And, t, t.V(), u.V())
			}
			x.B.Op2(ir.And, t, t.V(), ir.K(-0x7f7f7f80))
			x.B.Op2(ir.Shr, t, t.V(), ir.K(int64(7-words*k-j)))
			x.B.Op2(ir.Or, all, all.V(), t.V())
		}
		x.B.Op2(ir.And, all, all.V(), there[k].V())
		x.B.Op2(ir.Or, mask, mask.V(), all.V())
		x.B.Clear(all)
		if both {
			x.B.Clear(is[:]...)
		}
	}
	x.B.Clear(from, t, u)
	if both {
		x.B.Clear(edge)
	}
	for k := range w {
		x.B.Clear(there[k])
		for j := range ir.Reg(words) {
			x.B.Clear(w[k] + j)
		}
	}
}

// fourOf is a number of 32 bits with the same byte four times.
func fourOf(b byte) int64 { return int64(int32(uint32(b) * 0x01010101)) }

// list puts the address of a mask's lowest place into the list.
func (x *flatSearch) list(place, mask, at ir.Reg) {
	bit, t, u, a := x.word("bit"), x.word("t"), x.word("u"), x.Int("place")
	x.B.Op1(ir.Ctz, bit, mask.V())
	x.B.Op2(ir.Sub, t, mask.V(), ir.K(1))
	x.B.Op2(ir.And, mask, mask.V(), t.V())
	x.B.Op2(ir.Shr, t, bit.V(), ir.K(3)) // the byte
	x.B.Op2(ir.And, u, bit.V(), ir.K(7)) // the word
	x.B.Op2(ir.Shl, u, u.V(), ir.K(2))
	x.B.Op2(ir.Add, t, t.V(), u.V())
	x.B.Op2(ir.Add, u, t.V(), ir.K(searchStep-searchBytes))
	x.B.Sel(t, ir.UGE, t.V(), ir.K(searchBytes), u.V(), t.V())
	x.B.Op1(ir.WidenU, a, t.V())
	x.B.Op2(ir.Add, a, a.V(), at.V())
	x.B.Store(x.at(searchList, place, 8), a.V(), 8)
	x.B.Clear(bit, t, u, a)
}

// verify looks at the place that has such a number in the list: whether the word stands there, in one text, and the rest of the pattern behind it.
func (x *flatSearch) verify(number ir.Reg) {
	k, _, _, _ := x.f.Pair()
	size, off := x.Fact(int64(len(x.f.Word))), x.Fact(int64(k))
	once := x.B.Loop()
	x.Block(func() {
		p, end := x.Int("place"), x.Int("end")
		x.B.Load8(p, x.at(searchList, number, 8))
		x.B.Op2(ir.Sub, p, p.V(), off)
		x.B.Op2(ir.Add, end, p.V(), size)
		x.B.Break(once, ir.LT, p.V(), x.lo.V())
		x.B.Break(once, ir.GT, end.V(), x.hi.V())
		m := x.f.Is(&x.Emitter, p)
		x.B.Break(once, ir.EQ, m.V(), ir.K(0))
		x.B.Clear(m)
		x.B.Comment("the last row that begins before it")
		r, s, start, row := x.word("r"), x.word("s"), x.Int("start"), x.Int("row")
		x.B.Mov(r, ir.K(0))
		for d := int64(searchTile / 2); d > 0; d /= 2 {
			x.B.Op2(ir.Add, s, r.V(), ir.K(d))
			x.B.Load8(start, x.at(0, s, 8))
			x.B.Sel(r, ir.LE, start.V(), p.V(), s.V(), r.V())
		}
		x.B.Op1(ir.WidenU, row, r.V())
		x.B.Op2(ir.Add, row, row.V(), x.first.V())
		v := x.table.Load(0, row)
		stop := x.Int("stop")
		x.B.Op2(ir.Add, stop, v.A, v.B)
		x.Free(v)
		x.B.Break(once, ir.GT, end.V(), stop.V())
		m = x.f.Rest(&x.Emitter, end, stop)
		x.When(ir.NE, m.V(), ir.K(0), func() { x.found(r) }, nil)
		x.B.Clear(m, stop, r, s, start, row, p, end)
	})
	x.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
}

// bits writes the bits of the warp's rows: each lane has those of its own, and several lanes a word.
func (x *flatSearch) bits() {
	x.B.Comment("bits")
	x.B.Sync()
	shift, bits, t := x.word("shift"), x.word("bits"), x.word("t")
	x.B.Special(shift, ir.LaneID)
	x.B.Op2(ir.Mul, shift, shift.V(), ir.K(searchRows))
	x.B.Op2(ir.Shr, t, shift.V(), ir.K(5))
	x.B.Load(bits, x.at(searchBits, t, 4), 4, false)
	x.B.Op2(ir.And, shift, shift.V(), ir.K(31))
	if x.s.Not {
		x.B.Op1(ir.Not, bits, bits.V())
	}
	if x.s.Shape.Nulls {
		nulls := x.LoadWord("nulls", code.Word{Kind: code.WordNull})
		mask, k := x.word("nulls"), x.word("null")
		x.B.Mov(mask, ir.K(0))
		for i := range searchRows {
			x.B.Load(k, ir.AtIndex(nulls, x.own, 1, i), 1, false)
			x.B.Op2(ir.Shl, k, k.V(), ir.K(int64(i)))
			x.B.Op2(ir.Or, mask, mask.V(), k.V())
		}
		x.B.Op2(ir.Shl, mask, mask.V(), shift.V())
		for d := int64(1); d < searchLanes; d *= 2 {
			x.B.Op2(ir.ShflXor, k, mask.V(), ir.K(d))
			x.B.Op2(ir.Or, mask, mask.V(), k.V())
		}
		x.B.Op1(ir.Not, mask, mask.V())
		x.B.Op2(ir.And, bits, bits.V(), mask.V())
		x.B.Clear(mask, k, nulls)
	}
	x.When(ir.EQ, shift.V(), ir.K(0), func() {
		out, place := x.Int("out"), x.Int("place")
		x.B.Load8(out, ir.At(ir.Ctx, layout.CtxCur))
		x.B.Op2(ir.Shr, place, x.own.V(), ir.K(3))
		x.B.Store(ir.AtIndex(out, place, 1, 0), bits.V(), 4)
		x.B.Clear(out, place)
	}, nil)
	x.B.Clear(shift, bits, t)
	x.B.Sync() // the next rows need the memory
}
