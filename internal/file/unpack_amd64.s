#include "textflag.h"

// See small and sparse for what is at R8. Loads and stores at the end are masked, so that nothing is touched
// but the bytes of the numbers and the elements.

#define SMALL \
	MOVQ      dst+0(FP), DI   \
	MOVQ      src+8(FP), SI   \
	MOVQ      n+16(FP), CX    \
	MOVQ      c+40(FP), R8    \
	VMOVDQU64 0(R8), Z10      \
	VMOVDQU64 64(R8), Z11     \
	VMOVDQU64 128(R8), Z12    \
	VMOVDQU64 192(R8), Z13    \
	VMOVDQU64 256(R8), Z14    \
	VPBROADCASTB 384(R8), Z9  \
	MOVQ      392(R8), AX     \
	KMOVQ     400(R8), K1     \
	VPXORQ    Z15, Z15, Z15

// NUMBERS puts 64 numbers into the bytes of Z1: the bytes of each eight are brought into a quadword,
// out of which eight shifts cut them.
#define NUMBERS \
	VMOVDQU8.Z     (SI), K1, Z0  \
	VPERMB         Z0, Z10, Z1   \
	VPMULTISHIFTQB Z1, Z11, Z1   \
	VPANDQ         Z12, Z1, Z1

// REST puts fewer numbers there, and zeros for the others; K4 is which elements to store.
#define REST \
	KMOVQ        load+32(FP), K1     \
	NUMBERS                          \
	MOVQ         rest+24(FP), CX     \
	VPBROADCASTB CX, Z2              \
	VPCMPUB      $1, Z2, Z8, K3      \ // the numbers before the rest's end
	VMOVDQU8.Z   Z1, K3, Z1          \
	VPMAXUB      Z1, Z15, Z15        \
	MOVQ         $-1, AX             \
	BZHIQ        CX, AX, AX          \
	KMOVQ        AX, K4

#define WRONG \
	VPCMPUB $6, Z9, Z15, K2  \
	KMOVQ   K2, AX           \
	MOVQ    AX, wrong+48(FP) \
	VZEROUPPER               \
	RET

// func unpackSmall1(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *small) (wrong uint64)
TEXT ·unpackSmall1(SB), NOSPLIT, $0-56
	SMALL
	VMOVDQU64 320(R8), Z8
	TESTQ     CX, CX
	JEQ       rest1

next1:
	NUMBERS
	VPMAXUB   Z1, Z15, Z15
	VPERMB    Z13, Z1, Z2
	VMOVDQU64 Z2, (DI)
	ADDQ      AX, SI
	ADDQ      $64, DI
	DECQ      CX
	JNE       next1

rest1:
	CMPQ     rest+24(FP), $0
	JEQ      done1
	REST
	VPERMB   Z13, Z1, Z2
	VMOVDQU8 Z2, K4, (DI)

done1:
	WRONG

// func unpackSmall2(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *small) (wrong uint64)
TEXT ·unpackSmall2(SB), NOSPLIT, $0-56
	SMALL
	VMOVDQU64 320(R8), Z8
	TESTQ     CX, CX
	JEQ       rest2

next2:
	NUMBERS
	VPMAXUB    Z1, Z15, Z15
	VPERMB     Z13, Z1, Z2
	VPERMB     Z14, Z1, Z3
	VPUNPCKLBW Z3, Z2, Z4
	VPUNPCKHBW Z3, Z2, Z5
	VMOVDQU64  Z4, (DI)
	VMOVDQU64  Z5, 64(DI)
	ADDQ       AX, SI
	ADDQ       $128, DI
	DECQ       CX
	JNE        next2

rest2:
	CMPQ       rest+24(FP), $0
	JEQ        done2
	REST
	VPERMB     Z13, Z1, Z2
	VPERMB     Z14, Z1, Z3
	VPUNPCKLBW Z3, Z2, Z4
	VPUNPCKHBW Z3, Z2, Z5
	VMOVDQU16  Z4, K4, (DI)
	KSHIFTRQ   $32, K4, K4
	VMOVDQU16  Z5, K4, 64(DI)

