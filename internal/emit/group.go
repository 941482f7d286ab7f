package emit

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/emit/scalar"
	"github.com/kelpiedb/kelpie/internal/emit/text"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// GroupMode is where groups live.
type GroupMode uint8

const (
	Ungrouped   GroupMode = iota // one tuple
	ArrayGroups                  // a slot for each combination of key values: known small domains
	HashGroups                   // a directory with linear probing: tag<<48 | address of the tuple
	DenseGroups                  // integer keys whose combinations are not many more than groups: a directory of addresses by keys
)

func (m GroupMode) String() string {
	return [...]string{"one group", "array", "hash table", "dense directory"}[m]
}

// A directory by key is taken when its range is at most denseFactor times the number of groups expected. One beyond
// wideDense must be filled better, as well as the slots of a hash table, since each worker has one; there is none beyond maxDense.
const (
	denseFactor = 16
	wideDense   = 1 << 24
	wideFactor  = 6
	maxDense    = 1 << 28

	severalDense = 1 << 20 // for several keys together
)

// maxSpan is the largest range of keys with a directory by key, for so many groups.
func maxSpan(groups int64) int64 {
	return max(min(wideDense, denseFactor*groups+MaxArraySlots), min(maxDense, wideFactor*groups))
}

// MaxArraySlots bounds the size of a group array: it should stay in the second-level cache.
const MaxArraySlots = 1 << 13

// GroupPlan is how an aggregation keeps its groups; the same for all workers and variants.
type GroupPlan struct {
	Mode    GroupMode
	Tuple   *layout.Tuple // keys, then one field per aggregate; Flag: occupied (arrays)
	Domains []Domain      // one per key; those of keys that are no integers, or that may be anything, have no span
	Slots   int64         // arrays and dense directories
	Packed  bool          // hash tables: all keys together are one number of 64 bits, and the hash tells it
	Expect  int64         // groups expected
}

// Domain is the set of values of a key: Lo…Lo+Span-1, and NULL as one more where Null.
type Domain struct {
	Lo, Span int64
	Null     bool
}

// bits is how many hold the number of a value.
func (d Domain) bits() int64 { return int64(bits.Len64(uint64(d.size() - 1))) }

func (d Domain) size() int64 {
	if d.Null {
		return d.Span + 1
	}
	return d.Span
}

// groupSink adds the row to its group.
func (e *emitter) groupSink(s *pipe.Aggregate) {
	g := s.Group
	keys := make([]code.Value, len(g.Keys))
	mark := e.markKeys(g)
	for i, x := range g.Keys {
		keys[i] = e.Eval(x)
	}
	made := madeKey(g, keys) // before all keys get the form of the group's
	if e.f.Group == nil {
		e.f.Group = e.planGroups(g, keys)
	}
	gp := e.f.Group
	e.f.Sink = gp.Tuple
	for i := range keys {
		keys[i] = e.Reform(keys[i], gp.Tuple.Fields[i].Desc.Form)
	}
	e.Say("group into "+gp.Mode.String(), func(n plan.Names) string { return n.Cols(g.KeyCols) })
	ahead := noRing
	if e.gpu == nil {
		ahead = e.fetchGroup(gp, g.Keys)
	}
	var h ir.Reg
	if gp.Mode == HashGroups {
		h = e.hashNow(ahead, keys, gp)
	}
	e.first = func(i int) code.Value { return e.Eval(g.Aggs[i].Arg) }
	if e.gpu != nil {
		e.groupTogether(s, gp, keys, h)
		if gp.Mode == HashGroups {
			e.B.Clear(h)
		}
		e.Free(keys...)
		return
	}
	p := e.findGroup(gp, g, keys, h)
	if gp.Mode == HashGroups {
		e.B.Clear(h)
	}
	if mark != ir.NoReg {
		if made >= 0 {
			e.dropUnless(mark, p, &gp.Tuple.Fields[made], keys[made])
		}
		e.B.Clear(mark)
	}
	e.Free(keys...)
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		e.Detail("aggregate", func(n plan.Names) string { return n.Agg(a) })
		e.aggregate(p, f, a)
	}
	e.B.Clear(p)
}

