package emit

import (
	"math/bits"

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
	keys := make([]value, len(g.Keys))
	mark := e.markKeys(g)
	for i, x := range g.Keys {
		keys[i] = e.eval(x)
	}
	made := madeKey(g, keys) // before all keys get the form of the group's
	if e.f.Group == nil {
		e.f.Group = e.planGroups(g, keys)
	}
	gp := e.f.Group
	e.f.Sink = gp.Tuple
	for i := range keys {
		keys[i] = e.reform(keys[i], gp.Tuple.Fields[i].Desc.Form)
	}
	e.say("group into "+gp.Mode.String(), func(n plan.Names) string { return n.Cols(g.KeyCols) })
	ahead := noRing
	if e.gpu == nil {
		ahead = e.fetchGroup(gp, g.Keys)
	}
	var h ir.Reg
	if gp.Mode == HashGroups {
		h = e.hashNow(ahead, keys, gp)
	}
	e.first = func(i int) value { return e.eval(g.Aggs[i].Arg) }
	if e.gpu != nil {
		e.groupTogether(s, gp, keys, h)
		if gp.Mode == HashGroups {
			e.b.Clear(h)
		}
		e.free(keys...)
		return
	}
	p := e.findGroup(gp, g, keys, h)
	if gp.Mode == HashGroups {
		e.b.Clear(h)
	}
	if mark != ir.NoReg {
		if made >= 0 {
			e.dropUnless(mark, p, &gp.Tuple.Fields[made], keys[made])
		}
		e.b.Clear(mark)
	}
	e.free(keys...)
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(g.Keys)+i]
		e.detail("aggregate", func(n plan.Names) string { return n.Agg(a) })
		e.aggregate(p, f, a)
	}
	e.b.Clear(p)
}

// mergeRow combines the partial group at src into the group with the same keys.
func (e *emitter) mergeRow(src ir.Reg) {
	s := e.Pipeline.Sink.(*pipe.Aggregate)
	g, gp := s.Group, e.f.Group
	e.f.Sink = gp.Tuple
	e.b.Comment("merge groups into " + gp.Mode.String())
	keys := make([]value, len(g.Keys))
	for i := range keys {
		keys[i] = e.loadField(src, &gp.Tuple.Fields[i], ir.K(0))
	}
	var h ir.Reg
	if gp.Mode == HashGroups { // dense directories find the place again
		h = e.int("hash")
		e.b.Load8(h, ir.At(src, 0))
	}
	e.first = func(i int) value { return e.loadField(src, &gp.Tuple.Fields[len(g.Keys)+i], ir.K(0)) }
	p := e.findGroup(gp, g, keys, h)
	if gp.Mode == HashGroups {
		e.b.Clear(h)
	}
	e.free(keys...)
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
		e.free(v)
	}
	e.b.Clear(p)
}

