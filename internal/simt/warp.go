package simt

import (
	"math/bits"
)

type warpState uint8

const (
	warpReady warpState = iota
	warpWaiting
	warpDone
)

// warp is 32 lanes in lock step.
type warp struct {
	l            *launch
	c            *cta
	id           int
	state        warpState
	barrier      int
	barrierCount int
	barrierPC    int32
	launched     uint32 // lanes that exist
	live         uint32 // lanes that have not ended
	stack        []split

	regs  [][warpSize]uint64
	def   []uint32 // by slot: lanes that wrote it
	preds []uint32
	pdef  []uint32
	carry uint32 // CC.CF
	cdef  uint32
	tmp   [warpSize]uint64

	local, localDef []byte // of all lanes, as those of a block
}

func newWarp(c *cta, id int) *warp {
	l := c.l
	w := &warp{l: l, c: c, id: id}
	w.launched = fullMask
	if rest := l.shape.Block - id*warpSize; rest < warpSize {
		w.launched = 1<<rest - 1
	}
	w.regs = make([][warpSize]uint64, len(l.k.slots))
	w.def = make([]uint32, len(l.k.slots))
	w.local, w.localDef = make([]byte, warpSize*l.k.LocalBytes), make([]byte, warpSize*l.k.LocalBytes)
	w.preds = make([]uint32, l.k.npreds)
	w.pdef = make([]uint32, l.k.npreds)
	for i, s := range l.k.slots {
		for lane := range w.regs[i] {
			switch s.kind {
			case slotConst:
				w.regs[i][lane] = s.val
			case slotParam:
				w.regs[i][lane] = l.params[s.val] & l.k.paramTypes[s.val].mask()
			case slotDynamic:
				w.regs[i][lane] = sharedBase + uint64(l.k.dynamicAt())
			case slotSpecial:
				w.regs[i][lane] = uint64(w.special(special(s.val), lane))
			}
		}
	}
	return w
}

// special is the value of a special register; that of the block is set by reset.
func (w *warp) special(s special, lane int) uint32 {
	bit := uint32(1) << lane
	switch s {
	case spTid:
		return uint32(w.id*warpSize + lane)
	case spNtid:
		return uint32(w.l.shape.Block)
	case spNctaid:
		return uint32(w.l.shape.Grid)
	case spOne:
		return 1
	case spLane:
		return uint32(lane)
	case spWarp:
		return uint32(w.id)
	case spNwarp:
		return uint32((w.l.shape.Block + warpSize - 1) / warpSize)
	case spMaskEq:
		return bit
	case spMaskLt:
		return bit - 1
	case spMaskLe:
		return bit | (bit - 1)
	case spMaskGt:
		return ^(bit | (bit - 1))
	case spMaskGe:
		return ^(bit - 1)
	}
	return 0
}

// reset prepares the warp for the next block.
func (w *warp) reset() {
	for i, s := range w.l.k.slots {
		w.def[i] = fullMask
		switch {
		case s.kind == slotReg:
			w.def[i] = 0
		case s.kind == slotSpecial && special(s.val) == spCtaid:
			for lane := range w.regs[i] {
				w.regs[i][lane] = uint64(w.c.id)
			}
		}
	}
	clear(w.pdef)
	clear(w.localDef)
	w.cdef = 0
	w.live = w.launched
	w.state = warpReady
	w.stack = append(w.stack[:0], split{0, int32(len(w.l.k.code)), w.launched})
}

// at is the instruction that runs next, for messages.
func (w *warp) at() *inst {
	if w.settle() {
		return &w.l.k.code[w.stack[len(w.stack)-1].pc]
	}
	return &inst{}
}

// run executes up to budget instructions, or until a barrier or the end.
func (w *warp) run(budget int) *Error {
	given := budget
	defer func() { w.l.steps += uint64(given - budget) }()
	for budget > 0 {
		if !w.settle() {
			w.state = warpDone
			return nil
		}
		n, err := w.runSplit(budget)
		budget -= n
		if err != nil || w.state != warpReady {
			return err
		}
	}
	return nil
}

