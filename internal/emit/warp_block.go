package emit

import (
	"math"
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// Few groups are kept by each block in its shared memory, and added to the array of all blocks when it has no rows left. A row
// costs some atomics on cells of 4 bytes there, which are several times as fast as those of 8: a number of more bits is
// several cells, and one that overflows carries into the next. Several copies of the cells, by lane, keep lanes that
// meet in one group from waiting for each other.

// blockGroups is how a block keeps the slots of an array. Cells of one kind lie together, those of a slot's copies side by
// side: cell j of copy c of slot s is at offset j + 4*(s*copies+c).
type blockGroups struct {
	gp     *GroupPlan
	group  *plan.Group
	slots  int64 // that there is room for: no less than there are
	copies int64
	aggs   map[*layout.Field]*blockAgg
	order  []*blockAgg
	seen   int // offset of cells that tell which slots have rows
	// seenBy is an aggregate that tells it as well, being 0 without rows only; nil: none does.
	seenBy *blockAgg
	bytes  int
	how    phys.Block
	lane   ir.Reg   // per kernel: what the lane adds to the offset of its copy
	at     ir.Reg   // the row's copy of its slot
	later  []func() // what comes after the row's first atomics
	inside int      // conditions under which a value is added
	// cached: slots are those of a cache, see warp_cache.go; names is the offset of cells that tell whose they are.
	cached bool
	names  int
	space  ir.Space // where cells are
}

// blockAgg is an aggregate in a block: 1 to 4 cells, or one of 8 bytes.
type blockAgg struct {
	a    plan.Agg
	f    *layout.Field
	fn   plan.AggFunc // Sum (also of counts), Min, Max, BoolAnd or BoolOr
	kind cellKind
	off  []int        // of each cell
	has  int          // offset of cells that tell whether there is a value; -1: there always is one
	arg  layout.Range // of what is added
	// always: every row adds a number above 0.
	always bool
}

type cellKind uint8

const (
	wordCells cellKind = iota // cells of 4 bytes
	longCell                  // one of 8 bytes
	floatCell                 // likewise
)

// blockArray is how the groups can be kept by a block; nil if they cannot.
func (e *warp) blockArray(g *plan.Group, gp *GroupPlan) *blockGroups {
	if gp.Mode != phys.ArrayGroups {
		return nil
	}
	b, words, longs := e.blockCells(g, gp)
	if b == nil {
		return nil
	}
	if b.seenBy == nil {
		words++
	}
	how := phys.ChooseBlock(gp.Slots, 4*words+8*longs)
	if how.Copies == 0 {
		return nil
	}
	// A copy sees the rows of few lanes, so that its sums may need less, which may give room for more copies.
	rows := e.rowsOfCopy(how.Copies)
	for _, x := range b.order {
		if x.fn == plan.Sum && x.kind == wordCells {
			words -= int64(len(x.off))
			x.off = make([]int, cellsFor(x.total(rows)))
			words += int64(len(x.off))
		}
	}
	how = phys.ChooseBlock(gp.Slots, 4*words+8*longs)
	b.copies, b.slots, b.how = how.Copies, how.Slots, how
	b.place()
	return b
}

// blockCells finds the cells that a slot needs: so many of 4 bytes and so many of 8; nil: some aggregate has none.
func (e *warp) blockCells(g *plan.Group, gp *GroupPlan) (b *blockGroups, words, longs int64) {
	b = &blockGroups{gp: gp, group: g, aggs: map[*layout.Field]*blockAgg{}, space: ir.Shared}
	made := false
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		if firstOnly(a, f) {
			made = true
			continue
		}
		x := e.newBlockAgg(a, f)
		if x == nil {
			return nil, 0, 0
		}
		b.aggs[f] = x
		b.order = append(b.order, x)
		if x.kind == wordCells {
			words += int64(len(x.off))
		} else {
			longs++
		}
		if x.has >= 0 {
			words++
		}
		if x.always {
			b.seenBy = x
		}
	}
	if made {
		b.seenBy = nil
	}
	return b, words, longs
}

