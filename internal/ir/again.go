package ir

// Again writes instructions once more: the registers that they open and the loops are new ones, all others stay.
type Again struct {
	b      *Builder
	regs   map[Reg]Reg
	labels map[int32]int32
}

// Again begins to write instructions once more.
func (b *Builder) Again() *Again {
	return &Again{b: b, regs: map[Reg]Reg{}, labels: map[int32]int32{}}
}

// Reg is the register that stands for one of the first time.
func (a *Again) Reg(r Reg) Reg {
	if s, ok := a.regs[r]; ok {
		return s
	}
	return r
}

// Stand lets a register stand for one of the first time.
func (a *Again) Stand(s, r Reg) { a.regs[r] = s }

// Label is that of the loop which stands for one of the first time.
func (a *Again) Label(l int32) int32 {
	if m, ok := a.labels[l]; ok {
		return m
	}
	return l
}

// Add writes an instruction.
func (a *Again) Add(in Instr) {
	b, info := a.b, in.Op.info()
	switch in.Op {
	case Vreg:
		r := b.F.Regs[in.D]
		a.regs[in.D] = b.Vreg(r.Name, r.Type)
		return
	case Loop:
		b.labels++
		a.labels[in.Label] = b.labels
	}
	if info.d != unused {
		in.D = a.Reg(in.D)
	}
	if info.d2 != unused {
		in.D2 = a.Reg(in.D2)
	}
	for s := in.operands(); s != 0; s = s.rest() {
		if v := in.val(s.first()); !v.IsImm() {
			v.R = a.Reg(v.R)
		}
	}
	if info.mem {
		in.M.Base, in.M.Index = a.Reg(in.M.Base), a.Reg(in.M.Index)
	}
	if info.label {
		in.Label = a.Label(in.Label)
	}
	b.F.Code = append(b.F.Code, in)
}

// Reads reports that an instruction reads a register, other than in an address.
func (in *Instr) Reads(r Reg) bool {
	for s := in.operands(); s != 0; s = s.rest() {
		if v := in.val(s.first()); !v.IsImm() && v.R == r {
			return true
		}
	}
	return false
}
