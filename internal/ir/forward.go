package ir

import (
	"cmp"
	"slices"
	"sync"
)

// ForwardWords takes conversions out of a function for the GPU. Whoever emits an operation on 32 bits narrows what it reads and
// widens what it made, and knows nothing of the neighbours. Where these are such operations, too, they come to read the word
// itself, and the number in between is made only if somebody else reads it. Loads of up to 4 bytes and parameters whose low half
// is wanted are read as words, and products made so. A sum or difference of numbers that nobody reads as a word stays one of numbers.
//
// Only registers that are assigned in one place are looked at. Verify demands that a register is assigned on all ways to where it is
// read, so one of these has the same content wherever it can be read, and so has what it was copied from.
func (f *Func) ForwardWords() {
	w := forwarders.Get().(*forwarder)
	w.f, w.longer, w.clears = f, w.longer[:0], w.clears[:0]
	w.count()
	if w.keepNumbers() {
		w.count()
	}
	if w.readWords() {
		w.count()
	}
	w.findBlocks()
	w.forward()
	w.dropUnread()
	w.write()
	w.f = nil
	forwarders.Put(w)
}

// forwarders have memory for what is known of registers and instructions: every kernel of every query comes through here, so that making it anew
// would take longer than all else.
var forwarders = sync.Pool{New: func() any { return new(forwarder) }}

// zeros is a slice of n zeros, in memory that was used before if that is enough.
func zeros[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	s = s[:n]
	clear(s)
	return s
}

type forwarder struct {
	f        *Func
	assigned []uint8 // in how many places a register is: 0, 1 or 2 for more
	def      []int32 // the last of them
	spanned  []bool  // it is one of several that an instruction means by the first of them
	reads    []int32 // how often it is read
	narrowed []int32 // and how often for its low half
	opened   []int32 // its Vreg
	ended    []int32 // and its Clear

	blocks []codeBlock
	within []int32 // by instruction: the block that it stands in, begins or ends

	instead []Reg // which register is read in its place; NoReg: none
	gone    []bool
	longer  []Reg   // what may be read after its Clear
	clears  []ended // registers that end elsewhere than before
	moved   []bool  // those
	last    []int32 // where a register is read last; 0: nowhere
	words   []Reg   // by the register that has a number: the one that has its low half; 0: none
}

// ended is a register that ends after an instruction.
type ended struct {
	at int32
	r  Reg
}

// codeBlock is the function's body, a branch or the body of a loop: what stands between from and to. After is where the
// whole if or loop ends.
type codeBlock struct {
	parent, from, to, after int32
	first                   int32 // of an else: the block of its if; else -1
}

// count finds where registers are opened, assigned and ended, and how they are read.
func (w *forwarder) count() {
	n := len(w.f.Regs)
	w.assigned, w.def, w.spanned = zeros(w.assigned, n), zeros(w.def, n), zeros(w.spanned, n)
	w.reads, w.narrowed, w.opened, w.ended = zeros(w.reads, n), zeros(w.narrowed, n), zeros(w.opened, n), zeros(w.ended, n)
	for i := range w.f.Code {
		in := &w.f.Code[i]
		switch in.Op {
		case Vreg:
			w.opened[in.D] = int32(i)
			continue
		case Clear:
			w.ended[in.D] = int32(i)
			continue
		case Narrow:
			if !in.A.IsImm() {
				w.narrowed[in.A.R]++
			}
		}
		in.writes(func(r Reg) {
			w.assigned[r] = min(w.assigned[r]+1, 2)
			w.def[r] = int32(i)
		})
		in.reads(func(r Reg) { w.reads[r]++ })
		if info := in.Op.info(); info.span > 0 && info.d == unused {
			for k := range Reg(info.span) {
				w.spanned[in.A.R+k] = true
			}
		}
	}
}

// source is the instruction that alone assigns a register; nil: there are several, or none.
func (w *forwarder) source(v Val) *Instr {
	if v.IsImm() || w.assigned[v.R] != 1 {
		return nil
	}
	return &w.f.Code[w.def[v.R]]
}

