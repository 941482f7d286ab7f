package emit

import (
	"fmt"
	"math"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// GroupMode is where groups live.
type GroupMode uint8

const (
	Ungrouped   GroupMode = iota // one tuple
	ArrayGroups                  // a slot for each combination of key values: known small domains
	HashGroups                   // a directory with linear probing: tag<<48 | address of the tuple
	DenseGroups                  // one integer key from a range that is not much larger than the number of groups: a directory of addresses by key
)

func (m GroupMode) String() string {
	return [...]string{"one group", "array", "hash table", "dense directory"}[m]
}

// A directory by key is taken when its range is at most denseFactor times the number of groups expected
// and no larger than maxDense.
const (
	denseFactor = 16
	maxDense    = 1 << 24
)

// MaxArraySlots bounds the size of a group array: it should stay in the second-level cache.
const MaxArraySlots = 1 << 13

// GroupPlan is how an aggregation keeps its groups; the same for all workers and variants.
type GroupPlan struct {
	Mode    GroupMode
	Tuple   *layout.Tuple // keys, then one field per aggregate; Flag: occupied (arrays)
	Domains []Domain      // arrays: one per key
	Slots   int64         // arrays and dense directories
	Expect  int64         // groups expected
}

// Domain is the set of values of a key: Lo…Lo+Span-1, and NULL as one more where Null.
type Domain struct {
	Lo, Span int64
	Null     bool
}

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
	mark, made := e.markKeys(g)
	for i, x := range g.Keys {
		keys[i] = e.eval(x)
	}
	if e.f.Group == nil {
		e.f.Group = e.planGroups(g, keys)
	}
	gp := e.f.Group
	e.f.Sink = gp.Tuple
	for i := range keys {
		keys[i] = e.reform(keys[i], gp.Tuple.Fields[i].Desc.Form)
	}
	e.say("group into "+gp.Mode.String(), func(n plan.Names) string { return n.Cols(g.KeyCols) })
	var h ir.Reg
	if gp.Mode == HashGroups {
		h = e.hash(keys)
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
	e.fetchGroup(gp, g.Keys)
	p := e.findGroup(gp, g, keys, h)
	if gp.Mode == HashGroups {
		e.b.Clear(h)
	}
	if made >= 0 {
		e.dropUnless(mark, p, &gp.Tuple.Fields[made], keys[made])
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
	slots := int64(1)
	for i, k := range keys {
		fs = append(fs, e.field(g.KeyCols[i], e.Cols.Get(g.KeyCols[i]).Name, k))
		d := Domain{Null: fs[i].Desc.Nullable}
		if f := fs[i].Desc.Form; f == layout.I64 || f == layout.Code {
			d.Span = fs[i].Desc.Range.Span(MaxArraySlots)
			d.Lo = int64(fs[i].Desc.Range.Lo.Lo)
		}
		if d.Span == 0 || slots*d.size() > MaxArraySlots {
			slots = 0
		}
		slots *= d.size()
		gp.Domains = append(gp.Domains, d)
	}
	if slots > 0 && !e.Off.DirectTables {
		gp.Mode, gp.Slots = ArrayGroups, slots
	}
	if gp.Mode == HashGroups && !e.Off.DirectTables && len(keys) == 1 && fs[0].Desc.Form == layout.I64 && !fs[0].Desc.Nullable {
		if span := fs[0].Desc.Range.Span(min(maxDense, denseFactor*gp.Expect+MaxArraySlots)); span > 0 {
			gp.Mode, gp.Slots = DenseGroups, span
			gp.Domains[0] = Domain{Lo: int64(fs[0].Desc.Range.Lo.Lo), Span: span}
		}
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
	gp.Tuple = layout.NewTuple(gp.Mode == HashGroups || gp.Mode == DenseGroups, gp.Mode == ArrayGroups, fs)
	return gp
}

// aggDesc is what is known of an aggregate's running value.
func (e *emitter) aggDesc(a plan.Agg, one bool) layout.Desc {
	d := layout.Desc{Type: e.Cols.Get(a.Col).Type}
	switch a.Func {
	case plan.CountStar, plan.Count:
		d.Form, d.Range = layout.I64, layout.Between(0, math.MaxInt64).Intersect(e.maxRows)
		if !d.Range.Fits64() {
			d.Range = layout.Between(0, math.MaxInt64)
		}
		return d
	case plan.Sum, plan.Min, plan.Max, plan.AnyValue, plan.BoolAnd, plan.BoolOr:
	case plan.First:
		if e.gpu != nil {
			refuse(-1, "DISTINCT ON with columns that may be NULL is not supported on a GPU yet")
		}
	default:
		panic(fmt.Sprintf("aggregate %s should have been rewritten", a.Func))
	}
	arg := e.describe(a.Arg)
	if a.Func == plan.Sum && arg.Form == layout.Ivl {
		refuse(-1, "the sum of intervals is not supported")
	}
	d.Nullable = arg.Nullable || a.Filter != nil || one
	d.Form, d.Range, d.Dict = arg.Form, arg.Range, arg.Dict
	switch {
	case a.Func == plan.Sum && d.Form != layout.F64:
		zero := layout.Between(0, 0)
		d.Range = arg.Range.Mul(e.maxRows).Union(zero)
		d.Form = layout.I128
		if d.Type.Kind != types.Decimal { // BIGINT: beyond it lies an error
			d.Range = layout.TypeRange(d.Type).Intersect(d.Range)
		}
		if d.Range.Fits64() {
			d.Form = layout.I64
		}
	case a.Func != plan.AnyValue && a.Func != plan.First && d.Form == layout.Code: // codes are not ordered
		d.Form, d.Dict, d.Range = layout.Str, nil, layout.Range{}
	}
	if a.Func != plan.Sum && a.Func != plan.AnyValue && a.Func != plan.First && d.Form != layout.I64 {
		d.Nullable = true // there is no neutral element: NULL is "none yet"
	}
	return d
}

// findGroup opens a register with the address of the group's tuple, making it if it is new.
func (e *emitter) findGroup(gp *GroupPlan, g *plan.Group, keys []value, h ir.Reg) ir.Reg {
	p := e.int("group")
	switch gp.Mode {
	case Ungrouped:
		e.b.Load8(p, ir.At(ir.Ctx, CtxState))
		return p
	case ArrayGroups:
		e.arrayIndex(p, gp, keys)
		e.b.Op2(ir.Mul, p, p.V(), ir.K(int64(gp.Tuple.Size)))
		base := e.int("groups")
		e.b.Load8(base, ir.At(ir.Ctx, CtxDir))
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
	e.b.Load8(dir, ir.At(ir.Ctx, CtxDir))
	e.b.Load8(mask, ir.At(ir.Ctx, CtxMask))
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

// denseGroup finds the group by the key's place in the directory,
// which also stands at the head of the tuple, where the executor finds it when it merges.
func (e *emitter) denseGroup(p ir.Reg, gp *GroupPlan, g *plan.Group, keys []value) {
	k, dir := e.int("k"), e.int("dir")
	e.b.Op2(ir.Sub, k, keys[0].a, ir.K(gp.Domains[0].Lo))
	e.b.Load8(dir, ir.At(ir.Ctx, CtxDir))
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
	room, end := e.int("room"), e.int("outend")
	e.b.Load8(room, ir.At(ir.Ctx, CtxRoom))
	e.b.Load8(p, ir.At(ir.Ctx, CtxCur))
	e.b.Load8(end, ir.At(ir.Ctx, CtxEnd))
	full := e.int("full")
	e.b.Set(full, ir.EQ, room.V(), ir.K(0))
	e.b.Set(end, ir.UGE, p.V(), end.V())
	e.b.Op2(ir.Or, full, full.V(), end.V())
	e.when(ir.NE, full.V(), ir.K(0), func() {
		e.b.Yield(YieldGrow)
		e.b.Load8(room, ir.At(ir.Ctx, CtxRoom))
		e.b.Load8(p, ir.At(ir.Ctx, CtxCur))
		e.b.Load8(dir, ir.At(ir.Ctx, CtxDir))
		e.b.Load8(mask, ir.At(ir.Ctx, CtxMask))
		e.b.Op2(ir.And, slot, h.V(), mask.V())
		l := e.b.Loop()
		e.b.Load8(end, ir.AtIndex(dir, slot, 8, 0))
		e.b.Break(l, ir.EQ, end.V(), ir.K(0))
		e.b.Op2(ir.Add, slot, slot.V(), ir.K(1))
		e.b.Op2(ir.And, slot, slot.V(), mask.V())
		e.b.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	}, nil)
	e.b.Op2(ir.Sub, room, room.V(), ir.K(1))
	e.b.Store(ir.At(ir.Ctx, CtxRoom), room.V(), 8)
	e.b.Lea(end, ir.At(p, gp.Tuple.Size))
	e.b.Store(ir.At(ir.Ctx, CtxCur), end.V(), 8)
	e.b.Store(ir.At(p, 0), h.V(), 8)
	e.initGroup(p, gp, g, keys)
	e.b.Op2(ir.Shl, room, tag.V(), ir.K(layout.TagShift))
	e.b.Op2(ir.Or, room, room.V(), p.V())
	e.b.Store(ir.AtIndex(dir, slot, 8, 0), room.V(), 8)
	e.b.Clear(room, end, full)
}

// arrayIndex computes the slot number of the keys into p.
func (e *emitter) arrayIndex(p ir.Reg, gp *GroupPlan, keys []value) {
	e.b.Mov(p, ir.K(0))
	for i, d := range gp.Domains {
		if i > 0 {
			e.b.Op2(ir.Mul, p, p.V(), ir.K(d.size()))
		}
		k := e.int("k")
		e.b.Op2(ir.Sub, k, keys[i].a, ir.K(d.Lo))
		if d.Null && !keys[i].never() {
			e.b.Sel(k, ir.NE, keys[i].null, ir.K(0), ir.K(d.Span), k.V())
		}
		e.b.Op2(ir.Add, p, p.V(), k.V())
		e.b.Clear(k)
	}
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

// firstOnly reports an aggregate whose value is that of the row which makes the group: it
// is read only there.
func firstOnly(a plan.Agg, f *layout.Field) bool {
	return a.Func == plan.First || a.Func == plan.AnyValue && f.Null < 0
}

// Neutral is what an aggregate starts from, as two words.
func Neutral(fn plan.AggFunc, f layout.Form) (lo, hi int64) {
	if f == layout.I64 {
		switch fn {
		case plan.Min, plan.BoolAnd:
			return math.MaxInt64, 0
		case plan.Max, plan.BoolOr:
			return math.MinInt64, 0
		}
	}
	if f == layout.F64 { // NaN is above all numbers
		switch fn {
		case plan.Min:
			return floatBits(math.NaN()), 0
		case plan.Max:
			return floatBits(math.Inf(-1)), 0
		}
	}
	return 0, 0
}

// aggregate evaluates an aggregate's argument for the row and updates the group.
func (e *emitter) aggregate(p ir.Reg, f *layout.Field, a plan.Agg) {
	if firstOnly(a, f) {
		return
	}
	run := func() {
		switch a.Func {
		case plan.CountStar:
			e.update(p, f, plan.Sum, e.constant(types.IntValue(types.TInt64, 1)))
		case plan.Count:
			v := e.eval(a.Arg)
			one := e.constant(types.IntValue(types.TInt64, 1))
			switch {
			case v.isNull():
			case v.never():
				e.update(p, f, plan.Sum, one)
			default:
				r := e.int("one")
				e.b.Op2(ir.Xor, r, v.null, ir.K(1))
				e.update(p, f, plan.Sum, intVal(types.TInt64, r, layout.Between(0, 1)))
				e.b.Clear(r)
			}
			e.free(v)
		default:
			mark := e.markText(a.Arg)
			v := e.eval(a.Arg)
			e.update(p, f, a.Func, v)
			if mark != ir.NoReg {
				e.dropUnless(mark, p, f, v)
				e.b.Clear(mark)
			}
			e.free(v)
		}
	}
	if a.Filter == nil {
		run()
		return
	}
	c := e.eval(a.Filter)
	e.when(ir.NE, c.a, ir.K(0), run, nil)
	e.free(c)
}

// update folds v into the running value in field f of the group at p. v stays the caller's.
func (e *emitter) update(p ir.Reg, f *layout.Field, fn plan.AggFunc, v value) {
	if v.isNull() {
		return
	}
	if e.gpu != nil {
		e.fold(e.gpu.shares[f], v)
		return
	}
	switch fn {
	case plan.Sum:
		e.updateSum(p, f, v)
		return
	case plan.AnyValue:
		e.updateIf(p, f, v, func(cur value) ir.Reg {
			r := e.int("take")
			e.b.Mov(r, ir.K(0))
			return r
		})
		return
	}
	c := ir.LT
	if fn == plan.Max || fn == plan.BoolOr {
		c = ir.GT
	}
	v = e.text(v.borrowed())
	if f.Null < 0 && f.Desc.Form == layout.I64 && v.never() {
		cur := e.int(f.Name)
		e.b.Load8(cur, ir.At(p, f.Off))
		e.b.Sel(cur, c, v.a, cur.V(), v.a, cur.V())
		e.b.Store(ir.At(p, f.Off), cur.V(), 8)
		e.b.Clear(cur)
		return
	}
	e.updateIf(p, f, v, func(cur value) ir.Reg { return e.comparison(c, v, cur) })
	v.ownNull = false
	e.free(v)
}

// updateIf replaces the running value by v if there is none yet or better says so.
func (e *emitter) updateIf(p ir.Reg, f *layout.Field, v value, better func(cur value) ir.Reg) {
	run := func() {
		cur := e.loadField(p, f, ir.K(0))
		take := e.int("take")
		if cur.never() {
			b := better(cur)
			e.b.Mov(take, b.V())
			e.b.Clear(b)
		} else {
			e.b.Mov(take, ir.K(1))
			e.when(ir.EQ, cur.null, ir.K(0), func() {
				b := better(cur)
				e.b.Mov(take, b.V())
				e.b.Clear(b)
			}, nil)
		}
		e.free(cur)
		e.when(ir.NE, take.V(), ir.K(0), func() { e.storeField(p, f, v.borrowed().withNull(ir.K(0), false)) }, nil)
		e.b.Clear(take)
	}
	if v.never() {
		run()
	} else {
		e.when(ir.EQ, v.null, ir.K(0), run, nil)
	}
}

// updateSum adds v; NULL adds nothing.
func (e *emitter) updateSum(p ir.Reg, f *layout.Field, v value) {
	switch f.Desc.Form {
	case layout.F64:
		s := e.float(f.Name)
		e.b.FLoad(s, ir.At(p, f.Off), 8)
		if v.never() {
			e.b.Op2(ir.FAdd, s, s.V(), v.a)
		} else {
			z := e.float("or0")
			e.b.FConst(z, 0)
			e.b.FSel(z, ir.NE, v.null, ir.K(0), z, v.a.R)
			e.b.Op2(ir.FAdd, s, s.V(), z.V())
			e.b.Clear(z)
		}
		e.b.FStore(ir.At(p, f.Off), s, 8)
		e.b.Clear(s)
	case layout.I128:
		w := e.wide(v.borrowed())
		a, b := w.a, w.b
		var ta, tb ir.Reg
		if !v.never() {
			ta, tb = e.int("or0"), e.int("or0.hi")
			e.b.Sel(ta, ir.NE, v.null, ir.K(0), ir.K(0), a)
			e.b.Sel(tb, ir.NE, v.null, ir.K(0), ir.K(0), b)
			a, b = ta.V(), tb.V()
		}
		lo, hi := e.int(f.Name), e.int(e.partName(f.Name, ".hi"))
		e.b.Load8(lo, ir.At(p, f.Off))
		e.b.Load8(hi, ir.At(p, f.Off+8))
		if f.Desc.Range.Known {
			e.b.Op128(ir.Add128, lo, hi, lo.V(), hi.V(), a, b, 0)
		} else {
			e.b.Op128(ir.Add128X, lo, hi, lo.V(), hi.V(), a, b, e.fail(overflow(f.Desc.Type, -1)))
		}
		e.b.Store(ir.At(p, f.Off), lo.V(), 8)
		e.b.Store(ir.At(p, f.Off+8), hi.V(), 8)
		e.b.Clear(lo, hi)
		if !v.never() {
			e.b.Clear(ta, tb)
		}
		w.ownNull = false
		e.free(w)
	default:
		s := e.int(f.Name)
		e.b.Load8(s, ir.At(p, f.Off))
		add := func(x ir.Val) {
			if all := layout.TypeRange(types.TInt64); f.Desc.Range.Lo == all.Lo || f.Desc.Range.Hi == all.Hi {
				e.b.OpX(ir.AddX, s, s.V(), x, e.fail(overflow(f.Desc.Type, -1)))
				return
			}
			e.b.Op2(ir.Add, s, s.V(), x)
		}
		if v.never() {
			add(v.a)
		} else {
			t := e.int("or0")
			e.b.Sel(t, ir.NE, v.null, ir.K(0), ir.K(0), v.a)
			add(t.V())
			e.b.Clear(t)
		}
		e.b.Store(ir.At(p, f.Off), s.V(), 8)
		e.b.Clear(s)
	}
	if f.Null < 0 {
		return
	}
	if v.never() {
		e.b.Store(ir.At(p, f.Null), ir.K(0), 1)
		return
	}
	n := e.int("null")
	e.b.Load(n, ir.At(p, f.Null), 1, false)
	e.b.Op2(ir.And, n, n.V(), v.null)
	e.b.Store(ir.At(p, f.Null), n.V(), 1)
	e.b.Clear(n)
}
