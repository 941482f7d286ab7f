// Package ptx translates Flounder IR to PTX text: in go functions for the GPU,
// out comes one module with one entry point per function. Its parameters are words
// of 8 bytes: the address of its context block, and as many more as it declares.
//
// There is no register allocation: a virtual register becomes a PTX register that
// carries its name (l_quantity, register 12: %l_quantity_12), and the driver does
// the rest. Structured control flow becomes labels and predicated branches in the
// order of the source, which the simulator relies on for reconvergence.
// Immediates, comments and nesting survive, since people read this text.
//
// Checked arithmetic does not stop a lane: it leaves the exit code in the
// context's status word, where the first one stays, and goes on with the wrapped
// value. Yield and division of 128-bit numbers are for the CPU and are errors here.
//
// The text is for sm_70 and all that is newer, or for an architecture and what is
// newer than that: then operations that it has are used (redux).
//
// Read translate.go first; arith.go, memory.go, control.go and lanes.go hold what
// each operation becomes.
package ptx
