package emit

import (
	"fmt"
	"strings"

	"github.com/kelpiedb/kelpie/internal/diag"
	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
)

// probeOp looks the row up in a finished hash table and goes on with what it finds.
func (e *emitter) probeOp(op *pipe.Probe, i int) {
	t := e.Tables[op.Build]
	e.Say(op.Kind.String()+" join by "+t.Kind.String()+" table", func(n plan.Names) string {
		var list []string
		for k, x := range op.Keys {
			list = append(list, n.Equal(x, op.Build.Keys[k], op.NullSafe != nil && op.NullSafe[k]))
		}
		return fmt.Sprintf("%d: %s", op.Build.ID, strings.Join(list, " and "))
	})
	if e.proven(op, i) {
		e.Detail("the semi-join filter has seen to it", func(plan.Names) string { return "" })
		e.clearDead(i + 1)
		e.consume(i + 1)
		return
	}
	pr := &probe{op: op, t: t, i: i}
	e.probeKeys(pr)
	if e.looks == 0 {
		e.looks = ir.Reg(len(e.B.F.Regs))
	}
	switch op.Kind {
	case pipe.ProbeInner:
		e.probeInner(pr)
	case pipe.ProbeSemi, pipe.ProbeAnti, pipe.ProbeMark:
		e.probeExists(pr)
	default:
		e.probeOuter(pr)
	}
}

// proven reports a probe that cannot tell anything new: an exact filter at the scan let only rows pass
// that have a match, and nothing of the match is wanted.
func (e *emitter) proven(op *pipe.Probe, i int) bool {
	if len(op.Keys) != 1 || len(op.On) > 0 || op.SetFlag {
		return false
	}
	switch op.Kind {
	case pipe.ProbeSemi:
	case pipe.ProbeInner:
		if !e.Tables[op.Build].Kind.Unique() {
			return false
		}
		for _, f := range e.Tables[op.Build].Tuple.Fields {
			if e.live[i+1].Has(plan.ColID(f.ID)) {
				return false
			}
		}
	default:
		return false
	}
	return e.filtered(op)
}

// filtered reports that an exact filter at the scan let only rows pass whose key the table has.
func (e *emitter) filtered(op *pipe.Probe) bool {
	if len(op.Keys) != 1 {
		return false
	}
	ref, ok := op.Keys[0].(*plan.Ref)
	if !ok {
		return false
	}
	for _, f := range e.Filters {
		if f.Build == op.Build && f.Key == 0 && f.Col == ref.ID && f.Kind == layout.Bitmap {
			return true
		}
	}
	return false
}

// probe is the state of one probe's emission.
type probe struct {
	op    *pipe.Probe
	t     *layout.Table
	i     int
	keys  []code.Value
	dead  ir.Val // 1: the row has no match whatever the table holds (a NULL key, a key beyond the build side's range)
	own   bool   // dead is ours
	skips int    // the number of a key, from 1 on, that somebody else compares; 0: none
	null  ir.Val // mark joins, which have one key: 1 where it is NULL
}

// must reports that a row without match is dropped.
func (p *probe) must() bool { return p.op.Kind == pipe.ProbeInner || p.op.Kind == pipe.ProbeSemi }

