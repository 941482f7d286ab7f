package ir

import (
	"slices"
	"sync"
)

// Builder appends instructions to a Func. Its methods are one per operation or
// small family, so that emitters read like the code they write.
type Builder struct {
	F      *Func
	labels int32
}

// NewFunc starts a function; its context register is open.
func NewFunc(name string, target Target) *Builder {
	m := memories.Get().(*memory)
	f := &Func{Name: name, Target: target, Regs: append(m.regs, RegInfo{Name: "ctx"}), Code: m.code, Texts: m.texts, mem: m}
	return &Builder{F: f}
}

// memory is what a function is written into. Most functions are translated at once and never looked
// at again; then the next one takes their place.
type memory struct {
	regs  []RegInfo
	code  []Instr
	texts []string
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// maxKept is the number of instructions beyond which memory is left to the garbage collector.
const maxKept = 1 << 15

// Release gives the memory of a function that NewFunc began to the next one. What stays is a
// function without code.
func (f *Func) Release() {
	m := f.mem
	if m == nil {
		return
	}
	f.mem = nil
	if cap(f.Code) <= maxKept {
		clear(f.Regs)
		clear(f.Texts)
		m.regs, m.code, m.texts = f.Regs[:0], f.Code[:0], f.Texts[:0]
		memories.Put(m)
	}
	f.Regs, f.Code, f.Texts = nil, nil, nil
}

// add appends an instruction, whose operands the caller sets in place: copying one, with room for
// every operand that any operation has, would cost more than all else here.
func (b *Builder) add(op Op) *Instr {
	f := b.F
	n := len(f.Code)
	if n == cap(f.Code) {
		f.Code = slices.Grow(f.Code, max(n, 512))
	}
	f.Code = f.Code[:n+1]
	in := &f.Code[n]
	*in = Instr{Op: op}
	return in
}

// Mark is a place in a function to which Undo goes back.
type Mark struct {
	code, regs, texts int
	labels            int32
}

// Mark is the current end of the function.
func (b *Builder) Mark() Mark { return Mark{len(b.F.Code), len(b.F.Regs), len(b.F.Texts), b.labels} }

// Undo takes back all that was written since m, registers opened since then included.
func (b *Builder) Undo(m Mark) {
	b.F.Code, b.F.Regs, b.F.Texts, b.labels = b.F.Code[:m.code], b.F.Regs[:m.regs], b.F.Texts[:m.texts], m.labels
}

// Comment leaves a line for the reader of a listing.
func (b *Builder) Comment(text string) {
	b.add(Comment).Code = int32(len(b.F.Texts))
	b.F.Texts = append(b.F.Texts, text)
}

// Vreg opens a register, Clear ends registers.
func (b *Builder) Vreg(name string, t Type) Reg {
	r := Reg(len(b.F.Regs))
	b.F.Regs = append(b.F.Regs, RegInfo{name, t})
	b.add(Vreg).D = r
	return r
}

// Vregs opens n registers with consecutive numbers and returns the first.
func (b *Builder) Vregs(name string, t Type, n int) Reg {
	first := Reg(len(b.F.Regs))
	for range n {
		b.Vreg(name, t)
	}
	return first
}

func (b *Builder) Clear(rs ...Reg) {
	for _, r := range rs {
		b.add(Clear).D = r
	}
}

// Op1, Op2 write D = op A and D = A op B for the plain integer and float operations.
func (b *Builder) Op1(op Op, d Reg, a Val) {
	in := b.add(op)
	in.D, in.A = d, a
}
func (b *Builder) Op2(op Op, d Reg, x, y Val) {
	in := b.add(op)
	in.D, in.A, in.B = d, x, y
}

// OpX is checked arithmetic with the exit status of an overflow.
func (b *Builder) OpX(op Op, d Reg, x, y Val, code int32) {
	in := b.add(op)
	in.D, in.A, in.B, in.Code = d, x, y, code
}

// Op128 is arithmetic on pairs.
func (b *Builder) Op128(op Op, d, d2 Reg, a, a2, x, x2 Val, code int32) {
	in := b.add(op)
	in.D, in.D2, in.A, in.A2, in.B, in.B2, in.Code = d, d2, a, a2, x, x2, code
}

// Mov copies integers; FMov floats; FConst makes a float from its bits.
func (b *Builder) Mov(d Reg, a Val) {
	in := b.add(Mov)
	in.D, in.A = d, a
}
func (b *Builder) FMov(d, a Reg) {
	in := b.add(FMov)
	in.D, in.A = d, a.V()
}
func (b *Builder) FConst(d Reg, bits int64) {
	in := b.add(FConst)
	in.D, in.A = d, K(bits)
}

// Set and Sel turn comparisons into values.
func (b *Builder) Set(d Reg, c Cond, x, y Val) {
	in := b.add(Set)
	in.Cond, in.D, in.A, in.B = c, d, x, y
}
func (b *Builder) FSet(d Reg, c Cond, x, y Reg) {
	in := b.add(FSet)
	in.Cond, in.D, in.A, in.B = c, d, x.V(), y.V()
}
func (b *Builder) Sel(d Reg, c Cond, x, y, yes, no Val) {
	in := b.add(Sel)
	in.Cond, in.D, in.A, in.B, in.C, in.C2 = c, d, x, y, yes, no
}
func (b *Builder) FSel(d Reg, c Cond, x, y Val, yes, no Reg) {
	in := b.add(FSel)
	in.Cond, in.D, in.A, in.B, in.C, in.C2 = c, d, x, y, yes.V(), no.V()
}

// Memory.
func (b *Builder) Load(d Reg, m Mem, w int, signed bool) {
	in := b.add(Load)
	in.D, in.M, in.W, in.Signed = d, m, uint8(w), signed
}
func (b *Builder) Load8(d Reg, m Mem) { b.Load(d, m, 8, false) }
func (b *Builder) Store(m Mem, a Val, w int) {
	in := b.add(Store)
	in.M, in.A, in.W = m, a, uint8(w)
}
func (b *Builder) FLoad(d Reg, m Mem, w int) {
	in := b.add(FLoad)
	in.D, in.M, in.W = d, m, uint8(w)
}
func (b *Builder) FStore(m Mem, a Reg, w int) {
	in := b.add(FStore)
	in.M, in.A, in.W = m, a.V(), uint8(w)
}
func (b *Builder) Lea(d Reg, m Mem) {
	in := b.add(Lea)
	in.D, in.M = d, m
}
func (b *Builder) Prefetch(m Mem) { b.add(Prefetch).M = m }

// LoadAs and StoreAs are accesses of a kind; LoadN and StoreN move 2 or 4 values of w bytes.
func (b *Builder) LoadAs(k MemKind, d Reg, m Mem, w int, signed bool) {
	in := b.add(Load)
	in.D, in.M, in.W, in.Signed, in.Kind = d, m, uint8(w), signed, k
}
func (b *Builder) StoreAs(k MemKind, m Mem, a Val, w int) {
	in := b.add(Store)
	in.M, in.A, in.W, in.Kind = m, a, uint8(w), k
}
func (b *Builder) LoadN(k MemKind, d Reg, n int, m Mem, w int) {
	in := b.add(spanOp(Load2, n))
	in.D, in.M, in.W, in.Kind = d, m, uint8(w), k
}
func (b *Builder) StoreN(k MemKind, m Mem, a Reg, n, w int) {
	in := b.add(spanOp(Store2, n))
	in.M, in.A, in.W, in.Kind = m, a.V(), uint8(w), k
}

// spanOp is the operation for n values, of which there are two and four.
func spanOp(two Op, n int) Op {
	if n == 4 {
		return two + 1
	}
	return two
}

// LoadBits reads element index of a packed array, whose elements have so many bits.
func (b *Builder) LoadBits(k MemKind, d Reg, array, index Reg, bits int) {
	in := b.add(LoadBits)
	in.D, in.M, in.B, in.Kind = d, AtIndex(array, index, 1, 0), K(int64(bits)), k
}

// Part takes w bytes out of a word.
func (b *Builder) Part(d Reg, a Val, from, w int, signed bool) {
	in := b.add(Part)
	in.D, in.A, in.B, in.W, in.Signed = d, a, K(int64(from)), uint8(w), signed
}

// Masks of rows.
func (b *Builder) MaskRange(d Reg, a, low, span Val, m Mem, w int) {
	in := b.add(MaskRange)
	in.D, in.A, in.B, in.C, in.M, in.W = d, a, low, span, m, uint8(w)
}
func (b *Builder) MaskCmp(d Reg, c Cond, a, add, other Val, otherW int, m Mem, w int) {
	in := b.add(MaskCmp)
	in.Cond, in.D, in.A, in.B, in.C, in.C2, in.M, in.W = c, d, a, add, other, K(int64(otherW)), m, uint8(w)
}
func (b *Builder) MaskBits(d Reg, a, low, bitmap Val, m Mem, w int) {
	in := b.add(MaskBits)
	in.D, in.A, in.B, in.C, in.M, in.W = d, a, low, bitmap, m, uint8(w)
}
func (b *Builder) MaskLut(d Reg, a, table Val, entries int, m Mem, w int) {
	in := b.add(MaskLut)
	in.D, in.A, in.C, in.C2, in.M, in.W = d, a, table, K(int64(entries)), m, uint8(w)
}
func (b *Builder) MaskBytes(d Reg, a, first, second Val, dist int, m Mem) {
	in := b.add(MaskBytes)
	in.D, in.A, in.B, in.C, in.C2, in.M = d, a, first, second, K(int64(dist)), m
}
func (b *Builder) Pick(d Reg, a, first Val, m Mem) {
	in := b.add(Pick)
	in.D, in.A, in.B, in.M = d, a, first, m
}

// Control flow. If, Else and EndIf bracket; Loop returns the label that
// Break, Continue, Next and EndLoop take.
func (b *Builder) If(c Cond, x, y Val) {
	in := b.add(If)
	in.Cond, in.A, in.B = c, x, y
}
func (b *Builder) Else()  { b.add(Else) }
func (b *Builder) EndIf() { b.add(EndIf) }
func (b *Builder) Loop() int32 {
	b.labels++
	b.add(Loop).Label = b.labels
	return b.labels
}
func (b *Builder) Next(l int32) { b.add(Next).Label = l }
func (b *Builder) EndLoop(l int32, c Cond, x, y Val) {
	in := b.add(EndLoop)
	in.Label, in.Cond, in.A, in.B = l, c, x, y
}
func (b *Builder) Break(l int32, c Cond, x, y Val) {
	in := b.add(Break)
	in.Label, in.Cond, in.A, in.B = l, c, x, y
}
func (b *Builder) Continue(l int32, c Cond, x, y Val) {
	in := b.add(Continue)
	in.Label, in.Cond, in.A, in.B = l, c, x, y
}

// Leaving.
func (b *Builder) Exit(code int32, c Cond, x, y Val) {
	in := b.add(Exit)
	in.Code, in.Cond, in.A, in.B = code, c, x, y
}
func (b *Builder) Yield(code int32) { b.add(Yield).Code = code }

// Atomics and lanes.
func (b *Builder) Atom(op Op, d Reg, m Mem, a, x Val) {
	in := b.add(op)
	in.D, in.M, in.A, in.B, in.W = d, m, a, x, 8
}

// Atom4 is an atomic on a cell of 4 bytes.
func (b *Builder) Atom4(op Op, d Reg, m Mem, a, x Val) {
	b.Atom(op, d, m, a, x)
	b.F.Code[len(b.F.Code)-1].W = 4
}
func (b *Builder) Param(d Reg, i int) {
	in := b.add(Param)
	in.D, in.A = d, K(int64(i))
}
func (b *Builder) Special(d Reg, s SpecialReg) {
	in := b.add(Special)
	in.D, in.A = d, K(int64(s))
}
func (b *Builder) Barrier() { b.add(Barrier) }
func (b *Builder) Sync()    { b.add(Sync) }
func (b *Builder) Fence()   { b.add(Fence) }
