package ir

import "fmt"

// verifyFlow follows every path through a function whose scopes are known to be
// good. What it knows at a point is a set of facts that are true on some path to
// it, so that paths join by union: "r may be unassigned" and, when lanes matter,
// "r may differ between warps" and "r may differ between lanes".
//
// One pass in program order is enough for assignment, because a loop's back edge
// brings no register that is less assigned than at its entry. The facts on lanes
// do travel along back edges; for them passes repeat until nothing changes. What
// a pass learns about a loop's head is kept for the next, hence facts only grow
// and the end comes, in practice after two or three passes.
func verifyFlow(f *Func, lanes bool) error {
	w := &flow{f: f, lanes: lanes, words: (len(f.Regs) + 63) / 64}
	for {
		w.changed = false
		if err := w.pass(); err != nil {
			return err
		}
		if !w.changed {
			return nil
		}
	}
}

type flow struct {
	f       *Func
	lanes   bool
	words   int // of a set of registers
	state   facts
	frames  []flowFrame
	loops   []loopHead // in program order
	seen    int        // loops entered in this pass
	changed bool       // a loop's head has new facts
	pool    []facts
}

// facts holds three sets of registers one after the other, the latter two only
// when lanes matter. It is nil where control cannot come.
type facts []uint64

const (
	unassigned = iota
	warpDependent
	laneDependent
)

// flowFrame is an open block: the function's body, an if or a loop.
type flowFrame struct {
	op    Op
	label int32
	other facts // if: at the start of else, later at the end of the first branch
	out   facts // loop: what its breaks bring
	cont  facts // loop: what its continues bring to Next
	loop  int   // loop: its number in flow.loops
	now   mark  // how far lanes are parted here; see verify_lanes.go
	in    mark  // how far they were at the block's beginning
}

// loopHead is what the passes so far know of a loop's head.
type loopHead struct {
	back facts // from the back edge
	mark mark  // how far lanes that leave it are parted
}

func (w *flow) pass() error {
	w.seen = 0
	w.frames = append(w.frames[:0], flowFrame{})
	w.state = w.newFacts()
	for i := range w.words {
		w.state[i] = ^uint64(0)
	}
	w.state[0] &^= 1 << Ctx
	for i := range w.f.Code {
		if err := w.step(i, &w.f.Code[i]); err != nil {
			return instrError(w.f, i, err)
		}
	}
	w.free(w.state)
	return nil
}

func (w *flow) step(at int, in *Instr) error {
	top := &w.frames[len(w.frames)-1]

	// Brackets and joins count in dead code too.
	switch in.Op {
	case Else:
		w.state, top.other = top.other, w.state
		top.meet()
		return nil
	case EndIf:
		w.state = w.join(w.state, top.other)
		w.frames = w.frames[:len(w.frames)-1]
		return nil
	case Next:
		w.continues(top)
		return nil
	case EndLoop:
		// Without Next, this is where Continue goes.
		w.continues(top)
	}

	if w.state != nil {
		if err := w.checkReads(in); err != nil {
			return err
		}
		if err := w.checkGroup(in); err != nil {
			return err
		}
	}

	switch in.Op {
	case If:
		m := w.enter(w.condMark(at, in))
		w.frames = append(w.frames, flowFrame{op: If, other: w.clone(w.state), now: m, in: m})
	case Loop:
		w.enterLoop(in)
	case EndLoop:
		w.endLoop(at, in, top)
	case Break:
		i := w.loopFrame(in.Label)
		w.jump(at, in, &w.frames[i].out, i)
	case Continue:
		i := w.loopFrame(in.Label)
		w.jump(at, in, &w.frames[i].cont, i)
	case Exit:
		w.jump(at, in, nil, 0)
	case Vreg:
		w.open(in.D)
	default:
		w.assign(in)
	}
	return nil
}

// loopFrame is the frame of an open loop.
func (w *flow) loopFrame(label int32) int {
	i := len(w.frames) - 1
	for w.frames[i].op != Loop || w.frames[i].label != label {
		i--
	}
	return i
}

