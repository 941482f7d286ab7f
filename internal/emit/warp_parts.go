package emit

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Rows that are written in parts (phys.Partition): those whose groups will lie in the same part of the table of groups side by side. The same kernel runs twice. First each block counts its rows
// of each part, in shared memory, and leaves the counts, which become places by a prefix sum: for each part, those of all blocks one after the other. Then each block, which has
// the same rows as before, takes places from there. So a row costs an atomic operation on shared memory each time, and none on what other blocks see; and what a block writes to a
// part is contiguous. Rows come there by way of a stage (warp_parts_stage.go), so that lanes side by side write side by side, mostly.

// partOf opens a register with the part of a row: what is next to each other in the table of groups is in one part. Whoever makes the groups finds the same table, mostly; if that
// has another size or another form, rows are in parts all the same, but those of one are further apart.
func (e *emitter) partOf(parts *pipe.Parts) ir.Reg {
	g := *parts.Group
	g.Aggs = nil // whose arguments Go may compute later
	keys := make([]code.Value, len(g.Keys))
	for i, x := range g.Keys {
		keys[i] = e.Eval(x)
	}
	void := e.f.Void
	gp := e.planGroups(&g, keys)
	e.f.Void = void // which is about what this pipeline writes
	for i := range keys {
		keys[i] = e.Reform(keys[i], gp.Tuple.Fields[i].Desc.Form)
	}
	part, count := ir.NoReg, int64(parts.Count)
	e.f.Parts = &PartPlan{Count: count}
	if gp.Mode == phys.ArrayGroups || gp.Mode == phys.DenseGroups {
		p := e.f.Parts
		p.Domains, p.Shift = gp.Domains, partShift(gp.Slots, count)
		if own := e.frame.(*warp).blockShift(parts, gp); own > 0 && (gp.Slots-1)>>own < phys.MostParts {
			p.Shift = own
		}
		p.Count = (gp.Slots-1)>>p.Shift + 1
		part = e.Int("part")
		e.arrayIndex(part, gp, keys)
		e.B.Op2(ir.Shr, part, part.V(), e.Fact(int64(p.Shift)))
	} else {
		part = e.groupHash(gp, keys)
		e.B.Op2(ir.Shr, part, part.V(), e.Fact(int64(partShift(hashSlots(gp.Expect), count))))
		e.B.Op2(ir.And, part, part.V(), e.Fact(count-1))
	}
	e.Free(keys...)
	return part
}

// partShift is how many bits of the number of one of so many slots do not tell its part.
func partShift(slots, parts int64) int {
	return max(bits.Len64(uint64(slots-1))-bits.Len64(uint64(parts-1)), 0)
}

// hashSlots is about how many slots a hash table has for so many groups, a power of two.
func hashSlots(groups int64) int64 { return 1 << bits.Len64(uint64(max(groups, 1<<12)*5/2)) }

// writeToPart counts a row, or takes it to its part: by way of the block's stage if there is one, else to the next place of the block there.
func (e *warp) writeToPart(t *layout.Tuple, r written) {
	parts := e.f.Parts.Count
	e.stageTuples(t.Size)
	e.takeShared(countsAt)
	e.insert(e.kernel, func() { e.beginParts(parts) })
	e.finally = func() { e.leaveCounts(parts) }
	e.B.Comment("the next place in its part")
	at, n := e.word("at"), e.word("n")
	e.B.Op1(ir.Narrow, at, r.part.V())
	e.B.Op2(ir.Shl, at, at.V(), ir.K(2))
	take := func() { e.B.Atom4(ir.AtomAdd, n, scratch(at, 0), ir.K(1), ir.Val{}) }
	counts := e.onlyCounts()
	if e.stage == nil {
		take()
		e.skip(ir.NE, counts.V(), ir.K(0))
	} else {
		e.When(ir.NE, counts.V(), ir.K(0), func() {
			take()
			e.skip(ir.Always, ir.K(0), ir.K(0))
		}, nil)
	}
	e.f.Counted = len(e.f.Reads)
	w := e.wordsOf(t, r.cols)
	place := func() {
		out, start := e.Int("out"), e.Int("start")
		e.B.Op2(ir.MulWU, out, n.V(), ir.K(int64(t.Size)))
		e.B.Load8(start, ir.At(ir.Ctx, layout.CtxCur))
		e.B.Op2(ir.Add, out, out.V(), start.V())
		e.B.Clear(start)
		w.store(func(off int) ir.Mem { return ir.At(out, off) })
		e.B.Clear(out)
	}
	switch {
	case e.stage == nil:
		place()
	case e.several(): // so that a thread may have more rows than there are cells for
		w.packAll()
		e.When(ir.ULT, e.stage.cell.V(), e.stage.cells.V(), func() { e.stageRow(at, n, w) }, func() {
			take()
			place()
		})
	default:
		e.stageRow(at, n, w)
	}
	w.close()
	e.B.Clear(at, r.part, counts, n)
}

