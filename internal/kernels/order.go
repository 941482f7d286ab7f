package kernels

import (
	"errors"
	"fmt"

	"github.com/kelpiedb/kelpie/internal/device"
	"github.com/kelpiedb/kelpie/internal/ir"
)

// A radix sort from the lowest digit of 8 bits to the highest, of keys that have any number of words, in one launch. For each word, from the last
// to the first, one step makes it of the items in their order so far and counts all of its digits; then each digit has a step that moves keys and
// values to where they belong, and keeps the order of equal ones. A tile of that learns how many keys of each digit are in the tiles before
// it from what these leave behind (decoupled look-back), so that each key is read and written once for each digit.

const (
	digitBits = 8
	digits    = 1 << digitBits // as many as a block has threads

	// manyPer is how many keys a thread has of a tile, fewPer how many where there are few: the code is a third as long, and more blocks have some.
	manyPer = 16
	fewPer  = 4

	// Counters in shared memory, a row for each warp, or for each digit of a word; rows begin in different banks.
	counterRow   = 4 * (digits + 8)
	countersSize = warps * counterRow
	wordDigits   = 64 / digitBits

	basesAt     = countersSize
	orderScanAt = basesAt + 4*digits
	orderStepAt = orderScanAt + 32*8
	orderItems  = (orderStepAt + stepsShared + 15) &^ 15

	// A tile's count of a digit, and then the sum of all tiles' up to it, has two bits that tell which: in every other pass others, so that what the
	// pass before left there is neither.
	lookBits  = 2
	MostItems = 1<<(32-lookBits) - 1
)

// Ordering is what is sorted. Its functions open registers of their own and close them; params are numbers of parameters behind the library's.
type Ordering struct {
	Name   string
	Params int  // its own
	Few    bool // items are few, so that it pays to compile less
	// Words write a word of an item's key: item is its number, arg what the word's use says. nil: the keys are there.
	Words []func(b *ir.Builder, param func(name string, i int) ir.Reg, item, arg, key ir.Reg)
	// Put takes items in order: the place at which it is, and its number. nil: nobody does.
	Put func(b *ir.Builder, param func(name string, i int) ir.Reg, place, item ir.Reg)
}

// Parameters of the kernel, behind those of the steps.
const (
	orderKeys = iota + 4
	orderValues
	otherKeys
	otherValues
	orderN
	orderSize
	orderLook
	orderCounts
	orderList
	orderOwn // the first of its own
)

// Kinds of steps: digits, words, and what takes items.
const digitStep = 0

// Kernel is the function.
func (o *Ordering) Kernel() *ir.Func {
	w := begin(o.Name, orderOwn-1+o.Params)
	w.F.SharedBytes = orderItems + 8*o.tile()
	tid := w.special("tid", ir.ThreadID)
	bodies := []func(ir.Reg, arguments){func(tile ir.Reg, arg arguments) { w.moveDigit(o.per(), tid, tile, arg) }}
	for _, word := range o.Words {
		bodies = append(bodies, func(tile ir.Reg, arg arguments) { o.makeWord(w, word, tid, tile, arg) })
	}
	if o.Put != nil {
		bodies = append(bodies, func(tile ir.Reg, arg arguments) { o.putItems(w, tid, tile, arg) })
	}
	w.steps(tid, orderStepAt, bodies)
	return w.end()
}

// per is how many keys a thread has of a tile of a step that moves them.
func (o *Ordering) per() int {
	if o.Few {
		return fewPer
	}
	return manyPer
}

// tile is how many keys such a tile has.
func (o *Ordering) tile() int { return o.per() * threads }

// own opens a register with a parameter of the ordering's own.
func (w *writer) own(first int) func(name string, i int) ir.Reg {
	return func(name string, i int) ir.Reg {
		r := w.Vreg(name, ir.I64)
		w.Param(r, first+i)
		return r
	}
}