// mergeRow combines the partial group at src into the group with the same keys.
func (e *emitter) mergeRow(src ir.Reg) {
	s := e.Pipeline.Sink.(*pipe.Aggregate)
	g, gp := s.Group, e.f.Group
	e.f.Sink = gp.Tuple
	e.B.Comment("merge groups into " + gp.Mode.String())
	keys := make([]code.Value, len(g.Keys))
	for i := range keys {
		keys[i] = e.loadField(src, &gp.Tuple.Fields[i], ir.K(0))
	}
	var h ir.Reg
	if gp.Mode == HashGroups { // dense directories find the place again
		h = e.Int("hash")
		e.B.Load8(h, ir.At(src, 0))
	}
	e.first = func(i int) code.Value { return e.loadField(src, &gp.Tuple.Fields[len(g.Keys)+i], ir.K(0)) }
	p := e.findGroup(gp, g, keys, h)
	if gp.Mode == HashGroups {
		e.B.Clear(h)
	}
	e.Free(keys...)
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		if firstOnly(a, f) {
			continue
		}
		v := e.loadField(src, f, ir.K(0))
		fn := a.Func
		if fn == plan.Count || fn == plan.CountStar {
			fn = plan.Sum
		}
		e.update(p, f, fn, v)
		e.Free(v)
	}
	e.B.Clear(p)
}

// planGroups decides where groups live and lays out their tuples.
func (e *emitter) planGroups(g *plan.Group, keys []code.Value) *GroupPlan {
	gp := &GroupPlan{Mode: HashGroups, Expect: int64(min(g.Props().Rows, 1<<40))}
	var fs []layout.Field
	slots, width := int64(1), int64(0) // combinations of keys, 0 when there are too many; bits that hold them
	for i, k := range keys {
		fs = append(fs, e.field(g.KeyCols[i], e.Cols.Get(g.KeyCols[i]).Name, k))
		d := Domain{Null: fs[i].Desc.Nullable}
		if f := fs[i].Desc.Form; f == layout.I64 || f == layout.Code {
			d.Span = fs[i].Desc.Range.Span(1 << 62)
			d.Lo = int64(fs[i].Desc.Range.Lo.Lo)
		}
		if d.Span == 0 {
			slots, width = 0, 65
		} else {
			if width += d.bits(); d.size() > maxDense || slots*d.size() > maxDense {
				slots = 0
			}
			slots *= d.size()
		}
		gp.Domains = append(gp.Domains, d)
	}
	several := len(keys) > 1 || len(keys) == 1 && (fs[0].Desc.Nullable || fs[0].Desc.Form != layout.I64)
	dense := maxSpan(gp.Expect)
	if several { // estimates of how many combinations there are tend to be too high
		dense = min(dense/4, severalDense)
	}
	mayPack := !several || !e.Off.PackedKeys
	switch {
	case slots > 0 && slots <= MaxArraySlots && !e.Off.DirectTables:
		gp.Mode, gp.Slots = ArrayGroups, slots
	case slots > 0 && slots <= dense && mayPack && !e.Off.DirectTables:
		gp.Mode, gp.Slots = DenseGroups, slots
	default:
		gp.Packed = several && mayPack && width <= 64
	}
	if len(keys) == 0 {
		gp.Mode = Ungrouped
	}
	for _, a := range g.Aggs {
		f := e.field(a.Col, e.Cols.Get(a.Col).Name, code.Value{Desc: e.aggDesc(a, gp.Mode == Ungrouped)})
		if a.Func == plan.Count || a.Func == plan.CountStar {
			f.Desc.Nullable = false
		}
		fs = append(fs, f)
	}
	if e.gpu != nil && gp.Mode == ArrayGroups && !arrayFits(g, fs[len(keys):]) {
		gp.Mode = HashGroups
	}
	narrow := 0
	if gp.Packed && !e.Off.NarrowTuples {
		narrow = len(keys)
	}
	gp.Tuple = layout.NarrowFirst(gp.Mode == HashGroups || gp.Mode == DenseGroups, gp.Mode == ArrayGroups, narrow, fs)
	return gp
}

