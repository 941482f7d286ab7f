package x64

// reg is a machine register's number, 0–15, of either file: whether it names a
// general or an xmm register follows from the instruction form it appears in.
type reg uint8

const (
	rax reg = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15

	noReg reg = 0xff // no index register
	rip   reg = 0xfe // base of a reference into the constant pool
)

// The register plan. Multiplication, division and byte results want rax, rdx and
// rcx, so these three are the temporaries; rsp never moves; the rest carries
// virtual registers. The context sits in rdi because, unlike r12 and r13, it needs
// neither a SIB byte nor a displacement to be a base.
const (
	ctxReg = rdi

	attrGPR uint32 = 0xffff &^ (1<<rax | 1<<rcx | 1<<rdx | 1<<rsp | 1<<ctxReg)
	attrXMM uint32 = 0x0fff // xmm0–xmm11

	// rbp is given out last. While a panic out of generated code is under way, the
	// runtime's tracer and mutex profiler would follow it as a frame pointer; a
	// function that does not need the register leaves it intact.
	lastGPR uint32 = 1 << rbp

	xt0 reg = 12 // xmm temporaries
	xt1 reg = 13
	xt2 reg = 14
	xt3 reg = 15
)

// mem is a memory operand [base + index<<shift + disp].
type mem struct {
	base, index reg
	shift       uint8
	disp        int32
}

func at(base reg, disp int32) mem { return mem{base: base, index: noReg, disp: disp} }

// cc is a condition code as it stands in the low four bits of jcc, setcc and cmovcc.
type cc uint8

const (
	ccO cc = iota
	ccNO
	ccB
	ccAE
	ccE
	ccNE
	ccBE
	ccA
	ccS
	ccNS
	ccP
	ccNP
	ccL
	ccGE
	ccLE
	ccG
	ccAlways // not a machine code: an unconditional jump
)

// not is the opposite condition; machine conditions come in pairs.
func (c cc) not() cc { return c ^ 1 }

var ccNames = [...]string{"o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"}
