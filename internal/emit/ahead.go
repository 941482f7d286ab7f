package emit

import (
	"github.com/kelpiedb/kelpie/internal/column"
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

// keyColumns is which columns of the scan the keys are, if they are plain integers without NULLs.
func (e *emitter) keyColumns(scan *plan.Scan, keys []plan.Expr, tuple *layout.Tuple) ([]int, bool) {
	var out []int
	for i, x := range keys {
		ref, ok := unwidened(x).(*plan.Ref)
		if !ok || tuple.Fields[i].Desc.Form != layout.I64 {
			return nil, false
		}
		k := -1
		for j, id := range scan.Cols {
			if id == ref.ID {
				k = j
			}
		}
		if k < 0 || e.Shapes[k].Enc != column.EncInt || e.Shapes[k].Nulls || e.columnDesc(scan, k).Form != layout.I64 {
			return nil, false
		}
		out = append(out, k)
	}
	return out, len(out) > 0
}

// fetchAhead emits the fetches for the rows that at gives: at(n) opens a register with the number of the row n
// rows after the present one.
func (e *emitter) fetchAhead(list []ahead, at func(n int64) ir.Reg) {
	for _, a := range list {
		scan := e.Pipeline.Source.(*pipe.Table).Scan
		e.detail("fetch ahead", func(plan.Names) string { return "" })
		for _, n := range []int64{slotAhead, tupleAhead} {
			row := at(n)
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
