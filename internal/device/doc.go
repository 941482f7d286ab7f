// Package device hides processors behind one idea: an ir.Func becomes a Kernel that can
// be run.
//
// In: ir.Func. Out: Kernel. The CPU's kernels are machine code, called with a context block;
// see cpu.go.
package device
