package ir

import "math/bits"

// The operation table. One row says everything that the printer, the parser and
// the verifier need to know of an operation, so that the three cannot disagree
// and a new operation is one new row. The meaning stands in op.go; this is the form.

// slot says what an operand field holds.
type slot uint8

const (
	unused  slot = iota
	intVal       // I64 register, or immediate where the field is a Val
	wordVal      // I32 register, likewise
	sameVal      // I64 or I32, and all of these in an instruction are of one type
	condVal      // I64 or I32, and both sides of the comparison are of one type
	freeVal      // I64 or I32, by itself
	fltVal       // F64 register; never an immediate, FConst is there for that
	fltBits      // immediate, the bits of a float
	special      // immediate, a SpecialReg
	size         // immediate, 1, 2, 4 or 8
	dist         // immediate, 0 to 63
	count        // immediate, positive
	paramNo      // immediate, a parameter's number
	fewBits      // immediate, 1 to 31
	byteNo       // immediate, 0 to 3
	anyReg       // register of either type, opened or ended but not assigned
)

// The Val fields of an Instr in the order in which they are printed.
const (
	inA = iota
	inA2
	inB
	inB2
	inC
	inC2
	numIn
)

// Shapes of operands that several operations share.
var (
	oneInt      = [numIn]slot{inA: intVal}
	twoInts     = [numIn]slot{inA: intVal, inB: intVal}
	oneSame     = [numIn]slot{inA: sameVal}
	twoSame     = [numIn]slot{inA: sameVal, inB: sameVal}
	sameAndFree = [numIn]slot{inA: sameVal, inB: freeVal}
	oneFree     = [numIn]slot{inA: freeVal}
	oneWord     = [numIn]slot{inA: wordVal}
	twoWords    = [numIn]slot{inA: wordVal, inB: wordVal}
	comparison  = [numIn]slot{inA: condVal, inB: condVal}
	pairAndInt  = [numIn]slot{inA: intVal, inA2: intVal, inB: intVal}
	twoPairs    = [numIn]slot{inA: intVal, inA2: intVal, inB: intVal, inB2: intVal}
	oneFloat    = [numIn]slot{inA: fltVal}
	twoFloats   = [numIn]slot{inA: fltVal, inB: fltVal}
	intChoice   = [numIn]slot{inA: condVal, inB: condVal, inC: sameVal, inC2: sameVal}
	floatChoice = [numIn]slot{inA: condVal, inB: condVal, inC: fltVal, inC2: fltVal}
	constFloat  = [numIn]slot{inA: fltBits}
	specialName = [numIn]slot{inA: special}
	threeInts   = [numIn]slot{inA: intVal, inB: intVal, inC: intVal}
	maskCmp     = [numIn]slot{inA: intVal, inB: intVal, inC: intVal, inC2: size}
	maskLut     = [numIn]slot{inA: intVal, inC: intVal, inC2: count}
	maskBytes   = [numIn]slot{inA: intVal, inB: intVal, inC: intVal, inC2: dist}
	paramNumber = [numIn]slot{inA: paramNo}
	partOfWord  = [numIn]slot{inA: wordVal, inB: byteNo}
	elementBits = [numIn]slot{inB: fewBits}
)

// condUse says which conditions an operation takes. Where the condition is
// Always, the operation has no A and B.
type condUse uint8

const (
	noCond   condUse = iota
	intCond          // any but Always
	fltCond          // those that floats have, not Always
	jumpCond         // any
)

// codeUse says which exit codes an operation takes.
type codeUse uint8

const (
	noCode   codeUse = iota
	anyCode          // StatusDone is a proper exit
	positive         // an error or a pause must be told from StatusDone
)

// widthUse is the set of legal access widths, a mask of 1, 2, 4 and 8: a legal
// width is a power of two and thus its own bit.
type widthUse uint8

const (
	noWidth   widthUse = 0
	intWidths widthUse = 1 | 2 | 4 | 8
	fltWidths widthUse = 4 | 8
	onlyEight widthUse = 8
	upToFour  widthUse = 1 | 2 | 4
	upToTwo   widthUse = 1 | 2
	onlyFour  widthUse = 4
	fourEight widthUse = 4 | 8
)

// kindUse is the set of kinds that an access can have: bit k for kind k.
type kindUse uint8

const (
	loadKinds  kindUse = 1<<ReadOnly | 1<<Once | 1<<Relaxed | 1<<Ordered
	storeKinds kindUse = 1<<Once | 1<<Relaxed | 1<<Ordered
	wideLoads  kindUse = 1<<ReadOnly | 1<<Once
	wideStores kindUse = 1 << Once
)

// group is who must take part in an operation together.
type group uint8

