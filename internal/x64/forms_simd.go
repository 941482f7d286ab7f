package x64

// The vector instructions that masks of rows need (simd.go). Those that exist for
// elements of 1, 2, 4 and 8 bytes follow each other in this order, so that a group's
// first form plus the logarithm of the width is the one wanted.
const (
	iBLSR inst = iota + iSIMD
	iBT
	iVZEROUPPER

	// Mask registers.
	iKMOVW
	iKMOVQ
	iKMOVQrk
	iKUNPCKBW
	iKUNPCKWD
	iKUNPCKDQ

	// AVX-512: vectors of 64 bytes.
	iZBROADCAST // from a general register
	_
	_
	_
	iZADD
	_
	_
	_
	iZCMPU // unsigned, by a predicate, into a mask
	_
	_
	_
	iZCMP // signed
	_
	_
	_
	iZMOVZXD // 1 and 2 bytes to 4
	_
	iZMOVZXQ // 1, 2 and 4 bytes to 8
	_
	_
	iZLOAD
	iZLOAD32
	iZSTORE
	iZMOVQD
	iZINSERT
	iZSHRD
	iZRORVD
	iZTESTB
	iZTESTD
	iZXOR
	iZGATHER
	iZPERMB
	iZPERMI2B
	iZMOVB2M
	iZCOMPRESS

	// AVX2: vectors of 32 bytes.
	iYBROADCAST // from an xmm register
	_
	_
	_
	iYADD
	_
	_
	_
	iYMINU // not of 8 bytes
	_
	_
	iYCMPEQ
	_
	_
	_
	iYCMPGT // signed
	_
	_
	_
	iYMOVZXD // 1 and 2 bytes to 4
	_
	iYMOVZXQ // 1, 2 and 4 bytes to 8
	_
	_
	iYLOAD
	iYAND
	iYPACK
	iYPERMQ
	iYMASK // the sign bits of elements of 1 byte
	iYMASK4
	iYMASK8

	numForms
)

// Predicates of iZCMPU and iZCMP.
const (
	predEQ = iota
	predLT
	predLE
	_
	predNE
	predGE
	predGT
)

var predNames = [...]string{predEQ: "eq", predLT: "lt", predLE: "le", predNE: "neq", predGE: "nlt", predGT: "nle"}

