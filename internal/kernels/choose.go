package kernels

import (
	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// Choice lists items among which the first of an order are, by the first word of their keys, in one launch: digit by digit, from the highest, the keys that begin
// like the last wanted one are counted, which tells how that goes on. Items with smaller keys, and those that begin with as much as is known of it
// then, are the list, in no order. It is not much longer than what is wanted, if keys differ.
type Choice struct {
	Name   string
	Params int // its own
	// Word writes the first word of an item's key, as in an Ordering.
	Word func(b *ir.Builder, param func(name string, i int) ir.Reg, item, arg, key ir.Reg)
}

// Parameters of the kernel, behind those of the steps.
const (
	choiceKeys = iota + 4
	choiceList
	choiceN
	choiceSize
	choiceCounts
	choiceState
	choiceOwn
)

// Words of the state: how the last wanted key begins, keys before those that begin so, bits of a key behind that, whether it is known well enough, and the length of
// the list.
const (
	stateBegin = 8 * iota
	stateBefore
	stateShift
	stateKnown
	stateCount
	// StateBytes is its size.
	StateBytes
)

// Kinds of steps of a choice.
const (
	countStep = iota
	decideStep
	listStep
	wordStep
)

// Kernel is the function.
func (c *Choice) Kernel() *ir.Func {
	w := begin(c.Name, choiceOwn-1+c.Params)
	const scanAt, stepAt = 4 * digits, 4*digits + 32*8
	w.F.SharedBytes = stepAt + stepsShared
	tid := w.special("tid", ir.ThreadID)
	// all calls f with the numbers of a tile's items, all lanes of a warp together; here is 0 behind the end.
	all := func(tile ir.Reg, f func(i, here ir.Reg)) {
		n, size := w.wordParam("n", choiceN), w.wordParam("size", choiceSize)
		from, end := w.word("from"), w.word("end")
		w.Op2(ir.Mul, from, tile.V(), size.V())
		w.Op2(ir.Add, end, from.V(), size.V())
		w.Sel(end, ir.ULT, end.V(), n.V(), end.V(), n.V())
		w.while(ir.ULT, from.V(), end.V(), func() {
			i, here := w.word("i"), w.word("here")
			w.Op2(ir.Add, i, from.V(), tid.V())
			w.Set(here, ir.ULT, i.V(), end.V())
			f(i, here)
			w.Op2(ir.Add, from, from.V(), ir.K(threads))
		})
	}
	counted := func(row ir.Reg, f func(add func(key, shift ir.Reg))) {
		w.Store(sharedIndex(tid, 4, 0), ir.K(0), 4)
		w.Barrier()
		f(func(key, shift ir.Reg) {
			d, old, x := w.word("d"), w.word("old"), w.long("x")
			w.Op2(ir.Shr, x, key.V(), shift.V())
			w.Op1(ir.Narrow, d, x.V())
			w.Op2(ir.And, d, d.V(), ir.K(digits-1))
			w.Atom4(ir.AtomAdd, old, sharedIndex(d, 4, 0), ir.K(1), ir.Val{})
		})
		w.Barrier()
		one, old, at, counts := w.word("one"), w.word("old"), w.word("at"), w.param("counts", choiceCounts)
		w.Load(one, sharedIndex(tid, 4, 0), 4, false)
		w.Op2(ir.Shl, at, row.V(), ir.K(digitBits))
		w.Op2(ir.Add, at, at.V(), tid.V())
		w.when(ir.NE, one.V(), ir.K(0), func() { w.Atom4(ir.AtomAdd, old, ir.AtIndex(counts, at, 4, 0), one.V(), ir.Val{}) })
	}
	bodies := make([]func(ir.Reg, arguments), wordStep+1)
	// Arguments: the digit's lowest bit, its row of counts.
	bodies[countStep] = func(tile ir.Reg, of arguments) {
		arg := of.all()
		state, known := w.param("state", choiceState), w.long("known")
		w.Load(known, ir.At(state, stateKnown), 8, false)
		w.Op1(ir.Uniform, known, known.V())
		w.when(ir.EQ, known.V(), ir.K(0), func() {
			start, keys := w.long("begin"), w.param("keys", choiceKeys)
			w.Load(start, ir.At(state, stateBegin), 8, false)
			counted(arg[1], func(add func(key, shift ir.Reg)) {
				all(tile, func(i, here ir.Reg) {
					w.when(ir.NE, here.V(), ir.K(0), func() {
						key, x := w.long("key"), w.long("x")
						w.Load(key, ir.AtIndex(keys, i, 8, 0), 8, false)
						w.Op2(ir.Shr, x, key.V(), arg[0].V())
						w.Op2(ir.Shr, x, x.V(), ir.K(digitBits))
						w.when(ir.EQ, x.V(), start.V(), func() { add(key, arg[0]) })
					})
				})
			})
		})
	}
	// Arguments: the digit's lowest bit, its row of counts, how many are wanted, how long a list is short enough.
	bodies[decideStep] = func(tile ir.Reg, of arguments) {
		arg := of.all()
		state, known := w.param("state", choiceState), w.long("known")
		w.Load(known, ir.At(state, stateKnown), 8, false)
		w.Op1(ir.Uniform, known, known.V())
		w.when(ir.EQ, known.V(), ir.K(0), func() {
			lane, counts, at, one := w.special("lane", ir.LaneID), w.param("counts", choiceCounts), w.word("at"), w.word("one")
			w.Op2(ir.Shl, at, arg[1].V(), ir.K(digitBits))
			w.Op2(ir.Add, at, at.V(), tid.V())
			w.Load(one, ir.AtIndex(counts, at, 4, 0), 4, false)
			before, _ := w.blockScan(one, tid, lane, warps, scanAt)
			smaller, upto := w.word("smaller"), w.word("upto")
			w.Load(smaller, ir.At(state, stateBefore), 4, false)
			w.Op2(ir.Add, before, before.V(), smaller.V())
			w.Op2(ir.Add, upto, before.V(), one.V())
			w.Barrier() // all have read the state
			w.when(ir.ULT, before.V(), arg[2].V(), func() {
				w.when(ir.UGE, upto.V(), arg[2].V(), func() { // the last wanted key has this digit
					x, digit := w.long("x"), w.long("digit")
					w.Load(x, ir.At(state, stateBegin), 8, false)
					w.Op2(ir.Shl, x, x.V(), ir.K(digitBits))
					w.Op1(ir.WidenU, digit, tid.V())
					w.Op2(ir.Or, x, x.V(), digit.V())
					w.Store(ir.At(state, stateBegin), x.V(), 8)
					w.Op1(ir.WidenU, x, before.V())
					w.Store(ir.At(state, stateBefore), x.V(), 8)
					w.Op1(ir.WidenU, x, arg[0].V())
					w.Store(ir.At(state, stateShift), x.V(), 8)
					w.Set(x, ir.ULE, upto.V(), arg[3].V())
					w.Store(ir.At(state, stateKnown), x.V(), 8)
				})
			})
		})
	}
	bodies[listStep] = func(tile ir.Reg, _ arguments) {
		state, keys, list := w.param("state", choiceState), w.param("keys", choiceKeys), w.param("list", choiceList)
		start, shift, lane, below := w.long("begin"), w.word("shift"), w.special("lane", ir.LaneID), w.special("below", ir.LanesBelow)
		w.Load(start, ir.At(state, stateBegin), 8, false)
		w.Load(shift, ir.At(state, stateShift), 4, false)
		all(tile, func(i, here ir.Reg) {
			w.when(ir.NE, here.V(), ir.K(0), func() {
				key := w.long("key")
				w.Load(key, ir.AtIndex(keys, i, 8, 0), 8, false)
				w.Op2(ir.Shr, key, key.V(), shift.V())
				w.Set(here, ir.ULE, key.V(), start.V())
			})
			mask, at := w.word("mask"), w.word("at")
			w.Op1(ir.Ballot, mask, here.V())
			w.when(ir.NE, mask.V(), ir.K(0), func() {
				n := w.word("n")
				w.Mov(at, ir.K(0))
				w.Op1(ir.Popcnt, n, mask.V())
				w.when(ir.EQ, lane.V(), ir.K(0), func() { w.Atom4(ir.AtomAdd, at, ir.At(state, stateCount), n.V(), ir.Val{}) })
				w.Op2(ir.Shfl, at, at.V(), ir.K(0))
				w.Op2(ir.And, mask, mask.V(), below.V())
				w.Op1(ir.Popcnt, mask, mask.V())
				w.Op2(ir.Add, at, at.V(), mask.V())
				w.when(ir.NE, here.V(), ir.K(0), func() { w.Store(ir.AtIndex(list, at, 4, 0), i.V(), 4) })
			})
		})
	}
	// Arguments: the digit's lowest bit, its row of counts, what the word's function is told.
	bodies[wordStep] = func(tile ir.Reg, of arguments) {
		arg := of.all()
		keys := w.param("keys", choiceKeys)
		counted(arg[1], func(add func(key, shift ir.Reg)) {
			all(tile, func(i, here ir.Reg) {
				w.when(ir.NE, here.V(), ir.K(0), func() {
					key, item, told := w.long("key"), w.long("item"), w.long("told")
					w.Op1(ir.WidenU, item, i.V())
					w.Op1(ir.WidenU, told, arg[2].V())
					c.Word(w.Builder, w.own(choiceOwn), item, told, key)
					w.Store(ir.AtIndex(keys, i, 8, 0), key.V(), 8)
					add(key, arg[0])
				})
			})
		})
	}
	w.steps(tid, stepAt, bodies)
	return w.end()
}

// Choosing is a launch of a choice's kernel.
type Choosing struct {
	N     int
	Want  int // the first so many, fewer than N
	Bits  int // of the word
	Arg   uint32
	Keys  device.Addr // room for the words
	List  device.Addr // room for N numbers of 4 bytes
	State device.Addr // StateBytes that are 0
}

// shortList is how long a list may be at least.
const shortList = 1 << 10

// Choose queues the launch. How long the list is stands in the state then: Listed.
func (l *Library) Choose(s device.Stream, upload Upload, f device.Function, k *Choosing, own ...uint64) error {
	if err := check("choose", k.N, k.Keys, k.List); err != nil {
		return err
	}
	size := l.tileSize(k.N)
	tiles := (k.N + size - 1) / size
	var steps Steps
	rows := uint32(0)
	for shift := (k.Bits - 1) / digitBits * digitBits; shift >= 0; shift -= digitBits {
		count := Step{Kind: countStep, Tiles: tiles, Args: [stepArgs]uint32{uint32(shift), rows, k.Arg}}
		if rows == 0 {
			count.Kind = wordStep
		}
		enough := uint32(max(2*k.Want, shortList))
		steps = append(steps, count, Step{Kind: decideStep, Tiles: 1, Args: [stepArgs]uint32{uint32(shift), rows, uint32(k.Want), enough}})
		rows++
	}
	steps = append(steps, Step{Kind: listStep, Tiles: tiles})
	return l.launchSteps(s, upload, f, steps, 0, int(rows), func(_, counts uint64) []uint64 {
		return append([]uint64{uint64(k.Keys), uint64(k.List), uint64(k.N), uint64(size), counts, uint64(k.State)}, own...)
	})
}

// Listed is where in a state the length of the list is, 8 bytes.
func Listed(state device.Addr) device.Addr { return state + stateCount }