const (
	alone group = iota
	warp        // all lanes of the warp
	block       // all threads of the block
)

// opInfo is a row of the table.
type opInfo struct {
	name   string
	d, d2  slot
	src    [numIn]slot
	used   operands // which of src are: made from it
	mem    bool
	width  widthUse
	signed bool // Signed matters, for widths below 8
	kinds  kindUse
	span   uint8 // registers from D on that are assigned, or from A on that are read; 0 is one
	cond   condUse
	code   codeUse
	label  bool
	opens  bool   // begins a block, printed with {
	closes bool   // ends a block, printed with }
	only   Target // where it exists; 0 is everywhere
	group  group  // collective operations
}

var ops = [numOps]opInfo{
	Nop:     {name: "nop"},
	Comment: {name: ";"},
	Vreg:    {name: "vreg", d: anyReg},
	Clear:   {name: "clear", d: anyReg},

	Mov: {name: "mov", d: sameVal, src: oneSame},
	Add: {name: "add", d: sameVal, src: twoSame},
	Sub: {name: "sub", d: sameVal, src: twoSame},
	Mul: {name: "mul", d: sameVal, src: twoSame},
	Div: {name: "div", d: sameVal, src: twoSame},
	Rem: {name: "rem", d: sameVal, src: twoSame},
	And: {name: "and", d: sameVal, src: twoSame},
	Or:  {name: "or", d: sameVal, src: twoSame},
	Xor: {name: "xor", d: sameVal, src: twoSame},
	Shl: {name: "shl", d: sameVal, src: sameAndFree},
	Shr: {name: "shr", d: sameVal, src: sameAndFree},
	Sar: {name: "sar", d: sameVal, src: sameAndFree},
	Neg: {name: "neg", d: sameVal, src: oneSame},
	Not: {name: "not", d: sameVal, src: oneSame},

	Narrow: {name: "narrow", d: wordVal, src: oneInt, only: GPU},
	Widen:  {name: "widen", d: intVal, src: oneWord, only: GPU},
	WidenU: {name: "widenu", d: intVal, src: oneWord, only: GPU},
	MulW:   {name: "mulw", d: intVal, src: twoWords, only: GPU},
	MulWU:  {name: "mulwu", d: intVal, src: twoWords, only: GPU},
	Part:   {name: "part", d: wordVal, src: partOfWord, width: upToTwo, signed: true, only: GPU},

	AddX: {name: "addx", d: intVal, src: twoInts, code: positive},
	SubX: {name: "subx", d: intVal, src: twoInts, code: positive},
	MulX: {name: "mulx", d: intVal, src: twoInts, code: positive},

	Add128:   {name: "add128", d: intVal, d2: intVal, src: twoPairs},
	Sub128:   {name: "sub128", d: intVal, d2: intVal, src: twoPairs},
	Add128X:  {name: "add128x", d: intVal, d2: intVal, src: twoPairs, code: positive},
	Sub128X:  {name: "sub128x", d: intVal, d2: intVal, src: twoPairs, code: positive},
	MulWide:  {name: "mulwide", d: intVal, d2: intVal, src: twoInts},
	MulWideU: {name: "mulwideu", d: intVal, d2: intVal, src: twoInts},
	Mul128:   {name: "mul128", d: intVal, d2: intVal, src: twoPairs},
	Div128:   {name: "div128", d: intVal, d2: intVal, src: pairAndInt, only: CPU},
	Rem128:   {name: "rem128", d: intVal, src: pairAndInt, only: CPU},

	Popcnt: {name: "popcnt", d: sameVal, src: oneSame},
	Ctz:    {name: "ctz", d: sameVal, src: oneSame},
	Clz:    {name: "clz", d: sameVal, src: oneSame},
	Bswap:  {name: "bswap", d: intVal, src: oneInt},
	Blsr:   {name: "blsr", d: intVal, src: oneInt, only: CPU},

	FMov:     {name: "fmov", d: fltVal, src: oneFloat},
	FAdd:     {name: "fadd", d: fltVal, src: twoFloats},
	FSub:     {name: "fsub", d: fltVal, src: twoFloats},
	FMul:     {name: "fmul", d: fltVal, src: twoFloats},
	FDiv:     {name: "fdiv", d: fltVal, src: twoFloats},
	FNeg:     {name: "fneg", d: fltVal, src: oneFloat},
	FAbs:     {name: "fabs", d: fltVal, src: oneFloat},
	FSqrt:    {name: "fsqrt", d: fltVal, src: oneFloat},
	FMin:     {name: "fmin", d: fltVal, src: twoFloats},
	FMax:     {name: "fmax", d: fltVal, src: twoFloats},
	FFloor:   {name: "ffloor", d: fltVal, src: oneFloat},
	FCeil:    {name: "fceil", d: fltVal, src: oneFloat},
	FTrunc:   {name: "ftrunc", d: fltVal, src: oneFloat},
	FRound:   {name: "fround", d: fltVal, src: oneFloat},
	FRound32: {name: "fround32", d: fltVal, src: oneFloat},
	FConst:   {name: "fconst", d: fltVal, src: constFloat},
	I2F:      {name: "i2f", d: fltVal, src: oneFree},
	U2F:      {name: "u2f", d: fltVal, src: oneFree},
	F2I:      {name: "f2i", d: intVal, src: oneFloat},
	FBits:    {name: "fbits", d: intVal, src: oneFloat},
	BitsF:    {name: "bitsf", d: fltVal, src: oneInt},

	Set:  {name: "set", d: freeVal, src: comparison, cond: intCond},
	FSet: {name: "fset", d: freeVal, src: twoFloats, cond: fltCond},
	Sel:  {name: "sel", d: sameVal, src: intChoice, cond: intCond},
	FSel: {name: "fsel", d: fltVal, src: floatChoice, cond: intCond},

	Load:     {name: "load", d: freeVal, mem: true, width: intWidths, signed: true, kinds: loadKinds},
	Store:    {name: "store", mem: true, src: oneFree, width: intWidths, kinds: storeKinds},
	FLoad:    {name: "fload", d: fltVal, mem: true, width: fltWidths, kinds: loadKinds},
	FStore:   {name: "fstore", mem: true, src: oneFloat, width: fltWidths, kinds: storeKinds},
	Lea:      {name: "lea", d: intVal, mem: true},
	Prefetch: {name: "prefetch", mem: true},
	LoadBits: {name: "loadbits", d: freeVal, mem: true, src: elementBits, kinds: wideLoads, only: GPU},

	Load2:  {name: "load2", d: freeVal, mem: true, width: fourEight, kinds: wideLoads, span: 2, only: GPU},
	Load4:  {name: "load4", d: freeVal, mem: true, width: onlyFour, kinds: wideLoads, span: 4, only: GPU},
	Store2: {name: "store2", mem: true, src: oneFree, width: fourEight, kinds: wideStores, span: 2, only: GPU},
	Store4: {name: "store4", mem: true, src: oneFree, width: onlyFour, kinds: wideStores, span: 4, only: GPU},

	MaskRange: {name: "maskrange", d: intVal, mem: true, src: threeInts, width: intWidths, only: CPU},
	MaskCmp:   {name: "maskcmp", d: intVal, mem: true, src: maskCmp, width: intWidths, cond: intCond, only: CPU},
	MaskBits:  {name: "maskbits", d: intVal, mem: true, src: threeInts, width: intWidths, only: CPU},
	MaskLut:   {name: "masklut", d: intVal, mem: true, src: maskLut, width: upToFour, only: CPU},
	MaskBytes: {name: "maskbytes", d: intVal, mem: true, src: maskBytes, only: CPU},
	Pick:      {name: "pick", d: intVal, mem: true, src: twoInts, only: CPU},

	// If takes no Always: translators jump on the negated condition.
	If:       {name: "if", src: comparison, cond: intCond, opens: true},
	Else:     {name: "else", opens: true, closes: true},
	EndIf:    {name: "endif", closes: true},
	Loop:     {name: "loop", label: true, opens: true},
	Next:     {name: "next", label: true},
	EndLoop:  {name: "while", src: comparison, cond: jumpCond, label: true, closes: true},
	Break:    {name: "break", src: comparison, cond: jumpCond, label: true},
	Continue: {name: "continue", src: comparison, cond: jumpCond, label: true},

	Exit:  {name: "exit", src: comparison, cond: jumpCond, code: anyCode},
	Yield: {name: "yield", code: positive, only: CPU},

	AtomAdd:  {name: "atomadd", d: sameVal, mem: true, src: oneSame, width: fourEight},
	AtomMin:  {name: "atommin", d: sameVal, mem: true, src: oneSame, width: fourEight},
	AtomMax:  {name: "atommax", d: sameVal, mem: true, src: oneSame, width: fourEight},
	AtomOr:   {name: "atomor", d: sameVal, mem: true, src: oneSame, width: fourEight},
	AtomExch: {name: "atomexch", d: sameVal, mem: true, src: oneSame, width: fourEight},
	AtomCAS:  {name: "atomcas", d: sameVal, mem: true, src: twoSame, width: fourEight},
	AtomFAdd: {name: "atomfadd", d: fltVal, mem: true, src: oneFloat, width: onlyEight},

	Param:    {name: "param", d: freeVal, src: paramNumber, only: GPU},
	Special:  {name: "special", d: freeVal, src: specialName, only: GPU},
	Uniform:  {name: "uniform", d: sameVal, src: oneSame, only: GPU},
	Ballot:   {name: "ballot", d: freeVal, src: oneFree, only: GPU, group: warp},
	Shfl:     {name: "shfl", d: sameVal, src: sameAndFree, only: GPU, group: warp},
	ShflXor:  {name: "shflxor", d: sameVal, src: sameAndFree, only: GPU, group: warp},
	ShflUp:   {name: "shflup", d: sameVal, src: sameAndFree, only: GPU, group: warp},
	ShflDown: {name: "shfldown", d: sameVal, src: sameAndFree, only: GPU, group: warp},
	Match:    {name: "match", d: freeVal, src: oneFree, only: GPU, group: warp},
	RedAdd:   {name: "redadd", d: wordVal, src: oneWord, only: GPU, group: warp},
	RedMin:   {name: "redmin", d: wordVal, src: oneWord, only: GPU, group: warp},
	RedMax:   {name: "redmax", d: wordVal, src: oneWord, only: GPU, group: warp},
	RedOr:    {name: "redor", d: wordVal, src: oneWord, only: GPU, group: warp},
	Barrier:  {name: "barrier", only: GPU, group: block},
	Sync:     {name: "sync", only: GPU, group: warp},
	Fence:    {name: "fence", only: GPU},
}