// side opens a register with one of two parameters: the second where flip is 1.
func (w *writer) side(name string, flip ir.Reg, a, b int) ir.Reg {
	r := w.param(name, a)
	w.scope(func() {
		other := w.param("other", b)
		w.Sel(r, ir.EQ, flip.V(), ir.K(0), r.V(), other.V())
	})
	return r
}

// items calls f with the numbers of a tile's items, of which it has size, up to n; i is a word.
func (w *writer) items(tid, tile, size, n ir.Reg, f func(i ir.Reg)) {
	i, end := w.word("i"), w.word("end")
	w.Op2(ir.Mul, end, tile.V(), size.V())
	w.Op2(ir.Add, i, end.V(), tid.V())
	w.Op2(ir.Add, end, end.V(), size.V())
	w.Sel(end, ir.ULT, end.V(), n.V(), end.V(), n.V())
	w.while(ir.ULT, i.V(), end.V(), func() {
		f(i)
		w.Op2(ir.Add, i, i.V(), ir.K(threads))
	})
}

// clearCounters makes all counters of the block 0.
func (w *writer) clearCounters(tid ir.Reg) {
	for k := range warps {
		w.Store(sharedIndex(tid, 4, k*counterRow), ir.K(0), 4)
	}
	w.Barrier()
}

// makeWord makes a word of the keys and counts its digits. Arguments: what the word's function is told, which bits count, the row of counts of the first digit, which
// arrays, and whether items come in the order of the list, or of their numbers where there is none, and values are yet to be written.
func (o *Ordering) makeWord(w *writer, word func(*ir.Builder, func(string, int) ir.Reg, ir.Reg, ir.Reg, ir.Reg), tid, tile ir.Reg, of arguments) {
	w.clearCounters(tid)
	arg := of.all()
	keys, values := w.side("keys", arg[3], orderKeys, otherKeys), w.side("values", arg[3], orderValues, otherValues)
	from, above, number := w.bitsOf(arg[1])
	n, size, list := w.wordParam("n", orderN), w.wordParam("size", orderSize), w.param("list", orderList)
	w.items(tid, tile, size, n, func(i ir.Reg) {
		key := w.long("key")
		if word == nil {
			w.Load(key, ir.AtIndex(keys, i, 8, 0), 8, false)
		} else {
			row, item, told := w.word("row"), w.long("item"), w.long("told")
			w.If(ir.EQ, arg[4].V(), ir.K(0))
			w.Load(row, ir.AtIndex(values, i, 4, 0), 4, false)
			w.Else()
			w.Mov(row, i.V())
			w.when(ir.NE, list.V(), ir.K(0), func() { w.Load(row, ir.AtIndex(list, i, 4, 0), 4, false) })
			w.Store(ir.AtIndex(values, i, 4, 0), row.V(), 4)
			w.EndIf()
			w.Op1(ir.WidenU, item, row.V())
			w.Op1(ir.WidenU, told, arg[0].V())
			word(w.Builder, w.own(orderOwn), item, told, key)
			w.Store(ir.AtIndex(keys, i, 8, 0), key.V(), 8)
		}
		w.Op2(ir.Shr, key, key.V(), from.V())
		w.Op2(ir.Shl, key, key.V(), above.V())
		w.Op2(ir.Shr, key, key.V(), above.V())
		w.countDigits(key, number)
	})
	w.Barrier()
	w.scope(func() { // what the block has counted
		counts, k, at, row := w.param("counts", orderCounts), w.word("k"), w.word("at"), w.word("row")
		w.Mov(k, ir.K(0))
		w.Op2(ir.Shl, at, arg[2].V(), ir.K(digitBits))
		w.Op2(ir.Add, at, at.V(), tid.V())
		w.Mov(row, ir.K(0))
		w.while(ir.ULT, k.V(), number.V(), func() {
			one, old := w.word("one"), w.word("old")
			w.Load(one, counter(row, tid), 4, false)
			w.when(ir.NE, one.V(), ir.K(0), func() { w.Atom4(ir.AtomAdd, old, ir.AtIndex(counts, at, 4, 0), one.V(), ir.Val{}) })
			w.Op2(ir.Add, row, row.V(), ir.K(counterRow))
			w.Op2(ir.Add, at, at.V(), ir.K(digits))
			w.Op2(ir.Add, k, k.V(), ir.K(1))
		})
	})
}