// planGroups decides where groups live and lays out their tuples.
func (e *emitter) planGroups(g *plan.Group, keys []value) *GroupPlan {
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
		f := e.field(a.Col, e.Cols.Get(a.Col).Name, value{d: e.aggDesc(a, gp.Mode == Ungrouped)})
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
func (e *emitter) findGroup(gp *GroupPlan, g *plan.Group, keys []value, h ir.Reg) ir.Reg {
	p := e.int("group")
	switch gp.Mode {
	case Ungrouped:
		e.b.Load8(p, ir.At(ir.Ctx, layout.CtxState))
		return p
	case ArrayGroups:
		e.arrayIndex(p, gp, keys)
		e.b.Op2(ir.Mul, p, p.V(), ir.K(int64(gp.Tuple.Size)))
		base := e.int("groups")
		e.b.Load8(base, ir.At(ir.Ctx, layout.CtxDir))
		e.b.Op2(ir.Add, p, p.V(), base.V())
		e.b.Load(base, ir.At(p, gp.Tuple.Flag), 1, false)
		e.when(ir.EQ, base.V(), ir.K(0), func() {
			e.initGroup(p, gp, g, keys)
			e.b.Store(ir.At(p, gp.Tuple.Flag), ir.K(1), 1)
		}, nil)
		e.b.Clear(base)
		return p
	case DenseGroups:
		e.denseGroup(p, gp, g, keys)
		return p
	}
	dir, mask, slot, tag, ent := e.int("dir"), e.int("mask"), e.int("slot"), e.int("tag"), e.int("entry")
	e.b.Op2(ir.Shr, tag, h.V(), ir.K(layout.TagShift))
	e.b.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.b.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
	e.b.Op2(ir.And, slot, h.V(), mask.V())
	l := e.b.Loop()
	e.block(func() {
		e.b.Load8(ent, ir.AtIndex(dir, slot, 8, 0))
		e.when(ir.EQ, ent.V(), ir.K(0), func() {
			e.insertGroup(p, gp, g, keys, h, dir, mask, slot, tag)
			e.b.Break(l, ir.Always, ir.K(0), ir.K(0))
		}, nil)
		e.b.Op2(ir.And, p, ent.V(), ir.K(layout.AddrMask))
		e.b.Op2(ir.Shr, ent, ent.V(), ir.K(layout.TagShift))
		e.b.Continue(l, ir.NE, ent.V(), tag.V())
		if gp.Packed { // the same hash, the same keys
			e.b.Load8(ent, ir.At(p, 0))
			e.b.Continue(l, ir.NE, ent.V(), h.V())
			e.b.Break(l, ir.Always, ir.K(0), ir.K(0))
			return
		}
		for i := range keys {
			f := &gp.Tuple.Fields[i]
			if f.Desc.Form == layout.I64 || f.Desc.Form == layout.Code {
				v := e.int(f.Name)
				e.b.Load8(v, ir.At(p, f.Off))
				if f.Null < 0 && keys[i].never() {
					e.b.Continue(l, ir.NE, v.V(), keys[i].a)
					e.b.Clear(v)
					continue
				}
				e.b.Clear(v)
			}
			same := e.sameField(p, f, keys[i], true)
			e.b.Continue(l, ir.EQ, same.V(), ir.K(0))
			e.b.Clear(same)
		}
		e.b.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.b.Next(l)
	e.b.Op2(ir.Add, slot, slot.V(), ir.K(1))
	e.b.Op2(ir.And, slot, slot.V(), mask.V())
	e.b.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.b.Clear(dir, mask, slot, tag, ent)
	return p
}

// denseGroup finds the group by the keys' place in the directory,
// which also stands at the head of the tuple, where the executor finds it when it merges.
func (e *emitter) denseGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []value) {
	k, dir := e.int("k"), e.int("dir")
	e.arrayIndex(k, gp, keys)
	e.b.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
	e.b.Load8(p, ir.AtIndex(dir, k, 8, 0))
	e.when(ir.EQ, p.V(), ir.K(0), func() {
		t := e.newTuple(gp.Tuple.Size)
		e.b.Mov(p, t.V())
		e.b.Clear(t)
		e.b.Store(ir.At(p, 0), k.V(), 8)
		e.initGroup(p, gp, g, keys)
		e.b.Store(ir.AtIndex(dir, k, 8, 0), p.V(), 8)
	}, nil)
	e.b.Clear(k, dir)
}

// insertGroup makes a tuple for a new group and enters it at the free slot. When the
// executor had to grow the directory first, the slot is looked for again.
func (e *emitter) insertGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []value, h, dir, mask, slot, tag ir.Reg) {
	room, end, part, full := e.int("room"), e.int("outend"), e.int("part"), e.int("full")
	cursor := func() { // of the part that the hash belongs to
		e.b.Load8(end, ir.At(ir.Ctx, layout.CtxPartMask))
		e.b.Op2(ir.Shr, part, h.V(), ir.K(layout.PartShift-4))
		e.b.Op2(ir.And, part, part.V(), end.V())
		e.b.Load8(end, ir.At(ir.Ctx, layout.CtxParts))
		e.b.Op2(ir.Add, part, part.V(), end.V())
		e.b.Load8(room, ir.At(ir.Ctx, layout.CtxRoom))
		e.b.Load8(p, ir.At(part, 0))
	}
	cursor()
	e.b.Load8(end, ir.At(part, 8))
	e.b.Set(full, ir.EQ, room.V(), ir.K(0))
	e.b.Set(end, ir.UGE, p.V(), end.V())
	e.b.Op2(ir.Or, full, full.V(), end.V())
	e.when(ir.NE, full.V(), ir.K(0), func() {
		e.b.Yield(layout.YieldGrow)
		cursor()
		e.b.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
		e.b.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
		e.b.Op2(ir.And, slot, h.V(), mask.V())
		l := e.b.Loop()
		e.b.Load8(end, ir.AtIndex(dir, slot, 8, 0))
		e.b.Break(l, ir.EQ, end.V(), ir.K(0))
		e.b.Op2(ir.Add, slot, slot.V(), ir.K(1))
		e.b.Op2(ir.And, slot, slot.V(), mask.V())
		e.b.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	}, nil)
	e.b.Op2(ir.Sub, room, room.V(), ir.K(1))
	e.b.Store(ir.At(ir.Ctx, layout.CtxRoom), room.V(), 8)
	e.b.Lea(end, ir.At(p, gp.Tuple.Size))
	e.b.Store(ir.At(part, 0), end.V(), 8)
	e.b.Clear(end, part, full)
	e.b.Store(ir.At(p, 0), h.V(), 8)
	e.initGroup(p, gp, g, keys)
	e.b.Op2(ir.Shl, room, tag.V(), ir.K(layout.TagShift))
	e.b.Op2(ir.Or, room, room.V(), p.V())
	e.b.Store(ir.AtIndex(dir, slot, 8, 0), room.V(), 8)
	e.b.Clear(room)
}

// arrayIndex computes the slot number of the keys into p.
func (e *emitter) arrayIndex(p ir.Reg, gp *GroupPlan, keys []value) {
	e.number(p, gp.Domains[0], keys[0])
	for i, d := range gp.Domains[1:] {
		e.b.Op2(ir.Mul, p, p.V(), ir.K(d.size()))
		k := e.int("k")
		e.number(k, d, keys[i+1])
		e.b.Op2(ir.Add, p, p.V(), k.V())
		e.b.Clear(k)
	}
}

// number computes the number of a key's value in its domain; NULL comes last.
func (e *emitter) number(k ir.Reg, d Domain, key value) {
	e.b.Op2(ir.Sub, k, key.a, ir.K(d.Lo))
	if d.Null && !key.never() {
		e.b.Sel(k, ir.NE, key.null, ir.K(0), ir.K(d.Span), k.V())
	}
}

// groupHash opens a register with the hash of a group's keys. Keys that are packed into one word have a hash that no
// other keys have: every step can be undone, as the multiplications are by odd numbers.
func (e *emitter) groupHash(gp *GroupPlan, keys []value) ir.Reg {
	if !gp.Packed {
		return e.hash(keys)
	}
	h, k := e.int("hash"), e.int("k")
	e.number(h, gp.Domains[0], keys[0])
	for i, d := range gp.Domains[1:] {
		e.number(k, d, keys[i+1])
		e.b.Op2(ir.Shl, h, h.V(), ir.K(d.bits()))
		e.b.Op2(ir.Or, h, h.V(), k.V())
	}
	e.b.Op2(ir.Mul, h, h.V(), ir.K(layout.HashMul))
	e.b.Op2(ir.Shr, k, h.V(), ir.K(32))
	e.b.Op2(ir.Xor, h, h.V(), k.V())
	e.b.Op2(ir.Mul, h, h.V(), ir.K(layout.HashSeed))
	e.b.Op2(ir.Shr, k, h.V(), ir.K(32)) // else the last bits know little of the first key
	e.b.Op2(ir.Xor, h, h.V(), k.V())
	e.b.Clear(k)
	return h
}

// initGroup writes the keys and the neutral elements of the aggregates.
func (e *emitter) initGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []value) {
	for i := range keys {
		e.storeField(p, &gp.Tuple.Fields[i], keys[i])
	}
	for i, a := range g.Aggs {
		f := &gp.Tuple.Fields[len(keys)+i]
		if firstOnly(a, f) {
			v := e.first(i)
			e.storeField(p, f, v)
			e.free(v)
			continue
		}
		lo, hi := Neutral(a.Func, f.Desc.Form)
		e.b.Store(ir.At(p, f.Off), ir.K(lo), 8)
		if f.Desc.Form.Words() == 2 {
			e.b.Store(ir.At(p, f.Off+8), ir.K(hi), 8)
		}
		if f.Null >= 0 {
			e.b.Store(ir.At(p, f.Null), ir.K(1), 1)
		}
	}
}

// markKeys is markText for the keys of a grouping; made is the first key that is made, or -1. What columns make while
// keys are computed may be looked at later, so there must be none.
func (e *emitter) markKeys(g *plan.Group) (mark ir.Reg, made int) {
	made = -1
	for i, x := range g.Keys {
		if c, ok := x.(*plan.Call); ok && made < 0 && makesText(c) {
			made = i
		}
		if e.makes(x, true) || !e.Can.Yield {
			return ir.NoReg, -1
		}
	}
	if made < 0 {
		return ir.NoReg, -1
	}
	return e.markTexts(), made
}