// runSplit runs the top split until it parts, meets another, ends or has spent
// the budget. It returns the number of instructions.
func (w *warp) runSplit(budget int) (n int, err *Error) {
	code, counts := w.l.k.code, w.l.counts
	top := &w.stack[len(w.stack)-1]
	pc, rpc, mask := top.pc, top.rpc, top.mask
	stop := int32(len(code)) // the end, or where a sibling stands
	if i := len(w.stack) - 2; i >= 0 && w.stack[i].rpc == rpc {
		stop = w.stack[i].pc
	}
	lanes := bits.OnesCount32(mask)
	for n < budget {
		in := &code[pc]
		n++
		counts[pc].Warps++
		counts[pc].Lanes += uint64(lanes)
		w.l.stats.Active[lanes]++
		act := mask
		if in.guard >= 0 {
			if bad := mask &^ w.pdef[in.guard]; bad != 0 {
				return n, w.fault(in, bits.TrailingZeros32(bad), UninitRegister, "the guard predicate")
			}
			p := w.preds[in.guard]
			if in.guardNot {
				p = ^p
			}
			act &= p
		}
		if in.class != classControl {
			if act != 0 {
				if err = w.exec(in, pc, act); err != nil {
					return n, err
				}
			}
			pc++
		} else {
			switch in.op {
			case opBra:
				switch act {
				case mask:
					pc = in.target
				case 0:
					pc++
				default:
					w.l.stats.Divergences++
					w.diverge(in, pc, act)
					return n, nil
				}
			case opRet:
				w.live &^= act
				mask &^= act
				lanes = bits.OnesCount32(mask)
				top.mask = mask
				pc++
			case opBar:
				if act != 0 {
					top.pc = pc + 1
					return n, w.arrive(in, pc, act)
				}
				pc++
			case opTrap:
				if act != 0 {
					return n, w.fault(in, bits.TrailingZeros32(act), Trap, "")
				}
				pc++
			default:
				pc++
			}
		}
		if pc == rpc || pc >= stop || mask == 0 {
			break
		}
	}
	top.pc = pc
	return n, nil
}

// exec runs an instruction that does not steer.
func (w *warp) exec(in *inst, pc int32, act uint32) (err *Error) {
	for _, s := range in.src[:in.nsrc] {
		if bad := act &^ w.def[s]; bad != 0 {
			return w.fault(in, bits.TrailingZeros32(bad), UninitRegister, "%s", w.l.k.slots[s].name)
		}
	}
	switch in.class {
	case classInt:
		err = w.execInt(in, act)
	case classFloat:
		w.execFloat(in, act)
	case classPred:
		err = w.execPred(in, act)
	case classConvert:
		w.execConvert(in, act)
	case classMemory:
		err = w.execMemory(in, pc, act)
	case classAtomic:
		err = w.execAtomic(in, pc, act)
	case classLanes:
		err = w.execLanes(in, act)
	}
	for _, d := range in.dst[:in.ndst] {
		w.def[d] |= act
	}
	return err
}

// arrive brings a warp to a barrier; all of it must come.
func (w *warp) arrive(in *inst, pc int32, act uint32) *Error {
	if missing := w.missing(act); missing != 0 {
		lane := bits.TrailingZeros32(missing)
		return w.fault(in, lane, DivergentBarrier, "%s", w.absence(lane))
	}
	w.state, w.barrierPC = warpWaiting, pc
	w.barrier = int(w.regs[in.src[0]][0])
	w.barrierCount = 0
	if in.nsrc == 2 {
		w.barrierCount = int(w.regs[in.src[1]][0])
	}
	return nil
}

// missing are the lanes that should be here but are not.
func (w *warp) missing(act uint32) uint32 {
	if w.l.dev.Strict {
		return w.launched &^ act
	}
	return w.live &^ act
}