// bitsOf opens registers for the bits of a key that count: the first, how many are above them when that is the lowest, and digits.
func (w *writer) bitsOf(packed ir.Reg) (from, above, number ir.Reg) {
	from, above, number = w.word("from"), w.word("above"), w.word("number")
	w.Op2(ir.And, from, packed.V(), ir.K(255))
	w.Op2(ir.Shr, above, packed.V(), ir.K(8))
	w.Op2(ir.Add, number, above.V(), ir.K(digitBits-1))
	w.Op2(ir.Shr, number, number.V(), ir.K(3))
	w.Op2(ir.Sub, above, ir.K(64), above.V())
	return from, above, number
}

func packBits(from, to int) uint32 { return uint32(from | (to-from)<<8) }

// countDigits adds the first so many digits of a key, which it uses up, to the block's counters, a row for each.
func (w *writer) countDigits(key, n ir.Reg) {
	k, row := w.word("k"), w.word("row")
	w.Mov(k, ir.K(0))
	w.Mov(row, ir.K(0))
	w.while(ir.ULT, k.V(), n.V(), func() {
		d, old := w.word("d"), w.word("old")
		w.Op1(ir.Narrow, d, key.V())
		w.Op2(ir.And, d, d.V(), ir.K(digits-1))
		w.Atom4(ir.AtomAdd, old, counter(row, d), ir.K(1), ir.Val{})
		w.Op2(ir.Shr, key, key.V(), ir.K(digitBits))
		w.Op2(ir.Add, row, row.V(), ir.K(counterRow))
		w.Op2(ir.Add, k, k.V(), ir.K(1))
	})
}

func counter(row, d ir.Reg) ir.Mem {
	return ir.Mem{Base: row, Index: d, Scale: 4, Space: ir.Shared}
}

// putItems hands items over in order. Arguments: the first, how many, which arrays.
func (o *Ordering) putItems(w *writer, tid, tile ir.Reg, of arguments) {
	arg := of.all()
	values, size := w.side("values", arg[2], orderValues, otherValues), w.wordParam("size", orderSize)
	w.items(tid, tile, size, arg[1], func(i ir.Reg) {
		row, item, place := w.word("row"), w.long("item"), w.long("place")
		w.Op2(ir.Add, row, i.V(), arg[0].V())
		w.Load(row, ir.AtIndex(values, row, 4, 0), 4, false)
		w.Op1(ir.WidenU, item, row.V())
		w.Op1(ir.WidenU, place, i.V())
		o.Put(w.Builder, w.own(orderOwn), place, item)
	})
}

// digitOf writes d = the digit of a key from a bit on, of which mask has the bits when that is the lowest.
func (w *writer) digitOf(d, key, shift, mask ir.Reg) {
	w.scope(func() {
		k := w.long("shifted")
		w.Op2(ir.Shr, k, key.V(), shift.V())
		w.Op1(ir.Narrow, d, k.V())
		w.Op2(ir.And, d, d.V(), mask.V())
	})
}

