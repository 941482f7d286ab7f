#include "textflag.h"

// TAG takes one element that is short: a literal of up to 6 bytes or a copy of up to 16 that does not
// overlap itself. It knows no branch but the ways out. R15 is the tag at SI, found before it was
// needed: it is cut out of the eight bytes that begin with the tag before it.
#define TAG(slow) \
	MOVQ    (SI), AX              \ // the tag and what follows it
	MOVL    R15, BX               \
	ANDL    $3, BX                \ // its type; zero: literal
	LEAL    8(BX*8), R13          \ // bits that it takes: a copy …
	LEAL    16(R15*2), R12        \ // … a literal
	CMOVLEQ R12, R13              \
	MOVL    3072(R11)(R15*4), CX  \ // length
	MOVQ    AX, DX                \
	SHRQ    $8, DX                \
	ANDL    0(R11)(R15*4), DX     \
	ADDL    1024(R11)(R15*4), DX  \ // offset; of literals zero
	CMPL    DX, 2048(R11)(R15*4)  \
	JCS     slow                  \
	MOVQ    DI, R14               \
	SUBQ    DX, R14               \
	CMPQ    R14, R8               \
	JCS     out                   \
	LEAQ    1(SI), R12            \
	TESTL   BX, BX                \
	CMOVQEQ R12, R14              \
	MOVOU   (R14), X0             \
	MOVOU   X0, (DI)              \
	ADDQ    CX, DI                \
	SHRXQ   R13, AX, R15          \
	MOVBLZX R15, R15              \
	SHRL    $3, R13               \
	ADDQ    R13, SI

// func snappyFast(dst, src []byte, d, s int) (d2, s2 int)
TEXT ·snappyFast(SB), NOSPLIT, $0-80
	MOVQ dst_base+0(FP), R8
	MOVQ dst_len+8(FP), R10
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), R9
	MOVQ d+48(FP), DI
	ADDQ R8, DI
	ADDQ R8, R10
	ADDQ SI, R9
	ADDQ s+56(FP), SI
	SUBQ $32, R10 // the last place for two short elements
	SUBQ $24, R9
	LEAQ ·snappyTags(SB), R11
	CMPQ SI, R9
	JHI  out
	MOVBLZX (SI), R15

loop:
	CMPQ SI, R9
	JHI  out
	CMPQ DI, R10
	JHI  out
	TAG(slow)
	TAG(slow)
	JMP loop

slow:
	TESTL BX, BX
	JEQ   literal

	// A copy: long, overlapping itself, or wrong.
	LEAQ  80-32(DI), R14
	CMPQ  R14, R10
	JHI   out
	MOVQ  DI, R14
	SUBQ  R8, R14
	LEAQ  -1(DX), R12
	CMPQ  R12, R14
	JCC   out // the offset is 0, or beyond the beginning
	MOVQ  DI, R14
	SUBQ  DX, R14
	CMPL  BX, $3
	SBBL  $-2, BX // 1, 2, 3: 2, 3, 5 bytes
	ADDQ  BX, SI
	MOVBLZX (SI), R15
	CMPL  DX, $16
	JCS   pattern
	MOVOU (R14), X0
	MOVOU X0, (DI)
	MOVOU 16(R14), X0
	MOVOU X0, 16(DI)
	CMPL  CX, $32
	JHI   long
	ADDQ  CX, DI
	JMP   loop

long:
	MOVOU 32(R14), X0
	MOVOU X0, 32(DI)
	MOVOU 48(R14), X0
	MOVOU X0, 48(DI)
	ADDQ  CX, DI
	JMP   loop

pattern:
	// The pattern, repeated in 16 bytes, is stored at distances that are multiples of its length.
	MOVOU  (R14), X0
	SHLL   $4, DX
	PSHUFB 4096(R11)(DX*1), X0
	MOVOU  X0, (DI)
	CMPL   CX, $16
	JHI    repeat
	ADDQ   CX, DI
	JMP    loop

repeat:
	SHRL    $4, DX
	MOVBLZX 4352(R11)(DX*1), R12
	MOVQ    DI, R14
	ADDQ    CX, DI

again:
	ADDQ  R12, R14
	MOVOU X0, (R14)
	LEAQ  16(R14), DX
	CMPQ  DX, DI
	JCS   again
	JMP   loop

literal:
	SHRL  $2, R15
	CMPL  R15, $60
	JCC   out
	LEAQ  64-32(DI), R14
	CMPQ  R14, R10
	JHI   out
	LEAQ  65-24(SI), R14
	CMPQ  R14, R9
	JHI   out
	MOVOU 1(SI), X0
	MOVOU X0, (DI)
	MOVOU 17(SI), X1
	MOVOU X1, 16(DI)
	MOVOU 33(SI), X2
	MOVOU X2, 32(DI)
	MOVOU 49(SI), X3
	MOVOU X3, 48(DI)
	LEAQ  1(DI)(R15*1), DI
	LEAQ  2(SI)(R15*1), SI
	MOVBLZX (SI), R15
	JMP   loop

out:
	SUBQ dst_base+0(FP), DI
	SUBQ src_base+24(FP), SI
	MOVQ DI, d2+64(FP)
	MOVQ SI, s2+72(FP)
	RET