// tupleWords are the words of a tuple, which are stored as a whole: of lanes that write to different places each store is an access of its own, however small it is.
type tupleWords struct {
	*warp
	words  [][]wordPart
	values []code.Value
	step   int      // how many are stored at a time
	packed []ir.Reg // the first of each step, if they have been packed; nil: they are when they are stored
}

// wordPart is a part of a word.
type wordPart struct {
	of           code.Value
	second, null bool // its second word, or whether it is NULL
	shift, width int  // bits
}

func (e *warp) wordsOf(t *layout.Tuple, cols []plan.ColID) *tupleWords {
	w := &tupleWords{warp: e, words: make([][]wordPart, t.Size/8), step: wordStep(t.Size)}
	put := func(off int, width uint8, x wordPart) {
		x.shift, x.width = off%8*8, int(width)*8
		w.words[off/8] = append(w.words[off/8], x)
	}
	for i, id := range cols {
		f, v := &t.Fields[i], e.Column(id)
		v = e.Reform(v.Borrowed(), f.Desc.Form)
		w.values = append(w.values, v)
		put(f.Off, f.Width, wordPart{of: v})
		if v.Two() {
			put(f.Off+8, 8, wordPart{of: v, second: true})
		}
		if f.Null >= 0 {
			put(f.Null, 1, wordPart{of: v, null: true})
		}
	}
	return w
}

// wordStep is how many words of tuples of so many bytes one access has.
func wordStep(size int) int {
	if size%16 == 0 {
		return 2
	}
	return 1
}

// pack opens registers with the words from number i on that are stored at a time, and returns the first.
func (w *tupleWords) pack(i int) ir.Reg {
	first := w.B.Vregs("word", ir.I64, w.step)
	for k := range w.step {
		word := first + ir.Reg(k)
		w.B.Mov(word, ir.K(0))
		for _, x := range w.words[i+k] {
			bits := w.Int("bits")
			switch {
			case x.null:
				w.B.Mov(bits, x.of.Null)
			case x.second:
				w.B.Mov(bits, x.of.B)
			case x.of.Desc.Form == layout.F64:
				w.B.Op1(ir.FBits, bits, x.of.A)
			default:
				w.B.Mov(bits, x.of.A)
			}
			if x.width < 64 {
				w.B.Op2(ir.And, bits, bits.V(), ir.K(1<<x.width-1))
				w.B.Op2(ir.Shl, bits, bits.V(), ir.K(int64(x.shift)))
			}
			w.B.Op2(ir.Or, word, word.V(), bits.V())
			w.B.Clear(bits)
		}
	}
	return first
}

// packAll packs them now, for whoever stores them under a condition.
func (w *tupleWords) packAll() {
	for i := 0; i < len(w.words); i += w.step {
		w.packed = append(w.packed, w.pack(i))
	}
}

// store fills the tuple whose bytes from an offset on lie at at(offset).
func (w *tupleWords) store(at func(off int) ir.Mem) {
	for i := 0; i < len(w.words); i += w.step {
		if w.packed != nil {
			w.storeStep(at(8*i), w.packed[i/w.step], w.step)
			continue
		}
		first := w.pack(i)
		w.storeStep(at(8*i), first, w.step)
		w.clearStep(first, w.step)
	}
}