// moveDigit moves the keys of a tile, of which a thread has per, and their values, to where they belong by a digit. Arguments: its lowest bit, mask, its row of counts, which arrays,
// the parity of the pass, and the number of all keys.
func (w *writer) moveDigit(per int, tid, tile ir.Reg, arg arguments) {
	w.clearCounters(tid)
	lane, below := w.special("lane", ir.LaneID), w.special("below", ir.LanesBelow)
	row, first := w.word("warprow"), w.word("first")
	w.Op2(ir.Shr, row, tid.V(), ir.K(5))
	w.Op2(ir.Mul, row, row.V(), ir.K(counterRow))
	// A warp has 32 × per keys in a row, and takes 32 at a time: key k of a thread.
	w.Op2(ir.Sub, first, tid.V(), lane.V())
	w.Op2(ir.Mul, first, first.V(), ir.K(int64(per)))
	w.Op2(ir.Add, first, first.V(), lane.V())
	w.scope(func() {
		before := w.word("before")
		w.Op2(ir.Mul, before, tile.V(), ir.K(int64(per)*threads))
		w.Op2(ir.Add, first, first.V(), before.V())
	})
	// A thread needs half of its 64 registers for keys. So it keeps their places in the tile as halves of words, and digits as quarters; and it reads arguments anew
	// where it needs them, since assemblers keep what was made of them for later: a digit, or what a comparison said, of each key.
	place := w.of("places", ir.I32, per/2)
	local, start, count := w.word("local"), w.word("start"), w.word("count")
	i, d := w.word("i"), w.word("d")
	w.scope(func() {
		key := w.of("key", ir.I64, per)
		w.scope(func() {
			keys, has := w.advanced("keys", w.side("keys", arg.get(3), orderKeys, otherKeys), first, 8), w.from(first, arg.get(5))
			for k := range ir.Reg(per) { // behind the end they are the largest, and come last
				w.Mov(key+k, ir.K(-1))
				w.when(ir.UGT, has.V(), ir.K(32*int64(k)), func() { w.Load(key+k, ir.At(keys, 8*32*int(k)), 8, false) })
			}
		})
		w.scope(func() {
			shift, mask := arg.get(0), arg.get(1)
			for k := range ir.Reg(per) {
				w.digitOf(d, key+k, shift, mask)
				w.rank(i, d, row, lane, below)
				w.pack(place, i, int(k), 2)
			}
		})
		w.Barrier()
		w.placeCounters(tid, tile, lane, arg, local, start, count)
		w.Barrier()
		shift, mask := arg.get(0), arg.get(1)
		for k := range ir.Reg(per) {
			w.digitOf(d, key+k, shift, mask)
			w.Load(i, counter(row, d), 4, false)
			w.addPacked(place, i, int(k), 2)
			w.packed(i, place, int(k), 2)
			w.Store(sharedIndex(i, 8, orderItems), (key + k).V(), 8)
		}
	})
	value := w.of("value", ir.I32, per)
	w.scope(func() {
		values, has := w.advanced("values", w.side("values", arg.get(3), orderValues, otherValues), first, 4), w.from(first, arg.get(5))
		for k := range ir.Reg(per) {
			w.Mov(value+k, ir.K(0))
			w.when(ir.UGT, has.V(), ir.K(32*int64(k)), func() { w.Load(value+k, ir.At(values, 4*32*int(k)), 4, false) })
		}
	})
	w.lookBack(tid, tile, arg.get(4), start, count)
	w.Op2(ir.Sub, start, start.V(), local.V()) // not below 0: a tile's keys of lower digits are some of all
	w.Store(sharedIndex(tid, 4, basesAt), start.V(), 4)
	w.Barrier()
	digit := w.of("digits", ir.I32, per/4)
	w.scope(func() {
		out, key, to := w.advanced("outkeys", w.side("outkeys", arg.get(3), otherKeys, orderKeys), tid, 8), w.long("key"), w.word("to")
		shift, mask, has := arg.get(0), arg.get(1), w.ofTile(per, tid, tile, arg.get(5))
		for k := range ir.Reg(per) {
			if k%4 == 0 {
				w.Mov(digit+k/4, ir.K(0))
			}
			w.when(ir.UGT, has.V(), ir.K(threads*int64(k)), func() {
				w.Load(key, sharedIndex(tid, 8, orderItems+8*threads*int(k)), 8, false)
				w.digitOf(d, key, shift, mask)
				w.Load(to, sharedIndex(d, 4, basesAt), 4, false)
				w.Store(ir.AtIndex(out, to, 8, 8*threads*int(k)), key.V(), 8)
				w.addPacked(digit, d, int(k), 1)
			})
		}
	})
	w.Barrier()
	for k := range ir.Reg(per) {
		w.packed(i, place, int(k), 2)
		w.Store(sharedIndex(i, 4, orderItems), (value + k).V(), 4)
	}
	w.Barrier()
	w.scope(func() {
		out, to := w.advanced("outvalues", w.side("outvalues", arg.get(3), otherValues, orderValues), tid, 4), w.word("to")
		has := w.ofTile(per, tid, tile, arg.get(5))
		for k := range ir.Reg(per) {
			w.when(ir.UGT, has.V(), ir.K(threads*int64(k)), func() {
				w.packed(d, digit, int(k), 1)
				w.Load(to, sharedIndex(d, 4, basesAt), 4, false)
				w.Load(d, sharedIndex(tid, 4, orderItems+4*threads*int(k)), 4, false)
				w.Store(ir.AtIndex(out, to, 4, 4*threads*int(k)), d.V(), 4)
			})
		}
	})
}