var (
	condNames    = [...]string{"", "eq", "ne", "lt", "le", "gt", "ge", "ult", "ule", "ugt", "uge"}
	typeNames    = [...]string{"i64", "f64", "i32"}
	specialNames = [...]string{"laneid", "threadid", "blockid", "blockdim", "griddim", "lanesbelow"}
	kindNames    = [...]string{"", "readonly", "once", "relaxed", "ordered"}
	spaceNames   = [...]string{"", sharedName, "dynamic", localName}
	targetNames  = [...]string{"none", "cpu", "gpu", "cpu|gpu"}
)

// info is the row of an operation; one that does not exist has an empty row.
func (o Op) info() *opInfo {
	if o < numOps {
		return &ops[o]
	}
	return &opInfo{}
}

// val is the operand field numbered k.
func (in *Instr) val(k int) *Val {
	switch k {
	case inA:
		return &in.A
	case inA2:
		return &in.A2
	case inB:
		return &in.B
	case inB2:
		return &in.B2
	case inC:
		return &in.C
	}
	return &in.C2
}

// operands are the numbers of operand fields, a bit each: most instructions use one or two of six, and every pass looks at all of them.
type operands uint8

// first is the least of them, rest are the others.
func (s operands) first() int     { return bits.TrailingZeros8(uint8(s)) }
func (s operands) rest() operands { return s & (s - 1) }

