package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/emit/code"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/phys"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// While one row is worked on, memory that later rows will need can already be on its way: the slot that a row will
// look up in a large hash table, and, from nearer, the tuple that the slot names. Only keys that are columns of the
// scan are known so early.

// How many rows ahead slots and tuples are fetched.
const (
	slotAhead  = 32
	tupleAhead = 16
)

// A hash that is computed slotAhead rows early waits in a ring of the context until its row comes.
const ringSlots = 2 * slotAhead

// largeTable is the size in bytes from which on a table is not expected in the processor's nearer caches.
const largeTable = 8 << 20

// ahead is a lookup of the pipeline that can be prepared.
type ahead struct {
	build *pipe.Build
	cols  []int // in Scan.Cols: the keys
}

// ring is a context offset of hashes by place, or noRing.
type ring int

const noRing ring = -1

func (e *emitter) newRing() ring { return ring(e.Scratch(8 * ringSlots)) }

// ringSlot is the element for the row n rows after this one.
func (e *emitter) ringSlot(g ring, n int64) (ir.Mem, ir.Reg) {
	at := e.place.Count()
	if n > 0 {
		e.B.Op2(ir.Add, at, at.V(), ir.K(n))
	}
	e.B.Op2(ir.And, at, at.V(), ir.K(ringSlots-1))
	return ir.AtIndex(ir.Ctx, at, 8, int(g)), at
}

// hashLater opens a register with the hash of the keys of the row n rows after this one, which is slotAhead, when it is
// computed, or less.
func (e *emitter) hashLater(cols []int, g ring, n int64, gp *GroupPlan) ir.Reg {
	if g != noRing && n < slotAhead {
		h := e.Int("hash")
		m, at := e.ringSlot(g, n)
		e.B.Load8(h, m)
		e.B.Clear(at)
		return h
	}
	keys := e.keysLater(cols, n)
	h := e.hashFor(keys, gp)
	e.Free(keys...)
	if g != noRing {
		m, at := e.ringSlot(g, n)
		e.B.Store(m, h.V(), 8)
		e.B.Clear(at)
	}
	return h
}

// keysLater reads the keys of a row to come.
func (e *emitter) keysLater(cols []int, n int64) []code.Value {
	row := e.place.Later(n)
	keys := make([]code.Value, len(cols))
	for i, k := range cols {
		keys[i] = e.table.Load(k, row)
	}
	e.B.Clear(row)
	return keys
}

// hashFor is the hash of keys of groups, or of a join where there are none.
func (e *emitter) hashFor(keys []code.Value, gp *GroupPlan) ir.Reg {
	if gp != nil {
		return e.groupHash(gp, keys)
	}
	return e.Hash(keys)
}

// hashNow opens a register with the hash of the keys at hand, which has waited in the ring unless the row is among the first.
func (e *emitter) hashNow(g ring, keys []code.Value, gp *GroupPlan) ir.Reg {
	if g == noRing {
		return e.hashFor(keys, gp)
	}
	h, n := e.Int("hash"), e.place.Count()
	e.When(ir.ULT, n.V(), ir.K(slotAhead), func() {
		t := e.hashFor(keys, gp)
		e.B.Mov(h, t.V())
		e.B.Clear(t)
	}, func() {
		e.B.Op2(ir.And, n, n.V(), ir.K(ringSlots-1))
		e.B.Load8(h, ir.AtIndex(ir.Ctx, n, 8, int(g)))
	})
	e.B.Clear(n)
	return h
}

// lookAheads finds the lookups of the pipeline worth preparing. Those after an operator that may drop or
// multiply rows are not: most would be in vain.
func (e *emitter) lookAheads() []ahead {
	if e.table == nil || e.Off.Prefetch {
		return nil
	}
	var out []ahead
	for _, op := range e.Pipeline.Ops {
		switch op := op.(type) {
		case *pipe.Map, *pipe.Rename:
			continue
		case *pipe.Probe:
			table := e.Tables[op.Build]
			if table.Bytes() >= largeTable && table.Kind != layout.List {
				if cols, ok := e.keyColumns(op.Keys, table.Tuple); ok {
					out = append(out, ahead{build: op.Build, cols: cols})
				}
			}
			if table.Kind.Unique() && op.Kind != pipe.ProbeAnti && op.Kind != pipe.ProbeSemi {
				continue
			}
		}
		return out
	}
	return out
}