// from opens a register with the number of items from first on, of n.
func (w *writer) from(first, n ir.Reg) ir.Reg {
	left := w.word("left")
	w.Op2(ir.Sub, left, n.V(), first.V())
	w.Sel(left, ir.UGT, n.V(), first.V(), left.V(), ir.K(0))
	return left
}

// ofTile opens a register with the number of a tile's keys from the thread's first on, and of those behind it.
func (w *writer) ofTile(per int, tid, tile, n ir.Reg) ir.Reg {
	first := w.word("first")
	w.Op2(ir.Mul, first, tile.V(), ir.K(int64(per)*threads))
	w.Op2(ir.Add, first, first.V(), tid.V())
	return w.from(first, n)
}

// rank writes how many keys of this digit the warp has counted before this lane's, and counts the
// lanes' keys. The lowest lane with a digit counts for all with the same; that it hands out what was
// there keeps the next round behind it.
func (w *writer) rank(place, d, row, lane, below ir.Reg) {
	w.scope(func() {
		same, leader, all := w.word("same"), w.word("leader"), w.word("all")
		w.Op1(ir.Match, same, d.V())
		w.Op1(ir.Ctz, leader, same.V())
		w.Op1(ir.Popcnt, all, same.V())
		w.Op2(ir.And, same, same.V(), below.V())
		w.Op1(ir.Popcnt, same, same.V())
		w.Mov(place, ir.K(0))
		w.when(ir.EQ, lane.V(), leader.V(), func() { w.Atom4(ir.AtomAdd, place, counter(row, d), all.V(), ir.Val{}) })
		w.Op2(ir.Shfl, place, place.V(), leader.V())
		w.Op2(ir.Add, place, place.V(), same.V())
	})
}

// placeCounters makes the warps' counts of a digit, which is the thread's number, the places in the tile where their keys begin. It finds how many keys
// of the digit the tile has, which the tiles behind it are told, where those of the digit begin in the tile, and in all keys.
func (w *writer) placeCounters(tid, tile, lane ir.Reg, arg arguments, local, start, count ir.Reg) {
	w.scope(func() {
		one := w.word("one")
		w.Mov(count, ir.K(0))
		for k := range warps {
			w.Load(one, sharedIndex(tid, 4, k*counterRow), 4, false)
			w.Op2(ir.Add, count, count.V(), one.V())
		}
		w.tell(tid, tile, arg.get(4), count, 1)
		// One sum for both: counts of the tile in the lower half, of all keys in the upper.
		both, wide := w.long("both"), w.long("wide")
		w.scope(func() {
			counts := w.param("counts", orderCounts)
			w.Op2(ir.Shl, one, arg.get(2).V(), ir.K(digitBits))
			w.Op2(ir.Add, one, one.V(), tid.V())
			w.Load(one, ir.AtIndex(counts, one, 4, 0), 4, false)
		})
		w.Op1(ir.WidenU, both, one.V())
		w.Op2(ir.Shl, both, both.V(), ir.K(32))
		w.Op1(ir.WidenU, wide, count.V())
		w.Op2(ir.Or, both, both.V(), wide.V())
		before, _ := w.blockScan(both, tid, lane, warps, orderScanAt)
		w.Op1(ir.Narrow, local, before.V())
		w.Op2(ir.Shr, before, before.V(), ir.K(32))
		w.Op1(ir.Narrow, start, before.V())
		next := w.word("next")
		w.Mov(next, local.V())
		for k := range warps {
			w.Load(one, sharedIndex(tid, 4, k*counterRow), 4, false)
			w.Store(sharedIndex(tid, 4, k*counterRow), next.V(), 4)
			w.Op2(ir.Add, next, next.V(), one.V())
		}
	})
}

