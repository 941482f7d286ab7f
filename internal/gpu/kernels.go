package gpu

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// What happens between pipelines is done by kernels, too, written in the IR, like all code. Those here know the layouts of
// tuples and tables; what any program could use is in package kernels. Their parameters are words: first how
// many items there are, then what each names.

// kernel is a function over items, each taken by one lane.
type kernel struct {
	*ir.Builder
	item ir.Reg
}

// newKernel begins a function: setup opens what all items share, body is emitted once per item.
func newKernel(name string, setup func(k *kernel) []ir.Reg, body func(k *kernel, shared []ir.Reg)) *ir.Func {
	return newKernelThen(name, setup, body, func(*kernel, []ir.Reg) {})
}

// newKernelThen is newKernel with something that all lanes do after the last item.
func newKernelThen(name string, setup func(k *kernel) []ir.Reg, body, then func(k *kernel, shared []ir.Reg)) *ir.Func {
	k := &kernel{Builder: ir.NewFunc(name, ir.GPU)}
	i, n, step, t := k.Vreg("item", ir.I64), k.Vreg("end", ir.I64), k.Vreg("step", ir.I64), k.Vreg("t", ir.I64)
	k.item = i
	k.Special(step, ir.BlockDim)
	k.Special(i, ir.BlockID)
	k.Op2(ir.Mul, i, i.V(), step.V())
	k.Special(t, ir.ThreadID)
	k.Op2(ir.Add, i, i.V(), t.V())
	k.Special(t, ir.GridDim)
	k.Op2(ir.Mul, step, step.V(), t.V())
	k.F.Params = 1
	k.Param(n, 1)
	k.Clear(t)
	shared := setup(k)
	l := k.Loop()
	k.Break(l, ir.GE, i.V(), n.V())
	body(k, shared)
	k.Op2(ir.Add, i, i.V(), step.V())
	k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	then(k, shared)
	k.Clear(shared...)
	k.Clear(i, n, step)
	return k.F
}

// load opens registers with the parameters behind the number of items.
func (k *kernel) load(names ...string) []ir.Reg {
	var out []ir.Reg
	for _, name := range names {
		r := k.Vreg(name, ir.I64)
		k.F.Params++
		k.Param(r, k.F.Params)
		out = append(out, r)
	}
	return out
}

// when emits then under a condition.
func (k *kernel) when(c ir.Cond, x, y ir.Val, then func()) {
	k.If(c, x, y)
	then()
	k.EndIf()
}

// tupleOf opens a register with the address of the item's tuple in an array.
func (k *kernel) tupleOf(base ir.Reg, size int) ir.Reg {
	a := k.Vreg("tuple", ir.I64)
	k.Op2(ir.Mul, a, k.item.V(), ir.K(int64(size)))
	k.Op2(ir.Add, a, a.V(), base.V())
	return a
}

// copyTuple copies size bytes, a multiple of 8.
func (k *kernel) copyTuple(to, from ir.Reg, size int) {
	x := k.Vreg("word", ir.I64)
	for off := 0; off < size; off += 8 {
		k.Load8(x, ir.At(from, off))
		k.Store(ir.At(to, off), x.V(), 8)
	}
	k.Clear(x)
}

// keyOf opens a register with the first word of a tuple's field.
func (k *kernel) keyOf(tuple ir.Reg, f *layout.Field) ir.Reg {
	x := k.Vreg("key", ir.I64)
	k.Load(x, ir.At(tuple, f.Off), int(f.Width), f.Width < 8 && f.Signed())
	return x
}

// hashOf opens a register with the hash of a tuple's keys: stored, or that of its one integer key.
func (k *kernel) hashOf(tuple ir.Reg, t *layout.Tuple) ir.Reg {
	if t.HasHash {
		h := k.Vreg("hash", ir.I64)
		k.Load8(h, ir.At(tuple, 0))
		return h
	}
	h := k.keyOf(tuple, &t.Fields[0])
	k.hashInt(h)
	return h
}

// hashInt replaces an integer by its hash.
func (k *kernel) hashInt(h ir.Reg) {
	hi := k.Vreg("hi", ir.I64)
	k.Op2(ir.Xor, h, h.V(), ir.K(layout.HashSeed))
	k.Op128(ir.MulWideU, h, hi, h.V(), ir.Val{}, ir.K(layout.HashMul), ir.Val{}, 0)
	k.Op2(ir.Xor, h, h.V(), hi.V())
	k.Clear(hi)
}

// layoutName tells kernels for different tuples apart.
func layoutName(t *layout.Tuple) string {
	f := &t.Fields[0]
	return fmt.Sprintf("%d_%d_%d_%t_%t", t.Size, f.Off, f.Width, f.Signed(), t.HasHash)
}

// What each kernel takes stands in its own comment.