// findGroup opens a register with the address of the group's tuple, making it if it is new.
func (e *emitter) findGroup(gp *GroupPlan, g *plan.Group, keys []code.Value, h ir.Reg) ir.Reg {
	p := e.Int("group")
	switch gp.Mode {
	case Ungrouped:
		e.B.Load8(p, ir.At(ir.Ctx, layout.CtxState))
		return p
	case ArrayGroups:
		e.arrayIndex(p, gp, keys)
		e.B.Op2(ir.Mul, p, p.V(), ir.K(int64(gp.Tuple.Size)))
		base := e.Int("groups")
		e.B.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
		e.B.Op2(ir.Add, p, p.V(), base.V())
		e.B.Load(base, ir.At(p, gp.Tuple.Flag), 1, false)
		e.When(ir.EQ, base.V(), ir.K(0), func() {
			e.initGroup(p, gp, g, keys)
			e.B.Store(ir.At(p, gp.Tuple.Flag), ir.K(1), 1)
		}, nil)
		e.B.Clear(base)
		return p
	case DenseGroups:
		e.denseGroup(p, gp, g, keys)
		return p
	}
	dir, mask, slot, tag, ent := e.Int("dir"), e.Int("mask"), e.Int("slot"), e.Int("tag"), e.Int("entry")
	e.B.Op2(ir.Shr, tag, h.V(), ir.K(layout.TagShift))
	e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
	e.B.Op2(ir.And, slot, h.V(), mask.V())
	l := e.B.Loop()
	e.Block(func() {
		e.B.Load8(ent, ir.AtIndex(dir, slot, 8, 0))
		e.When(ir.EQ, ent.V(), ir.K(0), func() {
			e.insertGroup(p, gp, g, keys, h, dir, mask, slot, tag)
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.B.Op2(ir.And, p, ent.V(), ir.K(layout.AddrMask))
		e.B.Op2(ir.Shr, ent, ent.V(), ir.K(layout.TagShift))
		e.B.Continue(l, ir.NE, ent.V(), tag.V())
		if gp.Packed { // the same hash, the same keys
			e.B.Load8(ent, ir.At(p, 0))
			e.B.Continue(l, ir.NE, ent.V(), h.V())
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
			return
		}
		for i := range keys {
			f := &gp.Tuple.Fields[i]
			if f.Desc.Form == layout.I64 || f.Desc.Form == layout.Code {
				v := e.Int(f.Name)
				e.B.Load8(v, ir.At(p, f.Off))
				if f.Null < 0 && keys[i].Never() {
					e.B.Continue(l, ir.NE, v.V(), keys[i].A)
					e.B.Clear(v)
					continue
				}
				e.B.Clear(v)
			}
			same := e.sameField(p, f, keys[i], true)
			e.B.Continue(l, ir.EQ, same.V(), ir.K(0))
			e.B.Clear(same)
		}
		e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.B.Next(l)
	e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
	e.B.Op2(ir.And, slot, slot.V(), mask.V())
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(dir, mask, slot, tag, ent)
	return p
}

// denseGroup finds the group by the keys' place in the directory,
// which also stands at the head of the tuple, where the executor finds it when it merges.
func (e *emitter) denseGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	k, dir := e.Int("k"), e.Int("dir")
	e.arrayIndex(k, gp, keys)
	e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.B.Load8(p, ir.AtIndex(dir, k, 8, 0))
	e.When(ir.EQ, p.V(), ir.K(0), func() {
		t := e.newTuple(gp.Tuple.Size)
		e.B.Mov(p, t.V())
		e.B.Clear(t)
		e.B.Store(ir.At(p, 0), k.V(), 8)
		e.initGroup(p, gp, g, keys)
		e.B.Store(ir.AtIndex(dir, k, 8, 0), p.V(), 8)
	}, nil)
	e.B.Clear(k, dir)
}

// insertGroup makes a tuple for a new group and enters it at the free slot. When the
// executor had to grow the directory first, the slot is looked for again.
func (e *emitter) insertGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value, h, dir, mask, slot, tag ir.Reg) {
	room, end, part, full := e.Int("room"), e.Int("outend"), e.Int("part"), e.Int("full")
	cursor := func() { // of the part that the hash belongs to
		e.B.Load8(end, ir.At(ir.Ctx, layout.CtxPartMask))
		e.B.Op2(ir.Shr, part, h.V(), ir.K(layout.PartShift-4))
		e.B.Op2(ir.And, part, part.V(), end.V())
		e.B.Load8(end, ir.At(ir.Ctx, layout.CtxParts))
		e.B.Op2(ir.Add, part, part.V(), end.V())
		e.B.Load8(room, ir.At(ir.Ctx, layout.CtxRoom))
		e.B.Load8(p, ir.At(part, 0))
	}
	cursor()
	e.B.Load8(end, ir.At(part, 8))
	e.B.Set(full, ir.EQ, room.V(), ir.K(0))
	e.B.Set(end, ir.UGE, p.V(), end.V())
	e.B.Op2(ir.Or, full, full.V(), end.V())
	e.When(ir.NE, full.V(), ir.K(0), func() {
		e.B.Yield(layout.YieldGrow)
		cursor()
		e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
		e.B.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
		e.B.Op2(ir.And, slot, h.V(), mask.V())
		l := e.B.Loop()
		e.B.Load8(end, ir.AtIndex(dir, slot, 8, 0))
		e.B.Break(l, ir.EQ, end.V(), ir.K(0))
		e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
		e.B.Op2(ir.And, slot, slot.V(), mask.V())
		e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	}, nil)
	e.B.Op2(ir.Sub, room, room.V(), ir.K(1))
	e.B.Store(ir.At(ir.Ctx, layout.CtxRoom), room.V(), 8)
	e.B.Lea(end, ir.At(p, gp.Tuple.Size))
	e.B.Store(ir.At(part, 0), end.V(), 8)
	e.B.Clear(end, part, full)
	e.B.Store(ir.At(p, 0), h.V(), 8)
	e.initGroup(p, gp, g, keys)
	e.B.Op2(ir.Shl, room, tag.V(), ir.K(layout.TagShift))
	e.B.Op2(ir.Or, room, room.V(), p.V())
	e.B.Store(ir.AtIndex(dir, slot, 8, 0), room.V(), 8)
	e.B.Clear(room)
}

// arrayIndex computes the slot number of the keys into p.
func (e *emitter) arrayIndex(p ir.Reg, gp *GroupPlan, keys []code.Value) {
	e.number(p, gp.Domains[0], keys[0])
	for i, d := range gp.Domains[1:] {
		e.B.Op2(ir.Mul, p, p.V(), ir.K(d.size()))
		k := e.Int("k")
		e.number(k, d, keys[i+1])
		e.B.Op2(ir.Add, p, p.V(), k.V())
		e.B.Clear(k)
	}
}

// number computes the number of a key's value in its domain; NULL comes last.
func (e *emitter) number(k ir.Reg, d Domain, key code.Value) {
	e.B.Op2(ir.Sub, k, key.A, ir.K(d.Lo))
	if d.Null && !key.Never() {
		e.B.Sel(k, ir.NE, key.Null, ir.K(0), ir.K(d.Span), k.V())
	}
}

// groupHash opens a register with the hash of a group's keys. Keys that are packed into one word have a hash that no
// other keys have: every step can be undone, as the multiplications are by odd numbers.
func (e *emitter) groupHash(gp *GroupPlan, keys []code.Value) ir.Reg {
	if !gp.Packed {
		return e.Hash(keys)
	}
	h, k := e.Int("hash"), e.Int("k")
	e.number(h, gp.Domains[0], keys[0])
	for i, d := range gp.Domains[1:] {
		e.number(k, d, keys[i+1])
		e.B.Op2(ir.Shl, h, h.V(), ir.K(d.bits()))
		e.B.Op2(ir.Or, h, h.V(), k.V())
	}
	e.B.Op2(ir.Mul, h, h.V(), ir.K(layout.HashMul))
	e.B.Op2(ir.Shr, k, h.V(), ir.K(32))
	e.B.Op2(ir.Xor, h, h.V(), k.V())
	e.B.Op2(ir.Mul, h, h.V(), ir.K(layout.HashSeed))
	e.B.Op2(ir.Shr, k, h.V(), ir.K(32)) // else the last bits know little of the first key
	e.B.Op2(ir.Xor, h, h.V(), k.V())
	e.B.Clear(k)
	return h
}

// initGroup writes the keys and the neutral elements of the aggregates.
func (e *emitter) initGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []code.Value) {
	for i := range keys {
		e.storeField(p, &gp.Tuple.Fields[i], keys[i])
	}
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(keys)+i]
		if firstOnly(a, f) {
			v := e.first(i)
			e.storeField(p, f, v)
			e.Free(v)
			continue
		}
		lo, hi := Neutral(a.Func, f.Desc.Form)
		e.B.Store(ir.At(p, f.Off), ir.K(lo), 8)
		if f.Desc.Form.Words() == 2 {
			e.B.Store(ir.At(p, f.Off+8), ir.K(hi), 8)
		}
		if f.Null >= 0 {
			e.B.Store(ir.At(p, f.Null), ir.K(1), 1)
		}
	}
}

// markKeys is MarkText for the keys of a grouping. What columns make while keys are computed may be looked at later, so
// there must be none.
func (e *emitter) markKeys(g *plan.Group) ir.Reg {
	made := false
	for _, x := range g.Keys {
		if c, ok := x.(*plan.Call); ok && scalar.MakesText(c) {
			made = true
		}
		if e.Makes(x, true) || !e.Can.Yield {
			return ir.NoReg
		}
	}
	if !made {
		return ir.NoReg
	}
	return text.Mark(e.Emitter)
}

// madeKey is the first of the keys that was made for this row, and lies nowhere else; -1 if there is none. One that
// was looked up by its code is the same in many rows.
func madeKey(g *plan.Group, keys []code.Value) int {
	for i, x := range g.Keys {
		if c, ok := x.(*plan.Call); ok && scalar.MakesText(c) && keys[i].Desc.Form == layout.Str {
			return i
		}
	}
	return -1
}
