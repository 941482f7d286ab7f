package x64

import (
	"fmt"
	"sync"

	"github.com/kelpiedb/kelpie/internal/ir"
)

// Options change how a function is translated.
type Options struct {
	Listing bool  // keep a listing of the machine code, for EXPLAIN and for tests
	SIMD    Level // at most; the processor's best is the limit
	Spill   bool  // keep all virtual registers in memory, to see what registers bring
	Plain   bool  // one machine operation for each of the IR, to see what fusing brings
	Tally   bool  // count the instructions that are executed (tally.go); slow
	Foreign bool  // the code is to be read, not run: SIMD need not be a level of this processor
	noVBMI  bool  // for tests: AVX-512 without its byte permutations
}

// translator holds the state of one translation; it is pooled, with its buffers.
type translator struct {
	asm
	f     *ir.Func
	err   error
	index int // of the instruction being translated
	fused int // those before it are translated, also if index has not come so far

	level Level // of vector instructions
	vbmi  bool  // AVX-512 with byte permutations

	// Where virtual registers live (place.go).
	loc      []loc
	freeG    uint32
	freeX    uint32
	slots    []uint64 // bit set: spill slot in use
	maxSlots int
	spill    bool // give out slots only
	plain    bool // do not fuse

	counts *tally

	// Control flow (control.go).
	frames  []frame
	coldIfs []uint8 // per If in order of appearance: which of its branches are cold
	nextIf  int
	yields  int
	exits   []exit
	over    bool // the instruction before always leaves: what follows is not reached

	// The flags left by the last machine instruction: flagsCC holds exactly when
	// flagsReg is not zero, as long as nothing was written since flagsPos.
	flagsReg ir.Reg
	flagsCC  cc
	flagsPos int32
}

var translators = sync.Pool{New: func() any { return new(translator) }}

// program is a translated function that has no place yet.
type program struct {
	coldAt, poolAt, size, saveBytes int
}

// translate fills the translator's sections with f's code.
func (t *translator) translate(f *ir.Func, opt Options) (program, error) {
	t.asm.reset(opt.Listing || opt.Tally)
	t.f, t.err, t.spill, t.plain, t.counts = f, nil, opt.Spill, opt.Plain, nil
	if opt.Tally {
		t.counts = newTally(f)
	}
	t.level, t.vbmi = opt.level()
	t.resetPlaces(len(f.Regs))
	t.frames, t.exits, t.nextIf, t.over = t.frames[:0], t.exits[:0], 0, false
	t.flagsPos = -1
	t.index, t.fused = -1, 0
	if f.Target&ir.CPU == 0 {
		return program{}, fmt.Errorf("x64: %s is not meant for the CPU", f.Name)
	}
	if len(f.Regs) == 0 {
		return program{}, fmt.Errorf("x64: %s has no context register", f.Name)
	}
	t.scan()
	t.room(roomPerOp)
	t.prologue()
	for i := range f.Code {
		if i < t.fused {
			continue
		}
		t.index = i
		t.room(roomPerOp)
		if t.counts != nil {
			t.tallied(i)
		} else {
			t.instr(&f.Code[i])
		}
		if t.err != nil {
			return program{}, t.err
		}
	}
	if len(t.frames) != 0 {
		t.fail("%d blocks are not closed", len(t.frames))
		return program{}, t.err
	}
	t.epilogue()
	var p program
	p.coldAt, p.poolAt, p.size = t.settle()
	if p.size >= int(coldBit) {
		return program{}, fmt.Errorf("x64: %s is too large", f.Name)
	}
	p.saveBytes = t.saveBytes()
	return p, nil
}

func (t *translator) fail(format string, args ...any) {
	if t.err != nil {
		return
	}
	where := ""
	if t.index >= 0 && t.index < len(t.f.Code) {
		where = fmt.Sprintf(" instruction %d", t.index)
	}
	t.err = fmt.Errorf("x64: %s%s: %s", t.f.Name, where, fmt.Sprintf(format, args...))
}

