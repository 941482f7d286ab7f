// Package x64 translates Flounder IR to x86-64 machine code and runs it inside
// the Go process.
//
// In goes an ir.Func that the verifier has accepted; out comes a Code, which is
// called with the address of a context block (ir.CtxResume and its neighbours) and
// returns an exit status. The translation is one pass over the instructions:
// registers are given out at Vreg and taken back at Clear, so no liveness analysis
// is needed, and its cost is linear. Semantics of every operation are those of
// internal/ir/op.go; a function is not checked again here beyond what is needed to
// fail with an error instead of a panic.
//
// Read translate.go first (the pass), then place.go (where values live), control.go
// (jumps, the cold section, yields), fuse.go (registers that need not be) and simd.go
// (masks of rows); forms*.go and asm.go are the encoder, memory*.go
// and enter_amd64.s how code comes to run.
//
// # What generated code may do
//
// It runs on the goroutine's stack, in the frame of the trampoline (enter_amd64.s).
// It never moves rsp, never calls, and clobbers everything else. Because [rsp] is
// always the return address into the trampoline, the Go runtime treats a fault in
// generated code (an address that is not mapped or must not be written, a division by zero)
// as a panic of the trampoline, which can be recovered. Calls are not preemptible: the emitter keeps them short.
//
// # Registers
//
//	rax rdx rcx          temporaries of one IR instruction
//	rdi                  the context
//	the other eleven     virtual integer registers
//	xmm0–xmm11           virtual float registers
//	xmm12–xmm15          temporaries
//	zmm16–zmm23, k1–k7   temporaries of the operations on masks of rows, with AVX-512
//	[rsp+8] …            240 spill slots, 8 scratch words
//
// The context block and the save area whose address it holds must lie outside the
// Go heap or be kept alive by the caller, and must stay where they are.
package x64
