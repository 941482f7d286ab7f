package ir

// Builder appends instructions to a Func. Its methods are one per operation or
// small family, so that emitters read like the code they write.
type Builder struct {
	F      *Func
	labels int32
}

// NewFunc starts a function; its context register is open.
func NewFunc(name string, target Target) *Builder {
	return &Builder{F: &Func{Name: name, Target: target, Regs: []RegInfo{{Name: "ctx"}}}}
}

func (b *Builder) emit(i Instr) { b.F.Code = append(b.F.Code, i) }

// Comment leaves a line for the reader of a listing.
func (b *Builder) Comment(text string) { b.emit(Instr{Op: Comment, Text: text}) }

// Vreg opens a register, Clear ends registers.
func (b *Builder) Vreg(name string, t Type) Reg {
	r := Reg(len(b.F.Regs))
	b.F.Regs = append(b.F.Regs, RegInfo{name, t})
	b.emit(Instr{Op: Vreg, D: r})
	return r
}

func (b *Builder) Clear(rs ...Reg) {
	for _, r := range rs {
		b.emit(Instr{Op: Clear, D: r})
	}
}

// Op1, Op2 write D = op A and D = A op B for the plain integer and float operations.
func (b *Builder) Op1(op Op, d Reg, a Val)    { b.emit(Instr{Op: op, D: d, A: a}) }
func (b *Builder) Op2(op Op, d Reg, x, y Val) { b.emit(Instr{Op: op, D: d, A: x, B: y}) }

// OpX is checked arithmetic with the exit status of an overflow.
func (b *Builder) OpX(op Op, d Reg, x, y Val, code int32) {
	b.emit(Instr{Op: op, D: d, A: x, B: y, Code: code})
}

// Op128 is arithmetic on pairs.
func (b *Builder) Op128(op Op, d, d2 Reg, a, a2, x, x2 Val, code int32) {
	b.emit(Instr{Op: op, D: d, D2: d2, A: a, A2: a2, B: x, B2: x2, Code: code})
}

// Mov copies integers; FMov floats; FConst makes a float from its bits.
func (b *Builder) Mov(d Reg, a Val)         { b.emit(Instr{Op: Mov, D: d, A: a}) }
func (b *Builder) FMov(d, a Reg)            { b.emit(Instr{Op: FMov, D: d, A: a.V()}) }
func (b *Builder) FConst(d Reg, bits int64) { b.emit(Instr{Op: FConst, D: d, A: K(bits)}) }

// Set and Sel turn comparisons into values.
func (b *Builder) Set(d Reg, c Cond, x, y Val) { b.emit(Instr{Op: Set, Cond: c, D: d, A: x, B: y}) }
func (b *Builder) FSet(d Reg, c Cond, x, y Reg) {
	b.emit(Instr{Op: FSet, Cond: c, D: d, A: x.V(), B: y.V()})
}
func (b *Builder) Sel(d Reg, c Cond, x, y, yes, no Val) {
	b.emit(Instr{Op: Sel, Cond: c, D: d, A: x, B: y, C: yes, C2: no})
}
func (b *Builder) FSel(d Reg, c Cond, x, y Val, yes, no Reg) {
	b.emit(Instr{Op: FSel, Cond: c, D: d, A: x, B: y, C: yes.V(), C2: no.V()})
}

// Memory.
func (b *Builder) Load(d Reg, m Mem, w int, signed bool) {
	b.emit(Instr{Op: Load, D: d, M: m, W: uint8(w), Signed: signed})
}
func (b *Builder) Load8(d Reg, m Mem)        { b.Load(d, m, 8, false) }
func (b *Builder) Store(m Mem, a Val, w int) { b.emit(Instr{Op: Store, M: m, A: a, W: uint8(w)}) }
func (b *Builder) FLoad(d Reg, m Mem, w int) { b.emit(Instr{Op: FLoad, D: d, M: m, W: uint8(w)}) }
func (b *Builder) FStore(m Mem, a Reg, w int) {
	b.emit(Instr{Op: FStore, M: m, A: a.V(), W: uint8(w)})
}
func (b *Builder) Lea(d Reg, m Mem) { b.emit(Instr{Op: Lea, D: d, M: m}) }
func (b *Builder) Prefetch(m Mem)   { b.emit(Instr{Op: Prefetch, M: m}) }

// Control flow. If, Else and EndIf bracket; Loop returns the label that
// Break, Continue, Next and EndLoop take.
func (b *Builder) If(c Cond, x, y Val) { b.emit(Instr{Op: If, Cond: c, A: x, B: y}) }
func (b *Builder) Else()               { b.emit(Instr{Op: Else}) }
func (b *Builder) EndIf()              { b.emit(Instr{Op: EndIf}) }
func (b *Builder) Loop() int32 {
	b.labels++
	b.emit(Instr{Op: Loop, Label: b.labels})
	return b.labels
}
func (b *Builder) Next(l int32) { b.emit(Instr{Op: Next, Label: l}) }
func (b *Builder) EndLoop(l int32, c Cond, x, y Val) {
	b.emit(Instr{Op: EndLoop, Label: l, Cond: c, A: x, B: y})
}
func (b *Builder) Break(l int32, c Cond, x, y Val) {
	b.emit(Instr{Op: Break, Label: l, Cond: c, A: x, B: y})
}
func (b *Builder) Continue(l int32, c Cond, x, y Val) {
	b.emit(Instr{Op: Continue, Label: l, Cond: c, A: x, B: y})
}

// Leaving.
func (b *Builder) Exit(code int32, c Cond, x, y Val) {
	b.emit(Instr{Op: Exit, Code: code, Cond: c, A: x, B: y})
}
func (b *Builder) Yield(code int32) { b.emit(Instr{Op: Yield, Code: code}) }

// Atomics and lanes.
func (b *Builder) Atom(op Op, d Reg, m Mem, a, x Val) {
	b.emit(Instr{Op: op, D: d, M: m, A: a, B: x, W: 8})
}
func (b *Builder) Special(d Reg, s SpecialReg) { b.emit(Instr{Op: Special, D: d, A: K(int64(s))}) }
func (b *Builder) Barrier()                    { b.emit(Instr{Op: Barrier}) }
func (b *Builder) Fence()                      { b.emit(Instr{Op: Fence}) }
