package ir

import "fmt"

// Verify holds a function to the rules of the IR and returns the first breach,
// naming function, instruction and rule. Tests run it after every emitter; a
// translator may assume all that it checks:
//
//   - form (this file): operand types, widths, scales, conditions, exit codes,
//     and what the targets have;
//   - scopes (verify_scope.go): control flow nests, and registers are opened and
//     cleared once, in one block, and used in between;
//   - flow (verify_flow.go): no register is read before it is assigned;
//   - lanes (verify_lanes.go): the lanes that must meet in a collective operation
//     do meet.
func Verify(f *Func) error {
	if err := verifyHeader(f); err != nil {
		return fmt.Errorf("ir: func %s: %w", f.Name, err)
	}
	scopes := newScopes(f)
	collective := false
	for i := range f.Code {
		in := &f.Code[i]
		if err := verifyForm(f, in); err != nil {
			return instrError(f, i, err)
		}
		if err := scopes.step(i, in); err != nil {
			return instrError(f, i, err)
		}
		collective = collective || in.Op.info().group != alone
	}
	if err := scopes.end(); err != nil {
		return fmt.Errorf("ir: func %s: at the end: %w", f.Name, err)
	}
	// Without collectives it does not matter which lanes go where.
	return verifyFlow(f, collective)
}

func instrError(f *Func, i int, err error) error {
	return fmt.Errorf("ir: func %s: instr %d: %s: %w", f.Name, i, f.Line(i), err)
}

func verifyHeader(f *Func) error {
	switch {
	case f.Target == 0 || f.Target&^(CPU|GPU) != 0:
		return fmt.Errorf("target %s is neither cpu nor gpu", f.Target)
	case len(f.Regs) == 0 || f.Regs[Ctx].Type != I64:
		return fmt.Errorf("register 0 must be the context, an i64")
	case f.SharedBytes < 0:
		return fmt.Errorf("%d bytes of shared memory", f.SharedBytes)
	case f.SharedBytes > 0 && f.Target != GPU:
		return fmt.Errorf("shared memory exists only on the gpu, target is %s", f.Target)
	case f.LocalBytes < 0 || f.LocalBytes > 0 && f.Target != GPU:
		return fmt.Errorf("%d bytes of local memory, target is %s", f.LocalBytes, f.Target)
	case f.Params < 0:
		return fmt.Errorf("%d parameters", f.Params)
	case f.Params > 0 && f.Target != GPU:
		return fmt.Errorf("parameters exist only on the gpu, target is %s", f.Target)
	}
	for r, info := range f.Regs {
		if info.Type > I32 {
			return fmt.Errorf("register #%d has no valid type", r)
		}
		if info.Type == I32 && f.Target != GPU {
			return fmt.Errorf("%s is i32, which exists only on the gpu, target is %s", regText(f, Reg(r)), f.Target)
		}
	}
	return nil
}

// verifyForm checks an instruction by itself against its row of the table.
func verifyForm(f *Func, in *Instr) error {
	if in.Op >= numOps {
		return fmt.Errorf("no such operation")
	}
	info := in.Op.info()
	if info.only != 0 && f.Target&^info.only != 0 {
		return fmt.Errorf("%s exists only on the %s, target is %s", in.Op, info.only, f.Target)
	}
	if err := verifyDests(f, in, info); err != nil {
		return err
	}
	if err := verifyCond(in, info); err != nil {
		return err
	}
	for s := in.operands(); s != 0; s = s.rest() {
		if err := verifyVal(f, *in.val(s.first()), info.src[s.first()]); err != nil {
			return err
		}
	}
	if info.width != noWidth && (in.W&(in.W-1) != 0 || info.width&widthUse(in.W) == 0) {
		return fmt.Errorf("a width of %d bytes is not possible here", in.W)
	}
	if err := verifySpan(f, in, info); err != nil {
		return err
	}
	if err := verifyTypes(f, in, info); err != nil {
		return err
	}
	if info.mem {
		if err := verifyMem(f, in); err != nil {
			return err
		}
	}
	if info.code == positive && in.Code <= 0 {
		return fmt.Errorf("exit code %d must be positive", in.Code)
	}
	if info.label && in.Label <= 0 {
		return fmt.Errorf("label L%d must be positive", in.Label)
	}
	return nil
}

