#include "textflag.h"

// Each function takes 8 numbers at a time: those that, less lo, are more than span, are outside; all of
// them, less base, are stored. Numbers of 4 bytes are widened before.
#define NARROW(widen, bytes, store, size) \
	MOVQ         dst+0(FP), DI    \
	MOVQ         src+8(FP), SI    \
	MOVQ         n+16(FP), CX     \
	VPBROADCASTQ lo+24(FP), Z10   \
	VPBROADCASTQ span+32(FP), Z11 \
	VPBROADCASTQ base+40(FP), Z12 \
	VPXORQ       Z15, Z15, Z15    \
next: \
	widen        (SI), Z0         \
	VPSUBQ       Z10, Z0, Z1      \
	VPMAXUQ      Z1, Z15, Z15     \
	VPSUBQ       Z12, Z0, Z0      \
	store        Z0, (DI)         \
	ADDQ         $bytes, SI       \
	ADDQ         $size, DI        \
	DECQ         CX               \
	JNE          next             \
	VPCMPUQ      $6, Z11, Z15, K1 \
	KMOVW        K1, AX           \
	MOVQ         AX, wrong+48(FP) \
	VZEROUPPER                    \
	RET

// func narrow8to1(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow8to1(SB), NOSPLIT, $0-56
	NARROW(VMOVDQU64, 64, VPMOVQB, 8)

// func narrow8to2(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow8to2(SB), NOSPLIT, $0-56
	NARROW(VMOVDQU64, 64, VPMOVQW, 16)

// func narrow8to4(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow8to4(SB), NOSPLIT, $0-56
	NARROW(VMOVDQU64, 64, VPMOVQD, 32)

// func narrow8to8(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow8to8(SB), NOSPLIT, $0-56
	NARROW(VMOVDQU64, 64, VMOVDQU64, 64)

// func narrow4to1(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow4to1(SB), NOSPLIT, $0-56
	NARROW(VPMOVSXDQ, 32, VPMOVQB, 8)

// func narrow4to2(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow4to2(SB), NOSPLIT, $0-56
	NARROW(VPMOVSXDQ, 32, VPMOVQW, 16)

// func narrow4to4(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow4to4(SB), NOSPLIT, $0-56
	NARROW(VPMOVSXDQ, 32, VPMOVQD, 32)

// func narrow4to8(dst, src unsafe.Pointer, n int, lo, span, base uint64) (wrong uint64)
TEXT ·narrow4to8(SB), NOSPLIT, $0-56
	NARROW(VPMOVSXDQ, 32, VMOVDQU64, 64)