// probeKeys evaluates the keys in the form in which the build side stores them.
func (e *emitter) probeKeys(p *probe) {
	p.dead, p.null = ir.K(0), ir.K(0)
	kill := func(c ir.Cond, x, y ir.Val) {
		if p.must() {
			e.skip(c, x, y)
			return
		}
		if !p.own {
			r := e.Int("dead")
			e.B.Mov(r, p.dead)
			p.dead, p.own = r.V(), true
		}
		t := e.Int("t")
		e.B.Set(t, c, x, y)
		e.B.Op2(ir.Or, p.dead.R, p.dead, t.V())
		e.B.Clear(t)
	}
	for k, x := range p.op.Keys {
		v := e.Text(e.Eval(x))
		f := &p.t.Tuple.Fields[k]
		switch {
		case v.Never():
		case !p.nullSafe(k):
			kill(ir.NE, v.Null, ir.K(0))
			p.null = v.Null
		case f.Null < 0: // NULL equals NULL, but there is none
			kill(ir.NE, v.Null, ir.K(0))
		}
		switch want := f.Desc.Form; {
		case want == v.Desc.Form:
		case want == layout.I64 && v.Desc.Form == layout.I128:
			s := e.Int("sign")
			e.B.Op2(ir.Sar, s, v.A, ir.K(63))
			if !v.Never() { // a NULL is never beyond the range, whatever it holds
				e.B.Sel(s, ir.NE, v.Null, ir.K(0), v.B, s.V())
			}
			kill(ir.NE, s.V(), v.B)
			e.B.Clear(s)
			v = e.Reform(v, want)
		default:
			v = e.Reform(v, want)
		}
		p.keys = append(p.keys, v)
	}
}

func (e *emitter) probeDone(p *probe) {
	e.Free(p.keys...)
	e.FreeNull(p.dead, p.own)
}

// nullSafe reports that key k compares NULLs as equal.
func (p *probe) nullSafe(k int) bool { return p.op.NullSafe != nil && p.op.NullSafe[k] }

// mismatch calls leave for each way in which the tuple at r can differ from the keys.
func (e *emitter) mismatch(p *probe, r ir.Reg, leave func(c ir.Cond, x, y ir.Val)) {
	if p.t.Kind == layout.Direct || p.t.Kind == layout.DenseBuckets {
		return // the address is the key
	}
	for k, key := range p.keys {
		if k+1 == p.skips {
			continue
		}
		f := &p.t.Tuple.Fields[k]
		if key.Desc.Form == layout.I64 && f.Null < 0 && (key.Never() || !p.nullSafe(k)) {
			v := e.Int(f.Name)
			e.loadWordOf(v, r, f)
			leave(ir.NE, v.V(), key.A)
			e.B.Clear(v)
			continue
		}
		same := e.sameField(r, f, key, p.nullSafe(k))
		leave(ir.EQ, same.V(), ir.K(0))
		e.B.Clear(same)
	}
}

// findUnique opens a register with the address of the one tuple that matches, 0 if none. A
// row that must match is dropped on the way.
func (e *emitter) findUnique(p *probe) ir.Reg {
	r := e.Int("match")
	miss := func(c ir.Cond, x, y ir.Val, then func()) {
		if p.must() {
			e.skip(c, x, y)
			then()
			return
		}
		e.When(c.Negate(), x, y, then, nil)
	}
	if !p.must() {
		e.B.Mov(r, ir.K(0))
	}
	find := func() {
		if p.t.Kind == layout.Direct {
			at := e.placeOf(p)
			k := at.k
			if at.short {
				k = e.Int("k")
			}
			if p.must() && e.filtered(p.op) { // it is there: nothing waits for that
				miss = func(_ ir.Cond, _, _ ir.Val, then func()) { then() }
			}
			miss(ir.UGE, at.k.V(), at.span, func() {
				slots := e.LoadWord("slots", code.Word{Kind: code.WordSlots, Build: p.op.Build})
				e.B.Load(k, ir.AtIndex(slots, at.k, 4, 0), 4, false)
				e.B.Clear(slots)
				miss(ir.EQ, k.V(), ir.K(0), func() {
					tuples := e.LoadWord("tuples", code.Word{Kind: code.WordTuples, Build: p.op.Build})
					e.B.Lea(r, ir.AtIndex(tuples, k, 8, 0))
					e.B.Clear(tuples)
				})
			})
			e.B.Clear(k)
			if at.short {
				e.B.Clear(at.k)
			}
			return
		}
		// Open addressing.
		h := e.hashNow(e.ringOf(p.op.Build), p.keys, nil)
		slot, tag, ent := e.Int("slot"), e.Int("tag"), e.Int("entry")
		mask := e.Fact(1<<p.t.Bits - 1)
		e.B.Op2(ir.And, slot, h.V(), mask)
		e.B.Op2(ir.Shr, tag, h.V(), ir.K(layout.TagShift))
		slots := e.LoadWord("slots", code.Word{Kind: code.WordSlots, Build: p.op.Build})
		e.B.Mov(r, ir.K(0))
		l := e.B.Loop()
		e.Block(func() {
			e.B.Load8(ent, ir.AtIndex(slots, slot, 8, 0))
			if p.must() {
				e.skip(ir.EQ, ent.V(), ir.K(0))
			} else {
				e.B.Break(l, ir.EQ, ent.V(), ir.K(0))
			}
			et := e.Int("etag")
			e.B.Op2(ir.Shr, et, ent.V(), ir.K(layout.TagShift))
			e.B.Continue(l, ir.NE, et.V(), tag.V())
			e.B.Clear(et)
			e.B.Op2(ir.And, r, ent.V(), ir.K(layout.AddrMask))
			e.mismatch(p, r, func(c ir.Cond, x, y ir.Val) { e.B.Continue(l, c, x, y) })
			e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
		})
		e.B.Next(l)
		e.B.Mov(r, ir.K(0))
		e.B.Op2(ir.Add, slot, slot.V(), ir.K(1))
		e.B.Op2(ir.And, slot, slot.V(), mask)
		e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
		e.B.Clear(h, slot, tag, ent, slots)
	}
	if p.dead == ir.K(0) {
		find()
	} else {
		e.When(ir.EQ, p.dead, ir.K(0), find, nil)
	}
	return r
}

