package x64

import (
	"math/bits"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// frame is an open If or Loop.
type frame struct {
	loop  bool
	label int32
	top   int32 // loop: its first instruction; If: where a cold branch returns to
	next  int32 // loop: list of Continues
	exit  int32 // list of jumps behind the end
	other int32 // If: list of jumps to the other branch

	passed bool  // loop: its Next was seen
	cold   uint8 // If: branches to be moved out of line
	moved  bool  // If: the current branch is in the cold section, the rest in the hot one
	inElse bool
}

const (
	coldThen uint8 = 1 << iota
	coldElse
)

// exit is a place that leaves with a status; all jumps with the same one share it.
type exit struct {
	code int32
	list int32
}

// scan looks ahead once, for what the one pass cannot know in time: whether the
// function yields, and which branches of Ifs leave it, directly in the branch. A
// branch that leaves runs once per call at best, so it goes to the cold section.
func (t *translator) scan() {
	t.coldIfs, t.yields = t.coldIfs[:0], 0
	const loopMark = -1
	type open struct {
		ord    int32
		branch uint8
	}
	var buf [32]open
	stack := buf[:0]
	for i := range t.f.Code {
		in := &t.f.Code[i]
		switch in.Op {
		case ir.If:
			stack = append(stack, open{int32(len(t.coldIfs)), coldThen})
			t.coldIfs = append(t.coldIfs, 0)
		case ir.Else:
			if n := len(stack); n > 0 {
				stack[n-1].branch = coldElse
			}
		case ir.Loop:
			stack = append(stack, open{ord: loopMark})
		case ir.EndIf, ir.EndLoop:
			if n := len(stack); n > 0 {
				stack = stack[:n-1]
			}
		case ir.Yield, ir.Exit:
			if in.Op == ir.Yield {
				t.yields++
			} else if in.Cond != ir.Always {
				continue
			}
			if n := len(stack); n > 0 && stack[n-1].ord != loopMark {
				t.coldIfs[stack[n-1].ord] |= stack[n-1].branch
			}
		}
	}
}

// prologue lets a re-entered function continue where it yielded.
func (t *translator) prologue() {
	if t.yields == 0 {
		return
	}
	resume := emptyRef
	t.insM(iCMP+aluMI8, 0, 0, at(ctxReg, ir.CtxResume), 0)
	t.jump(ccNE, &resume)
	t.swap()
	t.room(roomPerOp)
	t.bind(resume)
	t.insM(iJMPm, 0, 0, at(ctxReg, ir.CtxResume), 0)
	t.swap()
}

// epilogue ends the function and writes the exits.
func (t *translator) epilogue() {
	t.index = len(t.f.Code)
	t.room(roomPerOp)
	t.leave(ir.StatusDone)
	t.swap()
	for _, e := range t.exits {
		t.room(roomPerOp)
		t.bind(e.list)
		t.leave(e.code)
	}
	t.swap()
}

// leave returns a status.
func (t *translator) leave(code int32) {
	if code == 0 {
		t.insR(iXOR32, rax, 0, rax, 0)
	} else {
		t.imm(rax, int64(code))
	}
	t.ins0(iRET)
}

// exitList is the list of jumps that leave with a status. Only the last few are
// looked at: sharing an exit saves bytes, not time.
func (t *translator) exitList(code int32) *int32 {
	for i := len(t.exits) - 1; i >= 0 && i >= len(t.exits)-16; i-- {
		if t.exits[i].code == code {
			return &t.exits[i].list
		}
	}
	t.exits = append(t.exits, exit{code, emptyRef})
	return &t.exits[len(t.exits)-1].list
}

// label notes that jumps arrive here, so that nothing is known of the flags.
func (t *translator) label() { t.flagsPos = -1 }

func (t *translator) ifOp(in *ir.Instr) {
	f := frame{exit: emptyRef, other: emptyRef, cold: t.coldIfs[t.nextIf]}
	t.nextIf++
	if t.cold || f.cold == coldThen|coldElse {
		f.cold = 0 // already out of the way, or nothing would be left in line
	}
	c := t.compare(in.Cond, in.A, in.B)
	if f.cold&coldThen != 0 {
		entry := emptyRef
		t.jump(c, &entry)
		f.top, f.moved = t.pos(), true
		t.swap()
		t.room(roomPerOp)
		t.bind(entry)
		t.label()
	} else if c != ccAlways {
		t.jump(c.not(), &f.other)
	}
	t.frames = append(t.frames, f)
}

// innermost is the innermost open If.
func (t *translator) innermost() *frame {
	if n := len(t.frames); n > 0 && !t.frames[n-1].loop {
		return &t.frames[n-1]
	}
	t.fail("no If is open here")
	return nil
}

func (t *translator) elseOp(over bool) {
	f := t.innermost()
	if f == nil || f.inElse {
		t.fail("a second Else")
		return
	}
	f.inElse = true
	switch {
	case f.moved:
		// The then branch ran out of line; this one follows in line.
		if !over {
			t.jump(ccAlways, &f.exit)
		}
		t.swap()
		f.moved = false
	case f.cold&coldElse != 0:
		f.top, f.moved = t.pos(), true
		t.swap()
		t.room(roomPerOp)
		t.bind(f.other)
		f.other = emptyRef
	default:
		if !over {
			t.jump(ccAlways, &f.exit)
		}
		t.bind(f.other)
		f.other = emptyRef
	}
	t.label()
}

func (t *translator) endIf(over bool) {
	f := t.innermost()
	if f == nil {
		return
	}
	if f.moved {
		if !over {
			t.jumpTo(ccAlways, f.top)
		}
		t.swap()
	}
	t.bind(f.other)
	t.bind(f.exit)
	t.label()
	t.frames = t.frames[:len(t.frames)-1]
}

func (t *translator) loop(in *ir.Instr) {
	t.align()
	t.frames = append(t.frames, frame{loop: true, label: in.Label, top: t.pos(), next: emptyRef, exit: emptyRef})
	t.label()
}

// findLoop is the open loop with a label.
func (t *translator) findLoop(label int32) *frame {
	for i := len(t.frames) - 1; i >= 0; i-- {
		if f := &t.frames[i]; f.loop && f.label == label {
			return f
		}
	}
	t.fail("loop %d is not open here", label)
	return nil
}

func (t *translator) next(in *ir.Instr) {
	f := t.findLoop(in.Label)
	if f == nil || f.passed || f != &t.frames[len(t.frames)-1] {
		t.fail("a Next that is not its loop's only one, at its depth")
		return
	}
	t.bind(f.next)
	t.label()
	f.passed = true
}

func (t *translator) endLoop(in *ir.Instr) {
	f := t.findLoop(in.Label)
	if f == nil || f != &t.frames[len(t.frames)-1] {
		t.fail("loop %d ends inside another block", in.Label)
		return
	}
	if !f.passed && f.next != emptyRef {
		t.bind(f.next)
		t.label()
	}
	if holds, ok := known(in.Cond, in.A, in.B); !ok {
		t.jumpTo(t.compare(in.Cond, in.A, in.B), f.top)
	} else if holds {
		t.jumpTo(ccAlways, f.top)
	}
	t.bind(f.exit)
	t.label()
	t.frames = t.frames[:len(t.frames)-1]
}

func (t *translator) breakOp(in *ir.Instr) {
	if f := t.findLoop(in.Label); f != nil {
		t.jump(t.compare(in.Cond, in.A, in.B), &f.exit)
		t.over = in.Cond == ir.Always
	}
}

func (t *translator) continueOp(in *ir.Instr) {
	f := t.findLoop(in.Label)
	if f == nil {
		return
	}
	if f.passed {
		t.fail("a Continue behind its loop's Next")
		return
	}
	t.jump(t.compare(in.Cond, in.A, in.B), &f.next)
	t.over = in.Cond == ir.Always
}

func (t *translator) exit(in *ir.Instr) {
	if in.Cond == ir.Always {
		t.leave(in.Code)
		t.over = true
		return
	}
	t.jump(t.compare(in.Cond, in.A, in.B), t.exitList(in.Code))
}

// yield saves what is live, leaves, and is the place where it all comes back.
func (t *translator) yield(code int32) {
	hot := !t.cold
	var back int32
	if hot {
		away := emptyRef
		t.jump(ccAlways, &away)
		back = t.pos()
		t.swap()
		t.room(roomPerOp)
		t.bind(away)
	}
	t.insM(iMOVrm, rax, 0, at(ctxReg, ir.CtxSave), 0)
	t.live(func(l loc, m mem) {
		switch {
		case l < firstXMM:
			t.insM(iMOVmr, l.reg(), 0, m, 0)
		case l < firstSlot:
			t.insM(iVMOVSDst, l.reg(), 0, m, 0)
		default:
			t.insM(iMOVrm, rcx, 0, slotMem(l), 0)
			t.insM(iMOVmr, rcx, 0, m, 0)
		}
	})
	// lea rcx,[rip+resume]: the place is known only after the return is written.
	t.room(roomPerOp)
	start := t.n
	t.n += copy(t.b[t.n:], "\x48\x8d\x0d")
	site := t.pos()
	t.n += 4
	if t.listing {
		t.lines = append(t.lines, line{off: int32(start), end: int32(t.n), jump: true, text: "lea rcx,[rip]"})
	}
	t.insM(iMOVmr, rcx, 0, at(ctxReg, ir.CtxResume), 0)
	t.leave(code)
	t.aim(site, t.pos())
	t.insM(iMOVmi, 0, 0, at(ctxReg, ir.CtxResume), 0)
	t.insM(iMOVrm, rax, 0, at(ctxReg, ir.CtxSave), 0)
	t.live(func(l loc, m mem) {
		switch {
		case l < firstXMM:
			t.insM(iMOVrm, l.reg(), 0, m, 0)
		case l < firstSlot:
			t.insM(iVMOVSDld, l.reg(), 0, m, 0)
		default:
			t.insM(iMOVrm, rcx, 0, m, 0)
			t.insM(iMOVmr, rcx, 0, slotMem(l), 0)
		}
	})
	if hot {
		t.room(roomPerOp)
		t.jumpTo(ccAlways, back)
		t.swap()
	}
	t.label()
}

// live calls f for each open register and frame slot with its word in the save
// area, whose address is in rax. Far slots are there already.
func (t *translator) live(f func(l loc, m mem)) {
	t.room(roomPerOp)
	for m := attrGPR &^ t.freeG; m != 0; m &= m - 1 {
		r := bits.TrailingZeros32(m)
		f(loc(r), at(rax, int32(8*r)))
	}
	t.room(roomPerOp)
	for m := attrXMM &^ t.freeX; m != 0; m &= m - 1 {
		x := bits.TrailingZeros32(m)
		f(firstXMM+loc(x), at(rax, int32(saveXMM+8*x)))
	}
	for i, w := range t.slots {
		for ; w != 0; w &= w - 1 {
			l := firstSlot + loc(i<<6+bits.TrailingZeros64(w))
			if !l.isNear() {
				return
			}
			t.room(roomPerOp)
			f(l, at(rax, farDisp(l)))
		}
	}
}