// keepNumbers makes an addition of words one of numbers if its operands are numbers and its result is read as such: then the one on words saves half
// of an instruction, and two conversions cost more. A sum of such sums stays one of words. It reports whether there were some.
func (w *forwarder) keepNumbers() (changed bool) {
	code := w.f.Code
	for i := len(code) - 1; i >= 0; i-- {
		in := &code[i]
		if in.Op != Widen && in.Op != WidenU || w.assigned[in.D] != 1 || w.narrowed[in.D] > 0 {
			continue
		}
		sum := w.source(in.A)
		if sum == nil || sum.Op != Add && sum.Op != Sub || w.reads[in.A.R] > 1 {
			continue
		}
		x, y := w.number(sum.A, int32(i)), w.number(sum.B, int32(i))
		if x == NoReg || y == NoReg {
			continue
		}
		*in = Instr{Op: sum.Op, D: in.D, A: x.V(), B: y.V()}
		for _, r := range [...]Reg{sum.A.R, sum.B.R, sum.D} {
			code[w.def[r]], code[w.opened[r]], code[w.ended[r]] = Instr{}, Instr{}, Instr{}
		}
		changed = true
	}
	return changed
}

// number is the register with the number of which v is the low half, for nobody else, if it can be read at an instruction and was not a word before; else NoReg.
func (w *forwarder) number(v Val, at int32) Reg {
	narrow := w.source(v)
	if narrow == nil || narrow.Op != Narrow || w.reads[v.R] > 1 {
		return NoReg
	}
	if from := w.source(narrow.A); from == nil || from.Op == Widen || from.Op == WidenU || w.ended[narrow.A.R] < at {
		return NoReg
	}
	return narrow.A.R
}

// readWords makes a word of what is loaded or a parameter, if its low half is wanted, and the number of that. It reports whether there were some.
func (w *forwarder) readWords() bool {
	f := w.f
	w.words = zeros(w.words, len(f.Regs))
	n := len(f.Regs)
	for i := range f.Code {
		in := &f.Code[i]
		if in.Op != Narrow {
			continue
		}
		from := w.source(in.A)
		if from == nil || !w.couldBeWord(from) {
			continue
		}
		if w.words[in.A.R] == 0 {
			w.words[in.A.R] = Reg(len(f.Regs))
			f.Regs = append(f.Regs, RegInfo{f.Regs[in.A.R].Name, I32})
		}
		*in = Instr{Op: Mov, D: in.D, A: w.words[in.A.R].V()}
	}
	if len(f.Regs) == n {
		return false
	}
	// Where a register is opened, assigned and ends, an instruction for its word is added: from the back, so that the code stays where it is.
	to := len(f.Code) + 3*(len(f.Regs)-n)
	from := len(f.Code) - 1
	f.Code = slices.Grow(f.Code, to-len(f.Code))[:to]
	for ; from >= 0; from-- {
		in := f.Code[from]
		if word := w.words[in.D]; word != 0 {
			second := Instr{Op: WidenU, D: in.D, A: word.V()}
			switch in.Op {
			case Vreg, Clear:
				second = Instr{Op: in.Op, D: word}
			case Param:
				second = in
				second.D = word
			case MulW, MulWU: // nobody reads the number
				in.Op, in.D = Mul, word
			default:
				if in.Op == Load && in.Signed {
					second.Op = Widen
				}
				in.D = word
			}
			to--
			f.Code[to] = second
		}
		to--
		f.Code[to] = in
	}
	return true
}

// couldBeWord reports an instruction that could make the low half of its result as well. A product of words is made whole if somebody reads it so.
func (w *forwarder) couldBeWord(in *Instr) bool {
	switch in.Op {
	case Param, LoadBits:
		return true
	case Load:
		return in.W <= 4
	case MulW, MulWU:
		return w.reads[in.D] == w.narrowed[in.D]
	}
	return false
}

// findBlocks finds which instruction stands in which block, and where registers are opened and end.
func (w *forwarder) findBlocks() {
	f := w.f
	w.blocks = append(w.blocks[:0], codeBlock{parent: -1, from: -1, to: int32(len(f.Code)), first: -1})
	w.within = zeros(w.within, len(f.Code))
	now := int32(0)
	enter := func(at, first int32) {
		w.blocks = append(w.blocks, codeBlock{parent: now, from: at, first: first})
		now = int32(len(w.blocks) - 1)
	}
	leave := func(at int32) (left int32) {
		left = now
		w.blocks[now].to = at
		for b := now; b >= 0; b = w.blocks[b].first {
			w.blocks[b].after = at
		}
		now = w.blocks[now].parent
		return left
	}
	for i := range f.Code {
		in, at := &f.Code[i], int32(i)
		w.within[i] = now
		switch in.Op {
		case If, Loop:
			enter(at, -1)
			w.within[i] = now
		case Else:
			enter(at, leave(at))
		case EndIf, EndLoop:
			leave(at)
		}
	}
}