var simdTable = [numForms]form{
	iBLSR:       {name: "blsr", shape: shVM, mp: 2, op: 0xf3, ext: 1, w: 1, msz: 8, vex: true},
	iBT:         {name: "bt", shape: shMR, mp: 1, op: 0xa3, w: 1, msz: 8},
	iVZEROUPPER: {name: "vzeroupper", shape: shNone, mp: 1, op: 0x77, vex: true},

	iKMOVW:    {name: "kmovw", shape: shRM, mp: 1, op: 0x92, rk: kK, mk: k32, vex: true},
	iKMOVQ:    {name: "kmovq", shape: shRM, pfx: 0xf2, mp: 1, op: 0x92, w: 1, rk: kK, vex: true},
	iKMOVQrk:  {name: "kmovq", shape: shRM, pfx: 0xf2, mp: 1, op: 0x93, w: 1, mk: kK, vex: true},
	iKUNPCKBW: {name: "kunpckbw", shape: shVRM, pfx: 0x66, mp: 1, op: 0x4b, rk: kK, mk: kK, vex: true, l: 1},
	iKUNPCKWD: {name: "kunpckwd", shape: shVRM, mp: 1, op: 0x4b, rk: kK, mk: kK, vex: true, l: 1},
	iKUNPCKDQ: {name: "kunpckdq", shape: shVRM, mp: 1, op: 0x4b, w: 1, rk: kK, mk: kK, vex: true, l: 1},

	iZBROADCAST:     {name: "vpbroadcastb", shape: shRM, pfx: 0x66, mp: 2, op: 0x7a, rk: kZ, mk: k32, evex: true, l: 2},
	iZBROADCAST + 1: {name: "vpbroadcastw", shape: shRM, pfx: 0x66, mp: 2, op: 0x7b, rk: kZ, mk: k32, evex: true, l: 2},
	iZBROADCAST + 2: {name: "vpbroadcastd", shape: shRM, pfx: 0x66, mp: 2, op: 0x7c, rk: kZ, mk: k32, evex: true, l: 2},
	iZBROADCAST + 3: {name: "vpbroadcastq", shape: shRM, pfx: 0x66, mp: 2, op: 0x7c, w: 1, rk: kZ, evex: true, l: 2},
	iZADD:           zzz("vpaddb", 1, 0xfc, 0),
	iZADD + 1:       zzz("vpaddw", 1, 0xfd, 0),
	iZADD + 2:       zzz("vpaddd", 1, 0xfe, 0),
	iZADD + 3:       zzz("vpaddq", 1, 0xd4, 1),
	iZCMPU:          zcmp("vpcmpub", 0x3e, 0),
	iZCMPU + 1:      zcmp("vpcmpuw", 0x3e, 1),
	iZCMPU + 2:      zcmp("vpcmpud", 0x1e, 0),
	iZCMPU + 3:      zcmp("vpcmpuq", 0x1e, 1),
	iZCMP:           zcmp("vpcmpb", 0x3f, 0),
	iZCMP + 1:       zcmp("vpcmpw", 0x3f, 1),
	iZCMP + 2:       zcmp("vpcmpd", 0x1f, 0),
	iZCMP + 3:       zcmp("vpcmpq", 0x1f, 1),
	iZMOVZXD:        {name: "vpmovzxbd", shape: shRM, pfx: 0x66, mp: 2, op: 0x31, rk: kZ, mk: kX, msz: 16, evex: true, l: 2, n: 16},
	iZMOVZXD + 1:    {name: "vpmovzxwd", shape: shRM, pfx: 0x66, mp: 2, op: 0x33, rk: kZ, mk: kY, msz: 32, evex: true, l: 2, n: 32},
	iZMOVZXQ:        {name: "vpmovzxbq", shape: shRM, pfx: 0x66, mp: 2, op: 0x32, rk: kZ, mk: kX, msz: 8, evex: true, l: 2, n: 8},
	iZMOVZXQ + 1:    {name: "vpmovzxwq", shape: shRM, pfx: 0x66, mp: 2, op: 0x34, rk: kZ, mk: kX, msz: 16, evex: true, l: 2, n: 16},
	iZMOVZXQ + 2:    {name: "vpmovzxdq", shape: shRM, pfx: 0x66, mp: 2, op: 0x35, rk: kZ, mk: kY, msz: 32, evex: true, l: 2, n: 32},
	iZLOAD:          {name: "vmovdqu8", shape: shRM, pfx: 0xf2, mp: 1, op: 0x6f, rk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64},
	iZLOAD32:        {name: "vmovdqu32", shape: shRM, pfx: 0xf3, mp: 1, op: 0x6f, rk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64},
	iZSTORE:         {name: "vmovdqu32", shape: shMR, pfx: 0xf3, mp: 1, op: 0x7f, rk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64},
	iZMOVQD:         {name: "vpmovqd", shape: shMR, pfx: 0xf3, mp: 2, op: 0x35, rk: kZ, mk: kY, msz: 32, evex: true, l: 2, n: 32},
	iZINSERT:        {name: "vinserti64x4", shape: shVRMI, pfx: 0x66, mp: 3, op: 0x3a, w: 1, imm: 1, rk: kZ, mk: kY, msz: 32, evex: true, l: 2, n: 32},
	iZSHRD:          {name: "vpsrld", shape: shVMI, pfx: 0x66, mp: 1, op: 0x72, ext: 2, imm: 1, rk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64},
	iZRORVD:         zzz("vprorvd", 2, 0x14, 0),
	iZTESTB:         {name: "vptestmb", shape: shVRM, pfx: 0x66, mp: 2, op: 0x26, rk: kK, vk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64},
	iZTESTD:         {name: "vptestmd", shape: shVRM, pfx: 0x66, mp: 2, op: 0x27, rk: kK, vk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64},
	iZGATHER:        {name: "vpgatherdd", shape: shRM, pfx: 0x66, mp: 2, op: 0x90, rk: kZ, mk: kZ, msz: 4, evex: true, l: 2, n: 4, vsib: true},
	iZXOR:           zzz("vpxord", 1, 0xef, 0),
	iZPERMB:         zzz("vpermb", 2, 0x8d, 0),
	iZPERMI2B:       zzz("vpermi2b", 2, 0x75, 0),
	iZMOVB2M:        {name: "vpmovb2m", shape: shRM, pfx: 0xf3, mp: 2, op: 0x29, rk: kK, mk: kZ, evex: true, l: 2},
	iZCOMPRESS:      {name: "vpcompressd", shape: shMR, pfx: 0x66, mp: 2, op: 0x8b, rk: kZ, mk: kZ, evex: true, l: 2, n: 4},

	iYBROADCAST:     {name: "vpbroadcastb", shape: shRM, pfx: 0x66, mp: 2, op: 0x78, rk: kY, mk: kX, msz: 1, vex: true, l: 1},
	iYBROADCAST + 1: {name: "vpbroadcastw", shape: shRM, pfx: 0x66, mp: 2, op: 0x79, rk: kY, mk: kX, msz: 2, vex: true, l: 1},
	iYBROADCAST + 2: {name: "vpbroadcastd", shape: shRM, pfx: 0x66, mp: 2, op: 0x58, rk: kY, mk: kX, msz: 4, vex: true, l: 1},
	iYBROADCAST + 3: {name: "vpbroadcastq", shape: shRM, pfx: 0x66, mp: 2, op: 0x59, rk: kY, mk: kX, msz: 8, vex: true, l: 1},
	iYADD:           yyy("vpaddb", 1, 0xfc),
	iYADD + 1:       yyy("vpaddw", 1, 0xfd),
	iYADD + 2:       yyy("vpaddd", 1, 0xfe),
	iYADD + 3:       yyy("vpaddq", 1, 0xd4),
	iYMINU:          yyy("vpminub", 1, 0xda),
	iYMINU + 1:      yyy("vpminuw", 2, 0x3a),
	iYMINU + 2:      yyy("vpminud", 2, 0x3b),
	iYCMPEQ:         yyy("vpcmpeqb", 1, 0x74),
	iYCMPEQ + 1:     yyy("vpcmpeqw", 1, 0x75),
	iYCMPEQ + 2:     yyy("vpcmpeqd", 1, 0x76),
	iYCMPEQ + 3:     yyy("vpcmpeqq", 2, 0x29),
	iYCMPGT:         yyy("vpcmpgtb", 1, 0x64),
	iYCMPGT + 1:     yyy("vpcmpgtw", 1, 0x65),
	iYCMPGT + 2:     yyy("vpcmpgtd", 1, 0x66),
	iYCMPGT + 3:     yyy("vpcmpgtq", 2, 0x37),
	iYMOVZXD:        {name: "vpmovzxbd", shape: shRM, pfx: 0x66, mp: 2, op: 0x31, rk: kY, mk: kX, msz: 8, vex: true, l: 1},
	iYMOVZXD + 1:    {name: "vpmovzxwd", shape: shRM, pfx: 0x66, mp: 2, op: 0x33, rk: kY, mk: kX, msz: 16, vex: true, l: 1},
	iYMOVZXQ:        {name: "vpmovzxbq", shape: shRM, pfx: 0x66, mp: 2, op: 0x32, rk: kY, mk: kX, msz: 4, vex: true, l: 1},
	iYMOVZXQ + 1:    {name: "vpmovzxwq", shape: shRM, pfx: 0x66, mp: 2, op: 0x34, rk: kY, mk: kX, msz: 8, vex: true, l: 1},
	iYMOVZXQ + 2:    {name: "vpmovzxdq", shape: shRM, pfx: 0x66, mp: 2, op: 0x35, rk: kY, mk: kX, msz: 16, vex: true, l: 1},
	iYLOAD:          {name: "vmovdqu", shape: shRM, pfx: 0xf3, mp: 1, op: 0x6f, rk: kY, mk: kY, msz: 32, vex: true, l: 1},
	iYAND:           yyy("vpand", 1, 0xdb),
	iYPACK:          yyy("vpacksswb", 1, 0x63),
	iYPERMQ:         {name: "vpermq", shape: shRMI, pfx: 0x66, mp: 3, op: 0x00, w: 1, imm: 1, rk: kY, mk: kY, msz: 32, vex: true, l: 1},
	iYMASK:          {name: "vpmovmskb", shape: shRM, pfx: 0x66, mp: 1, op: 0xd7, rk: k32, mk: kY, vex: true, l: 1},
	iYMASK4:         {name: "vmovmskps", shape: shRM, mp: 1, op: 0x50, rk: k32, mk: kY, vex: true, l: 1},
	iYMASK8:         {name: "vmovmskpd", shape: shRM, pfx: 0x66, mp: 1, op: 0x50, rk: k32, mk: kY, vex: true, l: 1},
}

func zzz(name string, mp, op, w byte) form {
	return form{name: name, shape: shVRM, pfx: 0x66, mp: mp, op: op, w: w, rk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64}
}

func zcmp(name string, op, w byte) form {
	return form{name: name, shape: shVRMI, pfx: 0x66, mp: 3, op: op, w: w, imm: 1, rk: kK, vk: kZ, mk: kZ, msz: 64, evex: true, l: 2, n: 64, pred: true}
}

func yyy(name string, mp, op byte) form {
	return form{name: name, shape: shVRM, pfx: 0x66, mp: mp, op: op, rk: kY, mk: kY, msz: 32, vex: true, l: 1}
}