// shortKeys are keys whose distances fit in 32 bits.
var shortKeys = layout.Between(-1<<30, 1<<30-1)

// slotPlace is the place of a key in a table that it addresses, and the number of places: what lies outside has a place beyond them.
type slotPlace struct {
	k     ir.Reg
	span  ir.Val
	short bool // k has 32 bits
}

// placeOf opens a register with the place of a probe's key, of 32 bits where those tell whether it lies inside.
func (e *emitter) placeOf(p *probe) slotPlace {
	key := p.keys[0]
	if !key.Desc.Range.Within(shortKeys) || !layout.Between(p.t.Min, p.t.Min+p.t.Span).Within(shortKeys) {
		return e.longPlace(key, p.t)
	}
	return e.shortPlace(key, p.t)
}

// longPlace does it with 64 bits.
func (e *emitter) longPlace(key code.Value, t *layout.Table) slotPlace {
	k := e.Int("k")
	e.B.Op2(ir.Sub, k, key.A, e.Fact(t.Min))
	return slotPlace{k: k, span: e.Fact(t.Span)}
}

func (e *rowLoop) shortPlace(key code.Value, t *layout.Table) slotPlace { return e.longPlace(key, t) }

func (e *warp) shortPlace(key code.Value, t *layout.Table) slotPlace {
	k, w := e.word("k"), e.asWord("key", key.A)
	e.B.Op2(ir.Sub, k, w.V(), e.factWord(t.Min).V())
	e.B.Clear(w)
	return slotPlace{k, e.factWord(t.Span).V(), true}
}

