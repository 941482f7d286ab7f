// Package ir is Flounder: the intermediate representation between operators and
// machine code, near enough to the machine that translation is one pass, and
// neutral enough that the same function goes to x86-64 and to PTX.
//
// In: calls on a Builder by package emit. Out: a Func, a flat list of
// instructions with structured control flow. Virtual registers are unlimited;
// the emitter opens each with vreg and ends it with clear, so translators need no
// liveness analysis. A Func prints as text (print.go), the text parses back to the
// same Func (parse.go), and Verify holds every Func to the rules (verify.go).
// Read op.go first: it is the instruction set, with the meaning of each operation.
package ir