// keyColumns is which columns of the scan the keys are, if they are integers, dictionary codes or texts without NULLs.
func (e *emitter) keyColumns(keys []plan.Expr, tuple *layout.Tuple) ([]int, bool) {
	cols := e.table.Scan.Cols
	var out []int
	for i, x := range keys {
		ref, ok := unwidened(x).(*plan.Ref)
		if !ok {
			return nil, false
		}
		k := slices.Index(cols, ref.ID)
		if from := e.keyFrom(ref.ID); k < 0 && from != nil {
			k = slices.Index(cols, from.ID)
			if k >= 0 && !e.table.Desc(k).Range.Within(tuple.Fields[i].Desc.Range) {
				return nil, false // a row without match may have a key beyond the table
			}
		}
		if k < 0 || e.table.Shapes[k].Nulls {
			return nil, false
		}
		form := e.table.Desc(k).Form
		if form != tuple.Fields[i].Desc.Form || form != layout.I64 && form != layout.Code && form != layout.Str {
			return nil, false
		}
		out = append(out, k)
	}
	return out, len(out) > 0
}

// keyFrom is the column of the row at hand that a match's key is taken from; nil: it is not.
func (e *emitter) keyFrom(id plan.ColID) *plan.Ref {
	from, _ := e.Definition(id).(*plan.Ref)
	return from
}

// fetchAhead emits the fetches of the lookups in list.
func (e *emitter) fetchAhead(list []ahead) {
	for _, a := range list {
		e.Detail("fetch ahead", func(plan.Names) string { return "" })
		g := noRing
		if k := e.Tables[a.build].Kind; k == layout.Open || k == layout.Buckets {
			g = e.newRing()
			if e.rings == nil {
				e.rings = map[*pipe.Build]ring{}
			}
			e.rings[a.build] = g
		}
		for _, n := range []int64{slotAhead, tupleAhead} {
			e.fetchProbe(a, g, n)
		}
	}
}

// ringOf is where the hashes for a probe wait.
func (e *emitter) ringOf(b *pipe.Build) ring {
	if g, ok := e.rings[b]; ok {
		return g
	}
	return noRing
}

// fetchGroup fetches what later rows will need of a large table of groups. It returns where their hashes wait.
func (e *emitter) fetchGroup(gp *GroupPlan, keys []plan.Expr) ring {
	if e.table == nil || e.place.Later == nil || e.Off.Prefetch || !gp.large() {
		return noRing
	}
	cols, ok := e.keyColumns(keys, gp.Tuple)
	if !ok || gp.Mode == phys.DenseGroups && e.table.Sorted(cols[0]) {
		return noRing // what comes in order is in the cache already
	}
	g := noRing
	if gp.Mode == phys.HashGroups && e.place.Every && e.keepsAll() {
		g = e.newRing()
	} else if gp.Mode == phys.HashGroups && slices.ContainsFunc(gp.Tuple.Fields[:len(keys)], func(f layout.Field) bool { return f.Desc.Form == layout.Str }) {
		return noRing // too much to do three times
	}
	e.Detail("fetch ahead", func(plan.Names) string { return "" })
	for _, n := range []int64{slotAhead, tupleAhead} {
		slot := e.groupSlot(gp, cols, g, n)
		dir := e.Int("dir")
		e.B.Load8(dir, ir.At(ir.Ctx, layout.CtxDir))
		if n == slotAhead {
			e.B.Prefetch(ir.AtIndex(dir, slot, 8, 0))
		} else {
			e.B.Load8(slot, ir.AtIndex(dir, slot, 8, 0))
			e.B.Op2(ir.And, slot, slot.V(), ir.K(layout.AddrMask))
			e.B.Prefetch(ir.At(slot, 0))
		}
		e.B.Clear(slot, dir)
	}
	return g
}

// keepsAll reports that every row that comes to the first operator also comes to the sink, once.
func (e *emitter) keepsAll() bool {
	for _, op := range e.Pipeline.Ops {
		switch op.(type) {
		case *pipe.Map, *pipe.Rename:
		default:
			return false
		}
	}
	return true
}

