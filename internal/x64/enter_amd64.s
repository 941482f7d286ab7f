#include "textflag.h"
#include "funcdata.h"

// func enter(code uintptr, ctx unsafe.Pointer) (status int64)
//
// The frame holds the spill slots and scratch words of generated code: place.go's
// frameBytes. It is deliberately not NOSPLIT, so that the goroutine's stack grows
// before the call, never during it. ABI0: the wrapper restores R14 and X15, the
// epilogue restores BP. NO_LOCAL_POINTERS, because the collector may look at this
// frame when a fault inside has become a panic.
TEXT ·enter(SB), 0, $1984-24
	NO_LOCAL_POINTERS
	MOVQ code+0(FP), AX
	MOVQ ctx+8(FP), DI
	CALL AX
	MOVQ AX, status+16(FP)
	RET
