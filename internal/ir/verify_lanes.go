package ir

import "fmt"

// Which lanes come where. The GPU runs the lanes of a warp in step, and lanes
// that a branch has parted meet again where the branch's block ends. A collective
// operation in between would wait for lanes that never come. So we compute, for
// each register and at each place, at which grain the lanes may disagree.
//
// Control parts lanes:
//
//	if               until its end
//	continue         until the loop's Next
//	break, while     in the whole loop, also in what stands before: when it comes
//	                 by again, some lanes are gone
//	exit             in the rest of the function and in all loops around
//
// A value assigned where lanes are parted differs between them afterwards,
// whatever it is. That includes a count of a loop's rounds which lanes leave one
// by one.

// grain is the largest group of threads that is known to agree on a value, or
// on whether they come to a place.
type grain uint8

const (
	perBlock grain = iota // constants, words of the context, the block's number
	perWarp               // ballots
	perLane               // what was loaded or depends on the lane's number
)

// mark is a grain with the instruction that brought it about, for messages.
type mark struct {
	grain grain
	by    int
}

func (m *mark) raise(to mark) bool {
	if to.grain <= m.grain {
		return false
	}
	*m = to
	return true
}

// enter is the grain at the start of a block inside the present one.
func (w *flow) enter(why mark) mark {
	m := w.frames[len(w.frames)-1].now
	m.raise(why)
	return m
}

// condMark is the grain of an instruction's comparison.
func (w *flow) condMark(at int, in *Instr) mark {
	if !w.lanes || w.state == nil || in.Cond == Always {
		return mark{by: at}
	}
	return mark{max(w.valGrain(in.A), w.valGrain(in.B)), at}
}

// part notes that a jump leaves the frames from number `to` on, for some lanes
// and not for others. Whoever takes a continue comes to the next round of its
// loop; from all other loops on the way the lanes are gone.
func (w *flow) part(at int, in *Instr, to int) {
	if !w.lanes {
		return
	}
	m := w.enter(w.condMark(at, in))
	for i := to; i < len(w.frames); i++ {
		fr := &w.frames[i]
		fr.now.raise(m)
		if fr.op == Loop && !(in.Op == Continue && i == to) {
			if w.loops[fr.loop].mark.raise(m) {
				w.changed = true
			}
		}
	}
}

// meet is where the lanes of a block are together as at its beginning: at a
// loop's Next, and at an Else, where the lanes that something happened to in the
// first branch are not among us.
func (fr *flowFrame) meet() { fr.now = fr.in }

// checkGroup is the rule that all of this is for.
func (w *flow) checkGroup(in *Instr) error {
	now := w.frames[len(w.frames)-1].now
	switch in.Op.info().group {
	case warp:
		if now.grain > perWarp {
			return fmt.Errorf("collective op under a lane-dependent condition (instr %d: %s)", now.by, w.f.Line(now.by))
		}
	case block:
		if now.grain > perBlock {
			return fmt.Errorf("barrier under a condition that is not uniform over the block (instr %d: %s)", now.by, w.f.Line(now.by))
		}
	}
	return nil
}

func (w *flow) regGrain(r Reg) grain {
	switch {
	case r == NoReg:
		return perBlock
	case w.state.has(laneDependent*w.words, r):
		return perLane
	case w.state.has(warpDependent*w.words, r):
		return perWarp
	}
	return perBlock
}

func (w *flow) valGrain(v Val) grain { return w.regGrain(v.R) }

func (w *flow) setGrain(r Reg, g grain) {
	if w.lanes {
		w.state.set(warpDependent*w.words, r, g >= perWarp)
		w.state.set(laneDependent*w.words, r, g >= perLane)
	}
}

// resultGrain is the grain of what an instruction assigns.
func (w *flow) resultGrain(in *Instr) grain {
	if !w.lanes {
		return perBlock
	}
	return max(w.ownGrain(in), w.frames[len(w.frames)-1].now.grain)
}

func (w *flow) ownGrain(in *Instr) grain {
	switch in.Op {
	case Special:
		if s := SpecialReg(in.A.Imm); s == LaneID || s == ThreadID || s == LanesBelow {
			return perLane
		}
		return perBlock
	case Param, Uniform:
		return perBlock
	case Load, FLoad, Load2, Load4:
		if in.Kind == ReadOnly || in.Kind == Once {
			break // whoever reads the same address sees the same
		}
		return loadGrain(in)
	case AtomAdd, AtomMin, AtomMax, AtomOr, AtomExch, AtomCAS, AtomFAdd:
		return perLane
	case Ballot:
		return perWarp
	case RedAdd, RedMin, RedMax, RedOr:
		return min(perWarp, w.valGrain(in.A))
	case Match:
		// Lanes that all have the same value get the same mask.
		return max(perWarp, w.valGrain(in.A))
	case Shfl:
		// From one lane to all, or from any lane what all have anyway.
		return min(w.valGrain(in.A), max(perWarp, w.valGrain(in.B)))
	case ShflXor, ShflUp, ShflDown:
		return w.valGrain(in.A)
	}
	g := perBlock
	in.reads(func(r Reg) { g = max(g, w.regGrain(r)) })
	return g
}

// loadGrain trusts the words of the context, which are the same for the whole
// launch, except the status word: other threads write it meanwhile, and the warps
// of a block read it at different times.
func loadGrain(in *Instr) grain {
	m := &in.M
	if m.Base != Ctx || m.Index != NoReg || m.Space != Global {
		return perLane
	}
	if m.Disp < CtxStatus+8 && int64(m.Disp)+int64(in.W) > CtxStatus {
		return perWarp
	}
	return perBlock
}
