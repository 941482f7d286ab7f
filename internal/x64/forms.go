package x64

// inst names an instruction form: one row of the table below.
type inst uint16

// shape says which operands a form has and in which order they are written.
type shape uint8

const (
	shNone shape = iota // no operands
	shRM                // reg, rm
	shMR                // rm, reg
	shM                 // rm
	shMI                // rm, imm
	shRMI               // reg, rm, imm
	shVRM               // reg, v, rm
	shVRMI              // reg, v, rm, imm
	shRMV               // reg, rm, v
	shO                 // register in the opcode
	shOI                // register in the opcode, imm
	shVRMR              // reg, v, rm, xmm register in the high half of an imm8
	shVM                // v, rm
	shVMI               // v, rm, imm
)

// kind is what an operand is: a register file and width.
type kind uint8

const (
	k64 kind = iota
	k32
	k16
	k8
	kX // xmm, ymm, zmm: vectors of 16, 32 and 64 bytes
	kY
	kZ
	kK // mask
)

// form is how one instruction is encoded and written.
type form struct {
	name  string
	shape shape
	pfx   byte  // 0, 0x66, 0xf2, 0xf3
	mp    byte  // opcode map: 0 one byte, 1 0f, 2 0f38, 3 0f3a
	op    byte  // opcode
	ext   byte  // /digit where the reg field extends the opcode
	w     byte  // REX.W or VEX.W
	imm   uint8 // bytes of immediate
	rk    kind  // reg field
	vk    kind  // v, where it is not like the reg field
	mk    kind  // rm field when a register
	msz   uint8 // bytes of the rm field when memory; 0: never memory
	vex   bool
	lock  bool
	evex  bool
	l     byte  // vector length of VEX and EVEX: 0, 1 and 2 for 16, 32 and 64 bytes
	n     int32 // EVEX: what a displacement of one byte counts
	vsib  bool  // the index is a vector
	pred  bool  // the immediate is a predicate and written into the name

	// What follows is worked out by finish.
	noV                   bool // the VEX or EVEX form has no v operand
	pp                    byte // pfx as VEX writes it
	before, after         uint32
	beforeBits, afterBits uint8 // legacy encoding: what stands before and after REX
}

// finish derives what the encoder wants to have at hand.
func (f *form) finish() {
	f.noV = f.shape == shRM || f.shape == shMR || f.shape == shRMI || f.shape == shNone
	if f.vk == k64 {
		f.vk = f.rk
	}
	f.pp = map[byte]byte{0x66: 1, 0xf3: 2, 0xf2: 3}[f.pfx]
	add := func(w *uint32, n *uint8, b byte) {
		*w |= uint32(b) << *n
		*n += 8
	}
	if f.lock {
		add(&f.before, &f.beforeBits, 0xf0)
	}
	if f.pfx != 0 {
		add(&f.before, &f.beforeBits, f.pfx)
	}
	if f.mp != 0 {
		add(&f.after, &f.afterBits, 0x0f)
	}
	if f.mp > 1 {
		add(&f.after, &f.afterBits, [...]byte{2: 0x38, 3: 0x3a}[f.mp])
	}
	add(&f.after, &f.afterBits, f.op)
}

// The four forms of each ALU operation follow each other, so that a group's first
// form plus 0…3 is reg,rm – rm,reg – rm,imm8 – rm,imm32.
const (
	iADD inst = iota * 4
	iOR
	iADC
	iSBB
	iAND
	iSUB
	iXOR
	iCMP
	numALU
)

const (
	aluRM inst = iota
	aluMR
	aluMI8
	aluMI32
)

