package ir

// Op is an operation. Operand roles are named after Instr's fields: D, D2 are
// destination registers, A…C2 are operands (register or immediate), M is memory.
type Op uint8

const (
	Nop     Op = iota
	Comment    // the Func's Texts[Code], for people; survives into listings

	// Scopes. A register exists from its Vreg to its Clear, and both stand at the
	// same nesting depth of control flow.
	Vreg  // open D
	Clear // end D

	// Integers: all operands are I64, or all are I32 (GPU only). Arithmetic wraps; shifts take A by
	// B & 63, or by B & 31 where A is I32; the count may be of either type.
	Mov // D = A
	Add // D = A + B
	Sub // D = A - B
	Mul // D = A * B
	Div // D = A / B, signed, truncating; B is never 0 and never -1 with the smallest A
	Rem // D = A % B, sign of A; same conditions
	And // D = A & B
	Or  // D = A | B
	Xor // D = A ^ B
	Shl // D = A << B
	Shr // D = A >> B, zeros shifted in
	Sar // D = A >> B, sign shifted in
	Neg // D = -A
	Not // D = ^A

	// From one width to the other (GPU only).
	Narrow // D(I32) = low half of A(I64)
	Widen  // D(I64) = A(I32), extended by its sign
	WidenU // D(I64) = A(I32), extended by zeros
	MulW   // D(I64) = A(I32) * B(I32), signed
	MulWU  // D(I64) = A(I32) * B(I32), unsigned
	Part   // D(I32) = W bytes of A(I32), 1 or 2, from byte B on (a constant), extended by sign when Signed

	// Checked arithmetic on I64: like Add, Sub, Mul, but a signed overflow ends the
	// function with exit status Code (CPU) or leaves Code in the context's status
	// word and goes on with the wrapped value (GPU).
	AddX
	SubX
	MulX

	// 128-bit integers are pairs, low half first.
	Add128  // D,D2 = A,A2 + B,B2
	Sub128  // D,D2 = A,A2 - B,B2
	Add128X // checked as above
	Sub128X
	MulWide  // D,D2 = A * B, signed 64 × 64 → 128
	MulWideU // D,D2 = A * B, unsigned
	Mul128   // D,D2 = A,A2 * B,B2, low 128 bits
	Div128   // D,D2 = A,A2 / B, truncating; B is a positive 64-bit number (CPU only)
	Rem128   // D = A,A2 % B, sign of the dividend, likewise (CPU only)

	// Bits.
	Popcnt // D = number of ones in A
	Ctz    // D = trailing zeros of A; 64 for 0, and 32 where A is I32
	Clz    // D = leading zeros of A; likewise
	Bswap  // D = A with its 8 bytes reversed
	Blsr   // D = A & (A-1): A without its lowest one (CPU only)

	// Floats: registers of type F64.
	FMov
	FAdd
	FSub
	FMul
	FDiv
	FNeg
	FAbs
	FSqrt
	FMin   // D = A < B ? A : B
	FMax   // D = A > B ? A : B
	FFloor // round to an integral value, downwards
	FCeil
	FTrunc
	FRound   // half to even
	FRound32 // round to single precision
	FConst   // D = the float whose bits are Imm of A
	I2F      // D(F64) = A signed
	U2F      // D(F64) = A unsigned
	F2I      // D(I64) = A truncated; only for values in range
	FBits    // D(I64) = bits of A
	BitsF    // D(F64) = bits A

	// Conditions. Cond compares A with B, which have one type; the others of Sel have one, too. FCond-itions compare floats and are
	// false when either is NaN, except NE, which is then true.
	Set  // D = Cond(A,B) ? 1 : 0
	FSet // D(I64) = Cond(A,B) ? 1 : 0 on floats
	Sel  // D = Cond(A,B) ? C : C2
	FSel // D(F64) = Cond(A,B) ? C : C2; A,B integers, C,C2 floats

	// Memory. W bytes; loads of less than D's bytes extend by sign when Signed. See MemKind for what
	// else is known of an access.
	Load     // D = M
	Store    // M = A
	FLoad    // D(F64) = M, W 8, or 4 widened from single precision
	FStore   // M = A(F64), W 8, or 4 rounded to single precision
	Lea      // D = address of M
	Prefetch // hint that M will be read

	// LoadBits reads an element of a packed array (GPU only): D = element number Index + Disp of the array at Base, whose elements have B bits each, a
	// constant from 1 to 31, the first in the lowest bits of the first word of 4 bytes, and Base a multiple of that. A word behind the last can be read.
	LoadBits

	// Several values at a time (GPU only): W bytes each, 4 in I32 or 8 in I64, from an address that is a
	// multiple of all their bytes. D, or A, is the first of as many registers with consecutive numbers,
	// as Builder.Vregs opens them.
	Load2  //
	Load4  // W is 4
	Store2 //
	Store4 // W is 4

	// Masks of rows (CPU only). A mask has one bit for each of 64 rows, bit k for row
	// k, and an array at M one element of W bytes for each row, x_k. All 64 elements
	// are readable, whichever rows the mask holds. These operations clear bits: D is
	// A without the rows for which the condition does not hold. C2 is a constant.
	MaskRange // ((x_k - B) mod 2^8W) <= (C mod 2^8W), unsigned
	MaskCmp   // Cond(x_k + B, y_k): y_k is element k, of C2 bytes, of the array at address C; elements extend by zeros to 64 bits. Where both have at most 2 bytes, B is a signed 32-bit number and the sum has 32 bits
	MaskBits  // bit (x_k - B) mod 2^32 of the bitmap at address C is set; the bitmap is read only for rows of A
	MaskLut   // byte x_k of the C2 bytes at address C is not 0; x_k < C2 for rows of A. Readable: 64 bytes, and 3 beyond the C2
	MaskBytes // bytes: the low byte of B is x_k, that of C is x_{k+C2}, 0 <= C2 < 64; 64+C2 bytes are readable

	// Pick stores the numbers B + k of the ones in A, ascending, as 32-bit words from
	// M on; D is how many. It may write all 64 words, whatever A is (CPU only).
	Pick

	// Structured control flow. Loops are numbered by Label.
	If       // if Cond(A,B)
	Else     //
	EndIf    //
	Loop     // loop Label {
	Next     // the place to which Continue goes; at most one per loop, at its depth; without it Continue goes to EndLoop
	EndLoop  // } back to the top while Cond(A,B); Cond Always: for ever
	Break    // leave loop Label if Cond(A,B)
	Continue // go to loop Label's Next if Cond(A,B)

	// Leaving generated code.
	Exit  // return status Code if Cond(A,B); GPU: the lane ends (only where no collective follows)
	Yield // return status Code, and continue with the next instruction when entered again, all registers as they were (CPU only)

	// Atomics on cells of W bytes, 8 or (GPU only, in I32) 4; D is the value before.
	AtomAdd  // M += A
	AtomMin  // signed
	AtomMax  // signed
	AtomOr   //
	AtomExch // M = A
	AtomCAS  // if M == A { M = B }
	AtomFAdd // D(F64), M += A(F64), 8 bytes

	// Lanes and blocks (GPU only). A warp has 32 lanes.
	Param   // D = word A (a constant) of the launch's parameters, or its low half where D is I32. Word 0 is the context
	Special // D = the special register named by Imm of A: see SpecialReg
	Uniform // D = A, which is the same for all threads of the block: its writer knows, if Verify does not
	Ballot  // D = 32-bit mask of lanes whose A is not 0; collective
	Shfl    // D = A of lane B; collective
	ShflXor // D = A of lane (own ^ B); collective
	ShflUp  // D = A of lane (own - B), own A where there is none; collective
	ShflDown
	Match   // D = 32-bit mask of lanes whose A equals mine; collective
	RedAdd  // D(I32) = sum of A(I32) of all lanes; collective
	RedMin  // signed
	RedMax  // signed
	RedOr   //
	Barrier // all threads of the block meet; shared memory is then consistent
	Sync    // all lanes of the warp meet; what they wrote to shared memory is then seen by all of them; collective
	Fence   // whoever sees what this lane writes after it sees what it wrote before

	numOps
)