done2:
	WRONG

#define SPARSE \
	MOVQ      dst+0(FP), DI   \
	MOVQ      src+8(FP), SI   \
	MOVQ      n+16(FP), CX    \
	MOVQ      c+40(FP), R8    \
	VMOVDQU64 0(R8), Z10      \
	VMOVDQU64 64(R8), Z11     \
	VPBROADCASTD 128(R8), Z12 \
	VPBROADCASTD 132(R8), Z13 \
	MOVQ      136(R8), AX     \
	KMOVQ     144(R8), K1     \
	MOVQ      152(R8), BX     \
	VPXORQ    Z15, Z15, Z15   \
	MOVQ      $-1, DX         \
	KMOVQ     DX, K3

// INDEXES puts 16 numbers into Z1, none beyond the table. K3 is which of them there are.
#define INDEXES \
	VMOVDQU8.Z (SI), K1, Z0 \
	VPERMB   Z0, Z10, Z1    \
	VPSRLVD  Z11, Z1, Z1    \
	VPANDD.Z Z12, Z1, K3, Z1 \
	VPMAXUD  Z1, Z15, Z15   \
	VPMINUD  Z13, Z1, Z1    \
	VPXORD   Z2, Z2, Z2     \
	KMOVW    K3, K2

// LESS prepares for the last numbers, which are fewer.
#define LESS \
	KMOVQ load+32(FP), K1 \
	MOVQ  rest+24(FP), CX \
	BZHIQ CX, DX, DX      \
	KMOVQ DX, K3

#define BEYOND \
	VPCMPUD $6, Z13, Z15, K2 \
	KMOVW   K2, AX           \
	MOVQ    AX, wrong+48(FP) \
	VZEROUPPER               \
	RET

// func unpackSparse1(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *sparse) (wrong uint64)
TEXT ·unpackSparse1(SB), NOSPLIT, $0-56
	SPARSE
	TESTQ CX, CX
	JEQ   rest1

next1:
	INDEXES
	VPGATHERDD (BX)(Z1*1), K2, Z2
	VPMOVDB    Z2, (DI)
	ADDQ       AX, SI
	ADDQ       $16, DI
	DECQ       CX
	JNE        next1

rest1:
	CMPQ       rest+24(FP), $0
	JEQ        done1
	LESS
	INDEXES
	VPGATHERDD (BX)(Z1*1), K2, Z2
	VPMOVDB    Z2, K3, (DI)

done1:
	BEYOND

// func unpackSparse2(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *sparse) (wrong uint64)
TEXT ·unpackSparse2(SB), NOSPLIT, $0-56
	SPARSE
	TESTQ CX, CX
	JEQ   rest2

next2:
	INDEXES
	VPGATHERDD (BX)(Z1*2), K2, Z2
	VPMOVDW    Z2, (DI)
	ADDQ       AX, SI
	ADDQ       $32, DI
	DECQ       CX
	JNE        next2

rest2:
	CMPQ       rest+24(FP), $0
	JEQ        done2
	LESS
	INDEXES
	VPGATHERDD (BX)(Z1*2), K2, Z2
	VPMOVDW    Z2, K3, (DI)

done2:
	BEYOND

// func unpackSparse4(dst unsafe.Pointer, src *byte, n, rest int, load uint64, c *sparse) (wrong uint64)
TEXT ·unpackSparse4(SB), NOSPLIT, $0-56
	SPARSE
	TESTQ CX, CX
	JEQ   rest4

next4:
	INDEXES
	VPGATHERDD (BX)(Z1*4), K2, Z2
	VMOVDQU64  Z2, (DI)
	ADDQ       AX, SI
	ADDQ       $64, DI
	DECQ       CX
	JNE        next4

rest4:
	CMPQ       rest+24(FP), $0
	JEQ        done4
	LESS
	INDEXES
	VPGATHERDD (BX)(Z1*4), K2, Z2
	VMOVDQU32  Z2, K3, (DI)

done4:
	BEYOND
