#include "textflag.h"

// func addWords(dst, src unsafe.Pointer, blocks int, each uint64)
TEXT ·addWords(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ blocks+16(FP), CX
	VPBROADCASTQ each+24(FP), Y2

loop:
	TESTQ CX, CX
	JZ    done
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VPADDQ  Y2, Y0, Y0
	VPADDQ  Y2, Y1, Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DI
	DECQ CX
	JMP  loop

done:
	VZEROUPPER
	RET
