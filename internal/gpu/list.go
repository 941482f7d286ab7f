package gpu

import (
	"fmt"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
	"github.com/kelpiedb/kelpie/internal/layout"
)

// listPer is how many items a lane looks at before its warp takes places for what the lanes found.
const listPer = 8

// listKernel writes a word for each item that has one, in one launch: find leaves something other than 0 in x where the item has one, word makes the
// word of it. Lists of up to 32*listPer items are in order, larger ones as warps come. Behind its own parameters it has list and count.
func listKernel(name string, params []string, find, word func(k *kernel, s []ir.Reg, x ir.Reg)) *ir.Func {
	k := &kernel{Builder: ir.NewFunc(name, ir.GPU)}
	i, n, from, step, lane := k.warpItems(listPer)
	below := k.Vreg("below", ir.I64)
	k.Op2(ir.Shl, below, ir.K(1), lane.V())
	k.Op2(ir.Sub, below, below.V(), ir.K(1))
	s := k.load(append(params, "list", "count")...)
	list, count := s[len(params)], s[len(params)+1]
	at, total, last := k.Vreg("at", ir.I64), k.Vreg("total", ir.I64), k.Vreg("last", ir.I64)
	k.Op2(ir.Sub, last, n.V(), ir.K(1))
	x, mask := k.Vregs("x", ir.I64, listPer), k.Vregs("mask", ir.I64, listPer)
	l := k.Loop()
	k.Break(l, ir.GE, from.V(), n.V())
	numberOf := func(j int) {
		k.Op2(ir.Add, i, from.V(), lane.V())
		k.Op2(ir.Add, i, i.V(), ir.K(int64(32*j)))
	}
	for j := range listPer {
		numberOf(j)
		k.Sel(i, ir.LT, i.V(), last.V(), i.V(), last.V())
		find(k, s, x+ir.Reg(j))
	}
	k.Mov(total, ir.K(0))
	for j := range ir.Reg(listPer) {
		numberOf(int(j))
		k.Sel(x+j, ir.LT, i.V(), n.V(), (x + j).V(), ir.K(0))
		k.Op1(ir.Ballot, mask+j, (x + j).V())
		k.Op1(ir.Popcnt, at, (mask + j).V())
		k.Op2(ir.Add, total, total.V(), at.V())
	}
	k.when(ir.NE, total.V(), ir.K(0), func() {
		k.Mov(at, ir.K(0))
		k.when(ir.EQ, lane.V(), ir.K(0), func() { k.Atom(ir.AtomAdd, at, ir.At(count, 0), total.V(), ir.Val{}) })
		k.Op2(ir.Shfl, at, at.V(), ir.K(0))
		for j := range ir.Reg(listPer) {
			k.when(ir.NE, (x + j).V(), ir.K(0), func() {
				place := k.Vreg("place", ir.I64)
				k.Op2(ir.And, place, (mask + j).V(), below.V())
				k.Op1(ir.Popcnt, place, place.V())
				k.Op2(ir.Add, place, place.V(), at.V())
				numberOf(int(j))
				word(k, s, x+j)
				k.Store(ir.AtIndex(list, place, 8, 0), (x + j).V(), 8)
				k.Clear(place)
			})
			k.Op1(ir.Popcnt, mask+j, (mask + j).V())
			k.Op2(ir.Add, at, at.V(), (mask + j).V())
		}
	})
	k.Op2(ir.Add, from, from.V(), step.V())
	k.EndLoop(l, ir.Always, ir.K(0), ir.K(0))
	for j := range ir.Reg(listPer) {
		k.Clear(x+j, mask+j)
	}
	k.Clear(s...)
	k.Clear(i, n, from, step, lane, below, at, total, last)
	return k.F
}

// flaggedTuples lists the addresses of an array's tuples whose flag is set: array.
func flaggedTuples(t *layout.Tuple) *ir.Func {
	return listKernel(fmt.Sprintf("flagged_%d_%d", t.Size, t.Flag), []string{"array"},
		func(k *kernel, s []ir.Reg, x ir.Reg) {
			a := k.tupleOf(s[0], t.Size)
			k.Load(x, ir.At(a, t.Flag), 1, false)
			k.Clear(a)
		},
		func(k *kernel, s []ir.Reg, x ir.Reg) {
			k.Op2(ir.Mul, x, k.item.V(), ir.K(int64(t.Size)))
			k.Op2(ir.Add, x, x.V(), s[0].V())
		})
}

// enteredTuples lists the addresses that are in the entries of a directory, usedEntries the numbers of entries that are in use: directory.
func enteredTuples() *ir.Func {
	return listKernel("entered", []string{"dir"}, loadEntry, func(k *kernel, s []ir.Reg, x ir.Reg) { k.Op2(ir.And, x, x.V(), ir.K(layout.AddrMask)) })
}

func usedEntries() *ir.Func {
	return listKernel("used", []string{"dir"}, loadEntry, func(k *kernel, s []ir.Reg, x ir.Reg) { k.Mov(x, k.item.V()) })
}

func loadEntry(k *kernel, s []ir.Reg, x ir.Reg) { k.Load8(x, ir.AtIndex(s[0], k.item, 8, 0)) }

// listed is a list, of words of 8 bytes, that a kernel makes of n items at an address, and how long it is: at most so long.
func (r *run) listed(make func() *ir.Func, items device.Addr, n, most int64) (list device.Addr, length int64, err error) {
	if n > maxListed {
		return 0, 0, r.lacks("a table of %d groups", n)
	}
	if list, err = r.alloc(8 * most); err != nil {
		return 0, 0, err
	}
	count, err := r.counter()
	if err != nil {
		return 0, 0, err
	}
	if err := r.doShared(make, n, (n+listPer-1)/listPer, uint64(items), uint64(list), uint64(count)); err != nil {
		return 0, 0, err
	}
	x, err := r.read(count, 1)
	if err != nil {
		return 0, 0, err
	}
	return list, int64(x[0]), nil
}

// maxListed bounds slots: their numbers are words, and there are numbers behind the last.
const maxListed = 1<<31 - 64