// lookAt opens a register with the address of a tile's word for the thread's digit.
func (w *writer) lookAt(tid, tile ir.Reg) ir.Reg {
	at, i := w.param("look", orderLook), w.long("i")
	w.MulWU(i, tile.V(), ir.K(4*digits))
	w.Op2(ir.Add, at, at.V(), i.V())
	w.MulWU(i, tid.V(), ir.K(4))
	w.Op2(ir.Add, at, at.V(), i.V())
	return at
}

// tell leaves a number for the tiles behind: 1, the tile's own, or 2, the sum of all up to it.
func (w *writer) tell(tid, tile, parity, x ir.Reg, what int64) {
	w.scope(func() {
		word, bits, at := w.word("word"), w.word("bits"), w.lookAt(tid, tile)
		w.Op2(ir.Shl, bits, parity.V(), ir.K(1))
		w.Op2(ir.Add, bits, bits.V(), ir.K(what))
		w.Op2(ir.And, bits, bits.V(), ir.K(1<<lookBits-1))
		w.Op2(ir.Shl, word, x.V(), ir.K(lookBits))
		w.Op2(ir.Or, word, word.V(), bits.V())
		w.StoreAs(ir.Relaxed, ir.At(at, 0), word.V(), 4)
	})
}

// lookBack adds to start how many keys of the thread's digit the tiles before this have, and tells those behind it about the sum.
func (w *writer) lookBack(tid, tile, parity, start, count ir.Reg) {
	w.scope(func() {
		before, left, word, bits, at := w.word("before"), w.word("tiles"), w.word("word"), w.word("bits"), w.lookAt(tid, tile)
		w.Mov(before, ir.K(0))
		w.Mov(left, tile.V())
		tiles := w.Loop()
		w.Break(tiles, ir.EQ, left.V(), ir.K(0))
		w.Op2(ir.Sub, at, at.V(), ir.K(4*digits))
		wait := w.Loop()
		w.LoadAs(ir.Relaxed, word, ir.At(at, 0), 4, false)
		w.Op2(ir.Sub, bits, word.V(), parity.V())
		w.Op2(ir.Sub, bits, bits.V(), parity.V())
		w.Op2(ir.And, bits, bits.V(), ir.K(1<<lookBits-1))
		w.EndLoop(wait, ir.EQ, bits.V(), ir.K(0))
		w.Op2(ir.Shr, word, word.V(), ir.K(lookBits))
		w.Op2(ir.Add, before, before.V(), word.V())
		w.Op2(ir.Sub, left, left.V(), ir.K(1))
		w.Break(tiles, ir.EQ, bits.V(), ir.K(2))
		w.EndLoop(tiles, ir.Always, ir.Val{}, ir.Val{})
		w.Op2(ir.Add, start, start.V(), before.V())
		w.Op2(ir.Add, before, before.V(), count.V())
		w.tell(tid, tile, parity, before, 2)
	})
}

// Key is a word of a sort: which of the ordering's, what that is told, and the bits by which it orders, from the first up to, and without, the last; others are 0
// or do not count.
type Key struct {
	Word     int
	Arg      uint32
	From, To int
}

// Pairs are keys of 8 bytes and values of 4, in two arrays.
type Pairs struct{ Keys, Values device.Addr }

// Sorting is a launch of an ordering's kernel.
type Sorting struct {
	N    int // items
	Keys []Key
	A, B Pairs
	List device.Addr // items in the order in which they are at first, of 4 bytes; 0: all, by their numbers
	// First and Count are the items that are put somewhere.
	First, Count int
}