func verifyDests(f *Func, in *Instr, info *opInfo) error {
	for _, d := range [...]struct {
		r    Reg
		kind slot
	}{{in.D, info.d}, {in.D2, info.d2}} {
		if d.kind == unused {
			continue
		}
		if d.r == Ctx {
			return fmt.Errorf("the context register is open throughout and never assigned")
		}
		if err := verifyReg(f, d.r, d.kind); err != nil {
			return err
		}
	}
	if info.d2 != unused && in.D == in.D2 {
		return fmt.Errorf("both halves of the result go to %s", regText(f, in.D))
	}
	return nil
}

func verifyCond(in *Instr, info *opInfo) error {
	switch {
	case info.cond == noCond:
	case in.Cond > UGE:
		return fmt.Errorf("no such condition")
	case in.Cond == Always && info.cond != jumpCond:
		return fmt.Errorf("%s needs a condition", in.Op)
	case in.Cond > GE && info.cond == fltCond:
		return fmt.Errorf("floats have no unsigned comparison")
	}
	return nil
}

func verifyVal(f *Func, v Val, kind slot) error {
	switch {
	case kind >= fltBits && kind <= byteNo:
		if !v.IsImm() {
			return fmt.Errorf("%s stands where a constant must be", regText(f, v.R))
		}
		if kind == special && (v.Imm < 0 || v.Imm > int64(LanesBelow)) {
			return fmt.Errorf("no such special register")
		}
		if kind == size && v.Imm != 1 && v.Imm != 2 && v.Imm != 4 && v.Imm != 8 {
			return fmt.Errorf("%d bytes is not a size of elements", v.Imm)
		}
		if kind == dist && (v.Imm < 0 || v.Imm > 63) {
			return fmt.Errorf("a distance of %d is not from 0 to 63", v.Imm)
		}
		if kind == count && v.Imm <= 0 {
			return fmt.Errorf("%d entries are none", v.Imm)
		}
		if kind == paramNo && (v.Imm < 1 || v.Imm > int64(f.Params)) {
			return fmt.Errorf("parameter %d is not from 1 to %d", v.Imm, f.Params)
		}
		if kind == fewBits && (v.Imm < 1 || v.Imm > 31) {
			return fmt.Errorf("elements of %d bits are not packed", v.Imm)
		}
		if kind == byteNo && (v.Imm < 0 || v.Imm > 3) {
			return fmt.Errorf("a word has no byte %d", v.Imm)
		}
	case !v.IsImm():
		return verifyReg(f, v.R, kind)
	case kind == fltVal:
		return fmt.Errorf("immediate %d stands where a float register must be", v.Imm)
	}
	return nil
}

func verifyReg(f *Func, r Reg, kind slot) error {
	if r < 0 || int(r) >= len(f.Regs) {
		return fmt.Errorf("there is no register #%d", r)
	}
	want := I64
	switch t := f.Regs[r].Type; kind {
	case anyReg:
		return nil
	case sameVal, condVal, freeVal:
		if t == I32 {
			return nil
		}
	case fltVal:
		want = F64
	case wordVal:
		want = I32
	}
	if t := f.Regs[r].Type; t != want {
		return fmt.Errorf("%s is %s, must be %s", regText(f, r), t, want)
	}
	return nil
}

// verifySpan checks the registers behind the first of several.
func verifySpan(f *Func, in *Instr, info *opInfo) error {
	if info.span == 0 {
		return nil
	}
	first := in.D
	if info.d == unused {
		if in.A.IsImm() {
			return fmt.Errorf("constant %d stands where registers must be", in.A.Imm)
		}
		first = in.A.R
	}
	for i := range Reg(info.span) {
		r := first + i
		if int(r) >= len(f.Regs) {
			return fmt.Errorf("there are no %d registers from %s on", info.span, regText(f, first))
		}
		if bytes := typeBytes(f.Regs[r].Type); f.Regs[r].Type == F64 || bytes != int(in.W) {
			return fmt.Errorf("%s is %s and does not hold %d bytes", regText(f, r), f.Regs[r].Type, in.W)
		}
	}
	return nil
}

func typeBytes(t Type) int {
	if t == I32 {
		return 4
	}
	return 8
}

