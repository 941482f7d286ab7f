package simt

import (
	"fmt"
	"math/bits"
)

// absence says why a lane is not here.
func (w *warp) absence(lane int) string {
	switch {
	case w.launched>>lane&1 == 0:
		return "this lane was never launched"
	case w.live>>lane&1 == 0:
		return "this lane has ended"
	}
	if line, ok := w.whereIs(lane); ok {
		return fmt.Sprintf("this lane stands at line %d", line)
	}
	return "this lane is elsewhere"
}

// members checks the mask of a collective: the same in all lanes, with all of
// them, and naming nobody who is not here.
func (w *warp) members(in *inst, act uint32) *Error {
	masks := &w.regs[in.src[0]]
	first := uint32(masks[bits.TrailingZeros32(act)])
	for m := act; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		mask := uint32(masks[lane])
		if mask != first {
			return w.fault(in, lane, MissingLane, "its mask is %#x, another lane's is %#x", mask, first)
		}
		if mask>>lane&1 == 0 {
			return w.fault(in, lane, MissingLane, "this lane is not in its own mask %#x", mask)
		}
	}
	missing := first &^ act
	if !w.l.dev.Strict {
		missing &= w.live
	}
	if missing != 0 {
		lane := bits.TrailingZeros32(missing)
		return w.fault(in, lane, MissingLane, "mask %#x, lanes here %#x: %s", first, act, w.absence(lane))
	}
	return nil
}

func (w *warp) execLanes(in *inst, act uint32) *Error {
	if in.op == opActivemask {
		w.spread(in, act, uint64(act))
		return nil
	}
	if err := w.members(in, act); err != nil {
		return err
	}
	switch in.op {
	case opWarpSync:
	case opBallot, opVoteAll, opVoteAny, opVoteUni:
		return w.vote(in, act)
	case opMatchAny, opMatchAll:
		w.match(in, act)
	case opRedux:
		w.reduce(in, act)
	default:
		return w.shuffle(in, act)
	}
	return nil
}

// spread gives all active lanes one value.
func (w *warp) spread(in *inst, act uint32, v uint64) {
	d := &w.regs[in.dst[0]]
	for m := act; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)] = v
	}
}

func (w *warp) vote(in *inst, act uint32) *Error {
	p, err := w.predicate(in, act)
	if err != nil {
		return err
	}
	p &= act
	var yes bool
	switch in.op {
	case opBallot:
		w.spread(in, act, uint64(p))
		return nil
	case opVoteAll:
		yes = p == act
	case opVoteAny:
		yes = p != 0
	case opVoteUni:
		yes = p == act || p == 0
	}
	var result uint32
	if yes {
		result = act
	}
	w.setPred(in.pd[0], act, result)
	return nil
}

func (w *warp) match(in *inst, act uint32) {
	a, d := &w.regs[in.src[1]], &w.regs[in.dst[0]]
	if in.op == opMatchAll {
		first := a[bits.TrailingZeros32(act)]
		same := true
		for m := act; m != 0; m &= m - 1 {
			same = same && a[bits.TrailingZeros32(m)] == first
		}
		var result uint32
		if same {
			result = act
		}
		w.spread(in, act, uint64(result))
		if in.pd[0] >= 0 {
			w.setPred(in.pd[0], act, result)
		}
		return
	}
	// Each round serves all lanes that agree with the lowest one left. A copy of
	// the values, since the destination may be one half of them.
	vals := *a
	for left := act; left != 0; {
		v := vals[bits.TrailingZeros32(left)]
		var group uint32
		for m := left; m != 0; m &= m - 1 {
			if lane := bits.TrailingZeros32(m); vals[lane] == v {
				group |= 1 << lane
			}
		}
		for m := group; m != 0; m &= m - 1 {
			d[bits.TrailingZeros32(m)] = uint64(group)
		}
		left &^= group
	}
}

// shuffle follows the pseudo-code of the PTX manual for shfl.sync.
func (w *warp) shuffle(in *inst, act uint32) *Error {
	a, b, c := &w.regs[in.src[1]], &w.regs[in.src[2]], &w.regs[in.src[3]]
	d := &w.regs[in.dst[0]]
	vals := *a
	var inRange uint32
	for m := act; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		bval, cval, seg := int(b[lane]&31), int(c[lane]&31), int(c[lane]>>8&31)
		maxLane := lane&seg | cval&^seg
		minLane := lane & seg
		var j int
		var ok bool
		switch in.op {
		case opShflUp:
			j = lane - bval
			ok = j >= maxLane
		case opShflDown:
			j = lane + bval
			ok = j <= maxLane
		case opShflBfly:
			j = lane ^ bval
			ok = j <= maxLane
		case opShflIdx:
			j = minLane | bval&^seg
			ok = j <= maxLane
		}
		if !ok {
			j = lane
		} else {
			inRange |= 1 << lane
		}
		if act>>j&1 == 0 {
			return w.fault(in, lane, MissingLane, "it reads lane %d, which does not take part", j)
		}
		d[lane] = vals[j]
	}
	if in.pd[0] >= 0 {
		w.setPred(in.pd[0], act, inRange)
	}
	return nil
}

// reduce combines the values of all lanes that take part.
func (w *warp) reduce(in *inst, act uint32) {
	a := &w.regs[in.src[1]]
	how := inst{op: in.comb, t: in.t, sh: in.sh, width: 4}
	total := a[bits.TrailingZeros32(act)]
	for m := act & (act - 1); m != 0; m &= m - 1 {
		total = newValue(&how, total, a[bits.TrailingZeros32(m)], 0) & in.mask
	}
	w.spread(in, act, total)
}