// candidates opens registers with begin and end of the tuples that may match.
func (e *emitter) candidates(p *probe) (cur, end ir.Reg) {
	cur, end = e.Int("cur"), e.Int("last")
	e.B.Mov(cur, ir.K(0))
	e.B.Mov(end, ir.K(0))
	size := int64(p.t.Tuple.Size)
	find := func() {
		switch p.t.Kind {
		case layout.List:
			e.B.Load8(cur, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordTuples, Build: p.op.Build})))
			e.B.Op2(ir.Add, end, cur.V(), e.Fact(p.t.Rows*size))
		case layout.DenseBuckets:
			at := e.placeOf(p)
			e.When(ir.ULT, at.k.V(), at.span, func() {
				slots := e.LoadWord("slots", code.Word{Kind: code.WordSlots, Build: p.op.Build})
				e.B.Load(cur, ir.AtIndex(slots, at.k, 4, 0), 4, false)
				e.B.Load(end, ir.AtIndex(slots, at.k, 4, 4), 4, false)
				e.B.Load8(slots, ir.At(ir.Ctx, e.Word(code.Word{Kind: code.WordTuples, Build: p.op.Build})))
				e.B.Op2(ir.Mul, cur, cur.V(), ir.K(size))
				e.B.Op2(ir.Mul, end, end.V(), ir.K(size))
				e.B.Op2(ir.Add, cur, cur.V(), slots.V())
				e.B.Op2(ir.Add, end, end.V(), slots.V())
				e.B.Clear(slots)
			}, nil)
			e.B.Clear(at.k)
		default:
			h := e.hashNow(e.ringOf(p.op.Build), p.keys, nil)
			b, ent := e.Int("bucket"), e.Int("entry")
			slots := e.LoadWord("slots", code.Word{Kind: code.WordSlots, Build: p.op.Build})
			e.B.Op2(ir.Shr, b, h.V(), e.Fact(int64(64-p.t.Bits)))
			e.B.Load8(ent, ir.AtIndex(slots, b, 8, 8))
			e.B.Op2(ir.Shr, h, h.V(), ir.K(layout.FilterShift))
			e.B.Op2(ir.And, h, h.V(), ir.K(15))
			e.B.Op2(ir.Shr, h, ent.V(), h.V())
			e.B.Op2(ir.And, h, h.V(), ir.K(1))
			e.When(ir.NE, h.V(), ir.K(0), func() {
				e.B.Load8(cur, ir.AtIndex(slots, b, 8, 0))
				e.B.Op2(ir.Shr, cur, cur.V(), ir.K(16))
				e.B.Op2(ir.Shr, end, ent.V(), ir.K(16))
			}, nil)
			e.B.Clear(h, b, ent, slots)
		}
	}
	if p.dead == ir.K(0) {
		find()
	} else {
		e.When(ir.EQ, p.dead, ir.K(0), find, nil)
	}
	return cur, end
}

// bindTuple makes the fields of the tuple at r visible.
func (e *emitter) bindTuple(p *probe, r ir.Reg, miss ir.Val) {
	for k := range p.t.Tuple.Fields {
		f := &p.t.Tuple.Fields[k]
		e.BindLazy(plan.ColID(f.ID), func() code.Value { return e.loadField(r, f, miss) })
	}
}

// bindMatch makes the columns of the tuple at r visible, which has the row's keys: those need not be read from it. What depends on
// them, such as a lookup in groups, then need not wait until the tuple is there.
func (e *emitter) bindMatch(p *probe, r ir.Reg) {
	e.bindTuple(p, r, ir.K(0))
	if e.Off.MatchedKeys {
		return
	}
	for k, x := range p.op.Keys {
		f := &p.t.Tuple.Fields[k]
		ref, ok := x.(*plan.Ref)
		if !ok || p.nullSafe(k) || f.Desc.Form != layout.I64 || e.Column(ref.ID).Desc.Form != layout.I64 {
			continue
		}
		e.BindAs(plan.ColID(f.ID), ref, func() code.Value {
			v := e.Column(ref.ID)
			v.Desc, v.Null = f.Desc, ir.K(0)
			v.Desc.Nullable = false
			return v
		})
	}
}

// setFlag remembers in the tuple at r that it had a match.
func (e *emitter) setFlag(p *probe, r ir.Reg) {
	if p.op.SetFlag {
		e.setOnce(ir.At(r, p.t.Tuple.Flag))
	}
}

