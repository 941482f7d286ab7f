package emit

import (
	"slices"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
	"github.com/kelpiedb/kelpie/internal/pipe"
	"github.com/kelpiedb/kelpie/internal/plan"
	"github.com/kelpiedb/kelpie/internal/types"
)

// While one row is worked on, memory that later rows will need can already be on its way: the slot that a row will
// look up in a large hash table, and, from nearer, the tuple that the slot names. Only keys that are columns of the
// scan are known so early.

// How many rows ahead slots and tuples are fetched. Columns may be read that far past their end (column.PadRows).
const (
	slotAhead  = 32
	tupleAhead = 16
)

// largeTable is the size in bytes from which on a table is not expected in the processor's nearer caches.
const largeTable = 8 << 20

// ahead is a lookup of the pipeline that can be prepared.
type ahead struct {
	build *pipe.Build
	cols  []int // in Scan.Cols: the keys
}

// lookAheads finds the lookups of the pipeline worth preparing. Those after an operator that may drop or
// multiply rows are not: most would be in vain.
func (e *emitter) lookAheads() []ahead {
	t, ok := e.Pipeline.Source.(*pipe.Table)
	if !ok || e.Target != ir.CPU || e.Off.Prefetch {
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
				if cols, ok := e.keyColumns(t.Scan, op.Keys, table.Tuple); ok {
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

// keyColumns is which columns of the scan the keys are, if they are plain integers or dictionary codes without NULLs.
func (e *emitter) keyColumns(scan *plan.Scan, keys []plan.Expr, tuple *layout.Tuple) ([]int, bool) {
	var out []int
	for i, x := range keys {
		ref, ok := unwidened(x).(*plan.Ref)
		if !ok {
			return nil, false
		}
		k := slices.Index(scan.Cols, ref.ID)
		if k < 0 || e.Shapes[k].Nulls {
			return nil, false
		}
		form := e.columnDesc(scan, k).Form
		if form != tuple.Fields[i].Desc.Form || form != layout.I64 && form != layout.Code {
			return nil, false
		}
		out = append(out, k)
	}
	return out, len(out) > 0
}

// fetchAhead emits the fetches of the lookups in list.
func (e *emitter) fetchAhead(list []ahead) {
	for _, a := range list {
		scan := e.Pipeline.Source.(*pipe.Table).Scan
		e.detail("fetch ahead", func(plan.Names) string { return "" })
		for _, n := range []int64{slotAhead, tupleAhead} {
			row := e.later(n)
			keys := make([]value, len(a.cols))
			for i, k := range a.cols {
				keys[i] = e.loadColumn(scan, k, row)
			}
			e.fetchProbe(a.build, keys, n == slotAhead)
			e.free(keys...)
			e.b.Clear(row)
		}
	}
}

// fetchGroup fetches what later rows will need of a large table of groups.
func (e *emitter) fetchGroup(gp *GroupPlan, keys []plan.Expr) {
	t, ok := e.Pipeline.Source.(*pipe.Table)
	if !ok || e.later == nil || e.Off.Prefetch || !gp.large() {
		return
	}
	cols, ok := e.keyColumns(t.Scan, keys, gp.Tuple)
	if !ok || gp.Mode == DenseGroups && t.Scan.Snap.Stats[t.Scan.Ordinal[cols[0]]].Sorted {
		return // what comes in order is in the cache already
	}
	e.detail("fetch ahead", func(plan.Names) string { return "" })
	for _, n := range []int64{slotAhead, tupleAhead} {
		row := e.later(n)
		vals := make([]value, len(cols))
		for i, k := range cols {
			vals[i] = e.loadColumn(t.Scan, k, row)
		}
		dir := e.int("dir")
		e.b.Load8(dir, ir.At(ir.Ctx, CtxDir))
		slot := e.groupSlot(gp, vals)
		if n == slotAhead {
			e.b.Prefetch(ir.AtIndex(dir, slot, 8, 0))
		} else {
			e.b.Load8(slot, ir.AtIndex(dir, slot, 8, 0))
			e.b.Op2(ir.And, slot, slot.V(), ir.K(layout.AddrMask))
			e.b.Prefetch(ir.At(slot, 0))
		}
		e.b.Clear(slot, dir)
		e.free(vals...)
		e.b.Clear(row)
	}
}

// large reports tables of groups that are not expected in the nearer caches.
func (gp *GroupPlan) large() bool {
	switch gp.Mode {
	case HashGroups:
		return gp.Expect*int64(gp.Tuple.Size+16) >= largeTable
	case DenseGroups:
		return gp.Expect*int64(gp.Tuple.Size)+8*gp.Slots >= largeTable
	}
	return false
}

// groupSlot opens a register with the first place in the directory where the group of keys may be; past the end
// of a column keys may be anything, but the place must exist.
func (e *emitter) groupSlot(gp *GroupPlan, keys []value) ir.Reg {
	if gp.Mode == DenseGroups {
		k := e.int("slot")
		e.b.Op2(ir.Sub, k, keys[0].a, ir.K(gp.Domains[0].Lo))
		e.b.Sel(k, ir.ULT, k.V(), ir.K(gp.Slots), k.V(), ir.K(0))
		return k
	}
	h, mask := e.hash(keys), e.int("mask")
	e.b.Load8(mask, ir.At(ir.Ctx, CtxMask))
	e.b.Op2(ir.And, h, h.V(), mask.V())
	e.b.Clear(mask)
	return h
}

// fetchProbe fetches the slot for keys, or the tuple that it names.
func (e *emitter) fetchProbe(b *pipe.Build, keys []value, slot bool) {
	t := e.Tables[b]
	slots := e.loadWord("slots", Word{Kind: WordSlots, Build: b})
	defer e.b.Clear(slots)
	i := e.int("ahead")
	defer e.b.Clear(i)
	width := 8
	switch t.Kind {
	case layout.Direct, layout.DenseBuckets:
		width = 4
		e.b.Op2(ir.Sub, i, keys[0].a, ir.K(t.Min))
		if !slot { // a key that is not in the table must not lead outside of it
			e.b.Sel(i, ir.ULT, i.V(), ir.K(t.Span), i.V(), ir.K(0))
		}
	default:
		h := e.hash(keys)
		if t.Kind == layout.Open {
			e.b.Op2(ir.And, i, h.V(), ir.K(1<<t.Bits-1))
		} else {
			e.b.Op2(ir.Shr, i, h.V(), ir.K(int64(64-t.Bits)))
		}
		e.b.Clear(h)
	}
	if slot {
		e.b.Prefetch(ir.AtIndex(slots, i, width, 0))
		return
	}
	e.b.Load(i, ir.AtIndex(slots, i, width, 0), width, false)
	switch t.Kind {
	case layout.Direct:
		tuples := e.loadWord("tuples", Word{Kind: WordTuples, Build: b})
		e.b.Prefetch(ir.AtIndex(tuples, i, 8, 0))
		e.b.Clear(tuples)
	case layout.DenseBuckets:
		tuples := e.loadWord("tuples", Word{Kind: WordTuples, Build: b})
		e.b.Op2(ir.Mul, i, i.V(), ir.K(int64(t.Tuple.Size)))
		e.b.Prefetch(ir.AtIndex(tuples, i, 1, 0))
		e.b.Clear(tuples)
	case layout.Open:
		e.b.Op2(ir.And, i, i.V(), ir.K(layout.AddrMask))
		e.b.Prefetch(ir.At(i, 0))
	default:
		e.b.Op2(ir.Shr, i, i.V(), ir.K(16))
		e.b.Prefetch(ir.At(i, 0))
	}
}

// unwidened is x without the cast of an integer to a wider one, which changes nothing in a register.
func unwidened(x plan.Expr) plan.Expr {
	if c, ok := x.(*plan.Call); ok && c.Op == plan.Cast && c.T.Kind == types.Int64 && c.Args[0].Type().IsInteger() {
		return c.Args[0]
	}
	return x
}