const (
	iMOVrm inst = iota + numALU
	iMOVmr
	iMOV32rm
	iMOV32mr
	iMOV16mr
	iMOV8mr
	iMOVmi
	iMOV32mi
	iMOV16mi
	iMOV8mi
	iMOV32oi
	iMOVoi
	iMOVZX8
	iMOVZX16
	iMOVSX8
	iMOVSX16
	iMOVSXD
	iLEA
	iTEST
	iXOR32
	iAND32i8
	iAND32i
	iAND8
	iOR8
	iIMULrm
	iIMULi8
	iIMULi
	iIMULm
	iMULm
	iDIVm
	iIDIVm
	iNEG
	iNOT
	iCQO
	iSHL
	iSHR
	iSAR
	iSHLX
	iSHRX
	iSARX
	iMULX
	iPOPCNT
	iTZCNT
	iLZCNT
	iBSWAP
	iXCHG
	iXADD
	iCMPXCHG
	iLOCKADD
	iLOCKOR
	iPREFETCH
	iJMPm
	iRET

	iVADDSD
	iVSUBSD
	iVMULSD
	iVDIVSD
	iVMINSD
	iVMAXSD
	iVSQRTSD
	iVROUNDSD
	iVXORPS
	iVXORPD
	iVANDPD
	iVUCOMISD
	iVCVTSD2SS
	iVCVTSS2SD
	iVCVTSI2SD
	iVCVTTSD2SI
	iVMOVAPS
	iVMOVSDld
	iVMOVSDst
	iVMOVSSst
	iVMOVQxr
	iVMOVQrx
	iVBLENDVPD

	iSETcc  // 16 rows, by cc
	iCMOVcc = iSETcc + 16
	iSIMD   = iCMOVcc + 16 // forms_simd.go
)

// forms is filled once: the rows that differ in a number only are written by a loop.
var forms = makeForms()

func makeForms() (f [numForms]form) {
	for i, name := range []string{"add", "or", "adc", "sbb", "and", "sub", "xor", "cmp"} {
		g, op, ext := inst(i*4), byte(i*8), byte(i)
		f[g+aluRM] = form{name: name, shape: shRM, op: op + 3, w: 1, msz: 8}
		f[g+aluMR] = form{name: name, shape: shMR, op: op + 1, w: 1, msz: 8}
		f[g+aluMI8] = form{name: name, shape: shMI, op: 0x83, ext: ext, w: 1, imm: 1, msz: 8}
		f[g+aluMI32] = form{name: name, shape: shMI, op: 0x81, ext: ext, w: 1, imm: 4, msz: 8}
	}
	for i, name := range ccNames {
		f[iSETcc+inst(i)] = form{name: "set" + name, shape: shM, mp: 1, op: 0x90 + byte(i), mk: k8, msz: 1}
		f[iCMOVcc+inst(i)] = form{name: "cmov" + name, shape: shRM, mp: 1, op: 0x40 + byte(i), w: 1, msz: 8}
	}
	copy(f[numALU:], table[numALU:])
	copy(f[iSIMD:], simdTable[iSIMD:])
	for i := range f {
		f[i].finish()
	}
	return f
}