func (e *emitter) probeInner(p *probe) {
	if p.t.Kind.Unique() {
		r := e.findUnique(p)
		e.probeDone(p)
		e.bindMatch(p, r)
		for _, x := range orderPreds(p.op.On) {
			e.filter(x)
		}
		e.setFlag(p, r)
		e.clearDead(p.i + 1)
		e.consume(p.i + 1)
		e.B.Clear(r)
		return
	}
	e.matches(p)
}

// multiply raises the bound on rows by a factor.
func (e *emitter) multiply(n int64) {
	e.maxRows = e.maxRows.Mul(layout.Between(0, max(n, 1)))
}

// holds opens a register telling whether the join's further conditions hold for the tuple at r.
func (e *emitter) holds(p *probe, r ir.Reg) ir.Reg {
	ok := e.Int("on")
	e.B.Mov(ok, ir.K(0))
	once := e.B.Loop()
	e.Block(func() {
		e.bindTuple(p, r, ir.K(0))
		for _, x := range orderPreds(p.op.On) {
			v := e.Eval(x)
			e.B.Break(once, ir.EQ, v.A, ir.K(0))
			e.Free(v)
		}
		e.B.Mov(ok, ir.K(1))
	})
	e.B.EndLoop(once, ir.NE, ir.K(0), ir.K(0))
	return ok
}

// probeExists asks whether there is a match, for semi, anti and mark joins.
func (e *emitter) probeExists(p *probe) {
	switch {
	case p.t.Kind.Unique() && p.must() && len(p.op.On) == 0:
		r := e.findUnique(p) // dropped on the way if there is none
		e.setFlag(p, r)
		e.B.Clear(r)
		e.probeDone(p)
		e.clearDead(p.i + 1)
		e.consume(p.i + 1)
	case p.t.Kind.Unique():
		found := e.Int("found")
		e.B.Mov(found, ir.K(0))
		r := e.findUnique(p)
		e.When(ir.NE, r.V(), ir.K(0), func() {
			ok := e.holds(p, r)
			e.B.Mov(found, ok.V())
			e.B.Clear(ok)
		}, nil)
		e.B.Clear(r)
		e.answer(p, found)
	default:
		e.exists(p, func(found ir.Reg) { e.answer(p, found) })
	}
}