// holds reports that an instruction stands where register r can be open.
func (w *forwarder) holds(r Reg, at int32) bool {
	b := &w.blocks[w.within[w.opened[r]]]
	return b.from < at && at < b.to
}

// forward finds the registers that are copies of others.
func (w *forwarder) forward() {
	f := w.f
	w.instead, w.gone = zeros(w.instead, len(f.Regs)), zeros(w.gone, len(f.Regs))
	for r := range w.instead {
		w.instead[r] = NoReg
	}
	for i := range f.Code {
		in := &f.Code[i]
		in.eachRead(func(r *Reg) {
			if w.instead[*r] != NoReg {
				*r = w.instead[*r]
			}
		})
		x := w.copied(in)
		switch {
		case x == NoReg:
		case w.assigned[in.D] == 1 && !w.spanned[in.D] && w.holds(x, w.opened[in.D]):
			w.instead[in.D], w.gone[in.D] = x, true
			w.longer = append(w.longer, x)
		case w.holds(x, int32(i)):
			*in = Instr{Op: Mov, D: in.D, A: x.V()}
			w.longer = append(w.longer, x)
		}
	}
}

// copied is the word that an instruction makes another one equal to.
func (w *forwarder) copied(in *Instr) Reg {
	x := NoReg
	switch {
	case in.Op == Mov && w.f.Regs[in.D].Type == I32:
		x = in.A.R
	case in.Op == Narrow:
		if from := w.source(in.A); from != nil && (from.Op == Widen || from.Op == WidenU) {
			x = from.A.R
		}
	}
	if x == NoReg || w.assigned[x] != 1 {
		return NoReg
	}
	return x
}

// dropUnread drops conversions that nobody reads, and finds where words end that are read for longer than before.
func (w *forwarder) dropUnread() {
	f := w.f
	last := zeros(w.last, len(f.Regs))
	w.last, w.moved = last, zeros(w.moved, len(f.Regs))
	for i := len(f.Code) - 1; i >= 0; i-- {
		in := &f.Code[i]
		switch in.Op {
		case Vreg, Clear:
			continue
		case Widen, WidenU, Narrow, Param:
			if w.assigned[in.D] == 1 && last[in.D] == 0 {
				w.gone[in.D] = true
			}
		}
		if w.made(in) {
			continue
		}
		in.reads(func(r Reg) { last[r] = max(last[r], int32(i)) })
	}
	for _, x := range w.longer {
		if last[x] > w.ended[x] {
			end := w.lift(last[x], w.within[w.opened[x]])
			w.ended[x] = end
			w.clears = append(w.clears, ended{end, x})
			w.moved[x] = true
		}
	}
	slices.SortStableFunc(w.clears, func(a, b ended) int { return cmp.Compare(a.at, b.at) })
}

// made reports an instruction whose only result is gone.
func (w *forwarder) made(in *Instr) bool {
	switch in.Op {
	case Widen, WidenU, Narrow, Param, Mov:
		return w.gone[in.D]
	}
	return false
}

// lift is the end of the outermost block within home that holds an instruction, or the instruction itself.
func (w *forwarder) lift(at, home int32) int32 {
	for b := w.within[at]; b != home; b = w.blocks[b].parent {
		at = w.blocks[b].after
	}
	return at
}

// write writes what is left, in place: what ends later than before was left out where it ended.
func (w *forwarder) write() {
	f := w.f
	to, clears := 0, w.clears
	for i := range f.Code {
		in := &f.Code[i]
		switch {
		case in.Op == Nop, (in.Op == Vreg || in.Op == Clear) && w.gone[in.D], in.Op == Clear && w.moved[in.D], w.made(in):
		default:
			if to != i {
				f.Code[to] = *in
			}
			to++
		}
		for len(clears) > 0 && clears[0].at == int32(i) {
			f.Code[to] = Instr{Op: Clear, D: clears[0].r}
			to++
			clears = clears[1:]
		}
	}
	f.Code = f.Code[:to]
}

// eachRead visits the registers that an instruction reads. Those of several that are meant by the first of them are not visited.
func (in *Instr) eachRead(visit func(r *Reg)) {
	if in.Op.info().mem {
		for _, r := range [...]*Reg{&in.M.Base, &in.M.Index} {
			if *r != NoReg {
				visit(r)
			}
		}
	}
	for s := in.operands(); s != 0; s = s.rest() {
		if v := in.val(s.first()); !v.IsImm() {
			visit(&v.R)
		}
	}
}