// setFlags notes that the flags tell whether d is zero.
func (t *translator) setFlags(d ir.Reg, c cc) {
	t.flagsReg, t.flagsCC, t.flagsPos = d, c, t.pos()
}

// instr translates one instruction.
func (t *translator) instr(in *ir.Instr) {
	over := t.over
	t.over = false
	switch in.Op {
	case ir.Nop:
		t.over = over
	case ir.Comment:
		t.over = over
		if t.listing {
			t.comment(t.f.Text(in))
		}
	case ir.Vreg:
		if t.plain || !t.fuse() {
			t.open(in.D)
		}
	case ir.Clear:
		t.over = over
		t.close(in.D)

	case ir.Mov:
		t.mov(in.D, in.A)
	case ir.Add:
		t.add(in.D, in.A, in.B)
	case ir.Sub:
		t.sub(in.D, in.A, in.B)
	case ir.Mul:
		t.mul(in.D, in.A, in.B)
	case ir.Div, ir.Rem:
		t.div(in.D, in.A, in.B, in.Op == ir.Rem)
	case ir.And:
		t.and(in.D, in.A, in.B)
	case ir.Or:
		t.binary(iOR, in.D, in.A, in.B)
	case ir.Xor:
		t.binary(iXOR, in.D, in.A, in.B)
	case ir.Shl:
		t.shift(iSHL, iSHLX, in.D, in.A, in.B)
	case ir.Shr:
		t.shift(iSHR, iSHRX, in.D, in.A, in.B)
	case ir.Sar:
		t.shift(iSAR, iSARX, in.D, in.A, in.B)
	case ir.Neg:
		t.unary(iNEG, in.D, in.A)
	case ir.Not:
		t.unary(iNOT, in.D, in.A)

	case ir.AddX:
		t.binary(iADD, in.D, in.A, in.B)
		t.overflow(in)
	case ir.SubX:
		t.subX(in)
	case ir.MulX:
		t.mulX(in)

	case ir.Add128, ir.Add128X:
		t.add128(in, iADD, iADC)
	case ir.Sub128, ir.Sub128X:
		t.add128(in, iSUB, iSBB)
	case ir.MulWide:
		t.mulWide(in)
	case ir.MulWideU:
		t.mulWideU(in)
	case ir.Mul128:
		t.mul128(in)
	case ir.Div128, ir.Rem128:
		t.div128(in)

	case ir.Popcnt:
		t.count(iPOPCNT, in.D, in.A)
	case ir.Ctz:
		t.count(iTZCNT, in.D, in.A)
	case ir.Clz:
		t.count(iLZCNT, in.D, in.A)
	case ir.Bswap:
		t.bswap(in.D, in.A)
	case ir.Blsr:
		t.blsr(in.D, in.A)
	case ir.MaskRange, ir.MaskCmp, ir.MaskBits, ir.MaskLut, ir.MaskBytes, ir.Pick:
		t.rowMask(in)

	case ir.Set:
		t.set(in)
	case ir.Sel:
		t.sel(in)

	case ir.Load:
		t.load(in)
	case ir.Store:
		t.store(in)
	case ir.Lea:
		t.lea(in)
	case ir.Prefetch:
		t.insM(iPREFETCH, 0, 0, t.mem(&in.M, rax, rdx), 0)

	case ir.If:
		t.ifOp(in)
	case ir.Else:
		t.elseOp(over)
	case ir.EndIf:
		t.endIf(over)
	case ir.Loop:
		t.loop(in)
	case ir.Next:
		t.next(in)
	case ir.EndLoop:
		t.endLoop(in)
	case ir.Break:
		t.breakOp(in)
	case ir.Continue:
		t.continueOp(in)
	case ir.Exit:
		t.exit(in)
	case ir.Yield:
		t.yield(in.Code)

	case ir.AtomAdd, ir.AtomMin, ir.AtomMax, ir.AtomOr, ir.AtomExch, ir.AtomCAS, ir.AtomFAdd:
		t.atomic(in)
	default:
		if !t.float(in) {
			t.fail("%s is not one of the CPU's operations", in.Op)
		}
	}
}