// newBlockAgg is the cells of an aggregate; nil if it has none.
func (e *warp) newBlockAgg(a plan.Agg, f *layout.Field) *blockAgg {
	x := &blockAgg{a: a, f: f, fn: a.Func, has: -1, off: []int{0}}
	if f.Null >= 0 {
		x.has = 0
	}
	switch a.Func {
	case plan.Count, plan.CountStar:
		x.fn, x.arg = plan.Sum, layout.Between(0, 1)
		x.always = a.Func == plan.CountStar && a.Filter == nil
	case plan.Sum, plan.Min, plan.Max, plan.BoolAnd, plan.BoolOr:
		d := e.Describe(a.Arg)
		if f.Desc.Form == layout.F64 {
			x.kind = floatCell
			return x
		}
		if d.Form != layout.I64 && d.Form != layout.I128 || f.Desc.Form != layout.I64 && f.Desc.Form != layout.I128 {
			return nil
		}
		x.arg = d.Range
		x.always = a.Func == plan.Sum && a.Filter == nil && !d.Nullable && x.has < 0 && d.Range.Known && d.Range.Lo.Sign() > 0
	default:
		return nil
	}
	if x.fn != plan.Sum {
		switch {
		case f.Desc.Form != layout.I64:
			return nil
		case !x.arg.Within(layout.Between(math.MinInt32+1, math.MaxInt32-1)): // those are neutral
			x.kind = longCell
		}
		return x
	}
	all := x.total(e.maxRows)
	if !x.arg.Known || !all.Known {
		return nil
	}
	x.off = make([]int, cellsFor(all))
	return x
}

// total is what so many rows add up to.
func (x *blockAgg) total(rows layout.Range) layout.Range {
	return x.arg.Mul(rows).Union(layout.Between(0, 0))
}

// evenRows is the number of rows from which on no lane of a warp takes twice as many of a source as another: it takes at most 8 at a time.
const evenRows = 8 * 32

// rowsOfCopy bounds the rows that come to one of so many copies: each is for the lanes of its number, and lanes take rows in turns. Matches of
// a join may be any lane's, and so may rows of a list.
func (e *warp) rowsOfCopy(copies int64) layout.Range {
	if e.guard.inner || e.Queue.Pieces || e.f.How.Refill == phys.RefillList || e.Rows < evenRows || copies == 1 || !e.maxRows.Fits64() {
		return e.maxRows
	}
	most := int64(e.maxRows.Hi.Lo)
	return layout.Between(0, min(most, most/copies*2+2))
}

// cellsFor is how many cells hold every number of a range, with a sign.
func cellsFor(r layout.Range) int {
	n := 1
	for _, x := range [2]struct {
		lo uint64
		hi int64
	}{{r.Lo.Lo, r.Lo.Hi}, {r.Hi.Lo, r.Hi.Hi}} {
		if x.hi < 0 {
			x.lo, x.hi = ^x.lo, ^x.hi
		}
		width := bits.Len64(x.lo)
		if x.hi != 0 {
			width = 64 + bits.Len64(uint64(x.hi))
		}
		n = max(n, width/32+1)
	}
	return n
}

// place gives all cells their offsets, those of 8 bytes first.
func (b *blockGroups) place() {
	n := int(b.slots * b.copies)
	take := func(size int) (off int) {
		off = b.bytes
		b.bytes += size * n
		return off
	}
	if b.cached {
		b.names = take(8)
	}
	for _, x := range b.order {
		if x.kind != wordCells {
			x.off[0] = take(8)
		}
	}
	for _, x := range b.order {
		if x.kind == wordCells {
			for k := range x.off {
				x.off[k] = take(4)
			}
		}
		if x.has >= 0 {
			x.has = take(4)
		}
	}
	if b.seenBy == nil && !b.cached {
		b.seen = take(4)
	}
}

// aggregateInBlock makes the group of a row if it is not there, and adds the row to it.
func (e *warp) aggregateInBlock(b *blockGroups, keys []code.Value) {
	e.makeInBlock(b, keys)
	for _, x := range b.order {
		e.aggregate(ir.NoReg, x.f, x.a)
	}
	for _, f := range b.later {
		f()
	}
	e.B.Clear(b.at)
	e.arrive(nil)
}

// addToBlock adds the row to its group in the block's memory.
func (e *warp) addToBlock(b *blockGroups, keys []code.Value) {
	e.block, e.f.How.Block = b, b.how
	e.B.F.SharedBytes = b.bytes
	e.clearBlock(b, b.copies, 4)
	b.at = e.blockOffset(b, keys)
	e.aggregateInBlock(b, keys)
	e.finally = func() { e.flushBlock(b) }
}