// large reports tables of groups that are not expected in the nearer caches.
func (gp *GroupPlan) large() bool {
	switch gp.Mode {
	case phys.HashGroups:
		return gp.Expect*int64(gp.Tuple.Size+16) >= largeTable
	case phys.DenseGroups:
		return gp.Expect*int64(gp.Tuple.Size)+8*gp.Slots >= largeTable
	}
	return false
}

// groupSlot opens a register with the first place in the directory where the group of the row n rows after this one may be.
func (e *emitter) groupSlot(gp *GroupPlan, cols []int, g ring, n int64) ir.Reg {
	if gp.Mode == phys.DenseGroups {
		keys := e.keysLater(cols, n)
		k := e.Int("slot")
		e.arrayIndex(k, gp, keys)
		e.B.Sel(k, ir.ULT, k.V(), ir.K(gp.Slots), k.V(), ir.K(0)) // the row may be one that is dropped
		e.Free(keys...)
		return k
	}
	h, mask := e.hashLater(cols, g, n, gp), e.Int("mask")
	e.B.Load8(mask, ir.At(ir.Ctx, layout.CtxMask))
	e.B.Op2(ir.And, h, h.V(), mask.V())
	e.B.Clear(mask)
	return h
}

// fetchProbe fetches the slot for the row that is slotAhead rows ahead, or the tuple that the slot of a nearer one names.
func (e *emitter) fetchProbe(a ahead, g ring, n int64) {
	b, slot := a.build, n == slotAhead
	t := e.Tables[b]
	i := e.Int("ahead")
	defer e.B.Clear(i)
	width := 8
	switch t.Kind {
	case layout.Direct, layout.DenseBuckets:
		width = 4
		keys := e.keysLater(a.cols, n)
		e.B.Op2(ir.Sub, i, keys[0].A, ir.K(t.Min))
		e.Free(keys...)
		if !slot { // a key that is not in the table must not lead outside of it
			e.B.Sel(i, ir.ULT, i.V(), ir.K(t.Span), i.V(), ir.K(0))
		}
	default:
		h := e.hashLater(a.cols, g, n, nil)
		if t.Kind == layout.Open {
			e.B.Op2(ir.And, i, h.V(), ir.K(1<<t.Bits-1))
		} else {
			e.B.Op2(ir.Shr, i, h.V(), ir.K(int64(64-t.Bits)))
		}
		e.B.Clear(h)
	}
	slots := e.LoadWord("slots", code.Word{Kind: code.WordSlots, Build: b})
	defer e.B.Clear(slots)
	if slot {
		e.B.Prefetch(ir.AtIndex(slots, i, width, 0))
		return
	}
	e.B.Load(i, ir.AtIndex(slots, i, width, 0), width, false)
	switch t.Kind {
	case layout.Direct:
		tuples := e.LoadWord("tuples", code.Word{Kind: code.WordTuples, Build: b})
		e.B.Prefetch(ir.AtIndex(tuples, i, 8, 0))
		e.B.Clear(tuples)
	case layout.DenseBuckets:
		tuples := e.LoadWord("tuples", code.Word{Kind: code.WordTuples, Build: b})
		e.B.Op2(ir.Mul, i, i.V(), ir.K(int64(t.Tuple.Size)))
		e.B.Prefetch(ir.AtIndex(tuples, i, 1, 0))
		e.B.Clear(tuples)
	case layout.Open:
		e.B.Op2(ir.And, i, i.V(), ir.K(layout.AddrMask))
		e.B.Prefetch(ir.At(i, 0))
	default:
		e.B.Op2(ir.Shr, i, i.V(), ir.K(16))
		e.B.Prefetch(ir.At(i, 0))
	}
}

// unwidened is x without the cast of an integer to a wider one, which changes nothing in a register.
func unwidened(x plan.Expr) plan.Expr {
	if c, ok := x.(*plan.Call); ok && c.Op == plan.Cast && c.T.Kind == types.Int64 && c.Args[0].Type().IsInteger() {
		return c.Args[0]
	}
	return x
}
