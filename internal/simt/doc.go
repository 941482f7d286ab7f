// Package simt is a GPU in pure Go: it parses PTX text and executes it warp by
// warp, 32 lanes in lock step, with divergence and reconvergence, shared memory,
// barriers, atomics and the lane intrinsics.
//
// In goes PTX as text and nothing else, so that a bug of the translator cannot
// hide in a shared data structure; out come the kernels' effects on memory that
// the Device was given, and Stats. Global addresses are made up by who places memory
// (Place), or host addresses (Register). A run is deterministic: blocks run in order,
// the warps of a block take turns, the lanes of an atomic go upwards; or, with
// Shape.Seed, all of these mix in an order drawn from the seed.
//
// Everything that a real GPU leaves undefined is an *Error that names kernel,
// line and lane: accesses outside registered memory or off their alignment,
// reads of registers or shared memory that nobody wrote, lanes that miss a
// collective, barriers that not everybody reaches, division by zero. Two things
// are stricter than the hardware on purpose, see Device.Strict and sharedBase.
// One is weaker: lanes of one warp that wait for each other in a loop never make
// progress, as on GPUs before Volta, and end at the step limit.
//
// Read first: module.go (what a kernel is after parsing), then warp.go (how it
// runs) and stack.go (how lanes part and meet again). lex.go, parse.go and
// decode*.go are the way from text to module.go; cfg.go finds where branches
// meet; exec_*.go hold what each instruction does.
package simt
