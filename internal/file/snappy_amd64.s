#include "textflag.h"

// Registers: SI the tag of the next element, R15 that tag, DI where its bytes go, R8 the beginning of dst, R9 and R10 the last
// places in src and dst at which three short elements can be taken unseen, R11 snappyTags, X15 the last 16
// bytes before DI.
//
// Why X15: a copy from a few bytes before reads what was just written by several stores, and the processor lets
// it wait until all of them are in the cache, some twenty cycles, for each number of a column of keys. So such
// bytes come from the register.

// LAST keeps X15 after len bytes of X0, or, if they repeat themselves, after up to 64.
#define LAST(len) \
	VPSHUFB 3376(R11)(len*1), X15, X15 \
	VPSHUFB 3472(R11)(len*1), X0, X1   \
	VPOR    X1, X15, X15

// BEHIND goes to the element behind a copy. Its tag is cut out of the four bytes after the copy's: to read
// it once it is known where it is would take twice as long, and everything waits for tags. The shift looks at five bits of the count, of which
// three are zero and two the copy's kind.
#define BEHIND \
	MOVL    R15, BX          \
	SHLL    $3, BX           \
	SHRXL   BX, 1(SI), BX    \
	ANDL    $3, R15          \
	LEAQ    1(SI)(R15*1), SI \
	MOVBLZX BX, R15

// COPY takes a copy of up to 16 bytes from more than 16 before, whether its offset has one byte or
// two: of the four bytes that begin with the tag, turned so that the tag is last, PEXTL picks the bits
// of the offset.
#define COPY \
	RORXL   $8, (SI), DX          \
	PEXTL   (R11)(R15*4), DX, DX  \
	CMPL    DX, 1024(R11)(R15*4)  \
	JCS     rare                  \
	MOVQ    DI, R14               \
	SUBQ    DX, R14               \
	CMPQ    R14, R8               \
	JCS     out                   \
	MOVL    2048(R11)(R15*4), CX  \
	VMOVDQU (R14), X0             \
	VMOVDQU X0, (DI)              \
	BEHIND                        \
	LAST(CX)                      \
	ADDQ    CX, DI

// LITERAL takes a literal of up to 8 bytes. The tag behind it, too, is cut out of bytes that are read before it is known
// where it is.
#define LITERAL \
	LEAL    (R15)(R15*1), BX      \
	SHRXQ   BX, 2(SI), BX         \
	SHRL    $2, R15               \
	CMPL    R15, $8               \
	JCC     literal               \
	VMOVDQU 1(SI), X0             \
	VMOVDQU X0, (DI)              \
	ADDQ    $1, R15               \
	LAST(R15)                     \
	ADDQ    R15, DI               \
	LEAQ    1(SI)(R15*1), SI      \
	MOVBLZX BX, R15

// func snappyFast(dst, src []byte, d, s int) (d2, s2 int)
TEXT ·snappyFast(SB), NOSPLIT, $0-80
	MOVQ  dst_base+0(FP), R8
	MOVQ  dst_len+8(FP), R10
	MOVQ  src_base+24(FP), SI
	MOVQ  src_len+32(FP), R9
	MOVQ  d+48(FP), R14
	LEAQ  (R8)(R14*1), DI
	ADDQ  R8, R10
	SUBQ  $48, R10
	ADDQ  SI, R9
	SUBQ  $40, R9
	ADDQ  s+56(FP), SI
	LEAQ  ·snappyTags(SB), R11
	CMPQ  SI, R9
	JHI   out
	MOVBLZX (SI), R15
	VPXOR X15, X15, X15
	TESTQ R14, R14
	JEQ   loop
	CMPQ  R14, $16
	JCS   out
	VMOVDQU -16(DI), X15

loop:
	CMPQ  SI, R9
	JHI   out
	CMPQ  DI, R10
	JHI   out
	TESTL $3, R15
	JEQ   lit
	COPY
	TESTL $3, R15
	JEQ   lit
	COPY
	TESTL $3, R15
	JEQ   last
	COPY
	JMP   loop

lit:
	LITERAL
	TESTL $3, R15
	JEQ   loop
	COPY
	JMP   loop

last:
	LITERAL
	JMP loop

	// A copy that is long or from near, or wrong. There must be room for 64 bytes, and for 16 behind them.