// bitmapKernel writes a bit for each item, set where test leaves something other than 0. The second parameter is the
// bitmap. Warps stay together: the loop is over whole blocks of items.
func bitmapKernel(name string, params []string, test func(k *kernel, s []ir.Reg, bit ir.Reg)) *ir.Func {
	k := &kernel{Builder: ir.NewFunc(name, ir.GPU)}
	i, n, from, step, t := k.Vreg("item", ir.I64), k.Vreg("end", ir.I64), k.Vreg("from", ir.I64), k.Vreg("step", ir.I64), k.Vreg("thread", ir.I64)
	k.item = i
	k.Special(step, ir.BlockDim)
	k.Special(from, ir.BlockID)
	k.Op2(ir.Mul, from, from.V(), step.V())
	k.Special(t, ir.GridDim)
	k.Op2(ir.Mul, step, step.V(), t.V())
	k.Special(t, ir.ThreadID)
	k.F.Params = 1
	k.Param(n, 1)
	s := k.load(params...)
	bit, lane := k.Vreg("bit", ir.I64), k.Vreg("lane", ir.I64)
	l := k.Loop()
	k.Break(l, ir.GE, from.V(), n.V())
	k.Op2(ir.Add, i, from.V(), t.V())
	k.Mov(bit, ir.K(0))
	k.when(ir.LT, i.V(), n.V(), func() { test(k, s, bit) })
	k.Op1(ir.Ballot, bit, bit.V())
	k.Special(lane, ir.LaneID)
	k.when(ir.EQ, lane.V(), ir.K(0), func() {
		k.when(ir.LT, i.V(), n.V(), func() {
			k.Op2(ir.Shr, lane, i.V(), ir.K(5))
			k.Store(ir.AtIndex(s[1], lane, 4, 0), bit.V(), 4)
		})
	})
	k.Op2(ir.Add, from, from.V(), step.V())
	k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	k.Clear(s...)
	k.Clear(bit, lane, i, n, from, step, t)
	return k.F
}

// repeatTuple fills an array with copies of one tuple: tuple, array.
func repeatTuple(size int) *ir.Func {
	return newKernel(fmt.Sprintf("repeat_%d", size), func(k *kernel) []ir.Reg { return k.load("tuple", "array") },
		func(k *kernel, s []ir.Reg) {
			to := k.tupleOf(s[1], size)
			k.copyTuple(to, s[0], size)
			k.Clear(to)
		})
}

// enterAgain puts the entries of a directory of groups into a larger one that is empty: old, new, mask. All are different groups.
func enterAgain() *ir.Func {
	return newKernel("enter_again", func(k *kernel) []ir.Reg { return k.load("old", "new", "mask") },
		func(k *kernel, s []ir.Reg) {
			e, slot, was := k.Vreg("entry", ir.I64), k.Vreg("slot", ir.I64), k.Vreg("was", ir.I64)
			k.Load8(e, ir.AtIndex(s[0], k.item, 8, 0))
			k.when(ir.NE, e.V(), ir.K(0), func() {
				k.Op2(ir.And, slot, e.V(), ir.K(layout.AddrMask))
				k.Load8(slot, ir.At(slot, 0)) // the hash
				k.Op2(ir.And, slot, slot.V(), s[2].V())
				l := k.Loop()
				k.Atom(ir.AtomCAS, was, ir.AtIndex(s[1], slot, 8, 0), ir.K(0), e.V())
				k.Break(l, ir.EQ, was.V(), ir.K(0))
				k.Op2(ir.Add, slot, slot.V(), ir.K(1))
				k.Op2(ir.And, slot, slot.V(), s[2].V())
				k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
			})
			k.Clear(e, slot, was)
		})
}

// moveEntries copies the tuples that entries of a directory name into an array, and lets the entries name those: numbers of entries,
// directory, array.
func moveEntries(size int) *ir.Func {
	return newKernel(fmt.Sprintf("move_entries_%d", size), func(k *kernel) []ir.Reg { return k.load("numbers", "dir", "array") },
		func(k *kernel, s []ir.Reg) {
			slot, e, from, to := k.Vreg("slot", ir.I64), k.Vreg("entry", ir.I64), k.Vreg("from", ir.I64), k.tupleOf(s[2], size)
			k.Load8(slot, ir.AtIndex(s[0], k.item, 8, 0))
			k.Load8(e, ir.AtIndex(s[1], slot, 8, 0))
			k.Op2(ir.And, from, e.V(), ir.K(layout.AddrMask))
			k.copyTuple(to, from, size)
			k.Op2(ir.Xor, e, e.V(), from.V())
			k.Op2(ir.Or, e, e.V(), to.V())
			k.Store(ir.AtIndex(s[1], slot, 8, 0), e.V(), 8)
			k.Clear(slot, e, from, to)
		})
}

// gatherTuples copies tuples whose addresses are given into an array: addresses, out.
func gatherTuples(size int) *ir.Func {
	return newKernel(fmt.Sprintf("gather_tuples_%d", size), func(k *kernel) []ir.Reg { return k.load("addresses", "out") },
		func(k *kernel, s []ir.Reg) {
			from, to := k.Vreg("from", ir.I64), k.tupleOf(s[1], size)
			k.Load8(from, ir.AtIndex(s[0], k.item, 8, 0))
			k.copyTuple(to, from, size)
			k.Clear(from, to)
		})
}