// blockOffset opens a register with the offset of the lane's copy of a row's slot, as cells of 4 bytes have it.
func (e *warp) blockOffset(b *blockGroups, keys []code.Value) ir.Reg {
	strides := b.gp.strides()
	own := int64(0) // what constants and the beginnings of domains add
	at := e.word("slot")
	e.B.Mov(at, b.lane.V())
	for i, d := range b.gp.Domains {
		step := strides[i] * 4 * b.copies
		own -= d.Lo * step
		if keys[i].A.IsImm() && keys[i].Never() {
			own += keys[i].A.Imm * step
			continue
		}
		k := e.asWord("k", keys[i].A)
		if d.Null && !keys[i].Never() {
			null := e.asWord("null", keys[i].Null)
			e.B.Sel(k, ir.NE, null.V(), ir.K(0), e.factWord(d.Lo+d.Span).V(), k.V())
			e.B.Clear(null)
		}
		far := e.word("k")
		e.B.Op2(ir.Mul, far, k.V(), e.factWord(step).V())
		e.B.Op2(ir.Add, at, at.V(), far.V())
		e.B.Clear(k, far)
	}
	first := e.factWord(own)
	e.insert(e.kernel, func() { e.B.Op2(ir.Add, b.lane, b.lane.V(), first.V()) }) // once, with what the lane adds
	return at
}

// strides is by how much the slot's number grows with each key.
func (gp *GroupPlan) strides() []int64 {
	out := make([]int64, len(gp.Domains))
	n := int64(1)
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = n
		n *= gp.Domains[i].Size()
	}
	return out
}

// makeInBlock notes that the slot has rows. What only the first row brings goes straight to the array of all blocks.
func (e *warp) makeInBlock(b *blockGroups, keys []code.Value) {
	var firsts []int
	for i, a := range b.group.Aggs {
		if firstOnly(a, &b.gp.Tuple.Fields[len(keys)+i]) {
			firsts = append(firsts, i)
		}
	}
	if len(firsts) == 0 {
		if b.seenBy == nil {
			e.B.Store(b.cell(b.seen), ir.K(1), 4)
		}
		return
	}
	old := e.word("seen")
	e.B.Load(old, b.cell(b.seen), 4, false)
	e.When(ir.EQ, old.V(), ir.K(0), func() {
		p := e.Int("group")
		e.arrayIndex(p, b.gp, keys)
		e.arrayAt(p, b.gp)
		for _, i := range firsts {
			v := e.first(i)
			e.storeField(p, &b.gp.Tuple.Fields[len(keys)+i], v)
			e.Free(v)
		}
		e.B.Store(b.cell(b.seen), ir.K(1), 4)
		e.B.Clear(p)
	}, nil)
	e.B.Clear(old)
}

// cell is a cell of the row's slot.
func (b *blockGroups) cell(off int) ir.Mem {
	return ir.Mem{Base: b.at, Index: ir.NoReg, Scale: 1, Disp: int32(off), Space: b.space}
}

// long is a cell of 8 bytes: they lie twice as far from each other.
func (b *blockGroups) long(off int) ir.Mem {
	return ir.Mem{Base: b.at, Index: b.at, Scale: 1, Disp: int32(off), Space: b.space}
}

// addToCells takes a value into the cells of its aggregate.
func (e *warp) addToCells(b *blockGroups, x *blockAgg, v code.Value) {
	if !v.Never() {
		b.inside++
		e.When(ir.EQ, v.Null, ir.K(0), func() { e.addToCells(b, x, v.Borrowed().WithNull(ir.K(0), false)) }, nil)
		b.inside--
		return
	}
	switch {
	case x.kind == floatCell && x.fn == plan.Sum:
		w := e.Reform(v.Borrowed(), layout.F64)
		e.addFloat(b.long(x.off[0]), x.f.Desc.Type, w.A.R)
		e.Free(w)
	case x.kind == floatCell:
		e.putFloat(b.long(x.off[0]), &share{fn: x.fn, f: x.f, v: v})
	case x.kind == longCell:
		old := e.Int("old")
		e.B.Atom(x.atomic(), old, b.long(x.off[0]), v.A, ir.Val{})
		e.B.Clear(old)
	case x.fn != plan.Sum:
		w, old := e.asWord(x.f.Name, v.A), e.word("old")
		e.B.Atom4(x.atomic(), old, b.cell(x.off[0]), w.V(), ir.Val{})
		e.B.Clear(w, old)
	default:
		e.addWords(b, x, v)
	}
	if x.has >= 0 {
		e.B.Store(b.cell(x.has), ir.K(1), 4)
	}
}