// SpecialReg names what Special reads.
type SpecialReg int64

const (
	LaneID   SpecialReg = iota
	ThreadID            // in the block
	BlockID
	BlockDim
	GridDim
	LanesBelow // 32-bit mask of the lanes with a smaller number
)

// Cond is a comparison.
type Cond uint8

const (
	Always Cond = iota // for jumps: no condition
	EQ
	NE
	LT // signed
	LE
	GT
	GE
	ULT // unsigned
	ULE
	UGT
	UGE
)

// Negate is the opposite condition (of integers).
func (c Cond) Negate() Cond { return [...]Cond{Always, NE, EQ, GE, GT, LE, LT, UGE, UGT, ULE, ULT}[c] }

// Unsigned is the condition for operands without a sign.
func (c Cond) Unsigned() Cond {
	return [...]Cond{Always, EQ, NE, ULT, ULE, UGT, UGE, ULT, ULE, UGT, UGE}[c]
}

// Swap is the condition for exchanged operands.
func (c Cond) Swap() Cond { return [...]Cond{Always, EQ, NE, GT, GE, LT, LE, UGT, UGE, ULT, ULE}[c] }

// Type is a register type.
type Type uint8

const (
	I64 Type = iota
	F64
	I32 // GPU only
)

// Reg is a virtual register's number. Register 0 is always the context pointer,
// open from the first to the last instruction and never assigned.
type Reg int32