func (e *warp) storeStep(at ir.Mem, first ir.Reg, step int) {
	if step == 2 {
		e.B.StoreN(ir.Plain, at, first, 2, 8)
	} else {
		e.B.Store(at, first.V(), 8)
	}
}

func (e *warp) loadStep(at ir.Mem, first ir.Reg, step int) {
	if step == 2 {
		e.B.LoadN(ir.Plain, first, 2, at, 8)
	} else {
		e.B.Load8(first, at)
	}
}

func (e *warp) clearStep(first ir.Reg, step int) {
	for k := range step {
		e.B.Clear(first + ir.Reg(k))
	}
}

func (w *tupleWords) close() {
	for _, first := range w.packed {
		w.clearStep(first, w.step)
	}
	for _, v := range w.values {
		v.Null, v.OwnNull = ir.K(0), false // the column's
		w.Free(v)
	}
}

// onlyCounts opens a register that is 1 where rows are only counted.
func (e *warp) onlyCounts() ir.Reg {
	counts := e.Int("counts")
	e.B.Load8(counts, ir.At(ir.Ctx, layout.CtxCounts))
	return counts
}

// beginParts gives a block its first place in each part, or 0 if it counts.
func (e *warp) beginParts(parts int64) {
	e.B.Comment("the block's first place in each part; 0 if it counts")
	e.clearStage(parts)
	counts := e.onlyCounts()
	e.eachPart(parts, func(part ir.Reg, place ir.Mem) {
		x := e.word("x")
		e.B.Mov(x, ir.K(0))
		e.When(ir.EQ, counts.V(), ir.K(0), func() { e.B.Load(x, place, 4, false) }, nil)
		e.B.Store(scratch(part, 0), x.V(), 4)
		e.B.Clear(x)
	})
	e.B.Clear(counts)
	e.B.Barrier()
}

// leaveCounts leaves what a block has counted.
func (e *warp) leaveCounts(parts int64) {
	e.B.Barrier()
	counts := e.onlyCounts()
	if e.stage != nil {
		e.When(ir.EQ, counts.V(), ir.K(0), func() { e.writeStage(parts) }, nil)
	}
	e.When(ir.NE, counts.V(), ir.K(0), func() {
		e.B.Comment("rows of the block in each part")
		e.eachPart(parts, func(part ir.Reg, place ir.Mem) {
			x := e.word("x")
			e.B.Load(x, scratch(part, 0), 4, false)
			e.B.Store(place, x.V(), 4)
			e.B.Clear(x)
		})
	}, nil)
	e.B.Clear(counts)
}

// eachPart lets the threads of a block go through the parts: part is the address of its word in shared memory, place that of the block's word for it.
func (e *warp) eachPart(parts int64, f func(part ir.Reg, place ir.Mem)) {
	part, step, end := e.word("part"), e.word("step"), e.word("end")
	places, at, blocks := e.Int("places"), e.Int("at"), e.Int("blocks")
	e.B.Special(part, ir.ThreadID)
	e.B.Special(step, ir.BlockDim)
	e.B.Op1(ir.Narrow, end, e.Fact(parts))
	e.B.Load8(places, ir.At(ir.Ctx, layout.CtxPlaces))
	e.B.Special(at, ir.BlockID)
	e.B.Op2(ir.Shl, at, at.V(), ir.K(2))
	e.B.Op2(ir.Add, places, places.V(), at.V())
	e.B.Special(blocks, ir.GridDim)
	e.Loop(func(l int32) {
		e.B.Break(l, ir.UGE, part.V(), end.V())
		word := e.word("word")
		e.B.Op1(ir.WidenU, at, part.V())
		e.B.Op2(ir.Mul, at, at.V(), blocks.V())
		e.B.Op2(ir.Shl, word, part.V(), ir.K(2))
		f(word, ir.AtIndex(places, at, 4, 0))
		e.B.Clear(word)
		e.B.Op2(ir.Add, part, part.V(), step.V())
	})
	e.B.Clear(part, step, end, places, at, blocks)
}
