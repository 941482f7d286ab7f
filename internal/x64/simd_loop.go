package x64

import "github.com/kelpiedb/kelpie/internal/ir"

// Scratch words of maskLoop.
const (
	loopRest = iota // rows still to be looked at
	loopDone        // rows that passed
	loopM           // address of the elements
	loopB
	loopC
)

// maskLoop looks at the rows of A one by one. Three temporaries are few: what lasts
// longer than a row lives in scratch words.
func (t *translator) maskLoop(in *ir.Instr) {
	if in.Op == ir.Pick {
		t.pickLoop(in)
		return
	}
	set := func(word int32, r reg) { t.insM(iMOVmr, r, 0, scratchMem(word), 0) }
	t.insM(iLEA, rax, 0, t.mem(&in.M, rax, rdx), 0)
	set(loopM, rax)
	if in.Op != ir.MaskLut {
		t.into(rax, in.B)
		if in.Op == ir.MaskBytes {
			t.truncate(rax, 1)
		}
		set(loopB, rax)
	}
	t.into(rax, in.C)
	switch in.Op {
	case ir.MaskRange:
		t.truncate(rax, in.W)
	case ir.MaskBytes:
		t.truncate(rax, 1)
	}
	set(loopC, rax)
	t.insM(iMOVmi, 0, 0, scratchMem(loopDone), 0)
	t.into(rcx, in.A)
	done, skip := emptyRef, emptyRef
	t.insR(iTEST, rcx, 0, rcx, 0)
	t.jump(ccE, &done)
	top := t.pos()
	t.insR(iTZCNT, rdx, 0, rcx, 0)
	t.insR(iBLSR, 0, rcx, rcx, 0)
	set(loopRest, rcx)
	t.insM(iMOVrm, rax, 0, scratchMem(loopM), 0)
	c := t.passes(in, &skip)
	t.jump(c.not(), &skip)
	t.imm(rcx, 1)
	t.insR(iSHLX, rcx, rdx, rcx, 0)
	t.insM(iOR+aluMR, rcx, 0, scratchMem(loopDone), 0)
	t.bind(skip)
	t.insM(iMOVrm, rcx, 0, scratchMem(loopRest), 0)
	t.insR(iTEST, rcx, 0, rcx, 0)
	t.jumpTo(ccNE, top)
	t.bind(done)
	t.label()
	t.insM(iMOVrm, rax, 0, scratchMem(loopDone), 0)
	t.finish(in.D, rax, rcx)
}

// passes writes the test of row rdx, whose elements begin at the address in rax, and
// says by which condition it passes; it may also jump to skip. It keeps rdx.
func (t *translator) passes(in *ir.Instr, skip *int32) cc {
	w := max(in.W, 1)
	t.element(rax, mem{rax, rdx, uint8(lg(w)), 0}, w)
	switch in.Op {
	case ir.MaskRange:
		t.insM(iSUB+aluRM, rax, 0, scratchMem(loopB), 0)
		t.truncate(rax, w)
		t.insM(iCMP+aluRM, rax, 0, scratchMem(loopC), 0)
		return ccBE
	case ir.MaskCmp:
		w2 := uint8(in.C2.Imm)
		t.insM(iADD+aluRM, rax, 0, scratchMem(loopB), 0)
		if cmpLane(w, w2) == 4 {
			t.insR(iMOVSXD, rax, 0, rax, 0)
		}
		t.insM(iMOVrm, rcx, 0, scratchMem(loopC), 0)
		t.element(rcx, mem{rcx, rdx, uint8(lg(w2)), 0}, w2)
		t.insR(iCMP+aluRM, rax, 0, rcx, 0)
		return ccOf[in.Cond]
	case ir.MaskBits:
		t.insM(iSUB+aluRM, rax, 0, scratchMem(loopB), 0)
		t.truncate(rax, 4)
		t.insM(iMOVrm, rcx, 0, scratchMem(loopC), 0)
		t.insM(iBT, rax, 0, at(rcx, 0), 0)
		return ccB
	case ir.MaskLut:
		t.insM(iMOVrm, rcx, 0, scratchMem(loopC), 0)
		t.insM(iMOVZX8, rcx, 0, mem{rcx, rax, 0, 0}, 0)
		t.insR(iTEST, rcx, 0, rcx, 0)
		return ccNE
	default: // MaskBytes
		t.insM(iCMP+aluRM, rax, 0, scratchMem(loopB), 0)
		t.jump(ccNE, skip)
		t.insM(iMOVrm, rax, 0, scratchMem(loopM), 0)
		t.insM(iMOVZX8, rax, 0, mem{rax, rdx, 0, int32(in.C2.Imm)}, 0)
		t.insM(iCMP+aluRM, rax, 0, scratchMem(loopC), 0)
		return ccE
	}
}

// element loads w bytes and extends them by zeros.
func (t *translator) element(r reg, m mem, w uint8) {
	t.insM([...]inst{iMOVZX8, iMOVZX16, iMOV32rm, iMOVrm}[lg(w)], r, 0, m, 0)
}

// truncate clears all but the low w bytes.
func (t *translator) truncate(r reg, w uint8) {
	if w < 8 {
		t.insR([...]inst{iMOVZX8, iMOVZX16, iMOV32rm}[lg(w)], r, 0, r, 0)
	}
}

func (t *translator) pickLoop(in *ir.Instr) {
	t.into(rax, in.B)
	t.insM(iMOVmr, rax, 0, scratchMem(loopB), 0)
	t.insM(iLEA, rdx, 0, t.mem(&in.M, rdx, rax), 0)
	t.into(rcx, in.A)
	done := emptyRef
	t.insR(iTEST, rcx, 0, rcx, 0)
	t.jump(ccE, &done)
	top := t.pos()
	t.insR(iTZCNT, rax, 0, rcx, 0)
	t.insM(iADD+aluRM, rax, 0, scratchMem(loopB), 0)
	t.insM(iMOV32mr, rax, 0, at(rdx, 0), 0)
	t.insR(iADD+aluMI8, 0, 0, rdx, 4)
	t.insR(iBLSR, 0, rcx, rcx, 0)
	t.jumpTo(ccNE, top)
	t.bind(done)
	t.label()
	t.count(iPOPCNT, in.D, in.A)
}