// checkField finds 128-bit fields out of a range: bad, addresses, low of lo, high of lo, low of hi, high of hi.
func checkField(f *layout.Field) *ir.Func {
	return newKernel(fmt.Sprintf("check_%d_%d", f.Off, f.Null+1), func(k *kernel) []ir.Reg { return k.load("bad", "addresses", "lo", "lo.hi", "hi", "hi.hi") },
		func(k *kernel, s []ir.Reg) {
			a, x, y, null := k.Vreg("tuple", ir.I64), k.Vreg("x", ir.I64), k.Vreg("x.hi", ir.I64), k.Vreg("null", ir.I64)
			k.Load8(a, ir.AtIndex(s[1], k.item, 8, 0))
			k.Mov(null, ir.K(0))
			if f.Null >= 0 {
				k.Load(null, ir.At(a, f.Null), 1, false)
			}
			k.when(ir.EQ, null.V(), ir.K(0), func() {
				k.Load8(x, ir.At(a, f.Off))
				k.Load8(y, ir.At(a, f.Off+8))
				outside := func(than ir.Cond, low ir.Cond, lo, hi ir.Reg) {
					p, q := k.Vreg("p", ir.I64), k.Vreg("q", ir.I64)
					k.Set(p, low, x.V(), lo.V())
					k.Set(q, ir.EQ, y.V(), hi.V())
					k.Op2(ir.And, p, p.V(), q.V())
					k.Set(q, than, y.V(), hi.V())
					k.Op2(ir.Or, p, p.V(), q.V())
					k.when(ir.NE, p.V(), ir.K(0), func() { k.Store(ir.At(s[0], 0), ir.K(1), 8) })
					k.Clear(p, q)
				}
				outside(ir.LT, ir.ULT, s[2], s[3])
				outside(ir.GT, ir.UGT, s[4], s[5])
			})
			k.Clear(a, x, y, null)
		})
}

// fillDirect writes the place of each tuple to the slot of its key: slots, tuples, smallest key, bad. Two tuples of one key are bad.
func fillDirect(t *layout.Tuple) *ir.Func {
	return newKernel("direct_"+layoutName(t), func(k *kernel) []ir.Reg { return k.load("slots", "tuples", "min", "bad") },
		func(k *kernel, s []ir.Reg) {
			a := k.tupleOf(s[1], t.Size)
			slot, place, old := k.keyOf(a, &t.Fields[0]), k.Vreg("place", ir.I32), k.Vreg("old", ir.I32)
			k.Op2(ir.Sub, slot, slot.V(), s[2].V())
			k.Op1(ir.Narrow, place, k.item.V())
			k.Op2(ir.Mul, place, place.V(), ir.K(int64(t.Size/8)))
			k.Op2(ir.Add, place, place.V(), ir.K(1)) // the table's base is a word before the first
			k.Atom4(ir.AtomExch, old, ir.AtIndex(s[0], slot, 4, 0), place.V(), ir.Val{})
			k.when(ir.NE, old.V(), ir.K(0), func() { k.Store(ir.At(s[3], 0), ir.K(1), 8) })
			k.Clear(a, slot, place, old)
		})
}

// fillOpen enters tuples by their hashes into an open-addressing table: slots, tuples, mask, bad. Two tuples of one hash
// end it: such a table is for unique keys.
func fillOpen(t *layout.Tuple) *ir.Func {
	return newKernel("open_"+layoutName(t), func(k *kernel) []ir.Reg { return k.load("slots", "tuples", "mask", "bad") },
		func(k *kernel, s []ir.Reg) {
			a := k.tupleOf(s[1], t.Size)
			h := k.hashOf(a, t)
			slot, mine, old, tag := k.Vreg("slot", ir.I64), k.Vreg("mine", ir.I64), k.Vreg("old", ir.I64), k.Vreg("tag", ir.I64)
			k.Op2(ir.And, slot, h.V(), s[2].V())
			k.Op2(ir.Shr, tag, h.V(), ir.K(layout.TagShift))
			k.Op2(ir.Shl, mine, tag.V(), ir.K(layout.TagShift))
			k.Op2(ir.Or, mine, mine.V(), a.V())
			l := k.Loop()
			k.Atom(ir.AtomCAS, old, ir.AtIndex(s[0], slot, 8, 0), ir.K(0), mine.V())
			k.Break(l, ir.EQ, old.V(), ir.K(0))
			other := k.Vreg("other", ir.I64)
			k.Op2(ir.Shr, other, old.V(), ir.K(layout.TagShift))
			k.when(ir.EQ, other.V(), tag.V(), func() {
				k.Op2(ir.And, old, old.V(), ir.K(layout.AddrMask))
				theirs := k.hashOf(old, t)
				k.when(ir.EQ, theirs.V(), h.V(), func() {
					k.Store(ir.At(s[3], 0), ir.K(1), 8)
					k.Break(l, ir.Always, ir.K(0), ir.K(0))
				})
				k.Clear(theirs)
			})
			k.Clear(other)
			k.Op2(ir.Add, slot, slot.V(), ir.K(1))
			k.Op2(ir.And, slot, slot.V(), s[2].V())
			k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
			k.Clear(a, h, slot, mine, old, tag)
		})
}
