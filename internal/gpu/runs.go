package gpu

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// How many tuples have the same key is what decides how lanes share the matches of their rows: one pass over the slots of a table
// counts runs that are not empty, the longest, and the squares of all lengths.

// measureKeys measures slots that are addressed by the key: slots, sums.
func measureKeys() *ir.Func {
	return measureRuns("runs_of_keys", func(k *kernel, slots ir.Reg) ir.Reg {
		from, to := k.Vreg("from", ir.I64), k.Vreg("to", ir.I64)
		k.Load(from, ir.AtIndex(slots, k.item, 4, 0), 4, false)
		k.Load(to, ir.AtIndex(slots, k.item, 4, 4), 4, false)
		k.Op2(ir.Sub, to, to.V(), from.V())
		k.Clear(from)
		return to
	})
}

// measureBuckets measures buckets: directory, sums.
func measureBuckets(t *layout.Tuple) *ir.Func {
	return measureRuns(fmt.Sprintf("runs_of_buckets_%d", t.Size), func(k *kernel, slots ir.Reg) ir.Reg {
		from, to := k.Vreg("from", ir.I64), k.Vreg("to", ir.I64)
		k.Load8(from, ir.AtIndex(slots, k.item, 8, 0))
		k.Load8(to, ir.AtIndex(slots, k.item, 8, 8))
		k.Op2(ir.Shr, from, from.V(), ir.K(16))
		k.Op2(ir.Shr, to, to.V(), ir.K(16))
		k.Op2(ir.Sub, to, to.V(), from.V())
		k.Op2(ir.Div, to, to.V(), ir.K(int64(t.Size)))
		k.Clear(from)
		return to
	})
}

// measureRuns writes the kernel; length opens a register with that of the item's run.
func measureRuns(name string, length func(k *kernel, slots ir.Reg) ir.Reg) *ir.Func {
	var keys, longest, squares ir.Reg
	setup := func(k *kernel) []ir.Reg {
		s := k.load("slots", "sums")
		for _, r := range []*ir.Reg{&keys, &longest, &squares} {
			*r = k.Vreg("sum", ir.I64)
			k.Mov(*r, ir.K(0))
			s = append(s, *r)
		}
		return s
	}
	return newKernelThen(name, setup, func(k *kernel, s []ir.Reg) {
		n := length(k, s[0])
		t := k.Vreg("t", ir.I64)
		k.Set(t, ir.NE, n.V(), ir.K(0))
		k.Op2(ir.Add, keys, keys.V(), t.V())
		k.Sel(longest, ir.GT, n.V(), longest.V(), n.V(), longest.V())
		k.Op2(ir.Mul, t, n.V(), n.V())
		k.Op2(ir.Add, squares, squares.V(), t.V())
		k.Clear(t, n)
	}, func(k *kernel, s []ir.Reg) {
		other, lane := k.Vreg("other", ir.I64), k.Vreg("lane", ir.I64)
		k.Special(lane, ir.LaneID)
		for d := int64(16); d > 0; d /= 2 {
			for _, r := range []ir.Reg{keys, longest, squares} {
				k.Op2(ir.ShflXor, other, r.V(), ir.K(d))
				if r == longest {
					k.Sel(r, ir.GT, other.V(), r.V(), other.V(), r.V())
				} else {
					k.Op2(ir.Add, r, r.V(), other.V())
				}
			}
		}
		k.when(ir.EQ, lane.V(), ir.K(0), func() {
			k.Atom(ir.AtomAdd, other, ir.At(s[1], 0), keys.V(), ir.Val{})
			k.Atom(ir.AtomMax, other, ir.At(s[1], 8), longest.V(), ir.Val{})
			k.Atom(ir.AtomAdd, other, ir.At(s[1], 16), squares.V(), ir.Val{})
		})
		k.Clear(other, lane)
	})
}
