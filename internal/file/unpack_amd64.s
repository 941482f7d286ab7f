#include "textflag.h"

// See small and sparse for what is at R8. Loads are masked: nothing is read but the numbers' own bytes.

#define SMALL \
	MOVQ      dst+0(FP), DI   \
	MOVQ      src+8(FP), SI   \
	MOVQ      n+16(FP), CX    \
	MOVQ      c+24(FP), R8    \
	VMOVDQU64 0(R8), Z10      \
	VMOVDQU64 64(R8), Z11     \
	VMOVDQU64 128(R8), Z12    \
	VMOVDQU64 192(R8), Z13    \
	VMOVDQU64 256(R8), Z14    \
	VMOVDQU64 320(R8), Z9     \
	MOVQ      384(R8), AX     \
	KMOVQ     392(R8), K1     \
	VPXORQ    Z15, Z15, Z15

// NUMBERS puts 64 numbers into the bytes of Z1: the bytes of each eight are brought into a quadword,
// out of which eight shifts cut them.
#define NUMBERS \
	VMOVDQU8.Z     (SI), K1, Z0  \
	VPERMB         Z0, Z10, Z1   \
	VPMULTISHIFTQB Z1, Z11, Z1   \
	VPANDQ         Z12, Z1, Z1   \
	VPMAXUB        Z1, Z15, Z15  \
	ADDQ           AX, SI

#define WRONG \
	VPCMPUB $6, Z9, Z15, K2 \
	KMOVQ   K2, AX          \
	MOVQ    AX, wrong+32(FP) \
	VZEROUPPER              \
	RET

// func unpackSmall1(dst unsafe.Pointer, src *byte, n int, c *small) (wrong uint64)
TEXT ·unpackSmall1(SB), NOSPLIT, $0-40
	SMALL

next1:
	NUMBERS
	VPERMB    Z13, Z1, Z2
	VMOVDQU64 Z2, (DI)
	ADDQ      $64, DI
	DECQ      CX
	JNE       next1
	WRONG

// func unpackSmall2(dst unsafe.Pointer, src *byte, n int, c *small) (wrong uint64)
TEXT ·unpackSmall2(SB), NOSPLIT, $0-40
	SMALL

next2:
	NUMBERS
	VPERMB     Z13, Z1, Z2
	VPERMB     Z14, Z1, Z3
	VPUNPCKLBW Z3, Z2, Z4
	VPUNPCKHBW Z3, Z2, Z5
	VMOVDQU64  Z4, (DI)
	VMOVDQU64  Z5, 64(DI)
	ADDQ       $128, DI
	DECQ       CX
	JNE        next2
	WRONG

#define SPARSE \
	MOVQ      dst+0(FP), DI   \
	MOVQ      src+8(FP), SI   \
	MOVQ      n+16(FP), CX    \
	MOVQ      c+24(FP), R8    \
	VMOVDQU64 0(R8), Z10      \
	VMOVDQU64 64(R8), Z11     \
	VPBROADCASTD 128(R8), Z12 \
	VPBROADCASTD 132(R8), Z13 \
	MOVQ      136(R8), AX     \
	KMOVQ     144(R8), K1     \
	MOVQ      152(R8), BX     \
	VPXORQ    Z15, Z15, Z15

// INDEXES puts 16 numbers into Z1, none beyond the table.
#define INDEXES \
	VMOVDQU8.Z (SI), K1, Z0 \
	VPERMB   Z0, Z10, Z1    \
	VPSRLVD  Z11, Z1, Z1    \
	VPANDD   Z12, Z1, Z1    \
	VPMAXUD  Z1, Z15, Z15   \
	VPMINUD  Z13, Z1, Z1    \
	ADDQ     AX, SI         \
	VPXORD   Z2, Z2, Z2     \
	KXNORW   K2, K2, K2

#define BEYOND \
	VPCMPUD $6, Z13, Z15, K2 \
	KMOVQ   K2, AX           \
	MOVQ    AX, wrong+32(FP) \
	VZEROUPPER               \
	RET

// func unpackSparse1(dst unsafe.Pointer, src *byte, n int, c *sparse) (wrong uint64)
TEXT ·unpackSparse1(SB), NOSPLIT, $0-40
	SPARSE

next1:
	INDEXES
	VPGATHERDD (BX)(Z1*1), K2, Z2
	VPMOVDB    Z2, (DI)
	ADDQ       $16, DI
	DECQ       CX
	JNE        next1
	BEYOND

// func unpackSparse2(dst unsafe.Pointer, src *byte, n int, c *sparse) (wrong uint64)
TEXT ·unpackSparse2(SB), NOSPLIT, $0-40
	SPARSE

next2:
	INDEXES
	VPGATHERDD (BX)(Z1*2), K2, Z2
	VPMOVDW    Z2, (DI)
	ADDQ       $32, DI
	DECQ       CX
	JNE        next2
	BEYOND

// func unpackSparse4(dst unsafe.Pointer, src *byte, n int, c *sparse) (wrong uint64)
TEXT ·unpackSparse4(SB), NOSPLIT, $0-40
	SPARSE

next4:
	INDEXES
	VPGATHERDD (BX)(Z1*4), K2, Z2
	VMOVDQU64  Z2, (DI)
	ADDQ       $64, DI
	DECQ       CX
	JNE        next4
	BEYOND