// findAny opens a register that tells whether one of the candidates is a match.
func (e *emitter) findAny(p *probe) (found ir.Reg) {
	found = e.Int("found")
	e.B.Mov(found, ir.K(0))
	cur, end := e.candidates(p)
	l := e.B.Loop()
	e.Block(func() {
		e.B.Break(l, ir.UGE, cur.V(), end.V())
		e.mismatch(p, cur, func(c ir.Cond, x, y ir.Val) { e.B.Continue(l, c, x, y) })
		if len(p.op.On) > 0 {
			ok := e.holds(p, cur)
			e.B.Continue(l, ir.EQ, ok.V(), ir.K(0))
			e.B.Clear(ok)
		}
		e.B.Mov(found, ir.K(1))
		e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.B.Next(l)
	e.tick()
	e.B.Op2(ir.Add, cur, cur.V(), ir.K(int64(p.t.Tuple.Size)))
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	e.B.Clear(cur, end)
	return found
}

// answer goes on with the row, by what was found.
func (e *emitter) answer(p *probe, found ir.Reg) {
	switch p.op.Kind {
	case pipe.ProbeSemi:
		e.skip(ir.EQ, found.V(), ir.K(0))
	case pipe.ProbeAnti:
		e.skip(ir.NE, found.V(), ir.K(0))
	case pipe.ProbeMark:
		e.Bind(p.op.Mark, e.mark(p, found))
		e.probeDone(p)
		e.clearDead(p.i + 1)
		e.consume(p.i + 1)
		return
	}
	e.B.Clear(found)
	e.probeDone(p)
	e.clearDead(p.i + 1)
	e.consume(p.i + 1)
}

// mark is what x IN (…) says: true if found; else NULL if x is NULL or the list had a NULL,
// unless the list is empty; else false.
func (e *emitter) mark(p *probe, found ir.Reg) code.Value {
	v := code.BoolValue(found)
	if p.t.Rows == 0 && !p.t.SawNull {
		return v
	}
	n := ir.K(0)
	if p.t.SawNull {
		n = ir.K(1)
	} else {
		n = p.null
	}
	if n == ir.K(0) {
		return v
	}
	r := e.Int("mark.null")
	e.B.Sel(r, ir.NE, found.V(), ir.K(0), ir.K(0), n)
	return v.WithNull(r.V(), true)
}

// probeOuter goes on with each match, or once with NULLs where there is none.
func (e *emitter) probeOuter(p *probe) {
	if p.t.Kind.Unique() || p.op.Kind == pipe.ProbeSingle {
		r := e.findOne(p)
		e.probeDone(p)
		e.outerRow(p, r, func() {
			e.clearDead(p.i + 1)
			e.consume(p.i + 1)
		})
		e.B.Clear(r)
		return
	}
	e.matches(p)
}

// nextMatch opens a register with the next tuple from cur on that matches, 0 at the end.
func (e *emitter) nextMatch(p *probe, cur, end ir.Reg) ir.Reg {
	r := e.Int("match")
	e.B.Mov(r, ir.K(0))
	l := e.B.Loop()
	e.Block(func() {
		e.B.Break(l, ir.UGE, cur.V(), end.V())
		e.tick()
		c := e.Int("candidate")
		e.B.Mov(c, cur.V())
		e.B.Op2(ir.Add, cur, cur.V(), ir.K(int64(p.t.Tuple.Size)))
		e.mismatch(p, c, func(cc ir.Cond, x, y ir.Val) { e.B.Continue(l, cc, x, y) })
		if len(p.op.On) > 0 {
			ok := e.holds(p, c)
			e.B.Continue(l, ir.EQ, ok.V(), ir.K(0))
			e.B.Clear(ok)
		}
		e.B.Mov(r, c.V())
		e.B.Clear(c)
		e.B.Break(l, ir.Always, ir.K(0), ir.K(0))
	})
	e.B.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	return r
}

// findOne opens a register with the only match, 0 if there is none. For scalar subqueries
// a second match is an error.
func (e *emitter) findOne(p *probe) ir.Reg {
	if p.t.Kind.Unique() {
		r := e.findUnique(p)
		if len(p.op.On) > 0 {
			e.When(ir.NE, r.V(), ir.K(0), func() {
				ok := e.holds(p, r)
				e.B.Sel(r, ir.EQ, ok.V(), ir.K(0), ir.K(0), r.V())
				e.B.Clear(ok)
			}, nil)
		}
		return r
	}
	cur, end := e.candidates(p)
	r := e.nextMatch(p, cur, end)
	e.When(ir.NE, r.V(), ir.K(0), func() {
		second := e.nextMatch(p, cur, end)
		e.Exit(e.Fail(diag.Errorf(diag.CardinalityViolation, -1, "more than one row returned by a subquery used as an expression")),
			ir.NE, second.V(), ir.K(0))
		e.B.Clear(second)
	}, nil)
	// The caller clears r; cur and end were opened before it and end here.
	e.B.Clear(cur, end)
	return r
}

// outerRow binds the tuple at r, or NULLs if r is 0, and runs rest.
func (e *emitter) outerRow(p *probe, r ir.Reg, rest func()) {
	if p.op.SetFlag {
		e.When(ir.NE, r.V(), ir.K(0), func() { e.setFlag(p, r) }, nil)
	}
	miss := e.Int("miss")
	e.B.Set(miss, ir.EQ, r.V(), ir.K(0))
	zero := e.LoadWord("zero", code.Word{Kind: code.WordZero})
	e.B.Sel(r, ir.EQ, r.V(), ir.K(0), zero.V(), r.V())
	e.B.Clear(zero)
	e.bindTuple(p, r, miss.V())
	rest()
	e.B.Clear(miss)
}