// operands are the fields that this instruction uses: those of the table, but for the comparison that an Always leaves out.
func (in *Instr) operands() operands {
	info := in.Op.info()
	if in.Cond == Always && info.cond != noCond {
		return info.used &^ (1<<inA | 1<<inB)
	}
	return info.used
}

func init() {
	for i := range ops {
		for k, slot := range ops[i].src {
			if slot != unused {
				ops[i].used |= 1 << k
			}
		}
	}
}

// spans is how many registers from D, or from A on, an instruction means.
func (in *Instr) spans() int { return max(1, int(in.Op.info().span)) }

// Memory is where the instruction reads, writes or points to; false: nowhere.
func (in *Instr) Memory() (Mem, bool) { return in.M, in.Op.info().mem }

// Normal is the instruction with every field zeroed that its operation does not
// use. Two instructions mean the same exactly if their normal forms are equal,
// and Parse returns normal forms.
func (in Instr) Normal() Instr {
	info := in.Op.info()
	out := Instr{Op: in.Op}
	if info.d != unused {
		out.D = in.D
	}
	if info.d2 != unused {
		out.D2 = in.D2
	}
	if info.cond != noCond {
		out.Cond = in.Cond
	}
	for s := in.operands(); s != 0; s = s.rest() {
		v := *in.val(s.first())
		if !v.IsImm() {
			v.Imm = 0
		}
		*out.val(s.first()) = v
	}
	if info.mem {
		out.M = in.M
		if out.M.Index == NoReg {
			out.M.Scale = 1
		}
	}
	if info.width != noWidth {
		out.W = in.W
		out.Signed = in.Signed && info.signed && in.W != 8
	}
	if info.kinds != 0 {
		out.Kind = in.Kind
	}
	if info.label {
		out.Label = in.Label
	}
	if info.code != noCode || in.Op == Comment {
		out.Code = in.Code
	}
	return out
}
