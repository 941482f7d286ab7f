#include "textflag.h"

// func sumDeltas(dst *uint32, src *byte, l *deltaLanes, groups int, s *deltaSum)
//
// Eight numbers at a time: their bytes are shuffled to words, shifted and masked; sums of one, two
// and four neighbours make sums of all before; what the last one has is added to the next eight.
TEXT ·sumDeltas(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ l+16(FP), BX
	MOVQ groups+24(FP), CX
	MOVQ s+32(FP), DX
	VPBROADCASTD 0(DX), Y0          // last
	VPBROADCASTD 4(DX), Y1          // least
	VPBROADCASTD 8(DX), Y2          // lo
	VPBROADCASTD 12(DX), Y4         // far
	VMOVDQU 0(BX), Y5               // bytes
	VMOVDQU 32(BX), Y6              // shifts
	VPBROADCASTD 64(BX), Y3         // mask
	MOVLQZX 68(BX), R8              // bytes of eight numbers
	MOVLQZX 72(BX), R9              // where the fifth begins
	VPCMPEQD Y7, Y7, Y7
	VPSRLD $29, Y7, Y7              // 7: the last

loop:
	VMOVDQU (SI), X8
	VINSERTI128 $1, (SI)(R9*1), Y8, Y8
	VPSHUFB Y5, Y8, Y8
	VPSRLVD Y6, Y8, Y8
	VPAND Y3, Y8, Y8
	VPADDD Y1, Y8, Y8
	VPSLLDQ $4, Y8, Y9
	VPADDD Y9, Y8, Y8
	VPSLLDQ $8, Y8, Y9
	VPADDD Y9, Y8, Y8
	VPSHUFD $0xff, Y8, Y9
	VPERM2I128 $0x08, Y9, Y9, Y9    // the lower half's sum in the upper half, 0 in the lower
	VPADDD Y9, Y8, Y8
	VPERMD Y8, Y7, Y9
	VPADDD Y0, Y8, Y8
	VPADDD Y9, Y0, Y0
	VMOVDQU Y8, (DI)
	VPSUBD Y2, Y8, Y8
	VPMAXUD Y8, Y4, Y4
	ADDQ R8, SI
	ADDQ $32, DI
	DECQ CX
	JNZ loop

	VMOVD X0, 0(DX)
	VEXTRACTI128 $1, Y4, X5
	VPMAXUD X5, X4, X4
	VPSHUFD $0x4e, X4, X5
	VPMAXUD X5, X4, X4
	VPSHUFD $0xb1, X4, X5
	VPMAXUD X5, X4, X4
	VMOVD X4, 12(DX)
	VZEROUPPER
	RET
