package simt

import "slices"

// How lanes part and meet again.
//
// A warp has a stack of splits. A split is a set of lanes with one program
// counter; the top one runs. Where the lanes of a split disagree about a branch,
// it is left waiting at the place where the two sides meet (the immediate
// post-dominator), and the sides are stacked on top of it, each to run until it
// comes to that place and is dropped.
//
// Splits that run to the same place are siblings. They are kept in order, the
// lowest program counter on top, and merge when they come to stand at the same
// instruction. That matters for `if { … break } … ` in a loop: the if and the
// break both meet at the end of the loop only, and with post-dominators alone the
// lanes that came through the if would never join those that went around it. In
// code laid out in source order, as ours is, the lowest-first order lets them
// meet at the end of the if, which is what an H200 was seen to do.
type split struct {
	pc, rpc int32
	mask    uint32
}

// settle brings the stack into order and leaves the split to run on top; false
// when the warp has ended.
func (w *warp) settle() bool {
	end := int32(len(w.l.k.code))
	for len(w.stack) > 0 {
		n := len(w.stack) - 1
		top := &w.stack[n]
		top.mask &= w.live
		if top.pc >= end {
			w.live &^= top.mask
			top.mask = 0
		}
		if top.mask == 0 || top.pc == top.rpc {
			w.stack = w.stack[:n]
			continue
		}
		if n == 0 || w.stack[n-1].rpc != top.rpc || top.pc < w.stack[n-1].pc {
			return true
		}
		s := *top
		w.stack = w.stack[:n]
		w.insert(s)
	}
	return false
}

// insert puts a split among its siblings.
func (w *warp) insert(s split) {
	i := len(w.stack)
	for i > 0 && w.stack[i-1].rpc == s.rpc && w.stack[i-1].pc < s.pc {
		i--
	}
	if i > 0 && w.stack[i-1].rpc == s.rpc && w.stack[i-1].pc == s.pc {
		w.stack[i-1].mask |= s.mask
		return
	}
	w.stack = slices.Insert(w.stack, i, s)
}

// diverge parts the running split at a branch.
func (w *warp) diverge(in *inst, pc int32, taken uint32) {
	top := &w.stack[len(w.stack)-1]
	mask, rpc := top.mask, in.reconv
	if n := len(w.stack) - 2; n >= 0 && w.stack[n].rpc == top.rpc && w.stack[n].pc <= rpc {
		rpc = top.rpc // a sibling stands on the way to the meeting place: stay in its order
	}
	if rpc == top.rpc {
		w.stack = w.stack[:len(w.stack)-1] // the split below waits for us already
	} else {
		top.pc = rpc
	}
	if pc+1 != rpc {
		w.insert(split{pc + 1, rpc, mask &^ taken})
	}
	if in.target != rpc {
		w.insert(split{in.target, rpc, taken})
	}
}

// whereIs finds the line at which a lane stands that is not in the running split.
func (w *warp) whereIs(lane int) (line int, ok bool) {
	for i := len(w.stack) - 1; i >= 0; i-- {
		if s := w.stack[i]; s.mask>>lane&1 != 0 && int(s.pc) < len(w.l.k.code) {
			return int(w.l.k.code[s.pc].line), true
		}
	}
	return 0, false
}