rare:
	MOVL    2048(R11)(R15*4), CX
	MOVQ    DI, R14
	SUBQ    DX, R14
	CMPQ    R14, R8
	JCS     out
	LEAQ    80-48(DI), R12
	CMPQ    R12, R10
	JHI     out
	CMPL    DX, $16
	JHI     far
	MOVBLZX 3344(R11)(DX*1), R12
	SHLL    $4, DX
	CMPL    R12, $16
	JNE     odd

	// The pattern's length divides 16: any number of bytes is the same 16 again and again.
	VPSHUFB 3072(R11)(DX*1), X15, X0
	VMOVDQU X0, (DI)
	VMOVDQU X0, 16(DI)
	VMOVDQU X0, 32(DI)
	VMOVDQU X0, 48(DI)
	BEHIND
	LAST(CX)
	ADDQ    CX, DI
	JMP     loop

odd:
	MOVL    R15, BX
	ANDL    $3, BX
	CMPL    BX, $3
	JEQ     four
	TESTL   DX, DX
	JEQ     out // offset 0
	LEAQ    1(SI)(BX*1), SI
	MOVBLZX (SI), R15
	VPSHUFB 3072(R11)(DX*1), X15, X0
	VMOVDQU X0, (DI)
	CMPL    CX, $16
	JHI     repeat
	LAST(CX)
	ADDQ    CX, DI
	JMP     loop

repeat:
	MOVQ    DI, R14
	ADDQ    CX, DI

again:
	// At distances that are multiples of the pattern's length.
	ADDQ    R12, R14
	VMOVDQU X0, (R14)
	LEAQ    16(R14), DX
	CMPQ    DX, DI
	JCS     again
	VMOVDQU -16(DI), X15
	JMP     loop

four:
	// An offset of four bytes, of which the table knows nothing.
	MOVL    1(SI), DX
	MOVQ    DI, R14
	SUBQ    R8, R14
	CMPQ    DX, R14
	JHI     out
	CMPQ    DX, $16
	JLS     out
	MOVQ    DI, R14
	SUBQ    DX, R14
	ADDQ    $1, SI

far:
	ANDL    $3, R15
	LEAQ    1(SI)(R15*1), SI
	MOVBLZX (SI), R15
	VMOVDQU (R14), X0
	VMOVDQU X0, (DI)
	VMOVDQU 16(R14), X2
	VMOVDQU X2, 16(DI)
	CMPL    CX, $16
	JHI     far2
	LAST(CX)
	ADDQ    CX, DI
	JMP     loop

far2:
	CMPL    CX, $32
	JHI     far4
	VMOVDQU -16(R14)(CX*1), X15
	ADDQ    CX, DI
	JMP     loop

far4:
	VMOVDQU 32(R14), X0
	VMOVDQU X0, 32(DI)
	VMOVDQU 48(R14), X2
	VMOVDQU X2, 48(DI)
	VMOVDQU -16(R14)(CX*1), X15
	ADDQ    CX, DI
	JMP     loop

literal:
	CMPL    R15, $16
	JCC     longer
	VMOVDQU 1(SI), X0
	VMOVDQU X0, (DI)
	ADDQ    $1, R15
	LAST(R15)
	ADDQ    R15, DI
	LEAQ    1(SI)(R15*1), SI
	MOVBLZX (SI), R15
	JMP     loop

longer:
	CMPL    R15, $60
	JCC     out
	LEAQ    64-48(DI), R14
	CMPQ    R14, R10
	JHI     out
	LEAQ    65-40(SI), R14
	CMPQ    R14, R9
	JHI     out
	VMOVDQU 1(SI), Y0
	VMOVDQU Y0, (DI)
	VMOVDQU 33(SI), Y0
	VMOVDQU Y0, 32(DI)
	LEAQ    1(DI)(R15*1), DI
	LEAQ    2(SI)(R15*1), SI
	MOVBLZX (SI), R15
	VMOVDQU -16(SI), X15
	JMP     loop

out:
	VZEROUPPER
	SUBQ dst_base+0(FP), DI
	SUBQ src_base+24(FP), SI
	MOVQ DI, d2+64(FP)
	MOVQ SI, s2+72(FP)
	RET
