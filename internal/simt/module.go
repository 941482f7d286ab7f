package simt

import (
	"fmt"
	"strings"
)

// Module is parsed PTX.
type Module struct {
	kernels []*Kernel
	lines   []string // the text, for error messages
}

// Kernel is one entry point, decoded.
type Kernel struct {
	Name        string
	Params      []string // names, in order; each is at most 8 bytes
	SharedBytes int
	LocalBytes  int // of each lane

	module     *Module
	paramTypes []ptype
	maxThreads int    // .maxntid; 0: no limit
	exactly    bool   // .reqntid: maxThreads is the block size
	code       []inst // control that runs off the end returns
	slots      []slot
	npreds     int
}

// dynamicAlign is where dynamic shared memory may begin.
const dynamicAlign = 16

// dynamicAt is the offset at which a kernel's dynamic shared memory begins.
func (k *Kernel) dynamicAt() int { return (k.SharedBytes + dynamicAlign - 1) &^ (dynamicAlign - 1) }

// Kernels are all entry points, in the order of the text.
func (m *Module) Kernels() []*Kernel { return m.kernels }

// Kernel finds an entry point by name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	var names []string
	for _, k := range m.kernels {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("no kernel %q in this module (it has: %s)", name, strings.Join(names, ", "))
}

// A slot is a row of a warp's register file: 32 lanes of 64 bits. Constants,
// special registers and parameters have slots as well, filled before the first
// instruction, so that every operand is read in the same way. Narrower values
// are kept with zeros above.
type slot struct {
	kind slotKind
	val  uint64 // slotConst: the value; slotSpecial: which; slotParam: which
	name string // of a register, for error messages
}

type slotKind uint8

const (
	slotReg slotKind = iota
	slotConst
	slotSpecial
	slotParam
	slotDynamic // the address of dynamic shared memory
)

// Slot 0 takes what nobody wants (destination _), and stands for absent operands.
const sinkSlot = 0

type special uint8

const (
	spTid special = iota
	spNtid
	spCtaid
	spNctaid
	spZero // .y and .z of positions
	spOne  // .y and .z of sizes
	spLane
	spWarp
	spNwarp
	spMaskEq
	spMaskLt
	spMaskLe
	spMaskGt
	spMaskGe
)

var specials = map[string]special{
	"%tid.x": spTid, "%ntid.x": spNtid, "%ctaid.x": spCtaid, "%nctaid.x": spNctaid,
	"%tid.y": spZero, "%ntid.y": spOne, "%ctaid.y": spZero, "%nctaid.y": spOne,
	"%tid.z": spZero, "%ntid.z": spOne, "%ctaid.z": spZero, "%nctaid.z": spOne,
	"%laneid": spLane, "%warpid": spWarp, "%nwarpid": spNwarp,
	"%lanemask_eq": spMaskEq, "%lanemask_lt": spMaskLt, "%lanemask_le": spMaskLe,
	"%lanemask_gt": spMaskGt, "%lanemask_ge": spMaskGe,
}

// inst is a decoded instruction. Operands are slots, predicates are numbers of
// their own; -1 is none.
type inst struct {
	class    opClass
	op       opcode
	guardNot bool
	psNot    bool
	space    space
	width    uint8 // bytes of one memory element
	ndst     uint8
	nsrc     uint8
	t, from  ptype // type; cvt: type of the source
	rnd      round
	cmp      cmpOp
	comb     opcode // setp: how to combine with ps (opAnd, opOr, opXor); 0: not. redux: the operation
	carryIn  bool
	carryOut bool
	sh       uint8  // 64 - bits of t: how far to shift up to reach the sign
	mask     uint64 // the bits of t, or of the destination register of ld and cvt
	guard    int32  // predicate
	ps       int32  // predicate operand
	pd       [2]int32
	dst      [4]int32
	src      [5]int32
	off      int64 // displacement of an address
	target   int32 // bra
	reconv   int32 // where the two sides of a divergent bra meet; len(code): never
	line     int32
}

// opClass says which exec function knows the instruction.
type opClass uint8

const (
	classInt opClass = iota
	classFloat
	classPred // results are predicates, or chosen by one
	classConvert
	classMemory
	classAtomic
	classLanes
	classControl
)

type opcode uint8

const (
	opNone opcode = iota
	opMov
	opPack   // mov.b64 d, {a,b}
	opUnpack // mov.b64 {d,e}, a
	opAdd
	opSub
	opMulLo
	opMulHi
	opMulWide
	opMadLo
	opMadHi
	opMadWide
	opDiv
	opRem
	opAbs
	opNeg
	opMin
	opMax
	opAnd
	opOr
	opXor
	opNot
	opShl
	opShr
	opPopc
	opClz
	opBrev
	opPrmt
	opMul // floats
	opFma
	opSqrt
	opRcp
	opSetp
	opSelp
	opCvt
	opLd
	opSt
	opExch
	opCas
	opInc
	opDec
	opVoteAll
	opVoteAny
	opVoteUni
	opBallot
	opActivemask
	opShflIdx
	opShflUp
	opShflDown
	opShflBfly
	opMatchAny
	opMatchAll
	opRedux // with how in inst.comb
	opWarpSync
	opBra
	opRet
	opBar
	opTrap
	opNop
)

type space uint8

const (
	spaceGlobal space = iota
	spaceShared
	spaceLocal
)

var spaceNames = [...]string{"global", "shared", "local"}

type round uint8

const (
	roundNone round = iota
	roundNear       // .rn, .rni
	roundZero
	roundDown
	roundUp
)

// cmpOp is what setp compares; the second half is true for unordered floats.
type cmpOp uint8

const (
	cmpEq cmpOp = iota
	cmpNe
	cmpLt
	cmpLe
	cmpGt
	cmpGe
	cmpEqu
	cmpNeu
	cmpLtu
	cmpLeu
	cmpGtu
	cmpGeu
	cmpNum
	cmpNan
)

var cmpOps = map[string]cmpOp{
	"eq": cmpEq, "ne": cmpNe, "lt": cmpLt, "le": cmpLe, "gt": cmpGt, "ge": cmpGe,
	"lo": cmpLt, "ls": cmpLe, "hi": cmpGt, "hs": cmpGe,
	"equ": cmpEqu, "neu": cmpNeu, "ltu": cmpLtu, "leu": cmpLeu, "gtu": cmpGtu, "geu": cmpGeu,
	"num": cmpNum, "nan": cmpNan,
}