const (
	NoReg Reg = -1
	Ctx   Reg = 0
)

// Val is an operand: a register, or an immediate when R is NoReg.
type Val struct {
	R   Reg
	Imm int64
}

// R makes a register operand, K an immediate one.
func (r Reg) V() Val      { return Val{R: r} }
func K(i int64) Val       { return Val{R: NoReg, Imm: i} }
func (v Val) IsImm() bool { return v.R == NoReg }

// Space is an address space.
type Space uint8

const (
	Global  Space = iota // host memory on the CPU, device memory on the GPU
	Shared               // a block's scratchpad of Func.SharedBytes: addresses count from 0 (GPU only)
	Dynamic              // more of it, as much as a launch asks for: addresses count from 0 again (GPU only)
	Local                // a thread's own memory of Func.LocalBytes: addresses count from 0 (GPU only)
)

// MemKind is what is known of an access to global memory on the GPU, beside that it happens.
type MemKind uint8

const (
	Plain    MemKind = iota
	ReadOnly         // loads: nobody writes there while the kernel runs
	Once             // not worth a place in the cache near by; loads: and ReadOnly
	Relaxed          // others read or write it at the same time, and either value will do
	Ordered          // loads: what the writer stored before is seen after; stores: the other side of that
)

// Mem is a memory operand: [Base + Index*Scale + Disp]. An index that is I32 counts as unsigned; in
// Shared and Dynamic the base may be I32, too.
type Mem struct {
	Base, Index Reg // Index may be NoReg; Base may be NoReg except in Global
	Disp        int32
	Scale       uint8 // 1, 2, 4 or 8
	Space       Space
}

// At addresses base+disp, AtIndex base+index*scale+disp.
func At(base Reg, disp int) Mem { return Mem{Base: base, Index: NoReg, Scale: 1, Disp: int32(disp)} }
func AtIndex(base, index Reg, scale, disp int) Mem {
	return Mem{Base: base, Index: index, Scale: uint8(scale), Disp: int32(disp)}
}

// Instr is one instruction; which fields matter depends on Op. It holds no pointers: thousands
// of them are written per query, into memory that the garbage collector need not look at.
type Instr struct {
	Op                  Op
	Cond                Cond
	W                   uint8 // bytes of a memory access
	Signed              bool
	Kind                MemKind
	Label               int32 // loops
	Code                int32 // exit status of checked arithmetic, Exit and Yield; Comment: which text
	D, D2               Reg
	M                   Mem
	A, A2, B, B2, C, C2 Val
}

// The context block begins with these 8-byte words, known to the translators;
// what follows belongs to the emitter.
const (
	CtxResume = 0  // where to continue after a Yield; 0: start at the top
	CtxSave   = 8  // address of the area in which Yield saves registers
	CtxStatus = 16 // GPU: the first non-zero exit code
	CtxFree   = 24 // first byte free for the emitter
)

// StatusDone is the exit status of a function that came to its end.
const StatusDone = 0

// Target says for which processors a Func may be translated.
type Target uint8

const (
	CPU Target = 1 << iota
	GPU
)

// Func is a function: a kernel on the GPU, one entry point on the CPU.
type Func struct {
	Name        string
	Target      Target
	Regs        []RegInfo // indexed by Reg; Regs[0] is the context
	Code        []Instr
	Texts       []string // of comments
	SharedBytes int      // GPU scratchpad of a block
	LocalBytes  int      // GPU: memory of a thread
	Params      int      // GPU: words that a launch passes beside the context; Param has them as 1 to Params
	Bound       int      // GPU: not 0: no more registers than these are worth having, unless some must be spilled then; AsItIs
	Rolled      int      // GPU: not 0: loops stay as they are; compilers take long to write their steps one after the other

	mem *memory // to be given back by Release
}

// AsItIs is the Bound of a function that is assembled as it is: nothing is optimized.
const AsItIs = -1

// Text is what a Comment says.
func (f *Func) Text(in *Instr) string {
	if uint(in.Code) < uint(len(f.Texts)) {
		return f.Texts[in.Code]
	}
	return ""
}

// RegInfo is what is known of a virtual register.
type RegInfo struct {
	Name string // the column or purpose, for listings; need not be unique
	Type Type
}