func (w *flow) enterLoop(in *Instr) {
	if w.seen == len(w.loops) {
		w.loops = append(w.loops, loopHead{})
	}
	head := &w.loops[w.seen]
	if w.state != nil {
		w.state.add(head.back)
	}
	m := w.enter(head.mark)
	w.frames = append(w.frames, flowFrame{op: Loop, label: in.Label, loop: w.seen, now: m, in: m})
	w.seen++
}

// endLoop takes the back edge and leaves the loop.
func (w *flow) endLoop(at int, in *Instr, fr *flowFrame) {
	if w.state != nil && w.lanes {
		w.part(at, in, len(w.frames)-1)
		head := &w.loops[fr.loop]
		if head.back == nil {
			head.back = w.newFacts()
		}
		if head.back.add(w.state) {
			w.changed = true
		}
	}
	if in.Cond == Always {
		w.free(w.state)
		w.state = nil
	}
	w.state = w.join(w.state, fr.out)
	w.frames = w.frames[:len(w.frames)-1]
}

// continues is the place to which Continue goes.
func (w *flow) continues(fr *flowFrame) {
	w.state = w.join(w.state, fr.cont)
	fr.cont = nil
	fr.meet()
}

// jump sends the state along a Break, Continue or Exit that leaves the frames
// from number `to` on; an Exit sends it nowhere.
func (w *flow) jump(at int, in *Instr, into *facts, to int) {
	if w.state == nil {
		return
	}
	w.part(at, in, to)
	if into != nil {
		*into = w.join(*into, w.clone(w.state))
	}
	if in.Cond == Always {
		w.free(w.state)
		w.state = nil
	}
}

func (w *flow) checkReads(in *Instr) error {
	var err error
	in.reads(func(r Reg) {
		if err == nil && w.state.has(unassigned*w.words, r) {
			err = fmt.Errorf("register %s may be read before it is assigned", regText(w.f, r))
		}
	})
	return err
}

// open starts a register afresh, which matters when a loop comes by again.
func (w *flow) open(r Reg) {
	if w.state != nil {
		w.state.set(unassigned*w.words, r, true)
		w.setGrain(r, 0)
	}
}

func (w *flow) assign(in *Instr) {
	info := in.Op.info()
	if w.state == nil || info.d == unused || info.d == anyReg {
		return
	}
	g := w.resultGrain(in) // before the assignment: D may be an operand too
	for i := range Reg(in.spans()) {
		w.state.set(unassigned*w.words, in.D+i, false)
		w.setGrain(in.D+i, g)
	}
	if info.d2 != unused {
		w.state.set(unassigned*w.words, in.D2, false)
		w.setGrain(in.D2, g)
	}
}

// The sets. An offset in words chooses one of the three.

func (s facts) has(offset int, r Reg) bool { return s[offset+int(r>>6)]>>(r&63)&1 != 0 }

func (s facts) set(offset int, r Reg, on bool) {
	word := &s[offset+int(r>>6)]
	if on {
		*word |= 1 << (r & 63)
	} else {
		*word &^= 1 << (r & 63)
	}
}

// add makes the union and tells whether it is larger than s was.
func (s facts) add(t facts) bool {
	var grown uint64
	for i, x := range t {
		grown |= x &^ s[i]
		s[i] |= x
	}
	return grown != 0
}

// join makes the union of two states that it may reuse.
func (w *flow) join(s, t facts) facts {
	if s == nil {
		return t
	}
	if t != nil {
		s.add(t)
		w.free(t)
	}
	return s
}

func (w *flow) clone(s facts) facts {
	if s == nil {
		return nil
	}
	t := w.newFacts()
	copy(t, s)
	return t
}

func (w *flow) newFacts() facts {
	if n := len(w.pool); n > 0 {
		s := w.pool[n-1]
		w.pool = w.pool[:n-1]
		clear(s)
		return s
	}
	n := w.words
	if w.lanes {
		n *= 3
	}
	return make(facts, n)
}

func (w *flow) free(s facts) {
	if s != nil {
		w.pool = append(w.pool, s)
	}
}