var table = [iSETcc]form{
	// Moves.
	iMOVrm:   {name: "mov", shape: shRM, op: 0x8b, w: 1, msz: 8},
	iMOVmr:   {name: "mov", shape: shMR, op: 0x89, w: 1, msz: 8},
	iMOV32rm: {name: "mov", shape: shRM, op: 0x8b, rk: k32, mk: k32, msz: 4},
	iMOV32mr: {name: "mov", shape: shMR, op: 0x89, rk: k32, mk: k32, msz: 4},
	iMOV16mr: {name: "mov", shape: shMR, pfx: 0x66, op: 0x89, rk: k16, mk: k16, msz: 2},
	iMOV8mr:  {name: "mov", shape: shMR, op: 0x88, rk: k8, mk: k8, msz: 1},
	iMOVmi:   {name: "mov", shape: shMI, op: 0xc7, w: 1, imm: 4, msz: 8},
	iMOV32mi: {name: "mov", shape: shMI, op: 0xc7, imm: 4, mk: k32, msz: 4},
	iMOV16mi: {name: "mov", shape: shMI, pfx: 0x66, op: 0xc7, imm: 2, mk: k16, msz: 2},
	iMOV8mi:  {name: "mov", shape: shMI, op: 0xc6, imm: 1, mk: k8, msz: 1},
	iMOV32oi: {name: "mov", shape: shOI, op: 0xb8, imm: 4, rk: k32},
	iMOVoi:   {name: "movabs", shape: shOI, op: 0xb8, w: 1, imm: 8},
	iMOVZX8:  {name: "movzx", shape: shRM, mp: 1, op: 0xb6, rk: k32, mk: k8, msz: 1},
	iMOVZX16: {name: "movzx", shape: shRM, mp: 1, op: 0xb7, rk: k32, mk: k16, msz: 2},
	iMOVSX8:  {name: "movsx", shape: shRM, mp: 1, op: 0xbe, w: 1, mk: k8, msz: 1},
	iMOVSX16: {name: "movsx", shape: shRM, mp: 1, op: 0xbf, w: 1, mk: k16, msz: 2},
	iMOVSXD:  {name: "movsxd", shape: shRM, op: 0x63, w: 1, mk: k32, msz: 4},
	iLEA:     {name: "lea", shape: shRM, op: 0x8d, w: 1, msz: 8},

	// Integer arithmetic.
	iTEST:    {name: "test", shape: shMR, op: 0x85, w: 1, msz: 8},
	iXOR32:   {name: "xor", shape: shRM, op: 0x33, rk: k32, mk: k32, msz: 4},
	iAND32i8: {name: "and", shape: shMI, op: 0x83, ext: 4, imm: 1, mk: k32, msz: 4},
	iAND32i:  {name: "and", shape: shMI, op: 0x81, ext: 4, imm: 4, mk: k32, msz: 4},
	iAND8:    {name: "and", shape: shRM, op: 0x22, rk: k8, mk: k8, msz: 1},
	iOR8:     {name: "or", shape: shRM, op: 0x0a, rk: k8, mk: k8, msz: 1},
	iIMULrm:  {name: "imul", shape: shRM, mp: 1, op: 0xaf, w: 1, msz: 8},
	iIMULi8:  {name: "imul", shape: shRMI, op: 0x6b, w: 1, imm: 1, msz: 8},
	iIMULi:   {name: "imul", shape: shRMI, op: 0x69, w: 1, imm: 4, msz: 8},
	iIMULm:   {name: "imul", shape: shM, op: 0xf7, ext: 5, w: 1, msz: 8},
	iMULm:    {name: "mul", shape: shM, op: 0xf7, ext: 4, w: 1, msz: 8},
	iDIVm:    {name: "div", shape: shM, op: 0xf7, ext: 6, w: 1, msz: 8},
	iIDIVm:   {name: "idiv", shape: shM, op: 0xf7, ext: 7, w: 1, msz: 8},
	iNEG:     {name: "neg", shape: shM, op: 0xf7, ext: 3, w: 1, msz: 8},
	iNOT:     {name: "not", shape: shM, op: 0xf7, ext: 2, w: 1, msz: 8},
	iCQO:     {name: "cqo", shape: shNone, op: 0x99, w: 1},
	iSHL:     {name: "shl", shape: shMI, op: 0xc1, ext: 4, w: 1, imm: 1, msz: 8},
	iSHR:     {name: "shr", shape: shMI, op: 0xc1, ext: 5, w: 1, imm: 1, msz: 8},
	iSAR:     {name: "sar", shape: shMI, op: 0xc1, ext: 7, w: 1, imm: 1, msz: 8},
	iSHLX:    {name: "shlx", shape: shRMV, pfx: 0x66, mp: 2, op: 0xf7, w: 1, msz: 8, vex: true},
	iSHRX:    {name: "shrx", shape: shRMV, pfx: 0xf2, mp: 2, op: 0xf7, w: 1, msz: 8, vex: true},
	iSARX:    {name: "sarx", shape: shRMV, pfx: 0xf3, mp: 2, op: 0xf7, w: 1, msz: 8, vex: true},
	iMULX:    {name: "mulx", shape: shVRM, pfx: 0xf2, mp: 2, op: 0xf6, w: 1, msz: 8, vex: true},
	iPOPCNT:  {name: "popcnt", shape: shRM, pfx: 0xf3, mp: 1, op: 0xb8, w: 1, msz: 8},
	iTZCNT:   {name: "tzcnt", shape: shRM, pfx: 0xf3, mp: 1, op: 0xbc, w: 1, msz: 8},
	iLZCNT:   {name: "lzcnt", shape: shRM, pfx: 0xf3, mp: 1, op: 0xbd, w: 1, msz: 8},
	iBSWAP:   {name: "bswap", shape: shO, mp: 1, op: 0xc8, w: 1},

	// Memory shared with others, hints, control.
	iXCHG:     {name: "xchg", shape: shMR, op: 0x87, w: 1, msz: 8},
	iXADD:     {name: "xadd", shape: shMR, mp: 1, op: 0xc1, w: 1, msz: 8, lock: true},
	iCMPXCHG:  {name: "cmpxchg", shape: shMR, mp: 1, op: 0xb1, w: 1, msz: 8, lock: true},
	iLOCKADD:  {name: "add", shape: shMR, op: 0x01, w: 1, msz: 8, lock: true},
	iLOCKOR:   {name: "or", shape: shMR, op: 0x09, w: 1, msz: 8, lock: true},
	iPREFETCH: {name: "prefetcht0", shape: shM, mp: 1, op: 0x18, ext: 1, msz: 1},
	iJMPm:     {name: "jmp", shape: shM, op: 0xff, ext: 4, msz: 8},
	iRET:      {name: "ret", shape: shNone, op: 0xc3},

	// Scalar double precision, AVX forms: no partial register writes to wait for.
	iVADDSD:     {name: "vaddsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x58, rk: kX, mk: kX, msz: 8, vex: true},
	iVSUBSD:     {name: "vsubsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x5c, rk: kX, mk: kX, msz: 8, vex: true},
	iVMULSD:     {name: "vmulsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x59, rk: kX, mk: kX, msz: 8, vex: true},
	iVDIVSD:     {name: "vdivsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x5e, rk: kX, mk: kX, msz: 8, vex: true},
	iVMINSD:     {name: "vminsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x5d, rk: kX, mk: kX, msz: 8, vex: true},
	iVMAXSD:     {name: "vmaxsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x5f, rk: kX, mk: kX, msz: 8, vex: true},
	iVSQRTSD:    {name: "vsqrtsd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x51, rk: kX, mk: kX, msz: 8, vex: true},
	iVROUNDSD:   {name: "vroundsd", shape: shVRMI, pfx: 0x66, mp: 3, op: 0x0b, imm: 1, rk: kX, mk: kX, msz: 8, vex: true},
	iVXORPS:     {name: "vxorps", shape: shVRM, mp: 1, op: 0x57, rk: kX, mk: kX, msz: 16, vex: true},
	iVXORPD:     {name: "vxorpd", shape: shVRM, pfx: 0x66, mp: 1, op: 0x57, rk: kX, mk: kX, msz: 16, vex: true},
	iVANDPD:     {name: "vandpd", shape: shVRM, pfx: 0x66, mp: 1, op: 0x54, rk: kX, mk: kX, msz: 16, vex: true},
	iVUCOMISD:   {name: "vucomisd", shape: shRM, pfx: 0x66, mp: 1, op: 0x2e, rk: kX, mk: kX, msz: 8, vex: true},
	iVCVTSD2SS:  {name: "vcvtsd2ss", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x5a, rk: kX, mk: kX, msz: 8, vex: true},
	iVCVTSS2SD:  {name: "vcvtss2sd", shape: shVRM, pfx: 0xf3, mp: 1, op: 0x5a, rk: kX, mk: kX, msz: 4, vex: true},
	iVCVTSI2SD:  {name: "vcvtsi2sd", shape: shVRM, pfx: 0xf2, mp: 1, op: 0x2a, w: 1, rk: kX, msz: 8, vex: true},
	iVCVTTSD2SI: {name: "vcvttsd2si", shape: shRM, pfx: 0xf2, mp: 1, op: 0x2c, w: 1, mk: kX, msz: 8, vex: true},
	iVMOVAPS:    {name: "vmovaps", shape: shRM, mp: 1, op: 0x28, rk: kX, mk: kX, msz: 16, vex: true},
	iVMOVSDld:   {name: "vmovsd", shape: shRM, pfx: 0xf2, mp: 1, op: 0x10, rk: kX, mk: kX, msz: 8, vex: true},
	iVMOVSDst:   {name: "vmovsd", shape: shMR, pfx: 0xf2, mp: 1, op: 0x11, rk: kX, mk: kX, msz: 8, vex: true},
	iVMOVSSst:   {name: "vmovss", shape: shMR, pfx: 0xf3, mp: 1, op: 0x11, rk: kX, mk: kX, msz: 4, vex: true},
	iVMOVQxr:    {name: "vmovq", shape: shRM, pfx: 0x66, mp: 1, op: 0x6e, w: 1, rk: kX, vex: true},
	iVMOVQrx:    {name: "vmovq", shape: shMR, pfx: 0x66, mp: 1, op: 0x7e, w: 1, rk: kX, vex: true},
	iVBLENDVPD:  {name: "vblendvpd", shape: shVRMR, pfx: 0x66, mp: 3, op: 0x4b, imm: 1, rk: kX, mk: kX, msz: 16, vex: true},
}