// atomic is the operation by which a minimum or maximum takes a value.
func (x *blockAgg) atomic() ir.Op {
	if x.fn == plan.Max || x.fn == plan.BoolOr {
		return ir.AtomMax
	}
	return ir.AtomMin
}

// addWords adds a number to its cells, from the lowest on. One that fits the first cell carries into the next now and
// then; of others the upper words are added with the carry, unless they make nothing together, as in small numbers below 0.
func (e *warp) addWords(b *blockGroups, x *blockAgg, v code.Value) {
	add := func(old ir.Reg, k int, w ir.Val) { // old becomes the sum
		e.B.Atom4(ir.AtomAdd, old, b.cell(x.off[k]), w, ir.Val{})
		if k+1 < len(x.off) {
			e.B.Op2(ir.Add, old, old.V(), w)
		}
	}
	w, old := e.asWord(x.f.Name, v.A), e.word("old")
	if len(x.off) == 1 {
		add(old, 0, w.V())
		e.B.Clear(w, old)
		return
	}
	small := x.arg.Within(layout.Between(0, math.MaxUint32))
	var ups []ir.Reg
	for k := 1; k < len(x.off) && !small; k++ {
		up := e.word("up")
		e.upperWord(up, v, x, k)
		ups = append(ups, up)
	}
	e.B.Atom4(ir.AtomAdd, old, b.cell(x.off[0]), w.V(), ir.Val{})
	b.afterwards(x, func() {
		e.B.Op2(ir.Add, old, old.V(), w.V())
		if small {
			e.carry(add, old, 1, w.V(), len(x.off))
		} else {
			c := e.word("carry")
			e.B.Set(c, ir.ULT, old.V(), w.V())
			for k, up := range ups {
				e.B.Op2(ir.Add, w, up.V(), c.V())
				if k+2 < len(x.off) {
					e.B.Set(c, ir.ULT, w.V(), c.V()) // all ones, and a carry
				}
				e.When(ir.NE, w.V(), ir.K(0), func() {
					add(old, k+1, w.V())
					if k+2 < len(x.off) {
						e.B.Set(c, ir.ULT, old.V(), w.V())
					}
				}, nil)
			}
			e.B.Clear(c)
		}
		e.B.Clear(ups...)
		e.B.Clear(w, old)
	})
}

// carry adds 1 to cell k of n if old, to which added was added, has overflown.
func (e *warp) carry(add func(old ir.Reg, k int, w ir.Val), old ir.Reg, k int, added ir.Val, n int) {
	e.When(ir.ULT, old.V(), added, func() {
		add(old, k, ir.K(1))
		if k+1 < n {
			e.carry(add, old, k+1, ir.K(1), n)
		}
	}, nil)
}

// afterwards runs what needs the result of an atomic: after the atomics of the row's other aggregates, unless the row may not have come here.
func (b *blockGroups) afterwards(x *blockAgg, f func()) {
	if b.inside > 0 || x.a.Filter != nil {
		f()
		return
	}
	b.later = append(b.later, f)
}

// upperWord sets up to word k of a number, which is its sign beyond its last.
func (e *warp) upperWord(up ir.Reg, v code.Value, x *blockAgg, k int) {
	half := v.A
	if k >= 2 && v.Two() {
		half = v.B
	}
	shift, op := int64(32), ir.Shr
	switch {
	case k >= 2 && !v.Two() && x.arg.Lo.Sign() >= 0:
		e.B.Mov(up, ir.K(0))
		return
	case k >= 2 && !v.Two():
		shift, op = 63, ir.Sar
	case k == 2:
		shift = 0
	}
	t := e.Int("t")
	e.B.Op2(op, t, half, ir.K(shift))
	e.B.Op1(ir.Narrow, up, t.V())
	e.B.Clear(t)
}

// word opens a register of 32 bits, asWord one with the low half of a number.
func (e *warp) word(name string) ir.Reg { return e.B.Vreg(name, ir.I32) }

func (e *warp) asWord(name string, v ir.Val) ir.Reg {
	r := e.word(name)
	if v.IsImm() {
		e.B.Mov(r, ir.K(int64(int32(v.Imm))))
	} else {
		e.B.Op1(ir.Narrow, r, v)
	}
	return r
}