// verifyTypes checks that operands agree which may be of either width, that constants fit them, and
// that memory holds what they are.
func verifyTypes(f *Func, in *Instr, info *opInfo) error {
	if err := verifySame(f, in, info, sameVal); err != nil {
		return err
	}
	if err := verifySame(f, in, info, condVal); err != nil {
		return err
	}
	t := I64
	switch in.Op {
	case Load:
		t = f.Regs[in.D].Type
	case Store:
		if !in.A.IsImm() {
			t = f.Regs[in.A.R].Type
		}
	case AtomAdd, AtomMin, AtomMax, AtomOr, AtomExch, AtomCAS:
		if t = f.Regs[in.D].Type; typeBytes(t) != int(in.W) {
			return fmt.Errorf("a cell of %d bytes does not hold %s", in.W, t)
		}
	}
	if t == I32 && in.W == 8 {
		return fmt.Errorf("8 bytes are not an i32")
	}
	switch {
	case in.Kind > Ordered || in.Kind != Plain && info.kinds&(1<<in.Kind) == 0:
		return fmt.Errorf("%s cannot be %s", in.Op, nameOf(int(in.Kind), "kind", kindNames[:]))
	case in.Kind != Plain && (f.Target != GPU || in.M.Space != Global):
		return fmt.Errorf("%s is for global memory of the gpu", kindNames[in.Kind])
	}
	return nil
}

func verifySame(f *Func, in *Instr, info *opInfo, kind slot) error {
	first := NoReg
	agree := func(r Reg) error {
		if first == NoReg {
			first = r
		}
		if f.Regs[r].Type != f.Regs[first].Type {
			return fmt.Errorf("%s is %s and %s is %s", regText(f, first), f.Regs[first].Type, regText(f, r), f.Regs[r].Type)
		}
		return nil
	}
	if info.d == kind {
		first = in.D
	}
	for s := in.operands(); s != 0; s = s.rest() {
		if v := in.val(s.first()); info.src[s.first()] == kind && !v.IsImm() {
			if err := agree(v.R); err != nil {
				return err
			}
		}
	}
	if first == NoReg || f.Regs[first].Type != I32 {
		return nil
	}
	for s := in.operands(); s != 0; s = s.rest() {
		if v := in.val(s.first()); info.src[s.first()] == kind && v.IsImm() && (v.Imm < -1<<31 || v.Imm >= 1<<32) {
			return fmt.Errorf("constant %d does not fit in 32 bits", v.Imm)
		}
	}
	return nil
}

func verifyMem(f *Func, in *Instr) error {
	m, w := &in.M, int64(in.W)*int64(in.spans())
	// Elsewhere an address counts bytes of a scratchpad, for which 32 bits are enough in shared memory.
	base, index := intVal, freeVal
	if (m.Space == Shared || m.Space == Dynamic) && in.Op != Lea {
		base = freeVal
	} else if m.Space != Global {
		index = intVal
	}
	switch {
	case m.Space > Local:
		return fmt.Errorf("no such address space")
	case m.Space == Local && in.Op >= AtomAdd && in.Op <= AtomFAdd:
		return fmt.Errorf("nobody else changes local memory: there are no atomics")
	case m.Space != Global && f.Target != GPU:
		return fmt.Errorf("shared memory exists only on the gpu, target is %s", f.Target)
	case m.Space == Global && m.Base == NoReg:
		return fmt.Errorf("an address outside shared memory needs a base register")
	}
	if m.Base != NoReg {
		if err := verifyReg(f, m.Base, base); err != nil {
			return err
		}
	}
	if m.Index != NoReg {
		if err := verifyReg(f, m.Index, index); err != nil {
			return err
		}
		if m.Scale != 1 && m.Scale != 2 && m.Scale != 4 && m.Scale != 8 {
			return fmt.Errorf("a scale of %d is not possible", m.Scale)
		}
	}
	if m.Base != NoReg || m.Index != NoReg {
		return nil
	}
	if m.Disp < 0 || m.Space == Shared && int64(m.Disp)+w > int64(f.SharedBytes) {
		return fmt.Errorf("address is outside the %d bytes of shared memory", f.SharedBytes)
	}
	if m.Space == Local && int64(m.Disp)+w > int64(f.LocalBytes) {
		return fmt.Errorf("address is outside the %d bytes of local memory", f.LocalBytes)
	}
	return nil
}

func regText(f *Func, r Reg) string {
	p := printer{f: f}
	p.reg(r)
	return string(p.buf)
}