// orderSteps says what is to be done, and how many rows of counts it takes; flipped: the result is in B.
func (l *Library) orderSteps(o *Ordering, k *Sorting) (steps Steps, rows int, flipped bool, size int) {
	size = l.tileSize(k.N)
	tiles := func(n, size int) int { return (n + size - 1) / size }
	flip, parity, first := uint32(0), uint32(0), uint32(1)
	for i := len(k.Keys) - 1; i >= 0; i-- {
		key := k.Keys[i]
		if key.From >= key.To {
			continue
		}
		steps = append(steps, Step{Kind: 1 + key.Word, Tiles: tiles(k.N, size), Args: [stepArgs]uint32{key.Arg, packBits(key.From, key.To), uint32(rows), flip, first}})
		first = 0
		for bit := key.From; bit < key.To; bit += digitBits {
			mask := uint32(1)<<min(digitBits, key.To-bit) - 1
			steps = append(steps, Step{Kind: digitStep, Tiles: tiles(k.N, o.tile()), Args: [stepArgs]uint32{uint32(bit), mask, uint32(rows), flip, parity, uint32(k.N)}})
			flip, parity = 1-flip, 1-parity
			rows++
		}
	}
	if o.Put != nil && k.Count > 0 {
		steps = append(steps, Step{Kind: 1 + len(o.Words), Tiles: tiles(k.Count, size), Args: [stepArgs]uint32{uint32(k.First), uint32(k.Count), flip}})
	}
	return steps, rows, flip == 1, size
}

// Order queues a sort by an ordering's kernel, with parameters of its own. It says whether the result is in A or in B.
func (l *Library) Order(s device.Stream, upload Upload, o *Ordering, f device.Function, k *Sorting, own ...uint64) (Pairs, error) {
	if k.N > MostItems {
		return k.A, fmt.Errorf("sort: %d items are more than %d", k.N, MostItems)
	}
	if err := check("sort", k.N, k.A.Keys, k.A.Values, k.B.Keys, k.B.Values); err != nil || k.N == 0 {
		return k.A, err
	}
	steps, rows, flipped, size := l.orderSteps(o, k)
	if len(steps) == 0 {
		return k.A, nil
	}
	err := l.launchSteps(s, upload, f, steps, 4*digits*((k.N+o.tile()-1)/o.tile()), rows, func(look, counts uint64) []uint64 {
		return append([]uint64{uint64(k.A.Keys), uint64(k.A.Values), uint64(k.B.Keys), uint64(k.B.Values), uint64(k.N), uint64(size), look, counts, uint64(k.List)}, own...)
	})
	if flipped {
		return k.B, err
	}
	return k.A, err
}

// pairOrder sorts keys that are there.
func pairOrder() *Ordering {
	return &Ordering{Name: "sortpairs", Words: []func(*ir.Builder, func(string, int) ir.Reg, ir.Reg, ir.Reg, ir.Reg){nil}}
}

// Sort orders n pairs by the bits of their keys from one up to, and without, another, as unsigned
// numbers; equal ones stay in order. It moves them between a and b, and returns which has the result.
func (l *Library) Sort(s device.Stream, a, b Pairs, n, fromBit, toBit int) (Pairs, error) {
	if fromBit < 0 || toBit > 64 || fromBit > toBit {
		return a, fmt.Errorf("sort: bits %d to %d of a key", fromBit, toBit)
	}
	o := pairOrder()
	f, err := l.function(o.Name)
	if err != nil {
		return a, err
	}
	var list device.Addr
	upload := func(b []byte) (device.Addr, error) {
		var err error
		if list, err = s.Alloc(len(b)); err == nil {
			err = s.Upload(list, b)
		}
		return list, errors.Join(err, s.Sync())
	}
	p, err := l.Order(s, upload, o, f, &Sorting{N: n, Keys: []Key{{From: fromBit, To: toBit}}, A: a, B: b})
	if list != 0 {
		err = errors.Join(err, s.Free(list))
	}
	return p, err
}
